/*
** rows.h - where things stand in the interpreter's memory, on 64 bits: what
** releases of Lua say of themselves. Made by `make layouts WRITE=1`; not to be
** edited. The includer defines SAME and DIFF: whether all releases of 5.4 agree
** on the row, and all of 5.5.
**
** AT_: bytes from an object's beginning. SIZE_: bytes. Others are values. -1:
** the release has none. A column (columns.h) is for the release that it names
** and those after it, up to the next column's.
*/
/*                         510  513  520  521  524  530  531  532  533  534
                           540  541  542  543  544  550  551 */
/* lua_State */
DIFF(SIZE_STATE,          184, 184, 208, 208, 208, 208, 208, 208, 208, 208,
                          200, 192, 192, 200, 200, 208, 208)
/* the first free slot */
SAME(AT_STATE_TOP,         16,  16,  16,  16,  16,  16,  16,  16,  16,  16,
                           16,  16,  16,  16,  16,  16,  16)
/* global_State */
SAME(AT_STATE_SHARED,      32,  32,  24,  24,  24,  24,  24,  24,  24,  24,
                           24,  24,  24,  24,  24,  24,  24)
/* the frame that runs */
SAME(AT_STATE_FRAME,       40,  40,  32,  32,  32,  32,  32,  32,  32,  32,
                           32,  32,  32,  32,  32,  32,  32)
/* the first slot */
DIFF(AT_STATE_STACK,       64,  64,  56,  56,  56,  56,  56,  56,  56,  56,
                           56,  48,  48,  48,  48,  48,  48)
/* a message handler's place */
DIFF(AT_STATE_HANDLER,    176, 176, 120, 120, 120, 176, 176, 176, 176, 176,
                          168, 160, 160, 168, 168, 168, 168)
/* innermost protected call */
DIFF(AT_STATE_JUMP,       168, 168, 112, 112, 112,  88,  88,  88,  88,  88,
                           88,  80,  80,  88,  88,  88,  88)
/* 0: a hook runs */
SAME(AT_STATE_ALLOWS,      99, 101,  73,  73,  73, 201, 201, 201, 204, 204,
                           11,  11,  11,  11,  11,  10,  10)
/* its hook, */
DIFF(AT_STATE_HOOK,       112, 112,  88,  88,  88, 168, 168, 168, 168, 168,
                          160, 152, 152, 160, 160, 160, 160)
/* for which events, */
DIFF(AT_STATE_MASK,        98, 100,  72,  72,  72, 200, 200, 200, 200, 200,
                          192, 188, 184, 192, 192, 196, 196)
/* after how many steps; */
DIFF(AT_STATE_COUNTS,     100, 104,  76,  76,  76, 188, 188, 188, 188, 188,
                          184, 180, 176, 184, 184, 188, 188)
/* steps that are left */
DIFF(AT_STATE_COUNTED,    104, 108,  80,  80,  80, 192, 192, 192, 192, 192,
                          188, 184, 180, 188, 188, 192, 192)
/* at hooks: from which slot */
SAME(AT_STATE_FIRST,       -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1, 200, 200)
/* how many values move */
SAME(AT_STATE_COUNT,       -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1, 204, 204)
/* 0, or how it ended */
SAME(AT_STATE_STATUS,      10,  10,  10,  10,  10,  10,  10,  12,  12,  12,
                           10,  10,  10,  10,  10,  11,  11)
/* the last slot */
DIFF(AT_STATE_LAST,        56,  56,  48,  48,  48,  48,  48,  48,  48,  48,
                           48,  40,  40,  40,  40,  40,  40)
/* the host's frame; in 5.1 a pointer */
DIFF(AT_STATE_LOWEST,      80,  80, 128, 128, 128,  96,  96,  96,  96,  96,
                           96,  88,  88,  96,  96,  96,  96)
/* the running frame's next instruction */
SAME(AT_STATE_NEXT,        48,  48,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,  -1,  -1)
/* global_State behind a main thread */
DIFF(AT_MAIN_SHARED,      184, 184, 208, 208, 208, 208, 208, 208, 208, 208,
                          200, 192, 192, 200, 200,  -1,  -1)
/* global_State: the main thread itself, */
SAME(AT_SHARED_INSIDE,     -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,1416,1416)
/* or where it is */
DIFF(AT_SHARED_MAIN,      176, 176, 240, 264, 264, 224, 224, 200, 200, 200,
                          256, 264, 264, 264, 264,  -1,  -1)
