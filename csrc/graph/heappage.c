/* heappage.c - see heappage.h. */
#include "graph/heappage.h"

#include <string.h>

#include "text/jsonwriter.h"

#define ROWS 1000u      /* of each table */

typedef struct Page {
  tg_View *view;        /* borrows */
  tg_Extract extract;   /* owns, as all that follows */
  tg_Intern texts;
  tg_Buf text;          /* of one edge */
  tg_Buf document;
  bool failed;
} Page;

/* ---- nodes ---- */

/* A number, or -1, of the node at a place of the list. */
typedef int64_t Cell (Page *p, uint32_t place);

static int64_t text_of (Page *p, const char *s, size_t size) {
  uint32_t i = tg_intern_add(&p->texts, s, size);
  p->failed |= i == TG_INTMAP_NONE;
  return i;
}

static int64_t edge_of (Page *p, uint32_t edge) {
  tg_buf_clear(&p->text);
  tg_paths_edge(&p->view->graph, edge, &p->text);
  return text_of(p, p->text.data, p->text.size);
}

static int64_t place_of (const Page *p, uint32_t node) {
  uint32_t place = node == TG_NO_NODE ? TG_NO_NODE : p->extract.place[node];
  return place == TG_NO_NODE ? -1 : (int64_t)place;
}

static int64_t id (Page *p, uint32_t place) {
  return (int64_t)p->view->graph.ids[p->extract.list[place]];
}

static int64_t type (Page *p, uint32_t place) {
  return p->view->graph.types[p->extract.list[place]];
}

static int64_t name (Page *p, uint32_t place) {
  size_t size;
  const char *s = tg_view_called(p->view, p->extract.list[place], &size);
  return text_of(p, s, size);
}

static int64_t class (Page *p, uint32_t place) {
  size_t size;
  const char *s = tg_graph_class(&p->view->graph, p->extract.list[place],
                                 &size);
  return text_of(p, s, size);
}

static int64_t self (Page *p, uint32_t place) {
  return (int64_t)p->view->graph.sizes[p->extract.list[place]];
}

static int64_t retained (Page *p, uint32_t place) {
  return (int64_t)p->view->dominators.retained[p->extract.list[place]];
}

/* Nobody is before the root. */
static uint32_t node_before (const Page *p, uint32_t place) {
  uint32_t node = p->extract.list[place];
  return node == 0 ? TG_NO_NODE : p->view->paths.from[node];
}

static int64_t before (Page *p, uint32_t place) {
  return place_of(p, node_before(p, place));
}

static int64_t edge (Page *p, uint32_t place) {
  return node_before(p, place) == TG_NO_NODE
         ? -1 : edge_of(p, p->view->paths.edge[p->extract.list[place]]);
}

static int64_t joint (Page *p, uint32_t place) {
  return tg_paths_joint(&p->view->paths, p->extract.list[place]);
}

static int64_t maker (Page *p, uint32_t place) {
  tg_buf_clear(&p->text);
  tg_view_maker_text(p->view, p->extract.list[place], &p->text);
  return p->text.size > 0 ? text_of(p, p->text.data, p->text.size) : -1;
}

static int64_t above (Page *p, uint32_t place) {
  uint32_t node = p->extract.list[place];
  return node == 0 ? -1 : place_of(p, p->view->dominators.dominator[node]);
}

static int64_t kept (Page *p, uint32_t place) {
  return p->extract.kept[p->extract.list[place]];
}

static int64_t referrers (Page *p, uint32_t place) {
  return p->extract.referrers[place];
}

static const struct {
  const char *name;
  Cell *cell;
  bool boxes;           /* of boxes alone */
} columns[] = {
  {"id", id, false}, {"type", type, false}, {"name", name, false},
  {"class", class, false}, {"self", self, false},
  {"retained", retained, false}, {"before", before, false},
  {"edge", edge, false}, {"joint", joint, false}, {"above", above, true},
  {"kept", kept, true}, {"referrers", referrers, true},
  {"maker", maker, false}       /* if the snapshot knows any */
};

static void put_ways (Page *p, tg_Sink *out) {
  const tg_Extract *x = &p->extract;
  tg_sink_key(out, "ways");
  out->array(out);
  for (uint32_t i = 0; i < x->boxes; i++) {
    out->array(out);
    for (unsigned k = 0; k < TG_EXTRACT_WAYS; k++) {
      tg_Reference one = x->references[(size_t)i * TG_EXTRACT_WAYS + k];
      if (one.from == TG_NO_NODE)
        continue;
      out->integer(out, place_of(p, one.from));
      out->integer(out, edge_of(p, one.edge));
    }
    out->close(out);
  }
  out->close(out);
}

