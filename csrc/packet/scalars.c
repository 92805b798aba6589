/*
** scalars.c - see scalars.h.
**
** Called with every value, on any thread; nothing is kept. A client is mostly
** JavaScript, whose numbers are doubles: what would be another number there is
** written as text.
*/
#include "packet/scalars.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "packet/names.h"

#define EXACT_MAX (INT64_C(1) << 53)   /* integers that a double holds */

/* Beside what was cut; a client shows that there is more. */
void tg_scalars_truncated (tg_Sink *out) {
  tg_sink_key(out, "truncated");
  out->boolean(out, true);
}

/* Beyond 2^53 two integers may be one double. */
void tg_scalars_integer (tg_Sink *out, int64_t i) {
  if (-EXACT_MAX <= i && i <= EXACT_MAX) {
    out->integer(out, i);
    return;
  }
  char text[24];
  int n = snprintf(text, sizeof text, "%" PRId64, i);
  tg_assert(n > 0 && (size_t)n < sizeof text);
  tg_scalars_open(out, "BigInt");
  tg_sink_key(out, "text");
  out->string(out, text, (size_t)n);
  out->close(out);
}

/* An integral float stays one, as 1.0: the sink sees to that. Minus zero is
   equal to zero for C, and another value for whoever looks at it. */
void tg_scalars_float (tg_Sink *out, double v) {
  if (isnan(v))
    tg_scalars_typed(out, "NaN");
  else if (isinf(v) && v > 0)
    tg_scalars_typed(out, "Infinity");
  else if (isinf(v))
    tg_scalars_typed(out, "-Infinity");
  else if (fpclassify(v) == FP_ZERO && signbit(v))
    tg_scalars_typed(out, "-0");
  else
    out->number(out, v);
}

/* A text of which there is only the beginning, or bytes that are no text.
   'length' is in bytes of the program's string in both. */
void tg_scalars_long (tg_Sink *out, bool bytes, const char *initial, size_t size,
                      uint64_t length) {
  if (bytes)
    tg_scalars_open(out, "bytes");
  else
    tg_scalars_open(out, "longString");
  tg_sink_key(out, "initial");
  out->string(out, initial, size);
  tg_sink_key(out, "length");
  out->integer(out, (int64_t)length);
  out->close(out);
}

/* RFC 4648, with its padding. Written here since neither C nor Lua has it. In
   one piece of the buffer, whose size is known beforehand. */
void tg_scalars_base64 (tg_Buf *b, const char *s, size_t size) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "abcdefghijklmnopqrstuvwxyz0123456789+/";
  if (!tg_buf_reserve(b, size / 3 * 4 + 4))
    return;
  char *p = b->data + b->size;
  for (size_t i = 0; i < size; i += 3) {
    size_t n = size - i < 3 ? size - i : 3;
    uint32_t bits = (uint32_t)(unsigned char)s[i] << 16;
    bits |= n > 1 ? (uint32_t)(unsigned char)s[i + 1] << 8 : 0;
    bits |= n > 2 ? (uint32_t)(unsigned char)s[i + 2] : 0;
    *p++ = digits[bits >> 18];
    *p++ = digits[bits >> 12 & 63];
    *p++ = n > 1 ? digits[bits >> 6 & 63] : '=';
    *p++ = n > 2 ? digits[bits & 63] : '=';
  }
  b->size = (size_t)(p - b->data);
  tg_assert(b->size <= b->capacity);
}
