/* paths.c - see paths.h. */
#include "graph/paths.h"

#include <string.h>

#include "base/alloc.h"

#define SHOWN 24u       /* edges of a way */
#define NAME 60u        /* bytes of an edge's name */
#define LONGEST 4096    /* edges of a way that is told in words */

static bool is_called (const tg_Graph *g, uint32_t edge, const char *name) {
  size_t size;
  if (tg_edge_is_number(g->edge_types[edge]))
    return false;
  const char *s = tg_graph_text(g, g->edges[edge].name, &size);
  return size == strlen(name) && memcmp(s, name, size) == 0;
}

/* Coroutines: those of Lua's snapshots have such names (heap/naming.c). */
static bool is_stack (const tg_Graph *g, uint32_t node) {
  static const char *const words[] = {"main thread", "thread"};
  size_t size;
  if (!g->born || g->types[node] != TG_NODE_OBJECT)
    return false;
  const char *s = tg_graph_text(g, g->names[node], &size);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t n = strlen(words[i]);
    if (size >= n && memcmp(s, words[i], n) == 0
        && (size == n || s[n] == ' ' || s[n] == ','))
      return true;
  }
  return false;
}

static void go_on (tg_Paths *p, uint32_t node) {
  const tg_Graph *g = p->graph;
  for (uint32_t e = g->first[node]; e < g->first[node + 1]; e++) {
    uint32_t to = g->edges[e].to;
    if (p->from[to] != TG_NO_NODE || !tg_graph_retains(g, node, e))
      continue;
    p->from[to] = node;
    p->edge[to] = e;
    p->order[p->count++] = to;
  }
}

/* From the nearest on; stacks are put aside until there is nothing else. What
   waits to be collected is the root's last edge, and comes after that. */
static void search (tg_Paths *p, uint32_t *aside) {
  uint32_t i = 0, n = 0, k = 0;
  for (;;) {
    for (; i < p->count; i++) {
      bool later = aside != NULL
                   && (is_stack(p->graph, p->order[i])
                       || (p->order[i] != 0 && p->graph->born
                           && p->graph->types[p->order[i]]
                              == TG_NODE_SYNTHETIC));
      if (later)
        aside[n++] = p->order[i];
      else
        go_on(p, p->order[i]);
    }
    if (k == n)
      return;
    go_on(p, aside[k++]);
  }
}

bool tg_paths_find (tg_Paths *p, const tg_Graph *g, bool settled) {
  size_t n = (size_t)g->count + 1;
  *p = (tg_Paths){.graph = g};
  p->from = tg_malloc(n * sizeof *p->from);
  p->edge = tg_malloc(n * sizeof *p->edge);
  p->order = tg_malloc(n * sizeof *p->order);
  uint32_t *aside = settled ? tg_malloc(n * sizeof *aside) : NULL;
  if (p->from == NULL || p->edge == NULL || p->order == NULL
      || (settled && aside == NULL)) {
    tg_free(aside);
    tg_paths_free(p);
    return false;
  }
  memset(p->from, 0xff, n * sizeof *p->from);
  if (g->count > 0) {
    p->from[0] = 0;
    p->order[p->count++] = 0;
  }
  search(p, aside);
  tg_free(aside);
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
  for (uint32_t i = node; i != 0 && n <= most; i = p->from[i])
    n++;
  if (n > most)
    return 0;
  uint32_t k = n;
  for (uint32_t i = node; i != 0; i = p->from[i])
    list[--k] = p->edge[i];
  return n;
}

