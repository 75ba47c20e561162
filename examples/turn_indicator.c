/* The turn indicators of examples/turn_indicator.yaml as a controller would have them: called
 * every few milliseconds with its inputs.
 *
 *     whence tests examples/turn_indicator.yaml -o suite
 *     whence run suite --sut c:examples/turn_indicator.c
 */
#include "turn_indicator.h"

enum { ON_TIME = 340, OFF_TIME = 320, FLASHES = 3, LEFT = 1, RIGHT = 2, BOTH = 3 };

static struct {
    bool emergency;      /* the emergency switch was seen to be on */
    bool overridden;     /* ... and the lever has been moved since */
    int32_t lever;       /* where the lever was then */
    bool special;        /* emergency flashing of the special equipment */
    int32_t command;     /* what both interfaces ask for */
    bool flashing, lit;
    int32_t shown;       /* what the present flashing period shows */
    int32_t flashes;
    uint32_t timer;
} self;

static int32_t standard(const turn_indicator_inputs *in)
{
    int32_t lever = in->in_TurnIndLvr;

    if (!in->in_EmSwitch) {
        self.emergency = false;
        return lever;
    }
    if (!self.emergency) {
        self.emergency = true;
        self.overridden = false;
        self.lever = lever;
    } else if (lever == 0) {
        self.overridden = false;
        self.lever = 0;
    } else if (!self.overridden && lever != self.lever) {
        self.overridden = true;
    }
    return self.overridden ? lever : BOTH;
}

static int32_t special(const turn_indicator_inputs *in)
{
    self.special = in->in_EmSwitchSPV && in->in_TurnIndLvrSPV == 0;
    return self.special ? BOTH : in->in_TurnIndLvrSPV;
}

static void begin(void)
{
    self.flashing = true;
    self.lit = true;
    self.shown = self.command;
    self.flashes = 0;
    self.timer = 0;
}

static void lamps(const turn_indicator_inputs *in)
{
    bool powered = in->in_Voltage >= 100 && in->in_Voltage < 150;

    if (!powered) {
        self.flashing = false;
    } else if (self.command > 0 && (!self.flashing || self.command != self.shown)) {
        begin();
    }
    if (self.flashing && self.lit && self.timer >= ON_TIME) {
        self.lit = false;
        self.timer = 0;
        if (self.flashes < FLASHES) {
            self.flashes++;
        }
    } else if (self.flashing && !self.lit && self.timer >= OFF_TIME) {
        self.lit = true;
        self.timer = 0;
    }
    if (self.flashing && self.command == 0 && (self.flashes >= FLASHES || self.shown == BOTH)) {
        self.flashing = false;
    }
}

static void update(const turn_indicator_inputs *in, turn_indicator_outputs *out)
{
    int32_t mine = standard(in), theirs = special(in);

    self.command = mine > 0 ? mine : theirs;
    lamps(in);
    out->out_LampsLeft = self.flashing && self.lit && (self.shown & LEFT);
    out->out_LampsRight = self.flashing && self.lit && (self.shown & RIGHT);
}

void turn_indicator_reset(const turn_indicator_inputs *in, turn_indicator_outputs *out)
{
    self.emergency = self.overridden = self.special = false;
    self.flashing = self.lit = false;
    self.command = self.shown = self.flashes = self.lever = 0;
    self.timer = 0;
    update(in, out);
}

void turn_indicator_step(uint32_t milliseconds, const turn_indicator_inputs *in,
    turn_indicator_outputs *out)
{
    self.timer += milliseconds;
    update(in, out);
}
