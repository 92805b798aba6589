/*
** seen.h - what is seen in another process's memory, in words that hold for any
** Lua: values, tables, functions, coroutines, frames.
**
** Structures alone: value.h, proto.h, state.h and walk.h fill them in, as a
** release of lua.org's lies in memory or as a dialect does (dialect.h).
** Addresses are the other process's.
*/
#ifndef TG_SEEN_H
#define TG_SEEN_H

#include "base/base.h"

/* Lua's types (lua.h): the same numbers in all releases. */
typedef enum tg_SeenType {
  TG_SEEN_NIL, TG_SEEN_BOOLEAN, TG_SEEN_LIGHT, TG_SEEN_NUMBER,
  TG_SEEN_STRING, TG_SEEN_TABLE, TG_SEEN_FUNCTION, TG_SEEN_USERDATA,
  TG_SEEN_THREAD, TG_SEEN_OTHER
} tg_SeenType;

typedef struct tg_SeenValue {
  uint64_t bits;        /* an address, an integer, a float's bits */
  uint8_t tag;
} tg_SeenValue;

/* A traversal of a table (value.h). */
typedef struct tg_SeenTable {
  uint64_t table;
  uint64_t elements;    /* slots of the array, */
  uint64_t i;           /* and the next one; */
  uint64_t nodes, node; /* then the nodes, and the next one */
  uint64_t array, first;
  uint64_t steps;       /* that are left, whatever is there */
  bool cut;             /* the steps were used up */
  tg_SeenValue key, value;
} tg_SeenTable;

typedef struct tg_SeenProto {
  uint64_t at;
  uint64_t code;        /* its instructions */
  uint32_t ncode;
  uint32_t line, last_line;
  uint32_t nlocals, nupvalues, nconstants;
  uint8_t params;
  bool vararg;
  bool hidden;          /* extra arguments are on the stack */
  uint64_t source;      /* a string object; 0: none */
} tg_SeenProto;

/* Where the names of a function's variables have been read up to. Zeroed: from
   the first on. */
typedef struct tg_SeenNames {
  uint32_t i;
  uint32_t pc;          /* where the last one begins */
} tg_SeenNames;

typedef struct tg_SeenState {
  uint64_t at;          /* its lua_State */
  uint64_t shared;      /* its global_State */
  uint64_t frame;       /* the frame that runs */
  uint64_t lowest;      /* the host's, below all others */
  uint64_t stack, top, last;  /* slots */
  uint64_t jump;        /* the innermost protected call, on the C stack of the
                           thread that runs it; 0: none runs it */
  uint8_t status;       /* 0, 1: it has yielded, or the error that ended it */
} tg_SeenState;

typedef struct tg_SeenFrame {
  uint64_t frame;       /* its CallInfo */
  uint64_t slot;        /* its function's slot */
  tg_SeenValue function;
  uint64_t code;        /* its prototype, or the C function */
  uint64_t source;      /* of the prototype: a string object, */
  uint32_t line;        /* and its first line; */
  uint64_t begin, end;  /* and its instructions */
  uint64_t base, limit; /* slots of its variables; the end of them */
  int32_t pc;           /* the instruction that runs; -1: not known */
  uint64_t next;        /* the leaf, and what is torn: the next instruction */
  uint32_t extra;       /* extra arguments, from 'extras' on */
  uint64_t extras;
  bool is_c;
  bool tail;            /* by a tail call */
  bool finalizer;       /* it calls a finalizer */
  bool hooked;          /* its hook runs */
  bool stale;           /* the leaf: 'pc' may be behind */
  bool torn;            /* what is in its slot may be of before, or of later */
  bool inlined;         /* it is not on the stack: compiled code runs it */
  bool near;            /* the leaf, in compiled code: 'pc' is where the
                           interpreter would go on if that were left */
} tg_SeenFrame;

/* What runs above the innermost frame that is told of. */
typedef enum tg_AboveKind {
  TG_ABOVE_NOTHING,     /* that frame is the leaf */
  TG_ABOVE_UNKNOWN,     /* the interpreter alone knows: no frame is told */
  TG_ABOVE_COMPILED     /* compiled code, and what that has inlined */
} tg_AboveKind;

typedef struct tg_SeenAbove {
  tg_AboveKind kind;
  uint32_t trace;       /* compiled code: its number, */
  uint64_t code;        /* and the prototype it begins in; 0: not known; */
  int32_t pc;           /* at which instruction */
  uint64_t slots;       /* from here on slots of the stack may be of before,
                           since what is in them is in registers; 0: none */
} tg_SeenAbove;

typedef enum tg_WalkEnd {
  TG_WALK_WHOLE,        /* to the host's frame */
  TG_WALK_CUT,          /* there are more */
  TG_WALK_TORN          /* the rest is not to be believed */
} tg_WalkEnd;

#endif
