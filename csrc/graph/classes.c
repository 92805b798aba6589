/* classes.c - see classes.h. */
#include "graph/classes.h"

#include <string.h>

#include "base/alloc.h"

/* By name, asked once of each string that is a name. */
uint32_t *tg_classes_number (const tg_Graph *g, uint32_t *n) {
  tg_Intern classes = {0};
  uint32_t *of = tg_malloc(((size_t)g->count + 1) * sizeof *of);
  uint32_t *named = tg_malloc(((size_t)g->strings.count + 1) * sizeof *named);
  bool failed = of == NULL || named == NULL;
  if (!failed)
    memset(named, 0xff, ((size_t)g->strings.count + 1) * sizeof *named);
  for (uint32_t i = 0; i < g->count && !failed; i++) {
    bool own = g->types[i] == TG_NODE_OBJECT || g->types[i] == TG_NODE_NATIVE;
    size_t size;
    if (own && named[g->names[i]] != TG_NO_NODE) {
      of[i] = named[g->names[i]];
      continue;
    }
    const char *s = tg_graph_class(g, i, &size);
    of[i] = tg_intern_add(&classes, s, size);
    failed = of[i] == TG_INTMAP_NONE;
    if (own)
      named[g->names[i]] = of[i];
  }
  *n = classes.count;
  tg_free(named);
  tg_intern_free(&classes);
  if (!failed)
    return of;
  tg_free(of);
  return NULL;
}

typedef struct Walk {
  const tg_Graph *g;
  const tg_Dominators *d;
  const uint32_t *of;
  tg_ClassSum *sums;
  uint32_t *open;       /* owns; by group: how many are above in the tree */
  uint32_t *child, *next;       /* owns; the dominator tree */
} Walk;

static void add (Walk *w, uint32_t node, bool outermost) {
  tg_ClassSum *sum = &w->sums[w->of[node]];
  sum->count++;
  sum->self += w->g->sizes[node];
  if (outermost)
    sum->retained += w->d->retained[node];
  if (sum->count == 1
      || w->d->retained[node] > w->d->retained[sum->node])
    sum->node = node;
}

/* Children of each node, in the order in which they were found. */
static void make_tree (Walk *w) {
  memset(w->child, 0xff, (size_t)w->g->count * sizeof *w->child);
  for (uint32_t i = w->d->count; i-- > 1;) {
    uint32_t node = w->d->order[i], above = w->d->dominator[node];
    w->next[node] = w->child[above];
    w->child[above] = node;
  }
}

static void enter (Walk *w, uint32_t node) {
  uint32_t of = w->of[node];
  if (of != TG_NO_NODE)
    add(w, node, w->open[of]++ == 0);
}

static void leave (Walk *w, uint32_t node) {
  if (w->of[node] != TG_NO_NODE)
    w->open[w->of[node]]--;
}

/* Down to the first child, else to the next one, of whoever has one. */
static void walk (Walk *w) {
  uint32_t node = 0;
  if (w->d->count == 0)
    return;
  enter(w, 0);
  for (;;) {
    if (w->child[node] != TG_NO_NODE)
      node = w->child[node];
    else {
      while (node != 0 && w->next[node] == TG_NO_NODE) {
        leave(w, node);
        node = w->d->dominator[node];
      }
      if (node == 0)
        return;
      leave(w, node);
      node = w->next[node];
    }
    enter(w, node);
  }
}

static void add_unreached (Walk *w) {
  for (uint32_t i = 0; i < w->g->count; i++) {
    if (w->d->dominator[i] == TG_NO_NODE && w->of[i] != TG_NO_NODE)
      add(w, i, true);
  }
}

tg_ClassSum *tg_classes_add (const tg_Graph *g, const tg_Dominators *d,
                             const uint32_t *of, uint32_t n) {
  Walk w = {.g = g, .d = d, .of = of};
  w.sums = tg_calloc((size_t)n + 1, sizeof *w.sums);
  w.open = tg_calloc((size_t)n + 1, sizeof *w.open);
  w.child = tg_malloc(((size_t)g->count + 1) * sizeof *w.child);
  w.next = tg_malloc(((size_t)g->count + 1) * sizeof *w.next);
  bool done = w.sums != NULL && w.open != NULL && w.child != NULL
              && w.next != NULL;
  if (done) {
    make_tree(&w);
    walk(&w);
    add_unreached(&w);
  }
  tg_free(w.open);
  tg_free(w.child);
  tg_free(w.next);
  if (!done) {
    tg_free(w.sums);
    w.sums = NULL;
  }
  return w.sums;
}
