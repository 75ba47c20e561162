/* The control unit of a blower.
 *
 * It is called every few milliseconds with what the bus and the ignition say, and answers at most
 * one request at a time. A request is there until its answer was seen and it is taken away.
 */
#include "blower.h"

#define BOOT_MS 3u      /* from power on to the first request */
#define ANSWER_MS 4u    /* from a request to its answer */
#define S3_MS 5000u     /* without requests, the default session returns */
#define HOLD_MS 70u     /* how long a demand holds */
#define MOST_PERCENT 100
#define LOG_SIZE 3

enum phase { OFF, BOOTING, IDLE, BUSY, ANSWERING };
enum lock { CLOSED, SEEDED, OPEN };

static struct {
    enum phase phase;
    uint32_t in_phase;            /* how long, in milliseconds */
    int32_t argument;             /* of the request */
    bool extended;                /* the session */
    uint32_t quiet;               /* since the latest request or answer */
    enum lock lock;
    int32_t demand;               /* percent */
    uint32_t age;                 /* of the demand */
    int32_t log[LOG_SIZE];        /* a ring: the next record goes to log[next] */
    int32_t next;
} ecu;

static void enter(enum phase phase)
{
    ecu.phase = phase;
    ecu.in_phase = 0;
}

static void forget(void)
{
    int i;

    ecu.extended = false;
    ecu.lock = CLOSED;
    ecu.demand = ecu.age < HOLD_MS ? ecu.demand : 0;
    for (i = 0; i < LOG_SIZE; i++) {
        ecu.log[i] = 0;
    }
    ecu.next = 0;
}

static void start_session(bool extended)
{
    ecu.lock = ecu.lock == SEEDED ? SEEDED : CLOSED;
    ecu.extended = extended;
}

/* ------------------------------------------------------------------------------- services */

static int32_t ask_seed(void)
{
    if (!ecu.extended) {
        return blower_not_in_session;
    }
    ecu.lock = ecu.lock == OPEN ? OPEN : SEEDED;
    return blower_done;
}

static int32_t send_key(bool right)
{
    if (!right) {
        ecu.lock = ecu.lock == SEEDED ? CLOSED : ecu.lock;
        return blower_wrong_key;
    }
    if (ecu.lock != SEEDED) {
        return blower_no_seed;
    }
    ecu.lock = OPEN;
    return blower_done;
}

static int32_t set_demand(int32_t percent)
{
    if (ecu.lock != OPEN) {
        return blower_locked;
    }
    if (percent > MOST_PERCENT && !ecu.extended) {
        return blower_out_of_range;
    }
    ecu.demand = percent;
    ecu.age = 0;
    return blower_done;
}

static int32_t get_demand(int32_t *value)
{
    *value = ecu.age < HOLD_MS ? ecu.demand : 0;
    return blower_value;
}

static int32_t make_record(int32_t code)
{
    if (!ecu.extended) {
        return blower_not_in_session;
    }
    ecu.log[ecu.next] = code;
    ecu.next = (ecu.next + 1) % LOG_SIZE;
    return blower_done;
}

static int32_t read_record(int32_t *value)
{
    *value = ecu.log[(ecu.next + LOG_SIZE) % LOG_SIZE];
    return blower_value;
}

static int32_t serve(int32_t request, int32_t argument, int32_t *value)
{
    switch (request) {
    case blower_default_session:
        start_session(false);
        return blower_done;
    case blower_extended_session:
        start_session(true);
        return blower_done;
    case blower_ask_seed:
        return ask_seed();
    case blower_send_key:
        return send_key(true);
    case blower_send_wrong_key:
        return send_key(false);
    case blower_set:
        return set_demand(argument);
    case blower_get:
        return get_demand(value);
    case blower_log:
        return make_record(argument);
    case blower_read_log:
        return read_record(value);
    case blower_restart:
        forget();
        return blower_done;
    default: /* tester present */
        return blower_done;
    }
}

/* ---------------------------------------------------------------------------------- cycle */

static void idle(const blower_inputs *in)
{
    if (!in->in_Power) {
        forget();
        enter(OFF);
    } else if (in->in_Request != blower_none) {
        ecu.argument = in->in_Value;
        ecu.quiet = 0;
        enter(BUSY);
    } else if (ecu.extended && ecu.quiet >= S3_MS) {
        start_session(false);
    }
}

static void cycle(const blower_inputs *in, blower_outputs *out)
{
    if (ecu.phase == OFF && in->in_Power) {
        enter(BOOTING);
    } else if (ecu.phase == BOOTING && ecu.in_phase >= BOOT_MS) {
        enter(IDLE);
    } else if (ecu.phase == BUSY && ecu.in_phase >= ANSWER_MS) {
        out->out_Answer = serve(in->in_Request, ecu.argument, &out->out_Value);
        ecu.quiet = 0;
        enter(ANSWERING);
    } else if (ecu.phase == ANSWERING && in->in_Request == blower_none) {
        out->out_Answer = blower_silent;
        out->out_Value = 0;
        enter(IDLE);
    }
    if (ecu.phase == IDLE) {
        idle(in);
    }
}

void blower_reset(const blower_inputs *in, blower_outputs *out)
{
    forget();
    enter(OFF);
    ecu.quiet = 0;
    ecu.age = 0;
    out->out_Answer = blower_silent;
    out->out_Value = 0;
    cycle(in, out);
}

void blower_step(uint32_t milliseconds, const blower_inputs *in, blower_outputs *out)
{
    ecu.in_phase += milliseconds;
    ecu.quiet += milliseconds;
    ecu.age += milliseconds;
    cycle(in, out);
}
