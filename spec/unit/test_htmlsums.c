/*
** test_htmlsums.c - time by stack in an HTML page: whatever is left out of the
** tree, nothing of it is lost, and it stays below its caller.
*/
#include "base/alloc.h"
#include "formats/htmlsums.h"
#include "unit.h"

enum { NODES = 400, TREES = 60, ROWS = 7, MOST = 40 };

/* A node as it is read again. */
typedef struct Read {
  uint32_t parent, row;
  bool thread;
  uint64_t calls, throws, ns, bytes;
  uint64_t total;               /* ns, with all below it */
} Read;

static uint64_t varint (const tg_Buf *b, size_t *at) {
  uint64_t n = 0;
  for (uint32_t shift = 0;; shift += 7) {
    uint8_t byte = (uint8_t)b->data[(*at)++];
    n |= (uint64_t)(byte & 127) << shift;
    if (byte < 128)
      return n;
  }
}

static uint32_t read_nodes (const tg_Buf *b, bool bytes, Read *list) {
  uint32_t n = 1;
  memset(&list[0], 0, sizeof list[0]);
  for (size_t at = 0; at < b->size; n++) {
    uint64_t up = varint(b, &at), row = varint(b, &at);
    UNIT_CHECK(up > 0 && up <= n);
    list[n] = (Read){.parent = n - (uint32_t)up, .row = (uint32_t)(row >> 1),
                     .thread = (row & 1) != 0};
    if (list[n].thread)
      continue;
    list[n].calls = varint(b, &at);
    list[n].throws = varint(b, &at);
    list[n].ns = varint(b, &at);
    list[n].bytes = bytes ? varint(b, &at) : 0;
  }
  for (uint32_t i = 0; i < n; i++)
    list[i].total = list[i].ns;
  for (uint32_t i = n - 1; i > 0; i--)
    list[list[i].parent].total += list[i].total;
  return n;
}

/* Some nodes are coroutines, below functions or the root. */
static tg_HtmlSums random_sums (uint64_t *seed) {
  tg_HtmlSums s = {.profile = {.nrows = ROWS, .usage = {.on = true}}};
  UNIT_CHECK(tg_calltree_init(&s.tree));
  s.bytes = tg_calloc(NODES + 2, sizeof *s.bytes);
  s.cbytes = NODES + 2;
  tg_calltree_child(&s.tree, 0, TG_HTMLSUMS_THREADS);
  for (uint32_t i = 1; i < NODES; i++) {
    uint32_t up = 1 + unit_random(seed) % (s.tree.count - 1);
    bool thread = unit_random(seed) % 10 == 0;
    uint32_t row = unit_random(seed) % ROWS;
    uint32_t node = tg_calltree_child(&s.tree, up,
                                      thread ? TG_HTMLSUMS_THREADS + row : row);
    if (thread)
      continue;
    s.tree.nodes[node].tally.calls++;
    s.tree.nodes[node].tally.self_ns += unit_random(seed) % 1000;
    s.bytes[node] += unit_random(seed) % 100;
  }
  return s;
}

static void sums_of (const Read *list, uint32_t n, Read *sum) {
  *sum = (Read){0};
  for (uint32_t i = 0; i < n; i++) {
    sum->calls += list[i].calls;
    sum->ns += list[i].ns;
    sum->bytes += list[i].bytes;
  }
}

/* The node of the tree that is whole which one of the other is, by its way from
   the root; 0 if there is none. */
static uint32_t same_node (const Read *whole, uint32_t n, const Read *list,
                           uint32_t node) {
  if (node == 0)
    return 0;
  uint32_t up = same_node(whole, n, list, list[node].parent);
  for (uint32_t i = 1; i < n; i++) {
    if (whole[i].parent == up && whole[i].row == list[node].row
        && whole[i].thread == list[node].thread)
      return i;
  }
  return 0;
}

static void loses_nothing (void) {
  uint64_t seed = 20260727;
  static Read whole[NODES + 2], list[2 * NODES + 2];
  for (uint32_t k = 0; k < TREES; k++) {
    tg_HtmlSums s = random_sums(&seed);
    tg_Buf all = {0}, some = {0};
    Read a, b;
    UNIT_CHECK(tg_htmlsums_put(&s, UINT32_MAX, &all));
    UNIT_CHECK(tg_htmlsums_put(&s, MOST, &some));
    uint32_t nwhole = read_nodes(&all, true, whole);
    uint32_t n = read_nodes(&some, true, list), kept = 0;
    UNIT_CHECK(nwhole == s.tree.count);
    sums_of(whole, nwhole, &a);
    sums_of(list, n, &b);
    UNIT_CHECK(a.calls == b.calls && a.ns == b.ns && a.bytes == b.bytes);
    for (uint32_t i = 1; i < n; i++) {
      if (!list[i].thread && list[i].row == ROWS)
        continue;
      uint32_t same = same_node(whole, nwhole, list, i);
      UNIT_CHECK(same != 0 && whole[same].total == list[i].total);
      UNIT_CHECK(whole[same].ns == list[i].ns);
      kept++;
    }
    UNIT_CHECK(kept <= MOST && n <= 2 * MOST + 2);
    tg_buf_free(&all);
    tg_buf_free(&some);
    tg_calltree_free(&s.tree);
    tg_free(s.bytes);
  }
}

int main (void) {
  UNIT_RUN(loses_nothing);
  return UNIT_END();
}
