/* SQL over HTTP. */
#ifndef MRD_SERVER_QUERY_H
#define MRD_SERVER_QUERY_H

#include "server/http.h"

/* POST /api/query (docs/http.md). */
void mrd__post_query(mrd__request *request, mrd__reply *reply);

#endif
