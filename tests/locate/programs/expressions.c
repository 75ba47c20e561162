/* Conversions, operators, order of evaluation where C fixes it. */
#include <stdio.h>
#include <limits.h>
#include <stdint.h>
#include <stddef.h>

struct pair { int a; char b; };
typedef int (*binary)(int, int);

static int calls;
static int count(int v) { calls++; return v; }
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static struct pair make(int a, char b) { struct pair p; p.a = a; p.b = b; return p; }
static struct pair swap(struct pair p) { int t = p.a; p.a = p.b; p.b = (char)t; return p; }

int main(void)
{
    int i = 3, j = -7, k;
    unsigned u = 5;
    signed char c = -3;
    unsigned char uc = 250;
    short s = -30000;
    unsigned short us = 65535;
    long long big = 1LL << 40;
    uint64_t u64 = UINT64_MAX;
    _Bool flag = 256;
    float f = 0.1f;
    double d = 0.1;
    binary table[2] = { add, sub };
    int array[5] = { 5, 4, 3, 2, 1 };
    int *p = array, *q;
    char text[] = "hello";

    printf("%d %d %d %d\n", j / 2, j % 2, j >> 1, -7 % -3);
    printf("%d %d %u\n", c + uc, (signed char)(uc + 10), (unsigned)c);
    printf("%d %u %d\n", s - us, u - 6, u - 6 < 0);
    printf("%d %d\n", -1 < 1u, (short)70000);
    printf("%lld %llu %llu\n", big * 3, u64 + 2, (unsigned long long)-1 >> 3);
    printf("%d %d %d\n", flag, !u, !!u);
    printf("%.10f %.10f %d\n", f, d, f == d);
    printf("%.10f %.10g\n", f * 3, (double)(f * f));
    printf("%d %d %d\n", (int)3.99, (int)-3.99, (unsigned char)200.7);
    uc += 10; s *= 2; us <<= 4; c = c * 100;
    printf("%d %d %d %d\n", uc, s, us, c);
    i += 2.7; printf("%d\n", i);
    k = i++ + ++j; printf("%d %d %d\n", i, j, k);
    k = (i > 3 && count(0)) || count(7) && !count(0); printf("%d %d\n", k, calls);
    k = i ? count(1), count(9) : 4; printf("%d %d\n", k, calls);
    printf("%d %d\n", table[0](3, 4), (*table[1])(3, 4));
    printf("%d %d\n", make(3, 'x').a, swap(make(3, 'x')).a);
    q = p + 4;
    printf("%d %d %d\n", (int)(q - p), *q, q > p);
    k = *--q; printf("%d %d\n", k, *p++ + 1);
    *p++ = 77; printf("%d %d %d\n", array[1], *p, 2[array]);
    for (p = array; p < array + 5; ) printf("%d ", *p++);
    printf("\n%d %d\n", (int)sizeof array, (int)(sizeof(array) / sizeof *array));
    printf("%c%c %s\n", text[1], *(text + 4), text + 2);
    printf("%d %d\n", 'a', '\x41');
    printf("%ld %d\n", (long)offsetof(struct pair, b), (int)sizeof(struct pair));
    i = 5; i = i * 2, i++; printf("%d\n", i);
    i = j = 12; printf("%d %d\n", i, j);
    i ^= j; i |= 0x50; i &= ~0x10; printf("%d\n", i);
    printf("%d %d\n", 0x7fffffff + (i == 64 ? 0 : 1), INT_MIN);
    printf("%u %d\n", 1u << 31, (int)(1u << 31) >> 31);
    printf("%d\n", (u64 > big) + (-1 > u) * 10 + ((int8_t)-1 == (uint8_t)255) * 100);
    i = -8; i /= 2u; printf("%d ", i); i = -8; i %= 3u; printf("%d ", i); i = -8; i >>= 1u; printf("%d\n", i);
    c = -8; c /= 3u; uc = j; uc -= 300L; us = -7 % (i + 7); printf("%d %d %d\n", c, uc, us);
    { int i = 100; { int i = 200; printf("%d ", i); } printf("%d\n", i); }
    printf("%s %s\n", __func__, i ? "yes" : "no");
    return (unsigned char)-2;
}
