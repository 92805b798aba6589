/*
** test_graph.c - heaps as graphs: dominators against a naive computation on
** random graphs, sums by class against the definition, files that are written
** and read back, damaged ones, survivors where addresses are used again.
*/
#include <stdlib.h>
#include <unistd.h>

#include "graph/classes.h"
#include "graph/extract.h"
#include "graph/identity.h"
#include "graph/jsonscan.h"
#include "graph/largest.h"
#include "graph/paths.h"
#include "graph/snapshotreader.h"
#include "graph/snapshotwriter.h"
#include "graph/view.h"
#include "text/fileio.h"
#include "text/jsonwriter.h"
#include "unit.h"

/* ---- graphs ---- */

static uint32_t word (tg_Graph *g, const char *s) {
  return tg_graph_string(g, s, strlen(s));
}

/* 'n' nodes, with edges as Lua's objects have them: elements, fields, weak
   ones, shortcuts. Some nodes nothing leads to. */
static void make_random (tg_Graph *g, uint32_t n, uint32_t edges,
                         uint64_t *seed) {
  static const char *const names[] = {"table", "app.Account", "(Lua state)"};
  *g = (tg_Graph){0};
  word(g, "");
  for (uint32_t i = 0; i < n; i++) {
    uint32_t kind = unit_random(seed) % 4;
    tg_graph_node(g, kind == 3 ? TG_NODE_CLOSURE : TG_NODE_OBJECT,
                  word(g, names[kind % 3]), 2 * i + 1,
                  unit_random(seed) % 100);
    uint32_t some = unit_random(seed) % (2 * edges + 1);
    for (uint32_t k = 0; k < some; k++) {
      uint32_t type = unit_random(seed) % TG_EDGE_TYPES_END;
      tg_graph_edge(g, (tg_EdgeType)type,
                    tg_edge_is_number(type) ? k : word(g, "field"),
                    unit_random(seed) % n);
    }
  }
  UNIT_CHECK(tg_graph_end(g));
}

/* ---- dominators ---- */

/* Which nodes are reached without going through 'without'. */
static void reach (const tg_Graph *g, uint32_t without, uint8_t *found) {
  uint32_t *stack = malloc((size_t)g->count * sizeof *stack), depth = 0;
  memset(found, 0, g->count);
  if (without != 0) {
    found[0] = 1;
    stack[depth++] = 0;
  }
  while (depth > 0) {
    uint32_t node = stack[--depth];
    for (uint32_t e = g->first[node]; e < g->first[node + 1]; e++) {
      uint32_t to = g->edges[e].to;
      if (to == without || found[to] || !tg_graph_retains(g, node, e))
        continue;
      found[to] = 1;
      stack[depth++] = to;
    }
  }
  free(stack);
}

/* By the definition: a node dominates what cannot be reached without it. So
   does each dominator of a node dominate fewer than the one before. */
static void compare_dominators (const tg_Graph *g) {
  tg_Dominators d;
  uint8_t *all = malloc(g->count), *found = malloc(g->count);
  uint32_t n = 0;
  UNIT_CHECK(tg_dominators_find(&d, g));
  reach(g, UINT32_MAX, all);
  for (uint32_t i = 0; i < g->count; i++) {
    n += all[i];
    UNIT_CHECK((d.dominator[i] != TG_NO_NODE) == (all[i] != 0));
  }
  UNIT_CHECK(d.count == n);
  for (uint32_t a = 0; a < g->count; a++) {
    uint64_t retained = 0;
    reach(g, a, found);
    for (uint32_t b = 0; b < g->count; b++) {
      bool below = false;
      for (uint32_t i = b; all[b] && !below; i = d.dominator[i]) {
        below = i == a;
        if (d.dominator[i] == i)
          break;
      }
      bool gone = all[b] && (!found[b] || b == a);
      UNIT_CHECK(below == gone);
      retained += gone ? g->sizes[b] : 0;
    }
    UNIT_CHECK(d.retained[a] == (all[a] ? retained : g->sizes[a]));
  }
  tg_dominators_free(&d);
  free(all);
  free(found);
}

static void dominators_are_those_of_the_definition (void) {
  uint64_t seed = 42;
  tg_Graph g;
  for (uint32_t i = 0; i < 300; i++) {
    make_random(&g, 1 + unit_random(&seed) % 40, 1 + i % 4, &seed);
    compare_dominators(&g);
    tg_graph_free(&g);
  }
}

