/*
** origins.c - see origins.h. Called by a meter in the place of Lua's allocator:
** nothing here fails but by forgetting, or touches errno (the C library's
** functions for memory set it where they fail).
*/
#include "base/origins.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/grow.h"

/* ---- chance ---- */

/* Above 0 and up to 1; xorshift64*. */
static double chance (tg_Origins *o) {
  uint64_t x = o->seed;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  o->seed = x;
  x *= UINT64_C(0x2545f4914f6cdd1d);
  return ((double)(x >> 11) + 1) * 0x1p-53;
}

/* How many bytes there are to the next point. */
static double draw (tg_Origins *o) {
  return -log(chance(o)) * (double)o->every;
}

void tg_origins_sample (tg_Origins *o, uint64_t every) {
  o->every = every;
  if (o->seed == 0)
    o->seed = tg_clock_ticks() | 1;
  o->until = every > 0 ? draw(o) : 0;
}

uint32_t tg_origins_weigh (tg_Origins *o, size_t size) {
  if (tg_likely(o->every == 0))
    return 1;
  if ((double)size < o->until) {
    o->until -= (double)size;
    return 0;
  }
  o->until = draw(o);
  double like_it = -1 / expm1(-(double)size / (double)o->every);
  return (uint32_t)(like_it + 1 - chance(o));
}

/* ---- begin and end ---- */

void tg_origins_begin (tg_Origins *o, uint64_t every) {
  tg_assert(!o->on && o->table.count == 0);
  o->on = true;
  o->forgotten = false;
  tg_origins_sample(o, every);
}

void tg_origins_end (tg_Origins *o) {
  uint64_t seed = o->seed;
  tg_addresstable_free(&o->table);
  tg_free(o->changes);
  tg_free(o->entries);
  memset(o, 0, sizeof *o);
  o->seed = seed;
}

/* Better nothing than numbers that are wrong. */
static TG_NOINLINE void forget (tg_Origins *o) {
  uint64_t every = o->every;
  tg_origins_end(o);
  tg_origins_sample(o, every);
  o->forgotten = true;
}

/* ---- numbers ---- */

/* 0 without memory. */
static tg_OriginId take_number (tg_Origins *o) {
  int error = errno;
  tg_OriginId id = o->unused;
  if (id != 0) {
    o->unused = o->entries[id];
    o->entries[id] = 0;
    return id;
  }
  id = o->norigins + 1;
  bool made = tg_grow_zeroed(&o->entries, &o->centries, id + 1,
                             sizeof *o->entries);
  errno = error;
  if (!made)
    return 0;
  o->norigins = id;
  return id;
}

static void give_number_back (tg_Origins *o, tg_OriginId id) {
  o->entries[id] = o->unused;
  o->unused = id;
}

/* ---- changes ---- */

static int compare_changes (const void *x, const void *y) {
  const tg_OriginChange *a = x, *b = y;
  return (a->origin > b->origin) - (a->origin < b->origin);
}

static void add_change (tg_OriginChange *to, const tg_OriginChange *c) {
  to->less.blocks += c->less.blocks;
  to->less.bytes += c->less.bytes;
  to->last = to->last || c->last;
}

/* Those from 'from' on, 'n' of them, become one for each origin, at 'to'.
   Returns how many. */
static uint32_t merge (tg_OriginChange *to, tg_OriginChange *from, uint32_t n) {
  uint32_t count = 0;
  qsort(from, n, sizeof *from, compare_changes);
  for (uint32_t i = 0; i < n; i++) {
    if (count > 0 && to[count - 1].origin == from[i].origin)
      add_change(&to[count - 1], &from[i]);
    else
      to[count++] = from[i];
  }
  return count;
}

/* Those that have been told make room. */
static void drop_told (tg_Origins *o) {
  if (o->first == 0)
    return;
  o->nchanges -= o->first;
  o->nhigh -= o->first;
  memmove(o->changes, o->changes + o->first,
          o->nchanges * sizeof *o->changes);
  o->first = 0;
}

#define FEW_CHANGES 1024u

/* Where many have come between two events, those of one origin become one: so
   there are no more than twice as many as origins. */
static TG_NOINLINE bool make_room (tg_Origins *o) {
  int error = errno;
  drop_told(o);
  if (o->nchanges >= FEW_CHANGES) {
    uint32_t before = merge(o->changes, o->changes, o->nhigh);
    uint32_t after = merge(o->changes + before, o->changes + o->nhigh,
                           o->nchanges - o->nhigh);
    o->nhigh = before;
    o->nchanges = before + after;
  }
  bool made = o->nchanges < o->cchanges / 2
              || tg_grow_more(&o->changes, &o->cchanges, o->cchanges + 1,
                              sizeof *o->changes);
  errno = error;
  return made;
}

/* A collector frees in the order of the objects' age: so the one before is
   often of the same origin. */
