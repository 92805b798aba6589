/*
** frame.h - the interpreter's frames straight from memory: who called, which
** function, at which line, with which values. A frame is lua_Debug's i_ci.
*/
#ifndef TG_DIRECT_FRAME_H
#define TG_DIRECT_FRAME_H

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "direct/value.h"

/* The frame that runs. */
TG_INLINE const void *tg_direct_running (const lua_State *L) {
  return tg_read_pointer(L, TG_AT_STATE_FRAME);
}

/* The same for all coroutines of a Lua state, and for no other's. */
TG_INLINE const void *tg_direct_shared (const lua_State *L) {
  return tg_read_pointer(L, TG_AT_STATE_SHARED);
}

/* The message handler that an error would be given to now (lua_pcall), nil
   without one. */
TG_INLINE tg_Slot tg_direct_handler (const lua_State *L) {
  uint64_t at = tg_read64(L, tg_direct_facts.handler);
  if (at == 0)
    return (tg_Slot){.tag = LUA_TNIL};
  const uint8_t *stack = tg_read_pointer(L, tg_direct_facts.stack);
  return tg_read_slot(stack + at, 0);
}

/* The caller's frame; NULL if 'frame' is the coroutine's first. The CallInfo
   below the first frame stands for the host, and has none below itself. */
TG_INLINE const void *tg_frame_caller (const void *frame) {
  const void *caller = tg_read_pointer(frame, TG_AT_FRAME_CALLER);
  return (tg_read_pointer(caller, TG_AT_FRAME_CALLER) != NULL) ? caller : NULL;
}

/* The slot of a frame's function; arguments follow. */
TG_INLINE const void *tg_frame_slot (const void *frame) {
  return tg_read_pointer(frame, TG_AT_FRAME_FUNCTION);
}

TG_INLINE tg_Slot tg_frame_function (const void *frame) {
  return tg_read_slot(tg_frame_slot(frame), 0);
}

TG_INLINE bool tg_frame_is_c (const void *frame) {
  return (tg_read16(frame, TG_AT_FRAME_STATUS) & TG_STATUS_C) != 0;
}

/* What stays the same for all closures of a definition: the prototype of a Lua
   function; a C function itself. */
TG_INLINE const void *tg_function_proto (tg_Slot function) {
  return tg_read_pointer(function.u.p, TG_AT_CLOSURE_FUNCTION);
}

/* The first upvalue of a C function's slot; nil if it has none. */
TG_INLINE tg_Slot tg_cfunction_upvalue (tg_Slot f) {
  if (tg_slot_variant(f) != TG_TAG_C
      || tg_read8(f.u.p, TG_AT_CLOSURE_UPVALUES) == 0)
    return (tg_Slot){.tag = LUA_TNIL};
  return tg_read_slot(f.u.p, TG_AT_CLOSURE_VALUES);
}

/* Values on the running frame's stack, as lua_gettop counts them. */
TG_INLINE int tg_direct_top (const lua_State *L, const void *frame) {
  const char *top = tg_read_pointer(L, TG_AT_STATE_TOP);
  return (int)((top - (const char *)tg_frame_slot(frame))
               / TG_SIZE_SLOT) - 1;
}

/* What is on top of the stack. */
TG_INLINE tg_Slot tg_direct_pushed (const lua_State *L) {
  const uint8_t *top = tg_read_pointer(L, TG_AT_STATE_TOP);
  return tg_read_slot(top - TG_SIZE_SLOT, 0);
}

/* How many extra arguments a vararg function's frame has, which stand below
   its slot. */
TG_INLINE int tg_frame_extra (const void *frame) {
  return (int)tg_read32(frame, TG_AT_FRAME_EXTRA);
}

/* ---- lines ---- */

