"""What the kernels work on: plain arrays, named here once.

`Tables` is one network, compiled; `Store` is what was explored of it; `Work` is scratch space.
The arrays of `Store` and `Work` grow: a kernel that runs out of room undoes the expansion under
way, returns which array was too small, and is called again with a larger one.
"""

from __future__ import annotations

from typing import Any

from whence.zones.bundle import Bundle, array

__all__ = ["Store", "Tables", "Work"]

Array = Any  # numpy arrays; numba checks their types better than annotations could

# ------------------------------------------------------------------------- columns of the tables

# edges: one row for each edge and each combination of its select values
EDGE_PROCESS = 0
EDGE_TARGET = 1
EDGE_GUARD = 2  # program, or -1
EDGE_DIRECTION = 3  # 0 internal, 1 sends, 2 receives
EDGE_CHANNEL = 4  # its number, or -1: ask the program
EDGE_CHANNEL_PC = 5
EDGE_UPDATE = 6  # program, or -1
EDGE_SELECTS_AT = 7
EDGE_SELECTS = 8
EDGE_COMMITTED = 9  # leaves a committed location
EDGE_ID = 10  # number of the edge in its process
EDGE_COLUMNS = 11

# locations, of all processes one after the other
LOCATION_KIND = 0  # 0 normal, 1 urgent, 2 committed
LOCATION_INVARIANT = 1  # program, or -1
LOCATION_URGENT_EDGES = 2  # an edge on a channel that may be urgent leaves it
LOCATION_COLUMNS = 3

# channels
CHANNEL_BROADCAST = 0
CHANNEL_URGENT = 1
CHANNEL_PRIORITY = 2
CHANNEL_COLUMNS = 3

# goals: the disjuncts of the state formula that is searched for
GOAL_PROGRAM = 0
GOAL_DEADLOCK = 1  # 0 no matter, 1 must be deadlocked, 2 must not be
GOAL_COLUMNS = 2

# settings
SET_PROCESSES = 0
SET_WIDTH = 1  # of a state row: locations and data
SET_CLOCKS = 2  # including the zero clock
SET_SELECTS = 3  # address of the select variables
SET_FRAMES = 4  # address of the first frame
SET_DEFAULT_PRIORITY = 5
SET_PRIORITIES = 6  # whether there are any
SET_URGENT_CHANNELS = 7
SET_DIAGONALS = 8
SET_COVER = 9  # how states are compared: COVER_*
SET_ORDER = 10  # ORDER_*
SET_KEEP_EDGES = 11
SET_GOAL_DEADLOCK = 12  # some goal asks for deadlock
SET_TIME_CLOCK = 13  # the clock that is never reset, or 0
SET_DROP_COVERED = 14  # forget waiting states that a later one covers
SET_STOP = 15  # stop at the first state that satisfies a goal
SET_FILTER = 16  # program: states in which it rejects are left out; or -1
SET_SIZE = 17

COVER_EQUAL = 0  # same zone
COVER_INCLUSION = 1  # zone included
COVER_ALU = 2  # zone included in the abstraction a_LU of the other
COVER_MUTUAL = 3  # each zone included in the abstraction a_LU of the other

ORDER_BREADTH = 0
ORDER_DEPTH = 1
ORDER_TIME = 2

# kept transitions, where there are any
KEPT_SOURCE = 0  # a node
KEPT_TARGET = 1
KEPT_ORDINAL = 2  # which of the source's candidate transitions it is
KEPT_EDGE = 3  # row in `edges` of the acting or sending edge
KEPT_PARTNER = 4  # of the receiving edge; -1: none, -2: several may receive (broadcast)
KEPT_COLUMNS = 5

# nodes
NODE_ROW = 0
NODE_PARENT = 1
NODE_ORDINAL = 2  # which of the parent's candidate transitions led here
NODE_NEXT = 3  # next node with the same row, or -1
NODE_STATUS = 4
NODE_MARK = 5  # 1 where a goal holds (for searches that go on then)
NODE_COLUMNS = 6

NO_NODE = -2

WAITING = 0
EXPANDED = 1
COVERED = 2