/* A list of a million is no recursion of a million. */
static void a_long_list_is_gone_through (void) {
  enum { LENGTH = 1000000 };
  tg_Graph g = {0};
  tg_Dominators d;
  word(&g, "");
  for (uint32_t i = 0; i < LENGTH; i++) {
    tg_graph_node(&g, TG_NODE_OBJECT, 0, 2 * i + 1, 1);
    if (i + 1 < LENGTH)
      tg_graph_edge(&g, TG_EDGE_PROPERTY, 0, i + 1);
  }
  UNIT_CHECK(tg_graph_end(&g));
  UNIT_CHECK(tg_dominators_find(&d, &g));
  UNIT_CHECK(d.retained[0] == LENGTH);
  UNIT_CHECK(d.retained[LENGTH - 1] == 1);
  tg_dominators_free(&d);
  tg_graph_free(&g);
}

/* As DevTools have it: a pair's value is its key's, and what the root's
   shortcuts reach is kept from inside alone. */
static void edges_of_tables_and_from_outside_retain_nothing (void) {
  tg_Graph g = {0};
  tg_Dominators d;
  word(&g, "");
  uint32_t pair = word(&g, "1 / part of key (key @7) -> value (value @9) pair "
                           "in WeakMap (table @5)");
  tg_graph_node(&g, TG_NODE_SYNTHETIC, 0, 1, 0);
  tg_graph_edge(&g, TG_EDGE_SHORTCUT, 0, 1);
  tg_graph_edge(&g, TG_EDGE_ELEMENT, 1, 5);
  tg_graph_node(&g, TG_NODE_OBJECT, 0, 3, 1);
  tg_graph_edge(&g, TG_EDGE_PROPERTY, 0, 2);
  tg_graph_edge(&g, TG_EDGE_PROPERTY, 0, 3);
  tg_graph_node(&g, TG_NODE_OBJECT, 0, 5, 1);
  tg_graph_edge(&g, TG_EDGE_INTERNAL, pair, 4);
  tg_graph_node(&g, TG_NODE_OBJECT, 0, 7, 1);
  tg_graph_edge(&g, TG_EDGE_INTERNAL, pair, 4);
  tg_graph_node(&g, TG_NODE_OBJECT, 0, 9, 10);
  tg_graph_node(&g, TG_NODE_OBJECT, 0, 11, 1);
  tg_graph_edge(&g, TG_EDGE_PROPERTY, 0, 3);
  UNIT_CHECK(tg_graph_end(&g) && tg_graph_settle(&g));
  UNIT_CHECK(tg_dominators_find(&d, &g));
  UNIT_CHECK(d.dominator[4] == 3 && d.retained[3] == 11);
  UNIT_CHECK(d.retained[2] == 1);
  UNIT_CHECK(d.dominator[3] == 1);
  tg_dominators_free(&d);
  tg_graph_free(&g);
}

/* ---- sums ---- */

/* What a class retains: of each of its nodes, if none of the class is above. */
static void compare_classes (const tg_Graph *g) {
  tg_Dominators d;
  uint32_t n;
  UNIT_CHECK(tg_dominators_find(&d, g));
  uint32_t *of = tg_classes_number(g, &n);
  tg_ClassSum *sums = tg_classes_add(g, &d, of, n);
  for (uint32_t class = 0; class < n; class++) {
    uint64_t count = 0, self = 0, retained = 0;
    for (uint32_t i = 0; i < g->count; i++) {
      if (of[i] != class)
        continue;
      bool outermost = true;
      for (uint32_t k = i; d.dominator[k] != TG_NO_NODE && k != 0;) {
        k = d.dominator[k];
        outermost = outermost && of[k] != class;
      }
      count++;
      self += g->sizes[i];
      retained += outermost ? d.retained[i] : 0;
    }
    UNIT_CHECK(sums[class].count == count);
    UNIT_CHECK(sums[class].self == self);
    UNIT_CHECK(sums[class].retained == retained);
  }
  free(of);
  free(sums);
  tg_dominators_free(&d);
}

static void sums_are_those_of_the_definition (void) {
  uint64_t seed = 7;
  tg_Graph g;
  for (uint32_t i = 0; i < 200; i++) {
    make_random(&g, 1 + unit_random(&seed) % 60, 1 + i % 3, &seed);
    compare_classes(&g);
    tg_graph_free(&g);
  }
}

