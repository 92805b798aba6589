/* paths.c - see paths.h. */
#include "graph/paths.h"

#include <string.h>

#include "base/alloc.h"

#define SHOWN 24u       /* edges of a way */
#define NAME 60u        /* bytes of an edge's name */

bool tg_paths_find (tg_Paths *p, const tg_Graph *g) {
  size_t n = (size_t)g->count + 1;
  *p = (tg_Paths){.graph = g};
  p->from = tg_malloc(n * sizeof *p->from);
  p->edge = tg_malloc(n * sizeof *p->edge);
  p->order = tg_malloc(n * sizeof *p->order);
  if (p->from == NULL || p->edge == NULL || p->order == NULL) {
    tg_paths_free(p);
    return false;
  }
  memset(p->from, 0xff, n * sizeof *p->from);
  if (g->count > 0) {
    p->from[0] = 0;
    p->order[p->count++] = 0;
  }
  for (uint32_t i = 0; i < p->count; i++) {
    uint32_t node = p->order[i];
    for (uint32_t e = g->first[node]; e < g->first[node + 1]; e++) {
      uint32_t to = g->edges[e].to;
      if (p->from[to] != TG_NO_NODE || !tg_graph_retains(g, node, e))
        continue;
      p->from[to] = node;
      p->edge[to] = e;
      p->order[p->count++] = to;
    }
  }
  return true;
}

void tg_paths_free (tg_Paths *p) {
  tg_free(p->from);
  tg_free(p->edge);
  tg_free(p->order);
  *p = (tg_Paths){0};
}

uint32_t tg_paths_edges (const tg_Paths *p, uint32_t node, uint32_t *list,
                         uint32_t most) {
  uint32_t n = 0;
  if (p->from[node] == TG_NO_NODE)
    return 0;
  for (uint32_t i = node; i != 0; i = p->from[i])
    n++;
  if (n > most)
    return 0;
  uint32_t k = n;
  for (uint32_t i = node; i != 0; i = p->from[i])
    list[--k] = p->edge[i];
  return n;
}

/* ---- words ---- */

static bool is_name (const char *s, size_t size) {
  for (size_t i = 0; i < size; i++) {
    char c = s[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'
                  || c == '$';
    if (!letter && (i == 0 || c < '0' || c > '9'))
      return false;
  }
  return size > 0;
}

/* A key that is no word, as in Lua; those that are in brackets already are. */
static void add_key (tg_Buf *to, const char *s, size_t size) {
  if (size > 2 && s[0] == '[' && s[size - 1] == ']') {
    tg_buf_add(to, s, size);
    return;
  }
  tg_buf_addstr(to, "[\"");
  for (size_t i = 0; i < size && i < NAME; i++) {
    if (s[i] == '"' || s[i] == '\\')
      tg_buf_addchar(to, '\\');
    tg_buf_addchar(to, (unsigned char)s[i] < 0x20 ? ' ' : s[i]);
  }
  tg_buf_addstr(to, size > NAME ? "...\"]" : "\"]");
}

/* Whether it stands behind what it is from without a word between. */
static bool is_field (unsigned type) {
  return type == TG_EDGE_PROPERTY || type == TG_EDGE_ELEMENT;
}

void tg_paths_edge (const tg_Graph *g, uint32_t edge, tg_Buf *to) {
  unsigned type = g->edge_types[edge];
  size_t size;
  if (tg_edge_is_number(type)) {
    tg_buf_addfmt(to, "[%u]", g->edges[edge].name);
    return;
  }
  const char *s = tg_graph_text(g, g->edges[edge].name, &size);
  if (type != TG_EDGE_PROPERTY)
    tg_buf_add(to, s, size < 4 * NAME ? size : 4 * NAME);
  else if (!is_name(s, size))
    add_key(to, s, size);
  else {
    tg_buf_addchar(to, '.');
    tg_buf_add(to, s, size);
  }
}

static bool is_called (const tg_Graph *g, uint32_t edge, const char *name) {
  size_t size;
  if (tg_edge_is_number(g->edge_types[edge]))
    return false;
  const char *s = tg_graph_text(g, g->edges[edge].name, &size);
  return size == strlen(name) && memcmp(s, name, size) == 0;
}

/* What each Lua program calls these tables; how many edges that stands for. */
static uint32_t add_known (const tg_Graph *g, const uint32_t *list, uint32_t n,
                           tg_Buf *to) {
  if (n < 2 || !is_called(g, list[0], "registry"))
    return 0;
  if (is_called(g, list[1], "_LOADED")) {
    tg_buf_addstr(to, "package.loaded");
    return 2;
  }
  bool globals = g->edge_types[list[1]] == TG_EDGE_ELEMENT
                 && g->edges[list[1]].name == 2;
  if (globals)
    tg_buf_addstr(to, "_G");
  return globals ? 2 : 0;
}

/* Whether a field may stand right behind an edge's name: "upvalue cache[3]",
   but "local cache of f > [3]". */
static bool is_joined (const tg_Graph *g, uint32_t edge) {
  size_t size;
  if (is_field(g->edge_types[edge]))
    return true;
  const char *s = tg_graph_text(g, g->edges[edge].name, &size);
  const char *blank = memchr(s, ' ', size);
  return blank == NULL || g->edge_types[edge] == TG_EDGE_CONTEXT
         || is_called(g, edge, "value");
}

/* An upvalue's value is the upvalue, for whoever reads. */
static void add_edge (const tg_Graph *g, uint32_t edge, uint32_t before,
                      tg_Buf *to) {
  bool value = before != TG_NO_NODE && is_called(g, edge, "value")
               && g->edge_types[before] == TG_EDGE_CONTEXT;
  if (value)
    return;
  if (!is_field(g->edge_types[edge])
      || (before != TG_NO_NODE && !is_joined(g, before)))
    tg_buf_addstr(to, " > ");
  tg_paths_edge(g, edge, to);
}

static void add_first (const tg_Graph *g, uint32_t edge, tg_Buf *to) {
  size_t before = to->size;
  tg_paths_edge(g, edge, to);
  if (to->size > before && to->data[before] == '.')
    memmove(to->data + before, to->data + before + 1, --to->size - before);
}

void tg_paths_text (const tg_Paths *p, uint32_t node, tg_Buf *to) {
  uint32_t list[4096];
  uint32_t n = tg_paths_edges(p, node, list, 4096);
  if (n == 0) {
    tg_buf_addstr(to, node == 0 ? "the root" : "no way");
    return;
  }
  uint32_t i = add_known(p->graph, list, n, to);
  if (i == 0)
    add_first(p->graph, list[i++], to);
  for (; i < n; i++) {
    if (n > SHOWN && i == SHOWN / 2) {
      i = n - SHOWN / 2;
      tg_buf_addstr(to, " ... ");
    }
    add_edge(p->graph, list[i], i > 0 ? list[i - 1] : TG_NO_NODE, to);
  }
}
