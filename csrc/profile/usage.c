/*
** usage.c - see usage.h. Called by a profile, with its frames and with what was
** allocated between them, on the thread that reads. Numbers may come from a
** damaged file and be anything: they are added modulo 2^64, and nothing else is
** done with them.
*/
#include "profile/usage.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

void tg_usage_free (tg_Usage *u) {
  tg_free(u->rows);
  tg_free(u->nodes);
  tg_free(u->open);
  tg_live_free(&u->live);
  tg_spots_free(&u->holders);
  memset(u, 0, sizeof *u);
}

static void add (tg_Amount *to, tg_Amount amount) {
  to->count += amount.count;
  to->allocated += amount.allocated;
  to->freed += amount.freed;
}

/* What came since the sum was 'then'. */
static tg_Amount since (const tg_Usage *u, tg_Amount then) {
  return (tg_Amount){
    u->sum.count - then.count, u->sum.allocated - then.allocated,
    u->sum.freed - then.freed
  };
}

bool tg_usage_enter (tg_Usage *u, uint32_t row, uint32_t node, bool first) {
  if (!tg_grow_zeroed(&u->rows, &u->nrows, row + 1, sizeof *u->rows)
      || !tg_grow_zeroed(&u->nodes, &u->nnodes, node + 1, sizeof *u->nodes)
      || !tg_grow(&u->open, &u->copen, u->nopen + 1, sizeof *u->open))
    return false;
  if (first)
    u->rows[row].since = u->sum;
  u->open[u->nopen++] = (tg_UsageOpen){
    .row = row, .node = node, .at = u->sum, .base = u->heap, .high = u->heap
  };
  return true;
}

static void raise_peak (uint64_t *peak, uint64_t to) {
  if (to > *peak)
    *peak = to;
}

/* The most that the heap had in a call it had in those around it too: they are
   told when it is left, and not at each change. */
void tg_usage_leave (tg_Usage *u, bool last, bool own) {
  tg_assert(u->nopen > 0);
  const tg_UsageOpen *o = &u->open[--u->nopen];
  tg_UsageRow *r = &u->rows[o->row];
  if (last)
    add(&r->tally.total, since(u, r->since));
  raise_peak(&r->tally.peak, o->high - o->base);
  if (own) {
    tg_assert(o->node < u->nnodes);
    add(&u->nodes[o->node].total, since(u, o->at));
    raise_peak(&u->nodes[o->node].peak, o->high - o->base);
  }
  if (u->nopen > 0)
    raise_peak(&u->open[u->nopen - 1].high, o->high);
}

bool tg_usage_move (tg_Usage *u, uint32_t i, uint32_t node) {
  tg_assert(i < u->nopen);
  u->open[i].node = node;
  return tg_grow_zeroed(&u->nodes, &u->nnodes, node + 1, sizeof *u->nodes);
}

/* Works out the heap's size before the first event that tells it: its size now,
   less the bytes added. Frames that were open then begin from that size. */
static void find_heap (tg_Usage *u, const tg_Allocations *a) {
  u->known = true;
  u->heap = a->heap + a->freed - a->allocated;
  for (uint32_t i = 0; i < u->nopen; i++)
    u->open[i].base = u->open[i].high = u->heap;
}

/* The heap's largest size since the event before counts for the frame that
   ran. */
static void add_heap (tg_Usage *u, const tg_Allocations *a) {
  if (a->heap == 0)
    return;
  if (!u->known)
    find_heap(u, a);
  uint64_t high = (a->heap > u->heap ? a->heap : u->heap) + a->above;
  u->heap = a->heap;
  raise_peak(&u->peak, high);
  if (u->nopen > 0)
    raise_peak(&u->open[u->nopen - 1].high, high);
}

