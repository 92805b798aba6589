/*
** bytick.c - see bytick.h. Called by profiles and exports, on the thread that
** reads. Children come after their parents in a tree's array, so one pass
** forward or backward is enough.
*/
#include "profile/bytick.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

/*
** {==================================================================
** While packets come
** ===================================================================
*/

static void note_gap (tg_ByTick *b, uint32_t node, uint64_t ns) {
  uint32_t i = TG_BYTICK_GAPS;
  while (i > 0 && b->gaps[i - 1].ns < ns)
    i--;
  if (i == TG_BYTICK_GAPS)
    return;
  memmove(&b->gaps[i + 1], &b->gaps[i],
          (TG_BYTICK_GAPS - 1 - i) * sizeof *b->gaps);
  b->gaps[i] = (tg_Gap){node, ns};
}

static uint64_t since (uint64_t before, uint64_t now) {
  return now > before ? now - before : 0;
}

void tg_bytick_pass (tg_ByTick *b, tg_CallTree *t, uint32_t node,
                     uint64_t now_ns, uint64_t spent_ns) {
  uint64_t ns = b->begun ? since(b->now_ns, now_ns) : 0;
  uint64_t spent = b->begun ? since(b->spent_ns, spent_ns) : 0;
  b->begun = true;
  b->now_ns = now_ns;
  b->spent_ns = spent_ns;
  if (b->ticks == TG_TICKS_ONLY)
    return;
  t->nodes[node].tally.self_ns += ns;
  t->nodes[node].spent_ns += spent;
  b->passed_ns += ns;
  if (b->ticks == TG_TICKS_BESIDE)
    note_gap(b, node, ns);
}

/* The time that was no processor time goes to the longest gaps first: waits are
   long, and work between two events is short. Of each others had the same
   part. */
static void add_idle (const tg_ByTick *b, tg_CallTree *t, uint64_t idle_ns,
                      uint64_t others_ns) {
  double part = others_ns < idle_ns ? (double)others_ns / (double)idle_ns : 1;
  for (uint32_t i = 0; i < TG_BYTICK_GAPS && idle_ns > 0; i++) {
    tg_Node *n = &t->nodes[b->gaps[i].node];
    uint64_t ns = b->gaps[i].ns < idle_ns ? b->gaps[i].ns : idle_ns;
    uint64_t others = (uint64_t)(part * (double)ns);
    n->others_ns += others;
    n->idle_ns += ns - others;
    idle_ns -= ns;
  }
}

void tg_bytick_tick (tg_ByTick *b, tg_CallTree *t, uint32_t node,
                     const tg_Packet *tick) {
  if (node == 0 && b->ticks == TG_TICKS_ONLY)
    return;
  tg_ticked_add(&t->nodes[node].ticked, tick->hits);
  if (tick->untraced)
    tg_ticked_add(&t->nodes[node].free, tick->hits);
  if (b->ticks == TG_TICKS_ONLY)
    t->nodes[node].tally.self_ns += tick->hits;
  else {
    uint64_t spent = tick->apart ? since(b->told_spent_ns, b->spent_ns) : 0;
    add_idle(b, t, since(tick->hits + tick->hook_ns, b->passed_ns + spent),
             tick->others_ns);
  }
  b->weighs = b->weighs || (tick->apart && !tick->chosen);
  if (tick->apart)
    b->leaning_ns = tick->leaning_ns;
  b->told_spent_ns = b->spent_ns;
  b->passed_ns = 0;
  memset(b->gaps, 0, sizeof b->gaps);
}

/* }================================================================== */

/*
** {==================================================================
** Groups
** ===================================================================
*/

/* A called node with the sampled ones below it, up to the next called ones; or
   what is outside of all calls. Kept by the number of its outermost node. */
typedef struct Group {
  uint64_t passed_ns, spent_ns;
  uint64_t idle_ns, others_ns;
  uint64_t busy_ns;           /* to be divided... */
  double variance;            /* ...and how sure it is */
  tg_Ticked ticked;
  tg_Ticked free;             /* of these, in windows */
  double leaning_ns;          /* of the others, too much */
  bool mixed;                 /* ticks have met more than its first node */
} Group;

