/*
** waste.c - what is looked for in a snapshot: objects by a word, equal ones,
** empty ones. What is declared here stands in view.h.
*/
#include "graph/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Rows of a group each, sorted by what is wasted. */
typedef struct Row {
  uint64_t weight, count, self;
  uint32_t node;
} Row;

static int by_weight (const void *a, const void *b) {
  const Row *x = a, *y = b;
  if (x->weight != y->weight)
    return (x->weight < y->weight) - (x->weight > y->weight);
  return (x->node > y->node) - (x->node < y->node);
}

static void write_row (tg_View *v, const Row *row, const char *name,
                       bool wasted, tg_Sink *out) {
  out->object(out);
  out->key(out, name, strlen(name));
  tg_view_name(v, row->node, out);
  tg_sink_count(out, "count", row->count);
  tg_sink_count(out, "self", row->self);
  if (wasted)
    tg_sink_count(out, "wasted", row->weight);
  tg_buf_clear(&v->text);
  tg_paths_text(&v->paths, row->node, &v->text);
  tg_sink_key(out, "path");
  tg_sink_text(out, &v->room, v->text.data, v->text.size);
  out->close(out);
}

static void write_rows (tg_View *v, Row *rows, uint32_t n, uint32_t most,
                        const char *name, bool wasted, tg_Sink *out) {
  if (n > 1)
    qsort(rows, n, sizeof *rows, by_weight);
  out->array(out);
  for (uint32_t i = 0; i < n && i < most && rows[i].weight > 0; i++)
    write_row(v, &rows[i], name, wasted, out);
  out->close(out);
}

/* ---- by a word ---- */

static bool holds (const char *s, size_t size, const char *word, size_t n) {
  return n == 0 || (size > 0 && memmem(s, size, word, n) != NULL);
}

static bool is_meant (const tg_Graph *g, uint32_t node, const char *word,
                      size_t n) {
  size_t size;
  const char *s = tg_graph_text(g, g->names[node], &size);
  if (holds(s, size, word, n))
    return true;
  s = tg_graph_class(g, node, &size);
  return holds(s, size, word, n);
}

bool tg_view_find (tg_View *v, const char *word, uint32_t most,
                   tg_Sink *out) {
  const tg_Graph *g = &v->graph;
  size_t size = strlen(word);
  uint32_t n = 0;
  Row *rows = tg_malloc(((size_t)g->count + 1) * sizeof *rows);
  if (rows == NULL)
    return false;
  for (uint32_t i = 1; i < g->count; i++) {
    if (is_meant(g, i, word, size))
      rows[n++] = (Row){.weight = v->dominators.retained[i], .node = i};
  }
  if (n > 1)
    qsort(rows, n, sizeof *rows, by_weight);
  out->object(out);
  tg_sink_count(out, "found", n);
  tg_sink_key(out, "objects");
  out->array(out);
  for (uint32_t i = 0; i < n && i < most; i++) {
    out->object(out);
    tg_sink_key(out, "name");
    tg_view_name(v, rows[i].node, out);
    tg_view_node(v, rows[i].node, out);
    tg_view_maker(v, rows[i].node, out);
    out->close(out);
  }
  out->close(out);
  out->close(out);
  tg_free(rows);
  return true;
}

/* ---- equal ones ---- */

/* What makes two equal: of a string its text and size, since texts are cut; of
   a table its size, its class and all edges. */
static void add_string_key (tg_Buf *key, const tg_Graph *g, uint32_t node) {
  tg_buf_put32(key, g->names[node]);
  tg_buf_put64(key, g->sizes[node]);
}

static int by_edge (const void *a, const void *b) {
  const uint32_t *x = a, *y = b;
  for (int i = 0; i < 3; i++) {
    if (x[i] != y[i])
      return (x[i] > y[i]) - (x[i] < y[i]);
  }
  return 0;
}