/* ---- files ---- */

static char *written (const tg_Graph *g, size_t *size) {
  char path[] = "/tmp/test_graph.XXXXXX";
  tg_SnapshotHead head = {.lua = "5.4.4", .pid = 1};
  tg_OutFile out;
  tg_Buf text = {0};
  int fd = mkstemp(path);
  close(fd);
  unlink(path);
  UNIT_CHECK(tg_outfile_open(&out, path));
  UNIT_CHECK(tg_snapshot_write(g, &head, &out));
  UNIT_CHECK(tg_outfile_close(&out));
  UNIT_CHECK(tg_fileio_text(path, (size_t)1 << 30, &text));
  unlink(path);
  *size = text.size;
  return text.data;
}

static bool is_unfinished (const char *text, size_t size) {
  char path[] = "/tmp/test_graph.XXXXXX";
  int fd = mkstemp(path);
  UNIT_CHECK(write(fd, text, size) == (ssize_t)size);
  close(fd);
  bool unfinished = tg_snapshot_is_unfinished(path);
  unlink(path);
  return unfinished;
}

static void a_file_says_whether_it_is_whole (void) {
  tg_Graph g = {0};
  size_t size;
  word(&g, "a }\n in a string, and a \" too");
  tg_graph_node(&g, TG_NODE_OBJECT, 0, 1, 1);
  UNIT_CHECK(tg_graph_end(&g));
  char *text = written(&g, &size);
  UNIT_CHECK(!is_unfinished(text, size));
  for (size_t some = 64; some < size; some++)
    UNIT_CHECK(is_unfinished(text, some));
  UNIT_CHECK(is_unfinished("", 0));
  UNIT_CHECK(!is_unfinished("notes", 5));
  UNIT_CHECK(!tg_snapshot_is_unfinished("/tmp/none/of/that/name"));
  UNIT_CHECK(!tg_snapshot_is_unfinished("/tmp"));
  free(text);
  tg_graph_free(&g);
}

static void compare_graphs (const tg_Graph *a, const tg_Graph *b) {
  UNIT_CHECK(a->count == b->count && a->nedges == b->nedges);
  UNIT_CHECK(a->born == b->born);
  for (uint32_t i = 0; i < a->count; i++) {
    size_t x, y;
    const char *s = tg_graph_text(a, a->names[i], &x);
    const char *t = tg_graph_text(b, b->names[i], &y);
    UNIT_CHECK(x == y && (x == 0 || memcmp(s, t, x) == 0));
    UNIT_CHECK(a->types[i] == b->types[i] && a->ids[i] == b->ids[i]
               && a->sizes[i] == b->sizes[i] && a->first[i] == b->first[i]);
  }
  for (uint32_t i = 0; i < a->nedges; i++)
    UNIT_CHECK(a->edges[i].to == b->edges[i].to
               && a->edge_types[i] == b->edge_types[i]);
}

/* As many as there are nodes, each called by any of those before, in one of
   three functions; every second node has one of them. */
static void add_makers (tg_Graph *g, uint64_t *seed) {
  tg_Makers *m = &g->makers;
  for (uint32_t i = 0; i < 3; i++)
    UNIT_CHECK(tg_makers_add_function(m, (tg_MakerFunction){
      .name = g->names[i], .script = g->names[2 - i], .script_id = i,
      .line = i, .column = 1}));
  for (uint32_t i = 0; i < g->count; i++) {
    tg_Maker maker = {
      .caller = i > 0 ? 1 + (tg_MakerId)(unit_random(seed) % i) : 0,
      .function = (uint32_t)(unit_random(seed) % 3), .count = i,
      .size = (uint64_t)i << 33};
    UNIT_CHECK(tg_makers_add(m, maker));
  }
  for (uint32_t i = 0; i < g->count; i += 2)
    UNIT_CHECK(tg_makers_set(m, i, 1 + (tg_MakerId)(unit_random(seed)
                                                    % g->count)));
}

/* Two makers in two graphs, which may have others in between, and all that call
   them: by functions, counts and sizes, since numbers change on the way. */
