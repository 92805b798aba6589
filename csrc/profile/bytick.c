/*
** bytick.c - see bytick.h. Called by profiles and exports, on the thread that
** reads. Children come after their parents in a tree's array, so one pass
** forward or backward is enough.
*/
#include "profile/bytick.h"

#include <string.h>

#include "base/alloc.h"

/*
** {==================================================================
** While packets come
** ===================================================================
*/

static void note_gap (tg_ByTick *b, uint32_t node, uint64_t ns) {
  b->passed_ns += ns;
  uint32_t i = TG_BYTICK_GAPS;
  while (i > 0 && b->gaps[i - 1].ns < ns)
    i--;
  if (i == TG_BYTICK_GAPS)
    return;
  memmove(&b->gaps[i + 1], &b->gaps[i],
          (TG_BYTICK_GAPS - 1 - i) * sizeof *b->gaps);
  b->gaps[i] = (tg_Gap){node, ns};
}

void tg_bytick_pass (tg_ByTick *b, tg_CallTree *t, uint32_t node,
                     uint64_t ns) {
  if (b->ticks == TG_TICKS_ONLY)
    return;
  t->nodes[node].tally.self_ns += ns;
  if (b->ticks == TG_TICKS_BESIDE)
    note_gap(b, node, ns);
}

/* The time that was no processor time goes to the longest gaps first: waits are
   long, and work between two events is short. */
static void add_idle (const tg_ByTick *b, tg_CallTree *t, uint64_t idle_ns) {
  for (uint32_t i = 0; i < TG_BYTICK_GAPS && idle_ns > 0; i++) {
    uint64_t ns = b->gaps[i].ns < idle_ns ? b->gaps[i].ns : idle_ns;
    t->nodes[b->gaps[i].node].idle_ns += ns;
    idle_ns -= ns;
  }
}

void tg_bytick_tick (tg_ByTick *b, tg_CallTree *t, uint32_t node,
                     uint64_t ns) {
  tg_ticked_add(&t->nodes[node].ticked, ns);
  if (b->ticks == TG_TICKS_ONLY)
    t->nodes[node].tally.self_ns += ns;
  else if (b->passed_ns > ns)
    add_idle(b, t, b->passed_ns - ns);
  *b = (tg_ByTick){.ticks = b->ticks};
}

/* }================================================================== */

/*
** {==================================================================
** The end
** ===================================================================
*/

/* A called node with the sampled ones below it, up to the next called ones; or
   what is outside of all calls. Kept by the number of its outermost node. */
typedef struct Group {
  uint64_t passed_ns;
  uint64_t idle_ns;
  uint64_t busy_ns;           /* to be divided */
  uint64_t ticked_ns;         /* of all ticks */
  bool mixed;                 /* ticks have met more than its first node */
} Group;

/* As if drawn from all ticks: the more of them are elsewhere, the less sure
   is the part. */
double tg_bytick_variance (const tg_Ticked *part, uint64_t whole_ns) {
  double rest = whole_ns > part->ns
                ? 1 - (double)part->ns / (double)whole_ns : 0;
  return part->squares * rest;
}

static uint64_t all_ticked (const tg_CallTree *t) {
  uint64_t ns = 0;
  for (uint32_t i = 0; i < t->count; i++)
    ns += t->nodes[i].ticked.ns;
  return ns;
}

static uint32_t first_of (const tg_CallTree *t, const uint32_t *of,
                          uint32_t i) {
  return i == 0 || t->nodes[i].traced ? i : of[t->nodes[i].parent];
}

static void add_members (const tg_CallTree *t, uint32_t *of, Group *groups) {
  for (uint32_t i = 0; i < t->count; i++) {
    const tg_Node *n = &t->nodes[i];
    of[i] = first_of(t, of, i);
    Group *g = &groups[of[i]];
    g->passed_ns += n->tally.self_ns;
    g->idle_ns += n->idle_ns;
    g->ticked_ns += n->ticked.ns;
    g->mixed |= i != of[i] && n->ticked.count > 0;
  }
}

/* Outside of all calls ticks say how long it ran; in a call the clock does, and
   ticks only how long it waited. */
