/*
** slots.h - values read straight from memory (direct/value.h), as bytes.
**
** They are read from a 'base', the slot of the running frame's function: from
** there slot 'i' is what the public API calls index 'i', and what is below it
** are extra arguments. Nothing is pushed: an object is read where it lives, and
** lives as long as the event, since nothing is allocated in Lua meanwhile.
*/
#ifndef TG_CAPTURE_SLOTS_H
#define TG_CAPTURE_SLOTS_H

#include "capture/capture.h"
#include "capture/grip.h"
#include "direct/value.h"

/* tg_capture_list from memory. '*unknown': that does not tell all there is to
   know, and what is written is to be written again by the public API. */
uint8_t *tg_capture_slots (tg_Session *s, lua_State *L,
                           const tg_ValueList *list, const void *base,
                           uint8_t *p, const uint8_t *lim, bool *unknown);

/* The metatable of a type whose values have none of their own. */
const void *tg_capture_shared_metatable (lua_State *L, int type);

/* The metatable of any value; NULL if it has none. */
TG_INLINE const void *tg_capture_metatable (lua_State *L, tg_Slot v) {
  int type = tg_slot_type(v);
  if (tg_likely(type == LUA_TTABLE || type == LUA_TUSERDATA))
    return tg_direct_metatable(v.u.p, type);
  return tg_capture_shared_metatable(L, type);
}

/* Whether there is anything in a table. */
bool tg_capture_has_content (const void *table);

TG_INLINE tg_Slot slot_at (const void *base, int i) {
  const uint8_t *at = (const uint8_t *)base + (ptrdiff_t)i * TG_SIZE_SLOT;
  return tg_read_slot(at, 0);
}

_Static_assert(TG_AT_STRING_TEXT >= 8, "a word before the text is readable");

/* A short string within 'limit'. Of up to eight bytes, as most are, the last
   eight are read, the first of which may be before its text. */
TG_INLINE uint8_t *put_short (tg_Slot v, uint32_t limit, uint8_t *p) {
  size_t n;
  const char *s = tg_direct_short(v.u.p, &n);
  if (tg_unlikely(n > limit))
    return NULL;
  if (tg_unlikely(n - 1 >= 8))
    return put_smallstr(p, s, n);
  *p++ = (uint8_t)(TG_GRIP_SMALLSTR + n);
  tg_put64(p, tg_read64(s, n - 8) >> (64 - 8 * n));
  return p + n;
}

/* The same of a slot that has no short string. */
TG_INLINE uint8_t *put_other_small (tg_Slot v, uint32_t limit, uint8_t *p) {
  int variant = tg_slot_variant(v);
  if (variant == TG_TAG_INTEGER)
    return put_integer(p, v.u.i);
  if (tg_slot_type(v) >= LUA_TTABLE)
    return NULL;
  if (variant == TG_TAG_FLOAT)
    return put_float(p, v.u.n);
  if (tg_slot_is_nil(v))
    return put_byte(p, TG_GRIP_NIL);
  if (tg_slot_type(v) == LUA_TBOOLEAN)
    return put_boolean(p, variant == TG_TAG_TRUE);
  if (variant != TG_TAG_LONG)
    return NULL;
  size_t n;
  const char *s = tg_direct_long(v.u.p, &n);
  return put_text(p, s, n, limit);
}

/* A number, boolean, nil, or string that is short and within 'limit', to 'p',
   where there is room; NULL if the value is anything else. */
TG_INLINE uint8_t *put_small_slot (tg_Slot v, uint32_t limit, uint8_t *p) {
  return (tg_slot_variant(v) == TG_TAG_SHORT) ? put_short(v, limit, p)
                                              : put_other_small(v, limit, p);
}

TG_INLINE bool is_null (tg_Slot v) {
  return tg_slot_type(v) == LUA_TLIGHTUSERDATA && v.u.p == NULL;
}

#endif
