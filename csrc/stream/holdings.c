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
static uint8_t *put_changes (uint8_t *p, const tg_Origins *o,
                             tg_OriginId before, uint32_t *n) {
  const uint8_t *limit = p + changes_room(o);
  uint32_t i = o->first;
  for (; i < o->nchanges && limit - p >= (ptrdiff_t)CHANGE; i++) {
    p = put_change(p, &o->changes[i], before);
    before = o->changes[i].origin;
  }
  *n = i - o->first;
  return p;
}

static uint8_t *put_line (uint8_t *p, const tg_AllocLine *line) {
  p = tg_putvar(tg_putvar(p, line->function), line->line);
  return tg_putvar(tg_putvar(p, line->count), line->bytes);
}

static bool has_part (const tg_Origins *o, const tg_AllocLine *line) {
  for (uint32_t i = 0; i < o->nparts; i++) {
    if (o->parts[i].place == line->place)
      return true;
  }
  return false;
}

/* Lines that have a part of their own are told of with it; a part that is alone
   is told of here. */
static bool is_told (const tg_Origins *o, const tg_AllocLine *line) {
  return o->nparts <= 1 || !has_part(o, line);
}

static uint32_t count_lines (const tg_Origins *o, const tg_AllocLines *lines) {
  uint32_t n = 0;
  if (o->nparts <= 1)
    return lines->count;
  for (uint32_t i = 0; i < lines->count; i++)
    n += is_told(o, &lines->list[i]);
  return n;
}

static uint8_t *put_lines (uint8_t *p, const tg_Origins *o,
                           const tg_AllocLines *lines, uint32_t n) {
  p = tg_putvar(p, n);
  for (uint32_t i = 0; i < lines->count; i++) {
    if (is_told(o, &lines->list[i]))
      p = put_line(p, &lines->list[i]);
  }
  return p;
}

static uint8_t *put_origin (uint8_t *p, const tg_OriginPart *part,
                            uint32_t nhigh, uint64_t above) {
  bool made = part != NULL && part->origin != 0;
  p = tg_putvar(p, made ? part->origin : 0);
  if (made)
    p = put_holding(p, part->now);
  if (above == 0)
    return p;
  if (made)
    p = put_holding(p, part->high);
  return tg_putvar(p, nhigh);
}

/* The size of what was written behind a byte of room for it, which moves where
   the size takes more. */
static uint8_t *put_size (uint8_t *p, size_t size) {
  if (size >= 0x80)
    memmove(p + (size < 0x4000 ? 2 : 3), p + 1, size);
  return tg_putvar(p, size) + size;
}

static uint8_t flags_of (const tg_Origins *o, bool lines) {
  return (uint8_t)((o->every > 0 ? TG_HELD_SAMPLED : 0)
                   | (o->forgotten ? TG_HELD_FORGOTTEN : 0)
                   | (lines ? TG_HELD_LINES : 0));
}

uint8_t *tg_holdings_put (uint8_t *p, const tg_Origins *o,
                          const tg_AllocLines *lines, uint64_t above,
                          uint32_t *n) {
  const tg_OriginPart *part = tg_holdings_main(o);
  uint32_t nlines = count_lines(o, lines);
  *p++ = flags_of(o, nlines > 0);
  uint8_t *at = p + 1;
  if (o->every > 0)
    at = tg_putvar(at, o->every);
  if (nlines > 0)
    at = put_lines(at, o, lines, nlines);
  at = put_origin(at, part, o->nhigh - o->first, above);
  at = put_changes(at, o, part != NULL ? part->origin : 0, n);
  return put_size(p, (size_t)(at - (p + 1)));
}

uint8_t *tg_holdings_put_part (uint8_t *p, const tg_Origins *o,
                               const tg_OriginPart *part, tg_Holding has,
                               const tg_AllocLine *line) {
  *p++ = flags_of(o, true);
  uint8_t *at = p + 1;
  if (o->every > 0)
    at = tg_putvar(at, o->every);
  at = put_line(tg_putvar(at, 1), line);
  at = tg_putvar(at, part->origin);
  if (part->origin != 0)
    at = put_holding(at, has);
  return put_size(p, (size_t)(at - (p + 1)));
}

const tg_OriginPart *tg_holdings_main (const tg_Origins *o) {
  for (uint32_t i = 0; i < o->nparts; i++) {
    if (o->nparts == 1 || o->parts[i].place == 0)
      return &o->parts[i];
  }
  return NULL;
}

static bool is_apart (const tg_Origins *o, uint32_t i) {
  return o->nparts > 1 && o->parts[i].place != 0;
}

bool tg_holdings_before (const tg_Origins *o, uint32_t i, uint64_t above,
                         tg_Holding *has) {
  *has = above > 0 ? o->parts[i].high : o->parts[i].now;
  return is_apart(o, i);
}

bool tg_holdings_behind (const tg_Origins *o, uint32_t i, uint64_t above,
                         tg_Holding *has) {
  const tg_OriginPart *part = &o->parts[i];
  *has = part->now;
  return above > 0 && is_apart(o, i) && (has->blocks != part->high.blocks
                                         || has->bytes != part->high.bytes);
}

tg_AllocLine tg_holdings_line_of (const tg_OriginPart *part,
                                  const tg_AllocLines *lines) {
  tg_AllocLine sum = {.line = 0};
  for (uint32_t i = 0; i < lines->count; i++) {
    const tg_AllocLine *line = &lines->list[i];
    if (line->place != part->place)
      continue;
    sum.function = line->function;
    sum.line = line->line;
    sum.count += line->count;
    sum.bytes += line->bytes;
  }
  return sum;
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

/* An event of a line alone has numbers that are 0. */
bool tg_holdings_only (const tg_Holdings *h, uint64_t count, uint64_t bytes,
                       tg_AllocLine *line) {
  tg_Holdings copy = *h;
  tg_AllocLine next;
  if (!tg_holdings_line(&copy, line))
    return false;
  uint64_t sum = line->count, size = line->bytes;
  for (; tg_holdings_line(&copy, &next); size += next.bytes) {
    if (next.function != line->function || next.line != line->line)
      return false;
    sum += next.count;
  }
  return (count == 0 && bytes == 0) || (count == sum && bytes == size);
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
