/*
** layout55.h - where things stand in memory in Lua 5.5, on 64 bits.
**
** Byte offsets, read off the interpreter's behaviour and proved by proof.c
** before any is used. Against 5.4 (layout54.h): a table's array is two, values
** and tags; a long string's text is elsewhere; what moves at a hook is noted
** once for the coroutine; a frame's status has other bits; and a function may
** have its extra arguments in a table.
**
** A slot of the stack is 16 bytes: a value and its tag.
*/
#ifndef TG_LAYOUT55_H
#define TG_LAYOUT55_H

#include "direct/memory.h"

enum {
  TG_SIZE_SLOT = 16,

  TG_AT_STATE_TOP = 16,         /* lua_State: the first free slot, */
  TG_AT_STATE_SHARED = 24,      /* what all coroutines of a state share, */
  TG_AT_STATE_FRAME = 32,       /* the frame that runs, */
  TG_AT_STATE_STACK = 96,       /* the host's frame, whose slot is the first; */
  TG_AFTER_STACK_HANDLER = 72,  /* behind that: bytes from the first slot to the
                                   function that errors are given to, or 0 */
  TG_AT_STATE_FIRST = 200,      /* at a hook: what moves, from which slot */
  TG_AT_STATE_COUNT = 204,      /* and how many values */
  TG_SIZE_STATE = 208,

  TG_AT_FRAME_FUNCTION = 0,     /* CallInfo: the function's slot, */
  TG_AT_FRAME_CALLER = 16,      /* the frame below, */
  TG_AT_FRAME_NEXT = 32,        /* a Lua function's next instruction, */
  TG_AT_FRAME_TRAP = 40,        /* whether it looks for hooks of instructions */
  TG_AT_FRAME_EXTRA = 44,       /* how many extra arguments it has */
  TG_AT_FRAME_STATUS = 60,
  TG_SIZE_FRAME = 64,
  TG_STATUS_C = 1 << 15,        /* it runs a C function */

  TG_AT_CLOSURE_FUNCTION = 24,  /* its prototype, or its C function */
  TG_AT_CLOSURE_UPVALUES = 10,  /* how many */
  TG_SIZE_CLOSURE = 32,
  TG_AT_CLOSURE_VALUES = 32,    /* a C function's: slots */

  TG_AT_PROTO_PARAMS = 10,      /* fixed parameters */
  TG_AT_PROTO_FLAGS = 11,
  TG_PROTO_HIDDEN = 1,          /* extra arguments are below its slot, */
  TG_PROTO_TABLE = 2,           /* or in a table, after the parameters */
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
  TG_AT_STRING_TEXT = 24,       /* a short one's text; where a long one's is */
  TG_SIZE_STRING = 32,          /* of a long one, without its text */

  TG_AT_TABLE_NODES = 11,       /* how many, as a power of two */
  TG_AT_TABLE_SIZE = 12,        /* of its array */
  TG_AT_TABLE_ARRAY = 16,       /* between the values and the tags */
  TG_AT_TABLE_NODE = 24,
  TG_AT_TABLE_META = 32,
  TG_SIZE_TABLE = 40,
  TG_SIZE_VALUE = 8,            /* in an array */
  TG_SIZE_HINT = 4,             /* at that pointer, before the tags */
  TG_SIZE_NODE = 24,            /* a slot, in whose padding the key's tag is */
  TG_AT_NODE_TAG = 9,
  TG_AT_NODE_NEXT = 12,         /* steps to the next of the same hash */
  TG_AT_NODE_KEY = 16,

  TG_AT_USERDATA_META = 24,
  TG_SIZE_USERDATA = 32
};

/* Slots of a table's array. */
TG_INLINE uint32_t tg_direct_array_size (const void *table) {
  return tg_read32(table, TG_AT_TABLE_SIZE);
}

/* Slot 'i' of a table's array, from 0. Values go down from the array's pointer,
   tags go up. */
TG_INLINE tg_Slot tg_direct_element (const void *table, uint32_t i) {
  const uint8_t *array = tg_read_pointer(table, TG_AT_TABLE_ARRAY);
  tg_Slot s;
  memcpy(&s.u, array - ((size_t)i + 1) * TG_SIZE_VALUE, sizeof s.u);
  s.tag = tg_read8(array, TG_SIZE_HINT + (size_t)i);
  return s;
}

/* What an array of so many slots takes up, and from where. */
TG_INLINE size_t tg_direct_array_span (const void *table, uint32_t slots,
                                       const void **from) {
  size_t values = (size_t)slots * TG_SIZE_VALUE;
  const uint8_t *array = tg_read_pointer(table, TG_AT_TABLE_ARRAY);
  *from = array - values;
  return values + TG_SIZE_HINT + slots;
}

/* Where a long string's text is: behind it, or outside of Lua. */
TG_INLINE const char *tg_direct_long_text (const void *string) {
  return tg_read_pointer(string, TG_AT_STRING_TEXT);
}

TG_INLINE bool tg_direct_is_vararg (const void *proto) {
  return (tg_read8(proto, TG_AT_PROTO_FLAGS)
          & (TG_PROTO_HIDDEN | TG_PROTO_TABLE)) != 0;
}

/* Extra arguments of a frame's function are below its slot. */
TG_INLINE bool tg_direct_hides_extra (const void *proto) {
  return (tg_read8(proto, TG_AT_PROTO_FLAGS) & TG_PROTO_HIDDEN) != 0;
}

/* The values that move at a hook: first slot, from the function's on, and
   their number. */
TG_INLINE int tg_direct_moved (const lua_State *L, const void *frame,
                               int *first) {
  (void)frame;
  *first = (int)tg_read32(L, TG_AT_STATE_FIRST);
  return (int)tg_read32(L, TG_AT_STATE_COUNT);
}

/* No release is known that differs from another. */
TG_INLINE void tg_direct_assume_newest (void) {
  tg_direct_facts = (tg_DirectFacts){.stack = TG_AT_STATE_STACK};
}

TG_INLINE bool tg_direct_assume_old_limit (void) {
  return false;
}

TG_INLINE bool tg_direct_assume_old_moves (void) {
  return false;
}

TG_INLINE bool tg_direct_assume_old_stack (void) {
  return false;
}

#endif
