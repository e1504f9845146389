/* Assertions that stay in release builds: a programmer's error aborts, it is never reported as a
 * status. Use for broken preconditions and invariants only, never for input. */
#ifndef MRD_BASE_ASSERT_H
#define MRD_BASE_ASSERT_H

/* Prints the expression and place to stderr and aborts. */
_Noreturn void mrd__assert_failed(const char *expression, const char *file, int line);

#define mrd__assert(x) ((x) ? (void)0 : mrd__assert_failed(#x, __FILE__, __LINE__))

#endif
