/*
** handover.c - a trace's part of the stream, from one thread to another. All
** that both look at is under the channel's mutex; nothing can fail.
**
** A part is moved and never copied: there is one cursor in it, which keeps the
** trace's chunks, and whoever has it drops it.
*/
#include "channel/handover.h"

#include <string.h>

#include "base/alloc.h"
#include "base/refs.h"

struct tg_Handover {
  _Atomic uint32_t refs;
  bool taken;               /* or given up (the channel's mutex) */
  tg_Excerpt part;             /* owns (the same) */
};

/* The cursor first: it is in the stream's store. */
void tg_excerpt_free (tg_Excerpt *p) {
  tg_cursor_drop(&p->hold);
  tg_stream_unpin(p->stream);
  memset(p, 0, sizeof *p);
}

/* 'taken' is false and the part is empty: asked for, and not begun. */
tg_Handover *tg_handover_new (void) {
  tg_Handover *k = tg_calloc(1, sizeof *k);
  if (k != NULL)
    atomic_init(&k->refs, 1);
  return k;
}

tg_Handover *tg_handover_pin (tg_Handover *k) {
  tg_refs_pin(&k->refs);
  return k;
}

/* A part that nobody has taken goes with it. */
void tg_handover_unpin (tg_Handover *k) {
  if (k == NULL || !tg_refs_unpin(&k->refs))
    return;
  tg_excerpt_free(&k->part);
  tg_free(k);
}

/* A cursor is held by the chunk's count and not by its address (store.h), so
   its bytes may move. */
static void move (tg_Excerpt *to, tg_Excerpt *from) {
  *to = *from;
  memset(from, 0, sizeof *from);
}

/* False: the part stays the caller's. */
bool tg_handover_begin (tg_Channel *l, tg_Handover *k, tg_Excerpt *from) {
  pthread_mutex_lock(&l->mutex);
  bool wanted = !k->taken;
  tg_assert(k->part.stream == NULL && from->stream != NULL);
  if (wanted)
    move(&k->part, from);
  pthread_mutex_unlock(&l->mutex);
  return wanted;
}

/* Once, and only while the part is here: who has taken it has given it an
   end. */
void tg_handover_end (tg_Channel *l, tg_Handover *k, const tg_Excerpt *facts) {
  tg_Excerpt *p = &k->part;
  pthread_mutex_lock(&l->mutex);
  if (p->stream != NULL && p->end == TG_END_NOT) {
    p->end = facts->end;
    p->stop = facts->stop;
    p->ticks_end = facts->ticks_end;
    memcpy(p->lost, facts->lost, sizeof p->lost);
  }
  pthread_mutex_unlock(&l->mutex);
}

/* The time after the place: no event of it is later. */
static void end_here (tg_Excerpt *p) {
  p->end = TG_END_STOPPED;
  p->stop = tg_cursor_committed(&p->hold);
  p->ticks_end = tg_clock_ticks();
}

/* What is committed is looked at without the mutex: the part is the caller's
   by then, and the stream goes on whatever that says. */
bool tg_handover_take (tg_Channel *l, tg_Handover *k, tg_Excerpt *to) {
  pthread_mutex_lock(&l->mutex);
  bool begun = k->part.stream != NULL;
  k->taken = true;
  move(to, &k->part);
  pthread_mutex_unlock(&l->mutex);
  if (begun && to->end == TG_END_NOT)
    end_here(to);
  return begun;
}