/* As if drawn from all ticks: the more of them are elsewhere, the less sure
   is the part. */
double tg_bytick_variance (const tg_Ticked *part, uint64_t whole_ns) {
  double rest = whole_ns > part->ns
                ? 1 - (double)part->ns / (double)whole_ns : 0;
  return part->squares * rest;
}

static void add_ticked (tg_Ticked *to, const tg_Ticked *t) {
  to->count += t->count;
  to->ns += t->ns;
  to->squares += t->squares;
}

static tg_Ticked all_ticked (const tg_CallTree *t) {
  tg_Ticked all = {0};
  for (uint32_t i = 0; i < t->count; i++)
    add_ticked(&all, &t->nodes[i].ticked);
  return all;
}

static tg_Ticked all_free (const tg_CallTree *t) {
  tg_Ticked all = {0};
  for (uint32_t i = 0; i < t->count; i++)
    add_ticked(&all, &t->nodes[i].free);
  return all;
}

static uint32_t first_of (const tg_CallTree *t, const uint32_t *of,
                          uint32_t i) {
  return i == 0 || t->nodes[i].traced ? i : of[t->nodes[i].parent];
}

static void add_members (const tg_ByTick *b, const tg_CallTree *t,
                         uint32_t *of, Group *groups) {
  for (uint32_t i = 0; i < t->count; i++) {
    const tg_Node *n = &t->nodes[i];
    of[i] = first_of(t, of, i);
    Group *g = &groups[of[i]];
    g->passed_ns += n->tally.self_ns;
    g->spent_ns += n->spent_ns;
    g->idle_ns += n->idle_ns;
    g->others_ns += n->others_ns;
    add_ticked(&g->ticked, &n->ticked);
    add_ticked(&g->free, &n->free);
    g->leaning_ns += b->leaning_ns * (double)n->lua_calls;
    g->mixed |= i != of[i] && n->ticked.count > 0;
  }
}

/* Outside of all calls ticks alone say how long it ran. */
static void set_outside (Group *g) {
  g->busy_ns = g->ticked.ns < g->passed_ns ? g->ticked.ns : g->passed_ns;
  g->idle_ns = g->passed_ns - g->busy_ns;
}

/* In a call the clock says how long it ran, and ticks how long of that it
   waited, or others ran. */
static void set_call (Group *g) {
  if (g->others_ns > g->passed_ns)
    g->others_ns = g->passed_ns;
  if (g->idle_ns > g->passed_ns - g->others_ns)
    g->idle_ns = g->passed_ns - g->others_ns;
  if (g->idle_ns + g->others_ns < g->passed_ns / TG_BYTICK_IDLE)
    g->idle_ns = g->others_ns = 0;
  g->busy_ns = g->passed_ns - g->idle_ns - g->others_ns;
  double error = TG_BYTICK_DOUBT * (double)g->spent_ns;
  g->variance = error * error;
}

/* }================================================================== */

/*
** {==================================================================
** Clock and ticks
** ===================================================================
*/

/* What a tick is worth. Those of windows stand for the whole, and so do the
   others without them. */
typedef struct Worth {
  double one_ns;              /* its usual time */
  double free, bound;         /* by how much more, in windows and outside;
                                 'free' is 0 where there are none */
  double clock;               /* by how much the clock's variance is more */
} Worth;

static Worth worth_of (const tg_CallTree *t) {
  tg_Ticked all = all_ticked(t), free = all_free(t);
  const double doubt = TG_BYTICK_DOUBT_FREE / TG_BYTICK_DOUBT;
  Worth w = {.one_ns = (double)(all.ns / all.count), .bound = 1, .clock = 1};
  if (free.count >= TG_BYTICK_FREE && free.ns < all.ns) {
    w.clock = doubt * doubt;
    w.free = (double)all.ns / (double)free.ns;
    w.bound = (double)all.ns / (double)(all.ns - free.ns);
  }
  return w;
}

/* With no tick there may have been one. */
static double ticks_variance (double squares, double one_ns) {
  double one = one_ns * one_ns;
  return squares > one ? squares : one;
}

