/*
** capture.h - what value.c, objects.c and strings.c share while the values of
** one list are captured. Private to them.
*/
#ifndef TG_CAPTURE_H
#define TG_CAPTURE_H

#include <string.h>

#include "event.h"
#include "state.h"
#include "values.h"

#define ROOM 32                 /* bytes any grip but a long string fits in */

/* What parts of a packet may come to in JSON, generously. */
#define COST_OBJECT 256u
#define COST_PROPERTY 128u
#define COST_PER_BYTE 6u        /* a control character, escaped */

typedef struct tg_Capture {
  tg_Session *session;
  lua_State *L;
  const tg_Limits *limits;
  tg_Pool *pool;
  uint8_t *p, *lim;             /* p == NULL: the room was too small */
  uint32_t cost;
  bool in_stream;               /* strings before this one can be referred to */
  bool refers;                  /* and have been */
} tg_Capture;

TG_INLINE bool spend (tg_Capture *c, uint32_t cost) {
  if (c->cost + cost > TG_PACKET_MAX)
    return false;
  c->cost += cost;
  return true;
}

/* Room for one small thing. */
TG_INLINE bool room (tg_Capture *c, size_t need) {
  if (tg_likely(c->p != NULL && (size_t)(c->lim - c->p) >= need))
    return true;
  c->p = NULL;
  return false;
}

/* Writes a string; a long one as far as the limits go. */
void tg_capture_string (tg_Capture *c, const char *s, size_t n);

/* The strings written so far are not to be referred to any more. */
void tg_capture_forget (tg_Recorder *r);

/*
** The pool index of an object that is met at 'address'; '*fresh' if it was not
** before. TG_POOL_NONE if there is no room for it.
*/
uint32_t tg_capture_enter (tg_Capture *c, const void *address, int type,
                           bool *fresh);

/* Writes the grip of an object with that index. */
void tg_capture_object (tg_Capture *c, uint32_t id, int type);

/* Writes the descriptor of pool entry 'id'. */
void tg_capture_descriptor (tg_Capture *c, uint32_t id);

TG_INLINE uint8_t *put_integer (uint8_t *p, lua_Integer i) {
  if (i >= 0 && i <= TG_GRIP_SMALLMAX) {
    *p = (uint8_t)(TG_GRIP_SMALLINT + i);
    return p + 1;
  }
  *p = TG_GRIP_INT;
  return tg_putvar(p + 1, ((uint64_t)i << 1) ^ (uint64_t)(i >> 63));
}

TG_INLINE uint8_t *put_number (lua_State *L, int i, uint8_t *p) {
  if (lua_isinteger(L, i))
    return put_integer(p, lua_tointeger(L, i));
  lua_Number n = lua_tonumber(L, i);
  *p = TG_GRIP_FLOAT;
  memcpy(p + 1, &n, sizeof n);
  return p + 1 + sizeof n;
}

/* Most strings are names: two overlapping words are faster than a call. */
TG_INLINE uint8_t *put_smallstr (uint8_t *p, const char *s, size_t n) {
  *p++ = (uint8_t)(TG_GRIP_SMALLSTR + n);
  if (n > 16)
    memcpy(p, s, n);
  else if (n >= 8) {
    memcpy(p, s, 8);
    memcpy(p + n - 8, s + n - 8, 8);
  }
  else if (n >= 4) {
    memcpy(p, s, 4);
    memcpy(p + n - 4, s + n - 4, 4);
  }
  else {
    for (size_t i = 0; i < n; i++)
      p[i] = (uint8_t)s[i];
  }
  return p + n;
}

/* Anything but an object: true if 'type' was one of these. */
TG_INLINE bool put_scalar (tg_Capture *c, int i, int type) {
  size_t n;
  const char *s;
  if (tg_unlikely(!room(c, ROOM + TG_GRIP_SMALLMAX)))
    return true;
  switch (type) {
    case LUA_TNUMBER:
      c->p = put_number(c->L, i, c->p);
      return true;
    case LUA_TSTRING:
      s = lua_tolstring(c->L, i, &n);
      tg_capture_string(c, s, n);
      return true;
    case LUA_TBOOLEAN:
      *c->p++ = lua_toboolean(c->L, i) ? TG_GRIP_TRUE : TG_GRIP_FALSE;
      return true;
    case LUA_TNIL: case LUA_TNONE:
      *c->p++ = TG_GRIP_NIL;
      return true;
    default:
      return false;
  }
}

#endif
