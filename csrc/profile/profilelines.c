/*
** profilelines.c - see profilelines.h. On the thread that reads.
*/
#include "profile/profilelines.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "profile/linememory.h"

/*
** {==================================================================
** While packets come
** ===================================================================
*/

/* The row of a node in the tree; TG_INTMAP_NONE without memory. */
static uint32_t number_of (tg_Profile *p, uint32_t row, uint32_t line) {
  if (p->lined != TG_LINED_TREE)
    return row;
  uint32_t n = tg_spots_number(&p->spots, row, line);
  return n < TG_LINETREE_APART ? n : TG_INTMAP_NONE;
}

uint32_t tg_profilelines_number (tg_Profile *p, uint32_t row) {
  return number_of(p, row, 0);
}

uint32_t tg_profilelines_child (tg_Profile *p, uint32_t parent, uint32_t row,
                                uint32_t line) {
  uint32_t number = number_of(p, row, line);
  return number != TG_INTMAP_NONE
         ? tg_calltree_child(&p->tree, parent, number) : 0;
}

uint32_t tg_profilelines_caller (const tg_Profile *p, const tg_Packet *k) {
  if (p->nopen == 0 || k->caller == 0)
    return 0;
  uint32_t row = tg_funclabels_known(&p->labels, k->caller);
  return row == p->open[p->nopen - 1].call.row ? k->line : 0;
}

bool tg_profilelines_call (tg_Profile *p, const tg_Packet *k) {
  uint32_t line = tg_profilelines_caller(p, k);
  if (line == 0)
    return true;
  uint32_t row = p->open[p->nopen - 1].call.row;
  tg_LineTime *site = tg_linetimes_at(&p->sites, row, line);
  if (site != NULL)
    site->calls++;
  return site != NULL;
}

/* What is said of lines of memory: whose they are, and of which function, by
   the innermost frame that is no pause. False if there is none. */
typedef struct Maker {
  uint32_t of, label;
} Maker;

static bool find_maker (const tg_Profile *p, Maker *m) {
  const tg_Usage *u = &p->usage;
  if (p->lined == TG_LINED_NOT || u->nopen == 0)
    return false;
  const tg_UsageOpen *o = &u->open[u->nopen - 1];
  m->of = m->label = o->row;
  if (p->lined == TG_LINED_TREE) {
    m->of = o->node;
    m->label = p->spots.list[p->tree.nodes[o->node].row].of;
  }
  return true;
}

/* Those of a tree are beside the times of its nodes. */
static tg_LineTimes *memory_lines (tg_Profile *p) {
  return p->lined == TG_LINED_TREE ? &p->lines : &p->sites;
}

bool tg_profilelines_allocated (tg_Profile *p, const tg_Packet *k) {
  Maker m;
  return !find_maker(p, &m)
         || tg_linememory_add(memory_lines(p), m.of, &p->labels, m.label, k);
}

bool tg_profilelines_made (tg_Profile *p, const tg_AllocLine *line) {
  Maker m;
  return !find_maker(p, &m)
         || tg_linememory_made(memory_lines(p), m.of, line);
}

uint32_t tg_profilelines_maker (const tg_Profile *p, const tg_Packet *k) {
  Maker m;
  return find_maker(p, &m) ? tg_linememory_maker(&p->labels, m.label, k) : 0;
}

bool tg_profilelines_hold (tg_Profile *p) {
  const tg_CallTree *rows = p->lined == TG_LINED_ROWS ? &p->tree : NULL;
  return !p->usage.lined
         || tg_linememory_hold(memory_lines(p), &p->usage.holders,
                               &p->usage.live, rows);
}

/* The caller of frame number 'i' is at that line by now: the frame goes on as
   another node. */
static bool move (tg_Profile *p, uint32_t i, uint32_t line) {
  tg_Open *o = &p->open[i];
  uint32_t parent = i > 0 ? p->open[i - 1].node : 0;
  bool outermost = p->tree.nodes[o->node].outermost;
  if (o->folded) {
    o->node = parent;
    return true;
  }
  o->node = tg_profilelines_child(p, parent, o->call.row, line);
  if (o->node == 0)
    return false;
  p->tree.nodes[o->node].outermost = outermost;
  return true;
}

/* Samples show a frame once for all calls that follow each other: which of them
   is open now, the lines of its callers tell. A called frame has its own. */
bool tg_profilelines_place (tg_Profile *p, const tg_Packet *tick) {
  uint32_t i = p->nopen, level = p->usage.nopen;
  if (p->lined != TG_LINED_TREE)
    return true;
  while (i > 0 && p->open[i - 1].sampled)
    level -= !p->open[--i].pause;
  for (; i < p->nopen; i++) {
    const tg_Open *o = &p->open[i];
    if (!move(p, i, i > 0 ? tg_linetimes_line(tick, i - 1) : 0))
      return false;
    if (p->usage.on && !o->pause
        && !tg_usage_move(&p->usage, level++, o->node))
      return false;
  }
  return true;
}

/* Of what ran in no frame the line is not known, and what a filter hides has
   none. Frames beyond the last level are part of the one there. */
bool tg_profilelines_tick (tg_Profile *p, const tg_Packet *tick) {
  if (p->lined == TG_LINED_NOT || p->nopen == 0
      || tick->function == TG_FUNCTION_HIDDEN)
    return true;
  const tg_Open *o = &p->open[p->nopen - 1];
  uint32_t level = p->nopen < p->levels ? p->nopen : p->levels;
  return tg_linetimes_tick(&p->lines,
                           p->tree.count > 0 ? o->node : o->call.row,
                           tg_linetimes_line(tick, level - 1), tick->hits);
}

