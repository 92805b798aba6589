/* extract.c - see extract.h. */
#include "graph/extract.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define HALVED 64u      /* levels of the dominator tree (extract.h) */
#define OTHERS 2u       /* nodes on ways alone, for each box */
#define LONGEST 4096u   /* edges of a way that is followed */

/* ---- what each keeps ---- */

/* Whoever dominates a node was found before it. */
static void count_kept (tg_Extract *x) {
  const tg_Graph *g = &x->view->graph;
  const tg_Dominators *d = &x->view->dominators;
  for (uint32_t i = 0; i < g->count; i++)
    x->kept[i] = tg_graph_is_object(g, i);
  for (uint32_t i = d->count; i-- > 1;)
    x->kept[d->dominator[d->order[i]]] += x->kept[d->order[i]];
}

/* ---- boxes ---- */

typedef struct Candidate {
  uint64_t weight;
  uint32_t order, node;
} Candidate;

/* Of two that weigh the same, whoever may keep the other comes first. */
static int by_weight (const void *a, const void *b) {
  const Candidate *x = a, *y = b;
  if (x->weight != y->weight)
    return (x->weight < y->weight) - (x->weight > y->weight);
  return (x->order > y->order) - (x->order < y->order);
}

static void sort (Candidate *list, uint32_t n) {
  if (n > 1)
    qsort(list, n, sizeof *list, by_weight);
}

/* Levels of the dominator tree above each node. */
static void find_levels (const tg_Dominators *d, uint32_t *levels) {
  for (uint32_t i = 0; i < d->count; i++) {
    uint32_t node = d->order[i];
    levels[node] = i == 0 ? 0 : levels[d->dominator[node]] + 1;
  }
}

/* Never more than that of who keeps it. */
static uint64_t weigh (const tg_Dominators *d, const uint32_t *levels,
                       uint32_t node) {
  uint32_t halves = levels[node] / HALVED;
  return halves < 64 ? d->retained[node] >> halves : 0;
}

static unsigned magnitude (uint64_t n) {
  return n == 0 ? 0 : 64 - (unsigned)__builtin_clzll(n);
}

/* A power of two that as many nodes reach as are wanted, and not many more: of
   millions only these have to be sorted. */
static unsigned find_cut (const tg_Dominators *d, const uint32_t *levels,
                          uint32_t most, uint32_t *reaching) {
  uint32_t counts[65] = {0}, sum = 0;
  for (uint32_t i = 0; i < d->count; i++)
    counts[magnitude(weigh(d, levels, d->order[i]))]++;
  unsigned cut = 65;
  while (cut > 0 && sum < most)
    sum += counts[--cut];
  *reaching = sum;
  return cut;
}

/* The heaviest, in order; how many, and NULL without memory. */
static Candidate *find_candidates (const tg_Dominators *d,
                                   const uint32_t *levels, uint32_t most,
                                   uint32_t *n) {
  uint32_t reaching;
  unsigned cut = find_cut(d, levels, most, &reaching);
  Candidate *list = tg_malloc(((size_t)reaching + 1) * sizeof *list);
  *n = 0;
  for (uint32_t i = 0; list != NULL && i < d->count; i++) {
    uint64_t weight = weigh(d, levels, d->order[i]);
    if (magnitude(weight) >= cut)
      list[(*n)++] = (Candidate){weight, i, d->order[i]};
  }
  sort(list, *n);
  return list;
}

/* They are chosen by weight, and stand in the order of what they retain. */
static bool choose_boxes (tg_Extract *x, uint32_t most) {
  const tg_Dominators *d = &x->view->dominators;
  uint32_t *levels = tg_malloc(((size_t)x->view->graph.count + 1)
                               * sizeof *levels);
  if (levels == NULL)
    return false;
  uint32_t n;
  find_levels(d, levels);
  Candidate *list = find_candidates(d, levels, most, &n);
  tg_free(levels);
  if (list == NULL)
    return false;
  if (n > most)
    n = most;
  for (uint32_t i = 0; i < n; i++)
    list[i].weight = d->retained[list[i].node];
  sort(list, n);
  for (uint32_t i = 0; i < n; i++) {
    x->place[list[i].node] = i;
    x->list[i] = list[i].node;
  }
  x->count = x->boxes = n;
  tg_free(list);
  return true;
}

/* ---- who refers to them ---- */

/* Whether the shortest way to 'from' does not go through 'node' itself, as far
   as a way is followed. */