static void put_nodes (Page *p, tg_Sink *out) {
  tg_sink_key(out, "nodes");
  out->object(out);
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
    uint32_t n = columns[i].boxes ? p->extract.boxes : p->extract.count;
    if (columns[i].cell == maker && p->view->graph.makers.count == 0)
      continue;
    out->key(out, columns[i].name, strlen(columns[i].name));
    out->array(out);
    for (uint32_t place = 0; place < n; place++)
      out->integer(out, columns[i].cell(p, place));
    out->close(out);
  }
  put_ways(p, out);
  out->close(out);
}

/* ---- the document ---- */

static void put_types (Page *p, tg_Sink *out) {
  static const char *const words[] = {
#define X(name, word, class) word,
    TG_NODE_TYPES(X)
#undef X
    "other"
  };
  tg_sink_key(out, "types");
  out->array(out);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    tg_sink_string(out, &p->text, words[i]);
  out->close(out);
}

static void put_texts (Page *p, tg_Sink *out) {
  tg_sink_key(out, "texts");
  out->array(out);
  for (uint32_t i = 0; i < p->texts.count; i++) {
    size_t size;
    const char *s = tg_intern_get(&p->texts, i, &size);
    tg_sink_text(out, &p->text, s, size);
  }
  out->close(out);
}

static bool put_tables (Page *p, tg_Sink *out) {
  tg_sink_key(out, "summary");
  if (!tg_view_summary(p->view, ROWS, out))
    return false;
  tg_sink_key(out, "duplicates");
  if (!tg_view_duplicates(p->view, ROWS, out))
    return false;
  tg_sink_key(out, "empty");
  return tg_view_empty(p->view, ROWS, out);
}

static bool put_document (Page *p, const char *title) {
  tg_JsonWriter writer;
  tg_jsonwriter_init(&writer, &p->document);
  tg_Sink *out = &writer.sink;
  out->object(out);
  tg_sink_key(out, "title");
  tg_sink_string(out, &p->text, title);
  if (!put_tables(p, out))
    return false;
  put_types(p, out);
  tg_sink_count(out, "boxes", p->extract.boxes);
  put_nodes(p, out);
  put_texts(p, out);
  out->close(out);
  return !p->failed && !p->document.failed && !p->text.failed;
}

/* In a script there may be no "</script", and no "<!--" (HTML, 4.12.1.3). */
static void put_escaped (const tg_Buf *document, tg_OutFile *out) {
  const char *s = document->data, *end = s + document->size;
  while (s < end) {
    const char *next = memchr(s, '<', (size_t)(end - s));
    tg_buf_add(&out->text, s, (size_t)((next != NULL ? next : end) - s));
    if (next != NULL)
      tg_buf_addstr(&out->text, "\\u003c");
    s = next != NULL ? next + 1 : end;
    tg_outfile_turn(out);
  }
}

/* Where the page has the place for the data; without one it is the data
   alone. */
static const char PLACE[] = "<!-- data -->\n";

static void put_page (const Page *p, const char *page, tg_OutFile *out) {
  const char *place = strstr(page, PLACE);
  if (place == NULL)
    place = page = PLACE;
  tg_buf_add(&out->text, page, (size_t)(place - page));
  tg_buf_addstr(&out->text, "<script id=\"facts\" type=\"application/json\">");
  put_escaped(&p->document, out);
  tg_buf_addstr(&out->text, "</script>\n");
  tg_buf_addstr(&out->text, place + sizeof PLACE - 1);
}

static void count (tg_HeapPage *h, const tg_Extract *x) {
  const tg_Graph *g = &x->view->graph;
  h->objects = h->shown = 0;
  for (uint32_t i = 0; i < g->count; i++)
    h->objects += tg_graph_is_object(g, i);
  for (uint32_t i = 0; i < x->boxes; i++)
    h->shown += tg_graph_is_object(g, x->list[i]);
}

bool tg_heappage_write (tg_HeapPage *h, tg_View *v, tg_OutFile *out) {
  Page p = {.view = v};
  bool done = tg_extract_make(&p.extract, v, h->most)
              && put_document(&p, h->title);
  if (done) {
    count(h, &p.extract);
    put_page(&p, h->page, out);
  }
  tg_extract_free(&p.extract);
  tg_intern_free(&p.texts);
  tg_buf_free(&p.text);
  tg_buf_free(&p.document);
  return done;
}