/* a slot */
SAME(AT_SHARED_REGISTRY,  160, 160,  56,  64,  64,  64,  64,  64,  64,  64,
                           64,  64,  64,  64,  64,  64,  64)
/* metatables of types */
DIFF(AT_SHARED_METAS,     224, 224, 400, 424, 424, 440, 440, 416, 416, 416,
                          472, 480, 480, 480, 480, 472, 472)
/* names of metamethods, */
DIFF(AT_SHARED_EVENTS,    296, 296, 264, 288, 288, 248, 248, 224, 224, 224,
                          272, 280, 280, 280, 280, 272, 272)
/* so many */
SAME(EVENTS,               17,  17,  17,  17,  17,  24,  24,  24,  24,  24,
                           25,  25,  25,  25,  25,  25,  25)
/* global_State: all objects */
SAME(AT_SHARED_OBJECTS,    40,  40,  80,  96,  96,  88,  88,  88,  88,  88,
                          112, 112, 112, 112, 112, 112, 112)
/* collector: its white, */
SAME(AT_SHARED_COLOUR,     32,  32,  72,  84,  84,  84,  84,  84,  84,  84,
                          100, 100, 100, 100, 100, 106, 106)
/* what it does, */
SAME(AT_SHARED_WORK,       33,  33,  73,  85,  85,  85,  85,  85,  85,  85,
                          101, 101, 101, 101, 101, 107, 107)
/* 0: by steps; and whether */
SAME(AT_SHARED_MODE,       -1,  -1,  74,  86,  86,  86,  86,  86,  86,  86,
                          102, 102, 102, 102, 102, 108, 108)
/* a step is under way */
DIFF(AT_SHARED_STEP,       -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1, 103, 109, 109)
/* in generations: it rests */
SAME(COLLECTOR_MARKS,      -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                            0,   0,   0,   0,   0,   0,   0)
/* in one piece */
SAME(COLLECTOR_ATOMIC,     -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                            2,   2,   2,   2,   2,   2,   2)
/* finalizers are to come */
SAME(COLLECTOR_FINISHED,   -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                            7,   7,   7,   7,   7,   7,   7)
SAME(COLLECTOR_RESTS,      -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                            8,   8,   8,   8,   8,   8,   8)
/* CallInfo */
SAME(SIZE_FRAME,           40,  40,  80,  80,  80,  72,  72,  72,  72,  72,
                           64,  64,  64,  64,  64,  64,  64)
/* the function's slot */
SAME(AT_FRAME_FUNCTION,     8,   8,   0,   0,   0,   0,   0,   0,   0,   0,
                            0,   0,   0,   0,   0,   0,   0)
/* the frame below */
SAME(AT_FRAME_CALLER,      -1,  -1,  16,  16,  16,  16,  16,  16,  16,  16,
                           16,  16,  16,  16,  16,  16,  16)
/* the next instruction */
SAME(AT_FRAME_NEXT,        24,  24,  48,  56,  56,  40,  40,  40,  40,  40,
                           32,  32,  32,  32,  32,  32,  32)
/* it looks for hooks */
SAME(AT_FRAME_TRAP,        -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           40,  40,  40,  40,  40,  40,  40)
/* how many extra arguments */
SAME(AT_FRAME_EXTRA,       -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           44,  44,  44,  44,  44,  44,  44)
/* bits: */
SAME(AT_FRAME_STATUS,      -1,  -1,  34,  34,  34,  66,  66,  66,  66,  66,
                           62,  62,  62,  62,  62,  60,  60)
/* bit: a C function, */
SAME(STATUS_C,             -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                            2,   2,   2,   2,   2,32768,32768)
/* bit: its hook runs, */
DIFF(STATUS_HOOKED,        -1,  -1,   2,   2,   2,   4,   4,   4,   4,   4,
                            4,   4,   8,   8,   8,1048576,1048576)
/* bit: values move: */
DIFF(STATUS_MOVES,         -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                          128, 128, 256, 256, 256,  -1,  -1)
/* from which slot, */
SAME(AT_FRAME_FIRST,       -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           56,  56,  56,  56,  56,  -1,  -1)
/* how many */
SAME(AT_FRAME_COUNT,       -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           58,  58,  58,  58,  58,  -1,  -1)
/* bit: a Lua function, */
SAME(STATUS_LUA,           -1,  -1,   1,   1,   1,   2,   2,   2,   2,   2,
                           -1,  -1,  -1,  -1,  -1,  -1,  -1)
