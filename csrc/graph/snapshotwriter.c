/* snapshotwriter.c - see snapshotwriter.h. */
#include "graph/snapshotwriter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/digits.h"
#include "text/jsonwriter.h"

#define FIELDS 7u       /* of a node */
#define FIRST "{\"snapshot\":{\"meta\":"
#define LAST "}\n"      /* there is no other: strings have no newline */

static void add_words (tg_Buf *b, const char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    tg_buf_addfmt(b, "%s\"%s\"", i > 0 ? "," : "", words[i]);
}

static void add_meta (tg_Buf *b) {
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
  tg_buf_addstr(b, "{\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\","
                "\"edge_count\",\"trace_node_id\",\"detachedness\"],"
                "\"node_types\":[[");
  add_words(b, nodes, sizeof nodes / sizeof *nodes);
  tg_buf_addstr(b, "],\"string\",\"number\",\"number\",\"number\",\"number\","
                "\"number\"],\"edge_fields\":[\"type\",\"name_or_index\","
                "\"to_node\"],\"edge_types\":[[");
  add_words(b, edges, sizeof edges / sizeof *edges);
  tg_buf_addstr(b, "],\"string_or_number\",\"node\"],"
                "\"trace_function_info_fields\":[\"function_id\",\"name\","
                "\"script_name\",\"script_id\",\"line\",\"column\"],"
                "\"trace_node_fields\":[\"id\",\"function_info_index\","
                "\"count\",\"size\",\"children\"],"
                "\"sample_fields\":[\"timestamp_us\",\"last_assigned_id\"],"
                "\"location_fields\":[\"object_index\",\"script_id\","
                "\"line\",\"column\"]}");
}

static void add_head (const tg_Graph *g, const tg_SnapshotHead *h,
                      tg_Buf *b) {
  tg_buf_addstr(b, FIRST);
  add_meta(b);
  tg_buf_addfmt(b, ",\"node_count\":%u,\"edge_count\":%u,"
                "\"trace_function_count\":%u,\"tracegrip\":{\"lua\":\"%s\","
                "\"pid\":%d,\"objects\":%llu,\"state_bytes\":%llu,"
                "\"low\":%llu,\"high\":%llu,\"born\":%d}},\n\"nodes\":[",
                g->count, g->nedges, g->makers.nfunctions, h->lua, h->pid,
                (unsigned long long)h->objects,
                (unsigned long long)h->state_bytes,
                (unsigned long long)h->low, (unsigned long long)h->high,
                g->born);
}

/* Most are of one digit. */
TG_INLINE char *put_number (char *p, uint64_t v, char behind) {
  if (v >= 10)
    p = tg_digits_any(p, v);
  else
    *p++ = (char)('0' + v);
  *p = behind;
  return p + 1;
}

TG_INLINE char *put_field (char *p, uint64_t v) {
  return put_number(p, v, ',');
}

#define ROOM(n) ((n) * (TG_DIGITS + 1)) /* bytes of a row of 'n' numbers */

static void add_numbers (tg_Buf *b, const uint64_t *list, unsigned n) {
  if (!tg_buf_reserve(b, ROOM(n)))
    return;
  char *p = b->data + b->size;
  for (unsigned i = 0; i < n; i++)
    p = put_number(p, list[i], i + 1 < n ? ',' : '\n');
  b->size = (size_t)(p - b->data);
}

/* There are tens of millions of rows: what is asked before they are written is
   asked for so many at once. */
#define ROWS 128u

TG_INLINE char *put_node (char *p, const tg_Graph *g, uint32_t i) {
  p = put_field(p, g->types[i]);
  p = put_field(p, g->names[i]);
  p = put_field(p, g->ids[i]);
  p = put_field(p, g->sizes[i]);
  p = put_field(p, g->first[i + 1] - g->first[i]);
  p = put_field(p, tg_makers_of(&g->makers, i));
  memcpy(p, "0\n", 2);
  return p + 2;
}

TG_INLINE char *put_edge (char *p, const tg_Graph *g, uint32_t i) {
  p = put_field(p, g->edge_types[i]);
  p = put_field(p, g->edges[i].name);
  return put_number(p, (uint64_t)g->edges[i].to * FIELDS, '\n');
}

typedef char *PutRow (char *p, const tg_Graph *g, uint32_t i);

/* Inline, so that 'put' is as well. */
TG_INLINE bool add_rows (const tg_Graph *g, uint32_t count, unsigned fields,
                         PutRow *put, tg_OutFile *out) {
  for (uint32_t i = 0; i < count;) {
    uint32_t end = (count - i < ROWS) ? count : i + ROWS;
    if (tg_buf_reserve(&out->text, ROWS * (ROOM(fields) + 1))) {
      char *p = out->text.data + out->text.size;
      for (; i < end; i++) {
        if (i > 0)
          *p++ = ',';
        p = put(p, g, i);
      }
      out->text.size = (size_t)(p - out->text.data);
    }
    if (!tg_outfile_turn(out))
      return false;
  }
  return true;
}

