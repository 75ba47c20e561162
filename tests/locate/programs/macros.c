/* Loops and decisions that macros wrote. */
#include <stdio.h>
#define FOREVER for (;;)
#define EACH(i, n) for (i = 0; i < (n); i++)
#define UNTIL(c) for (; !(c);)
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define SWAP(t, a, b) do { t tmp_ = a; a = b; b = tmp_; } while (0)
#define SQUARE(x) ((x) * (x))
#define LIMIT 5

int main(void)
{
    int i, n = 0, x = 3, y = 4;
    FOREVER { if (++n > LIMIT) break; }
    EACH(i, 4) n += i;
    UNTIL(n > 50) n += MAX(x, SQUARE(y));
    for (i = 0; ; i++) if (i > 3) break;
    for (;;i++) if (i > 9) break;
    for (; i < 20;) i++;
    for (int k = 0, m = 5; k < m; k++, m--) n += k;
    SWAP(int, x, y);
    printf("%d %d %d %d\n", i, n, x, y);
    { char c = ';'; for (; c != 'x'; c = 'x') printf("for(;;%c)\n", c); }
    return 0;
}
