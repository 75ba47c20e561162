/* Recursion, mutual recursion, pointers to functions and to pointers, short circuits. */
#include <stdio.h>
#include <assert.h>

typedef struct { const char *name; long (*run)(int); } entry;

static long factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }
static int odd(int n);
static int even(int n) { return n == 0 || odd(n - 1); }
static int odd(int n) { return n != 0 && even(n - 1); }
static long ackermann(int m, int n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, (int)ackermann(m, n - 1));
}
static long ack(int n) { return ackermann(2, n); }
static void hanoi(int n, char from, char to, char by, int *moves)
{
    if (n == 0) return;
    hanoi(n - 1, from, by, to, moves);
    ++*moves;
    hanoi(n - 1, by, to, from, moves);
}
static void reverse(char *s, int n)
{
    char *e = s + n - 1;
    while (s < e) { char t = *s; *s++ = *e; *e-- = t; }
}
static void set(int **where, int *what) { *where = what; }
static int chosen(int (*f)(int), int x) { return f(x); }
static int fill(int *a, int n) { int local[4]; int i; for (i = 0; i < 4; i++) local[i] = n + i; if (n) fill(a, n - 1); a[n] = local[n & 3]; return local[3]; }

int main(void)
{
    static const entry table[] = { { "factorial", factorial }, { "ack", ack } };
    int moves = 0, i, a = 1, b = 2, *p = &a, results[6];
    char text[] = "reversed";
    for (i = 0; i < 2; i++)
        printf("%s %ld\n", table[i].name, table[i].run(6));
    hanoi(6, 'a', 'b', 'c', &moves);
    reverse(text, 8);
    set(&p, &b);
    *p += 5;
    printf("%d %s %d %d %d\n", moves, text, b, chosen(even, 10), chosen(&odd, 10));
    printf("%d", fill(results, 5));
    for (i = 0; i < 6; i++) printf(" %d", results[i]);
    printf("\n");
    assert(a == 1 && "still");
    return 0;
}