/* bit: by a tail call, */
DIFF(STATUS_TAIL,          -1,  -1,  64,  64,  64,  32,  32,  32,  32,  32,
                           16,  16,  32,  32,  32,4194304,4194304)
/* bit: it calls a finalizer */
DIFF(STATUS_FINALIZER,     -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1, 256,
                           64,  64, 128, 128, 128,16777216,16777216)
/* of all these bits */
SAME(SIZE_STATUS,          -1,  -1,   1,   1,   1,   1,   1,   1,   1,   2,
                            2,   2,   2,   2,   2,   4,   4)
/* how many tail calls led to it */
SAME(AT_FRAME_TAILS,       36,  36,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,  -1,  -1)
/* the end of its slots */
SAME(AT_FRAME_TOP,         16,  16,   8,   8,   8,   8,   8,   8,   8,   8,
                            8,   8,   8,   8,   8,   8,   8)
/* its first variable */
SAME(AT_FRAME_BASE,         0,   0,  40,  48,  48,  32,  32,  32,  32,  32,
                           -1,  -1,  -1,  -1,  -1,  -1,  -1)
/* how many */
SAME(AT_CLOSURE_UPVALUES,  11,  11,  11,  10,  10,  10,  10,  10,  10,  10,
                           10,  10,  10,  10,  10,  10,  10)
/* prototype or C function */
SAME(AT_CLOSURE_FUNCTION,  32,  32,  24,  24,  24,  24,  24,  24,  24,  24,
                           24,  24,  24,  24,  24,  24,  24)
/* C function: upvalues */
SAME(AT_CLOSURE_VALUES,    40,  40,  32,  32,  32,  32,  32,  32,  32,  32,
                           32,  32,  32,  32,  32,  32,  32)
/* a closure, no upvalues */
SAME(SIZE_CLOSURE,         40,  40,  32,  32,  32,  32,  32,  32,  32,  32,
                           32,  32,  32,  32,  32,  32,  32)
/* whether it is C */
SAME(AT_CLOSURE_C,         10,  10,  10,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,  -1,  -1)
/* Lua: upvalues, */
SAME(AT_CLOSURE_CAPTURED,  40,  40,  32,  32,  32,  32,  32,  32,  32,  32,
                           32,  32,  32,  32,  32,  32,  32)
/* where each has its value */
SAME(AT_UPVALUE_SLOT,      16,  16,  16,  16,  16,   0,   0,   0,   0,   0,
                           16,  16,  16,  16,  16,  16,  16)
/* Proto */
SAME(SIZE_PROTO,          120, 120, 128, 128, 128, 120, 120, 120, 120, 120,
                          128, 128, 128, 128, 128, 128, 128)
/* fixed parameters */
SAME(AT_PROTO_PARAMS,     113, 113, 120, 120, 120,  10,  10,  10,  10,  10,
                           10,  10,  10,  10,  10,  10,  10)
/* extra arguments? */
SAME(AT_PROTO_EXTRA,      114, 114, 121, 121, 121,  11,  11,  11,  11,  11,
                           11,  11,  11,  11,  11,  11,  11)
/* bit: below its slot, */
SAME(PROTO_HIDDEN,         -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,   1,   1)
/* bit: in a table */
SAME(PROTO_TABLE,          -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,   2,   2)
/* how many constants, */
SAME(AT_PROTO_NCONSTANTS,  76,  76,  84,  84,  84,  20,  20,  20,  20,  20,
                           20,  20,  20,  20,  20,  20,  20)
/* instructions, */
SAME(AT_PROTO_NCODE,       80,  80,  88,  88,  88,  24,  24,  24,  24,  24,
                           24,  24,  24,  24,  24,  24,  24)
/* steps of lines, */
SAME(AT_PROTO_NLINES,      84,  84,  92,  92,  92,  28,  28,  28,  28,  28,
                           28,  28,  28,  28,  28,  28,  28)
/* variables, */
SAME(AT_PROTO_NLOCALS,     92,  92, 100, 100, 100,  36,  36,  36,  36,  36,
                           36,  36,  36,  36,  36,  36,  36)
/* lines given outright */
SAME(AT_PROTO_ABSOLUTES,   -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           40,  40,  40,  40,  40,  40,  40)
/* upvalues */
SAME(AT_PROTO_NUPVALUES,   72,  72,  80,  80,  80,  16,  16,  16,  16,  16,
                           16,  16,  16,  16,  16,  16,  16)
