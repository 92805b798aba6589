/*
** outcome.c - see outcome.h. Called by profile.c at the end, and by reports.
*/
#include "profile/outcome.h"

#include <stdlib.h>

#include "profile/profilelines.h"

/* All of them may stand for a little more than the time that passed, by another
   clock. */
void tg_outcome_ticks (tg_Profile *p) {
  p->idle_ns = p->duration_ns > p->now_ns ? p->duration_ns - p->now_ns : 0;
  p->duration_ns = p->idle_ns + p->now_ns;
  for (uint32_t i = 0; i < p->nrows; i++)
    p->rows[i].tally.variance = tg_bytick_variance(&p->rows[i].ticked,
                                                   p->now_ns);
}

void tg_outcome_rows (tg_Profile *p, uint32_t idle) {
  for (uint32_t i = 0; i < p->nrows; i++)
    p->rows[i].tally.self_ns = p->rows[i].tally.total_ns = 0;
  p->idle_ns = p->tree.nodes[0].tally.self_ns;
  for (uint32_t i = 1; i < p->tree.count; i++) {
    const tg_Node *n = &p->tree.nodes[i];
    uint32_t of = tg_profilelines_spot(p, n).of;
    tg_Tally *row = &p->rows[of].tally;
    row->self_ns += n->tally.self_ns;
    row->variance += n->tally.variance;
    bool once = n->outermost || of == idle;
    row->total_ns += once ? n->tally.total_ns : 0;
  }
}

/* As a whole: rows of one program err to the same side. */
void tg_outcome_doubt (tg_Profile *p) {
  for (uint32_t i = 0; i < p->nrows; i++) {
    double error = TG_BYTICK_DOUBT * (double)p->rows[i].spent_ns;
    p->rows[i].tally.variance += error * error;
  }
}

/* Larger first. Not by subtraction, which has no room for the sign. */
static int falling (uint64_t a, uint64_t b) {
  return (a < b) - (a > b);
}

/* qsort is not stable, so the last word is the order in which they appeared: a
   report is the same each time. */
static int compare_rows (const void *x, const void *y) {
  const tg_Row *a = *(const tg_Row *const *)x;
  const tg_Row *b = *(const tg_Row *const *)y;
  int order = falling(a->tally.self_ns, b->tally.self_ns);
  if (order == 0)
    order = falling(a->tally.total_ns, b->tally.total_ns);
  if (order == 0)
    order = falling(a->tally.calls, b->tally.calls);
  return order != 0 ? order : (a > b) - (a < b);   /* as they appeared */
}

/* Children of one parent are ordered by their total time, since the calls
   inside of them count too. */
static int compare_nodes (const void *x, const void *y) {
  const tg_Node *a = *(const tg_Node *const *)x;
  const tg_Node *b = *(const tg_Node *const *)y;
  int order = falling(a->tally.total_ns, b->tally.total_ns);
  if (order == 0)
    order = falling(a->tally.calls, b->tally.calls);
  return order != 0 ? order : (a > b) - (a < b);
}

/* Pointers are sorted: a row's place in the array is its number. */
void tg_outcome_sort_rows (const tg_Profile *p, const tg_Row **list) {
  for (uint32_t i = 0; i < p->nrows; i++)
    list[i] = &p->rows[i];
  qsort(list, p->nrows, sizeof *list, compare_rows);
}

/* The root has no place among others, and is left out. */
void tg_outcome_sort_nodes (const tg_Profile *p, const tg_Node **list) {
  uint32_t n = p->tree.count - 1;
  for (uint32_t i = 0; i < n; i++)
    list[i] = &p->tree.nodes[i + 1];
  qsort(list, n, sizeof *list, compare_nodes);
}
