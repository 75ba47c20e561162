/* Structures, unions, bit-fields, initialisers, arrays of arrays, pointers to all of these. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

struct point { int x, y; };
struct node { int value; struct node *next; };
struct nested { struct point p[2]; union { int i; unsigned char b[4]; } u; struct { char c; short s; }; };
struct bits { unsigned a : 3; signed b : 5; unsigned : 2; unsigned c : 10; int d : 12; _Bool e : 1; };
struct flexible { int n; char data[]; };

static struct nested whole = { { { 1, 2 }, { .y = 4 } }, { .b = { 1, 2, 3, 4 } }, { 'c', -5 } };
static int matrix[3][4] = { { 1, 2, 3, 4 }, { [2] = 7, 8 }, 9, 10 };
static const char *words[] = { "one", "two", [4] = "five", "six" };
static struct point path[] = { [2] = { 5, 6 }, [0].y = 1, [1] = { .x = 8 } };
static int *hole = &matrix[1][2];
static char buffer[8] = "abc";
static char letters[3] = "xyz";
static double table[4] = { 1, 2.5, -3 };
static struct node last = { 3, 0 }, first = { 1, &last };

static int counter(void) { static int n = 10; return n++; }

static struct node *push(struct node *list, int value)
{
    struct node *n = malloc(sizeof *n);
    n->value = value;
    n->next = list;
    return n;
}

static int sum(const int (*rows)[4], int n)
{
    int i, j, total = 0;
    for (i = 0; i < n; i++)
        for (j = 0; j < 4; j++)
            total += rows[i][j];
    return total;
}

int main(void)
{
    struct node *list = NULL, *n;
    struct bits b = { 5, -3, 1000, -7, 1 };
    struct nested copy = whole;
    struct point local[3] = { { 1 }, { 2, 3 } }, *pp = &local[1], swap;
    int grid[2][3] = { 1, 2, 3, 4 };
    union { float f; uint32_t u; } pun = { 1.5f };
    struct flexible *fl = malloc(sizeof(struct flexible) + 6);
    char *text;
    int i;

    for (i = 0; i < 4; i++)
        list = push(list, i * i);
    for (n = list; n; n = n->next)
        printf("%d ", n->value);
    while (list) { n = list->next; free(list); list = n; }
    printf("\n%d %d %d %d %d\n", whole.p[0].x, whole.p[1].x, whole.p[1].y, whole.c, whole.s);
    printf("%d %#x\n", whole.u.b[2], whole.u.i);
    printf("%d %d %d %d\n", matrix[1][2], matrix[2][1], *hole, sum(matrix, 3));
    printf("%s %s %d %d\n", words[1], words[5], words[2] == NULL, (int)(sizeof words / sizeof *words));
    printf("%d %d %d %d\n", path[0].y, path[1].x, path[2].x, (int)(sizeof path / sizeof *path));
    printf("%d %d %d %d %d %d\n", b.a, b.b, b.c, b.d, b.e, (int)sizeof b);
    b.a += 6; b.b = 15; b.b++; b.c--; b.d <<= 4; b.e = 4;
    printf("%d %d %d %d %d\n", b.a, b.b, b.c, b.d, b.e);
    copy.p[1] = local[1]; copy.u.i = -1;
    printf("%d %d %d\n", copy.p[1].y, copy.u.b[3], whole.u.b[3]);
    swap = local[0]; local[0] = local[1]; local[1] = swap;
    printf("%d %d %d %d\n", local[0].x, pp->x, pp[1].y, (pp - 1)->y);
    printf("%d %d\n", grid[1][0], grid[1][2]);
    printf("%#x\n", (unsigned)pun.u);
    fl->n = 5; strcpy(fl->data, "tail");
    printf("%s %d\n", fl->data, (int)sizeof *fl);
    printf("%s %d %c%c%c %g\n", buffer, buffer[7], letters[0], letters[1], letters[2], table[1] + table[3]);
    counter(); counter();
    printf("%d %d\n", counter(), first.next->value);
    pp = &(struct point){ 11, 12 };
    printf("%d %d\n", pp->y, ((int[]){ 4, 5, 6 })[2]);
    text = (char *)&matrix[0][1];
    printf("%d\n", text[0] + text[4]);
    memcpy(&copy, &whole, sizeof copy);
    printf("%d %d\n", copy.p[1].y, memcmp(&copy, &whole, sizeof copy));
    {
        struct node a = { 1, 0 }, other;
        struct node *pa = &a, *pb;
        unsigned char *from = (unsigned char *)&pa, *to = (unsigned char *)&pb;
        for (i = 0; i < (int)sizeof pa; i++)
            to[i] = from[i];
        pb->value = 9;
        other = a;
        printf("%d %d\n", other.value, pa == pb);
        printf("%d\n", ((struct node *)(uintptr_t)pa)->value);
    }
    free(fl);
    return 0;
}