/* its first line, */
SAME(AT_PROTO_LINE,        96,  96, 104, 104, 104,  40,  40,  40,  40,  40,
                           44,  44,  44,  44,  44,  44,  44)
/* and its last */
SAME(AT_PROTO_LAST,       100, 100, 108, 108, 108,  44,  44,  44,  44,  44,
                           48,  48,  48,  48,  48,  48,  48)
/* slots */
SAME(AT_PROTO_CONSTANTS,   16,  16,  16,  16,  16,  48,  48,  48,  48,  48,
                           56,  56,  56,  56,  56,  56,  56)
/* instructions, */
SAME(AT_PROTO_CODE,        24,  24,  24,  24,  24,  56,  56,  56,  56,  56,
                           64,  64,  64,  64,  64,  64,  64)
/* the opcode's bits */
SAME(CODE_KIND,            63,  63,  63,  63,  63,  63,  63,  63,  63,  63,
                          127, 127, 127, 127, 127, 127, 127)
/* their descriptions */
SAME(AT_PROTO_UPVALUES,    56,  56,  56,  56,  56,  88,  88,  88,  88,  88,
                           80,  80,  80,  80,  80,  80,  80)
/* a step an instruction */
SAME(AT_PROTO_LINES,       40,  40,  40,  40,  40,  72,  72,  72,  72,  72,
                           88,  88,  88,  88,  88,  88,  88)
/* pairs: instruction, line */
SAME(AT_PROTO_ABSOLUTE,    -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           96,  96,  96,  96,  96,  96,  96)
/* parameters come first */
SAME(AT_PROTO_LOCALS,      48,  48,  48,  48,  48,  80,  80,  80,  80,  80,
                          104, 104, 104, 104, 104, 104, 104)
SAME(AT_PROTO_SOURCE,      64,  64,  72,  72,  72, 104, 104, 104, 104, 104,
                          112, 112, 112, 112, 112, 112, 112)
/* begins with its name, */
SAME(SIZE_LOCAL,           16,  16,  16,  16,  16,  16,  16,  16,  16,  16,
                           16,  16,  16,  16,  16,  16,  16)
/* as this does */
SAME(SIZE_UPVALUE,          8,   8,  16,  16,  16,  16,  16,  16,  16,  16,
                           16,  16,  16,  16,  16,  16,  16)
/* a long one's head */
SAME(SIZE_STRING,          24,  24,  24,  24,  24,  32,  24,  24,  24,  24,
                           24,  24,  24,  24,  24,  32,  32)
/* a long one's: where */
SAME(AT_STRING_TEXT,       24,  24,  24,  24,  24,  32,  24,  24,  24,  24,
                           24,  24,  24,  24,  24,  24,  24)
/* a short one's length */
SAME(AT_STRING_SHORT,      -1,  -1,  -1,  -1,  -1,  -1,  11,  11,  11,  11,
                           11,  11,  11,  11,  11,  11,  11)
SAME(AT_STRING_HASH,       12,  12,  12,  12,  12,  12,  12,  12,  12,  12,
                           12,  12,  12,  12,  12,  12,  12)
/* a long one's length */
SAME(AT_STRING_LONG,       16,  16,  16,  16,  16,  16,  16,  16,  16,  16,
                           16,  16,  16,  16,  16,  16,  16)
/* Table */
SAME(SIZE_TABLE,           64,  64,  64,  64,  56,  56,  56,  56,  56,  56,
                           48,  48,  48,  48,  48,  40,  40)
/* nodes: 2 to that power */
SAME(AT_TABLE_NODES,       11,  11,  11,  11,  11,  11,  11,  11,  11,  11,
                           11,  11,  11,  11,  11,  11,  11)
/* the array's size */
SAME(AT_TABLE_ELEMENTS,    56,  56,  56,  56,  12,  12,  12,  12,  12,  12,
                           12,  12,  12,  12,  12,  12,  12)
/* bit 7: that is a part */
DIFF(AT_TABLE_LIMITED,     -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                            9,  10,  10,  10,  10,  -1,  -1)
/* in an array */
SAME(SIZE_VALUE,           -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,   8,   8)
/* between values and tags */
SAME(SIZE_HINT,            -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,   4,   4)
SAME(AT_TABLE_ARRAY,       24,  24,  24,  24,  16,  16,  16,  16,  16,  16,
                           16,  16,  16,  16,  16,  16,  16)
