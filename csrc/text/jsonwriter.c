/*
** jsonwriter.c - JSON text by hand: no locale, no allocation but the buffer's.
**
** Called through its sink, by whoever writes packets; on any thread, one for
** each writer. Memory that is refused is the buffer's error, and is asked for
** there. Nesting is the caller's duty: it is written by our own code, so it is
** asserted and not checked.
**
** Strings arrive as valid UTF-8 and need five kinds of escapes; numbers that
** people write (few decimals) skip the search for the shortest form.
*/
#include "text/jsonwriter.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/escape.h"
#include "text/utf8.h"

static tg_JsonWriter *self (tg_Sink *s) {
  return (tg_JsonWriter *)(void *)s; /* first member */
}

/*
** {==================================================================
** Structure
** ===================================================================
*/

/* Whether a comma stands before the value that comes: in an array, but not
   before the first one; after a key it does not. */
TG_INLINE bool comma_before (tg_JsonWriter *j) {
  if (j->depth == 0 || !j->array[j->depth - 1])
    return false;
  bool comma = j->comma[j->depth - 1];
  j->comma[j->depth - 1] = true;
  return comma;
}

/* Inline as all that is called for each value: packets are mostly short
   values. */
TG_INLINE void before_value (tg_JsonWriter *j) {
  if (comma_before(j))
    tg_buf_addchar(j->out, ',');
}

/* Opens an object or an array. Commas are a stack of flags, one for each level:
   no text is looked back at. */
TG_INLINE void open (tg_JsonWriter *j, bool array) {
  tg_check(j->depth < TG_JSON_DEPTH);
  before_value(j);
  tg_buf_addchar(j->out, array ? '[' : '{');
  j->array[j->depth] = array;
  j->comma[j->depth] = false;
  j->depth++;
}

static void json_object (tg_Sink *s) {
  open(self(s), false);
}

static void json_array (tg_Sink *s) {
  open(self(s), true);
}

static void json_close (tg_Sink *s) {
  tg_JsonWriter *j = self(s);
  tg_check(j->depth > 0);
  j->depth--;
  tg_buf_addchar(j->out, j->array[j->depth] ? ']' : '}');
}

/* }================================================================== */

/*
** {==================================================================
** Strings
** ===================================================================
*/

/* The letter of a short escape, 0 if there is none. */
static char short_escape (uint32_t code) {
  switch (code) {
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
  }
}

/* JSON wants it of control characters only (RFC 8259, 7); but what it says may
   be shown on a terminal. */
char *tg_jsonwriter_escape (char *p, uint32_t code) {
  static const char hex[] = "0123456789abcdef";
  char letter = short_escape(code);
  *p++ = '\\';
  if (letter != 0) {
    *p++ = letter;
    return p;
  }
  *p++ = 'u';
  for (int shift = 12; shift >= 0; shift -= 4)
    *p++ = hex[code >> shift & 15];
  return p;
}

/* Escapes a control character; any other character is copied. */
static char *put_char (char *p, const char **v, const char *end) {
  uint32_t code = (unsigned char)**v;
  size_t n = code < 0x80 ? 1 : tg_utf8_char(*v, end, &code);
  if (n > 0 && tg_utf8_control(code))
    p = tg_jsonwriter_escape(p, code);
  else {
    memcpy(p, *v, n > 0 ? n : 1);
    p += n > 0 ? n : 1;
  }
  *v += n > 0 ? n : 1;
  return p;
}

/* Writes the character at '*v', which is not plain. Not inline: so the caller
   keeps its pointer in a register while all is plain. */
static TG_NOINLINE char *put_odd (char *p, const char **v, const char *stop,
                                  const char *end) {
  const char *odd = *v;
  p = tg_escape_quote(p, v, stop);
  return *v == odd ? put_char(p, v, end) : p;
}

/* Bytes that stand for themselves are copied eight at a time (escape.h); the
   byte that stops the copy may have to be escaped. The last character before
   'stop' may reach beyond; '*v' is then behind it. */
TG_INLINE char *put_text (char *p, const char **v, const char *stop,
                          const char *end) {
  const char *s = *v;
  for (;;) {
    p = tg_escape_copy(p, &s, stop, false);
    if (tg_likely(s == stop))
      break;
    const char *odd = s;
    p = put_odd(p, &odd, stop, end);
    s = odd;
    if (s >= stop)
      break;
  }
  *v = s;
  return p;
}

/* Bytes that are written at a time, with memory for the worst case. */
#define PIECE ((size_t)1024)

/* A long string, piece by piece: the worst case for all of it would be six
   times its size. */
static TG_NOINLINE void add_long (tg_Buf *out, const char *v, size_t size) {
  const char *end = v + size;
  while (v < end) {
    size_t n = (size_t)(end - v) < PIECE ? (size_t)(end - v) : PIECE;
    if (!tg_buf_reserve(out, n * TG_JSON_ESCAPE + TG_ESCAPE_MORE))
      return;
    char *p = put_text(out->data + out->size, &v, v + n, end);
    out->size = (size_t)(p - out->data);
  }
}

/* A quoted string, with a comma before it and a colon after it if wanted. */
TG_INLINE void add_string (tg_Buf *out, bool comma, const char *v,
                           size_t size, bool colon) {
  bool whole = size <= PIECE;
  if (!tg_buf_reserve(out, (whole ? size * TG_JSON_ESCAPE : 0)
                               + TG_ESCAPE_MORE + 4))
    return;
  char *p = out->data + out->size;
  if (comma)
    *p++ = ',';
  *p++ = '"';
  if (tg_likely(whole))
    p = put_text(p, &v, v + size, v + size);
  else {
    out->size = (size_t)(p - out->data);
    add_long(out, v, size);
    if (!tg_buf_reserve(out, 2))
      return;
    p = out->data + out->size;
  }
  *p++ = '"';
  if (colon)
    *p++ = ':';
  out->size = (size_t)(p - out->data);
}

