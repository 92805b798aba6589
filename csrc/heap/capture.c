/* capture.c - see capture.h. */
#include "heap/capture.h"

#include "base/alloc.h"
#include "heap/birth.h"
#include "heap/links.h"
#include "heap/reach.h"
#include "outside/state.h"

typedef struct Capture {
  tg_Heap *heap;        /* borrows, as all pointers here */
  tg_Naming naming;     /* owns */
  tg_Links links;       /* owns */
  tg_Graph *graph;
  tg_CaptureSums *sums;
} Capture;

static uint32_t word (tg_Graph *g, const char *s) {
  return tg_graph_string(g, s, strlen(s));
}

static tg_NodeType type_of (tg_ObjectKind kind) {
  switch (kind) {
    case TG_OBJECT_STRING: return TG_NODE_STRING;
    case TG_OBJECT_LUA: case TG_OBJECT_C: return TG_NODE_CLOSURE;
    case TG_OBJECT_PROTO: return TG_NODE_CODE;
    case TG_OBJECT_UPVALUE: return TG_NODE_NATIVE;
    case TG_OBJECT_TABLE: case TG_OBJECT_USERDATA: case TG_OBJECT_THREAD:
    case TG_OBJECT_NONE: default: return TG_NODE_OBJECT;
  }
}

static uint64_t id_of (const Capture *c, uint64_t at) {
  const tg_Image *i = c->heap->image;
  return tg_birth_id(i->low, i->high, at);
}

static void add_object (Capture *c, uint32_t i) {
  const tg_Image *image = c->heap->image;
  uint64_t at = c->heap->at[i];
  tg_graph_node(c->graph, type_of((tg_ObjectKind)c->heap->kinds[i]),
                tg_naming_of(&c->naming, i), id_of(c, at),
                tg_heap_size(c->heap, i));
  c->sums->distant += !tg_birth_is_near(image->low, image->high, at);
  tg_links_add(&c->links, i);
}

/* The last node is what is to be collected, which is known once all edges
   are. */
static void add_nodes (Capture *c) {
  tg_Graph *g = c->graph;
  uint32_t last = c->heap->count + TG_FIRST_OBJECT;
  tg_graph_node(g, TG_NODE_SYNTHETIC, word(g, ""), 1, 0);
  tg_links_add_roots(&c->links);
  tg_graph_edge(g, TG_EDGE_INTERNAL, word(g, "to be collected"), last);
  tg_graph_node(g, TG_NODE_NATIVE, word(g, "(Lua state)"),
                id_of(c, c->heap->shared), tg_heap_state_size(c->heap));
  tg_links_add_state(&c->links);
  for (uint32_t i = 0; i < c->heap->count && !g->failed; i++)
    add_object(c, i);
}

static void end_names (Capture *c) {
  tg_naming_end(&c->naming);
  for (uint32_t i = 0; i < c->heap->count && !c->graph->failed; i++)
    c->graph->names[i + TG_FIRST_OBJECT] = c->naming.names[i];
}

/* Most objects have one or two edges. */
static void expect_all (Capture *c) {
  const tg_Heap *h = c->heap;
  uint32_t strings = 0;
  for (uint32_t i = 0; i < h->count; i++)
    strings += h->kinds[i] == TG_OBJECT_STRING;
  tg_graph_reserve(c->graph, h->count + TG_FIRST_OBJECT + 2,
                   h->count < UINT32_MAX / 4 ? h->count * 2 : h->count,
                   strings);
}

static bool build (Capture *c) {
  tg_Graph *g = c->graph;
  expect_all(c);
  word(g, "");
  if (!tg_naming_begin(&c->naming, c->heap, g)
      || !tg_links_begin(&c->links, &c->naming))
    return false;
  add_nodes(c);
  end_names(c);
  tg_graph_node(g, TG_NODE_SYNTHETIC, word(g, "(to be collected)"), 3, 0);
  if (g->failed || !tg_reach_add_garbage(g, &c->links.weakness,
                                         &c->sums->garbage))
    return false;
  g->born = true;
  return tg_graph_end(g);
}

bool tg_capture (tg_Graph *g, tg_Heap *heap, tg_CaptureSums *sums) {
  Capture c = {.heap = heap, .graph = g, .sums = sums};
  *g = (tg_Graph){0};
  *sums = (tg_CaptureSums){0};
  bool done = heap->numbers != NULL && build(&c);
  if (done) {
    sums->objects = heap->count + 1u;
    sums->bytes = tg_graph_bytes(g);
    sums->state_bytes = tg_state_bytes(&heap->sight, heap->shared);
  }
  tg_links_free(&c.links);
  tg_naming_free(&c.naming);
  return done;
}
