/*
** linetree.c - see linetree.h. Called by profiles and exports when all packets
** have been read. A node's parent comes before it in the array, so one pass
** forward finds where each begins.
*/
#include "profile/linetree.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

typedef struct Making {
  tg_LineTree *out;
  const tg_CallTree *from;
  const tg_Spots *callees;
  const tg_LineTimes *lines;
  uint32_t *up;               /* owns; by node of 'from': the parent of its
                                 nodes here */
  uint32_t *of;               /* owns; by node of 'out': whose it is, or 0 */
  uint32_t cof;
  uint64_t *given;            /* owns; by node of 'from': self time that has a
                                 line */
} Making;

static uint32_t function_of (const Making *m, uint32_t node) {
  return m->callees->list[m->from->nodes[node].row].of;
}

static bool is_apart (const Making *m, uint32_t node) {
  return m->from->nodes[node].row >= TG_LINETREE_APART;
}

/* The node of 'node' with that line; 0 without memory. */
static uint32_t place (Making *m, uint32_t node, uint32_t line) {
  tg_CallTree *t = &m->out->tree;
  bool apart = is_apart(m, node);
  uint32_t row = apart ? m->from->nodes[node].row
                 : tg_spots_number(&m->out->spots, function_of(m, node), line);
  uint32_t placed = !apart && row == TG_INTMAP_NONE
                    ? 0 : tg_calltree_child(t, m->up[node], row);
  if (placed == 0
      || !tg_grow_zeroed(&m->of, &m->cof, t->count, sizeof *m->of))
    return 0;
  const tg_Node *n = &m->from->nodes[node];
  m->of[placed] = node;
  t->nodes[placed].traced |= n->traced;
  t->nodes[placed].outermost = n->outermost;
  return placed;
}

/* A caller stands at the line of its call. False without memory. */
static bool find_parents (Making *m) {
  for (uint32_t i = 1; i < m->from->count; i++) {
    uint32_t parent = m->from->nodes[i].parent;
    uint32_t line = is_apart(m, i) ? 0
                    : m->callees->list[m->from->nodes[i].row].line;
    if (parent != 0 && (m->up[i] = place(m, parent, line)) == 0)
      return false;
  }
  return true;
}

static bool add_line (Making *m, uint32_t number) {
  const tg_Spot *spot = &m->lines->spots.list[number];
  const tg_LineTime *line = &m->lines->list[number];
  uint32_t node = place(m, spot->of, spot->line);
  if (node == 0)
    return false;
  m->out->places[number] = node;
  tg_Node *n = &m->out->tree.nodes[node];
  n->ticked.count += line->ticked.count;
  n->ticked.ns += line->ticked.ns;
  n->ticked.squares += line->ticked.squares;
  n->tally.self_ns += line->self_ns;
  n->tally.variance += line->variance;
  m->given[spot->of] += line->self_ns;
  return true;
}

/* What has no line: all of it where there were no ticks. */
static bool add_rest (Making *m, uint32_t node) {
  const tg_Tally *from = &m->from->nodes[node].tally;
  tg_assert(from->self_ns >= m->given[node]);
  uint64_t rest_ns = from->self_ns - m->given[node];
  if (rest_ns == 0)
    return true;
  uint32_t placed = place(m, node, 0);
  if (placed == 0)
    return false;
  tg_Tally *to = &m->out->tree.nodes[placed].tally;
  to->self_ns += rest_ns;
  to->variance += m->given[node] == 0 ? from->variance : 0;
  return true;
}

static void add_totals (tg_CallTree *t) {
  for (uint32_t i = 0; i < t->count; i++)
    t->nodes[i].tally.total_ns = t->nodes[i].tally.self_ns;
  for (uint32_t i = t->count - 1; i > 0; i--)
    t->nodes[t->nodes[i].parent].tally.total_ns += t->nodes[i].tally.total_ns;
}

/* What is in and below each node by which they are compared: time, or bytes if
   no tick tells of any line. Times alone are what is left of equals. */
static void weigh (const Making *m, uint64_t *bytes) {
  const tg_LineTimes *l = m->lines;
  const tg_CallTree *t = &m->out->tree;
  for (uint32_t i = 0; i < l->spots.count; i++) {
    if (l->list[i].ticked.count > 0) {
      memset(bytes, 0, t->count * sizeof *bytes);
      return;
    }
    bytes[m->out->places[i]] += l->list[i].bytes;
  }
  for (uint32_t i = t->count - 1; i > 0; i--)
    bytes[t->nodes[i].parent] += bytes[i];
}

static void find_largest (const Making *m, const uint64_t *bytes,
                          uint32_t *largest) {
  const tg_Node *nodes = m->out->tree.nodes;
  for (uint32_t i = 1; i < m->out->tree.count; i++) {
    uint32_t *best = &largest[m->of[i]];
    bool more = bytes[i] != bytes[*best]
                ? bytes[i] > bytes[*best]
                : nodes[i].tally.total_ns > nodes[*best].tally.total_ns;
    if (*best == 0 || more)
      *best = i;
  }
}

/* Each node's counts go to the largest of its nodes here; one that has none yet
   gets one without a line. */
static bool add_counts (Making *m, const uint32_t *largest) {
  tg_CallTree *t = &m->out->tree;
  for (uint32_t i = 1; i < m->from->count; i++) {
    const tg_Tally *from = &m->from->nodes[i].tally;
    if (from->calls + from->throws + from->yields == 0)
      continue;
    uint32_t node = largest[i] != 0 ? largest[i] : place(m, i, 0);
    if (node == 0)
      return false;
    tg_Tally *to = &t->nodes[node].tally;
    to->calls += from->calls;
    to->throws += from->throws;
    to->yields += from->yields;
  }
  return true;
}

static bool count_all (Making *m) {
  uint32_t *largest = tg_calloc(m->from->count, sizeof *largest);
  uint64_t *bytes = tg_calloc(m->out->tree.count, sizeof *bytes);
  bool ok = largest != NULL && bytes != NULL;
  if (ok) {
    weigh(m, bytes);
    find_largest(m, bytes, largest);
    ok = add_counts(m, largest);
  }
  tg_free(largest);
  tg_free(bytes);
  return ok;
}

static bool fill (Making *m) {
  bool ok = find_parents(m);
  for (uint32_t i = 0; ok && i < m->lines->spots.count; i++)
    ok = add_line(m, i);
  for (uint32_t i = 1; ok && i < m->from->count; i++)
    ok = add_rest(m, i);
  if (!ok)
    return false;
  m->out->tree.nodes[0].tally = m->from->nodes[0].tally;
  add_totals(&m->out->tree);
  return count_all(m);
}

bool tg_linetree_make (tg_LineTree *out, const tg_CallTree *t,
                       const tg_Spots *callees, const tg_LineTimes *lines) {
  Making m = {.out = out, .from = t, .callees = callees, .lines = lines};
  memset(out, 0, sizeof *out);
  m.up = tg_calloc(t->count, sizeof *m.up);
  m.given = tg_calloc(t->count, sizeof *m.given);
  out->places = tg_calloc(lines->spots.count + 1, sizeof *out->places);
  bool ok = m.up != NULL && m.given != NULL && out->places != NULL
            && tg_calltree_init(&out->tree) && fill(&m);
  tg_free(m.up);
  tg_free(m.of);
  tg_free(m.given);
  if (!ok)
    tg_linetree_free(out);
  return ok;
}

void tg_linetree_free (tg_LineTree *t) {
  tg_calltree_free(&t->tree);
  tg_spots_free(&t->spots);
  tg_free(t->places);
  memset(t, 0, sizeof *t);
}
