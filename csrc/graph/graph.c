/* graph.c - see graph.h. */
#include "graph/graph.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "text/terminal.h"
#include "text/utf8.h"

/* One list of many arrays: each has the room that the last one has. One node
   more, whose first edge is the end of all. */
bool tg_graph_more_nodes (tg_Graph *g, uint32_t need) {
  uint32_t rooms[5] = {0};
  if (need > UINT32_MAX / 2)
    return false;
  for (int i = 0; i < 5; i++)
    rooms[i] = g->capacity;
  if (!tg_grow(&g->types, &rooms[0], need, sizeof *g->types)
      || !tg_grow(&g->names, &rooms[1], need, sizeof *g->names)
      || !tg_grow(&g->ids, &rooms[2], need, sizeof *g->ids)
      || !tg_grow(&g->sizes, &rooms[3], need, sizeof *g->sizes)
      || !tg_grow(&g->first, &rooms[4], need, sizeof *g->first))
    return false;
  g->capacity = rooms[4];
  return true;
}

bool tg_graph_more_edges (tg_Graph *g, uint32_t need) {
  uint32_t a = g->edges_capacity, b = a;
  if (need > UINT32_MAX / 2
      || !tg_grow(&g->edges, &a, need, sizeof *g->edges)
      || !tg_grow(&g->edge_types, &b, need, sizeof *g->edge_types))
    return false;
  g->edges_capacity = b;
  return true;
}

/* What is refused here is asked for again when it is needed. */
void tg_graph_reserve (tg_Graph *g, uint32_t nodes, uint32_t edges,
                       uint32_t strings) {
  if (nodes > g->capacity)
    (void)tg_graph_more_nodes(g, nodes);
  if (edges > g->edges_capacity)
    (void)tg_graph_more_edges(g, edges);
  tg_intern_reserve(&g->strings, strings);
}

static uint32_t string_or_none (tg_Graph *g, uint32_t i) {
  if (i == TG_INTMAP_NONE)
    g->failed = true;
  return i == TG_INTMAP_NONE ? 0 : i;
}

uint32_t tg_graph_string (tg_Graph *g, const char *s, size_t size) {
  return string_or_none(g, tg_intern_add(&g->strings, s, size));
}

uint32_t tg_graph_expected (tg_Graph *g, const char *s, size_t size,
                            uint64_t hash) {
  return string_or_none(g, tg_intern_add_expected(&g->strings, s, size,
                                                  hash));
}

uint32_t tg_graph_words (tg_Graph *g, tg_Buf *room, const char *s,
                         size_t size) {
  if (tg_utf8_whole(s, size) == size)
    return tg_graph_string(g, s, size);
  tg_buf_clear(room);
  tg_terminal_escape(room, s, size, 0);
  return tg_graph_string(g, room->data, room->size);
}

void tg_graph_append_string (tg_Graph *g, const char *s, size_t size) {
  tg_Intern *n = &g->strings;
  if (size > UINT32_MAX
      || !tg_grow(&n->items, &n->capacity, n->count + 1, sizeof *n->items)
      || !tg_buf_reserve(&n->bytes, size + 1)) {
    g->failed = true;
    return;
  }
  n->items[n->count++] = (tg_InternItem){
    n->bytes.size, (uint32_t)size, TG_INTMAP_NONE};
  tg_buf_add(&n->bytes, s, size);
}

bool tg_graph_end (tg_Graph *g) {
  if (g->failed || !tg_graph_room(g))
    g->failed = true;
  else
    g->first[g->count] = g->nedges;
  return !g->failed;
}

uint64_t tg_graph_bytes (const tg_Graph *g) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < g->count; i++)
    sum += g->sizes[i];
  return sum;
}

const char *tg_graph_class (const tg_Graph *g, uint32_t node, size_t *size) {
  static const char *const words[] = {
#define X(name, word, class) class,
    TG_NODE_TYPES(X)
#undef X
    "(other)"
  };
  const char *word = words[g->types[node]];
  if (word != NULL) {
    *size = strlen(word);
    return word;
  }
  const char *name = tg_graph_text(g, g->names[node], size);
  const char *blank = (*size > 0 && name[0] == '<')
                      ? memchr(name, ' ', *size) : NULL;
  if (blank != NULL)
    *size = (size_t)(blank - name);
  return name;
}

/* Asked once or twice of a file: by looking at all of them. */
uint32_t tg_graph_find (const tg_Graph *g, uint64_t id) {
  for (uint32_t i = 0; i < g->count; i++) {
    if (g->ids[i] == id)
      return i;
  }
  return UINT32_MAX;
}

void tg_graph_free (tg_Graph *g) {
  tg_free(g->types);
  tg_free(g->names);
  tg_free(g->ids);
  tg_free(g->sizes);
  tg_free(g->first);
  tg_free(g->edges);
  tg_free(g->edge_types);
  tg_free(g->idle);
  tg_intern_free(&g->strings);
  tg_makers_free(&g->makers);
  *g = (tg_Graph){0};
}
