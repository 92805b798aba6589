/* groups.c - see groups.h. */
#include "graph/groups.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

/* Of one class at one object: they are a collection. Modules and globals have
   names, however many there are. */
#define MANY 8u
#define MANY_NAMES 64u
#define BACK 8u         /* groups above that a chain may come back to */

typedef struct Naming {
  tg_Groups *groups;
  const tg_Paths *paths;
  uint32_t *of;         /* owns; by node */
  uint32_t *classes;    /* owns; by node, of 'words' */
  uint32_t *seen;       /* owns; by class: how many at the object in hand */
  uint32_t any;         /* the word "[*]" */
  tg_Buf text;          /* owns */
} Naming;

static uint32_t word (tg_Groups *groups, const char *s, size_t size) {
  uint32_t i = tg_intern_add(&groups->words, s, size);
  if (i == TG_INTMAP_NONE)
    groups->failed = true;
  return i == TG_INTMAP_NONE ? 0 : i;
}

static uint32_t group (tg_Groups *groups, uint32_t above, uint32_t label,
                       uint32_t class) {
  uint32_t key[3] = {above, label, class};
  uint32_t before = groups->keys.count;
  uint32_t i = tg_intern_add(&groups->keys, key, sizeof key);
  if (i == TG_INTMAP_NONE
      || !tg_grow(&groups->list, &groups->capacity, groups->keys.count,
                  sizeof *groups->list)) {
    groups->failed = true;
    return 0;
  }
  if (groups->keys.count > before) {
    groups->list[i] = (tg_Group){above, label, class};
    groups->count = groups->keys.count;
  }
  return i;
}

/* One further up that has the same class by the same edge: what goes on like
   that is a chain, and has no end. */
static uint32_t again (const tg_Groups *groups, uint32_t above, uint32_t label,
                       uint32_t class) {
  uint32_t i = above;
  for (unsigned k = 0; k < BACK; k++) {
    const tg_Group *g = &groups->list[i];
    if (g->label == label && g->class == class)
      return i;
    if (g->above == i)
      break;
    i = g->above;
  }
  return TG_NO_NODE;
}

/* ---- one graph ---- */

static uint32_t *classes_of (tg_Groups *groups, const tg_Graph *g) {
  uint32_t *list = tg_malloc(((size_t)g->count + 1) * sizeof *list);
  for (uint32_t i = 0; i < g->count && list != NULL; i++) {
    size_t size;
    const char *s = tg_graph_class(g, i, &size);
    if (g->types[i] == TG_NODE_CLOSURE)         /* by its place */
      s = tg_graph_text(g, g->names[i], &size);
    list[i] = word(groups, s, size);
  }
  return list;
}

/* An element is one of many, but for those of the registry, which Lua has its
   globals in. */
static uint32_t label_of (Naming *n, uint32_t node, uint32_t edge,
                          uint32_t class) {
  const tg_Graph *g = n->paths->graph;
  unsigned type = g->edge_types[edge];
  bool names = tg_paths_is_namespace(n->paths, node);
  bool many = n->seen[class] > (names ? MANY_NAMES : MANY);
  if ((type == TG_EDGE_ELEMENT && (!names || many))
      || (type == TG_EDGE_PROPERTY && many))
    return n->any;
  tg_buf_clear(&n->text);
  tg_paths_edge(g, edge, &n->text);
  return word(n->groups, n->text.data, n->text.size);
}

/* Those that the way goes on to from a node. */
static void group_below (Naming *n, uint32_t node) {
  const tg_Graph *g = n->paths->graph;
  for (int pass = 0; pass < 3; pass++) {
    for (uint32_t e = g->first[node]; e < g->first[node + 1]; e++) {
      uint32_t to = g->edges[e].to;
      if (n->paths->from[to] != node || n->paths->edge[to] != e || to == 0)
        continue;
      uint32_t class = n->classes[to];
      if (pass != 1) {
        n->seen[class] = pass == 0 ? n->seen[class] + 1 : 0;
        continue;
      }
      uint32_t label = label_of(n, node, e, class);
      n->of[to] = again(n->groups, n->of[node], label, class);
      if (n->of[to] == TG_NO_NODE)
        n->of[to] = group(n->groups, n->of[node], label, class);
    }
  }
}

static bool begin (Naming *n) {
  const tg_Graph *g = n->paths->graph;
  n->any = word(n->groups, "[*]", 3);
  n->classes = classes_of(n->groups, g);
  n->of = tg_malloc(((size_t)g->count + 1) * sizeof *n->of);
  n->seen = tg_calloc((size_t)n->groups->words.count + 1, sizeof *n->seen);
  if (n->classes == NULL || n->of == NULL || n->seen == NULL)
    return false;
  memset(n->of, 0xff, ((size_t)g->count + 1) * sizeof *n->of);
  return !n->groups->failed;
}

uint32_t *tg_groups_number (tg_Groups *groups, const tg_Paths *p) {
  Naming n = {.groups = groups, .paths = p};
  bool done = begin(&n);
  if (done && p->count > 0)
    n.of[0] = group(groups, 0, n.any, n.any);
  for (uint32_t i = 0; done && i < p->count && !groups->failed; i++)
    group_below(&n, p->order[i]);
  tg_free(n.classes);
  tg_free(n.seen);
  tg_buf_free(&n.text);
  if (done && !groups->failed)
    return n.of;
  tg_free(n.of);
  return NULL;
}

void tg_groups_free (tg_Groups *groups) {
  tg_free(groups->list);
  tg_intern_free(&groups->words);
  tg_intern_free(&groups->keys);
  *groups = (tg_Groups){0};
}
