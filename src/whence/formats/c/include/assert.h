/* Assertions become statements of the core language. The header may be included again with
   another NDEBUG, so it has no guard. */
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
void __whence_assert(int holds, const char *text);
#define assert(condition) __whence_assert((condition) != 0, #condition)
#endif
#ifndef __cplusplus
#undef static_assert
#define static_assert _Static_assert
#endif
