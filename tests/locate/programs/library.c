/* The C library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <errno.h>
#include <inttypes.h>

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static int sum(int n, ...)
{
    va_list list, again;
    int i, total = 0;
    va_start(list, n);
    va_copy(again, list);
    for (i = 0; i < n; i++)
        total += va_arg(list, int);
    total += (int)va_arg(list, double);
    for (i = 0; i < n; i++)
        total += va_arg(again, int);
    va_end(list);
    va_end(again);
    return total;
}

static void report(const char *format, ...)
{
    char line[64];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    printf("<%s>\n", line);
}

static void bye(void) { printf("bye\n"); }

int main(int argc, char **argv)
{
    char a[64], b[64], *end, *word;
    int values[] = { 5, 3, 9, -1, 7 }, key = 7, n, x, y, i;
    double d;
    float f;
    atexit(bye);
    printf("[%5d|%-5d|%05d|%+d|% d|%.3d|%5.2d]\n", 42, 42, 42, 42, 42, 7, 7);
    printf("[%x|%X|%#x|%o|%#o|%u|%hhd|%hd]\n", 255, 255, 255, 8, 8, -1, 300, 70000);
    printf("[%ld|%lld|%zu|%" PRId64 "]\n", -5L, 1LL << 50, sizeof a, (int64_t)-9);
    printf("[%f|%.2f|%10.3f|%-10.1f|%e|%g|%g|%G|%a]\n", 1.5, 2.345, 3.14159, 2.0, 12345.678, 0.0001, 1e10, 1e-10, 1.5);
    printf("[%s|%10s|%-10s|%.2s|%c|%%|%*d|%.*f]\n", "str", "right", "left", "cut", 'x', 6, 12, 2, 1.0);
    printf("[%g|%f|%05g|%g]\n", INFINITY, -INFINITY, INFINITY, 100000.0);
    n = sprintf(a, "%d-%s", 12, "ab"); printf("%d %s\n", n, a);
    n = snprintf(b, 4, "%s", "abcdef"); printf("%d %s\n", n, b);
    n = sscanf("12 abc 3.5 0x1f z", "%d %s %lf %i %c", &x, a, &d, &y, b);
    printf("%d %d %s %g %d %c\n", n, x, a, d, y, b[0]);
    n = sscanf("7,8;rest", "%d,%d;%[a-r]%n", &x, &y, a, &i); printf("%d %d %d %s %d\n", n, x, y, a, i);
    n = sscanf("x", "%d", &x); printf("%d ", n); n = sscanf("", "%d", &x); printf("%d ", n);
    n = sscanf("99 3e2", "%*d %f", &f); printf("%d %g\n", n, f);
    strcpy(a, "hello"); strcat(a, " world"); strncpy(b, a, 8); b[8] = 0;
    printf("%s|%s|%d|%d\n", a, b, (int)strlen(a), strcmp("abc", "abd") < 0);
    printf("%s %s %s\n", strchr(a, 'o'), strrchr(a, 'o'), strstr(a, "wor"));
    printf("%d %d %s\n", (int)strspn(a, "hel"), (int)strcspn(a, " "), strpbrk(a, "xyzw"));
    for (word = strtok(a, " l"); word; word = strtok(NULL, " l")) printf("(%s)", word);
    memset(b, 'z', 3); memmove(b + 1, "ab", 2); printf("\n%.4s %d\n", b, memcmp("abc", "abc", 3));
    printf("%d %ld %ld %lu %g\n", atoi(" -42x"), strtol("0x1fz", &end, 0), strtol("777", NULL, 8), strtoul("99", NULL, 10), strtod("1.5e3abc", NULL));
    printf("%s %d\n", end, abs(-4));
    qsort(values, 5, sizeof *values, by_value);
    for (i = 0; i < 5; i++) printf("%d ", values[i]);
    printf("%d\n", *(int *)bsearch(&key, values, 5, sizeof *values, by_value));
    printf("%d %d %d %c\n", !!isalpha('a'), !!isdigit('a'), !!isspace('\t'), toupper('q'));
    printf("%.6f %.6f %.6f %.6f %g %g\n", sqrt(2), sin(1), pow(2, 0.5), exp(1), floor(-1.5), ceil(1.2));
    printf("%g %g %d\n", fmod(7, 3), fabs(-2.5), isnan(sqrt(-1)) != 0);
    printf("%d\n", sum(3, 1, 2, 3, 4.5));
    report("%d %s", 5, "five");
    errno = 0; strtol("99999999999999999999", NULL, 10); printf("%d\n", errno == ERANGE);
    { int *p = calloc(4, sizeof *p); p = realloc(p, 8 * sizeof *p); p[7] = p[3] + 4; printf("%d\n", p[7]); free(p); }
    { div_t r = div(17, 5); printf("%d %d\n", r.quot, r.rem); }
    srand(7); x = rand(); y = rand(); printf("%d %d\n", x, y);
    while (fgets(a, sizeof a, stdin)) printf("{%d}", (int)strlen(a));
    printf("%d %d\n", feof(stdin) != 0, getchar());
    puts(argc > 1 ? argv[1] : "no arguments"); putchar('!'); fputs("end\n", stdout);
    fprintf(stderr, "not shown\n");
    exit(7);
}
