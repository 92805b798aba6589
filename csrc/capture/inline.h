/*
** inline.h - what capture.c, objects.c and large.c
** share while the values of one list are captured. Private to them.
*/
#ifndef TG_CAPTURE_INLINE_H
#define TG_CAPTURE_INLINE_H

#include <string.h>

#include "capture/veil.h"
#include "stream/event.h"
#include "stream/values.h"

#define ROOM 32                 /* bytes any grip but a long string fits in */

/* What parts of a packet may come to in JSON, generously. */
#define COST_OBJECT 256u
#define COST_PROPERTY 128u
#define COST_PER_BYTE 6u        /* a control character, escaped */
#define COST_LITTLE 4096u       /* bytes of which many strings are affordable */

typedef struct tg_Capture {
  tg_Session *session;
  lua_State *L;
  const tg_Limits *limits;
  tg_ObjectPool *pool;
  uint8_t *p, *lim;             /* both NULL: the room was too small */
  uint32_t cost;
  bool in_stream;               /* strings before this one can be referred to */
  bool refers;                  /* and have been */
  bool redacts;                 /* something may be to be hidden */
  bool left_out;                /* a property of the table has been */
  bool pushed;                  /* the stack must be set right again */
  bool unknown;                 /* what was read from memory is not enough */
} tg_Capture;

TG_INLINE bool spend (tg_Capture *c, uint32_t cost) {
  if (c->cost + cost > TG_PACKET_MAX)
    return false;
  c->cost += cost;
  return true;
}

/* Room for one small thing. Once there was too little, there is none. */
TG_INLINE bool room (tg_Capture *c, size_t need) {
  if (tg_likely((uintptr_t)c->lim - (uintptr_t)c->p >= need))
    return true;
  c->p = c->lim = NULL;
  return false;
}

/* Writes a long string, as far as the limits go. */
void tg_capture_long (tg_Capture *c, const char *s, size_t n);

/* Strings written from 'start' on are not there: that is begun again. */
void tg_capture_forget (tg_Writer *r, const uint8_t *start);

/* Writes the grip of an object with a large index, or none. */
void tg_capture_far (tg_Capture *c, uint32_t id, int type);

/* Writes the descriptors of the objects in the pool, and of those that they
   bring in; empties it. */
void tg_capture_pool (tg_Capture *c);

/* Writes the descriptor of the object at stack index 'i', which is not listed:
   that takes no pool. */
void tg_capture_brief (tg_Capture *c, int i);

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

/* Most strings are names: two overlapping words are faster than a call, and a
   function that calls none need not save registers. */
TG_INLINE uint8_t *put_smallstr (uint8_t *p, const char *s, size_t n) {
  *p++ = (uint8_t)(TG_GRIP_SMALLSTR + n);
  if (n > 16) {
    for (size_t i = 0; i < n - 16; i += 16)
      memcpy(p + i, s + i, 16);
    memcpy(p + n - 16, s + n - 16, 16);
  }
  else if (n >= 8) {
    memcpy(p, s, 8);
    memcpy(p + n - 8, s + n - 8, 8);
  }
  else if (n >= 4) {
    memcpy(p, s, 4);
    memcpy(p + n - 4, s + n - 4, 4);
  }
  else if (n > 0) {     /* first, middle, last */
    p[0] = (uint8_t)s[0];
    p[n / 2] = (uint8_t)s[n / 2];
    p[n - 1] = (uint8_t)s[n - 1];
  }
  return p + n;
}

/*
** Documents are handed from function to function. The grip of a string that
** was captured in this epoch and has not changed since (another may have its
** address); NULL if there is none.
*/
TG_INLINE const uint8_t *find_written (const tg_Writer *r, const char *s,
                                       size_t n, size_t kept) {
  const tg_Written *w = &r->written[tg_address_hash(s) % TG_WRITTEN];
  if (w->string != s || w->size != n || w->kept != kept
      || w->epoch != r->epoch || memcmp(w->bytes, s, kept) != 0)
    return NULL;
  return w->grip;
}

/* Refers to the string whose grip is there. */
TG_INLINE uint8_t *put_distance (uint8_t *p, const uint8_t *grip) {
  *p = TG_GRIP_STRAGAIN;
  return tg_putvar(p + 1, (uint64_t)(p - grip));
}

/*
** A number, boolean, nil, or string that is short and within 'limit', written
** at 'p', where there is room; NULL if the value is anything else.
*/
TG_INLINE uint8_t *put_small (lua_State *L, int i, int type, uint32_t limit,
                              uint8_t *p) {
  size_t n;
  const char *s;
  switch (type) {
    case LUA_TNUMBER:
      return put_number(L, i, p);
    case LUA_TSTRING:
      s = lua_tolstring(L, i, &n);
      if (tg_unlikely(n > TG_GRIP_SMALLMAX || n > limit))
        return NULL;
      return put_smallstr(p, s, n);
    case LUA_TBOOLEAN:
      *p = lua_toboolean(L, i) ? TG_GRIP_TRUE : TG_GRIP_FALSE;
      return p + 1;
    case LUA_TNIL: case LUA_TNONE:
      *p = TG_GRIP_NIL;
      return p + 1;
    default:
      return NULL;
  }
}