static void compare_makers (const tg_Makers *a, tg_MakerId x,
                            const tg_Makers *b, tg_MakerId y) {
  while (x != 0 && y != 0) {
    const tg_Maker *s = tg_makers_get(a, x), *t = tg_makers_get(b, y);
    UNIT_CHECK(s->function == t->function && s->count == t->count
               && s->size == t->size);
    x = s->caller;
    y = t->caller;
  }
  UNIT_CHECK(x == 0 && y == 0);
}

static void makers_are_read_as_they_are_written (void) {
  uint64_t seed = 7;
  tg_Graph g, back;
  tg_Buf words = {0};
  size_t size;
  make_random(&g, 300, 2, &seed);
  add_makers(&g, &seed);
  char *text = written(&g, &size);
  UNIT_CHECK(tg_snapshot_read(&back, text, size, &words));
  compare_graphs(&g, &back);
  UNIT_CHECK(back.makers.nfunctions == 3 && back.makers.count == g.count);
  for (uint32_t i = 0; i < g.count; i++)
    compare_makers(&g.makers, tg_makers_of(&g.makers, i), &back.makers,
                   tg_makers_of(&back.makers, i));
  tg_graph_free(&g);
  tg_graph_free(&back);
  tg_buf_free(&words);
  free(text);
}

/* A million calls within each other, as no stack of ours could go down. */
static void makers_may_be_as_deep_as_they_like (void) {
  enum { DEEP = 1000000 };
  tg_Graph g = {0}, back;
  tg_Buf words = {0};
  size_t size;
  word(&g, "");
  tg_graph_node(&g, TG_NODE_OBJECT, 0, 1, 1);
  UNIT_CHECK(tg_graph_end(&g));
  UNIT_CHECK(tg_makers_add_function(&g.makers, (tg_MakerFunction){.name = 0}));
  for (uint32_t i = 0; i < DEEP; i++)
    UNIT_CHECK(tg_makers_add(&g.makers, (tg_Maker){.caller = i}));
  UNIT_CHECK(tg_makers_set(&g.makers, 0, DEEP));
  char *text = written(&g, &size);
  UNIT_CHECK(tg_snapshot_read(&back, text, size, &words));
  UNIT_CHECK(back.makers.count == DEEP);
  compare_makers(&g.makers, DEEP, &back.makers, tg_makers_of(&back.makers, 0));
  tg_graph_free(&g);
  tg_graph_free(&back);
  tg_buf_free(&words);
  free(text);
}

static void what_is_written_is_read (void) {
  uint64_t seed = 99;
  tg_Graph g, back;
  tg_Buf words = {0};
  size_t size;
  make_random(&g, 200, 3, &seed);
  g.names[5] = word(&g, "\"quoted\" \\ \n \t \xc3\xa4 \xf0\x9f\x8c\x99");
  g.born = true;
  char *text = written(&g, &size);
  UNIT_CHECK(tg_snapshot_read(&back, text, size, &words));
  compare_graphs(&g, &back);
  tg_graph_free(&g);
  tg_graph_free(&back);
  tg_buf_free(&words);
  free(text);
}

static void look (tg_Graph *g) {
  tg_View v;
  tg_Buf text = {0};
  tg_JsonWriter json;
  tg_jsonwriter_init(&json, &text);
  UNIT_CHECK(tg_view_take(&v, g));
  UNIT_CHECK(tg_view_makers(&v, 10, &json.sink));
  UNIT_CHECK(tg_view_find(&v, "", 10, &json.sink));
  tg_view_close(&v);
  tg_buf_free(&text);
}

static void read_damaged (const char *text, size_t size) {
  tg_Graph g;
  tg_Buf words = {0};
  if (tg_snapshot_read(&g, text, size, &words))
    look(&g);
  else
    UNIT_CHECK(words.size > 0
               && memchr(words.data, '\n', words.size) == NULL);
  tg_graph_free(&g);
  tg_buf_free(&words);
}

/* Cut anywhere, and with any byte another: it is read or refused. */
static void damaged_files_are_refused (void) {
  uint64_t seed = 5;
  tg_Graph g;
  size_t size;
  make_random(&g, 20, 2, &seed);
  add_makers(&g, &seed);
  char *text = written(&g, &size);
  for (size_t i = 0; i < size; i++)
    read_damaged(text, i);
  for (int i = 0; i < 20000; i++) {
    size_t at = unit_random(&seed) % size;
    char before = text[at];
    text[at] = (i % 3 == 0) ? (char)unit_random(&seed)
                            : "0123456789,[]{}\"\\"[unit_random(&seed) % 17];
    read_damaged(text, size);
    text[at] = before;
  }
  tg_graph_free(&g);
  free(text);
}

