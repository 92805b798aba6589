/*
** history.c - see history.h. For trace/historyobject.c, turn by turn.
*/
#include "replay/history.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

bool tg_history_begin (tg_History *h, const tg_Replay *r, tg_Wished wished,
                       bool only_changes) {
  h->reader = tg_replay_reader(r);
  h->stop = r->stop;
  h->latest = TG_NO_EVENT;
  h->wished = wished;
  h->only_changes = only_changes;
  h->types = r->selection.types;
  h->last_told = TG_SIGHTING_NONE;
  return h->reader != NULL;
}

void tg_history_free (tg_History *h) {
  tg_reader_free(h->reader);
  tg_free(h->list);
  tg_free(h->tables);
  tg_intmap_free(&h->places);
  tg_tablecontents_free(&h->now);
  tg_tablecontents_free(&h->then);
  tg_tablesroom_free(&h->room);
  memset(h, 0, sizeof *h);
}

static void fail (tg_History *h, tg_Status status) {
  h->status = status;
  h->over = true;
}

/*
** {==================================================================
** Sightings
** ===================================================================
*/

/* Its place in the list; TG_SIGHTING_NONE if it is not kept. */
static uint32_t keep (tg_History *h, const tg_Sighting *s) {
  if (h->count == TG_SIGHTINGS_MOST) {
    h->unkept++;
    return TG_SIGHTING_NONE;
  }
  if (!tg_grow(&h->list, &h->capacity, h->count + 1, sizeof *h->list)) {
    fail(h, TG_ERR_MEMORY);
    return TG_SIGHTING_NONE;
  }
  h->list[h->count] = *s;
  return h->count++;
}

/* The contents of this sighting are now those to compare with. */
static void remember (tg_History *h, const tg_Sighting *s, uint32_t place) {
  tg_TableContents spare = h->then;
  h->then = h->now;
  h->now = spare;
  h->last = *s;
  h->last_told = place;
  h->any = true;
}

/* Of one that has changed the one before is kept as well: it says what there
   was. */
static void add_sighting (tg_History *h, tg_Sighting *s) {
  uint32_t place = TG_SIGHTING_NONE;
  s->changed = s->told && h->any && tg_tablecontents_differ(&h->then, &h->now);
  if (s->changed && h->last_told == TG_SIGHTING_NONE)
    h->last_told = keep(h, &h->last);
  s->before = h->last_told;
  if (s->changed || !h->only_changes)
    place = keep(h, s);
  if (s->told)
    remember(h, s, place);
}

static void look (tg_History *h, const tg_Packet *p, tg_Slice values,
                  bool locals) {
  tg_Told told = tg_tablecontents_read(&h->now, &h->room, values, h->wished);
  if (told == TG_TOLD_FAILED) {
    fail(h, TG_ERR_MEMORY);
    return;
  }
  if (told == TG_TOLD_NOT)
    return;
  tg_Sighting s = {
    .number = h->number, .function = locals ? p->locals_of : p->function,
    .at = locals ? p->locals_at : tg_reader_latest(h->reader),
    .why = (uint8_t)p->why, .locals = locals, .told = told == TG_TOLD_FIELDS
  };
  add_sighting(h, &s);
}

/* }================================================================== */

/*
** {==================================================================
** All tables
** ===================================================================
*/

/* The table's entry; NULL without memory. */
static tg_TableCount *count_of (tg_History *h, uint32_t number) {
  uint32_t place = tg_intmap_find(&h->places, number);
  if (place != TG_INTMAP_NONE)
    return &h->tables[place];
  if (!tg_grow(&h->tables, &h->ctables, h->ntables + 1, sizeof *h->tables)
      || !tg_intmap_set(&h->places, number, h->ntables))
    return NULL;
  tg_TableCount *t = &h->tables[h->ntables++];
  *t = (tg_TableCount){.number = number, .first = h->number};
  return t;
}

static void count_tables (tg_History *h, tg_Slice values) {
  bool ok = tg_tablecontents_tables(&h->room, values);
  for (uint32_t id = 0; ok && id < h->room.count; id++) {
    uint32_t number = h->room.objects[id].number;
    tg_TableCount *t = number != 0 ? count_of(h, number) : NULL;
    ok = number == 0 || t != NULL;
    if (t != NULL)
      t->lists++;
  }
  if (!ok)
    fail(h, TG_ERR_MEMORY);
}

/* }================================================================== */

static void see (tg_History *h, const tg_Packet *p, tg_Slice values,
                 bool locals) {
  if (h->wished.table == 0)
    count_tables(h, values);
  else
    look(h, p, values, locals);
}

static bool is_shown (const tg_History *h, tg_Why why) {
  switch (why) {
    case TG_WHY_ENTER: return (h->types & TG_TYPE_ARGUMENTS) != 0;
    case TG_WHY_RETURN: return (h->types & TG_TYPE_RETURN) != 0;
    case TG_WHY_EXCEPTION: return (h->types & TG_TYPE_THROW) != 0;
    case TG_WHY_YIELD: return (h->types & TG_TYPE_YIELD) != 0;
    case TG_WHY_TERMINATED: case TG_WHY_MARK: case TG_WHY_TICK: default:
      return false;
  }
}

/* A throw has the same values for each frame that it closes. What a yield has
   from the call of coroutine.yield was seen there. */
static void take (tg_History *h, const tg_Packet *p) {
  tg_Pos at = tg_reader_latest(h->reader);
  bool again = at == h->latest && p->why != TG_WHY_ENTER;
  if (p->locals.data != NULL && (h->types & TG_TYPE_LOCALS) != 0)
    see(h, p, p->locals, true);
  if (p->values.data != NULL && !again && is_shown(h, p->why)
      && tg_reader_lasts(h->reader, p->values))
    see(h, p, p->values, false);
  h->latest = at;
}

bool tg_history_turn (tg_History *h, uint64_t budget) {
  tg_Packet p;
  for (; budget > 0 && !h->over; budget--) {
    if (!tg_reader_next(h->reader, h->stop, &p)) {
      h->status = tg_reader_status(h->reader);
      h->over = true;
    }
    else if (!tg_packet_is_moment(&p)) {
      take(h, &p);
      h->number++;
    }
  }
  return !h->over;
}

uint64_t tg_history_moment (const tg_Sighting *s) {
  bool about_to = s->why == TG_WHY_EXCEPTION || s->why == TG_WHY_YIELD;
  return s->number + !about_to;
}
