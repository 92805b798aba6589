/*
** memory.h - bytes of the interpreter's, read at an offset; and what may be
** read at all.
**
** Nothing here is valid before the proof has been given (proof.h). All of it
** reads only, on the thread that runs the state, while nothing else of that
** state can run: in the hook.
*/
#ifndef TG_DIRECT_MEMORY_H
#define TG_DIRECT_MEMORY_H

#include <string.h>

#include <lua.h>

#include "base/base.h"

/* A value and its tag, as they stand on the stack and in arrays. The tag is
   one byte there; a copy has none of the padding, which would be read back
   before it was written. */
typedef struct tg_Slot {
  union {
    const void *p;      /* an object, a light userdata or a C function */
    lua_Integer i;
    lua_Number n;
  } u;
  uint64_t tag;
} tg_Slot;

/* What differs between releases of one version: rows of layout/rows.h for the
   release that runs, chosen by the proof. 0 among the optional ones: what it is
   for cannot be had of this interpreter. */
typedef struct tg_DirectFacts {
  uint16_t state;       /* lua_State: its size, */
  uint16_t stack;       /* its first slot, */
  uint16_t handler;     /* its message handler: bytes from the first slot; 0:
                           none */
  uint16_t moves;       /* a frame's status, which notes what moves */
  uint16_t limited;     /* a table: where its array's limit is marked */
  bool masks;           /* an integer key's place: by mask, else by modulus */
  /* optional */
  uint16_t hook;        /* lua_State: its hook, the mask of its events... */
  uint16_t hook_mask;   /* (hookfield.h) */
  uint16_t hook_counts; /* ...and two integers: instructions between two counts,
                           and those that are left */
  uint16_t collector;   /* global_State: what the collector does
                           (collector.h), */
  uint16_t step;        /* and whether one of its steps is under way */
  uint16_t objects;     /* global_State: the list of objects (objects.h) */
  uint16_t jump;        /* lua_State: its innermost protected call (cstack.h) */
  uint16_t allows;      /* lua_State: whether hooks are called (hookfield.h) */
  uint16_t hooked;      /* a frame: a byte with a bit... */
  uint8_t hooked_bit;   /* ...that says: its hook runs (hookcode.h) */
} tg_DirectFacts;

extern tg_DirectFacts tg_direct_facts;

TG_INLINE uint8_t tg_read8 (const void *object, size_t at) {
  return ((const uint8_t *)object)[at];
}

TG_INLINE uint16_t tg_read16 (const void *object, size_t at) {
  uint16_t x;
  memcpy(&x, (const uint8_t *)object + at, sizeof x);
  return x;
}

TG_INLINE uint32_t tg_read32 (const void *object, size_t at) {
  uint32_t x;
  memcpy(&x, (const uint8_t *)object + at, sizeof x);
  return x;
}

TG_INLINE uint64_t tg_read64 (const void *object, size_t at) {
  uint64_t x;
  memcpy(&x, (const uint8_t *)object + at, sizeof x);
  return x;
}

TG_INLINE const void *tg_read_pointer (const void *object, size_t at) {
  const void *p;
  memcpy(&p, (const uint8_t *)object + at, sizeof p);
  return p;
}

TG_INLINE tg_Slot tg_read_slot (const void *object, size_t at) {
  tg_Slot s;
  memcpy(&s.u, (const uint8_t *)object + at, sizeof s.u);
  s.tag = tg_read8(object, at + sizeof s.u);
  return s;
}

#endif
