#ifndef __WHENCE_WCHAR_H
#define __WHENCE_WCHAR_H
#include <stddef.h>
typedef __WINT_TYPE__ wint_t;
#define WCHAR_MAX __WCHAR_MAX__
#endif
