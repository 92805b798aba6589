/*
** traceparent.c - see traceparent.h. Any thread; nothing is kept.
**
** A later version of the header may have more behind the flags, which W3C has a
** reader pass over. Nobody has made one, and what a program hands us as a
** header may be anything: so it is this version or none.
*/
#include "text/traceparent.h"

#include <string.h>

/* False where one is no digit, or an upper-case one. */
static bool read_hex (const char *s, int digits, uint64_t *out) {
  uint64_t v = 0;
  for (int i = 0; i < digits; i++) {
    bool digit = s[i] >= '0' && s[i] <= '9';
    if (!digit && (s[i] < 'a' || s[i] > 'f'))
      return false;
    v = v << 4 | (uint64_t)(digit ? s[i] - '0' : s[i] - 'a' + 10);
  }
  *out = v;
  return true;
}

bool tg_traceparent_read (const char *s, size_t size, tg_SpanContext *out) {
  tg_SpanContext c;
  uint64_t flags;
  if (size != TG_TRACEPARENT_SIZE || memcmp(s, "00-", 3) != 0 || s[35] != '-'
      || s[52] != '-')
    return false;
  if (!read_hex(s + 3, 16, &c.high) || !read_hex(s + 19, 16, &c.low)
      || !read_hex(s + 36, 16, &c.id) || !read_hex(s + 53, 2, &flags))
    return false;
  if ((c.high | c.low) == 0 || c.id == 0)
    return false;
  *out = c;
  return true;
}
