/* A va_list points at the next of the arguments, which stand in slots of one object. */
#ifndef __WHENCE_STDARG_H
#define __WHENCE_STDARG_H
typedef struct __whence_arguments *va_list;
va_list __whence_va_start(void);
void *__whence_va_arg(va_list *list, __SIZE_TYPE__ size);
#define va_start(list, last) ((list) = __whence_va_start())
#define va_arg(list, type) (*(type *)__whence_va_arg(&(list), sizeof(type)))
#define va_copy(to, from) ((to) = (from))
#define va_end(list) ((void)(list))
#endif
