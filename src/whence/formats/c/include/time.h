#ifndef __WHENCE_TIME_H
#define __WHENCE_TIME_H
#include <stddef.h>
typedef long time_t;
typedef long clock_t;
#define CLOCKS_PER_SEC 1000000L
struct tm {
    int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
};
time_t time(time_t *now);
clock_t clock(void);
double difftime(time_t end, time_t start);
time_t mktime(struct tm *when);
struct tm *gmtime(const time_t *when);
struct tm *localtime(const time_t *when);
char *asctime(const struct tm *when);
char *ctime(const time_t *when);
size_t strftime(char *to, size_t size, const char *format, const struct tm *when);
#endif
