/* Declared so that a program parses; uses are refused by name and place. */
#ifndef __WHENCE_SIGNAL_H
#define __WHENCE_SIGNAL_H
typedef int sig_atomic_t;
#define SIGABRT 6
#define SIGFPE 8
#define SIGILL 4
#define SIGINT 2
#define SIGSEGV 11
#define SIGTERM 15
#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
#define SIG_ERR ((void (*)(int))-1)
void (*signal(int number, void (*handler)(int)))(int);
int raise(int number);
#endif