/* ---- identity ---- */

static void make_born (tg_Graph *g, const uint64_t *ids, uint32_t n) {
  *g = (tg_Graph){.born = true};
  word(g, "");
  for (uint32_t i = 0; i < n; i++)
    tg_graph_node(g, TG_NODE_OBJECT, 0, ids[i], 1);
  UNIT_CHECK(tg_graph_end(g));
}

/* The one at 5 has gone, and a newer one is there; those at 3 and 9 stay. */
static void an_address_that_is_used_again_is_another_object (void) {
  static const uint64_t first[] = {1, 3, 5, 7, 9}, second[] = {1, 3, 9, 5, 11};
  static const uint8_t survive[] = {1, 1, 1, 0, 0};
  tg_Graph a, b;
  make_born(&a, first, 5);
  make_born(&b, second, 5);
  uint8_t *survivors = tg_identity_survivors(&b, &a);
  UNIT_CHECK(memcmp(survivors, survive, 5) == 0);
  free(survivors);
  b.born = false;       /* as V8's: a number is one object's */
  survivors = tg_identity_survivors(&b, &a);
  UNIT_CHECK(survivors[3] == 1 && survivors[4] == 0);
  free(survivors);
  tg_graph_free(&a);
  tg_graph_free(&b);
}

/* ---- ways ---- */

static void a_way_reads_as_lua (void) {
  tg_Graph g = {0};
  tg_Paths p;
  tg_Buf b = {0};
  word(&g, "");
  tg_graph_node(&g, TG_NODE_SYNTHETIC, 0, 1, 0);
  tg_graph_edge(&g, TG_EDGE_INTERNAL, word(&g, "registry"), 1);
  tg_graph_node(&g, TG_NODE_OBJECT, 0, 3, 0);
  tg_graph_edge(&g, TG_EDGE_PROPERTY, word(&g, "_LOADED"), 2);
  tg_graph_node(&g, TG_NODE_OBJECT, 0, 5, 0);
  tg_graph_edge(&g, TG_EDGE_PROPERTY, word(&g, "my.app"), 3);
  tg_graph_node(&g, TG_NODE_OBJECT, 0, 7, 0);
  tg_graph_edge(&g, TG_EDGE_PROPERTY, word(&g, "run"), 4);
  tg_graph_node(&g, TG_NODE_CLOSURE, 0, 9, 0);
  tg_graph_edge(&g, TG_EDGE_CONTEXT, word(&g, "upvalue cache"), 5);
  tg_graph_node(&g, TG_NODE_NATIVE, 0, 11, 0);
  tg_graph_edge(&g, TG_EDGE_INTERNAL, word(&g, "value"), 6);
  tg_graph_node(&g, TG_NODE_OBJECT, 0, 13, 0);
  tg_graph_edge(&g, TG_EDGE_ELEMENT, 3, 7);
  tg_graph_node(&g, TG_NODE_OBJECT, 0, 15, 0);
  UNIT_CHECK(tg_graph_end(&g) && tg_paths_find(&p, &g, true));
  tg_paths_text(&p, 7, &b);
  UNIT_TEXT(&b, "package.loaded[\"my.app\"].run > upvalue cache[3]");
  tg_paths_free(&p);
  tg_graph_free(&g);
  tg_buf_free(&b);
}

/* ---- extracts ---- */

/* Along the shortest way, all of it in the list, to the root; never through
   'node'. */
static void check_way (const tg_Extract *x, uint32_t from, uint32_t node) {
  const tg_Paths *p = &x->view->paths;
  for (; from != 0; from = p->from[from]) {
    UNIT_CHECK(from != node);
    UNIT_CHECK(x->place[from] < x->count);
    UNIT_CHECK(x->list[x->place[from]] == from);
  }
}

