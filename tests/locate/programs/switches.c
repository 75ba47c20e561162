/* switch: fall through, default in the middle, ranges, nesting, jumps out of loops, and labels
   inside other statements. */
#include <stdio.h>

enum color { RED, GREEN = 5, BLUE };

static int middle(int x)
{
    int r = 0;
    switch (x) {
    case 1:
        r += 1;
    default:
        r += 10;
    case 2:
        r += 100;
        break;
    case 3:
    case 4: {
        int inner = x * 2;
        r = inner;
        if (r > 7)
            break;
        r = -1;
        break;
    }
    case 10 ... 20:
        return 1020;
    }
    return r;
}

static const char *name(enum color c)
{
    switch (c) {
    case RED: return "red";
    case GREEN: return "green";
    case BLUE: return "blue";
    }
    return "none";
}

static void device(char *to, const char *from, int count)
{
    int n = (count + 3) / 4;
    switch (count % 4) {
    case 0: do { *to++ = *from++;
    case 3:      *to++ = *from++;
    case 2:      *to++ = *from++;
    case 1:      *to++ = *from++;
            } while (--n > 0);
    }
    *to = 0;
}

static int loops(int n)
{
    int i, sum = 0;
    for (i = 0; i < n; i++) {
        switch (i % 5) {
        case 0:
            continue;
        case 1:
            if (i > 10)
                break;
            sum += 100;
            /* fall through */
        case 2:
            sum += i;
            break;
        case 3: {
            int k;
            for (k = 0; ; k++) {
                switch (k) {
                case 4:
                    goto out;
                case 1:
                    continue;
                default:
                    sum++;
                }
                if (k > i)
                    break;
            }
        }
        out:
            sum += 1000;
            break;
        default:
            if (i == 24)
                goto done;
        }
    }
done:
    return sum * 100 + i;
}

int main(void)
{
    char buffer[40];
    int i;
    for (i = 0; i < 22; i += (i < 5 ? 1 : 5))
        printf("%d ", middle(i));
    printf("\n%s %s %s %s\n", name(RED), name(GREEN), name(BLUE), name((enum color)9));
    for (i = 1; i < 12; i += 3) {
        device(buffer, "the quick brown fox", i);
        printf("%s|", buffer);
    }
    printf("\n%d %d\n", loops(9), loops(40));
    switch (3) { int never; case 3: never = 4; printf("%d\n", never); }
    switch (i) ;
    return middle(4);
}
