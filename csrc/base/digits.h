/*
** digits.h - numbers as digits, straight into memory: for columns of millions.
**
** The caller has the room: TG_DIGITS bytes are enough for any of these. Each
** returns where it ends; no zero is written.
*/
#ifndef TG_DIGITS_H
#define TG_DIGITS_H

#include <string.h>

#include "base/base.h"
#include "base/escape.h"

#define TG_DIGITS 32u

static const char tg_digit_pairs[201] =
    "00010203040506070809101112131415161718192021222324"
    "25262728293031323334353637383940414243444546474849"
    "50515253545556575859606162636465666768697071727374"
    "75767778798081828384858687888990919293949596979899";

TG_INLINE unsigned tg_digits_count (uint64_t v) {
  for (unsigned n = 0; ; n += 4, v /= 10000) {
    if (v < 10)
      return n + 1;
    if (v < 100)
      return n + 2;
    if (v < 1000)
      return n + 3;
    if (v < 10000)
      return n + 4;
  }
}

TG_INLINE char *tg_digits (char *p, uint64_t v) {
  char *end = p + tg_digits_count(v), *q = end;
  for (; v >= 100; v /= 100) {
    q -= 2;
    memcpy(q, tg_digit_pairs + v % 100 * 2, 2);
  }
  if (v >= 10)
    memcpy(q - 2, tg_digit_pairs + v * 2, 2);
  else
    q[-1] = (char)('0' + v);
  return end;
}

/* The eight digits of a number below 100000000, not yet as characters; the
   first one is lowest. Four are worked out at once, then two, then one: by
   products, whose rounding is right for numbers of that size. */
TG_INLINE uint64_t tg_digits_eight (uint32_t v) {
  uint64_t fours = v / 10000 | (uint64_t)(v % 10000) << 32;
  uint64_t above = (fours * 10486 >> 20) & UINT64_C(0x0000007f0000007f);
  uint64_t twos = above | (fours - 100 * above) << 16;
  above = (twos * 103 >> 10) & UINT64_C(0x000f000f000f000f);
  return above | (twos - 10 * above) << 8;
}

/* The same as tg_digits, for numbers of which nobody knows how long they are:
   no branch waits for that. */
TG_INLINE char *tg_digits_any (char *p, uint64_t v) {
  if (tg_unlikely(v >= 100000000)) {
    p = tg_digits(p, v / 100000000);
    tg_escape_store(p, tg_digits_eight((uint32_t)(v % 100000000))
                       | TG_EACH('0'));
    return p + 8;
  }
  uint64_t eight = tg_digits_eight((uint32_t)v);
  unsigned zeros = (unsigned)__builtin_ctzll(eight | UINT64_C(1) << 56) / 8;
  tg_escape_store(p, (eight | TG_EACH('0')) >> 8 * zeros);
  return p + 8 - zeros;
}

/* Three digits of a number below 1000; six of one below 1000000. */
TG_INLINE char *tg_digits_three (char *p, uint32_t v) {
  *p = (char)('0' + v / 100);
  memcpy(p + 1, tg_digit_pairs + v % 100 * 2, 2);
  return p + 3;
}

TG_INLINE char *tg_digits_six (char *p, uint32_t v) {
  p = tg_digits_three(p, v / 1000);
  return tg_digits_three(p, v % 1000);
}

/* A number ends before the zeros that end at 'p'; there is another digit. */
TG_INLINE char *tg_digits_trim (char *p) {
  while (p[-1] == '0')
    p--;
  return p;
}

/* Nanoseconds as microseconds, milliseconds, seconds: exact, without needless
   zeros. */
TG_INLINE char *tg_digits_us (char *p, uint64_t ns) {
  uint32_t rest = (uint32_t)(ns % 1000);
  p = tg_digits(p, ns / 1000);
  if (rest == 0)
    return p;
  *p++ = '.';
  return tg_digits_trim(tg_digits_three(p, rest));
}

TG_INLINE char *tg_digits_ms (char *p, uint64_t ns) {
  uint32_t rest = (uint32_t)(ns % 1000000);
  p = tg_digits(p, ns / 1000000);
  if (rest == 0)
    return p;
  *p++ = '.';
  return tg_digits_trim(tg_digits_six(p, rest));
}

TG_INLINE char *tg_digits_s (char *p, uint64_t ns) {
  uint32_t rest = (uint32_t)(ns % 1000000000);
  p = tg_digits(p, ns / 1000000000);
  if (rest == 0)
    return p;
  *p++ = '.';
  p = tg_digits_three(p, rest / 1000000);
  return tg_digits_trim(tg_digits_six(p, rest % 1000000));
}

#endif