static void add_table_key (tg_Buf *key, const tg_Graph *g, uint32_t node) {
  uint32_t n = g->first[node + 1] - g->first[node];
  tg_buf_put32(key, g->names[node]);
  tg_buf_put64(key, g->sizes[node]);
  tg_buf_put32(key, n);
  size_t from = key->size;
  for (uint32_t e = g->first[node]; e < g->first[node + 1]; e++) {
    tg_buf_put32(key, g->edge_types[e]);
    tg_buf_put32(key, g->edges[e].name);
    tg_buf_put32(key, g->edges[e].to);
  }
  if (n > 1 && !key->failed)
    qsort(key->data + from, n, 12, by_edge);
}

/* Those of a type that are equal to another, in rows. */
static bool find_equal (tg_View *v, tg_NodeType type, const char *name,
                        uint32_t most, tg_Sink *out) {
  const tg_Graph *g = &v->graph;
  tg_Intern keys = {0};
  tg_Buf key = {0};
  Row *rows = tg_calloc((size_t)g->count + 1, sizeof *rows);
  bool failed = rows == NULL;
  for (uint32_t i = 0; i < g->count && !failed; i++) {
    uint32_t edges = g->first[i + 1] - g->first[i];
    if (g->types[i] != type || (type == TG_NODE_OBJECT && edges == 0))
      continue;
    tg_buf_clear(&key);
    if (type == TG_NODE_STRING)
      add_string_key(&key, g, i);
    else
      add_table_key(&key, g, i);
    uint32_t k = tg_intern_add(&keys, key.data, key.size);
    failed = k == TG_INTMAP_NONE || key.failed;
    if (failed)
      break;
    Row *row = &rows[k];
    row->node = (row->count == 0) ? i : row->node;
    row->weight += (row->count > 0) ? g->sizes[i] : 0;
    row->count++;
    row->self += g->sizes[i];
  }
  if (!failed)
    write_rows(v, rows, keys.count, most, name, true, out);
  tg_intern_free(&keys);
  tg_buf_free(&key);
  tg_free(rows);
  return !failed;
}

bool tg_view_duplicates (tg_View *v, uint32_t most, tg_Sink *out) {
  out->object(out);
  tg_sink_key(out, "strings");
  bool done = find_equal(v, TG_NODE_STRING, "text", most, out);
  if (done) {
    tg_sink_key(out, "tables");
    done = find_equal(v, TG_NODE_OBJECT, "name", most, out);
  }
  out->close(out);
  return done;
}

/* ---- empty ones ---- */

/* What every object of a class has says nothing of what is in it. */
static bool is_bare (const tg_Graph *g, uint32_t edge) {
  static const char *const words[] = {"metatable", "map", "__proto__"};
  size_t size;
  if (tg_edge_is_number(g->edge_types[edge]))
    return false;
  const char *s = tg_graph_text(g, g->edges[edge].name, &size);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (size == strlen(words[i]) && memcmp(s, words[i], size) == 0)
      return true;
  }
  return false;
}

static bool is_empty (const tg_Graph *g, uint32_t node) {
  if (g->types[node] != TG_NODE_OBJECT)
    return false;
  for (uint32_t e = g->first[node]; e < g->first[node + 1]; e++) {
    if (!is_bare(g, e))
      return false;
  }
  return true;
}

bool tg_view_empty (tg_View *v, uint32_t most, tg_Sink *out) {
  const tg_Graph *g = &v->graph;
  uint32_t n;
  uint32_t *of = tg_classes_number(g, &n);
  Row *rows = tg_calloc((size_t)n + 1, sizeof *rows);
  bool done = of != NULL && rows != NULL;
  for (uint32_t i = 0; done && i < g->count; i++) {
    if (!is_empty(g, i))
      continue;
    Row *row = &rows[of[i]];
    row->node = (row->count == 0) ? i : row->node;
    row->count++;
    row->weight = row->self += g->sizes[i];
  }
  if (done) {
    out->object(out);
    tg_sink_key(out, "empty");
    write_rows(v, rows, n, most, "name", false, out);
    out->close(out);
  }
  tg_free(of);
  tg_free(rows);
  return done;
}
