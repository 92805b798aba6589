/*
** dominators.c - see dominators.h. The names are the paper's: vertices are
** numbered in depth-first order, 'semi' is a vertex' semidominator, 'ancestor'
** and 'label' are the forest that is linked as the vertices are gone through.
*/
#include "graph/dominators.h"

#include <string.h>

#include "base/alloc.h"

typedef struct Work {
  const tg_Graph *g;
  uint32_t n;           /* vertices */
  uint32_t *number;     /* owns, as all here; a node's vertex; TG_NO_NODE */
  uint32_t *vertex;     /* a vertex' node */
  uint32_t *parent, *semi, *idom, *ancestor, *label;    /* by vertex */
  uint32_t *bucket, *next;      /* lists of vertices with one semidominator */
  uint32_t *first, *from;       /* who refers to a vertex, in a row each */
  uint32_t *stack;
} Work;

static void free_work (Work *w) {
  uint32_t *const all[] = {w->number, w->parent, w->semi, w->idom,
                           w->ancestor, w->label, w->bucket, w->next,
                           w->first, w->from, w->stack};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    tg_free(all[i]);
}

static uint32_t *numbers (uint32_t n) {
  return tg_malloc(((size_t)n + 1) * sizeof(uint32_t));
}

/* ---- depth first ---- */

static bool begin (Work *w) {
  uint32_t n = w->g->count;
  w->number = numbers(n);
  w->vertex = numbers(n);
  w->parent = numbers(n);
  w->stack = numbers(n);
  w->next = numbers(n);
  if (w->number == NULL || w->vertex == NULL || w->parent == NULL
      || w->stack == NULL || w->next == NULL)
    return false;
  memset(w->number, 0xff, ((size_t)n + 1) * sizeof *w->number);
  return true;
}

static void enter (Work *w, uint32_t node, uint32_t parent) {
  uint32_t v = w->n++;
  w->number[node] = v;
  w->vertex[v] = node;
  w->parent[v] = parent;
  w->next[v] = w->g->first[node];       /* the edge to be gone along next */
}

static void search (Work *w) {
  const tg_Graph *g = w->g;
  uint32_t depth = 0;
  enter(w, 0, 0);
  w->stack[depth++] = 0;
  while (depth > 0) {
    uint32_t v = w->stack[depth - 1], node = w->vertex[v];
    if (w->next[v] == g->first[node + 1]) {
      depth--;
      continue;
    }
    uint32_t edge = w->next[v]++, to = g->edges[edge].to;
    if (w->number[to] != TG_NO_NODE || !tg_graph_retains(g, node, edge))
      continue;
    enter(w, to, v);
    w->stack[depth++] = w->n - 1;
  }
}

/* ---- who refers to whom ---- */

static bool collect (Work *w) {
  const tg_Graph *g = w->g;
  w->first = tg_calloc((size_t)w->n + 2, sizeof *w->first);
  w->from = numbers(g->nedges);
  if (w->first == NULL || w->from == NULL)
    return false;
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t v = 0; v < w->n; v++) {
      uint32_t node = w->vertex[v];
      for (uint32_t e = g->first[node]; e < g->first[node + 1]; e++) {
        if (!tg_graph_retains(g, node, e))
          continue;
        uint32_t to = w->number[g->edges[e].to];
        if (pass == 0)
          w->first[to + 2]++;
        else
          w->from[w->first[to + 1]++] = v;
      }
    }
    for (uint32_t v = 0; pass == 0 && v < w->n; v++)
      w->first[v + 2] += w->first[v + 1];
  }
  return true;
}

/* ---- the forest ---- */

/* The paper's COMPRESS, without recursion: from the vertex up to the one below
   a root of the forest, then down again. */
static void compress (Work *w, uint32_t v) {
  uint32_t depth = 0;
  while (w->ancestor[w->ancestor[v]] != TG_NO_NODE) {
    w->stack[depth++] = v;
    v = w->ancestor[v];
  }
  while (depth > 0) {
    v = w->stack[--depth];
    uint32_t a = w->ancestor[v];
    if (w->semi[w->label[a]] < w->semi[w->label[v]])
      w->label[v] = w->label[a];
    w->ancestor[v] = w->ancestor[a];
  }
}

static uint32_t eval (Work *w, uint32_t v) {
  if (w->ancestor[v] == TG_NO_NODE)
    return v;
  compress(w, v);
  return w->label[v];
}

static bool plant (Work *w) {
  w->semi = numbers(w->n);
  w->idom = numbers(w->n);
  w->ancestor = numbers(w->n);
  w->label = numbers(w->n);
  w->bucket = numbers(w->n);
  if (w->semi == NULL || w->idom == NULL || w->ancestor == NULL
      || w->label == NULL || w->bucket == NULL)
    return false;
  for (uint32_t v = 0; v < w->n; v++) {
    w->semi[v] = w->label[v] = v;
    w->idom[v] = 0;
    w->ancestor[v] = w->bucket[v] = TG_NO_NODE;
  }
  return true;
}

/* Those whose semidominator is the parent have that one for their dominator, or
   the one of a vertex between. */
static void empty_bucket (Work *w, uint32_t parent) {
  for (uint32_t v = w->bucket[parent]; v != TG_NO_NODE; v = w->next[v]) {
    uint32_t u = eval(w, v);
    w->idom[v] = (w->semi[u] < w->semi[v]) ? u : parent;
  }
  w->bucket[parent] = TG_NO_NODE;
}

static void find (Work *w) {
  for (uint32_t v = w->n; v-- > 1;) {
    for (uint32_t i = w->first[v]; i < w->first[v + 1]; i++) {
      uint32_t u = eval(w, w->from[i]);
      if (w->semi[u] < w->semi[v])
        w->semi[v] = w->semi[u];
    }
    w->next[v] = w->bucket[w->semi[v]];
    w->bucket[w->semi[v]] = v;
    w->ancestor[v] = w->parent[v];
    empty_bucket(w, w->parent[v]);
  }
  for (uint32_t v = 1; v < w->n; v++) {
    if (w->idom[v] != w->semi[v])
      w->idom[v] = w->idom[w->idom[v]];
  }
}

/* ---- answers ---- */

/* A dominator has a lower number than what it dominates. */
static bool answer (Work *w, tg_Dominators *d) {
  const tg_Graph *g = w->g;
  d->dominator = w->number;
  w->number = NULL;
  d->order = w->vertex;
  w->vertex = NULL;
  d->count = w->n;
  d->retained = tg_malloc(((size_t)g->count + 1) * sizeof *d->retained);
  if (d->retained == NULL)
    return false;
  if (g->count > 0)
    memcpy(d->retained, g->sizes, g->count * sizeof *d->retained);
  for (uint32_t v = 0; v < w->n; v++)
    d->dominator[d->order[v]] = d->order[w->idom[v]];
  for (uint32_t v = w->n; v-- > 1;)
    d->retained[d->order[w->idom[v]]] += d->retained[d->order[v]];
  return true;
}

bool tg_dominators_find (tg_Dominators *d, const tg_Graph *g) {
  Work w = {.g = g};
  *d = (tg_Dominators){0};
  bool done = begin(&w);
  if (done && g->count > 0)
    search(&w);
  done = done && collect(&w) && plant(&w);
  if (done) {
    find(&w);
    done = answer(&w, d);
  }
  tg_free(w.vertex);
  free_work(&w);
  if (!done)
    tg_dominators_free(d);
  return done;
}

void tg_dominators_free (tg_Dominators *d) {
  tg_free(d->order);
  tg_free(d->dominator);
  tg_free(d->retained);
  *d = (tg_Dominators){0};
}