#define SMALL_ROOM (TG_GRIP_SMALLMAX + 1u)

/* A value that is to be hidden, or holds what was hidden before. */
TG_INLINE void put_redacted (tg_Capture *c) {
  if (room(c, SMALL_ROOM))
    *c->p++ = TG_GRIP_REDACTED;
}

/* Whether there is something in a string that was hidden under its name. */
TG_INLINE bool holds_secret (const tg_Capture *c, const char *s, size_t n) {
  return tg_unlikely(c->redacts)
         && tg_veil_holds(c->session, s, n);
}

TG_INLINE void put_string (tg_Capture *c, const char *s, size_t n) {
  if (tg_unlikely(n > TG_GRIP_SMALLMAX || n > c->limits->string))
    tg_capture_long(c, s, n);
  else if (room(c, SMALL_ROOM))
    c->p = put_smallstr(c->p, s, n);
}

/* A string that is a value and no name. */
TG_INLINE void put_text_value (tg_Capture *c, const char *s, size_t n) {
  if (holds_secret(c, s, n))
    put_redacted(c);
  else
    put_string(c, s, n);
}

/* Anything but an object: true if 'type' was one of these. */
TG_INLINE bool put_scalar (tg_Capture *c, int i, int type) {
  if (type == LUA_TSTRING) {
    size_t n;
    const char *s = lua_tolstring(c->L, i, &n);
    put_text_value(c, s, n);
    return true;
  }
  if (tg_unlikely(!room(c, ROOM)))
    return true;
  uint8_t *p = put_small(c->L, i, type, 0, c->p);
  if (p != NULL)
    c->p = p;
  return p != NULL;
}

TG_INLINE tg_ObjectType object_type (int type) {
  switch (type) {
    case LUA_TTABLE: return TG_OBJ_TABLE;
    case LUA_TFUNCTION: return TG_OBJ_FUNCTION;
    case LUA_TTHREAD: return TG_OBJ_THREAD;
    default: return TG_OBJ_USERDATA;
  }
}

/* What an object is told by. A light userdata may have the address of a full
   one, or of a table: it gets one that nothing else has, which is odd. */
TG_INLINE const void *identity_of (const void *address, int type) {
  return (type == LUA_TLIGHTUSERDATA) ? (const char *)address + 1 : address;
}

/*
** The pool index of an object that is met at 'address' and 'level', and stands
** at 'index' (0: nowhere); '*fresh' if it was not met before. TG_POOL_NONE if
** there is no room for it.
*/
TG_INLINE uint32_t enter (tg_Capture *c, const void *address, int type,
                          uint32_t level, int index, bool *fresh) {
  uint32_t max = c->limits->objects;
  if (c->cost + COST_OBJECT > TG_PACKET_MAX)
    max = 0;                    /* only those that are there already */
  uint32_t id = tg_objectpool_enter(c->pool, identity_of(address, type), max,
                                    fresh);
  if (*fresh) {
    tg_Object *o = &c->pool->list[id];
    c->cost += COST_OBJECT;
    o->index = index;
    o->level = level;
    o->type = (uint8_t)object_type(type);
    o->examined = false;
    o->cut = o->meta = o->brief = false;
  }
  return id;
}

/* An object that was only named before is met where it is to be listed. */
TG_INLINE bool promote (tg_Object *o) {
  bool was = o->brief;
  if (was)
    o->brief = o->cut = o->meta = false;
  return was;
}

/* The state of listing one table. */
typedef struct tg_Listing {
  int i;                /* its stack index, if it stands there */
  uint32_t level;       /* of what its properties hold */
  uint32_t listed;      /* properties so far */
  lua_Integer n;        /* length of the sequence so far */
  bool in_order;        /* only the sequence has come so far */
  bool full;            /* a limit was reached */
} tg_Listing;

TG_INLINE bool affordable (tg_Capture *c, tg_Listing *t) {
  if (t->listed >= c->limits->properties || !spend(c, COST_PROPERTY))
    t->full = true;
  else
    t->listed++;
  return !t->full;
}

/* The definition of a function's descriptor; gives its flag. */
TG_INLINE uint32_t put_function (tg_Capture *c, tg_FunctionId id) {
  if (id == 0 || !room(c, ROOM))
    return 0;
  c->p = tg_putvar(c->p, id);
  return TG_DESC_FUNCTION;
}

/* Writes the grip of an object. */
TG_INLINE void put_object (tg_Capture *c, uint32_t id, int type) {
  if (tg_likely(id <= TG_GRIP_SMALLMAX && room(c, ROOM)))
    *c->p++ = (uint8_t)(TG_GRIP_SMALLOBJ + id);
  else
    tg_capture_far(c, id, type);
}

#endif
