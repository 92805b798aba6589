/*
** layout54.h - where things stand in memory in Lua 5.4, on 64 bits.
**
** Byte offsets, read off the interpreter's behaviour and proved by proof.c
** before any is used. All of 5.4.0 to 5.4.8 agree but for four facts, which
** the proof finds out: tg_direct_facts (memory.h).
**
** A slot (of the stack, of a table's array) is 16 bytes: a value and its tag.
*/
#ifndef TG_LAYOUT54_H
#define TG_LAYOUT54_H

#include "direct/memory.h"

enum {
  TG_SIZE_SLOT = 16,

  TG_AT_STATE_TOP = 16,         /* lua_State: the first free slot, */
  TG_AT_STATE_SHARED = 24,      /* what all coroutines of a state share, */
  TG_AT_STATE_FRAME = 32,       /* the frame that runs, */
  TG_AT_STATE_STACK = 96,       /* the host's frame, whose slot is the first; */
  TG_AT_STATE_STACK_OLD = 88,   /* in 5.4.1 and 5.4.2 */
  TG_AFTER_STACK_HANDLER = 72,  /* behind that: bytes from the first slot to the
                                   function that errors are given to, or 0 */
  TG_SIZE_STATE = 176,          /* bytes of it that are read; so with all */

  TG_AT_FRAME_FUNCTION = 0,     /* CallInfo: the function's slot, */
  TG_AT_FRAME_CALLER = 16,      /* the frame below, */
  TG_AT_FRAME_NEXT = 32,        /* a Lua function's next instruction, */
  TG_AT_FRAME_TRAP = 40,        /* whether it looks for hooks of instructions */
  TG_AT_FRAME_EXTRA = 44,       /* how many extra arguments it has */
  TG_AT_FRAME_FIRST = 56,       /* at its hook: what moves, from which slot */
  TG_AT_FRAME_COUNT = 58,       /* and how many values */
  TG_AT_FRAME_STATUS = 62,
  TG_SIZE_FRAME = 64,
  TG_STATUS_C = 1 << 1,         /* it runs a C function */
  TG_STATUS_MOVES = 1 << 8,     /* what moves is noted in it; before 5.4.3: */
  TG_STATUS_MOVES_OLD = 1 << 7,

  TG_AT_CLOSURE_FUNCTION = 24,  /* its prototype, or its C function */
  TG_AT_CLOSURE_UPVALUES = 10,  /* how many */
  TG_SIZE_CLOSURE = 32,
  TG_AT_CLOSURE_VALUES = 32,    /* a C function's: slots */

  TG_AT_PROTO_PARAMS = 10,      /* fixed parameters */
  TG_AT_PROTO_VARARG = 11,
  TG_AT_PROTO_NCONSTANTS = 20,
  TG_AT_PROTO_NCODE = 24,       /* how many instructions, */
  TG_AT_PROTO_NLINES = 28,      /* and how many of them have a line */
  TG_AT_PROTO_NLOCALS = 36,     /* how many variables are described */
  TG_AT_PROTO_ABSOLUTES = 40,   /* how many lines are given outright */
  TG_AT_PROTO_LINE = 44,        /* first and last line, one after the other */
  TG_AT_PROTO_CONSTANTS = 56,   /* slots */
  TG_AT_PROTO_CODE = 64,        /* instructions, the low bits of which say what
                                   they do: */
  TG_CODE_KIND = 0x7f,
  TG_AT_PROTO_UPVALUES = 80,    /* their descriptions, */
  TG_AT_PROTO_LINES = 88,       /* a signed step for each instruction, */
  TG_AT_PROTO_ABSOLUTE = 96,    /* pairs of an instruction and its line, */
  TG_AT_PROTO_LOCALS = 104,     /* variables: parameters come first */
  TG_AT_PROTO_SOURCE = 112,
  TG_SIZE_PROTO = 120,
  TG_SIZE_LOCAL = 16,           /* begins with its name, as the next does */
  TG_SIZE_UPVALUE = 16,

