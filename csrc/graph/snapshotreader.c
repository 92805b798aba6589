/* snapshotreader.c - see snapshotreader.h. */
#include "graph/snapshotreader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/jsonscan.h"
#include "graph/makersreader.h"
#include "outside/unpack.h"

#define FIELDS 32u      /* of a node or an edge, at most */
#define TYPES 64u
#define NONE UINT32_MAX

/* Where a field is, and what numbers of types mean. */
typedef struct Fields {
  uint32_t count;
  uint32_t type, name, id, size, edges, to, maker;
  uint8_t types[TYPES];
  uint32_t ntypes;
} Fields;

typedef struct Reading {
  tg_Graph *g;
  tg_JsonScan scan;
  tg_MakersReader makers;       /* owns */
  Fields node, edge;
  uint64_t edges;       /* that nodes say they have */
  tg_Buf text;          /* owns */
  bool head, nodes, all_edges, strings;
} Reading;

/* ---- what the file says of itself ---- */

static void place_field (Reading *r, Fields *f, uint32_t i) {
  static const char *const words[] = {"type", "name", "name_or_index", "id",
                                      "self_size", "edge_count", "to_node",
                                      "trace_node_id"};
  uint32_t *const to[] = {&f->type, &f->name, &f->name, &f->id, &f->size,
                          &f->edges, &f->to, &f->maker};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
    if (r->text.size == strlen(words[k])
        && memcmp(r->text.data, words[k], r->text.size) == 0)
      *to[k] = i;
  }
}

static bool read_fields (Reading *r, Fields *f) {
  uint64_t n = 0;
  f->type = f->name = f->id = f->size = f->edges = f->to = f->maker = NONE;
  if (!tg_jsonscan_expect(&r->scan, '['))
    return false;
  while (tg_jsonscan_more(&r->scan, ']', &n)) {
    if (n > FIELDS || !tg_jsonscan_string(&r->scan, &r->text))
      return tg_jsonscan_fail(&r->scan, "the name of a field");
    place_field(r, f, (uint32_t)n - 1);
  }
  f->count = (uint32_t)n;
  return r->scan.wrong == NULL;
}

static uint8_t type_of (const Reading *r, bool edge) {
  static const char *const nodes[] = {
#define X(name, word, class) word,
    TG_NODE_TYPES(X)
#undef X
  };
  static const char *const edges[] = {
#define X(name, word) word,
    TG_EDGE_TYPES(X)
#undef X
  };
  const char *const *list = edge ? edges : nodes;
  uint8_t n = edge ? (uint8_t)TG_EDGE_TYPES_END : (uint8_t)TG_NODE_OTHER;
  for (uint8_t i = 0; i < n; i++) {
    if (r->text.size == strlen(list[i])
        && memcmp(r->text.data, list[i], r->text.size) == 0)
      return i;
  }
  return edge ? (uint8_t)TG_EDGE_INTERNAL : (uint8_t)TG_NODE_OTHER;
}

/* The first of the list has the types' names, the rest is passed. */
static bool read_types (Reading *r, Fields *f, bool edge) {
  uint64_t n = 0, m = 0;
  f->ntypes = 0;
  if (!tg_jsonscan_expect(&r->scan, '['))
    return false;
  while (tg_jsonscan_more(&r->scan, ']', &n)) {
    if (n > 1) {
      if (!tg_jsonscan_skip(&r->scan))
        return false;
      continue;
    }
    if (!tg_jsonscan_expect(&r->scan, '['))
      return false;
    while (tg_jsonscan_more(&r->scan, ']', &m)) {
      if (m > TYPES || !tg_jsonscan_string(&r->scan, &r->text))
        return tg_jsonscan_fail(&r->scan, "the name of a type");
      f->types[f->ntypes++] = type_of(r, edge);
    }
  }
  return r->scan.wrong == NULL;
}

static bool is_key (const Reading *r, const char *key) {
  return r->text.size == strlen(key)
         && memcmp(r->text.data, key, r->text.size) == 0;
}

static bool next_key (Reading *r, uint64_t *n) {
  return tg_jsonscan_more(&r->scan, '}', n)
         && tg_jsonscan_string(&r->scan, &r->text)
         && tg_jsonscan_expect(&r->scan, ':');
}

