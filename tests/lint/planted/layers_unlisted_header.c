// path: src/query/planted.c
// expect: layers: query: the foreign header <curl/curl.h> is not listed
#include <curl/curl.h> // planted