static void note_change (tg_Origins *o, const tg_OriginChange *c) {
  if (o->nchanges > o->nhigh
      && o->changes[o->nchanges - 1].origin == c->origin)
    add_change(&o->changes[o->nchanges - 1], c);
  else if (tg_likely(o->nchanges < o->cchanges) || make_room(o))
    o->changes[o->nchanges++] = *c;
  else
    forget(o);
}

/* The part that is this origin, or NULL. */
static tg_OriginPart *part_of (tg_Origins *o, tg_OriginId origin) {
  for (uint32_t i = 0; i < o->nparts; i++) {
    if (o->parts[i].origin == origin)
      return &o->parts[i];
  }
  return NULL;
}

/* The part is about to change, or to be told. */
static void note_high (const tg_Origins *o, tg_OriginPart *part) {
  if (part->rise == o->rises)
    return;
  part->high = part->now;
  part->rise = o->rises;
}

void tg_origins_settle (tg_Origins *o) {
  for (uint32_t i = 0; i < o->nparts; i++)
    note_high(o, &o->parts[i]);
}

/* 'gone': a block, else a part of one. */
static void take_from (tg_Origins *o, tg_OriginId origin, bool gone,
                       tg_Holding less) {
  tg_OriginPart *part = part_of(o, origin);
  o->entries[origin] -= gone;
  if (part != NULL) {
    note_high(o, part);
    part->now.blocks -= less.blocks;
    part->now.bytes -= less.bytes;
    return;
  }
  tg_OriginChange c = {origin, o->entries[origin] == 0, less};
  note_change(o, &c);
}

/* ---- blocks ---- */

/* A block that is there already went while others were the allocator: then
   nothing is known any more. False if the block is nobody's. */
static bool note_block (tg_Origins *o, tg_AddressEntry entry) {
  tg_AddressEntry *place = tg_addresstable_reach(&o->table,
                                             (const void *)entry.address);
  if (tg_unlikely(place == NULL))
    return false;
  if (tg_unlikely(place->address != 0)) {
    forget(o);
    return false;
  }
  tg_addresstable_fill(&o->table, place, entry);
  return true;
}

static tg_OriginPart *find_part (tg_Origins *o, uint32_t place) {
  for (uint32_t i = 0; i < o->nparts; i++) {
    if (o->parts[i].place == place)
      return &o->parts[i];
  }
  return NULL;
}

/* The part of that place. The last one is for what has none. */
static tg_OriginPart *part_at (tg_Origins *o, uint32_t place) {
  tg_OriginPart *found = find_part(o, place);
  if (found == NULL && o->nparts >= TG_ORIGINPARTS_MOST - 1) {
    place = 0;
    found = find_part(o, place);
  }
  if (found != NULL)
    return found;
  tg_OriginPart *part = &o->parts[o->nparts++];
  *part = (tg_OriginPart){.place = place, .rise = o->rises};
  return part;
}

void tg_origins_made (tg_Origins *o, const void *block, size_t size,
                      uint32_t stands_for, uint32_t place) {
  if (!o->on || stands_for == 0)
    return;
  tg_OriginPart *part = part_at(o, place);
  if (part->origin == 0)
    part->origin = take_number(o);
  if (part->origin == 0
      || !note_block(o, (tg_AddressEntry){(uintptr_t)block, part->origin,
                                          stands_for}))
    return;
  o->entries[part->origin]++;
  note_high(o, part);
  part->now.blocks += stands_for;
  part->now.bytes += stands_for * (uint64_t)size;
}

uint32_t tg_origins_freed (tg_Origins *o, const void *block, size_t size) {
  tg_AddressEntry *e = tg_addresstable_find(&o->table, block);
  if (e == NULL)
    return 0;
  tg_AddressEntry was = *e;
  tg_addresstable_drop(&o->table, e);
  tg_Holding less = {was.stands_for, was.stands_for * (uint64_t)size};
  take_from(o, was.origin, true, less);
  return was.stands_for;
}

uint32_t tg_origins_shrunk (tg_Origins *o, const void *block, const void *now,
                            size_t by) {
  tg_AddressEntry *e = tg_addresstable_find(&o->table, block);
  if (e == NULL)
    return 0;
  tg_AddressEntry entry = *e;
  if (now != block) {
    tg_addresstable_drop(&o->table, e);
    entry.address = (uintptr_t)now;
    note_block(o, entry);       /* there is room: one has just gone */
  }
  if (o->on)
    take_from(o, entry.origin, false,
              (tg_Holding){0, entry.stands_for * (uint64_t)by});
  return entry.stands_for;
}

void tg_origins_told (tg_Origins *o, uint32_t n) {
  tg_assert(n <= tg_origins_due(o));
  for (uint32_t i = 0; i < o->nparts; i++) {
    tg_OriginId id = o->parts[i].origin;
    if (id != 0 && o->entries[id] == 0)
      give_number_back(o, id);
  }
  o->nparts = 0;
  for (uint32_t end = o->first + n; o->first < end; o->first++) {
    if (o->changes[o->first].last)
      give_number_back(o, o->changes[o->first].origin);
  }
  if (o->first == o->nchanges)
    o->first = o->nchanges = 0;
  o->nhigh = o->first;
}
