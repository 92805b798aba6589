/*
** test_events.c - calls and returns that are written shorter, read back as the
** same events as those of the usual form; and bytes that are none of either.
*/
#include "base/clear.h"
#include "capture.h"
#include "stream/eventreader.h"
#include "unit.h"

#define TICKS 0x1234u

/* What both forms of an event have in common. */
typedef struct Told {
  uint32_t flags;
  uint32_t function, line, caller;
  const char *values;       /* NULL: none */
  uint32_t size;            /* of these */
  uint32_t wide;            /* bytes of the shorter form that tell it */
} Told;

static const uint8_t *put (tg_Buf *b, uint32_t v, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    tg_buf_addchar(b, (char)(v >> 8 * i));
  return (const uint8_t *)b->data;
}

static void put_numbers (tg_Buf *b, const Told *e, size_t bytes) {
  put(b, e->function, bytes);
  if (e->flags & TG_EVF_SITE)
    put(b, e->line, bytes);
  if ((e->flags & TG_EVF_SITE) && (e->flags & TG_EVF_FAR))
    put(b, e->caller, bytes);
}

static void put_long (tg_Buf *b, const Told *e, tg_Kind kind) {
  put(b, kind | e->flags | TICKS << TG_EV_DELTASHIFT, 4);
  if (kind == TG_EV_CALL)
    put_numbers(b, e, 4);
  if (e->flags & TG_EVF_VALUES) {
    put(b, e->size | (e->wide > 1 ? TG_VALUES_REFERS : 0u), 4);
    tg_buf_add(b, e->values, e->size);
  }
}

static void put_short (tg_Buf *b, const Told *e, tg_Kind kind) {
  uint8_t size[8];
  bool call = kind == TG_EV_CALL;
  uint32_t none = call && e->flags == 0 ? TG_EVF_FAR : 0u;
  tg_buf_addchar(b, (char)(e->flags | none
                           | (call ? 0u : TG_EV_RETURN | TG_EVF_SHORT)));
  put(b, TICKS, 2);
  if (call)
    put_numbers(b, e, 2);
  if (e->flags & TG_EVF_VALUES) {
    tg_buf_add(b, size, (size_t)(tg_putwide(size, e->size, e->wide) - size));
    tg_buf_add(b, e->values, e->size);
  }
}

/* Reads the event that the bytes are, and looks whether none of them is one too
   many; fewer are no event. */
static tg_Event decoded (const tg_Buf *b) {
  tg_Event e;
  tg_clear(&e, sizeof e);
  const uint8_t *p = (const uint8_t *)b->data, *origin = p;
  for (size_t n = 0; n < b->size; n++)
    UNIT_CHECK(tg_event_decode(&origin, p, n, &e) == 0);
  UNIT_CHECK(tg_event_decode(&origin, p, b->size, &e) == b->size);
  return e;
}

static bool same_values (const tg_Event *a, const tg_Event *b) {
  if (a->values.data == NULL || b->values.data == NULL)
    return a->values.data == b->values.data;
  return a->values.size == b->values.size
         && memcmp(a->values.data, b->values.data, a->values.size) == 0
         && (a->values.origin == NULL) == (b->values.origin == NULL);
}

static void compare (const Told *told, tg_Kind kind) {
  tg_Buf l = {0}, s = {0};
  put_long(&l, told, kind);
  put_short(&s, told, kind);
  tg_Event a = decoded(&l), b = decoded(&s);
  UNIT_CHECK(a.kind == kind && b.kind == kind);
  UNIT_CHECK(a.flags == b.flags && a.ticks == b.ticks && a.ticks == TICKS);
  UNIT_CHECK(a.function == b.function && a.line == b.line
             && a.caller == b.caller);
  UNIT_CHECK(same_values(&a, &b));
  UNIT_CHECK(s.size < l.size);
  tg_buf_free(&l);
  tg_buf_free(&s);
}

/* All flags that a call may have, with lists whose size takes so many bytes. */
static void calls (void) {
  for (uint32_t flags = 0; flags <= 0xf0; flags += 0x10) {
    if ((flags & TG_EVF_FAR) && !(flags & TG_EVF_SITE))
      continue;
    for (uint32_t wide = 1; wide <= 3; wide++) {
      Told e = {flags, 0xfffe, 0xffff, 0x7ffe, "\x01\xc5", 2, wide};
      compare(&e, TG_EV_CALL);
    }
  }
}

static void returns (void) {
  static const uint32_t flags[] = {0, TG_EVF_VALUES, TG_EVF_TAIL,
                                   TG_EVF_NOTHING};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    Told e = {.flags = flags[i], .values = "\x01\xc5", .size = 2, .wide = 1};
    compare(&e, TG_EV_RETURN);
  }
}

/* Zeroed memory, and a list that is longer than what is there. */
static void what_is_none (void) {
  static const uint8_t zeros[16], far[] = {0x10, 1, 0, 1, 0, 0x7f, 1, 0xc5},
    endless[] = {0x94, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                 0xff, 0xff, 0xff, 1};
  const uint8_t *origin = zeros;
  tg_Event e;
  UNIT_CHECK(tg_event_decode(&origin, zeros, sizeof zeros, &e) == 0);
  UNIT_CHECK(tg_event_decode(&origin, far, sizeof far, &e) == 0);
  UNIT_CHECK(tg_event_decode(&origin, endless, sizeof endless, &e) == 0);
}

int main (void) {
  UNIT_RUN(calls);
  UNIT_RUN(returns);
  UNIT_RUN(what_is_none);
  return UNIT_END();
}
