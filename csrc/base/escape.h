/*
** escape.h - text that needs no escape, copied eight bytes at a time.
**
** Between quotes a control character, a quote and a backslash are written
** otherwise; where text may be any bytes, what is not ASCII is looked at too;
** where it is known to be UTF-8, only what may begin a character that is not
** seen. Whoever writes such text lets the rest run through here and deals with
** what is in the way.
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

/* Which of eight bytes are that one, as their highest bits. */
TG_INLINE uint64_t tg_escape_is (uint64_t x, uint8_t byte) {
  x ^= TG_EACH(byte);
  return (x - TG_EACH(1)) & ~x;
}

/* Where eight bytes of UTF-8 may have a character that is not seen
   (tg_utf8_control): U+0080 to U+009F are C2 and a byte without bits 5 and 6;
   those of three bytes have E2, and in the last one no bit 4. What is behind
   the eight may be anything; in what is no UTF-8 there may be more. */
TG_INLINE uint64_t tg_escape_unseen (uint64_t x) {
  uint64_t second = x >> 8, third = x >> 16;
  return (tg_escape_is(x, 0xc2) & ~(second << 1 | second << 2))
         | (tg_escape_is(x, 0xe2) & ~(third << 3));
}

/* The bytes of eight that are not plain, as their highest bits. Above the first
   such byte there may be more than there should. Of ASCII, what is less than
   another byte borrows from its highest bit; a quote is 0x20 where that bit is
   turned by which a blank is none, so one subtraction finds it and the control
   characters. */
TG_INLINE uint64_t tg_escape_not (uint64_t x, bool ascii) {
  uint64_t found = ((x ^ TG_EACH(0x02)) - TG_EACH(0x21))
                   | ((x ^ TG_EACH('\\')) - TG_EACH(1))
                   | ((x ^ TG_EACH(0x7f)) - TG_EACH(1));
  found &= ~x;
  if (ascii)
    found |= x;
  else if (tg_unlikely((x & TG_EACH(0x80)) != 0))
    found |= tg_escape_unseen(x);
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
