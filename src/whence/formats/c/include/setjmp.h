/* Declared so that a program parses; uses are refused by name and place. */
#ifndef __WHENCE_SETJMP_H
#define __WHENCE_SETJMP_H
typedef long jmp_buf[32];
int setjmp(jmp_buf where);
void longjmp(jmp_buf where, int value) __attribute__((noreturn));
#endif
