/*
** terminal.c - see terminal.h.
**
** Called by the log and by whatever puts names of a program into text, on any
** thread. Memory that is refused is the buffer's error. Not by wcwidth: that
** asks the locale, which is the program's (setlocale is for the whole process).
**
** What is counted are columns, as a terminal shows them, and what is cut is cut
** between characters: bytes are neither. Text that is no UTF-8 is shown as
** escapes of Lua's, and read back by it.
*/
#include "text/terminal.h"

#include <string.h>

#include "base/escape.h"
#include "text/utf8.h"

#define ELLIPSIS "\xE2\x80\xA6"

/* The letter of a control character's short escape, 0 if it has none. */
static char shortescape (char c) {
  switch (c) {
    case '\n': return 'n';
    case '\t': return 't';
    case '\r': return 'r';
    default: return 0;
  }
}

/* '\x1B' always has two digits, so that a digit after it does not seem to
   belong to it; in Lua it reads back as the same byte (manual, 3.1). */
static char *escapebyte (char *p, char c) {
  static const char hex[] = "0123456789ABCDEF";
  char letter = shortescape(c);
  *p++ = '\\';
  if (letter != 0) {
    *p++ = letter;
    return p;
  }
  *p++ = 'x';
  *p++ = hex[(unsigned char)c >> 4];
  *p++ = hex[(unsigned char)c & 15];
  return p;
}

#define ESCAPE_MAX 4u         /* bytes that one becomes */
#define PIECE ((size_t)1024)  /* bytes that room is asked for at a time */

/* An invisible character of three bytes, as '\u{202E}'. */
static char *escapecode (char *p, uint32_t code) {
  static const char hex[] = "0123456789ABCDEF";
  memcpy(p, "\\u{", 3);
  p += 3;
  for (int shift = 12; shift >= 0; shift -= 4)
    *p++ = hex[(code >> shift) & 15];
  *p++ = '}';
  return p;
}

/* Writes one character, or one byte that is no UTF-8, to 'to'. */
static char *escapechar (char *to, const char **s, const char *end) {
  uint32_t code = 0;
  const char *p = *s;
  size_t n = tg_utf8_char(p, end, &code);
  *s += n > 0 ? n : 1;
  if (n == 3 && tg_utf8_control(code))
    return escapecode(to, code);
  if (n == 0 || tg_utf8_control(code)) {
    while (p < *s)
      to = escapebyte(to, *p++);
    return to;
  }
  memcpy(to, p, n);
  return to + n;
}

/* Escapes a piece, with room for the worst case asked for once. Its last
   character may reach beyond 'size': returns where the next piece begins. */
static const char *escapepiece (tg_Buf *out, const char *s, size_t size,
                                const char *end, char quote) {
  const char *stop = s + size;
  if (!tg_buf_reserve(out, (size + 3) * ESCAPE_MAX + TG_ESCAPE_MORE))
    return stop;
  char *to = out->data + out->size;
  while (s < stop) {
    to = tg_escape_copy(to, &s, stop, true);
    const char *odd = s;
    if (quote != 0)
      to = tg_escape_quote(to, &s, stop);
    if (s == odd && s < stop)
      to = escapechar(to, &s, end);
  }
  out->size = (size_t)(to - out->data);
  tg_assert(out->size <= out->capacity && s <= end);
  return s;
}

/* 'quote' is escaped too, or 0: then a backslash stays what it is, since
   nothing is to be read back. */
void tg_terminal_escape (tg_Buf *out, const char *s, size_t size, char quote) {
  const char *end = s + size;
  tg_check(quote == 0 || quote == '"');
  while (s < end) {
    size_t left = (size_t)(end - s);
    s = escapepiece(out, s, left < PIECE ? left : PIECE, end, quote);
  }
}

/* Code points that take two columns, by ranges: Unicode's East Asian Width, W
   and F, as far as terminals agree on it. */
static bool wide (uint32_t c) {
  static const uint32_t ranges[][2] = {
    {0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xac00, 0xd7a3},
    {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6},
    {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}
  };
  for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
    if (c >= ranges[i][0] && c <= ranges[i][1])
      return true;
  return false;
}

/* Combining marks, joiners and variation selectors have no room of their
   own. */
static size_t columns (uint32_t c) {
  if ((c >= 0x300 && c <= 0x36f) || (c >= 0x200b && c <= 0x200f)
      || (c >= 0xfe00 && c <= 0xfe0f))
    return 0;
  return c >= 0x1100 && wide(c) ? 2 : 1;
}

/* Length of the colour switch at 'p', 0 if there is none. */
static size_t sgr (const char *p, const char *end) {
  if (end - p < 3 || p[0] != '\033' || p[1] != '[')
    return 0;
  const char *m = memchr(p, 'm', (size_t)(end - p));
  return m == NULL ? 0 : (size_t)(m - p) + 1;
}

/* One step over a text: bytes of the next item, and its columns. A byte that is
   no character counts as one: terminals show some mark for it. The commonest
   case first, since every byte of a log comes by here. */
static size_t step (const char *p, const char *end, size_t *cols) {
  unsigned char c = (unsigned char)*p;
  if (c >= ' ' && c < 0x80) {     /* as most are */
    *cols = 1;
    return 1;
  }
  *cols = 0;
  size_t n = sgr(p, end);
  if (n != 0)
    return n;
  uint32_t code = 0;
  n = tg_utf8_char(p, end, &code);
  *cols = n == 0 ? 1 : columns(code);
  return n == 0 ? 1 : n;
}

/* How wide a text is where it is shown. */
size_t tg_terminal_columns (const char *s, size_t size) {
  size_t total = 0;
  if (size == 0)          /* 's' may be NULL */
    return 0;
  for (const char *p = s, *end = s + size; p < end; ) {
    size_t cols;
    p += step(p, end, &cols);
    total += cols;
  }
  return total;
}

/* Ends a text at 'at' with an ellipsis, and in the terminal's own colour. */
static void ellipsis (tg_Buf *b, size_t at, bool colored) {
  b->size = at;
  tg_buf_addstr(b, ELLIPSIS);
  if (colored)
    tg_buf_addstr(b, TG_SGR_RESET);
}

/* In one pass: where the cut would be is known when the limit is passed. Colour
   switches after the cut are dropped with the text, so it is switched off. */
void tg_terminal_cut (tg_Buf *b, size_t from, size_t limit) {
  size_t used = 0, cut = from;
  tg_check(from <= b->size);
  bool colored = false;
  if (b->failed || limit == 0)
    return;
  for (size_t i = from; i < b->size; ) {
    const char *p = b->data + i;
    size_t cols;
    size_t n = step(p, b->data + b->size, &cols);
    if (used + cols > limit) {
      ellipsis(b, cut, colored);
      return;
    }
    colored = colored || *p == '\033';
    used += cols;
    i += n;
    if (used < limit)  /* an ellipsis would still fit after this one */
      cut = i;
  }
}
