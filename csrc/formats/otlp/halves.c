/*
** halves.c - see halves.h. For whoever posts requests, on any thread.
**
** A request is cut where it was put together (json.c, protobuf.c), so
** its spans are found and not understood:
**
**     head          span | span | span | ... | span          tail
**     resource,          ^ first         ^ middle   ^ end
**     scope
*/
#include "formats/otlp/halves.h"

#include <string.h>

#include "text/protobuf.h"

/* Where the spans of a request are. */
typedef struct Spans {
  const uint8_t *first, *end;
} Spans;

/* Behind the span at 'p'; NULL if there is none. */
typedef const uint8_t *PassSpan (const uint8_t *p, const uint8_t *end);

static void add (tg_Buf *out, const uint8_t *from, const uint8_t *to) {
  tg_buf_add(out, from, (size_t)(to - from));
}

/* How many there are, and where the second half of them begins; 0 of what is
   not spans to its end. */
static uint32_t find_middle (const Spans *s, PassSpan *pass,
                             const uint8_t **middle) {
  uint32_t count = 0;
  const uint8_t *p = s->first;
  while (p != NULL && p < s->end) {
    p = pass(p, s->end);
    count++;
  }
  if (p == NULL)
    return 0;
  *middle = s->first;
  for (uint32_t i = 0; i < count / 2; i++)
    *middle = pass(*middle, s->end);
  return count;
}

/*
** {==================================================================
** JSON
** ===================================================================
*/

#define JSON_BEFORE "\"spans\":["     /* a quote in a string has a backslash */
#define JSON_TAIL "]}]}]}\n"

/* Behind the object at 'p' and the comma behind that. */
static const uint8_t *pass_json (const uint8_t *p, const uint8_t *end) {
  uint32_t depth = 0;
  bool quoted = false;
  for (; p < end; p++) {
    if (quoted && *p == '\\')
      p++;
    else if (*p == '"')
      quoted = !quoted;
    else if (!quoted && *p == '{')
      depth++;
    else if (!quoted && *p == '}' && --depth == 0)
      return p + 1 < end && p[1] == ',' ? p + 2 : p + 1;
    if (!quoted && depth == 0)
      return NULL;
  }
  return NULL;
}

static void put_json (tg_Buf *out, const uint8_t *head, const Spans *s,
                      const uint8_t *from, const uint8_t *to) {
  add(out, head, s->first);
  add(out, from, to > from && to[-1] == ',' ? to - 1 : to);
  tg_buf_addstr(out, JSON_TAIL);
}

static bool halve_json (const uint8_t *p, size_t size, tg_OtlpHalf halves[2]) {
  const size_t before = sizeof JSON_BEFORE - 1, tail = sizeof JSON_TAIL - 1;
  const uint8_t *list = memmem(p, size, JSON_BEFORE, before), *middle;
  if (list == NULL || (size_t)(p + size - list) < before + tail
      || memcmp(p + size - tail, JSON_TAIL, tail) != 0)
    return false;
  Spans s = {list + before, p + size - tail};
  uint32_t count = find_middle(&s, pass_json, &middle);
  if (count < 2)
    return false;
  put_json(&halves[0].body, p, &s, s.first, middle);
  put_json(&halves[1].body, p, &s, middle, s.end);
  halves[0].count = count / 2;
  halves[1].count = count - count / 2;
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Protobuf
** ===================================================================
*/

enum { BYTES = 2 };           /* the only kind of field that there is here */

/* A field of bytes at '*p', which is behind it then; false if there is none. */
static bool take_field (const uint8_t **p, const uint8_t *end, uint32_t field,
                        Spans *content) {
  uint64_t size = 0;
  const uint8_t *at = *p;
  if (at == end || *at++ != (field << 3 | BYTES))
    return false;
  for (unsigned shift = 0; ; shift += 7) {
    if (at == end || shift > 56)
      return false;
    size |= (uint64_t)(*at & 0x7f) << shift;
    if ((*at++ & 0x80) == 0)
      break;
  }
  if (size > (uint64_t)(end - at))
    return false;
  *content = (Spans){at, at + size};
  *p = at + size;
  return true;
}

static const uint8_t *pass_protobuf (const uint8_t *p, const uint8_t *end) {
  Spans span;
  return take_field(&p, end, 2, &span) ? p : NULL;
}

/* 'resource' and 'scope' with their tags. Each level's length stands before
   it. */
static void put_protobuf (tg_Buf *out, const Spans *resource,
                          const Spans *scope, const uint8_t *from,
                          const uint8_t *to) {
  tg_Buf spans = {0}, both = {0};
  add(&spans, scope->first, scope->end);
  add(&spans, from, to);
  add(&both, resource->first, resource->end);
  tg_protobuf_message(&both, 2, &spans);
  tg_protobuf_message(out, 1, &both);
  tg_buf_free(&spans);
  tg_buf_free(&both);
}

/* A resource's spans have a resource and a scope's, those a scope and spans;
   each of the two may be left out if there is nothing to be said. */
static bool halve_protobuf (const uint8_t *p, size_t size,
                            tg_OtlpHalf halves[2]) {
  const uint8_t *end = p + size, *middle;
  Spans all, resource, scope, spans, unused;
  if (!take_field(&p, end, 1, &all) || p != end)
    return false;
  resource.first = p = all.first;
  take_field(&p, all.end, 1, &unused);
  resource.end = p;
  if (!take_field(&p, all.end, 2, &spans) || p != all.end)
    return false;
  scope.first = p = spans.first;
  take_field(&p, spans.end, 1, &unused);
  scope.end = spans.first = p;
  uint32_t count = find_middle(&spans, pass_protobuf, &middle);
  if (count < 2)
    return false;
  put_protobuf(&halves[0].body, &resource, &scope, spans.first, middle);
  put_protobuf(&halves[1].body, &resource, &scope, middle, spans.end);
  halves[0].count = count / 2;
  halves[1].count = count - count / 2;
  return true;
}

/* }================================================================== */

bool tg_otlp_halve (const tg_OtlpEncoding *encoding, const void *request,
                    size_t size, tg_OtlpHalf halves[2]) {
  return encoding == &tg_otlp_json ? halve_json(request, size, halves)
                                   : halve_protobuf(request, size, halves);
}

void tg_otlphalves_free (tg_OtlpHalf halves[2]) {
  tg_buf_free(&halves[0].body);
  tg_buf_free(&halves[1].body);
}
