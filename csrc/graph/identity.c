/*
** identity.c - see identity.h. The longest rising sequence by patience sorting,
** which takes n log n: for each length the sequence that ends lowest.
*/
#include "graph/identity.h"

#include <string.h>

#include "base/alloc.h"
#include "base/intmap.h"

#define NONE UINT32_MAX

typedef struct Match {
  const tg_Graph *now, *before;
  tg_IntMap places;     /* owns, as all here; id -> node of 'before' */
  uint32_t *old;        /* by node of 'now': the one with its id, or NONE */
  uint32_t *ends;       /* by length: the node that a sequence ends with */
  uint32_t *previous;   /* by node: the one before it in its sequence */
  uint8_t *survives;
} Match;

static bool same (const Match *m, uint32_t now, uint32_t before) {
  size_t a, b;
  if (m->now->types[now] != m->before->types[before])
    return false;
  const char *x = tg_graph_class(m->now, now, &a);
  const char *y = tg_graph_class(m->before, before, &b);
  return a == b && (a == 0 || memcmp(x, y, a) == 0);
}

static bool pair_up (Match *m) {
  for (uint32_t i = 0; i < m->before->count; i++) {
    if (!tg_intmap_set(&m->places, m->before->ids[i], i))
      return false;
  }
  for (uint32_t i = 0; i < m->now->count; i++) {
    uint32_t old = tg_intmap_find(&m->places, m->now->ids[i]);
    m->old[i] = (old != TG_INTMAP_NONE && same(m, i, old)) ? old : NONE;
  }
  return true;
}

/* Extends the longest sequence that ends below, and is then the lowest end of
   that length. */
static uint32_t place (Match *m, uint32_t node, uint32_t lengths) {
  uint32_t low = 0, high = lengths;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (m->old[m->ends[middle]] < m->old[node])
      low = middle + 1;
    else
      high = middle;
  }
  m->previous[node] = (low > 0) ? m->ends[low - 1] : NONE;
  m->ends[low] = node;
  return (low == lengths) ? lengths + 1 : lengths;
}

/* Whether a node refers to the same by the same names, as far as numbers and
   texts of strings tell. */
static bool same_edge (const Match *m, uint32_t a, uint32_t b) {
  const tg_Graph *now = m->now, *before = m->before;
  const tg_Edge *x = &now->edges[a], *y = &before->edges[b];
  size_t n, k;
  if (now->edge_types[a] != before->edge_types[b]
      || now->ids[x->to] != before->ids[y->to])
    return false;
  if (now->types[x->to] != TG_NODE_STRING)
    return true;
  const char *s = tg_graph_text(now, now->names[x->to], &n);
  const char *t = tg_graph_text(before, before->names[y->to], &k);
  return before->types[y->to] == TG_NODE_STRING && n == k
         && (n == 0 || memcmp(s, t, n) == 0);
}

static bool is_alike (const Match *m, uint32_t now) {
  const tg_Graph *x = m->now, *y = m->before;
  uint32_t before = m->old[now];
  uint32_t n = x->first[now + 1] - x->first[now];
  size_t a, b;
  const char *s = tg_graph_text(x, x->names[now], &a);
  const char *t = tg_graph_text(y, y->names[before], &b);
  if (x->sizes[now] != y->sizes[before] || a != b
      || (a > 0 && memcmp(s, t, a) != 0)
      || n != y->first[before + 1] - y->first[before])
    return false;
  for (uint32_t i = 0; i < n; i++) {
    if (!same_edge(m, x->first[now] + i, y->first[before] + i))
      return false;
  }
  return true;
}

/* Of those that are equally long the one that ends first: what is new is behind
   all that survives. */
static void take_sequence (Match *m) {
  uint32_t lengths = 0, node = NONE;
  for (uint32_t i = 0; i < m->now->count; i++) {
    uint32_t before = lengths;
    if (m->old[i] != NONE)
      lengths = place(m, i, lengths);
    node = (lengths > before) ? i : node;
  }
  while (node != NONE && !is_alike(m, node))
    node = m->previous[node];
  for (; node != NONE; node = m->previous[node])
    m->survives[node] = 1;
}

uint8_t *tg_identity_survivors (const tg_Graph *now, const tg_Graph *before) {
  size_t n = (size_t)now->count + 1;
  Match m = {.now = now, .before = before};
  m.old = tg_malloc(n * sizeof *m.old);
  m.ends = tg_malloc(n * sizeof *m.ends);
  m.previous = tg_malloc(n * sizeof *m.previous);
  m.survives = tg_calloc(n, 1);
  bool done = m.old != NULL && m.ends != NULL && m.previous != NULL
              && m.survives != NULL && pair_up(&m);
  if (done && now->born && before->born)
    take_sequence(&m);
  for (uint32_t i = 0; done && !(now->born && before->born) && i < now->count;
       i++)
    m.survives[i] = m.old[i] != NONE;
  tg_free(m.old);
  tg_free(m.ends);
  tg_free(m.previous);
  tg_intmap_free(&m.places);
  if (done)
    return m.survives;
  tg_free(m.survives);
  return NULL;
}
