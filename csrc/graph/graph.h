/*
** graph.h - a heap as a graph: objects, and which of them refer to which. What
** a .heapsnapshot has in it, whoever wrote that, and what a Lua state's memory
** is made into.
**
** Arrays by number and no pointers, since there are millions: 25 bytes a node,
** 9 an edge, and the strings once each. Node 0 is the root. Nodes are added in
** order, each before its edges; an edge may lead to a node that is still to
** come. Who owns a graph builds it on one thread; afterwards it is read only.
** Plain C; memory that is refused latches 'failed'.
*/
#ifndef TG_GRAPH_H
#define TG_GRAPH_H

#include "base/buf.h"
#include "base/intern.h"
#include "graph/makers.h"

/* V8's words, in the order that its files declare them. */
#define TG_NODE_TYPES(X) \
  X(HIDDEN, "hidden", "(system)") \
  X(ARRAY, "array", "(array)") \
  X(STRING, "string", "(string)") \
  X(OBJECT, "object", NULL) \
  X(CODE, "code", "(compiled code)") \
  X(CLOSURE, "closure", "Function") \
  X(REGEXP, "regexp", "RegExp") \
  X(NUMBER, "number", "(number)") \
  X(NATIVE, "native", NULL) \
  X(SYNTHETIC, "synthetic", "(synthetic)") \
  X(CONCATENATED, "concatenated string", "(concatenated string)") \
  X(SLICED, "sliced string", "(sliced string)") \
  X(SYMBOL, "symbol", "(symbol)") \
  X(BIGINT, "bigint", "(bigint)") \
  X(SHAPE, "object shape", "(object shape)")

typedef enum tg_NodeType {
#define X(name, word, class) TG_NODE_##name,
  TG_NODE_TYPES(X)
#undef X
  TG_NODE_OTHER         /* a type that only the file knows */
} tg_NodeType;

/* Elements and hidden ones are numbers, the others have names. */
#define TG_EDGE_TYPES(X) \
  X(CONTEXT, "context") \
  X(ELEMENT, "element") \
  X(PROPERTY, "property") \
  X(INTERNAL, "internal") \
  X(HIDDEN, "hidden") \
  X(SHORTCUT, "shortcut") \
  X(WEAK, "weak")

typedef enum tg_EdgeType {
#define X(name, word) TG_EDGE_##name,
  TG_EDGE_TYPES(X)
#undef X
  TG_EDGE_TYPES_END
} tg_EdgeType;

typedef struct tg_Edge {
  uint32_t name;        /* of 'strings', or a number */
  uint32_t to;          /* a node */
} tg_Edge;

typedef struct tg_Graph {
  uint32_t count, capacity;     /* nodes */
  uint8_t *types;       /* owns, as all here; tg_NodeType */
  uint32_t *names;      /* of 'strings' */
  uint64_t *ids;
  uint64_t *sizes;      /* bytes of the object itself */
  uint32_t *first;      /* its first edge; one more than there are nodes */
  uint32_t nedges, edges_capacity;
  tg_Edge *edges;
  uint8_t *edge_types;  /* tg_EdgeType */
  uint8_t *idle;        /* a bit an edge: it retains nothing; NULL: not known */
  tg_Intern strings;
  tg_Makers makers;     /* of nodes, if that is known */
  bool born;            /* nodes are in the order in which objects were made,
                           and ids are addresses (birth.h) */
  bool failed;          /* no memory, or more than 32 bits can number */
} tg_Graph;

/* The slow half of the next three: room for so many in all. */
bool tg_graph_more_nodes (tg_Graph *g, uint32_t need);
bool tg_graph_more_edges (tg_Graph *g, uint32_t need);

TG_INLINE bool tg_graph_room (tg_Graph *g) {
  return tg_likely(g->count + 1 < g->capacity)
         || tg_graph_more_nodes(g, g->count + 1024);
}

/* The next node; its edges follow. */
TG_INLINE void tg_graph_node (tg_Graph *g, tg_NodeType type, uint32_t name,
                              uint64_t id, uint64_t size) {
  if (g->failed || !tg_graph_room(g)) {
    g->failed = true;
    return;
  }
  uint32_t i = g->count++;
  g->types[i] = (uint8_t)type;
  g->names[i] = name;
  g->ids[i] = id;
  g->sizes[i] = size;
  g->first[i] = g->nedges;
}

TG_INLINE void tg_graph_edge (tg_Graph *g, tg_EdgeType type, uint32_t name,
                              uint32_t to) {
  if (g->failed || (tg_unlikely(g->nedges == g->edges_capacity)
                    && !tg_graph_more_edges(g, g->nedges + 4096))) {
    g->failed = true;
    return;
  }
  g->edges[g->nedges] = (tg_Edge){name, to};
  g->edge_types[g->nedges++] = (uint8_t)type;
}

/* The number of a string that is used for names; 0 and 'failed' without
   memory. */
uint32_t tg_graph_string (tg_Graph *g, const char *s, size_t size);

/* The same of bytes that may be no UTF-8, which would be no JSON: as a Lua
   literal has them, which is put together in 'room'. */
uint32_t tg_graph_words (tg_Graph *g, tg_Buf *room, const char *s,
                         size_t size);

/* The same of a string that was expected (tg_intern_expect), with what that
   returned. */
uint32_t tg_graph_expected (tg_Graph *g, const char *s, size_t size,
                            uint64_t hash);

/* So many nodes, edges and strings will be added: a guess that is too high
   costs nothing, one that is too low nothing either. */
void tg_graph_reserve (tg_Graph *g, uint32_t nodes, uint32_t edges,
                       uint32_t strings);

/* The next string, whether or not there is one like it: the number is that of
   the place, as files have it. */
void tg_graph_append_string (tg_Graph *g, const char *s, size_t size);

/* After the last node. False: it has failed. */
bool tg_graph_end (tg_Graph *g);

/* The text of a string, not ended by a zero. */
TG_INLINE const char *tg_graph_text (const tg_Graph *g, uint32_t string,
                                     size_t *size) {
  return tg_intern_get(&g->strings, string, size);
}

/* Whether an edge is a number. */
TG_INLINE bool tg_edge_is_number (unsigned type) {
  return type == TG_EDGE_ELEMENT || type == TG_EDGE_HIDDEN;
}

/* Finds edges that retain nothing though they look as if they did, of a graph
   that is whole (retaining.c). False without memory. */
bool tg_graph_settle (tg_Graph *g);

/* Whether an edge keeps what it leads to alive: none that is weak, and
   shortcuts, which are there for people, at the root alone. */
TG_INLINE bool tg_graph_retains (const tg_Graph *g, uint32_t from,
                                 uint32_t edge) {
  unsigned type = g->edge_types[edge];
  return type != TG_EDGE_WEAK && (type != TG_EDGE_SHORTCUT || from == 0)
         && (g->idle == NULL || (g->idle[edge / 8] >> edge % 8 & 1) == 0);
}

/* Bytes of all nodes. */
uint64_t tg_graph_bytes (const tg_Graph *g);

/* Whether a node is an object, and not made up for the picture's sake. */
TG_INLINE bool tg_graph_is_object (const tg_Graph *g, uint32_t node) {
  return g->types[node] != TG_NODE_SYNTHETIC;
}

/* Its class: an object's name, up to a blank if it begins with "<", as
   DevTools has it; of all else a word for the type. */
const char *tg_graph_class (const tg_Graph *g, uint32_t node, size_t *size);

/* The node that has an id; UINT32_MAX: none. */
uint32_t tg_graph_find (const tg_Graph *g, uint64_t id);

void tg_graph_free (tg_Graph *g);

#endif
