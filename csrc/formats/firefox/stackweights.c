/*
** stackweights.c - see stackweights.h. Called by tracks.c with every packet and
** span of the first track, and by samples.c for each sample that is written.
*/
#include "formats/firefox/stackweights.h"

#include "base/alloc.h"
#include "base/grow.h"

bool tg_stackweights_init (tg_StackWeights *w, const tg_Export *x) {
  const tg_Selection *of = x->selection;
  w->bytick.ticks = tg_bytick_kind(of->sample, of->with_calls);
  w->on = w->bytick.ticks == TG_TICKS_BESIDE;
  return !w->on || tg_calltree_init(&w->tree);
}

void tg_stackweights_free (tg_StackWeights *w) {
  tg_calltree_free(&w->tree);
  tg_free(w->open);
  tg_free(w->list);
  tg_free(w->stacks);
}

/*
** {==================================================================
** While packets come
** ===================================================================
*/

static uint32_t innermost (const tg_StackWeights *w) {
  return w->nopen > 0 ? w->open[w->nopen - 1] : 0;
}

void tg_stackweights_pass (tg_StackWeights *w, const tg_Packet *p) {
  if (w->on)
    tg_bytick_pass(&w->bytick, &w->tree, innermost(w), p->time_ns,
                   p->spent_ns);
}

bool tg_stackweights_enter (tg_StackWeights *w, const tg_Packet *p,
                            uint32_t func, const tg_Function *f) {
  if (!w->on)
    return true;
  uint32_t node = tg_calltree_child(&w->tree, innermost(w), func);
  if (node == 0 || !tg_grow(&w->open, &w->copen, w->nopen + 1, sizeof *w->open))
    return false;
  tg_bytick_enter(&w->tree, node, p, f);
  w->open[w->nopen++] = node;
  return true;
}

void tg_stackweights_leave (tg_StackWeights *w) {
  if (w->on)
    w->nopen--;
}

static bool has_room (tg_StackWeights *w, uint32_t stack) {
  return stack < w->capacity
         || tg_grow_zeroed(&w->list, &w->capacity, stack + 1, sizeof *w->list);
}

bool tg_stackweights_span (tg_StackWeights *w, uint32_t stack,
                           uint64_t length_ns) {
  if (!w->on || stack == TG_STACK_NONE)
    return true;
  if (!has_room(w, stack))
    return false;
  tg_StackWeight *k = &w->list[stack];
  k->node = innermost(w);
  k->length_ns += length_ns;
  k->spans++;
  return true;
}

bool tg_stackweights_tick (tg_StackWeights *w, const tg_Packet *tick,
                           uint32_t stack, uint32_t func) {
  if (!w->on)
    return true;
  uint32_t node = innermost(w);
  if (func != TG_STACK_NONE) {
    node = tg_calltree_child(&w->tree, node, func);
    if (node == 0)
      return false;
  }
  else if (stack != TG_STACK_NONE)
    w->list[stack].ticked_ns += tick->hits;
  tg_bytick_tick(&w->bytick, &w->tree, node, tick);
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** The end
** ===================================================================
*/

/* By node, the sums of its stacks; nodes that waits have added have none. */
static void add_stacks (tg_StackWeights *w, tg_StackWeight *sums) {
  for (uint32_t i = 0; i < w->tree.count; i++)
    w->stacks[i] = TG_STACK_NONE;
  for (uint32_t i = 0; i < w->capacity; i++) {
    const tg_StackWeight *k = &w->list[i];
    if (k->spans == 0)
      continue;
    sums[k->node].length_ns += k->length_ns;
    sums[k->node].ticked_ns += k->ticked_ns;
    sums[k->node].spans += k->spans;
    w->stacks[k->node] = i;
  }
}

/* The part of a node's time that one of its stacks has. */
static double part_of (const tg_StackWeight *k, const tg_StackWeight *all) {
  if (all->ticked_ns > 0)
    return (double)k->ticked_ns / (double)all->ticked_ns;
  if (all->length_ns > 0)
    return (double)k->length_ns / (double)all->length_ns;
  return (double)k->spans / (double)all->spans;
}

static void divide (tg_StackWeights *w, const tg_StackWeight *sums) {
  for (uint32_t i = 0; i < w->capacity; i++) {
    tg_StackWeight *k = &w->list[i];
    uint64_t self_ns = w->tree.nodes[k->node].tally.self_ns;
    if (k->spans > 0)
      k->ns = (uint64_t)((double)self_ns * part_of(k, &sums[k->node]) + 0.5);
  }
}

bool tg_stackweights_settle (tg_StackWeights *w, uint64_t end_ns,
                             uint32_t idle) {
  if (end_ns > w->bytick.now_ns)
    tg_bytick_pass(&w->bytick, &w->tree, innermost(w), end_ns,
                   w->bytick.spent_ns);
  if (!tg_bytick_settle(&w->bytick, &w->tree, idle))
    return false;
  tg_StackWeight *sums = tg_calloc(w->tree.count, sizeof *sums);
  w->stacks = tg_calloc(w->tree.count, sizeof *w->stacks);
  bool ok = sums != NULL && w->stacks != NULL;
  if (ok) {
    add_stacks(w, sums);
    divide(w, sums);
  }
  tg_free(sums);
  return ok;
}

/* Parents have lower numbers, and a stack if they have a child. */
static uint32_t stack_for (tg_StackWeights *w, tg_StackTables *c,
                           const tg_Node *n) {
  uint32_t frame = tg_stacktables_frame(c, n->row, 0);
  uint32_t below = n->parent > 0 ? w->stacks[n->parent] : TG_STACK_NONE;
  return frame != TG_STACK_NONE ? tg_stacktables_push(c, below, frame)
                                : TG_STACK_NONE;
}

uint32_t tg_stackweights_rest (tg_StackWeights *w, tg_StackTables *c,
                               uint32_t i, uint32_t *stack) {
  for (; i < w->tree.count; i++) {
    const tg_Node *n = &w->tree.nodes[i];
    if (i == 0 || w->stacks[i] != TG_STACK_NONE || n->tally.self_ns == 0)
      continue;
    *stack = w->stacks[i] = stack_for(w, c, n);
    if (*stack != TG_STACK_NONE && has_room(w, *stack))
      w->list[*stack] = (tg_StackWeight){
        .spans = 1, .ns = n->tally.self_ns, .node = i
      };
    else
      *stack = TG_STACK_NONE;
    return i;
  }
  return 0;
}

/* Spans without a length have equal parts, if no other has one. */
uint64_t tg_stackweights_of (const tg_StackWeights *w, uint32_t stack,
                             uint64_t length_ns) {
  if (!w->on || stack >= w->capacity || w->list[stack].spans == 0)
    return length_ns;
  const tg_StackWeight *k = &w->list[stack];
  double part = k->length_ns > 0 ? (double)length_ns / (double)k->length_ns
                                 : 1 / (double)k->spans;
  return (uint64_t)((double)k->ns * part + 0.5);
}

/* }================================================================== */