SAME(AT_TABLE_NODE,        32,  32,  32,  32,  24,  24,  24,  24,  24,  24,
                           24,  24,  24,  24,  24,  24,  24)
SAME(AT_TABLE_META,        16,  16,  16,  16,  40,  40,  40,  40,  40,  40,
                           40,  40,  40,  40,  40,  32,  32)
/* a value and its tag */
SAME(SIZE_SLOT,            16,  16,  16,  16,  16,  16,  16,  16,  16,  16,
                           16,  16,  16,  16,  16,  16,  16)
/* a slot and a key */
SAME(SIZE_NODE,            40,  40,  40,  40,  40,  32,  32,  32,  32,  32,
                           24,  24,  24,  24,  24,  24,  24)
/* the key's tag, */
SAME(AT_NODE_TAG,          24,  24,  24,  24,  24,  24,  24,  24,  24,  24,
                            9,   9,   9,   9,   9,   9,   9)
/* steps to the next */
SAME(AT_NODE_NEXT,         32,  32,  32,  32,  32,  28,  28,  28,  28,  28,
                           12,  12,  12,  12,  12,  12,  12)
/* the key itself */
SAME(AT_NODE_KEY,          16,  16,  16,  16,  16,  16,  16,  16,  16,  16,
                           16,  16,  16,  16,  16,  16,  16)
/* the next object, */
SAME(AT_OBJECT_NEXT,        0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
                            0,   0,   0,   0,   0,   0,   0)
/* what this one is */
SAME(AT_OBJECT_TAG,         8,   8,   8,   8,   8,   8,   8,   8,   8,   8,
                            8,   8,   8,   8,   8,   8,   8)
/* its colour: the collector's */
SAME(AT_OBJECT_MARKED,      9,   9,   9,   9,   9,   9,   9,   9,   9,   9,
                            9,   9,   9,   9,   9,   9,   9)
/* without its values */
SAME(SIZE_USERDATA,        40,  40,  40,  40,  40,  40,  40,  40,  40,  40,
                           32,  32,  32,  32,  32,  32,  32)
SAME(AT_USERDATA_META,     16,  16,  16,  16,  16,  16,  16,  16,  16,  16,
                           24,  24,  24,  24,  24,  24,  24)
/* the collector has it */
SAME(TAG_OWNED,            -1,  -1,  64,  64,  64,  64,  64,  64,  64,  64,
                           64,  64,  64,  64,  64,  64,  64)
SAME(TAG_FALSE,            -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                            1,   1,   1,   1,   1,   1,   1)
SAME(TAG_TRUE,             -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           17,  17,  17,  17,  17,  17,  17)
SAME(TAG_INTEGER,          -1,  -1,  -1,  -1,  -1,  19,  19,  19,  19,  19,
                            3,   3,   3,   3,   3,   3,   3)
SAME(TAG_FLOAT,             3,   3,   3,   3,   3,   3,   3,   3,   3,   3,
                           19,  19,  19,  19,  19,  19,  19)
/* a short string */
SAME(TAG_SHORT,             4,   4,   4,   4,   4,   4,   4,   4,   4,   4,
                            4,   4,   4,   4,   4,   4,   4)
/* a long string */
SAME(TAG_LONG,             -1,  -1,  -1,  20,  20,  20,  20,  20,  20,  20,
                           20,  20,  20,  20,  20,  20,  20)
/* a Lua function */
SAME(TAG_LUA,               6,   6,   6,   6,   6,   6,   6,   6,   6,   6,
                            6,   6,   6,   6,   6,   6,   6)
/* a prototype */
SAME(TAG_PROTO,             9,   9,   9,   9,   9,   9,   9,   9,   9,   9,
                           10,  10,  10,  10,  10,  10,  10)
/* C, without upvalues */
SAME(TAG_LIGHTC,           -1,  -1,  22,  22,  22,  22,  22,  22,  22,  22,
                           22,  22,  22,  22,  22,  22,  22)
/* C, with upvalues */
SAME(TAG_C,                -1,  -1,  38,  38,  38,  38,  38,  38,  38,  38,
                           38,  38,  38,  38,  38,  38,  38)
/* bytes in use, with */
SAME(AT_SHARED_TOTAL,     120, 120,  16,  16,  16,  16,  16,  16,  16,  16,
                           16,  16,  16,  16,  16,  16,  16)
/* these; with GCtotalbytes less these */
SAME(AT_SHARED_DEBT,       -1,  -1,  24,  24,  24,  24,  24,  24,  24,  24,
                           24,  24,  24,  24,  24,  24,  24)
