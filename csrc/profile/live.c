/*
** live.c - see live.h. What it reads may come from a damaged file: an origin
** that is not known has nothing, and numbers are added modulo 2^64.
*/
#include "profile/live.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "stream/eventreader.h"
#include "stream/marks.h"

void tg_live_free (tg_Live *l) {
  tg_free(l->owners);
  tg_intmap_free(&l->places);
  tg_free(l->origins);
  tg_free(l->unused);
  memset(l, 0, sizeof *l);
}

tg_LiveSum tg_live_of (const tg_Live *l, uint32_t owner) {
  if (owner >= l->nowners)
    return (tg_LiveSum){.noted = 0};
  tg_LiveSum sum = l->owners[owner];
  if (sum.noted != l->moment)
    sum.peak = sum.now;         /* nothing has changed since */
  return sum;
}

uint32_t tg_live_owner (const tg_Live *l, tg_OriginId origin) {
  uint32_t place = tg_intmap_find(&l->places, origin);
  return place != TG_INTMAP_NONE ? l->origins[place].owner : TG_LIVE_NOBODY;
}

/* Nothing is known any more of what was told. */
static void forget (tg_Live *l) {
  tg_intmap_free(&l->places);
  l->count = l->nunused = 0;
  l->partial = true;
  l->highest = l->moment = 0;
  if (l->nowners > 0)
    memset(l->owners, 0, l->nowners * sizeof *l->owners);
}

/* ---- sums ---- */

/* The owner's, which is about to change. */
static tg_LiveSum *sum_of (tg_Live *l, uint32_t owner) {
  tg_assert(owner < l->nowners);
  tg_LiveSum *sum = &l->owners[owner];
  if (sum->noted != l->moment) {
    sum->peak = sum->now;
    sum->noted = l->moment;
  }
  return sum;
}

static void give (tg_Live *l, tg_LiveOrigin *o, tg_Holding h) {
  tg_holding_add(&o->has, h);
  tg_holding_add(&sum_of(l, o->owner)->now, h);
}

static uint64_t least (uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

static void take (tg_Live *l, tg_LiveOrigin *o, tg_Holding h) {
  h.blocks = least(h.blocks, o->has.blocks);
  h.bytes = least(h.bytes, o->has.bytes);
  tg_Holding *now = &sum_of(l, o->owner)->now;
  now->blocks -= h.blocks;
  now->bytes -= h.bytes;
  o->has.blocks -= h.blocks;
  o->has.bytes -= h.bytes;
}

/* ---- origins ---- */

static bool drop (tg_Live *l, tg_OriginId id) {
  uint32_t place = tg_intmap_find(&l->places, id);
  if (place == TG_INTMAP_NONE)
    return true;
  take(l, &l->origins[place], l->origins[place].has);
  tg_intmap_drop(&l->places, id);
  if (!tg_grow(&l->unused, &l->cunused, l->nunused + 1, sizeof *l->unused))
    return false;
  l->unused[l->nunused++] = place;
  return true;
}

/* False without memory. */
static bool change (tg_Live *l, const tg_OriginChange *c) {
  uint32_t place = tg_intmap_find(&l->places, c->origin);
  if (place == TG_INTMAP_NONE)
    return true;                /* from before the trace */
  if (c->last)
    return drop(l, c->origin);
  take(l, &l->origins[place], c->less);
  return true;
}

/* A place for an origin; TG_INTMAP_NONE without memory. The number may have
   been another's, of whose end nothing was told. */
static uint32_t new_place (tg_Live *l, tg_OriginId id, uint32_t owner) {
  if (!drop(l, id)
      || !tg_grow_zeroed(&l->owners, &l->nowners, owner + 1,
                         sizeof *l->owners))
    return TG_INTMAP_NONE;
  uint32_t place = l->nunused > 0 ? l->unused[--l->nunused] : l->count;
  if (!tg_grow(&l->origins, &l->capacity, place + 1, sizeof *l->origins)
      || !tg_intmap_set(&l->places, id, place))
    return TG_INTMAP_NONE;
  l->count += place == l->count;
  l->origins[place] = (tg_LiveOrigin){.owner = owner};
  return place;
}

/* ---- an event ---- */

/* The heap is at its highest now, if it was not as high before. */
static void rise (tg_Live *l, uint64_t heap) {
  if (heap <= l->highest)
    return;
  l->highest = heap;
  l->moment++;
}

/* Up to the highest moment, then the rest. False without memory. */
static bool add_all (tg_Live *l, tg_Holdings *h, const tg_Allocations *a,
                     uint32_t place) {
  tg_OriginChange c;
  tg_LiveOrigin *here = place != TG_INTMAP_NONE ? &l->origins[place] : NULL;
  uint64_t before = l->heap != 0 ? l->heap : a->heap + a->freed - a->allocated;
  uint64_t high = (before > a->heap ? before : a->heap) + a->above;
  bool known = true;
  for (uint64_t i = 0; i < h->nhigh && tg_holdings_next(h, &c) && known; i++)
    known = change(l, &c);
  if (here != NULL)
    give(l, here, h->high);
  rise(l, a->above > 0 ? high : a->heap);
  if (a->above > 0 && here != NULL) {
    take(l, here, h->high);
    give(l, here, h->now);
  }
  while (known && tg_holdings_next(h, &c))
    known = change(l, &c);
  return known;
}

bool tg_live_add (tg_Live *l, const tg_Packet *p, uint32_t owner) {
  tg_Holdings h;
  tg_Allocations a = tg_event_allocations(p->values);
  bool hidden = p->mark == TG_MARK_HELD || owner == TG_LIVE_NOBODY;
  uint32_t place = TG_INTMAP_NONE;
  if (!tg_holdings_read(&h, a.held, a.above))
    return true;
  l->told = true;
  l->every = h.every > l->every ? h.every : l->every;
  if (h.forgotten || p->lacking)
    forget(l);
  if (h.origin != 0 && hidden && !drop(l, h.origin))
    return false;
  if (h.origin != 0 && !hidden) {
    place = new_place(l, h.origin, owner);
    if (place == TG_INTMAP_NONE)
      return false;
  }
  bool ok = add_all(l, &h, &a, place);
  if (place != TG_INTMAP_NONE && h.now.blocks == 0)
    ok = drop(l, h.origin) && ok;
  l->heap = a.heap;
  return ok;
}
