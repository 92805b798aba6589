/*
** jsontext.c - see jsontext.h. Called for each name and each time of a document
** of millions of events, on whatever thread writes them. Without memory the
** buffer says so, and what is added is left out.
*/
#include "export/jsontext.h"

#include <string.h>

#include "base/digits.h"
#include "base/escape.h"
#include "text/utf8.h"

#define ESCAPE_MAX 6u         /* bytes that one becomes */
#define PIECE ((size_t)1024)  /* bytes that room is asked for at a time */

/* What is not to be seen as it is (tg_utf8_control); quotes and backslashes
   were seen to before (tg_escape_quote). JSON has short forms for a few more of
   them, which are not worth a table: only line ends are frequent in what
   programs have. */
static char *put_escape (char *p, uint32_t code) {
  static const char hex[] = "0123456789abcdef";
  *p++ = '\\';
  if (code == '\n') {
    *p++ = 'n';
    return p;
  }
  *p++ = 'u';
  for (int shift = 12; shift >= 0; shift -= 4)
    *p++ = hex[code >> shift & 15];
  return p;
}

/* Writes a character that is not plain, or a byte that is no UTF-8. File names
   may have any encoding: U+FFFD for such a byte keeps the document valid
   JSON. */
static char *put_char (char *p, const char **s, const char *end) {
  uint32_t code;
  size_t n = tg_utf8_char(*s, end, &code);
  if (n == 0) {
    memcpy(p, "\xEF\xBF\xBD", 3);   /* U+FFFD */
    p += 3;
    n = 1;
  }
  else if (tg_utf8_control(code))
    p = put_escape(p, code);
  else {
    memcpy(p, *s, n);
    p += n;
  }
  *s += n;
  return p;
}

/* A piece at a time, so that room is asked for seldom and never for six times a
   long string. The last character may reach beyond 'size'. */
static const char *add_piece (tg_Buf *out, const char *s, size_t size,
                              const char *end) {
  const char *stop = s + size;
  if (!tg_buf_reserve(out, size * ESCAPE_MAX + TG_ESCAPE_MORE))
    return stop;
  char *p = out->data + out->size;
  while (s < stop) {
    p = tg_escape_copy(p, &s, stop, true);
    const char *odd = s;
    p = tg_escape_quote(p, &s, stop);
    if (s == odd && s < stop)
      p = put_char(p, &s, end);
  }
  out->size = (size_t)(p - out->data);
  tg_assert(out->size <= out->capacity && s <= end);
  return s;
}

void tg_jsontext_string (tg_Buf *out, const char *s, size_t size) {
  const char *end = size > 0 ? s + size : s;    /* 's' may be NULL */
  tg_buf_addchar(out, '"');
  while (s < end) {
    size_t left = (size_t)(end - s);
    s = add_piece(out, s, left < PIECE ? left : PIECE, end);
  }
  tg_buf_addchar(out, '"');
}

/* By integers: a double tells nanoseconds since 1970 to 256 of them only, and
   an export of millions would spend its time in printf. */
void tg_jsontext_time (tg_Buf *out, uint64_t ns, uint32_t unit) {
  if (!tg_buf_reserve(out, TG_DIGITS))
    return;
  char *p = out->data + out->size;
  switch (unit) {
    case 1000: p = tg_digits_us(p, ns); break;
    case 1000000: p = tg_digits_ms(p, ns); break;
    case 1000000000: p = tg_digits_s(p, ns); break;
    default: tg_unreachable();
  }
  out->size = (size_t)(p - out->data);
}