/* with the main thread */
DIFF(SIZE_SHARED,         616, 616, 680, 704, 704, 728,1744,1552,1552,1552,
                         1624,1624,1616,1624,1624,1624,1624)
/* chains of strings, */
SAME(AT_SHARED_STRINGS,     0,   0,  40,  48,  48,  48,  48,  48,  48,  48,
                           48,  48,  48,  48,  48,  48,  48)
/* so many */
SAME(AT_SHARED_NSTRINGS,   12,  12,  52,  60,  60,  60,  60,  60,  60,  60,
                           60,  60,  60,  60,  60,  60,  60)
/* objects with finalizers */
SAME(AT_SHARED_FINALIZED,  -1,  -1,  88, 104, 104, 104, 104, 104, 104, 104,
                          128, 128, 128, 128, 128, 128, 128)
/* those to be finalized */
SAME(AT_SHARED_PENDING,    80,  80, 144, 168, 168, 152, 152, 152, 152, 152,
                          176, 176, 176, 176, 176, 176, 176)
/* never collected */
SAME(AT_SHARED_FIXED,      -1,  -1,  -1,  -1,  -1, 160, 160, 160, 160, 160,
                          184, 184, 184, 184, 184, 184, 184)
/* bytes for the parser, */
SAME(AT_SHARED_BUFFER,     88,  88, 192, 216, 216, 176, 176,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,  -1,  -1)
/* so many */
SAME(AT_SHARED_NBUFFER,   104, 104, 208, 232, 232, 192, 192,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,  -1,  -1)
/* lua_State, and what is before it */
DIFF(SIZE_THREAD,         184, 184, 208, 208, 208, 216, 216, 216, 216, 216,
                          208, 200, 200, 208, 208, 216, 216)
/* open upvalues */
DIFF(AT_STATE_OPEN,       152, 152,  96,  96,  96,  64,  64,  64,  64,  64,
                           64,  56,  56,  56,  56,  56,  56)
/* frames in its array */
SAME(AT_STATE_NFRAMES,     92,  92,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,  -1,  -1)
/* a slot */
SAME(AT_STATE_GLOBALS,    120, 120,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,  -1,  -1)
/* slots from the last one on */
SAME(STACK_BEYOND,          6,   6,   5,   5,   5,   5,   5,   5,   5,   5,
                            5,   5,   5,   5,   5,   5,   5)
/* the frame above, in use or not */
SAME(AT_FRAME_CALLED,      -1,  -1,  24,  24,  24,  24,  24,  24,  24,  24,
                           24,  24,  24,  24,  24,  24,  24)
/* a table */
SAME(AT_CLOSURE_GLOBALS,   24,  24,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,  -1,  -1)
/* functions inside, */
SAME(AT_PROTO_PROTOS,      32,  32,  32,  32,  32,  64,  64,  64,  64,  64,
                           72,  72,  72,  72,  72,  72,  72)
/* so many */
SAME(AT_PROTO_NPROTOS,     88,  88,  96,  96,  96,  32,  32,  32,  32,  32,
                           32,  32,  32,  32,  32,  32,  32)
/* of an instruction */
SAME(SIZE_LINE,             4,   4,   4,   4,   4,   4,   4,   4,   4,   4,
                            1,   1,   1,   1,   1,   1,   1)
/* bit: its code is the host's */
SAME(PROTO_FIXED,          -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,   4,   4)
/* with what is the collector's */
SAME(SIZE_TABLE_BLOCK,     64,  64,  64,  64,  56,  56,  56,  56,  56,  56,
                           56,  56,  56,  56,  56,  48,  48)
/* bits: */
SAME(AT_TABLE_FLAGS,       -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,  10,  10)
/* its node is nobody's */
SAME(TABLE_DUMMY,          -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,  64,  64)
/* 0: its node is nobody's */
SAME(AT_TABLE_FREE,        -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  32,
                           32,  32,  32,  32,  32,  -1,  -1)
/* an upvalue */
SAME(SIZE_CAPTURED,        40,  40,  40,  40,  40,  32,  32,  32,  32,  32,
                           40,  40,  40,  40,  40,  40,  40)
/* closed: its value */
SAME(AT_UPVALUE_VALUE,     24,  24,  24,  24,  24,  16,  16,  16,  16,  16,
                           24,  24,  24,  24,  24,  24,  24)