static bool read_meta (Reading *r) {
  uint64_t n = 0;
  if (!tg_jsonscan_expect(&r->scan, '{'))
    return false;
  while (next_key(r, &n)) {
    if (is_key(r, "node_fields"))
      read_fields(r, &r->node);
    else if (is_key(r, "edge_fields"))
      read_fields(r, &r->edge);
    else if (is_key(r, "node_types"))
      read_types(r, &r->node, false);
    else if (is_key(r, "edge_types"))
      read_types(r, &r->edge, true);
    else if (is_key(r, "trace_function_info_fields"))
      tg_makersreader_function_fields(&r->makers);
    else if (is_key(r, "trace_node_fields"))
      tg_makersreader_call_fields(&r->makers);
    else
      tg_jsonscan_skip(&r->scan);
  }
  return r->scan.wrong == NULL;
}

static bool has_fields (const Reading *r) {
  const Fields *n = &r->node, *e = &r->edge;
  return n->count > 0 && e->count > 0 && n->type != NONE && n->name != NONE
         && n->id != NONE && n->size != NONE && n->edges != NONE
         && e->type != NONE && e->name != NONE && e->to != NONE;
}

/* What tracegrip says beside it (snapshotwriter.c). */
static bool read_own (Reading *r) {
  uint64_t n = 0, born;
  if (!tg_jsonscan_expect(&r->scan, '{'))
    return false;
  while (next_key(r, &n)) {
    if (!is_key(r, "born"))
      tg_jsonscan_skip(&r->scan);
    else if (tg_jsonscan_unsigned(&r->scan, &born))
      r->g->born = born == 1;
  }
  return r->scan.wrong == NULL;
}

static bool read_head (Reading *r) {
  uint64_t n = 0;
  if (!tg_jsonscan_expect(&r->scan, '{'))
    return false;
  while (next_key(r, &n)) {
    if (is_key(r, "meta"))
      read_meta(r);
    else if (is_key(r, "tracegrip"))
      read_own(r);
    else
      tg_jsonscan_skip(&r->scan);
  }
  r->head = r->scan.wrong == NULL && has_fields(r);
  return r->head || tg_jsonscan_fail(&r->scan, "\"meta\" with all fields");
}

/* ---- nodes and edges ---- */

/* The fields of a record behind the first one's comma. */
static bool read_record (Reading *r, const Fields *f, uint64_t *n,
                            uint64_t *list) {
  for (uint32_t i = 0; i < f->count; i++) {
    if (i > 0 && !tg_jsonscan_more(&r->scan, ']', n)) {
      tg_jsonscan_fail(&r->scan, "all fields");
      return false;
    }
    if (!tg_jsonscan_unsigned(&r->scan, &list[i]))
      return false;
  }
  return true;
}

/* One record of fields; false at the end, and if anything is wrong. */
static bool next_record (Reading *r, const Fields *f, uint64_t *n,
                         uint64_t *list) {
  return tg_jsonscan_more(&r->scan, ']', n)
         && (tg_jsonscan_row(&r->scan, list, f->count)
             || read_record(r, f, n, list));
}

/* By the number that the file has for its maker, if there is one. */
static bool note_maker (Reading *r, const uint64_t *fields) {
  uint64_t id = r->node.maker != NONE ? fields[r->node.maker] : 0;
  if (id == 0 || id > UINT32_MAX
      || tg_makers_set(&r->g->makers, r->g->count - 1, (tg_MakerId)id))
    return true;
  r->g->failed = true;
  return false;
}

static bool read_nodes (Reading *r) {
  const Fields *f = &r->node;
  uint64_t n = 0, v[FIELDS];
  if (!r->head || r->nodes || !tg_jsonscan_expect(&r->scan, '['))
    return tg_jsonscan_fail(&r->scan, "\"snapshot\" first, \"nodes\" once");
  r->nodes = true;
  while (next_record(r, f, &n, v)) {
    if (v[f->type] >= f->ntypes || v[f->name] >= UINT32_MAX)
      return tg_jsonscan_fail(&r->scan, "a node of a known type");
    if (v[f->edges] > UINT32_MAX - r->edges)
      return tg_jsonscan_fail(&r->scan, "fewer edges");
    tg_graph_node(r->g, r->node.types[v[f->type]], (uint32_t)v[f->name],
                  v[f->id], v[f->size]);
    if (r->g->failed || !note_maker(r, v))
      return false;
    r->g->first[r->g->count - 1] = (uint32_t)r->edges;
    r->edges += v[f->edges];
  }
  return r->scan.wrong == NULL;
}