/* The registry, what is below of it: "_LOADED", the globals; the modules. */
bool tg_paths_is_namespace (const tg_Paths *p, uint32_t node) {
  const tg_Graph *g = p->graph;
  uint32_t list[3];
  uint32_t n = node != 0 ? tg_paths_edges(p, node, list, 3) : 0;
  if (n == 0 || !is_called(g, list[0], "registry"))
    return node == 0;
  bool globals = n == 2 && g->edge_types[list[1]] == TG_EDGE_ELEMENT
                 && g->edges[list[1]].name == 2;
  return n == 1 || globals || is_called(g, list[1], "_LOADED");
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

/* What each Lua program calls a table below the registry: the modules, the
   globals. */
static tg_Joint known (const tg_Graph *g, uint32_t first, uint32_t second) {
  if (!is_called(g, first, "registry"))
    return TG_JOINT_NONE;
  if (is_called(g, second, "_LOADED"))
    return TG_JOINT_LOADED;
  bool globals = g->edge_types[second] == TG_EDGE_ELEMENT
                 && g->edges[second].name == 2;
  return globals ? TG_JOINT_GLOBALS : TG_JOINT_NONE;
}

/* How many edges such a word stands for. */
static uint32_t add_known (const tg_Graph *g, const uint32_t *list, uint32_t n,
                           tg_Buf *to) {
  tg_Joint joint = n < 2 ? TG_JOINT_NONE : known(g, list[0], list[1]);
  if (joint == TG_JOINT_NONE)
    return 0;
  tg_buf_addstr(to, joint == TG_JOINT_LOADED ? "package.loaded" : "_G");
  return 2;
}

bool tg_paths_joins (const char *label, size_t size) {
  static const char upvalue[] = "upvalue ";
  size_t n = sizeof upvalue - 1;
  return memchr(label, ' ', size) == NULL
         || (size > n && memcmp(label, upvalue, n) == 0);
}

static bool is_joined (const tg_Graph *g, uint32_t edge) {
  size_t size;
  if (is_field(g->edge_types[edge]))
    return true;
  const char *s = tg_graph_text(g, g->edges[edge].name, &size);
  return tg_paths_joins(s, size);
}

/* An upvalue's value is the upvalue, for whoever reads. */
static tg_Joint joint_of (const tg_Graph *g, uint32_t edge, uint32_t before) {
  bool value = before != TG_NO_NODE && is_called(g, edge, "value")
               && g->edge_types[before] == TG_EDGE_CONTEXT;
  if (value)
    return TG_JOINT_NONE;
  bool apart = !is_field(g->edge_types[edge])
               || (before != TG_NO_NODE && !is_joined(g, before));
  return apart ? TG_JOINT_APART : TG_JOINT_BEHIND;
}

static void add_edge (const tg_Graph *g, uint32_t edge, uint32_t before,
                      tg_Buf *to) {
  tg_Joint joint = joint_of(g, edge, before);
  if (joint == TG_JOINT_NONE)
    return;
  if (joint == TG_JOINT_APART)
    tg_buf_addstr(to, " > ");
  tg_paths_edge(g, edge, to);
}

tg_Joint tg_paths_joint (const tg_Paths *p, uint32_t node) {
  uint32_t from = p->from[node];
  if (node == 0 || from == TG_NO_NODE)
    return TG_JOINT_NONE;
  if (from == 0)
    return TG_JOINT_FIRST;
  tg_Joint joint = p->from[from] == 0
                   ? known(p->graph, p->edge[from], p->edge[node])
                   : TG_JOINT_NONE;
  return joint != TG_JOINT_NONE ? joint
         : joint_of(p->graph, p->edge[node], p->edge[from]);
}

static void add_first (const tg_Graph *g, uint32_t edge, tg_Buf *to) {
  size_t before = to->size;
  tg_paths_edge(g, edge, to);
  if (to->size > before && to->data[before] == '.')
    memmove(to->data + before, to->data + before + 1, --to->size - before);
}

/* Of a node whose way has no edges, or too many. */
static void add_none (const tg_Paths *p, uint32_t node, tg_Buf *to) {
  if (node == 0)
    tg_buf_addstr(to, "the root");
  else if (p->from[node] == TG_NO_NODE)
    tg_buf_addstr(to, "no way");
  else
    tg_buf_addfmt(to, "a way of more than %d references", LONGEST);
}

void tg_paths_text (const tg_Paths *p, uint32_t node, tg_Buf *to) {
  uint32_t list[LONGEST];
  uint32_t n = tg_paths_edges(p, node, list, LONGEST);
  if (n == 0) {
    add_none(p, node, to);
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
