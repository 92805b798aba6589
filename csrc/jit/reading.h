/*
** reading.h - the rows of a LuaJIT's layout applied to memory: as those of
** sight.h, for the files of this room.
*/
#ifndef TG_JIT_READING_H
#define TG_JIT_READING_H

#include "outside/dialect.h"

#define tg_jit_row(s, row) ((s)->jit->at[TG_JIT_##row])

/* Fields of the object at an address. */
#define tg_jit_word(s, object, row) \
  tg_memory_word((s)->memory, (object) + (uint64_t)tg_jit_row(s, row))
#define tg_jit_half(s, object, row) \
  tg_memory_half((s)->memory, (object) + (uint64_t)tg_jit_row(s, row))
#define tg_jit_byte(s, object, row) \
  tg_memory_byte((s)->memory, (object) + (uint64_t)tg_jit_row(s, row))

/* What an object says it is (lj_obj.h, internal tags, inverted). */
typedef enum tg_JitType {
  TG_JIT_STRING = 4, TG_JIT_THREAD = 6, TG_JIT_PROTO = 7,
  TG_JIT_FUNCTION = 8, TG_JIT_TRACE = 9, TG_JIT_TABLE = 11
} tg_JitType;

TG_INLINE bool tg_jit_is (tg_Sight *s, uint64_t object, tg_JitType type) {
  return object != 0 && tg_jit_byte(s, object, AT_OBJECT_TYPE) == type;
}

/* The word of a value that is an object. */
TG_INLINE uint64_t tg_jit_tagged (uint64_t object, tg_JitType type) {
  return object | ~(uint64_t)type << 47;
}

#define TG_JIT_SLOT 8u          /* bytes */

/* An instruction: its operation, and operands. */
TG_INLINE int32_t tg_jit_op (uint32_t i) { return (int32_t)(i & 0xff); }
TG_INLINE uint32_t tg_jit_a (uint32_t i) { return (i >> 8) & 0xff; }
TG_INLINE uint32_t tg_jit_c (uint32_t i) { return (i >> 16) & 0xff; }
TG_INLINE uint32_t tg_jit_d (uint32_t i) { return i >> 16; }

#endif
