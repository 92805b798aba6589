/*
** budget.h - what a list that may be long still has: room for its bytes, what
** they may come to in JSON, places for objects. For rules.h.
**
** A value is written at 'p', and the end is returned; NULL: the room was too
** small. That stays so until the list is over, so a caller that has nothing to
** write by itself need not look.
*/
#ifndef TG_CAPTURE_BUDGET_H
#define TG_CAPTURE_BUDGET_H

#include "capture/list.h"
#include "capture/veil.h"

/* What parts of a packet may come to in JSON, generously. */
#define COST_OBJECT 256u
#define COST_PROPERTY 128u
#define COST_PER_BYTE 6u        /* a control character, escaped */

/* Long strings, as far as the limits go. */
uint8_t *tg_capture_long (tg_Capture *c, const char *s, size_t n, uint8_t *p);

/* Strings written from 'start' on are not there: that is begun again. */
void tg_capture_forget (tg_Writer *r, const uint8_t *start);

/* The grip of an object with a large index, or none. */
uint8_t *tg_capture_far (tg_Capture *c, uint32_t id, tg_ObjectType type,
                         uint8_t *p);

TG_INLINE bool spend (tg_Capture *c, uint32_t cost) {
  if (c->cost + cost > TG_PACKET_MAX)
    return false;
  c->cost += cost;
  return true;
}

/* Whether so many bytes are left. Once there were too few, there are none: the
   end of the room is NULL, and whoever was told so goes on with NULL for 'p',
   never with the old one. */
TG_INLINE bool room (tg_Capture *c, const uint8_t *p, size_t need) {
  tg_assert((c->lim == NULL) == (p == NULL));
  if (tg_likely((uintptr_t)c->lim - (uintptr_t)p >= need))
    return true;
  c->lim = NULL;
  return false;
}

/* ---- values ---- */

/* A value that is to be hidden, or holds what was hidden before. */
TG_INLINE uint8_t *put_redacted (tg_Capture *c, uint8_t *p) {
  return room(c, p, SMALL_ROOM) ? put_byte(p, TG_GRIP_REDACTED) : NULL;
}

/* Whether there is something in a string that was hidden under its name. */
TG_INLINE bool holds_secret (const tg_Capture *c, const char *s, size_t n) {
  return tg_unlikely(c->redacts) && tg_veil_holds(c->session, s, n);
}

/* A name. */
TG_INLINE uint8_t *put_string (tg_Capture *c, const char *s, size_t n,
                               uint8_t *p) {
  if (tg_unlikely(n > TG_GRIP_SMALLMAX || n > c->limits->string))
    return tg_capture_long(c, s, n, p);
  return room(c, p, SMALL_ROOM) ? put_smallstr(p, s, n) : NULL;
}

/* A string that is a value. */
TG_INLINE uint8_t *put_text_value (tg_Capture *c, const char *s, size_t n,
                                   uint8_t *p) {
  return holds_secret(c, s, n) ? put_redacted(c, p) : put_string(c, s, n, p);
}

/* The grip of an object. */
TG_INLINE uint8_t *put_object (tg_Capture *c, uint32_t id, tg_ObjectType type,
                               uint8_t *p) {
  if (tg_unlikely(id > TG_GRIP_SMALLMAX))
    return tg_capture_far(c, id, type, p);
  return room(c, p, ROOM) ? put_byte(p, (uint8_t)(TG_GRIP_SMALLOBJ + id))
                          : NULL;
}

/* The definition of a function's descriptor. */
TG_INLINE uint8_t *put_function (tg_Capture *c, tg_FunctionId id, uint8_t *p) {
  return room(c, p, ROOM) ? tg_putvar(p, id) : NULL;
}

/* ---- objects ---- */

/* What an object is told by. A light userdata may have the address of a full
   one, or of a table: it gets one that nothing else has, which is odd. */
TG_INLINE const void *identity_of (const void *address, int type) {
  return (type == LUA_TLIGHTUSERDATA) ? (const char *)address + 1 : address;
}

/*
** The pool index of an object that is met at 'address' and 'level'; '*fresh' if
** it was not met before. TG_POOL_NONE if there is no room for it.
*/
TG_INLINE uint32_t enter (tg_Capture *c, const void *address, int type,
                          uint32_t level, bool *fresh) {
  uint32_t max = c->limits->objects;
  if (c->cost + COST_OBJECT > TG_PACKET_MAX)
    max = 0;                    /* only those that are there already */
  uint32_t id = tg_objectpool_enter(c->pool, identity_of(address, type), max,
                                    fresh);
  if (*fresh) {
    tg_Object *o = &c->pool->list[id];
    c->cost += COST_OBJECT;
    o->level = level;
    o->type = (uint8_t)object_type(type);
    o->examined = o->brief = false;
  }
  return id;
}

#endif
