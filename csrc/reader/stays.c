/*
** stays.c - see stays.h. Called with each packet, in order. Memory that is
** refused gives NULL, and whoever asked reads no more.
*/
#include "reader/stays.h"

#include "base/alloc.h"
#include "base/grow.h"

/* A call that will not go on: all that is to be known of it is. */
void tg_stays_forget (void *owner, const tg_SuspendedCall *call) {
  (void)owner;
  (void)call;
}

/* What is parked is not told to anybody: it is only memory here. */
void tg_stays_free (tg_Calls *c) {
  tg_free(c->open);
  tg_suspended_free(&c->waiting);
}

/* A new call gets a number; a call that goes on keeps its own. */
tg_Stay *tg_stays_enter (tg_Calls *c, const tg_Packet *p) {
  if (!tg_grow(&c->open, &c->copen, c->nopen + 1, sizeof *c->open))
    return NULL;
  tg_Stay *s = &c->open[c->nopen++];
  *s = (tg_Stay){.call = {.row = p->function}, .opened_ns = p->time_ns,
                 .thread = p->thread};
  tg_suspended_pass(&c->waiting);
  if (!p->resumed || !tg_suspended_resume(&c->waiting, p->thread, p->function,
                                          &s->call))
    s->call.tag = c->count++;
  return s;
}

/* Whether a frame that was just closed was its coroutine's outermost. */
static bool was_last (const tg_Calls *c, const tg_Stay *s) {
  return c->nopen == 0 || c->open[c->nopen - 1].thread != s->thread;
}

/* A call that yields is kept for its resume; otherwise it is over. */
tg_Stay *tg_stays_leave (tg_Calls *c, const tg_Packet *p) {
  tg_assert(c->nopen > 0);
  tg_Stay *s = &c->open[--c->nopen];
  s->call.ran_ns += p->time_ns - s->opened_ns;
  if (p->why == TG_WHY_YIELD)
    return tg_suspended_park(&c->waiting, s->thread, &s->call) ? s : NULL;
  tg_suspended_pass(&c->waiting);
  if (c->waiting.places.count > 0 && was_last(c, s))
    tg_suspended_end(&c->waiting, s->thread);
  return s;
}