/* open: the next */
SAME(AT_UPVALUE_NEXT,       0,   0,   0,   0,   0,  16,  16,  16,  16,  16,
                           24,  24,  24,  24,  24,  24,  24)
SAME(TAG_UPVALUE,          10,  10,  10,  10,  10,  -1,  -1,  -1,  -1,  -1,
                            9,   9,   9,   9,   9,   9,   9)
/* whose text is the host's */
SAME(SIZE_STRING_OWNED,    -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,  48,  48)
/* bytes */
SAME(AT_USERDATA_SIZE,     32,  32,  32,  32,  32,  24,  24,  24,  24,  24,
                           16,  16,  16,  16,  16,  16,  16)
/* how many values */
SAME(AT_USERDATA_NVALUES,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           10,  10,  10,  10,  10,  10,  10)
/* slots */
DIFF(AT_USERDATA_VALUES,   -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           40,  40,  40,  40,  40,  40,  48)
/* its value, */
SAME(AT_USERDATA_VALUE,    -1,  -1,  -1,  -1,  -1,  32,  32,  32,  32,  32,
                           -1,  -1,  -1,  -1,  -1,  -1,  -1)
/* with that tag */
SAME(AT_USERDATA_TAG,      -1,  -1,  -1,  -1,  -1,  10,  10,  10,  10,  10,
                           -1,  -1,  -1,  -1,  -1,  -1,  -1)
/* a table */
SAME(AT_USERDATA_TABLE,    24,  24,  24,  24,  24,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,  -1,  -1)
/* where an instruction has its operands */
SAME(CODE_AT_A,             6,   6,   6,   6,   6,   6,   6,   6,   6,   6,
                            7,   7,   7,   7,   7,   7,   7)
SAME(CODE_AT_B,            23,  23,  23,  23,  23,  23,  23,  23,  23,  23,
                           16,  16,  16,  16,  16,  16,  16)
SAME(CODE_AT_C,            14,  14,  14,  14,  14,  14,  14,  14,  14,  14,
                           24,  24,  24,  24,  24,  24,  24)
SAME(CODE_AT_LONG,         14,  14,  14,  14,  14,  14,  14,  14,  14,  14,
                           15,  15,  15,  15,  15,  15,  15)
/* bits of operands */
SAME(CODE_SIZE_B,           9,   9,   9,   9,   9,   9,   9,   9,   9,   9,
                            8,   8,   8,   8,   8,   8,   8)
SAME(CODE_SIZE_C,           9,   9,   9,   9,   9,   9,   9,   9,   9,   9,
                            8,   8,   8,   8,   8,   8,   8)
SAME(CODE_SIZE_LONG,       18,  18,  18,  18,  18,  18,  18,  18,  18,  18,
                           17,  17,  17,  17,  17,  17,  17)
SAME(CODE_AT_JUMP,         -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                            7,   7,   7,   7,   7,   7,   7)
/* bit: the operand is a constant */
SAME(CODE_CONSTANT,       256, 256, 256, 256, 256, 256, 256, 256, 256, 256,
                           -1,  -1,  -1,  -1,  -1,  -1,  -1)
/* opcodes */
SAME(OP_MOVE,               0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
                            0,   0,   0,   0,   0,   0,   0)
SAME(OP_LOADK,              1,   1,   1,   1,   1,   1,   1,   1,   1,   1,
                            3,   3,   3,   3,   3,   3,   3)
SAME(OP_LOADNIL,            3,   3,   4,   4,   4,   4,   4,   4,   4,   4,
                            8,   8,   8,   8,   8,   8,   8)
SAME(OP_GETUPVAL,           4,   4,   5,   5,   5,   5,   5,   5,   5,   5,
                            9,   9,   9,   9,   9,   9,   9)
SAME(OP_GETGLOBAL,          5,   5,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,  -1,  -1)
SAME(OP_GETTABUP,          -1,  -1,   6,   6,   6,   6,   6,   6,   6,   6,
                           11,  11,  11,  11,  11,  11,  11)
SAME(OP_GETTABLE,           6,   6,   7,   7,   7,   7,   7,   7,   7,   7,
                           12,  12,  12,  12,  12,  12,  12)
SAME(OP_GETI,              -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           13,  13,  13,  13,  13,  13,  13)
SAME(OP_GETFIELD,          -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           14,  14,  14,  14,  14,  14,  14)
SAME(OP_SELF,              11,  11,  12,  12,  12,  12,  12,  12,  12,  12,
                           20,  20,  20,  20,  20,  20,  20)
