/* Idioms of embedded C. */
#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#define BIT(n) (1u << (n))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(p, t, m) ((t *)((char *)(p) - offsetof(t, m)))

typedef enum { IDLE, RUN, FAULT, STATES } state_t;
typedef struct machine machine_t;
typedef state_t handler_t(machine_t *, uint8_t);
typedef union { uint16_t word; struct { uint8_t low, high; } byte; struct { uint16_t a : 4, b : 4, c : 8; } bit; } reg_t;
typedef struct { const char *name; handler_t *handler; uint8_t limits[2]; } row_t;
struct list { struct list *next, **back; };
struct job { int id; struct list link; };
struct machine { state_t state; volatile uint8_t ticks; reg_t reg; uint16_t crc; bool ready : 1; unsigned count : 31; };

static handler_t idle, run;
static state_t fault(machine_t *m, uint8_t e);
extern const uint8_t table[];
extern const row_t rows[STATES];
static uint32_t later;
_Static_assert(sizeof(reg_t) == 2, "layout");

const row_t rows[STATES] = {
    [RUN] = { "run", run, { 3, 9 } },
    [IDLE] = { .name = "id" "le", .handler = &idle, .limits = { [1] = 7 } },
    [FAULT] = { "fault", fault },
};
const uint8_t table[] = { 0x00, 0x07, 0x0e, 0x09, 0x1c, 0x1b, 0x12, 0x15 };
static uint32_t later = 0xFFFFFFF0u;

static inline uint16_t swap16(uint16_t v) { return (uint16_t)((v >> 8) | (v << 8)); }

static state_t idle(machine_t *m, uint8_t e) { return e > rows[m->state].limits[1] ? RUN : IDLE; }
static state_t run(machine_t *m, uint8_t e)
{
    m->ticks++;
    m->reg.byte.low |= BIT(e & 7);
    m->reg.bit.c += e;
    return m->ticks >= 3 ? FAULT : RUN;
}
static state_t fault(machine_t *m, uint8_t e) { (void)e; m->count--; return FAULT; }

static uint8_t crc8(const uint8_t data[static 1], size_t n)
{
    uint8_t crc = 0xff;
    for (size_t i = 0; i < n; ++i) {
        crc ^= data[i];
        for (int k = 8; k; --k)
            crc = (uint8_t)((crc & 0x80) ? (crc << 1) ^ 0x31 : crc << 1);
    }
    return crc;
}

static int16_t saturate(int32_t v) { return v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : (int16_t)v; }

static int16_t filter(int16_t x)
{
    static int16_t history[4];
    static uint8_t at;
    int32_t sum = 0;
    history[at++ & 3] = x;
    for (uint8_t i = 0; i != ARRAY_SIZE(history); i++)
        sum += history[i];
    return saturate(sum / 4 * 3);
}

static uint32_t pack(uint8_t *restrict to, uint32_t v)
{
    uint8_t *p = to;
    do { *p++ = (uint8_t)(v & 0x7f) | (v > 0x7f ? 0x80 : 0); } while (v >>= 7);
    return (uint32_t)(p - to);
}

static uint32_t elapsed(uint32_t now, uint32_t since) { return now - since; }

int main(void)
{
    machine_t m = { 0 };
    uint8_t buffer[8] = { 0 };
    struct job jobs[3], *job;
    struct list head = { &head, NULL }, *l;
    wchar_t wide[] = L"w\u00e9";
    int i;

    m.count = 5;
    for (i = 0; i < 7; i++) {
        m.state = rows[m.state].handler(&m, (uint8_t)(i * 3));
        printf("%s %u %#06x %d\n", rows[m.state].name, (unsigned)m.ticks, m.reg.word, (int)m.count);
    }
    m.crc = swap16(0x1234);
    m.ready = 2;
    printf("%#x %d %u\n", m.crc, m.ready, crc8(table, 8));
    for (i = 0; i < 6; i++)
        printf("%d ", filter((int16_t)(i % 2 ? 32000 : -i * 9000)));
    printf("%d\n", saturate(-70000));
    printf("%u", pack(buffer, 300000));
    for (i = 0; i < 4; i++)
        printf(" %02x", buffer[i]);
    printf("\n%u\n", elapsed(5, later));
    for (i = 0; i < 3; i++) {
        jobs[i].id = i * i;
        jobs[i].link.next = head.next;
        head.next = &jobs[i].link;
    }
    for (l = head.next; l != &head; l = l->next) {
        job = container_of(l, struct job, link);
        printf("%d ", job->id);
    }
    {
        uint32_t word;
        float f = -2.5f;
        memcpy(&word, &f, sizeof word);
        printf("%08x %d %d\n", (unsigned)word, (int)ARRAY_SIZE(wide), wide[1]);
    }
    while (i --> 0)
        if (!(i & 1)) continue; else printf("%d,", i);
    printf("%g %lld\n", 0x1.8p3, (long long)INT64_MIN);
    return !(sizeof(struct { char c; int64_t v; }) == 16);
}