void tg_usage_add (tg_Usage *u, const tg_Allocations *a) {
  tg_Amount amount = {a->count, a->allocated, a->freed};
  add(&u->sum, amount);
  add_heap(u, a);
  if (u->nopen == 0) {
    add(&u->outside, amount);
    return;
  }
  const tg_UsageOpen *o = &u->open[u->nopen - 1];
  tg_assert(o->row < u->nrows && o->node < u->nnodes);
  add(&u->rows[o->row].tally.self, amount);
  if (o->node != 0)
    add(&u->nodes[o->node].self, amount);
}

/* ---- what is alive ---- */

bool tg_usage_hold (tg_Usage *u, const tg_Packet *packet, uint32_t line) {
  uint32_t owner = 0;
  if (u->nopen > 0) {
    const tg_UsageOpen *o = &u->open[u->nopen - 1];
    owner = o->node != 0 ? o->node : o->row + 1;
  }
  if (u->lined)
    owner = tg_spots_number(&u->holders, owner, line);
  return owner != TG_INTMAP_NONE && tg_live_add(&u->live, packet, owner);
}

static void add_live (tg_UsageTally *t, tg_LiveSum sum) {
  tg_holding_add(&t->live, sum.now);
  tg_holding_add(&t->live_total, sum.now);
  tg_holding_add(&t->high, sum.peak);
  tg_holding_add(&t->high_total, sum.peak);
}

/* Nodes get what their owners have. */
static void add_owners (tg_Usage *u) {
  uint32_t count = u->lined ? u->holders.count : u->nnodes;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t node = u->lined ? u->holders.list[i].of : i;
    if (node < u->nnodes)
      add_live(&u->nodes[node], tg_live_of(&u->live, i));
  }
}

static void add_totals (tg_UsageTally *to, const tg_UsageTally *t) {
  tg_holding_add(&to->live_total, t->live_total);
  tg_holding_add(&to->high_total, t->high_total);
}

static void add_to_row (tg_UsageTally *row, const tg_UsageTally *node,
                        bool outermost) {
  tg_holding_add(&row->live, node->live);
  tg_holding_add(&row->high, node->high);
  if (outermost)
    add_totals(row, node);
}

/* From the leaves on: a node has a smaller number than those below it. */
bool tg_usage_settle (tg_Usage *u, const tg_CallTree *tree) {
  if (!tg_grow_zeroed(&u->nodes, &u->nnodes, tree->count, sizeof *u->nodes))
    return false;
  add_owners(u);
  for (uint32_t i = tree->count; --i > 0;) {
    const tg_Node *n = &tree->nodes[i];
    tg_assert(n->parent < i);
    add_totals(&u->nodes[n->parent], &u->nodes[i]);
    if (n->row < u->nrows)
      add_to_row(&u->rows[n->row].tally, &u->nodes[i], n->outermost);
  }
  u->settled = true;
  return true;
}

/* Before that, as there is no tree: what the row's owners have. Of lines they
   are few more than rows. */
static void add_row_live (const tg_Usage *u, tg_UsageTally *t, uint32_t row) {
  if (!u->lined)
    add_live(t, tg_live_of(&u->live, row + 1));
  for (uint32_t i = 0; i < u->holders.count; i++) {
    if (u->holders.list[i].of == row + 1)
      add_live(t, tg_live_of(&u->live, i));
  }
}

tg_UsageTally tg_usage_row (const tg_Usage *u, uint32_t row) {
  tg_UsageTally t = {.peak = 0};
  if (row < u->nrows)
    t = u->rows[row].tally;
  if (!u->settled)
    add_row_live(u, &t, row);
  return t;
}

/* The root is open all the time: what is outside of all frames is its own. */
tg_UsageTally tg_usage_node (const tg_Usage *u, uint32_t node) {
  tg_UsageTally t = {.peak = 0};
  if (node < u->nnodes)
    t = u->nodes[node];
  if (node == 0) {
    t.self = u->outside;
    t.total = u->sum;
    t.peak = u->peak;
  }
  return t;
}