# counters
COUNT_NODES = 0
COUNT_ROWS = 1
COUNT_NEXT = 2  # breadth-first: next node to expand
COUNT_PENDING = 3  # size of the stack or heap
COUNT_TRANSITIONS = 4
COUNT_EXPANDED = 5
COUNT_COVERED = 6
COUNT_FOUND = 7  # the node that satisfies a goal, or -1
COUNT_EDGES = 8
COUNT_FAULT = 9  # the Fault, or 0
COUNT_FAULT_PC = 10
COUNT_FAULT_NODE = 11
COUNT_FAULT_ORDINAL = 12  # the transition that faults, or -1: in the state itself
COUNT_BEST = 13  # by time: key of the best goal so far
COUNT_CURRENT = 14  # node to expand before all others (-1: the initial state), or NO_NODE
COUNT_SIZE = 16

# why a kernel returns; above the statuses of zones, so that one number can carry either
DONE = 20
FOUND = 21
PAUSED = 22
GROW_NODES = 23
GROW_ROWS = 24
GROW_EDGES = 25
GROW_CONSTRAINTS = 26
GROW_CANDIDATES = 27
GROW_PIECES = 28
FAULTED = 29
OVERFLOWED = 30

# active edges of the state being expanded
ACTIVE_EDGE = 0
ACTIVE_FROM = 1  # its clock constraints
ACTIVE_TO = 2
ACTIVE_CHANNEL = 3
ACTIVE_NEXT = 4  # next receiver on the same channel
ACTIVE_COLUMNS = 5

# candidate transitions of the state being expanded
CANDIDATE_PARTS = 0
CANDIDATE_COUNT = 1
CANDIDATE_PRIORITY = 2
CANDIDATE_CHANNEL = 3  # or -1
CANDIDATE_COLUMNS = 4

# parts of candidates
PART_EDGE = 0  # or -1: constraints that keep a receiver out
PART_FROM = 1
PART_TO = 2
PART_COLUMNS = 3


class Tables(Bundle):
    code: Array = array("int32", None)
    edges: Array = array("int32", None, EDGE_COLUMNS)
    edge_start: Array = array("int32", None)  # by location, one more at the end
    locations: Array = array("int32", None, LOCATION_COLUMNS)
    location_base: Array = array("int32", None)  # by process
    process_priority: Array = array("int32", None)
    select_values: Array = array("int32", None)
    channels: Array = array("int32", None, CHANNEL_COLUMNS)
    lower: Array = array("int32", None, None)  # L bounds by location and clock
    upper: Array = array("int32", None, None)  # U bounds
    goal_lower: Array = array("int32", None)  # bounds of the state formula, by clock
    goal_upper: Array = array("int32", None)
    diagonals: Array = array("int32", None, 3)  # (i, j, raw) to split zones by
    watched: Array = array("int32", None)  # processes with an invariant somewhere
    goals: Array = array("int32", None, GOAL_COLUMNS)
    settings: Array = array("int64", SET_SIZE)


class Store(Bundle):
    rows: Array = array("int32", None, None)
    slots: Array = array("int64", None)  # hash table: fingerprint << 32 | row + 1
    head: Array = array("int32", None)  # first node of a row
    twins: Array = array("int64", None)  # hash table: fingerprint << 32 | node + 1, to find equals
    nodes: Array = array("int32", None, NODE_COLUMNS)
    zones: Array = array("int32", None, None, None)
    pending: Array = array("int32", None)  # stack, or heap of nodes
    keys: Array = array("int64", None)  # keys of the heap
    edges: Array = array("int32", None, KEPT_COLUMNS)
    counts: Array = array("int64", COUNT_SIZE)


class Work(Bundle):
    memory: Array = array("int64", None)
    stack: Array = array("int64", None)
    calls: Array = array("int64", None, 2)
    constraints: Array = array("int64", None, 3)
    resets: Array = array("int64", None, 2)
    out: Array = array("int64", None)
    active: Array = array("int64", None, ACTIVE_COLUMNS)
    receivers: Array = array("int32", None, 2)  # by channel: first and last active receiver
    touched: Array = array("int64", None)  # channels with receivers
    options: Array = array("int64", None, PART_COLUMNS)  # of broadcast receivers: parts
    odometer: Array = array("int64", None, 3)
    candidates: Array = array("int64", None, CANDIDATE_COLUMNS)
    parts: Array = array("int64", None, PART_COLUMNS)
    pieces: Array = array("int32", None, None, None)  # zones
    spare: Array = array("int32", None, None, None)  # zones for subtraction
    scratch: Array = array("int32", None, None, None)  # a few zones
    lower: Array = array("int32", None)
    upper: Array = array("int32", None)
