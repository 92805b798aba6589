/*
** openframes.h - the frames of a profile that are open, and their rows and
** nodes. Private to profile.c and makers.c.
*/
#ifndef TG_OPENFRAMES_H
#define TG_OPENFRAMES_H

#include "base/grow.h"
#include "profile/profile.h"

/* The row of a label that has none; TG_INTMAP_NONE without memory. */
uint32_t tg_openframes_new_row (tg_Profile *p, uint32_t label);

/* Rows have the numbers of labels. */
TG_INLINE uint32_t tg_openframes_row (tg_Profile *p, tg_FunctionId id) {
  uint32_t label = tg_funclabels_of(&p->labels, id);
  return tg_likely(label < p->nrows) ? label : tg_openframes_new_row(p, label);
}

/* A tree has its root from the beginning, so an empty one is none. */
TG_INLINE bool tg_openframes_has_tree (const tg_Profile *p) {
  return p->tree.count > 0;
}

/* Whether there is a tree and the frame has a node of its own in it. */
TG_INLINE bool tg_openframes_has_node (const tg_Profile *p, const tg_Open *o) {
  return tg_openframes_has_tree(p) && !o->folded;
}

/* The innermost frame that is no pause; NULL: there is none. Nothing is called
   by a pause. */
const tg_Open *tg_openframes_innermost (const tg_Profile *p);

/* Whether what is allocated is added to the frame. */
TG_INLINE bool tg_openframes_makes (const tg_Profile *p, const tg_Open *o) {
  return p->usage.on && !o->pause;
}

/* The innermost frame is to be one of that function; NULL without memory. */
TG_INLINE tg_Open *tg_openframes_open (tg_Profile *p, tg_FunctionId function,
                                       tg_ThreadId thread, bool called) {
  uint32_t row = tg_openframes_row(p, function);
  if (row == TG_INTMAP_NONE
      || !tg_grow(&p->open, &p->copen, p->nopen + 1, sizeof *p->open))
    return NULL;
  tg_Row *r = &p->rows[row];
  tg_Open *o = &p->open[p->nopen];
  *o = (tg_Open){.call = {.row = row, .counted = called},
                 .opened_ns = p->now_ns, .thread = thread};
  r->tally.calls += called;
  if (r->open++ == 0)
    r->since_ns = p->now_ns;
  return o;
}

/* The frame that a packet opens; false without memory. Of a call that goes on
   the time so far is known, if its yield was seen. */
bool tg_openframes_enter (tg_Profile *p, const tg_Packet *k);

/* The innermost frame is closed; its times are added. */
TG_INLINE tg_Open *tg_openframes_close (tg_Profile *p) {
  tg_assert(p->nopen > 0);
  tg_Open *o = &p->open[--p->nopen];
  tg_Row *r = &p->rows[o->call.row];
  tg_assert(r->open > 0 && p->now_ns >= o->opened_ns);
  uint64_t stay_ns = p->now_ns - o->opened_ns;
  o->call.ran_ns += stay_ns;
  if (--r->open == 0)
    r->tally.total_ns += p->now_ns - r->since_ns;
  if (tg_openframes_has_node(p, o))
    p->tree.nodes[o->node].tally.total_ns += stay_ns;
  if (tg_openframes_makes(p, o))
    tg_usage_leave(&p->usage, r->open == 0, tg_openframes_has_node(p, o));
  return o;
}

#endif
