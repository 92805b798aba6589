/* view.c - see view.h: what is open, its summary, ways to one node. */
#include "graph/view.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/largest.h"
#include "graph/snapshotreader.h"
#include "text/utf8.h"

#define TEXT 200u       /* bytes of a string that a row shows */
#define PASSED_ON 90u   /* percent: what is one other's is that one's row */

bool tg_view_take (tg_View *v, tg_Graph *g) {
  tg_Graph graph = *g;
  *g = (tg_Graph){0};
  memset(v, 0, sizeof *v);
  v->graph = graph;
  return tg_graph_settle(&v->graph)
         && tg_dominators_find(&v->dominators, &v->graph)
         && tg_paths_find(&v->paths, &v->graph, true);
}

bool tg_view_open (tg_View *v, const char *path, tg_Buf *words) {
  tg_Graph g;
  memset(v, 0, sizeof *v);
  if (!tg_snapshot_open(&g, path, words)) {
    tg_graph_free(&g);
    return false;
  }
  if (tg_view_take(v, &g))
    return true;
  tg_buf_addstr(words, "not enough memory");
  return false;
}

void tg_view_close (tg_View *v) {
  tg_graph_free(&v->graph);
  tg_dominators_free(&v->dominators);
  tg_paths_free(&v->paths);
  tg_buf_free(&v->text);
  tg_buf_free(&v->room);
  memset(v, 0, sizeof *v);
}

/* ---- one node ---- */

static bool is_named_itself (unsigned type) {
  return type == TG_NODE_CLOSURE || type == TG_NODE_CODE
         || type == TG_NODE_STRING || type == TG_NODE_SYNTHETIC;
}

const char *tg_view_called (const tg_View *v, uint32_t node, size_t *size) {
  const tg_Graph *g = &v->graph;
  const char *s = is_named_itself(g->types[node])
                  ? tg_graph_text(g, g->names[node], size)
                  : tg_graph_class(g, node, size);
  if (*size == 0)
    s = tg_graph_class(g, node, size);
  if (*size > TEXT)
    *size = tg_utf8_cut(s, TEXT);
  return s;
}

void tg_view_name (tg_View *v, uint32_t node, tg_Sink *out) {
  size_t size;
  const char *s = tg_view_called(v, node, &size);
  tg_sink_text(out, &v->room, s, size);
}

void tg_view_node (tg_View *v, uint32_t node, tg_Sink *out) {
  tg_sink_count(out, "id", v->graph.ids[node]);
  tg_sink_count(out, "self", v->graph.sizes[node]);
  tg_sink_count(out, "retained", v->dominators.retained[node]);
  tg_buf_clear(&v->text);
  tg_paths_text(&v->paths, node, &v->text);
  tg_sink_key(out, "path");
  tg_sink_text(out, &v->room, v->text.data, v->text.size);
}

/* ---- summary ---- */

static void write_class (tg_View *v, const tg_ClassSum *sum, tg_Sink *out) {
  size_t size;
  const char *s = tg_graph_class(&v->graph, sum->node, &size);
  out->object(out);
  tg_sink_key(out, "name");
  tg_sink_text(out, &v->room, s, size);
  tg_sink_count(out, "count", sum->count);
  tg_sink_count(out, "self", sum->self);
  tg_sink_count(out, "retained", sum->retained);
  out->close(out);
}

/* Those that are only made up are left out by the caller's numbers. */
static bool write_classes (tg_View *v, const tg_ClassSum *sums, uint32_t n,
                           uint32_t most, tg_Sink *out) {
  tg_Largest rows = {.most = most};
  bool done = true;
  for (uint32_t i = 0; done && i < n; i++)
    done = sums[i].count == 0
           || tg_largest_add(&rows, (tg_Weighed){sums[i].retained, i});
  tg_largest_sort(&rows);
  tg_sink_key(out, "classes");
  out->array(out);
  for (uint32_t i = 0; done && i < rows.count; i++)
    write_class(v, &sums[rows.list[i].i], out);
  out->close(out);
  tg_largest_free(&rows);
  return done;
}

/* What nearly all of a node's bytes are kept by, one below it, is told in its
   place. */
static uint8_t *passes_on (const tg_View *v) {
  const tg_Dominators *d = &v->dominators;
  uint8_t *passes = tg_calloc((size_t)v->graph.count + 1, 1);
  for (uint32_t i = 1; passes != NULL && i < d->count; i++) {
    uint32_t node = d->order[i], above = d->dominator[node];
    if (d->retained[node] / PASSED_ON >= d->retained[above] / 100)
      passes[above] = 1;
  }
  return passes;
}

static void write_retainers (tg_View *v, const tg_Largest *rows,
                             tg_Sink *out) {
  tg_sink_key(out, "retainers");
  out->array(out);
  for (uint32_t i = 0; i < rows->count; i++) {
    out->object(out);
    tg_sink_key(out, "name");
    tg_view_name(v, rows->list[i].i, out);
    tg_view_node(v, rows->list[i].i, out);
    out->close(out);
  }
  out->close(out);
}