  TG_AT_STRING_SHORT = 11,      /* a short one's length; */
  TG_AT_STRING_HASH = 12,
  TG_AT_STRING_LONG = 16,       /* a long one's */
  TG_AT_STRING_TEXT = 24,
  TG_SIZE_STRING = 24,          /* of a long one, without its text */

  TG_AT_TABLE_NODES = 11,       /* how many, as a power of two */
  TG_AT_TABLE_LIMIT = 12,
  TG_AT_TABLE_LIMITED = 10,     /* bit 7: the limit is not the size; */
  TG_AT_TABLE_LIMITED_OLD = 9,  /* in 5.4.0 */
  TG_AT_TABLE_ARRAY = 16,
  TG_AT_TABLE_NODE = 24,
  TG_AT_TABLE_META = 40,
  TG_SIZE_TABLE = 48,
  TG_SIZE_NODE = 24,            /* a slot, in whose padding the key's tag is */
  TG_AT_NODE_TAG = 9,
  TG_AT_NODE_NEXT = 12,         /* steps to the next of the same hash */
  TG_AT_NODE_KEY = 16,

  TG_AT_USERDATA_META = 24,
  TG_SIZE_USERDATA = 32
};

/* The limit is the array's size, or within its last half (luaH_realasize). */
#define TABLE_LIMITED 0x80u

/* Slots of a table's array. */
TG_INLINE uint32_t tg_direct_array_size (const void *table) {
  uint32_t n = tg_read32(table, TG_AT_TABLE_LIMIT);
  if (tg_likely(!(tg_read8(table, tg_direct_facts.limited) & TABLE_LIMITED)
                || (n & (n - 1)) == 0))
    return n;
  return UINT32_C(1) << (32 - __builtin_clz(n));
}

/* Slot 'i' of a table's array, from 0. */
TG_INLINE tg_Slot tg_direct_element (const void *table, uint32_t i) {
  const void *array = tg_read_pointer(table, TG_AT_TABLE_ARRAY);
  return tg_read_slot(array, (size_t)i * sizeof(tg_Slot));
}

/* What an array of so many slots takes up, and from where. */
TG_INLINE size_t tg_direct_array_span (const void *table, uint32_t slots,
                                       const void **from) {
  *from = tg_read_pointer(table, TG_AT_TABLE_ARRAY);
  return (size_t)slots * TG_SIZE_SLOT;
}

/* Where a long string's text is. */
TG_INLINE const char *tg_direct_long_text (const void *string) {
  return (const char *)string + TG_AT_STRING_TEXT;
}

TG_INLINE bool tg_direct_is_vararg (const void *proto) {
  return tg_read8(proto, TG_AT_PROTO_VARARG) != 0;
}

/* Extra arguments of a frame's function are below its slot. */
TG_INLINE bool tg_direct_hides_extra (const void *proto) {
  return tg_direct_is_vararg(proto);
}

/* The values that move at a hook: first slot, from the function's on, and
   their number. Without any, the fields have another use. */
TG_INLINE int tg_direct_moved (const lua_State *L, const void *frame,
                               int *first) {
  (void)L;
  if (!(tg_read16(frame, TG_AT_FRAME_STATUS) & tg_direct_facts.moves))
    return 0;
  *first = tg_read16(frame, TG_AT_FRAME_FIRST);
  return tg_read16(frame, TG_AT_FRAME_COUNT);
}

/* The proof begins with what the newest release does, and tries the older way
   where that fails; false where there is none. */
TG_INLINE void tg_direct_assume_newest (void) {
  tg_direct_facts = (tg_DirectFacts){
    .moves = TG_STATUS_MOVES, .limited = TG_AT_TABLE_LIMITED,
    .stack = TG_AT_STATE_STACK
  };
}

TG_INLINE bool tg_direct_assume_old_limit (void) {
  tg_direct_facts.limited = TG_AT_TABLE_LIMITED_OLD;
  return true;
}

TG_INLINE bool tg_direct_assume_old_moves (void) {
  tg_direct_facts.moves = TG_STATUS_MOVES_OLD;
  return true;
}

TG_INLINE bool tg_direct_assume_old_stack (void) {
  tg_direct_facts.stack = TG_AT_STATE_STACK_OLD;
  return true;
}

#endif
