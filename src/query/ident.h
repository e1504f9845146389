/* Process and thread ids in answers. */
#ifndef MRD_QUERY_IDENT_H
#define MRD_QUERY_IDENT_H

#include "model/store.h"

/* A JSON number where the file's id is a whole number, a string for other ids, null for none. */
void mrd__ident_json(mrd__buf *out, const mrd__store *store, mrd__ident ident);
/* The same as plain text, for names; nothing for none. */
void mrd__ident_text(mrd__buf *out, const mrd__store *store, mrd__ident ident);

#endif
