/*
** rows.h - where things stand in the interpreter's memory, on 64 bits: what
** releases of Lua say of themselves. Made by `make layouts WRITE=1`; not to be
** edited. The includer defines SAME and DIFF: whether all releases of 5.4 agree
** on the row.
**
** AT_: bytes from an object's beginning. SIZE_: bytes. Others are values. -1:
** the release has none. A column is for the release that it names and those
** after it, up to the next column's.
*/
/*                        5.4.0 5.4.1 5.4.3 5.5.0 */
DIFF(SIZE_STATE,           200, 192, 200,  208) /* lua_State */
SAME(AT_STATE_TOP,          16,  16,  16,   16) /* the first free slot */
SAME(AT_STATE_SHARED,       24,  24,  24,   24) /* global_State */
SAME(AT_STATE_FRAME,        32,  32,  32,   32) /* the frame that runs */
DIFF(AT_STATE_STACK,        56,  48,  48,   48) /* the first slot */
DIFF(AT_STATE_HANDLER,     168, 160, 168,  168) /* a message handler's place */
DIFF(AT_STATE_JUMP,         88,  80,  88,   88) /* innermost protected call */
SAME(AT_STATE_ALLOWS,       11,  11,  11,   10) /* 0: a hook runs */
DIFF(AT_STATE_HOOK,        160, 152, 160,  160) /* its hook, */
DIFF(AT_STATE_MASK,        192, 184, 192,  196) /* for which events, */
DIFF(AT_STATE_COUNTS,      184, 176, 184,  188) /* after how many steps; */
DIFF(AT_STATE_COUNTED,     188, 180, 188,  192) /* steps that are left */
SAME(AT_STATE_FIRST,        -1,  -1,  -1,  200) /* at hooks: from which slot */
SAME(AT_STATE_COUNT,        -1,  -1,  -1,  204) /* how many values move */
SAME(AT_SHARED_OBJECTS,    112, 112, 112,  112) /* global_State: all objects */
SAME(AT_SHARED_COLOUR,     100, 100, 100,  106) /* collector: its white, */
SAME(AT_SHARED_WORK,       101, 101, 101,  107) /* what it does, */
SAME(AT_SHARED_MODE,       102, 102, 102,  108) /* 0: by steps; and whether */
DIFF(AT_SHARED_STEP,        -1,  -1, 103,  109) /* a step is under way */
SAME(COLLECTOR_MARKS,        0,   0,   0,    0) /* in generations: it rests */
SAME(COLLECTOR_ATOMIC,       2,   2,   2,    2) /* in one piece */
SAME(COLLECTOR_FINISHED,     7,   7,   7,    7) /* finalizers are to come */
SAME(COLLECTOR_RESTS,        8,   8,   8,    8)
SAME(SIZE_FRAME,            64,  64,  64,   64) /* CallInfo */
SAME(AT_FRAME_FUNCTION,      0,   0,   0,    0) /* the function's slot */
SAME(AT_FRAME_CALLER,       16,  16,  16,   16) /* the frame below */
SAME(AT_FRAME_NEXT,         32,  32,  32,   32) /* the next instruction */
SAME(AT_FRAME_TRAP,         40,  40,  40,   40) /* it looks for hooks */
SAME(AT_FRAME_EXTRA,        44,  44,  44,   44) /* how many extra arguments */
SAME(AT_FRAME_STATUS,       62,  62,  62,   60) /* bits: */
SAME(STATUS_C,               2,   2,   2,32768) /* bit: a C function, */
DIFF(STATUS_HOOKED,          4,   8,   8,1048576) /* bit: its hook runs, */
DIFF(STATUS_MOVES,         128, 256, 256,   -1) /* bit: values move: */
SAME(AT_FRAME_FIRST,        56,  56,  56,   -1) /* from which slot, */
SAME(AT_FRAME_COUNT,        58,  58,  58,   -1) /* how many */
SAME(AT_CLOSURE_UPVALUES,   10,  10,  10,   10) /* how many */
SAME(AT_CLOSURE_FUNCTION,   24,  24,  24,   24) /* prototype or C function */
SAME(AT_CLOSURE_VALUES,     32,  32,  32,   32) /* C function: upvalues */
SAME(SIZE_CLOSURE,          32,  32,  32,   32) /* a closure, no upvalues */
SAME(SIZE_PROTO,           128, 128, 128,  128) /* Proto */
SAME(AT_PROTO_PARAMS,       10,  10,  10,   10) /* fixed parameters */
SAME(AT_PROTO_EXTRA,        11,  11,  11,   11) /* extra arguments? */
SAME(PROTO_HIDDEN,          -1,  -1,  -1,    1) /* bit: below its slot, */
SAME(PROTO_TABLE,           -1,  -1,  -1,    2) /* bit: in a table */
SAME(AT_PROTO_NCONSTANTS,   20,  20,  20,   20) /* how many constants, */
SAME(AT_PROTO_NCODE,        24,  24,  24,   24) /* instructions, */
SAME(AT_PROTO_NLINES,       28,  28,  28,   28) /* steps of lines, */
SAME(AT_PROTO_NLOCALS,      36,  36,  36,   36) /* variables, */
SAME(AT_PROTO_ABSOLUTES,    40,  40,  40,   40) /* lines given outright */
SAME(AT_PROTO_LINE,         44,  44,  44,   44) /* its first line, */
SAME(AT_PROTO_LAST,         48,  48,  48,   48) /* and its last */
SAME(AT_PROTO_CONSTANTS,    56,  56,  56,   56) /* slots */
SAME(AT_PROTO_CODE,         64,  64,  64,   64) /* instructions, */
SAME(CODE_KIND,            127, 127, 127,  127) /* the opcode's bits */
SAME(AT_PROTO_UPVALUES,     80,  80,  80,   80) /* their descriptions */
SAME(AT_PROTO_LINES,        88,  88,  88,   88) /* a step an instruction */
SAME(AT_PROTO_ABSOLUTE,     96,  96,  96,   96) /* pairs: instruction, line */
SAME(AT_PROTO_LOCALS,      104, 104, 104,  104) /* parameters come first */
SAME(AT_PROTO_SOURCE,      112, 112, 112,  112)
SAME(SIZE_LOCAL,            16,  16,  16,   16) /* begins with its name, */
SAME(SIZE_UPVALUE,          16,  16,  16,   16) /* as this does */
SAME(SIZE_STRING,           24,  24,  24,   32) /* a long one's head */
SAME(AT_STRING_TEXT,        24,  24,  24,   24) /* a long one's: where */
SAME(AT_STRING_SHORT,       11,  11,  11,   11) /* a short one's length */
SAME(AT_STRING_HASH,        12,  12,  12,   12)
SAME(AT_STRING_LONG,        16,  16,  16,   16) /* a long one's length */
SAME(SIZE_TABLE,            48,  48,  48,   40) /* Table */
SAME(AT_TABLE_NODES,        11,  11,  11,   11) /* nodes: 2 to that power */
SAME(AT_TABLE_ELEMENTS,     12,  12,  12,   12) /* the array's size */
DIFF(AT_TABLE_LIMITED,       9,  10,  10,   -1) /* bit 7: that is a part */
SAME(SIZE_VALUE,            -1,  -1,  -1,    8) /* in an array */
SAME(SIZE_HINT,             -1,  -1,  -1,    4) /* between values and tags */
SAME(AT_TABLE_ARRAY,        16,  16,  16,   16)
SAME(AT_TABLE_NODE,         24,  24,  24,   24)
SAME(AT_TABLE_META,         40,  40,  40,   32)
SAME(SIZE_SLOT,             16,  16,  16,   16) /* a value and its tag */
SAME(SIZE_NODE,             24,  24,  24,   24) /* a slot and a key */
SAME(AT_NODE_TAG,            9,   9,   9,    9) /* the key's tag, */
SAME(AT_NODE_NEXT,          12,  12,  12,   12) /* steps to the next */
SAME(AT_NODE_KEY,           16,  16,  16,   16) /* the key itself */
SAME(AT_OBJECT_NEXT,         0,   0,   0,    0) /* the next object, */
SAME(AT_OBJECT_TAG,          8,   8,   8,    8) /* what this one is */
SAME(SIZE_USERDATA,         32,  32,  32,   32) /* without its values */
SAME(AT_USERDATA_META,      24,  24,  24,   24)
SAME(TAG_OWNED,             64,  64,  64,   64) /* the collector has it */
SAME(TAG_FALSE,              1,   1,   1,    1)
SAME(TAG_TRUE,              17,  17,  17,   17)
SAME(TAG_INTEGER,            3,   3,   3,    3)
SAME(TAG_FLOAT,             19,  19,  19,   19)
SAME(TAG_SHORT,              4,   4,   4,    4) /* a short string */
SAME(TAG_LONG,              20,  20,  20,   20) /* a long string */
SAME(TAG_LUA,                6,   6,   6,    6) /* a Lua function */
SAME(TAG_PROTO,             10,  10,  10,   10) /* a prototype */
SAME(TAG_LIGHTC,            22,  22,  22,   22) /* C, without upvalues */
SAME(TAG_C,                 38,  38,  38,   38) /* C, with upvalues */