/* The sum of a word's bytes. */
TG_INLINE uint64_t tg_sum_bytes (uint64_t word) {
#if defined(__SSE2__)
  __m128i x = _mm_cvtsi64_si128((long long)word);
  return (uint64_t)_mm_cvtsi128_si64(_mm_sad_epu8(x, _mm_setzero_si128()));
#else
  const uint64_t lanes = UINT64_C(0x00ff00ff00ff00ff);
  uint64_t pairs = (word & lanes) + ((word >> 8) & lanes);
  return (pairs * UINT64_C(0x0001000100010001)) >> 48;
#endif
}

/* The steps of a function's instructions, one signed byte for each. */
typedef struct tg_Steps {
  const int8_t *begin, *end;
} tg_Steps;

/* The 'n' bytes from 'p' on, which are one to eight, as a word whose other
   bytes are 0. Read with what follows, or with what comes before: most
   functions have eight instructions. */
TG_INLINE uint64_t tg_read_steps (tg_Steps s, const int8_t *p, int n) {
  uint64_t word = 0;
  int others = 64 - 8 * n;
  if (tg_likely(s.end - p >= 8))
    return tg_read64(p, 0) << others;
  if (tg_likely(p + n - s.begin >= 8))
    return tg_read64(p + n - 8, 0) >> others;
  while (n-- > 0)
    word = word << 8 | tg_read8(p, (size_t)n);
  return word;
}

/*
** The sum of 'n' steps from 'p' on, eight at a time: there may be a hundred and
** more (MAXIWTHABS). Each is taken for 128 more than it is, which is subtracted
** in the end; so are those of the last word that are none of them, being 0.
*/
TG_INLINE int tg_sum_steps (tg_Steps s, const int8_t *p, int n) {
  const uint64_t bias = UINT64_C(0x8080808080808080);
  uint64_t sum = 0;
  int words = 1;
  if (tg_unlikely(n <= 0))
    return 0;
  for (; n > 8; p += 8, n -= 8, words++)
    sum += tg_sum_bytes(tg_read64(p, 0) ^ bias);
  sum += tg_sum_bytes(tg_read_steps(s, p, n) ^ bias);
  return (int)sum - words * 8 * 128;
}

/* Of the instructions whose lines are given outright, the last one up to 'pc':
   its place in the list; -1 if there is none. */
TG_INLINE int tg_proto_absolute (const void *proto, int pc) {
  const void *list = tg_read_pointer(proto, TG_AT_PROTO_ABSOLUTE);
  int low = -1, high = (int)tg_read32(proto, TG_AT_PROTO_ABSOLUTES);
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if ((int)tg_read32(list, (size_t)middle * 8) <= pc)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/*
** The line of instruction 'pc', -1 if it is not known. From a line that is
** given outright, or the function's first, each instruction is some steps
** further. Nothing is remembered, so nothing can be out of date.
*/
TG_INLINE int tg_proto_line (const void *proto, int pc) {
  const int8_t *steps = tg_read_pointer(proto, TG_AT_PROTO_LINES);
  if (tg_unlikely(steps == NULL))
    return -1;
  int line = (int)tg_read32(proto, TG_AT_PROTO_LINE), from = -1;
  int k = (tg_read32(proto, TG_AT_PROTO_ABSOLUTES) == 0)
          ? -1 : tg_proto_absolute(proto, pc);
  if (k >= 0) {
    const void *list = tg_read_pointer(proto, TG_AT_PROTO_ABSOLUTE);
    from = (int)tg_read32(list, (size_t)k * 8);
    line = (int)tg_read32(list, (size_t)k * 8 + 4);
  }
  tg_Steps all = {steps, steps + tg_read32(proto, TG_AT_PROTO_NLINES)};
  return line + tg_sum_steps(all, steps + from + 1, pc - from);
}

/* The line that a frame of a Lua function is at, -1 if it is not known. */
TG_INLINE int tg_frame_line (const void *frame) {
  const void *proto = tg_function_proto(tg_frame_function(frame));
  const char *code = tg_read_pointer(proto, TG_AT_PROTO_CODE);
  const char *next = tg_read_pointer(frame, TG_AT_FRAME_NEXT);
  return tg_proto_line(proto, (int)((size_t)(next - code) / 4) - 1);
}

#endif
