/* cmocka with the headers it wants before itself. */
#ifndef MRD_TESTS_UNIT_SESSION_FORMAT_UNIT_H
#define MRD_TESTS_UNIT_SESSION_FORMAT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
