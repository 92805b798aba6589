/*
** parting.c - see parting.h. For trace/replayobject.c.
*/
#include "replay/parting.h"

#include <string.h>

void tg_parting_begin (tg_Parting *p, tg_Replay *a, tg_Replay *b) {
  memset(p, 0, sizeof *p);
  p->a = a;
  p->b = b;
  p->alike.a.stream = a->stream;
  p->alike.b.stream = b->stream;
}

void tg_parting_free (tg_Parting *p) {
  tg_alike_free(&p->alike);
  for (int i = 0; i < 2; i++)
    tg_intmap_free(&p->threads[i]);
  memset(p, 0, sizeof *p);
}

/* Of one run, 'i', the how-manieth coroutine that is; 0 without memory. */
static uint32_t rank (tg_Parting *p, int i, tg_ThreadId thread) {
  uint32_t known = tg_intmap_find(&p->threads[i], thread);
  if (known != TG_INTMAP_NONE)
    return known;
  if (!tg_intmap_set(&p->threads[i], thread, ++p->appeared[i])) {
    p->alike.failed = true;
    return 0;
  }
  return p->appeared[i];
}

static bool same_kind (const tg_Packet *a, const tg_Packet *b) {
  return a->why == b->why && a->tail == b->tail && a->resumed == b->resumed;
}

/* Of a call without a place in one run nothing is known there. */
static bool same_place (tg_Parting *p, const tg_Packet *a, const tg_Packet *b) {
  if (a->why != TG_WHY_ENTER || a->caller == 0 || b->caller == 0)
    return a->why != TG_WHY_ENTER || a->caller == b->caller
           || ((p->a->selection.types & p->b->selection.types)
               & TG_TYPE_CALLSITE) == 0;
  return a->line == b->line
         && tg_alike_functions(&p->alike, a->caller, b->caller);
}

/* What one of them has not recorded is no difference. */
static bool same_values (tg_Parting *p, const tg_Packet *a,
                         const tg_Packet *b) {
  return tg_alike_values(&p->alike, a->values, b->values);
}

static tg_Difference compare (tg_Parting *p) {
  const tg_Packet *a = &p->a->coming.packet, *b = &p->b->coming.packet;
  if (!same_kind(a, b))
    return TG_DIFFER_KIND;
  if (rank(p, 0, a->thread) != rank(p, 1, b->thread))
    return TG_DIFFER_THREAD;
  if (!tg_alike_functions(&p->alike, a->function, b->function))
    return TG_DIFFER_FUNCTION;
  if (!same_place(p, a, b))
    return TG_DIFFER_PLACE;
  return same_values(p, a, b) ? TG_DIFFER_GOING : TG_DIFFER_VALUES;
}

static void pass_samples (tg_Replay *r) {
  while (!r->over && r->coming.packet.sampled)
    tg_replay_advance(r);
}

static bool failed (const tg_Parting *p) {
  return p->alike.failed || p->a->status == TG_ERR_MEMORY
         || p->b->status == TG_ERR_MEMORY;
}

tg_Difference tg_parting_turn (tg_Parting *p, uint64_t budget) {
  for (; budget > 0; budget--) {
    pass_samples(p->a);
    pass_samples(p->b);
    if (failed(p))
      return TG_DIFFER_FAILED;
    if (p->a->over || p->b->over)
      return p->a->over && p->b->over ? TG_DIFFER_NOT : TG_DIFFER_END;
    tg_Difference d = compare(p);
    if (d != TG_DIFFER_GOING)
      return failed(p) ? TG_DIFFER_FAILED : d;
    tg_replay_advance(p->a);
    tg_replay_advance(p->b);
  }
  return TG_DIFFER_GOING;
}
