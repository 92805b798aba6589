/*
** linememory.c - see linememory.h.
*/
#include "profile/linememory.h"

#include "base/alloc.h"
#include "stream/eventreader.h"
#include "stream/holdings.h"
#include "stream/marks.h"

/*
** {==================================================================
** Packets
** ===================================================================
*/

/* A function without a label is no other one's. */
static bool is_of (const tg_FuncLabels *labels, const tg_AllocLine *at,
                   uint32_t label) {
  return label != TG_INTMAP_NONE
         && tg_funclabels_known(labels, at->function) == label;
}

bool tg_linememory_made (tg_LineTimes *l, uint32_t of,
                         const tg_AllocLine *line) {
  tg_LineTime *to = tg_linetimes_at(l, of, line->line);
  if (to == NULL)
    return false;
  to->allocations += line->count;
  to->bytes += line->bytes;
  return true;
}

bool tg_linememory_add (tg_LineTimes *l, uint32_t of,
                        const tg_FuncLabels *labels, uint32_t label,
                        const tg_Packet *packet) {
  tg_Holdings h;
  tg_AllocLine at;
  tg_Allocations a = tg_event_allocations(packet->values);
  if (packet->mark != TG_MARK_ALLOCATIONS
      || !tg_holdings_read(&h, a.held, a.above))
    return true;
  while (tg_holdings_line(&h, &at)) {
    if (is_of(labels, &at, label) && !tg_linememory_made(l, of, &at))
      return false;
  }
  return true;
}

uint32_t tg_linememory_maker (const tg_FuncLabels *labels, uint32_t label,
                              const tg_Packet *packet) {
  tg_Holdings h;
  tg_AllocLine at;
  tg_Allocations a = tg_event_allocations(packet->values);
  bool known = packet->mark == TG_MARK_ALLOCATIONS
               && tg_holdings_read(&h, a.held, a.above)
               && tg_holdings_only(&h, a.count, a.allocated, &at)
               && is_of(labels, &at, label);
  return known ? at.line : 0;
}

bool tg_linememory_hold (tg_LineTimes *l, const tg_Spots *makers,
                         const tg_Live *live, const tg_CallTree *rows) {
  for (uint32_t i = 0; i < makers->count; i++) {
    const tg_Spot *s = &makers->list[i];
    if (s->line == 0 || (rows != NULL && s->of >= rows->count))
      continue;
    uint32_t of = rows != NULL ? rows->nodes[s->of].row : s->of;
    tg_LineTime *line = tg_linetimes_at(l, of, s->line);
    if (line == NULL)
      return false;
    tg_LiveSum sum = tg_live_of(live, i);
    tg_holding_add(&line->live, sum.now);
    tg_holding_add(&line->high, sum.peak);
  }
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Nodes that become their lines
** ===================================================================
*/

static void take_holding (tg_Holding *from, tg_Holding h) {
  from->blocks -= h.blocks;
  from->bytes -= h.bytes;
}

static void take_line (tg_UsageTally *from, const tg_LineTime *line) {
  from->self.count -= line->allocations;
  from->self.allocated -= line->bytes;
  take_holding(&from->live, line->live);
  take_holding(&from->high, line->high);
}

static bool has_rest (const tg_UsageTally *t) {
  return (t->self.count | t->self.allocated | t->self.freed | t->live.blocks
          | t->live.bytes | t->high.blocks | t->high.bytes) != 0;
}

bool tg_linememory_divide (tg_Usage *u, tg_LineTimes *l) {
  for (uint32_t i = 0; i < l->spots.count; i++) {
    uint32_t of = l->spots.list[i].of;
    if (l->spots.list[i].line != 0 && of < u->nnodes)
      take_line(&u->nodes[of], &l->list[i]);
  }
  for (uint32_t i = 1; i < u->nnodes; i++) {
    if (has_rest(&u->nodes[i]) && tg_linetimes_at(l, i, 0) == NULL)
      return false;
  }
  return true;
}

static void add_tally (tg_UsageTally *to, const tg_UsageTally *from) {
  to->self.count += from->self.count;
  to->self.allocated += from->self.allocated;
  to->self.freed += from->self.freed;
  tg_holding_add(&to->live, from->live);
  tg_holding_add(&to->high, from->high);
}

static tg_UsageTally of_line (const tg_LineTime *line) {
  return (tg_UsageTally){
    .self = {.count = line->allocations, .allocated = line->bytes},
    .live = line->live, .high = line->high
  };
}

/* What the lines of the tree's nodes have. */
static void place_lines (const tg_Usage *u, const tg_LineTimes *l,
                         const tg_LineTree *t, tg_UsageTally *nodes) {
  for (uint32_t i = 0; i < l->spots.count; i++) {
    const tg_Spot *s = &l->spots.list[i];
    tg_UsageTally tally = of_line(&l->list[i]);
    if (s->line == 0 && s->of < u->nnodes)
      tally = u->nodes[s->of];
    add_tally(&nodes[t->places[i]], &tally);
  }
}

static void add_total (tg_UsageTally *to, const tg_UsageTally *from) {
  to->total.count += from->total.count;
  to->total.allocated += from->total.allocated;
  to->total.freed += from->total.freed;
  tg_holding_add(&to->live_total, from->live_total);
  tg_holding_add(&to->high_total, from->high_total);
}

/* A node has a smaller number than those below it. */
static void add_totals (const tg_CallTree *t, tg_UsageTally *nodes) {
  for (uint32_t i = t->count; i-- > 0;) {
    tg_UsageTally own = {.total = nodes[i].self, .live_total = nodes[i].live,
                         .high_total = nodes[i].high};
    add_total(&nodes[i], &own);
    if (i > 0)
      add_total(&nodes[t->nodes[i].parent], &nodes[i]);
  }
}

bool tg_linememory_place (tg_Usage *u, const tg_LineTimes *l,
                          const tg_LineTree *t) {
  tg_UsageTally *nodes = tg_calloc(t->tree.count, sizeof *nodes);
  if (nodes == NULL)
    return false;
  if (u->nnodes > 0)
    add_tally(&nodes[0], &u->nodes[0]);
  place_lines(u, l, t, nodes);
  add_totals(&t->tree, nodes);
  tg_free(u->nodes);
  u->nodes = nodes;
  u->nnodes = t->tree.count;
  return true;
}

/* }================================================================== */