static bool leads_past (const tg_Paths *p, uint32_t from, uint32_t node) {
  unsigned n = 0;
  for (; from != 0; from = p->from[from]) {
    if (from == node || n++ > LONGEST)
      return false;
  }
  return true;
}

/* The shortest way comes first; it is there before any other. */
static void refer (tg_Extract *x, uint32_t from, uint32_t edge) {
  const tg_Paths *p = &x->view->paths;
  uint32_t to = p->graph->edges[edge].to, box = x->place[to];
  if (box >= x->boxes || to == from
      || !tg_graph_retains(p->graph, from, edge))
    return;
  x->referrers[box]++;
  tg_Reference *list = x->references + (size_t)box * TG_EXTRACT_WAYS;
  if (p->edge[to] == edge && p->from[to] == from)
    return;
  for (unsigned i = 1; i < TG_EXTRACT_WAYS; i++) {
    if (list[i].from == TG_NO_NODE) {
      if (leads_past(p, from, to))
        list[i] = (tg_Reference){from, edge};
      return;
    }
  }
}

static void find_references (tg_Extract *x) {
  const tg_Paths *p = &x->view->paths;
  size_t n = (size_t)x->boxes * TG_EXTRACT_WAYS;
  memset(x->references, 0xff, n * sizeof *x->references);
  for (uint32_t i = 1; i < x->boxes; i++) {
    uint32_t node = x->list[i];
    x->references[(size_t)i * TG_EXTRACT_WAYS] =
        (tg_Reference){p->from[node], p->edge[node]};
  }
  for (uint32_t i = 0; i < p->count; i++) {
    uint32_t from = p->order[i];
    for (uint32_t e = p->graph->first[from]; e < p->graph->first[from + 1];
         e++)
      refer(x, from, e);
  }
}

/* Adds whoever is on the way to a node, from the root on, or nobody if there
   are too many. */
static bool add_way (tg_Extract *x, uint32_t node, uint32_t most) {
  const tg_Paths *p = &x->view->paths;
  uint32_t n = 0;
  for (uint32_t i = node; x->place[i] == TG_NO_NODE; i = p->from[i])
    n++;
  if (n > most - x->count)
    return false;
  x->count += n;
  uint32_t place = x->count;
  for (uint32_t i = node; n > 0; i = p->from[i], n--) {
    x->place[i] = --place;
    x->list[place] = i;
  }
  return true;
}

/* The largest boxes' ways first; of each box the shortest one. */
static void add_ways (tg_Extract *x, uint32_t most) {
  for (unsigned way = 0; way < TG_EXTRACT_WAYS; way++) {
    for (uint32_t i = 0; i < x->boxes; i++) {
      tg_Reference *one = &x->references[(size_t)i * TG_EXTRACT_WAYS + way];
      if (one->from != TG_NO_NODE && !add_way(x, one->from, most))
        *one = (tg_Reference){TG_NO_NODE, TG_NO_NODE};
    }
  }
}

/* ---- all of it ---- */

static bool allocate (tg_Extract *x, uint32_t most, uint32_t boxes) {
  size_t n = (size_t)x->view->graph.count + 1;
  x->list = tg_malloc(((size_t)most + 1) * sizeof *x->list);
  x->place = tg_malloc(n * sizeof *x->place);
  x->kept = tg_malloc(n * sizeof *x->kept);
  x->references = tg_malloc(((size_t)boxes + 1) * TG_EXTRACT_WAYS
                            * sizeof *x->references);
  x->referrers = tg_calloc((size_t)boxes + 1, sizeof *x->referrers);
  return x->list != NULL && x->place != NULL && x->kept != NULL
         && x->references != NULL && x->referrers != NULL;
}

bool tg_extract_make (tg_Extract *x, const tg_View *v, uint32_t most) {
  uint32_t count = v->graph.count;
  *x = (tg_Extract){.view = v};
  if (most > v->dominators.count)
    most = v->dominators.count;
  uint64_t room = (uint64_t)most * (1 + OTHERS);
  uint32_t all = room < count ? (uint32_t)room : count;
  if (!allocate(x, all, most))
    return false;
  memset(x->place, 0xff, ((size_t)count + 1) * sizeof *x->place);
  count_kept(x);
  if (!choose_boxes(x, most))
    return false;
  find_references(x);
  add_ways(x, all);
  return true;
}

void tg_extract_free (tg_Extract *x) {
  tg_free(x->list);
  tg_free(x->place);
  tg_free(x->kept);
  tg_free(x->references);
  tg_free(x->referrers);
  *x = (tg_Extract){0};
}
