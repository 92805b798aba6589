/*
** openframes.c - see openframes.h. Nothing is allocated for a frame that brings
** nothing new.
*/
#include "profile/openframes.h"

#include <string.h>

#include "profile/profilelines.h"

uint32_t tg_openframes_new_row (tg_Profile *p, uint32_t label) {
  if (label == TG_INTMAP_NONE
      || !tg_grow(&p->rows, &p->crows, label + 1, sizeof *p->rows))
    return TG_INTMAP_NONE;
  memset(&p->rows[label], 0, sizeof p->rows[label]);
  tg_assert(label >= p->nrows);
  p->rows[label].min_ns = UINT64_MAX;
  p->nrows = label + 1;
  return label;
}

const tg_Open *tg_openframes_innermost (const tg_Profile *p) {
  uint32_t i = p->nopen;
  while (i > 0 && p->open[i - 1].pause)
    i--;
  return i > 0 ? &p->open[i - 1] : NULL;
}

static const tg_Function *function_of (const tg_Profile *p, const tg_Open *o) {
  return tg_funclabels_function(&p->labels, o->call.row);
}

/* The frame is one way further down the tree; false without memory. Below the
   last level frames are folded into the one there. */
static bool enter_node (tg_Profile *p, tg_Open *o, const tg_Packet *k) {
  const tg_Open *caller = tg_openframes_innermost(p);
  uint32_t parent = caller != NULL ? caller->node : 0;
  if (p->deepest <= p->nopen)
    p->deepest = p->nopen + 1;
  o->folded = p->nopen >= p->levels;
  if (o->folded) {
    o->node = parent;
    tg_bytick_fold(&p->tree, parent, k, function_of(p, o));
    return true;
  }
  o->node = p->lined == TG_LINED_TREE
            ? tg_profilelines_child(p, parent, o->call.row,
                                    tg_profilelines_caller(p, k))
            : tg_calltree_child(&p->tree, parent, o->call.row);
  tg_Node *n = &p->tree.nodes[o->node];
  n->tally.calls += !k->resumed && !k->sampled;
  tg_bytick_enter(&p->tree, o->node, k, function_of(p, o));
  n->outermost = p->rows[o->call.row].open == 1;
  return o->node != 0;
}

bool tg_openframes_enter (tg_Profile *p, const tg_Packet *k) {
  bool called = !k->resumed && !k->sampled;
  tg_Open *o = tg_openframes_open(p, k->function, k->thread, called);
  if (o == NULL)
    return false;
  uint32_t row = o->call.row;
  tg_Row *r = &p->rows[row];
  o->sampled = k->sampled;
  if (k->resumed)
    tg_suspended_resume(&p->waiting, k->thread, row, &o->call);
  if (called && p->lined == TG_LINED_ROWS && !tg_profilelines_call(p, k))
    return false;
  o->pause = k->sampled && tg_function_is_pause(function_of(p, o));
  if ((tg_openframes_has_tree(p) && !enter_node(p, o, k))
      || (tg_openframes_makes(p, o)
          && !tg_usage_enter(&p->usage, row, o->node, r->open == 1)))
    return false;
  p->nopen++;
  return true;
}