static void set_busy (Group *g, bool outside) {
  uint64_t idle_ns = g->idle_ns < g->passed_ns ? g->idle_ns : g->passed_ns;
  if (idle_ns < g->passed_ns / TG_BYTICK_IDLE)
    idle_ns = 0;
  if (outside)
    g->busy_ns = g->ticked_ns < g->passed_ns ? g->ticked_ns : g->passed_ns;
  else
    g->busy_ns = g->passed_ns - idle_ns;
  g->idle_ns = g->passed_ns - g->busy_ns;
}

/* A node's part of its group's time. What is divided is sure in a call; outside
   of all calls it is what chance has given to that of 'all_ns'. */
static void divide (tg_Node *n, const Group *g, uint64_t all_ns) {
  double scale = g->ticked_ns > 0
                 ? (double)g->busy_ns / (double)g->ticked_ns : 0;
  n->tally.self_ns = (uint64_t)((double)n->ticked.ns * scale + 0.5);
  n->tally.variance = tg_bytick_variance(&n->ticked, all_ns) * scale * scale;
}

/* What is lost by rounding is the first node's, and all of it where there were
   no ticks. */
static void give_rest (tg_CallTree *t, const uint32_t *of,
                       const Group *groups) {
  for (uint32_t i = 0; i < t->count; i++) {
    if (of[i] == i)
      t->nodes[i].tally.self_ns = groups[i].busy_ns;
  }
  for (uint32_t i = 0; i < t->count; i++) {
    uint64_t *rest = &t->nodes[of[i]].tally.self_ns;
    uint64_t ns = t->nodes[i].tally.self_ns;
    if (of[i] != i) {
      t->nodes[i].tally.self_ns = ns < *rest ? ns : *rest;
      *rest -= t->nodes[i].tally.self_ns;
    }
  }
}

/* Where calls alone tell, their times stay as they are. */
static void divide_all (tg_CallTree *t, const uint32_t *of, Group *groups) {
  uint64_t all_ns = all_ticked(t);
  for (uint32_t i = 0; i < t->count; i++) {
    if (of[i] == i)
      set_busy(&groups[i], i == 0);
    Group *g = &groups[of[i]];
    if (of[i] == i && i > 0 && !g->mixed)
      *g = (Group){.busy_ns = g->passed_ns};
    else
      divide(&t->nodes[i], g, of[i] > 0 ? g->ticked_ns : all_ns);
  }
}

/* Waits become nodes, those outside of all calls the root's own time. */
static bool add_idle_nodes (tg_CallTree *t, const Group *groups,
                            uint32_t count, uint32_t idle) {
  t->nodes[0].tally.self_ns += groups[0].idle_ns;
  for (uint32_t i = 1; i < count; i++) {
    if (groups[i].idle_ns == 0)
      continue;
    uint32_t node = tg_calltree_child(t, i, idle);
    if (node == 0)
      return false;
    t->nodes[node].tally.self_ns = groups[i].idle_ns;
  }
  return true;
}

static void add_totals (tg_CallTree *t) {
  for (uint32_t i = 0; i < t->count; i++)
    t->nodes[i].tally.total_ns = t->nodes[i].tally.self_ns;
  for (uint32_t i = t->count - 1; i > 0; i--)
    t->nodes[t->nodes[i].parent].tally.total_ns += t->nodes[i].tally.total_ns;
}

static bool settle_beside (tg_CallTree *t, uint32_t idle) {
  uint32_t count = t->count;
  uint32_t *of = tg_calloc(count, sizeof *of);
  Group *groups = tg_calloc(count, sizeof *groups);
  bool ok = of != NULL && groups != NULL;
  if (ok) {
    add_members(t, of, groups);
    divide_all(t, of, groups);
    give_rest(t, of, groups);
    ok = add_idle_nodes(t, groups, count, idle);
    add_totals(t);
  }
  tg_free(of);
  tg_free(groups);
  return ok;
}

bool tg_bytick_settle (const tg_ByTick *b, tg_CallTree *t, uint32_t idle) {
  if (b->ticks == TG_TICKS_BESIDE)
    return settle_beside(t, idle);
  uint64_t all_ns = all_ticked(t);
  for (uint32_t i = 0; i < t->count; i++)
    t->nodes[i].tally.variance = tg_bytick_variance(&t->nodes[i].ticked,
                                                    all_ns);
  return true;
}

/* }================================================================== */
