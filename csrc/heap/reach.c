/* reach.c - see reach.h. */
#include "heap/reach.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "heap/links.h"

typedef struct Reach {
  tg_Graph *g;
  const tg_Weakness *w;
  uint32_t count;       /* nodes but the last */
  uint8_t *found;       /* owns */
  uint32_t *stack;      /* owns */
  uint32_t *lost;       /* owns; nodes that the roots do not lead to */
  uint32_t nlost;
} Reach;

TG_INLINE bool leads (const Reach *r, uint32_t from, uint32_t edge) {
  const tg_Graph *g = r->g;
  return tg_graph_retains(g, from, edge)
         && !tg_weakness_is_pair(r->w, g->edge_types[edge],
                                 g->edges[edge].name);
}

/* Each node is on the stack once at most. */
static void find (Reach *r, uint32_t node) {
  const tg_Graph *g = r->g;
  uint32_t depth = 0;
  if (r->found[node])
    return;
  r->found[node] = 1;
  r->stack[depth++] = node;
  while (depth > 0) {
    node = r->stack[--depth];
    for (uint32_t e = g->first[node]; e < g->first[node + 1]; e++) {
      uint32_t to = g->edges[e].to;
      if (to >= r->count || r->found[to] || !leads(r, node, e))
        continue;
      r->found[to] = 1;
      r->stack[depth++] = to;
    }
  }
}

/* Values whose key and table are found, until there are no more. */
static void find_values (Reach *r) {
  bool more = true;
  while (more) {
    more = false;
    for (uint32_t i = 0; i < r->w->count; i++) {
      const tg_Pair *p = &r->w->pairs[i];
      if (!r->found[p->key + TG_FIRST_OBJECT]
          || !r->found[p->table + TG_FIRST_OBJECT]
          || r->found[p->value + TG_FIRST_OBJECT])
        continue;
      find(r, p->value + TG_FIRST_OBJECT);
      more = true;
    }
  }
}

/* A weak edge has a name, also in the place of a number. */
static void loosen (tg_Graph *g, uint32_t edge) {
  char text[24];
  if (tg_edge_is_number(g->edge_types[edge])) {
    int size = snprintf(text, sizeof text, "[%" PRIu32 "]",
                        g->edges[edge].name);
    g->edges[edge].name = tg_graph_string(g, text, (size_t)size);
  }
  g->edge_types[edge] = TG_EDGE_WEAK;
}

/* What is lost keeps nothing alive that is found: else an object would not be
   retained by its owner alone, since something that is to be collected refers
   to it, too. */
static void loosen_lost (const Reach *r) {
  tg_Graph *g = r->g;
  for (uint32_t i = 0; i < r->nlost; i++) {
    uint32_t node = r->lost[i];
    for (uint32_t e = g->first[node]; e < g->first[node + 1]; e++) {
      if (g->edges[e].to < r->count && r->found[g->edges[e].to])
        loosen(g, e);
    }
  }
}

/* Those that nothing refers to first: most others are found from these. */
static void add (Reach *r, const uint8_t *referred, uint64_t *bytes) {
  tg_Graph *g = r->g;
  uint32_t name = tg_graph_string(g, "object", 6);
  for (uint32_t i = 0; i < r->nlost; i++)
    *bytes += g->sizes[r->lost[i]];
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t i = 0; i < r->nlost; i++) {
      uint32_t node = r->lost[i];
      if (r->found[node] || (pass == 0 && referred[node]))
        continue;
      tg_graph_edge(g, TG_EDGE_INTERNAL, name, node);
      find(r, node);
    }
  }
}

/* Whom those refer to that are not found. */
static uint8_t *referred_by_lost (const Reach *r) {
  const tg_Graph *g = r->g;
  uint8_t *referred = tg_calloc(r->count, 1);
  for (uint32_t i = 0; i < r->nlost && referred != NULL; i++) {
    uint32_t node = r->lost[i];
    for (uint32_t e = g->first[node]; e < g->first[node + 1]; e++) {
      if (g->edges[e].to < r->count && g->edges[e].to != node
          && leads(r, node, e))
        referred[g->edges[e].to] = 1;
    }
  }
  return referred;
}

/* False without memory. */
static bool list_lost (Reach *r) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->count; i++)
    n += !r->found[i];
  r->lost = tg_malloc(((size_t)n + 1) * sizeof *r->lost);
  for (uint32_t i = 0; r->lost != NULL && r->nlost < n; i++) {
    if (!r->found[i])
      r->lost[r->nlost++] = i;
  }
  return r->lost != NULL;
}

bool tg_reach_add_garbage (tg_Graph *g, const tg_Weakness *w,
                           uint64_t *bytes) {
  Reach r = {.g = g, .w = w, .count = g->count - 1};
  uint8_t *referred = NULL;
  r.found = tg_calloc(g->count, 1);
  r.stack = tg_malloc((size_t)g->count * sizeof *r.stack);
  if (r.found != NULL && r.stack != NULL) {
    find(&r, 0);
    find_values(&r);
    if (list_lost(&r)) {
      loosen_lost(&r);
      referred = referred_by_lost(&r);
    }
  }
  if (referred != NULL)
    add(&r, referred, bytes);
  bool done = referred != NULL && !g->failed;
  tg_free(referred);
  tg_free(r.lost);
  tg_free(r.found);
  tg_free(r.stack);
  return done;
}
