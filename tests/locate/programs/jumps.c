/* goto: forward, backward, out of loops, into blocks and loops, between branches. */
#include <stdio.h>

static int forward(int x)
{
    int r = 1;
    if (x < 0)
        goto fail;
    r = 2;
    if (x > 100)
        goto fail;
    r = 3;
    while (x-- > 0) {
        int k;
        for (k = 0; k < 3; k++)
            if (x * k == 8)
                goto found;
    }
    return r;
found:
    r = 40 + x;
fail:
    return -r;
}

static int backward(int n)
{
    int sum = 0, i = 0;
again:
    sum += i;
    i++;
    if (i < n)
        goto again;
    if (sum % 2) {
        n++;
        goto again;
    }
    return sum;
}

static int into(int x)
{
    int i = 0, sum = 0;
    if (x == 1)
        goto inside;
    if (x == 2)
        goto other;
    for (i = 0; i < 5; i++) {
        sum += 10;
    inside:
        sum += i;
        if (sum > 60)
            goto end;
    }
    if (x > 2) {
        sum += 1000;
        goto other;
    } else {
        sum += 2000;
    other:
        sum += 4;
    }
end:
    return sum;
}

static int two_heads(int x)
{
    int n = 0;
    if (x)
        goto second;
first:
    n += 1;
    if (n > 20)
        return n;
second:
    n += 5;
    if (n < 30)
        goto first;
    return -n;
}

static int states(const char *s)
{
    int words = 0;
outside:
    switch (*s++) {
    case 0: goto end;
    case ' ': goto outside;
    }
    words++;
inside:
    switch (*s++) {
    case 0: goto end;
    case ' ': goto outside;
    default: goto inside;
    }
end:
    return words;
}

static int branches(int x)
{
    int r = 0;
    if (x & 1) {
        r += 1;
        if (x & 2)
            goto there;
        r += 2;
    here:
        r += 4;
    } else {
        r += 8;
        if (x & 4)
            goto here;
    there:
        r += 16;
    }
    do {
        r += 32;
        if (r > 100)
            break;
        if (x & 8) {
            x &= ~8;
            goto loop;
        }
        continue;
    loop:
        r += 3;
    } while (r < 90);
    return r;
}

int main(void)
{
    int i;
    for (i = -1; i < 12; i++)
        printf("%d %d %d %d %d\n", forward(i), backward(i + 2), into(i), two_heads(i & 1), branches(i));
    printf("%d %d\n", forward(101), states(" the quick  brown fox "));
    return 0;
}
