/*
** grip.h - the bytes of one small value (stream/values.h). Private to the files
** of capture.
**
** Each function writes at 'p', where there is room, and returns the end.
*/
#ifndef TG_CAPTURE_GRIP_H
#define TG_CAPTURE_GRIP_H

#include <string.h>

#include <lua.h>

#include "state/closures.h"
#include "stream/event.h"
#include "stream/values.h"
#include "stream/writer.h"

#define ROOM 32                 /* bytes any grip but a long string fits in */
#define SMALL_ROOM (TG_GRIP_SMALLMAX + 1u)  /* and those written here */

/* A list that is short, whatever is in it; its room, if that is all small. */
#define TG_PLAIN_MAX 6                  /* values */
#define TG_PLAIN_ROOM (16u + TG_PLAIN_MAX * SMALL_ROOM)
#define TG_PLAIN_STRING 1024u   /* bytes: what strings up to here come to need
                                   not be counted in it */

TG_INLINE uint8_t *put_byte (uint8_t *p, uint8_t byte) {
  *p = byte;
  return p + 1;
}

TG_INLINE uint8_t *put_integer (uint8_t *p, lua_Integer i) {
  if (i >= 0 && i <= TG_GRIP_SMALLMAX)
    return put_byte(p, (uint8_t)(TG_GRIP_SMALLINT + i));
  *p = TG_GRIP_INT;
  return tg_putvar(p + 1, ((uint64_t)i << 1) ^ (uint64_t)(i >> 63));
}

TG_INLINE uint8_t *put_float (uint8_t *p, lua_Number n) {
  *p = TG_GRIP_FLOAT;
  memcpy(p + 1, &n, sizeof n);
  return p + 1 + sizeof n;
}

TG_INLINE uint8_t *put_boolean (uint8_t *p, bool b) {
  return put_byte(p, b ? TG_GRIP_TRUE : TG_GRIP_FALSE);
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

/* The same of a string that may be too long for that, or for 'limit': NULL. */
TG_INLINE uint8_t *put_text (uint8_t *p, const char *s, size_t n,
                             uint32_t limit) {
  if (tg_unlikely(n > TG_GRIP_SMALLMAX || n > limit))
    return NULL;
  return put_smallstr(p, s, n);
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
TG_INLINE uint8_t *put_long_again (const tg_Writer *r, uint8_t *p,
                                   const uint8_t *grip) {
  *p = TG_GRIP_STRAGAIN;
  return tg_putvar(p + 1, (uint64_t)(grip - r->origin));
}

/* The same of a short one, at a place up to TG_SMALLAGAIN_MOST. */
TG_INLINE uint8_t *put_small_again (uint8_t *p, uint32_t place) {
  *p = (uint8_t)(TG_GRIP_SMALLAGAIN | place >> 16);
  return tg_put16(p + 1, place & 0xffff);
}

TG_INLINE tg_ObjectType object_type (int type) {
  switch (type) {
    case LUA_TTABLE: return TG_OBJ_TABLE;
    case LUA_TFUNCTION: return TG_OBJ_FUNCTION;
    case LUA_TTHREAD: return TG_OBJ_THREAD;
    default: return TG_OBJ_USERDATA;
  }
}

/* The head of a descriptor; of a table it is one byte, whatever its flags. */
TG_INLINE uint8_t *put_head (uint8_t *p, tg_ObjectType type, uint32_t flags) {
  if (tg_likely(type == TG_OBJ_TABLE))
    return put_byte(p, tg_values_short(TG_SHORT_TABLE, flags));
  if (type == TG_OBJ_FUNCTION && flags == TG_DESC_FUNCTION)
    return put_byte(p, TG_DESC_DEFINED);
  return put_byte(put_byte(p, (uint8_t)type), (uint8_t)flags);
}

#endif