static void json_string (tg_Sink *s, const char *v, size_t size) {
  tg_JsonWriter *j = self(s);
  add_string(j->out, comma_before(j), v, size, false);
}

/* Text that begins with a comma, which an object's first member has not. */
TG_INLINE size_t skip_comma (tg_JsonWriter *j) {
  tg_check(j->depth > 0 && !j->array[j->depth - 1]);
  bool *comma = &j->comma[j->depth - 1];
  size_t skipped = *comma ? 0 : 1;
  *comma = true;
  return skipped;
}

/* Copies all bytes that a word has room for: a copy of constant size is a few
   instructions. The bytes too many are written over. */
static void json_word (tg_Sink *s, const tg_Word *k) {
  tg_JsonWriter *j = self(s);
  tg_Buf *out = j->out;
  size_t skip = skip_comma(j);
  tg_assert(k->size < TG_WORD_MAX);
  if (!tg_buf_reserve(out, TG_WORD_MAX))
    return;
  memcpy(out->data + out->size, k->text + skip, TG_WORD_MAX - 1);
  out->size += k->size - skip;
}

static void json_member (tg_Sink *s, const tg_Member *m) {
  tg_JsonWriter *j = self(s);
  size_t skip = skip_comma(j);
  tg_buf_add(j->out, m->text + skip, m->size - skip);
}

/* A key that is not known beforehand, and may have to be escaped. */
static void json_key (tg_Sink *s, const char *k, size_t size) {
  tg_JsonWriter *j = self(s);
  tg_check(j->depth > 0 && !j->array[j->depth - 1]);
  bool *comma = &j->comma[j->depth - 1];
  add_string(j->out, *comma, k, size, true);
  *comma = true;
}

/* }================================================================== */

/*
** {==================================================================
** Numbers
** ===================================================================
*/

/* 'digits' digits of 'fraction' without zeros at the end, but at least one. */
static void add_fraction (tg_Buf *out, uint64_t fraction, int digits) {
  char text[20];
  for (int i = digits; i-- > 0; fraction /= 10)
    text[i] = (char)('0' + fraction % 10);
  while (digits > 1 && text[digits - 1] == '0')
    digits--;
  tg_buf_addchar(out, '.');
  tg_buf_add(out, text, (size_t)digits);
}

/*
** A float of few decimals: v * 10^k is a whole number below 2^53, and dividing
** it by 10^k gives v again. Both are exact doubles, so a correct reader, which
** rounds their quotient once, reads v too. The smallest k is the shortest form.
*/
static bool add_short (tg_Buf *out, double v) {
  uint64_t power = 1;
  for (int k = 1; k <= 6; k++) {
    power *= 10;
    double scaled = fabs(v) * (double)power;
    if (scaled >= 1e15)
      return false;
    uint64_t whole = (uint64_t)scaled;
    if ((double)whole / (double)power != fabs(v))
      continue;
    if (signbit(v))
      tg_buf_addchar(out, '-');
    tg_buf_addu64(out, whole / power);
    add_fraction(out, whole % power, k);
    return true;
  }
  return false;
}

/* The program may have set a locale with another decimal point. */
static void undo_locale (char *text) {
  char *to = text;
  bool point = false;
  for (const char *p = text; *p != '\0'; p++) {
    if (strchr("0123456789+-eE", *p) != NULL) {
      *to++ = *p;
      point = false;
    }
    else if (!point) {
      *to++ = '.';
      point = true;
    }
  }
  *to = '\0';
}

/* The fewest digits that read back the same: 15 say what few do, except next to
   zero, where a double has less to say. */
static void add_shortest (tg_Buf *out, double v) {
  char text[48];
  for (int digits = fabs(v) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, v);
    if (strtod(text, NULL) == v)
      break;
  }
  undo_locale(text);
  tg_buf_addstr(out, text);
  if (strpbrk(text, ".e") == NULL)
    tg_buf_addstr(out, ".0");
}

static void json_integer (tg_Sink *s, int64_t v) {
  before_value(self(s));
  tg_buf_addi64(self(s)->out, v);
}

/* A float is written with a fraction, "1.0", so that it reads back as a
   float. */
static void json_number (tg_Sink *s, double v) {
  tg_JsonWriter *j = self(s);
  tg_check(isfinite(v));
  before_value(j);
  if (!add_short(j->out, v))
    add_shortest(j->out, v);
}

/* Nanoseconds as milliseconds, exactly: by their digits, and not by way of a
   double. */
static void json_ms (tg_Sink *s, uint64_t ns) {
  tg_Buf *out = self(s)->out;
  before_value(self(s));
  if (!tg_buf_reserve(out, TG_DIGITS + 2))
    return;
  char *p = tg_digits_ms(out->data + out->size, ns);
  if (ns % 1000000 == 0) {
    memcpy(p, ".0", 2);
    p += 2;
  }
  out->size = (size_t)(p - out->data);
}

/* }================================================================== */

static void json_boolean (tg_Sink *s, bool v) {
  tg_JsonWriter *j = self(s);
  before_value(j);
  tg_buf_addstr(j->out, v ? "true" : "false");
}

void tg_jsonwriter_init (tg_JsonWriter *j, tg_Buf *out) {
  static const tg_Sink sink = {
    json_object, json_array, json_close, json_key, json_word, json_member,
    json_string, json_integer, json_number, json_boolean, json_ms
  };
  j->sink = sink;
  j->out = out;
  j->depth = 0;         /* the arrays are filled as containers open */
}
