/*
** retaining.c - which edges keep what they lead to alive, as DevTools see it:
** what only a look at the whole graph tells (tg_graph_settle in graph.h).
**
** A value of a weak table is kept by its key and the table together, and has an
** edge from each: that of the key counts, since it says more. And where the
** root names objects of the program by shortcuts (V8 does), edges into what
** those reach count only from inside.
*/
#include "graph/graph.h"

#include <string.h>

#include "base/alloc.h"

static void set_idle (tg_Graph *g, uint32_t edge) {
  g->idle[edge / 8] |= (uint8_t)(1u << edge % 8);
}

/* ---- weak tables ---- */

/* "N / part of key (... @ID) -> value (... @ID) pair in WeakMap (table @ID)":
   whether the last one is that id. */
static bool names_table (const char *s, size_t size, uint64_t id) {
  static const char begin[] = " / part of key (", last[] = "(table @";
  uint64_t n = 0;
  if (size < 40 || s[0] < '0' || s[0] > '9'
      || memmem(s, 40, begin, sizeof begin - 1) == NULL)
    return false;
  const char *p = memmem(s, size, last, sizeof last - 1);
  if (p == NULL)
    return false;
  for (p += sizeof last - 1; p < s + size && *p >= '0' && *p <= '9'; p++)
    n = n * 10 + (uint64_t)(*p - '0');
  return n == id;
}

static void leave_tables (tg_Graph *g) {
  for (uint32_t i = 0; i < g->count; i++) {
    for (uint32_t e = g->first[i]; e < g->first[i + 1]; e++) {
      size_t size;
      if (g->edge_types[e] != TG_EDGE_INTERNAL)
        continue;
      const char *s = tg_graph_text(g, g->edges[e].name, &size);
      if (names_table(s, size, g->ids[i]))
        set_idle(g, e);
    }
  }
}

/* ---- what the program's own objects reach ---- */

typedef struct Owned {
  uint8_t *is;          /* owns; by node */
  uint32_t *stack;      /* owns */
  uint32_t depth;
} Owned;

static void own (Owned *o, uint32_t node) {
  if (o->is[node])
    return;
  o->is[node] = 1;
  o->stack[o->depth++] = node;
}

/* Whom the root's shortcuts lead to, and all that these do; false: there are no
   shortcuts. */
static bool find_owned (const tg_Graph *g, Owned *o) {
  for (uint32_t e = g->first[0]; e < g->first[1]; e++) {
    if (g->edge_types[e] == TG_EDGE_SHORTCUT)
      own(o, g->edges[e].to);
  }
  if (o->depth == 0)
    return false;
  while (o->depth > 0) {
    uint32_t node = o->stack[--o->depth];
    for (uint32_t e = g->first[node]; e < g->first[node + 1]; e++) {
      if (g->edge_types[e] != TG_EDGE_WEAK)
        own(o, g->edges[e].to);
    }
  }
  return true;
}

static void leave_outside (tg_Graph *g, const Owned *o) {
  for (uint32_t i = 1; i < g->count; i++) {
    for (uint32_t e = g->first[i]; e < g->first[i + 1]; e++) {
      if (o->is[g->edges[e].to] && !o->is[i])
        set_idle(g, e);
    }
  }
}

bool tg_graph_settle (tg_Graph *g) {
  Owned o = {0};
  g->idle = tg_calloc((size_t)g->nedges / 8 + 1, 1);
  o.is = tg_calloc((size_t)g->count + 1, 1);
  o.stack = tg_malloc(((size_t)g->count + 1) * sizeof *o.stack);
  bool done = g->idle != NULL && o.is != NULL && o.stack != NULL;
  if (done && g->count > 0) {
    leave_tables(g);
    if (find_owned(g, &o))
      leave_outside(g, &o);
  }
  tg_free(o.is);
  tg_free(o.stack);
  return done;
}
