/*
** jitrows.h - where things stand in the memory of LuaJIT 2.1, on x86-64 with
** GC64. Made by `make jitlayouts WRITE=1`; not to be edited. The includer
** defines JIT.
**
** All of them say 2.1: a column is for what was made from that month on, up to
** the next column's; the last one for OpenResty's branch, of 2021 to 2024.
**
** AT_: bytes from an object's beginning. SIZE_: bytes. Others are values. -1:
** there is no such thing.
*/
/*                       2020-09 2021-03 2024-04 2025-11 2026-07 openresty */
/* lua_State */
JIT(SIZE_STATE,              96,     96,     96,     96,     96,       112)
/* any object: the next one, */
JIT(AT_OBJECT_NEXT,           0,      0,      0,      0,      0,         0)
/* its colour, */
JIT(AT_OBJECT_MARKED,         8,      8,      8,      8,      8,         8)
/* and its type */
JIT(AT_OBJECT_TYPE,           9,      9,      9,      9,      9,         9)
/* 0, or how it ended */
JIT(AT_STATE_STATUS,         11,     11,     11,     11,     11,        11)
/* global_State */
JIT(AT_STATE_SHARED,         16,     16,     16,     16,     16,        16)
/* the frame's first slot */
JIT(AT_STATE_BASE,           32,     32,     32,     32,     32,        32)
/* the first free slot */
JIT(AT_STATE_TOP,            40,     40,     40,     40,     40,        40)
/* the last slot */
JIT(AT_STATE_LAST,           48,     48,     48,     48,     48,        48)
/* the first slot */
JIT(AT_STATE_STACK,          56,     56,     56,     56,     56,        56)
/* where C entered the interpreter */
JIT(AT_STATE_ENTRY,          80,     80,     80,     80,     80,        80)
/* global_State behind a main thread */
JIT(AT_MAIN_SHARED,          96,     96,     96,     96,     96,       112)
/* bytes in use */
JIT(AT_SHARED_BYTES,         16,     16,     16,     16,     16,        16)
/* collector: its white */
JIT(AT_SHARED_COLOUR,        32,     32,     32,     32,     32,        32)
/* all objects */
JIT(AT_SHARED_OBJECTS,       40,     40,     40,     40,     40,        40)
/* the empty string */
JIT(AT_SHARED_EMPTY,        120,    120,    120,    120,    120,       120)
/* what runs, or which trace */
JIT(AT_SHARED_DOES,         184,    184,    184,    184,    184,       184)
/* the main thread */
JIT(AT_SHARED_MAIN,         192,    192,    192,    192,    192,       192)
/* a slot */
JIT(AT_SHARED_REGISTRY,     272,    272,    272,    272,    272,       272)
/* a coroutine for finalizers */
JIT(AT_SHARED_OWN,           -1,     -1,     -1,    280,    280,        -1)
/* the instruction of C functions */
JIT(AT_SHARED_CCALL,        360,    360,    360,    368,    368,       360)
/* the coroutine that runs */
JIT(AT_SHARED_CURRENT,      368,    368,    368,    376,    376,       368)
/* the base of compiled code */
JIT(AT_SHARED_TRACED,       376,    376,    376,    384,    384,       376)
/* names of metamethods, */
JIT(AT_SHARED_EVENTS,       424,    424,    424,    432,    432,       424)
/* so many */
JIT(EVENTS,                  22,     22,     22,     22,     22,        22)
/* metatables of types */
JIT(AT_SHARED_METAS,        600,    600,    600,    608,    608,       600)
/* the array of traces, */
JIT(AT_SHARED_TRACES,      1112,   1112,   1120,   1128,   1128,      1120)
/* its size */
JIT(AT_SHARED_NTRACES,     1124,   1124,   1132,   1140,   1140,      1132)
/* 0: Lua */
JIT(AT_FUNCTION_KIND,        10,     10,     10,     10,     10,        10)
/* so many upvalues */
JIT(AT_FUNCTION_CAPTURED,     11,     11,     11,     11,     11,        11)
/* its first instruction */
JIT(AT_FUNCTION_CODE,        32,     32,     32,     32,     32,        32)
/* the C function */
JIT(AT_FUNCTION_C,           40,     40,     40,     40,     40,        40)
/* upvalues of C, */
JIT(AT_FUNCTION_VALUES,      48,     48,     48,     48,     48,        48)
/* of Lua */
JIT(AT_FUNCTION_UPVALUES,     40,     40,     40,     40,     40,        40)
/* where its value is */
JIT(AT_UPVALUE_SLOT,         32,     32,     32,     32,     32,        32)
/* before its instructions */
JIT(SIZE_PROTO,             104,    104,    104,    104,    104,       104)
/* parameters */
JIT(AT_PROTO_PARAMS,         10,     10,     10,     10,     10,        10)
/* slots of a frame */
JIT(AT_PROTO_SLOTS,          11,     11,     11,     11,     11,        11)
/* instructions */
JIT(AT_PROTO_NCODE,          12,     12,     12,     12,     12,        12)
/* constants, objects before it, */
JIT(AT_PROTO_CONSTANTS,      32,     32,     32,     32,     32,        32)
/* so many */
JIT(AT_PROTO_NCONSTANTS,     48,     48,     48,     48,     48,        48)
/* upvalues */
JIT(AT_PROTO_NUPVALUES,      60,     60,     60,     60,     60,        60)
/* bits */
JIT(AT_PROTO_FLAGS,          61,     61,     61,     61,     61,        61)
/* bit: extra arguments */
JIT(PROTO_VARARG,             2,      2,      2,      2,      2,         2)
/* a string object */
JIT(AT_PROTO_SOURCE,         64,     64,     64,     64,     64,        64)
/* its first line, */
JIT(AT_PROTO_LINE,           72,     72,     72,     72,     72,        72)
/* and how many more */
JIT(AT_PROTO_NLINES,         76,     76,     76,     76,     76,        76)
/* lines of instructions */
JIT(AT_PROTO_LINES,          80,     80,     80,     80,     80,        80)
/* names of upvalues */
JIT(AT_PROTO_UPVALUES,       88,     88,     88,     88,     88,        88)
/* variables */
JIT(AT_PROTO_LOCALS,         96,     96,     96,     96,     96,        96)
/* bytes */
JIT(AT_STRING_SIZE,          20,     20,     20,     20,     20,        20)
/* the bytes */
JIT(AT_STRING_TEXT,          24,     24,     24,     24,     24,        24)
/* slots from key 0 on, */
JIT(AT_TABLE_ARRAY,          16,     16,     16,     16,     16,        16)
/* so many */
JIT(AT_TABLE_ELEMENTS,       48,     48,     48,     48,     48,        48)
/* also of userdata */
JIT(AT_TABLE_META,           32,     32,     32,     32,     32,        32)
/* nodes, */
JIT(AT_TABLE_NODE,           40,     40,     40,     40,     40,        40)
/* so many less one */
JIT(AT_TABLE_NODES,          52,     52,     52,     52,     52,        52)
/* a node */
JIT(SIZE_NODE,               24,     24,     24,     24,     24,        24)
/* its key; the value comes first */
JIT(AT_NODE_KEY,              8,      8,      8,      8,      8,         8)
/* the function it begins in, */
JIT(AT_TRACE_PROTO,          64,     64,     64,     64,     64,        64)
/* and at which instruction */
JIT(AT_TRACE_CODE,           72,     72,     72,     72,     72,        72)
/* its number */
JIT(AT_TRACE_NUMBER,        104,    104,    104,    104,    104,       104)
/* its machine code, */
JIT(AT_TRACE_MACHINE,        88,     88,     88,     88,     88,        88)
/* so many bytes */
JIT(AT_TRACE_SIZE,           84,     84,     84,     84,     84,        84)
/* bytes of the C stack */
JIT(AT_TRACE_STACK,         102,    102,    102,    102,    102,       102)
/* and operations */
JIT(AT_TRACE_CONSTANTS,      32,     32,     32,     32,     32,        32)
/* its snapshots, */
JIT(AT_TRACE_SNAPS,          48,     48,     48,     48,     48,        48)
/* so many */
JIT(AT_TRACE_NSNAPS,         10,     10,     10,     10,     10,        10)
/* entries of all of them, */
JIT(AT_TRACE_ENTRIES,        56,     56,     56,     56,     56,        56)
/* so many */
JIT(AT_TRACE_NENTRIES,       44,     44,     44,     44,     44,        44)
/* a snapshot */
JIT(SIZE_SNAP,               12,     12,     12,     12,     12,        12)
/* where in the machine code */
JIT(AT_SNAP_MACHINE,         -1,      6,      6,      6,      6,         6)
/* its first entry, */
JIT(AT_SNAP_FIRST,            0,      0,      0,      0,      0,         0)
/* so many */
JIT(AT_SNAP_COUNT,            8,     10,     10,     10,     10,        10)
/* of a constant, 8 bytes before it */
JIT(AT_OPERATION_KIND,        5,      5,      5,      5,      5,         5)
JIT(CONSTANT_OBJECT,         24,     24,     24,     24,     24,        24)
/* any bits of 64 */
JIT(CONSTANT_FLOAT,          28,     28,     28,     28,     28,        28)
/* the entry before */
JIT(AT_ENTRY_BEFORE,         32,     32,     32,     32,     32,        32)
/* the coroutine that runs */
JIT(AT_ENTRY_STATE,          16,     16,     16,     16,     16,        16)
/* the instruction, where it is kept */
JIT(AT_ENTRY_CODE,           24,     24,     24,     24,     24,        24)
/* below 0: a protected call's slot */
JIT(AT_ENTRY_RESULTS,         8,      8,      8,      8,      8,         8)
/* comparisons */
JIT(OP_ISLT,                  0,      0,      0,      0,      0,         0)
JIT(OP_ISLE,                  2,      2,      2,      2,      2,         2)
JIT(OP_ISEQV,                 4,      4,      4,      4,      4,         4)
/* tests, two of which copy */
JIT(OP_ISTC,                 12,     12,     12,     12,     12,        12)
/* operators with a result, up to KNIL */
JIT(OP_MOV,                  18,     18,     18,     18,     18,        18)
JIT(OP_UNM,                  20,     20,     20,     20,     20,        20)
JIT(OP_LEN,                  21,     21,     21,     21,     21,        21)
/* five of each kind of operands */
JIT(OP_ADDVN,                22,     22,     22,     22,     22,        22)
JIT(OP_POW,                  37,     37,     37,     37,     37,        37)
JIT(OP_CAT,                  38,     38,     38,     38,     38,        38)
/* nil into several slots */
JIT(OP_KNIL,                 44,     44,     44,     44,     44,        44)
/* an upvalue's value */
JIT(OP_UGET,                 45,     45,     45,     45,     45,        45)
/* a closure; results, up to GSET */
JIT(OP_FNEW,                 51,     51,     51,     51,     51,        51)
/* a global */
JIT(OP_GGET,                 54,     54,     54,     54,     54,        54)
JIT(OP_GSET,                 55,     55,     55,     55,     55,        55)
/* a field; results, up to TSETV */
JIT(OP_TGETV,                56,     56,     56,     56,     56,        56)
/* by a constant string */
JIT(OP_TGETS,                57,     57,     57,     57,     57,        57)
JIT(OP_TSETV,                60,     60,     60,     60,     60,        60)
JIT(OP_TSETM,                63,     63,     63,     63,     63,        63)
/* calls, up to ITERC */
JIT(OP_CALLM,                65,     65,     65,     65,     65,        65)
/* of an iterator */
JIT(OP_ITERC,                69,     69,     69,     69,     69,        69)
/* the first behind what changes slots */
JIT(OP_RET,                  74,     74,     74,     74,     74,        74)
/* loops, up to LOOP */
JIT(OP_FORI,                 77,     77,     77,     77,     77,        77)
JIT(OP_LOOP,                 85,     85,     85,     85,     85,        85)
/* operators with a result follow */
JIT(OP_JMP,                  88,     88,     88,     88,     88,        88)
/* six that functions begin with */
JIT(OP_FUNCF,                89,     89,     89,     89,     96,        89)
/* that C functions do */
JIT(OP_FUNCC,                95,     95,     95,     95,    102,        95)