SAME(OP_SETGLOBAL,          7,   7,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           -1,  -1,  -1,  -1,  -1,  -1,  -1)
SAME(OP_SETTABUP,          -1,  -1,   8,   8,   8,   8,   8,   8,   8,   8,
                           15,  15,  15,  15,  15,  15,  15)
SAME(OP_SETTABLE,           9,   9,  10,  10,  10,  10,  10,  10,  10,  10,
                           16,  16,  16,  16,  16,  16,  16)
SAME(OP_SETI,              -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           17,  17,  17,  17,  17,  17,  17)
SAME(OP_SETFIELD,          -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           18,  18,  18,  18,  18,  18,  18)
/* the first of the arithmetic ones */
SAME(OP_ADD,               12,  12,  13,  13,  13,  13,  13,  13,  13,  13,
                           -1,  -1,  -1,  -1,  -1,  -1,  -1)
/* C is the metamethod */
SAME(OP_MMBIN,             -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           46,  46,  46,  46,  46,  46,  46)
SAME(OP_MMBINK,            -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           48,  48,  48,  48,  48,  48,  48)
SAME(OP_UNM,               18,  18,  19,  19,  19,  25,  25,  25,  25,  25,
                           49,  49,  49,  49,  49,  49,  49)
SAME(OP_BNOT,              -1,  -1,  -1,  -1,  -1,  26,  26,  26,  26,  26,
                           50,  50,  50,  50,  50,  50,  50)
SAME(OP_LEN,               20,  20,  21,  21,  21,  28,  28,  28,  28,  28,
                           52,  52,  52,  52,  52,  52,  52)
SAME(OP_CONCAT,            21,  21,  22,  22,  22,  29,  29,  29,  29,  29,
                           53,  53,  53,  53,  53,  53,  53)
SAME(OP_EQ,                23,  23,  24,  24,  24,  31,  31,  31,  31,  31,
                           57,  57,  57,  57,  57,  57,  57)
SAME(OP_LT,                24,  24,  25,  25,  25,  32,  32,  32,  32,  32,
                           58,  58,  58,  58,  58,  58,  58)
SAME(OP_LE,                25,  25,  26,  26,  26,  33,  33,  33,  33,  33,
                           59,  59,  59,  59,  59,  59,  59)
SAME(OP_LTI,               -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           62,  62,  62,  62,  62,  62,  62)
SAME(OP_LEI,               -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           63,  63,  63,  63,  63,  63,  63)
SAME(OP_GTI,               -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           64,  64,  64,  64,  64,  64,  64)
SAME(OP_GEI,               -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           65,  65,  65,  65,  65,  65,  65)
SAME(OP_JMP,               22,  22,  23,  23,  23,  30,  30,  30,  30,  30,
                           56,  56,  56,  56,  56,  56,  56)
SAME(OP_CALL,              28,  28,  29,  29,  29,  36,  36,  36,  36,  36,
                           68,  68,  68,  68,  68,  68,  68)
SAME(OP_TAILCALL,          29,  29,  30,  30,  30,  37,  37,  37,  37,  37,
                           69,  69,  69,  69,  69,  69,  69)
/* a step of a loop with 'in' */
SAME(OP_ITERATE,           33,  33,  34,  34,  34,  41,  41,  41,  41,  41,
                           76,  76,  76,  76,  76,  76,  76)
SAME(OP_CLOSE,             -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,  -1,
                           54,  54,  54,  54,  54,  54,  54)
SAME(OP_RETURN,            30,  30,  31,  31,  31,  38,  38,  38,  38,  38,
                           70,  70,  70,  70,  70,  70,  70)
/* opcodes that set register A, 16 in a row */
SAME(SETS_A, 64639,64639,63743,63743,63743,63743,63743,63743,63743,63743,
                         31743,31743,31743,31743,31743,31743,31743)
SAME(SETS_B, 48191,48191,28799,28799,28799,16383,16383,16383,16383,16383,
                         65528,65528,65528,65528,65528,65528,65528)
SAME(SETS_C,               49,  49, 107, 107, 107,13752,13752,13752,13752,13752,
                         16383,16383,16383,16383,16383,16383,16383)
SAME(SETS_D,                0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
                           62,  62,  62,  62,  62,  62,  62)
SAME(SETS_E,                0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
                         42552,42552,42552,42552,42552,42552,42552)
DIFF(SETS_F,                0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
                            3,   3,   3,   3,   3,  11,   3)