static void check_references (const tg_Extract *x, uint32_t box) {
  const tg_Graph *g = &x->view->graph;
  uint32_t node = x->list[box], n = 0, referrers = 0;
  for (uint32_t i = 0; i < g->count; i++) {
    for (uint32_t e = g->first[i]; e < g->first[i + 1]; e++)
      referrers += g->edges[e].to == node && i != node
                   && tg_graph_retains(g, i, e)
                   && x->view->dominators.dominator[i] != TG_NO_NODE;
  }
  UNIT_CHECK(x->referrers[box] == referrers);
  for (unsigned k = 0; k < TG_EXTRACT_WAYS; k++) {
    tg_Reference one = x->references[box * TG_EXTRACT_WAYS + k];
    if (one.from == TG_NO_NODE)
      continue;
    UNIT_CHECK(g->edges[one.edge].to == node);
    UNIT_CHECK(one.edge >= g->first[one.from]
               && one.edge < g->first[one.from + 1]);
    UNIT_CHECK(tg_graph_retains(g, one.from, one.edge));
    check_way(x, one.from, node);
    n++;
  }
  UNIT_CHECK(box == 0 || n <= referrers);
}

/* No other node retains more than a box, and who keeps a box is one before. */
static void check_boxes (const tg_Extract *x) {
  const tg_Dominators *d = &x->view->dominators;
  uint64_t least = d->retained[x->list[x->boxes - 1]];
  for (uint32_t i = 0; i < x->boxes; i++) {
    uint32_t node = x->list[i];
    UNIT_CHECK(x->place[node] == i);
    UNIT_CHECK(i == 0 || d->retained[x->list[i - 1]] >= d->retained[node]);
    UNIT_CHECK(i == 0 ? node == 0 : x->place[d->dominator[node]] < i);
    check_references(x, i);
  }
  for (uint32_t i = 0; i < d->count; i++) {
    if (x->place[d->order[i]] >= x->boxes)
      UNIT_CHECK(d->retained[d->order[i]] <= least);
  }
}

static void an_extract_is_the_top_of_the_tree (void) {
  uint64_t seed = 7;
  for (uint32_t i = 0; i < 300; i++) {
    tg_Graph g;
    tg_View v;
    tg_Extract x;
    make_random(&g, 1 + unit_random(&seed) % 40, 1 + i % 4, &seed);
    UNIT_CHECK(tg_view_take(&v, &g));
    uint32_t most = 1 + unit_random(&seed) % 40;
    UNIT_CHECK(tg_extract_make(&x, &v, most));
    UNIT_CHECK(x.boxes == (most < v.dominators.count ? most
                                                     : v.dominators.count));
    UNIT_CHECK(x.count >= x.boxes && x.count <= 3 * most);
    check_boxes(&x);
    tg_extract_free(&x);
    tg_view_close(&v);
  }
}

/* Beside a list of which each node keeps all that follows there is room for
   what keeps little. */
static void a_long_list_does_not_fill_an_extract (void) {
  enum { LENGTH = 20000, MOST = 6000 };
  tg_Graph g = {0};
  tg_View v;
  tg_Extract x;
  uint32_t none = word(&g, ""), beside = 0;
  tg_graph_node(&g, TG_NODE_SYNTHETIC, none, 1, 0);
  tg_graph_edge(&g, TG_EDGE_PROPERTY, none, 1);
  for (uint32_t i = 0; i < LENGTH; i++)
    tg_graph_edge(&g, TG_EDGE_PROPERTY, none, LENGTH + 1 + i);
  for (uint32_t i = 1; i <= 2 * LENGTH; i++) {
    tg_graph_node(&g, TG_NODE_OBJECT, none, 2 * i + 1, 100);
    if (i < LENGTH)
      tg_graph_edge(&g, TG_EDGE_PROPERTY, none, i + 1);
  }
  UNIT_CHECK(tg_graph_end(&g));
  UNIT_CHECK(tg_view_take(&v, &g));
  UNIT_CHECK(tg_extract_make(&x, &v, MOST));
  for (uint32_t i = 0; i < x.boxes; i++)
    beside += x.list[i] > LENGTH;
  UNIT_CHECK(x.boxes == MOST && beside > MOST / 2);
  UNIT_CHECK(x.kept[0] == 2 * LENGTH && x.kept[1] == LENGTH);
  tg_extract_free(&x);
  tg_view_close(&v);
}