/* }================================================================== */

/*
** {==================================================================
** The end
** ===================================================================
*/

/* What all ticks stand for. */
static uint64_t ticked_ns (const tg_LineTimes *l) {
  uint64_t ns = 0;
  for (uint32_t i = 0; i < l->spots.count; i++)
    ns += l->list[i].ticked.ns;
  return ns;
}

/* The tree of callees gives way to that of lines. */
static bool make_tree (tg_Profile *p) {
  tg_LineTree lined;
  tg_Usage *u = &p->usage;
  if ((u->on && !tg_linememory_divide(u, &p->lines))
      || !tg_linetree_make(&lined, &p->tree, &p->spots, &p->lines))
    return false;
  bool ok = !u->on || tg_linememory_place(u, &p->lines, &lined);
  tg_calltree_free(&p->tree);
  tg_spots_free(&p->spots);
  tg_free(lined.places);
  p->tree = lined.tree;
  p->spots = lined.spots;
  return ok;
}

bool tg_profilelines_settle (tg_Profile *p) {
  if (p->lined == TG_LINED_NOT || p->status != TG_OK)
    return true;
  uint64_t whole_ns = ticked_ns(&p->lines);
  if (p->tree.count == 0) {
    tg_linetimes_keep(&p->lines, whole_ns);
    return true;
  }
  return tg_linetimes_divide(&p->lines, &p->tree, whole_ns)
         && (p->lined != TG_LINED_TREE || make_tree(p));
}

/* The root is nobody's. */
tg_Spot tg_profilelines_spot (const tg_Profile *p, const tg_Node *node) {
  bool placed = p->lined == TG_LINED_TREE && node->row < TG_LINETREE_APART;
  return placed ? p->spots.list[node->row] : (tg_Spot){.of = node->row};
}

/* }================================================================== */

/*
** {==================================================================
** Lines of rows
** ===================================================================
*/

static int compare (uint64_t a, uint64_t b) {
  return (a > b) - (a < b);
}

/* By row and line, so that what is of one line comes together. */
static int by_place (const void *x, const void *y) {
  const tg_RowLine *a = x, *b = y;
  int order = compare(a->row, b->row);
  return order != 0 ? order : compare(a->line, b->line);
}

static int by_time (const void *x, const void *y) {
  const tg_RowLine *a = x, *b = y;
  int order = compare(a->row, b->row);
  if (order == 0)
    order = compare(b->self_ns, a->self_ns);
  if (order == 0)
    order = compare(b->samples, a->samples);
  return order != 0 ? order : compare(a->line, b->line);
}

/* C functions have no lines. */
static void add (tg_RowLines *l, const tg_Profile *p, uint32_t row,
                 uint32_t line, const tg_LineTime *t) {
  const tg_Function *f = tg_funclabels_function(&p->labels, row);
  if (f->is_c || f->url == NULL)
    return;
  l->list[l->count++] = (tg_RowLine){
    .row = row, .line = line, .self_ns = t->self_ns, .variance = t->variance,
    .samples = t->ticked.count, .calls = t->calls,
    .allocations = t->allocations, .bytes = t->bytes, .live = t->live,
    .high = t->high
  };
}

static void add_all (tg_RowLines *l, const tg_Profile *p) {
  const tg_LineTimes *lines = &p->lines, *sites = &p->sites;
  for (uint32_t i = 0; i < lines->spots.count; i++) {
    const tg_Spot *s = &lines->spots.list[i];
    uint32_t row = p->tree.count > 0 ? p->tree.nodes[s->of].row : s->of;
    add(l, p, row, s->line, &lines->list[i]);
  }
  for (uint32_t i = 0; i < sites->spots.count; i++) {
    const tg_Spot *s = &sites->spots.list[i];
    add(l, p, s->of, s->line, &sites->list[i]);
  }
}

/* Those of one line become one. */
static void merge (tg_RowLines *l) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < l->count; i++) {
    tg_RowLine *to = n > 0 ? &l->list[n - 1] : NULL;
    const tg_RowLine *from = &l->list[i];
    if (to == NULL || by_place(to, from) != 0) {
      l->list[n++] = *from;
      continue;
    }
    to->self_ns += from->self_ns;
    to->variance += from->variance;
    to->samples += from->samples;
    to->calls += from->calls;
    to->allocations += from->allocations;
    to->bytes += from->bytes;
    tg_holding_add(&to->live, from->live);
    tg_holding_add(&to->high, from->high);
  }
  l->count = n;
}

bool tg_rowlines_make (tg_RowLines *l, const tg_Profile *p) {
  size_t most = (size_t)p->lines.spots.count + p->sites.spots.count;
  tg_assert(p->lined == TG_LINED_ROWS);
  *l = (tg_RowLines){.list = tg_calloc(most + 1, sizeof *l->list)};
  if (l->list == NULL)
    return false;
  add_all(l, p);
  qsort(l->list, l->count, sizeof *l->list, by_place);
  merge(l);
  qsort(l->list, l->count, sizeof *l->list, by_time);
  return true;
}

void tg_rowlines_free (tg_RowLines *l) {
  tg_free(l->list);
  *l = (tg_RowLines){0};
}

const tg_RowLine *tg_rowlines_of (const tg_RowLines *l, uint32_t row,
                                  uint32_t *n) {
  uint32_t from = 0, to = l->count;
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    if (l->list[middle].row < row)
      from = middle + 1;
    else
      to = middle;
  }
  *n = 0;
  while (from + *n < l->count && l->list[from + *n].row == row)
    ++*n;
  return l->list + from;
}

/* }================================================================== */