/* The mean of what the group has and something else, by how sure they are. */
static void weigh_with (Group *g, double ns, double variance) {
  double both = g->variance + variance;
  double w = both > 0 ? g->variance / both : 0;
  double busy = w * ns + (1 - w) * (double)g->busy_ns;
  g->busy_ns = (uint64_t)(busy + 0.5);
  g->variance = w * variance;           /* 1 / (1 / one + 1 / other) */
}

/* The standard error of what ticks outside of windows say, but for chance. */
static double leaning_error (const Group *g, const Worth *k, double ns) {
  return k->free == 0 ? TG_BYTICK_LEANING_DOUBT * g->leaning_ns
                      : TG_BYTICK_LEANING * ns;
}

/* What the clock says, and what ticks say. Outside of windows the hook has its
   part in what they meet. */
static void weigh (Group *g, const Worth *k) {
  double one = k->one_ns;
  double met = (double)(g->ticked.ns - g->free.ns);
  double ns = met > g->leaning_ns ? met - g->leaning_ns : 0;
  double error = leaning_error(g, k, ns);
  double squares = g->ticked.squares - g->free.squares;
  g->variance *= k->clock;
  weigh_with(g, ns * k->bound, (ticks_variance(squares, one) + error * error)
                               * k->bound * k->bound);
  if (k->free == 0)
    return;
  weigh_with(g, (double)g->free.ns * k->free,
             ticks_variance(g->free.squares, one) * k->free * k->free);
}

/* All groups that begin with the same function: what is wrong with the estimate
   of its cost is wrong in all of them. */
typedef struct Kin {
  Group all;
  uint64_t clock_ns;          /* what the clock says */
  uint64_t sum_ns;            /* of the groups, each weighed by itself */
} Kin;

typedef struct Kins {
  const tg_Spots *spots;      /* borrows; as in tg_ByTick */
  tg_IntMap numbers;          /* owns; by function */
  Kin *list;                  /* owns */
  uint32_t count, capacity;
} Kins;

/* NULL without memory. */
static Kin *kin_of (Kins *k, uint32_t row) {
  uint32_t function = k->spots != NULL ? k->spots->list[row].of : row;
  uint32_t i = tg_intmap_find(&k->numbers, function);
  if (i != TG_INTMAP_NONE)
    return &k->list[i];
  if (!tg_grow(&k->list, &k->capacity, k->count + 1, sizeof *k->list)
      || !tg_intmap_set(&k->numbers, function, k->count))
    return NULL;
  k->list[k->count] = (Kin){0};
  return &k->list[k->count++];
}

static bool add_kins (Kins *k, const tg_CallTree *t, const uint32_t *of,
                      const Group *groups) {
  for (uint32_t i = 1; i < t->count; i++) {
    Kin *kin = of[i] == i ? kin_of(k, t->nodes[i].row) : NULL;
    if (of[i] == i && kin == NULL)
      return false;
    if (of[i] != i)
      continue;
    kin->all.spent_ns += groups[i].spent_ns;
    kin->all.busy_ns += groups[i].busy_ns;
    add_ticked(&kin->all.ticked, &groups[i].ticked);
    add_ticked(&kin->all.free, &groups[i].free);
    kin->all.leaning_ns += groups[i].leaning_ns;
  }
  return true;
}

static double part_of (uint64_t part, uint64_t whole) {
  return whole > 0 ? (double)part / (double)whole : 0;
}

/* First the function as a whole; then each group, of which its ticks may tell
   more than the function's mean. */
static void weigh_group (Group *g, Kin *k, const Worth *worth) {
  double scale = part_of(k->all.busy_ns, k->clock_ns);
  g->busy_ns = (uint64_t)((double)g->busy_ns * scale + 0.5);
  weigh(g, worth);
  k->sum_ns += g->busy_ns;
}

/* The groups of a function are together what the function is. */
static void fit_group (Group *g, const Kin *k) {
  double scale = part_of(k->all.busy_ns, k->sum_ns);
  g->busy_ns = (uint64_t)((double)g->busy_ns * scale + 0.5);
}

static void weigh_kins (Kins *k, const Worth *worth) {
  for (uint32_t i = 0; i < k->count; i++) {
    Group *all = &k->list[i].all;
    double error = TG_BYTICK_DOUBT * (double)all->spent_ns;
    k->list[i].clock_ns = all->busy_ns;
    all->variance = error * error;
    weigh(all, worth);
  }
}

