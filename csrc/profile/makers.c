/*
** makers.c - see makers.h.
*/
#include "profile/makers.h"

#include "profile/openframes.h"
#include "profile/profilelines.h"
#include "stream/holdings.h"
#include "stream/marks.h"

/* What a line has made is its function's, which has a frame for that. 'only':
   the packet tells of nothing else. */
static bool add_made (tg_Profile *p, const tg_Packet *k,
                      const tg_AllocLine *line, bool only) {
  tg_Packet frame = {.function = line->function, .thread = k->thread,
                     .time_ns = k->time_ns, .sampled = true};
  tg_Allocations made = {.count = line->count, .allocated = line->bytes};
  if (!tg_openframes_enter(p, &frame))
    return false;
  tg_usage_add(&p->usage, &made);
  bool ok = tg_profilelines_made(p, line)
            && (!only || tg_usage_hold(&p->usage, k, line->line));
  tg_openframes_close(p);
  return ok;
}

/* Whether it is another function's than that of the innermost frame. Of what
   is not shown nobody is told. */
static bool is_made_apart (tg_Profile *p, const tg_AllocLine *line) {
  const tg_Open *o = tg_openframes_innermost(p);
  if (line->function == 0 || line->line == 0
      || !tg_reader_shows(p->maker_reader, line->function))
    return false;
  return o == NULL
         || o->call.row != tg_funclabels_of(&p->labels, line->function);
}

/* What other functions have made is taken from the innermost frame. An event of
   a line alone counts nothing by itself: then that is taken from what will be
   added by the one that counts all (stream/holdings.h), and sums are below 0
   meanwhile, modulo 2^64. '*held': what is alive has been told, too. */
static bool add_makers (tg_Profile *p, const tg_Packet *k,
                        const tg_Allocations *a, bool *held) {
  tg_Holdings h;
  tg_AllocLine line;
  tg_Allocations taken = {.count = 0};
  *held = false;
  if (p->maker_reader == NULL || !tg_holdings_read(&h, a->held, a->above))
    return true;
  bool only = tg_holdings_only(&h, a->count, a->allocated, &line);
  while (tg_holdings_line(&h, &line)) {
    if (!is_made_apart(p, &line))
      continue;
    if (!add_made(p, k, &line, only && !*held))
      return false;
    *held = only;
    taken.count -= line.count;
    taken.allocated -= line.bytes;
  }
  tg_usage_add(&p->usage, &taken);
  return true;
}

bool tg_makers_note (tg_Profile *p, const tg_Packet *k) {
  uint32_t line = 0;
  if (!p->usage.on || !tg_mark_holds(k->mark))
    return true;
  if (k->mark == TG_MARK_ALLOCATIONS) {
    tg_Allocations a = tg_event_allocations(k->values);
    bool held;
    tg_usage_add(&p->usage, &a);
    if (!add_makers(p, k, &a, &held) || !tg_profilelines_allocated(p, k))
      return false;
    if (held)
      return true;
    line = tg_profilelines_maker(p, k);
  }
  return tg_usage_hold(&p->usage, k, line);
}