/* "@13 is kept by a way too long" and "by none" are two things. */
static void a_way_too_long_is_no_missing_way (void) {
  enum { LENGTH = 5000 };
  tg_Graph g = {0};
  tg_Paths p;
  tg_Buf b = {0};
  uint32_t list[3];
  word(&g, "");
  for (uint32_t i = 0; i < LENGTH; i++) {
    tg_graph_node(&g, TG_NODE_OBJECT, 0, 2 * i + 1, 1);
    if (i + 2 < LENGTH)
      tg_graph_edge(&g, TG_EDGE_PROPERTY, word(&g, "next"), i + 1);
  }
  UNIT_CHECK(tg_graph_end(&g) && tg_paths_find(&p, &g, true));
  UNIT_CHECK(tg_paths_edges(&p, 3, list, 3) == 3);
  UNIT_CHECK(tg_paths_edges(&p, 4, list, 3) == 0);
  tg_paths_text(&p, LENGTH - 2, &b);
  UNIT_TEXT(&b, "a way of more than 4096 references");
  tg_buf_clear(&b);
  tg_paths_text(&p, LENGTH - 1, &b);
  UNIT_TEXT(&b, "no way");
  tg_paths_free(&p);
  tg_graph_free(&g);
  tg_buf_free(&b);
}

/* ---- the largest, numbers in a row ---- */

static int by_definition (const void *a, const void *b) {
  const tg_Weighed *x = a, *y = b;
  if (x->weight != y->weight)
    return x->weight < y->weight ? 1 : -1;
  return x->i > y->i ? 1 : -1;
}

static void check_largest (uint32_t n, uint32_t most, uint64_t *seed) {
  tg_Weighed all[200];
  tg_Largest l = {.most = most};
  for (uint32_t i = 0; i < n; i++) {
    all[i] = (tg_Weighed){unit_random(seed) % 20, i};
    UNIT_CHECK(tg_largest_add(&l, all[i]));
  }
  tg_largest_sort(&l);
  qsort(all, n, sizeof *all, by_definition);
  UNIT_CHECK(l.count == (n < most ? n : most));
  for (uint32_t i = 0; i < l.count; i++)
    UNIT_CHECK(l.list[i].weight == all[i].weight && l.list[i].i == all[i].i);
  tg_largest_free(&l);
}

static void the_largest_are_those_of_a_sorted_list (void) {
  uint64_t seed = 7;
  for (uint32_t n = 0; n < 200; n += 7) {
    for (uint32_t most = 0; most < 40; most += 3)
      check_largest(n, most, &seed);
  }
}

/* Whether three numbers are a row of the text; what is passed else. */
static bool is_row (const char *text, uint64_t *list, ptrdiff_t *passed) {
  tg_JsonScan s;
  char room[128];
  memset(room, ' ', sizeof room);
  memcpy(room, text, strlen(text));
  tg_jsonscan_init(&s, room, sizeof room);
  bool row = tg_jsonscan_row(&s, list, 3);
  *passed = s.p - s.start;
  return row;
}

static void a_row_is_numbers_and_commas (void) {
  static const char *const others[] = {
    "", "1,2", "1,2,", "1 ,2,3", "1, 2,3", "-1,2,3", "1,2.5,3", "1,,3",
    "1,2,99999999999999999999", "x"};
  uint64_t list[3];
  ptrdiff_t passed;
  UNIT_CHECK(is_row("0,17,9999999999999999999\n,4", list, &passed));
  UNIT_CHECK(list[0] == 0 && list[1] == 17 && passed == 24
             && list[2] == UINT64_C(9999999999999999999));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    UNIT_CHECK(!is_row(others[i], list, &passed) && passed == 0);
}

int main (void) {
  UNIT_RUN(dominators_are_those_of_the_definition);
  UNIT_RUN(a_long_list_is_gone_through);
  UNIT_RUN(edges_of_tables_and_from_outside_retain_nothing);
  UNIT_RUN(sums_are_those_of_the_definition);
  UNIT_RUN(a_file_says_whether_it_is_whole);
  UNIT_RUN(what_is_written_is_read);
  UNIT_RUN(makers_are_read_as_they_are_written);
  UNIT_RUN(makers_may_be_as_deep_as_they_like);
  UNIT_RUN(damaged_files_are_refused);
  UNIT_RUN(an_address_that_is_used_again_is_another_object);
  UNIT_RUN(a_way_reads_as_lua);
  UNIT_RUN(an_extract_is_the_top_of_the_tree);
  UNIT_RUN(a_long_list_does_not_fill_an_extract);
  UNIT_RUN(a_way_too_long_is_no_missing_way);
  UNIT_RUN(the_largest_are_those_of_a_sorted_list);
  UNIT_RUN(a_row_is_numbers_and_commas);
  return UNIT_END();
}