static bool find_retainers (tg_View *v, uint32_t most, tg_Sink *out) {
  const tg_Dominators *d = &v->dominators;
  uint8_t *passes = passes_on(v);
  tg_Largest rows = {.most = most};
  bool done = passes != NULL;
  for (uint32_t i = 1; done && i < d->count; i++) {
    uint32_t node = d->order[i];
    if (!passes[node] && tg_graph_is_object(&v->graph, node))
      done = tg_largest_add(&rows, (tg_Weighed){d->retained[node], node});
  }
  tg_largest_sort(&rows);
  if (done)
    write_retainers(v, &rows, out);
  tg_free(passes);
  tg_largest_free(&rows);
  return done;
}

static uint64_t count_objects (const tg_Graph *g) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < g->count; i++)
    n += tg_graph_is_object(g, i);
  return n;
}

bool tg_view_summary (tg_View *v, uint32_t most, tg_Sink *out) {
  uint32_t n;
  uint32_t *of = tg_classes_number(&v->graph, &n);
  tg_ClassSum *sums = NULL;
  for (uint32_t i = 0; of != NULL && i < v->graph.count; i++)
    of[i] = tg_graph_is_object(&v->graph, i) ? of[i] : TG_NO_NODE;
  if (of != NULL)
    sums = tg_classes_add(&v->graph, &v->dominators, of, n);
  bool done = sums != NULL;
  if (done) {
    out->object(out);
    tg_sink_count(out, "objects", count_objects(&v->graph));
    tg_sink_count(out, "bytes", tg_graph_bytes(&v->graph));
    done = write_classes(v, sums, n, most, out)
           && find_retainers(v, most, out);
    out->close(out);
  }
  tg_free(of);
  tg_free(sums);
  return done;
}

/* ---- ways ---- */

static void write_edge (tg_View *v, uint32_t edge, tg_Sink *out) {
  static const char *const words[] = {
#define X(name, word) word,
    TG_EDGE_TYPES(X)
#undef X
  };
  const tg_Graph *g = &v->graph;
  uint32_t to = g->edges[edge].to;
  size_t size;
  out->object(out);
  tg_sink_key(out, "type");
  tg_sink_string(out, &v->room, words[g->edge_types[edge]]);
  tg_sink_key(out, "name");
  if (tg_edge_is_number(g->edge_types[edge]))
    out->integer(out, g->edges[edge].name);
  else {
    const char *s = tg_graph_text(g, g->edges[edge].name, &size);
    tg_sink_text(out, &v->room, s, size);
  }
  tg_buf_clear(&v->text);
  tg_paths_edge(g, edge, &v->text);
  tg_sink_key(out, "text");
  tg_sink_text(out, &v->room, v->text.data, v->text.size);
  tg_sink_count(out, "id", g->ids[to]);
  tg_sink_key(out, "class");
  tg_view_name(v, to, out);
  out->close(out);
}

#define LONGEST 100000u

/* The way to 'from', and the edge behind it; not one that goes through the node
   itself, nor one that is too long, which is counted. */
static bool write_way (tg_View *v, const tg_Paths *p, uint32_t from,
                       uint32_t edge, uint32_t *list, uint64_t *longer,
                       tg_Sink *out) {
  uint32_t node = v->graph.edges[edge].to;
  uint32_t n = tg_paths_edges(p, from, list, LONGEST);
  if (n == 0 && from != 0) {
    ++*longer;
    return false;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (v->graph.edges[list[i]].to == node)
      return false;
  }
  out->array(out);
  for (uint32_t i = 0; i < n; i++)
    write_edge(v, list[i], out);
  write_edge(v, edge, out);
  out->close(out);
  return true;
}

/* In the order of ways, so the shortest is the first. */
static bool write_ways (tg_View *v, uint32_t node, uint32_t most,
                        uint64_t *longer, tg_Sink *out) {
  const tg_Graph *g = &v->graph;
  uint32_t *list = tg_malloc(LONGEST * sizeof *list), n = 0;
  tg_Paths p;
  if (list == NULL || !tg_paths_find(&p, g, false)) {
    tg_free(list);
    return false;
  }
  for (uint32_t i = 0; i < p.count && n < most; i++) {
    uint32_t from = p.order[i];
    for (uint32_t e = g->first[from]; e < g->first[from + 1] && n < most; e++) {
      if (g->edges[e].to == node && from != node
          && tg_graph_retains(g, from, e))
        n += write_way(v, &p, from, e, list, longer, out);
    }
  }
  tg_paths_free(&p);
  tg_free(list);
  return true;
}

bool tg_view_paths (tg_View *v, uint32_t node, uint32_t most, tg_Sink *out) {
  out->object(out);
  tg_sink_key(out, "name");
  tg_view_name(v, node, out);
  tg_view_node(v, node, out);
  tg_view_maker(v, node, out);
  tg_sink_key(out, "paths");
  out->array(out);
  uint64_t longer = 0;
  bool done = write_ways(v, node, most, &longer, out);
  out->close(out);
  tg_sink_count(out, "longer", longer);
  out->close(out);
  return done;
}