static bool add_nodes (const tg_Graph *g, tg_OutFile *out) {
  return add_rows(g, g->count, FIELDS, put_node, out);
}

static bool add_edges (const tg_Graph *g, tg_OutFile *out) {
  tg_buf_addstr(&out->text, "],\n\"edges\":[");
  return add_rows(g, g->nedges, 3, put_edge, out);
}

static bool add_functions (const tg_Makers *m, tg_OutFile *out) {
  tg_buf_addstr(&out->text, "],\n\"trace_function_infos\":[");
  for (uint32_t i = 0; i < m->nfunctions; i++) {
    const tg_MakerFunction *f = &m->functions[i];
    uint64_t fields[6] = {i, f->name, f->script, f->script_id, f->line,
                          f->column};
    tg_buf_addstr(&out->text, i > 0 ? "," : "");
    add_numbers(&out->text, fields, 6);
    if (!tg_outfile_turn(out))
      return false;
  }
  return true;
}

static void add_maker (const tg_Makers *m, tg_MakerId id, tg_Buf *b) {
  const tg_Maker *maker = tg_makers_get(m, id);
  uint64_t fields[4] = {id, maker->function, maker->count, maker->size};
  add_numbers(b, fields, 4);
  tg_buf_addstr(b, ",[");
}

/* Of each maker the fields, then a list of those that it calls. */
static bool add_makers (const tg_Makers *m, const tg_MakerLinks *links,
                        tg_OutFile *out) {
  for (tg_MakerId id = 1; id != 0;) {
    uint32_t ends;
    add_maker(m, id, &out->text);
    id = tg_makers_next(m, links, id, &ends);
    for (uint32_t i = 0; i < ends; i++)
      tg_buf_addchar(&out->text, ']');
    if (id != 0 && ends > 0)
      tg_buf_addchar(&out->text, ',');
    if (!tg_outfile_turn(out))
      return false;
  }
  return true;
}

static bool add_tree (const tg_Makers *m, tg_OutFile *out) {
  tg_MakerLinks links;
  tg_buf_addstr(&out->text, "],\"trace_tree\":[");
  if (m->count == 0)
    return true;
  if (!tg_makers_link(m, &links)) {
    out->error = ENOMEM;
    return false;
  }
  bool done = add_makers(m, &links, out);
  tg_makers_unlink(&links);
  return done;
}

static void add_samples (const tg_SnapshotHead *h, tg_OutFile *out) {
  tg_buf_addstr(&out->text, "],\"samples\":[");
  for (uint32_t i = 0; i < h->nsamples; i++) {
    tg_buf_addstr(&out->text, i > 0 ? "," : "");
    add_numbers(&out->text, h->samples + 2 * (size_t)i, 2);
  }
}

static bool add_strings (const tg_Graph *g, tg_OutFile *out) {
  tg_JsonWriter json;
  tg_buf_addstr(&out->text, "],\"locations\":[],\n\"strings\":");
  tg_jsonwriter_init(&json, &out->text);
  json.sink.array(&json.sink);
  for (uint32_t i = 0; i < g->strings.count; i++) {
    size_t size;
    const char *s = tg_graph_text(g, i, &size);
    json.sink.string(&json.sink, s, size);
    if (!tg_outfile_turn(out))
      return false;
  }
  json.sink.close(&json.sink);
  return true;
}

bool tg_snapshot_write (const tg_Graph *g, const tg_SnapshotHead *head,
                        tg_OutFile *out) {
  add_head(g, head, &out->text);
  if (!add_nodes(g, out) || !add_edges(g, out)
      || !add_functions(&g->makers, out) || !add_tree(&g->makers, out))
    return false;
  add_samples(head, out);
  if (!add_strings(g, out))
    return false;
  tg_buf_addstr(&out->text, LAST);
  return tg_outfile_turn(out);
}

static bool has (int fd, off_t at, const char *word) {
  char there[32];
  size_t size = strlen(word);
  return at >= 0 && pread(fd, there, size, at) == (ssize_t)size
         && memcmp(there, word, size) == 0;
}

bool tg_snapshot_is_unfinished (const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return false;
  off_t size = lseek(fd, 0, SEEK_END), last = size - (off_t)strlen(LAST);
  bool unfinished = size == 0 || (has(fd, 0, FIRST) && !has(fd, last, LAST));
  close(fd);
  return unfinished;
}
