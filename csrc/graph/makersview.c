/*
** makersview.c - who made what is in a snapshot: of one object, and added up by
** the way of calls. What is declared here stands in view.h.
*/
#include "graph/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define CALLS 16u       /* of one object, as text */

/* ---- a function ---- */

static void write_text (tg_View *v, uint32_t string, tg_Sink *out) {
  size_t size;
  const char *s = tg_graph_text(&v->graph, string, &size);
  tg_sink_text(out, &v->room, s, size);
}

static bool is_empty (const tg_Graph *g, uint32_t string) {
  size_t size;
  tg_graph_text(g, string, &size);
  return size == 0;
}

/* "name", "url" and "line", into an open object. */
static void write_function (tg_View *v, tg_MakerId id, tg_Sink *out) {
  const tg_Makers *m = &v->graph.makers;
  const tg_MakerFunction *f = &m->functions[tg_makers_get(m, id)->function];
  tg_sink_key(out, "name");
  write_text(v, f->name, out);
  if (is_empty(&v->graph, f->script))
    return;
  tg_sink_key(out, "url");
  write_text(v, f->script, out);
  if (f->line > 0)
    tg_sink_count(out, "line", f->line);
}

/* ---- one object ---- */

void tg_view_maker (tg_View *v, uint32_t node, tg_Sink *out) {
  const tg_Makers *m = &v->graph.makers;
  tg_MakerId id = tg_makers_of(m, node);
  if (id == 0)
    return;
  tg_sink_key(out, "made_by");
  out->array(out);
  for (; tg_makers_get(m, id)->caller != 0; id = tg_makers_get(m, id)->caller) {
    out->object(out);
    write_function(v, id, out);
    out->close(out);
  }
  out->close(out);
}

static void add_call (const tg_Graph *g, tg_MakerId id, tg_Buf *text) {
  const tg_Makers *m = &g->makers;
  const tg_MakerFunction *f = &m->functions[tg_makers_get(m, id)->function];
  size_t size;
  const char *s = tg_graph_text(g, f->name, &size);
  tg_buf_add(text, s, size);
  if (is_empty(g, f->script))
    return;
  tg_buf_addchar(text, ' ');
  s = tg_graph_text(g, f->script, &size);
  tg_buf_add(text, s, size);
  if (f->line > 0)
    tg_buf_addfmt(text, ":%u", f->line);
}

/* The root is told of what only the root has made. */
void tg_view_maker_text (const tg_View *v, uint32_t node, tg_Buf *text) {
  const tg_Makers *m = &v->graph.makers;
  tg_MakerId id = tg_makers_of(m, node), caller;
  for (uint32_t i = 0; id != 0; i++, id = caller) {
    caller = tg_makers_get(m, id)->caller;
    if (i > 0 && caller == 0)
      return;
    tg_buf_addstr(text, i > 0 ? " < " : "");
    if (i == CALLS) {
      tg_buf_addstr(text, "…");
      return;
    }
    add_call(&v->graph, id, text);
  }
}

/* ---- all ---- */

typedef struct Sum {
  uint64_t count, bytes;        /* what is there that it has made itself... */
  uint64_t all_count, all_bytes;        /* ...and those that it has called */
} Sum;

/* By id; NULL without memory. A maker is behind its caller. */
static Sum *add_up (const tg_Graph *g) {
  const tg_Makers *m = &g->makers;
  Sum *sums = tg_calloc((size_t)m->count + 1, sizeof *sums);
  if (sums == NULL)
    return NULL;
  for (uint32_t i = 0; i < g->count; i++) {
    Sum *s = &sums[tg_makers_of(m, i)];
    s->count += tg_graph_is_object(g, i);
    s->bytes += g->sizes[i];
  }
  for (tg_MakerId id = m->count; id > 0; id--) {
    Sum *s = &sums[id], *caller = &sums[tg_makers_get(m, id)->caller];
    s->all_count += s->count;
    s->all_bytes += s->bytes;
    caller->all_count += id > 1 ? s->all_count : 0;
    caller->all_bytes += id > 1 ? s->all_bytes : 0;
  }
  return sums;
}

typedef struct Row {
  uint64_t bytes;
  tg_MakerId id;
} Row;

/* The largest first, and callers before those whom they call. */
static int by_bytes (const void *a, const void *b) {
  const Row *x = a, *y = b;
  if (x->bytes != y->bytes)
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
  return (x->id > y->id) - (x->id < y->id);
}

/* Links those alone that have the most, the largest first; how many of them
   have anything. A caller has no less than those whom it calls: so nobody is
   there without its caller. */
static bool link_largest (const tg_Makers *m, const Sum *sums, uint32_t most,
                          tg_MakerLinks *links, uint32_t *found) {
  Row *rows = tg_malloc(((size_t)m->count + 1) * sizeof *rows);
  uint32_t n = 0;
  if (rows == NULL || !tg_makers_link(m, links)) {
    tg_free(rows);
    return false;
  }
  memset(links->first, 0, 2 * ((size_t)m->count + 1) * sizeof *links->first);
  for (tg_MakerId id = 1; id <= m->count; id++) {
    if (sums[id].all_bytes > 0)
      rows[n++] = (Row){sums[id].all_bytes, id};
  }
  if (n > 1)
    qsort(rows, n, sizeof *rows, by_bytes);
  *found = n;
  for (uint32_t i = n < most ? n : most; i-- > 0;) {
    tg_MakerId caller = tg_makers_get(m, rows[i].id)->caller;
    links->next[rows[i].id] = links->first[caller];
    links->first[caller] = rows[i].id;
  }
  tg_free(rows);
  return true;
}

static void write_maker (tg_View *v, tg_MakerId id, const Sum *sum,
                         tg_Sink *out) {
  const tg_Maker *maker = tg_makers_get(&v->graph.makers, id);
  out->object(out);
  write_function(v, id, out);
  tg_sink_count(out, "count", sum->count);
  tg_sink_count(out, "self", sum->bytes);
  tg_sink_count(out, "total_count", sum->all_count);
  tg_sink_count(out, "total", sum->all_bytes);
  tg_sink_count(out, "allocations", maker->count);
  tg_sink_count(out, "allocated", maker->size);
  tg_sink_key(out, "calls");
  out->array(out);
}

static void write_makers (tg_View *v, const tg_MakerLinks *links,
                          const Sum *sums, tg_Sink *out) {
  for (tg_MakerId id = links->first[0]; id != 0;) {
    uint32_t ends;
    write_maker(v, id, &sums[id], out);
    id = tg_makers_next(&v->graph.makers, links, id, &ends);
    for (uint32_t i = 0; i < 2 * ends; i++)
      out->close(out);
  }
}

bool tg_view_makers (tg_View *v, uint32_t most, tg_Sink *out) {
  const tg_Makers *m = &v->graph.makers;
  tg_MakerLinks links = {NULL, NULL};
  uint32_t found = 0;
  Sum *sums = add_up(&v->graph);
  if (sums == NULL || !link_largest(m, sums, most, &links, &found)) {
    tg_free(sums);
    return false;
  }
  out->object(out);
  tg_sink_count(out, "ways", found);
  tg_sink_count(out, "unknown_count", sums[0].count);
  tg_sink_count(out, "unknown", sums[0].bytes);
  tg_sink_key(out, "calls");
  out->array(out);
  write_makers(v, &links, sums, out);
  out->close(out);
  out->close(out);
  tg_makers_unlink(&links);
  tg_free(sums);
  return true;
}
