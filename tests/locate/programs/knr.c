/* Definitions and declarations as before ANSI C. */
#include <stdio.h>

int twice();
float half();
static total;

count(c, step, ratio, values)
    char c;
    short step;
    float ratio;
    int values[];
{
    int i;
    total = c + step;
    for (i = 0; i < 3; i++)
        total += values[i] * ratio;
    return total;
}

main(argc, argv)
    int argc;
    char *argv[];
{
    static int values[] = { 1, 2, 3 };
    register i;
    printf("%d\n", count('a', 2, 1.5, values));
    for (i = 0; i < argc; i++)
        printf("%d", i);
    printf(" %d %g\n", twice(21), half(5));
    return 3;
}

int twice(n) int n; { return n * 2; }
float half(n) int n; { return n / 2.0; }