/* False without memory. */
static bool weigh_all (const tg_ByTick *b, const tg_CallTree *t,
                       const uint32_t *of, Group *groups) {
  Kins k = {.spots = b->spots};
  Worth worth = worth_of(t);
  bool ok = add_kins(&k, t, of, groups);
  if (ok)
    weigh_kins(&k, &worth);
  for (uint32_t i = 1; ok && i < t->count; i++) {
    if (of[i] == i)
      weigh_group(&groups[i], kin_of(&k, t->nodes[i].row), &worth);
  }
  for (uint32_t i = 1; ok && i < t->count; i++) {
    if (of[i] == i)
      fit_group(&groups[i], kin_of(&k, t->nodes[i].row));
  }
  tg_intmap_free(&k.numbers);
  tg_free(k.list);
  return ok;
}

/* }================================================================== */

/*
** {==================================================================
** The end
** ===================================================================
*/

/* A node's part of its group's time. Outside of all calls it is what chance has
   given to it of 'all_ns'. */
static void divide (tg_Node *n, const Group *g, uint64_t all_ns) {
  double whole = (double)g->ticked.ns;
  double scale = whole > 0 ? (double)g->busy_ns / whole : 0;
  double part = whole > 0 ? (double)n->ticked.ns / whole : 0;
  n->tally.self_ns = (uint64_t)((double)n->ticked.ns * scale + 0.5);
  n->tally.variance =
      tg_bytick_variance(&n->ticked, all_ns) * scale * scale
      + g->variance * part * part;
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

static void set_all (tg_CallTree *t, const uint32_t *of, Group *groups) {
  set_outside(&groups[0]);
  for (uint32_t i = 1; i < t->count; i++) {
    if (of[i] == i)
      set_call(&groups[i]);
  }
}

/* Only where samples were inside, it is told apart (bytick.h). */
static void give_idle (const tg_Node *n, Group *g, Group *outside) {
  if (g == outside)
    return;
  if (g->mixed) {
    g->idle_ns += g->others_ns;
    return;
  }
  if (n->waits)
    g->busy_ns += g->idle_ns;
  else
    outside->idle_ns += g->idle_ns;
  outside->idle_ns += g->others_ns;
  g->idle_ns = 0;
}

static void divide_all (tg_CallTree *t, const uint32_t *of, Group *groups) {
  uint64_t all_ns = all_ticked(t).ns;
  for (uint32_t i = 0; i < t->count; i++) {
    Group *g = &groups[of[i]];
    if (of[i] == i)
      give_idle(&t->nodes[i], g, groups);
    if (g->mixed || of[i] == 0)
      divide(&t->nodes[i], g, of[i] > 0 ? g->ticked.ns : all_ns);
    else if (of[i] == i)
      t->nodes[i].tally.variance = g->variance;
    else
      t->nodes[i].tally.self_ns = 0;    /* no tick has met it */
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

static bool settle_beside (const tg_ByTick *b, tg_CallTree *t,
                           uint32_t idle) {
  bool weighs = b->weighs && all_ticked(t).ns > 0;
  uint32_t count = t->count;
  uint32_t *of = tg_calloc(count, sizeof *of);
  Group *groups = tg_calloc(count, sizeof *groups);
  bool ok = of != NULL && groups != NULL;
  if (ok) {
    add_members(b, t, of, groups);
    set_all(t, of, groups);
    ok = !weighs || weigh_all(b, t, of, groups);
    divide_all(t, of, groups);
    give_rest(t, of, groups);
    ok = ok && add_idle_nodes(t, groups, count, idle);
    add_totals(t);
  }
  tg_free(of);
  tg_free(groups);
  return ok;
}

bool tg_bytick_settle (const tg_ByTick *b, tg_CallTree *t, uint32_t idle) {
  if (b->ticks == TG_TICKS_BESIDE)
    return settle_beside(b, t, idle);
  uint64_t all_ns = all_ticked(t).ns;
  for (uint32_t i = 0; i < t->count; i++)
    t->nodes[i].tally.variance = tg_bytick_variance(&t->nodes[i].ticked,
                                                    all_ns);
  return true;
}

/* }================================================================== */
