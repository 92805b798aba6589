/* jsonscan.c - see jsonscan.h. */
#include "graph/jsonscan.h"

#include <string.h>

#define DEPTH 64        /* of values that are passed */

void tg_jsonscan_init (tg_JsonScan *s, const char *data, size_t size) {
  *s = (tg_JsonScan){.start = data, .p = data, .end = data + size};
}

bool tg_jsonscan_fail (tg_JsonScan *s, const char *wanted) {
  if (s->wrong == NULL)
    s->wrong = wanted;
  s->end = s->p;
  return false;
}

static void blanks (tg_JsonScan *s) {
  while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\t'
                           || *s->p == '\r'))
    s->p++;
}

bool tg_jsonscan_accept (tg_JsonScan *s, char c) {
  if (s->p < s->end && *s->p != c)
    blanks(s);
  if (s->p >= s->end || *s->p != c)
    return false;
  s->p++;
  return true;
}

bool tg_jsonscan_expect (tg_JsonScan *s, char c) {
  static const char *const words[] = {"'{'", "'['", "':'", "','", "'\"'",
                                      "another character"};
  static const char known[] = "{[:,\"";
  if (tg_jsonscan_accept(s, c))
    return true;
  const char *at = strchr(known, c);
  return tg_jsonscan_fail(s, words[at != NULL ? at - known : 5]);
}

bool tg_jsonscan_more (tg_JsonScan *s, char close, uint64_t *n) {
  if (tg_jsonscan_accept(s, close))
    return false;
  if (*n > 0 && !tg_jsonscan_accept(s, ','))
    return tg_jsonscan_fail(s, "',' or an end");
  ++*n;
  if (s->p >= s->end)
    return tg_jsonscan_fail(s, "more, but the file ends");
  return true;
}

/* ---- strings ---- */

static void add_code (tg_Buf *to, uint32_t c) {
  if (c < 0x80)
    tg_buf_addchar(to, (char)c);
  else if (c < 0x800) {
    tg_buf_addchar(to, (char)(0xc0 | c >> 6));
    tg_buf_addchar(to, (char)(0x80 | (c & 0x3f)));
  }
  else {
    if (c < 0x10000)
      tg_buf_addchar(to, (char)(0xe0 | c >> 12));
    else {
      tg_buf_addchar(to, (char)(0xf0 | c >> 18));
      tg_buf_addchar(to, (char)(0x80 | (c >> 12 & 0x3f)));
    }
    tg_buf_addchar(to, (char)(0x80 | (c >> 6 & 0x3f)));
    tg_buf_addchar(to, (char)(0x80 | (c & 0x3f)));
  }
}

static int digit (char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c = (char)(c | 0x20);
  return (c >= 'a' && c <= 'f') ? c - 'a' + 10 : -1;
}

/* Four digits; UINT32_MAX: they are none. */
static uint32_t unit (tg_JsonScan *s) {
  uint32_t c = 0;
  if (s->end - s->p < 4)
    return UINT32_MAX;
  for (int i = 0; i < 4; i++) {
    int d = digit(*s->p++);
    if (d < 0)
      return UINT32_MAX;
    c = c << 4 | (uint32_t)d;
  }
  return c;
}

/* Two units make a character beyond 16 bits; half of such a pair is none. */
static bool add_unicode (tg_JsonScan *s, tg_Buf *to) {
  uint32_t c = unit(s);
  if (c == UINT32_MAX)
    return tg_jsonscan_fail(s, "four hexadecimal digits");
  if (c >= 0xd800 && c < 0xdc00 && s->end - s->p >= 6 && s->p[0] == '\\'
      && s->p[1] == 'u') {
    const char *before = s->p;
    s->p += 2;
    uint32_t low = unit(s);
    if (low >= 0xdc00 && low < 0xe000)
      c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    else
      s->p = before;
  }
  add_code(to, (c >= 0xd800 && c < 0xe000) ? 0xfffd : c);
  return true;
}

static bool add_escape (tg_JsonScan *s, tg_Buf *to) {
  static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
  if (s->p >= s->end)
    return tg_jsonscan_fail(s, "an escape");
  char c = *s->p++;
  const char *at = (c != '\0') ? strchr(from, c) : NULL;
  if (c == 'u')
    return add_unicode(s, to);
  if (at == NULL)
    return tg_jsonscan_fail(s, "an escape");
  tg_buf_addchar(to, into[at - from]);
  return true;
}

bool tg_jsonscan_string (tg_JsonScan *s, tg_Buf *to) {
  tg_buf_clear(to);
  if (!tg_jsonscan_expect(s, '"'))
    return false;
  for (;;) {
    const char *p = s->p;
    while (p < s->end && *p != '"' && *p != '\\')
      p++;
    tg_buf_add(to, s->p, (size_t)(p - s->p));
    s->p = p;
    if (p >= s->end)
      return tg_jsonscan_fail(s, "the end of a string");
    s->p++;
    if (*p == '"')
      return true;
    if (!add_escape(s, to))
      return false;
  }
}

/* ---- numbers ---- */

bool tg_jsonscan_unsigned (tg_JsonScan *s, uint64_t *n) {
  uint64_t v = 0;
  if (s->p < s->end && (*s->p < '0' || *s->p > '9'))
    blanks(s);
  const char *p = s->p;
  while (p < s->end && *p >= '0' && *p <= '9') {
    if (v > (UINT64_MAX - 9) / 10)
      return tg_jsonscan_fail(s, "a smaller number");
    v = v * 10 + (uint64_t)(*p++ - '0');
  }
  if (p == s->p)
    return tg_jsonscan_fail(s, "a number without sign");
  s->p = p;
  *n = v;
  return true;
}

#define DIGITS 19       /* of which none is too large... */
#define ROOM (DIGITS + 1)       /* ...and what is behind them */

static const char *row_number (const char *p, uint64_t *n) {
  uint64_t v = 0;
  const char *from = p;
  for (unsigned d; (d = (unsigned)*p - '0') <= 9; p++) {
    if (p - from == DIGITS)
      return from;
    v = v * 10 + d;
  }
  *n = v;
  return p;
}

bool tg_jsonscan_row (tg_JsonScan *s, uint64_t *list, uint32_t n) {
  const char *p = s->p;
  if ((size_t)(s->end - p) < (size_t)n * ROOM)
    return false;
  for (uint32_t i = 0; i < n; i++) {
    if (i > 0 && *p++ != ',')
      return false;
    const char *behind = row_number(p, &list[i]);
    if (behind == p)
      return false;
    p = behind;
  }
  s->p = p;
  return true;
}

/* ---- any value ---- */

static bool skip_string (tg_JsonScan *s) {
  while (s->p < s->end && *s->p != '"')
    s->p += (*s->p == '\\' && s->end - s->p > 1) ? 2 : 1;
  if (s->p >= s->end)
    return tg_jsonscan_fail(s, "the end of a string");
  s->p++;
  return true;
}

/* Words and numbers are passed by their characters; brackets must match in
   number alone. */
bool tg_jsonscan_skip (tg_JsonScan *s) {
  int depth = 0;
  bool any = false;
  blanks(s);
  while (s->p < s->end) {
    char c = *s->p;
    if (depth == 0 && any && (c == ',' || c == '}' || c == ']'))
      return true;
    s->p++;
    any = true;
    if (c == '"' && !skip_string(s))
      return false;
    if (c == '{' || c == '[')
      depth++;
    else if (c == '}' || c == ']')
      depth--;
    if (depth > DEPTH || depth < 0)
      return tg_jsonscan_fail(s, "a value");
  }
  return tg_jsonscan_fail(s, "a value");
}
