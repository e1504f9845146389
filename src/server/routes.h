/* The routes as a table: method, path with {…} segments, handler. */
#ifndef MRD_SERVER_ROUTES_H
#define MRD_SERVER_ROUTES_H

#include "server/http.h"

typedef struct mrd__route {
    const char *method, *path;
    void (*handle)(mrd__request *request, mrd__reply *reply);
} mrd__route;

extern const mrd__route mrd__routes[]; /* ends with a NULL path */

/* An embedded file of the page; false when there is none at the path. */
bool mrd__route_asset(const mrd__request *request, mrd__reply *reply);

#endif
