/*
** escape.h - text that needs no escape, copied eight bytes at a time.
**
** Between quotes a control character, a quote and a backslash are written
** otherwise; where text may be any bytes, what is not ASCII is looked at too.
** Whoever writes such text lets the rest run through here and deals with what
** is in the way.
*/
#ifndef TG_ESCAPE_H
#define TG_ESCAPE_H

#include <string.h>

#include "base/base.h"

#define TG_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Bytes that tg_escape_copy may write beyond those that it copies. */
#define TG_ESCAPE_MORE 8u

/* Eight bytes in memory are a number, the first one lowest. */
TG_INLINE uint64_t tg_escape_turn (uint64_t x) {
  return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? x : __builtin_bswap64(x);
}

/* The bytes at 'p', up to eight of them, and zeros above; no byte behind them
   is looked at. Of four to seven, the first four and the last four are loaded
   and put over each other, where they overlap they are the same. Of one to
   three, the first, the middle and the last one, which may be one and the same.
   So there is one branch for each kind and no loop. */
TG_INLINE uint64_t tg_escape_load (const char *p, size_t size) {
  const unsigned char *b = (const unsigned char *)p;
  uint64_t x = 0;
  if (tg_likely(size >= 8)) {
    memcpy(&x, p, 8);
    return tg_escape_turn(x);
  }
  if (size >= 4) {
    uint64_t y = 0;
    memcpy(&x, p, 4);
    memcpy(&y, p + size - 4, 4);
    return tg_escape_turn(x) | tg_escape_turn(y) << 8 * (size - 4);
  }
  if (size == 0)
    return 0;
  return b[0] | (uint64_t)b[size / 2] << 8 * (size / 2)
         | (uint64_t)b[size - 1] << 8 * (size - 1);
}

TG_INLINE void tg_escape_store (char *to, uint64_t x) {
  x = tg_escape_turn(x);
  memcpy(to, &x, 8);
}

/* The bytes of eight that are not plain, as their highest bits. Above the first
   such byte there may be more than there should. */
TG_INLINE uint64_t tg_escape_not (uint64_t x, bool ascii) {
  uint64_t quote = x ^ TG_EACH('"'), slash = x ^ TG_EACH('\\');
  uint64_t found = ((x - TG_EACH(0x20)) & ~x)
                   | ((quote - TG_EACH(1)) & ~quote)
                   | ((slash - TG_EACH(1)) & ~slash);
  if (ascii) {
    uint64_t del = x ^ TG_EACH(0x7f);
    found |= ((del - TG_EACH(1)) & ~del) | x;
  }
  return found & TG_EACH(0x80);
}

/*
** Copies plain bytes from '*s' on to 'to', up to 'end' or to the first that is
** not plain; '*s' is then there. Returns where the copy ends. 'to' has room for
** all of them and TG_ESCAPE_MORE.
*/
TG_INLINE char *tg_escape_copy (char *to, const char **s, const char *end,
                                bool ascii) {
  const char *p = *s;
  size_t n = 8;
  while (n == 8 && p < end) {
    uint64_t x = tg_escape_load(p, (size_t)(end - p));
    uint64_t stops = tg_escape_not(x, ascii);   /* behind the end are zeros */
    tg_escape_store(to, x);
    n = stops != 0 ? (size_t)__builtin_ctzll(stops) >> 3 : 8;
    p += n;
    to += n;
  }
  *s = p;
  return to;
}

/*
** Copies quotes and backslashes, each behind a backslash, from '*s' on; '*s' is
** then behind the last of them. Returns where the copy ends.
*/
TG_INLINE char *tg_escape_quote (char *to, const char **s, const char *end) {
  const char *p = *s;
  while (p < end && (*p == '"' || *p == '\\')) {
    *to++ = '\\';
    *to++ = *p++;
  }
  *s = p;
  return to;
}

#endif
