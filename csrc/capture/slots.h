/*
** slots.h - values read straight from memory (direct/value.h), as
** bytes. Private to the files of capture.
**
** They are read from a 'base', the slot of the running frame's function: from
** there slot 'i' is what the public API calls index 'i', and what is below it
** are extra arguments. Nothing is pushed: an object is read where it lives, and
** lives as long as the event, since nothing is allocated in Lua meanwhile.
*/
#ifndef TG_CAPTURE_SLOTS_H
#define TG_CAPTURE_SLOTS_H

#include "capture/capture.h"
#include "capture/inline.h"
#include "direct/value.h"

/* tg_capture_list from memory. '*unknown': that does not tell all there is to
   know, and what is written is to be written again by the public API. */
uint8_t *tg_capture_slots (tg_Session *s, lua_State *L,
                           const tg_ValueList *list, const void *base,
                           uint8_t *p, uint8_t *lim, bool *unknown);

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

TG_INLINE uint8_t *put_text (const char *s, size_t n, uint32_t limit,
                             uint8_t *p) {
  if (tg_unlikely(n > TG_GRIP_SMALLMAX || n > limit))
    return NULL;
  return put_smallstr(p, s, n);
}

TG_INLINE uint8_t *put_byte (uint8_t *p, uint8_t byte) {
  *p = byte;
  return p + 1;
}

TG_INLINE uint8_t *put_float (uint8_t *p, lua_Number n) {
  *p = TG_GRIP_FLOAT;
  memcpy(p + 1, &n, sizeof n);
  return p + 1 + sizeof n;
}

_Static_assert(TG_AT_STRING_TEXT >= 8, "a word before the text is readable");

/* Of up to eight bytes, as most are, the string's last eight are read, the
   first of which may be before its text (TG_AT_STRING_TEXT). */
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

/* put_small of a slot that is no short string. */
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
    return put_byte(p, (variant == TG_TAG_TRUE) ? TG_GRIP_TRUE
                                                : TG_GRIP_FALSE);
  if (variant != TG_TAG_LONG)
    return NULL;
  size_t n;
  const char *s = tg_direct_long(v.u.p, &n);
  return put_text(s, n, limit, p);
}

/* put_small of a slot. */
TG_INLINE uint8_t *put_small_slot (tg_Slot v, uint32_t limit, uint8_t *p) {
  return (tg_slot_variant(v) == TG_TAG_SHORT) ? put_short(v, limit, p)
                                              : put_other_small(v, limit, p);
}

TG_INLINE bool is_null (tg_Slot v) {
  return tg_slot_type(v) == LUA_TLIGHTUSERDATA && v.u.p == NULL;
}

/* put_scalar of a slot. NULL is one as well: it has no identity. */
TG_INLINE bool put_scalar_slot (tg_Capture *c, tg_Slot v) {
  if (tg_slot_type(v) == LUA_TSTRING) {
    size_t n;
    const char *s = tg_slot_text(v, &n);
    put_text_value(c, s, n);
    return true;
  }
  if (tg_unlikely(!room(c, ROOM)))
    return true;
  uint8_t *p = put_small_slot(v, 0, c->p);
  if (tg_unlikely(p == NULL && is_null(v))) {
    *c->p++ = TG_GRIP_NULL;
    return true;
  }
  if (p != NULL)
    c->p = p;
  return p != NULL;
}

#endif
