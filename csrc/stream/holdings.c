/*
** holdings.c - see holdings.h. Nothing is allocated or kept; to write cannot
** fail, and what is read may be anything.
*/
#include "stream/holdings.h"

#define VAR 10u                     /* bytes of a number at most */
#define HEAD (2 + 7 * VAR)          /* all but the changes */
#define CHANGE (3 * VAR)
#define LINE (4 * VAR)
#define CHANGES_MOST (64u << 10)    /* bytes of one event */

/* For changes: as many as there are, or as may be in one event. */
static size_t changes_room (const tg_Origins *o) {
  size_t room = (size_t)tg_origins_due(o) * CHANGE;
  return room < CHANGES_MOST ? room : CHANGES_MOST;
}

size_t tg_holdings_room (const tg_Origins *o, const tg_AllocLines *lines) {
  return HEAD + VAR + lines->count * LINE + changes_room(o);
}

/* ---- writing ---- */

static uint8_t *put_holding (uint8_t *p, tg_Holding h) {
  return tg_putvar(tg_putvar(p, h.blocks), h.bytes);
}

/* Of two numbers that are near to each other a small one. */
static uint64_t zigzag (tg_OriginId from, tg_OriginId to) {
  int64_t d = (int64_t)to - (int64_t)from;
  return d < 0 ? ((uint64_t)-d << 1) - 1 : (uint64_t)d << 1;
}

static uint8_t *put_change (uint8_t *p, const tg_OriginChange *c,
                            tg_OriginId before) {
  p = tg_putvar(p, zigzag(before, c->origin));
  if (c->last)
    return tg_putvar(p, 1);
  return put_holding(p, (tg_Holding){c->less.blocks << 1, c->less.bytes});
}

/* As many changes as there is room for. */
static uint8_t *put_changes (uint8_t *p, const tg_Origins *o, uint32_t *n) {
  const uint8_t *limit = p + changes_room(o);
  tg_OriginId before = o->here;
  uint32_t i = o->first;
  for (; i < o->nchanges && limit - p >= (ptrdiff_t)CHANGE; i++) {
    p = put_change(p, &o->changes[i], before);
    before = o->changes[i].origin;
  }
  *n = i - o->first;
  return p;
}

static uint8_t *put_lines (uint8_t *p, const tg_AllocLines *lines) {
  p = tg_putvar(p, lines->count);
  for (uint32_t i = 0; i < lines->count; i++) {
    const tg_AllocLine *line = &lines->list[i];
    p = tg_putvar(tg_putvar(p, line->function), line->line);
    p = tg_putvar(tg_putvar(p, line->count), line->bytes);
  }
  return p;
}

static uint8_t *put_all (uint8_t *p, const tg_Origins *o,
                         const tg_AllocLines *lines, uint64_t above,
                         uint32_t *n) {
  if (o->every > 0)
    p = tg_putvar(p, o->every);
  if (lines->count > 0)
    p = put_lines(p, lines);
  p = tg_putvar(p, o->here);
  if (o->here != 0)
    p = put_holding(p, o->now);
  if (above > 0) {
    if (o->here != 0)
      p = put_holding(p, o->high);
    p = tg_putvar(p, o->nhigh - o->first);
  }
  return put_changes(p, o, n);
}

/* The size is most often of one byte: the rest is written behind that, and
   moves where it is of more. */
uint8_t *tg_holdings_put (uint8_t *p, const tg_Origins *o,
                          const tg_AllocLines *lines, uint64_t above,
                          uint32_t *n) {
  *p++ = (uint8_t)((o->every > 0 ? TG_HELD_SAMPLED : 0)
                   | (o->forgotten ? TG_HELD_FORGOTTEN : 0)
                   | (lines->count > 0 ? TG_HELD_LINES : 0));
  size_t size = (size_t)(put_all(p + 1, o, lines, above, n) - (p + 1));
  if (size >= 0x80)
    memmove(p + (size < 0x4000 ? 2 : 3), p + 1, size);
  return tg_putvar(p, size) + size;
}

/* ---- reading ---- */

void tg_holdings_pass (tg_ByteReader *b) {
  const uint8_t *flags = tg_take(b, 1);
  if (flags != NULL && (*flags & TG_EV_KINDMASK) != 0)
    b->missing = true;
  tg_take(b, tg_takevar(b));
}

static tg_OriginId take_id (tg_ByteReader *b) {
  uint64_t id = tg_takevar(b);
  if (id >= UINT32_MAX)
    b->missing = true;
  return (tg_OriginId)id;
}

static tg_Holding take_holding (tg_ByteReader *b) {
  tg_Holding h;
  h.blocks = tg_takevar(b);
  h.bytes = tg_takevar(b);
  return h;
}

/* How many bytes they are is not told: they are passed over one by one. */
static void take_lines (tg_ByteReader *b, tg_Holdings *h) {
  h->nlines = tg_takevar(b);
  h->lines = *b;
  for (uint64_t i = 0; i < h->nlines * 4 && !b->missing; i++)
    tg_takevar(b);
}

bool tg_holdings_read (tg_Holdings *h, tg_ByteReader b, uint64_t above) {
  const uint8_t *flags = tg_take(&b, 1);
  *h = (tg_Holdings){.nhigh = UINT64_MAX};
  if (flags == NULL)
    return false;
  h->forgotten = (*flags & TG_HELD_FORGOTTEN) != 0;
  tg_takevar(&b);                   /* the size: these are all */
  if (*flags & TG_HELD_SAMPLED)
    h->every = tg_takevar(&b);
  if (*flags & TG_HELD_LINES)
    take_lines(&b, h);
  h->origin = h->before = take_id(&b);
  if (h->origin != 0)
    h->now = h->high = take_holding(&b);
  if (above > 0) {
    if (h->origin != 0)
      h->high = take_holding(&b);
    h->nhigh = tg_takevar(&b);
  }
  h->changes = b;
  return !b.missing;
}

bool tg_holdings_line (tg_Holdings *h, tg_AllocLine *line) {
  if (h->nlines == 0)
    return false;
  h->nlines--;
  uint64_t function = tg_takevar(&h->lines), at = tg_takevar(&h->lines);
  *line = (tg_AllocLine){.function = (uint32_t)function, .line = (uint32_t)at};
  line->count = tg_takevar(&h->lines);
  line->bytes = tg_takevar(&h->lines);
  return !h->lines.missing && function <= UINT32_MAX && at <= UINT32_MAX;
}

bool tg_holdings_next (tg_Holdings *h, tg_OriginChange *c) {
  tg_ByteReader *b = &h->changes;
  if (b->missing || b->p == b->end)
    return false;
  uint64_t d = tg_takevar(b);
  int64_t id = (int64_t)h->before + (int64_t)(d >> 1 ^ (0 - (d & 1)));
  uint64_t blocks = tg_takevar(b);
  c->last = (blocks & 1) != 0;
  c->less.blocks = blocks >> 1;
  c->less.bytes = c->last ? 0 : tg_takevar(b);
  if (id <= 0 || id >= UINT32_MAX)
    b->missing = true;
  c->origin = h->before = (tg_OriginId)id;
  return !b->missing;
}
