/* The controller of a heater: two faults are in it. */

#define HYSTERESIS 2
#define ZONES 3

enum mode { OFF, ECO, COMFORT };

static int offset[ZONES] = { 0, -1, 2 };

/* What a room should have, in degrees. */
static int target(enum mode mode, int wanted)
{
    switch (mode) {
    case ECO:
        return wanted - 4;
    case COMFORT:
        return wanted;
    default:
        return 7;
    }
}

/* The power, in steps of ten percent, that is needed for so many degrees. */
static int power(int missing)
{
    int steps = 0;
    while (missing > 0 && steps < 10) {
        missing -= 2;
        steps++;
    }
    return steps;
}

/* The new power of a zone: 0 is off, 10 is all. */
int heater(int zone, int mode, int wanted, int measured, int heating)
{
    int goal, actual;

    if (zone < 0 || zone > ZONES)
        return -1;
    actual = measured + offset[zone];
    goal = target(mode, wanted);
    if (heating)
        goal = goal - HYSTERESIS;
    if (actual >= goal)
        return 0;
    return power(goal - actual);
}
