/* Memory of reply bodies, kept between answers: a fresh one of some megabytes costs more in page
 * faults than the answer in it. */
#ifndef MRD_SERVER_BODY_H
#define MRD_SERVER_BODY_H

#include "base/text.h"

/* An empty buffer for a large answer, kept memory where there is some; body must be empty. Any
 * thread. */
void mrd__body_take(mrd__buf *body);
/* Keep its memory for the next one, or free it. Any buffer may be given. Any thread. */
void mrd__body_give(mrd__buf *body);
/* Make one such memory ahead of time. Any thread. */
void mrd__body_warm(void);

#endif