static bool read_edges (Reading *r) {
  const Fields *f = &r->edge;
  uint64_t n = 0, v[FIELDS];
  uint32_t width = r->node.count;
  if (!r->nodes || r->all_edges || !tg_jsonscan_expect(&r->scan, '['))
    return tg_jsonscan_fail(&r->scan, "\"nodes\" first, \"edges\" once");
  r->all_edges = true;
  while (next_record(r, f, &n, v)) {
    if (v[f->type] >= f->ntypes || v[f->name] > UINT32_MAX)
      return tg_jsonscan_fail(&r->scan, "an edge of a known type");
    if (v[f->to] % width != 0 || v[f->to] / width >= r->g->count)
      return tg_jsonscan_fail(&r->scan, "an edge to a node that there is");
    tg_graph_edge(r->g, f->types[v[f->type]], (uint32_t)v[f->name],
                  (uint32_t)(v[f->to] / width));
    if (r->g->failed)
      return false;
  }
  if (r->scan.wrong == NULL && r->g->nedges != r->edges)
    return tg_jsonscan_fail(&r->scan, "as many edges as nodes say");
  return r->scan.wrong == NULL;
}

/* ---- strings ---- */

static bool read_strings (Reading *r) {
  uint64_t n = 0;
  if (r->strings || !tg_jsonscan_expect(&r->scan, '['))
    return tg_jsonscan_fail(&r->scan, "\"strings\" once");
  r->strings = true;
  while (tg_jsonscan_more(&r->scan, ']', &n)) {
    if (!tg_jsonscan_string(&r->scan, &r->text))
      return false;
    tg_graph_append_string(r->g, r->text.data != NULL ? r->text.data : "",
                           r->text.size);
    if (r->g->failed)
      return false;
  }
  return r->scan.wrong == NULL;
}

static bool has_names (Reading *r) {
  const tg_Graph *g = r->g;
  for (uint32_t i = 0; i < g->count; i++) {
    if (g->names[i] >= g->strings.count)
      return tg_jsonscan_fail(&r->scan, "the name of each node");
  }
  for (uint32_t i = 0; i < g->nedges; i++) {
    if (!tg_edge_is_number(g->edge_types[i])
        && g->edges[i].name >= g->strings.count)
      return tg_jsonscan_fail(&r->scan, "the name of each edge");
  }
  return true;
}

/* ---- the whole ---- */

static bool read_all (Reading *r) {
  uint64_t n = 0;
  if (!tg_jsonscan_expect(&r->scan, '{'))
    return false;
  while (next_key(r, &n)) {
    if (is_key(r, "snapshot"))
      read_head(r);
    else if (is_key(r, "nodes"))
      read_nodes(r);
    else if (is_key(r, "edges"))
      read_edges(r);
    else if (is_key(r, "strings"))
      read_strings(r);
    else if (is_key(r, "trace_function_infos"))
      tg_makersreader_functions(&r->makers);
    else if (is_key(r, "trace_tree"))
      tg_makersreader_tree(&r->makers);
    else
      tg_jsonscan_skip(&r->scan);
    if (r->g->failed)
      return false;
  }
  if (r->scan.wrong != NULL)
    return false;
  if (!r->all_edges || !r->strings || r->g->count == 0)
    return tg_jsonscan_fail(&r->scan, "nodes, edges and strings");
  return tg_graph_end(r->g) && has_names(r)
         && tg_makersreader_end(&r->makers);
}

bool tg_snapshot_read (tg_Graph *g, const char *data, size_t size,
                       tg_Buf *words) {
  Reading r = {.g = g};
  *g = (tg_Graph){0};
  tg_jsonscan_init(&r.scan, data, size);
  r.makers.graph = g;
  r.makers.scan = &r.scan;
  bool done = read_all(&r);
  if (!done && r.scan.wrong != NULL)
    tg_buf_addfmt(words, "it is no heap snapshot, or a damaged one: at byte "
                  "%llu there should be %s",
                  (unsigned long long)(r.scan.p - r.scan.start),
                  r.scan.wrong);
  else if (!done)
    tg_buf_addstr(words, "not enough memory");
  tg_buf_free(&r.text);
  tg_makersreader_free(&r.makers);
  return done;
}

bool tg_snapshot_open (tg_Graph *g, const char *path, tg_Buf *words) {
  struct stat st;
  *g = (tg_Graph){0};
  int fd = tg_unpack_open(path, words);
  if (fd < 0)
    return false;
  void *data = MAP_FAILED;
  if (fstat(fd, &st) == 0 && st.st_size > 0)
    data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (data == MAP_FAILED) {
    tg_buf_addstr(words, "it is empty, or cannot be read");
    return false;
  }
  bool done = tg_snapshot_read(g, data, (size_t)st.st_size, words);
  munmap(data, (size_t)st.st_size);
  return done;
}
