/*
** suspended.c - see suspended.h.
**
** Called by profiles, the minimum-duration filter and the log, with every
** packet that yields or goes on; on the thread that reads. Without memory a
** call is not parked, and when it goes on it is not known: its owner says what
** that means.
*/
#include "reader/suspended.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

void tg_suspended_init (tg_Suspended *w,
                        void (*over)(void *, const tg_SuspendedCall *),
                        void *owner) {
  memset(w, 0, sizeof *w);
  w->first_free = w->leaving = TG_INTMAP_NONE;
  w->over = over;
  w->owner = owner;
}

/* What is parked is not told as over: who wants that calls tg_suspended_finish
   before. */
void tg_suspended_free (tg_Suspended *w) {
  for (uint32_t i = 0; i < w->used; i++)
    tg_free(w->list[i].calls);
  tg_free(w->list);
  tg_intmap_free(&w->places);
  memset(w, 0, sizeof *w);
}

/* A place not used, zeroed but for its memory for calls. Places that are free
   are a list through 'next_free', the latest first. */
static uint32_t new_place (tg_Suspended *w) {
  uint32_t place = w->first_free;
  if (place != TG_INTMAP_NONE)
    w->first_free = w->list[place].next_free;
  else {
    if (!tg_grow(&w->list, &w->capacity, w->used + 1, sizeof *w->list))
      return TG_INTMAP_NONE;
    place = w->used++;
    memset(&w->list[place], 0, sizeof w->list[place]);
  }
  return place;
}

/* Its memory for calls stays with it, for the next thread. */
static void free_place (tg_Suspended *w, uint32_t place) {
  tg_assert(place < w->used && w->list[place].count == 0);
  w->list[place].next_free = w->first_free;
  w->first_free = place;
}

/* The place of a thread, made if it has none. */
static uint32_t place_of (tg_Suspended *w, tg_ThreadId thread) {
  uint32_t place = tg_intmap_find(&w->places, thread);
  if (place != TG_INTMAP_NONE)
    return place;
  place = new_place(w);
  if (place == TG_INTMAP_NONE)
    return TG_INTMAP_NONE;
  w->list[place].thread = thread;
  if (!tg_intmap_set(&w->places, thread, place)) {
    free_place(w, place);
    return TG_INTMAP_NONE;
  }
  return place;
}

/* Outermost last, so innermost first: as calls end. */
static void give_up (tg_Suspended *w, tg_Parked *p) {
  for (uint32_t i = 0; i < p->count; i++)
    w->over(w->owner, &p->calls[i]);
  p->count = 0;
}

/* Outermost last: frames leave a coroutine from the innermost on. */
static bool push (tg_Parked *p, const tg_SuspendedCall *call) {
  if (!tg_grow(&p->calls, &p->capacity, p->count + 1, sizeof *p->calls))
    return false;
  p->calls[p->count++] = *call;
  return true;
}

/* The first frame that leaves finds what is still parked of its coroutine:
   calls that did not come back when it was resumed. Those are over. */
bool tg_suspended_park (tg_Suspended *w, tg_ThreadId thread,
                        const tg_SuspendedCall *call) {
  if (w->leaving == TG_INTMAP_NONE || w->list[w->leaving].thread != thread) {
    w->leaving = place_of(w, thread);
    if (w->leaving == TG_INTMAP_NONE)
      return false;
    give_up(w, &w->list[w->leaving]);
  }
  tg_assert(w->leaving < w->used);
  return push(&w->list[w->leaving], call);
}

/* Frames come back outermost first, and that one is on top. If it is another's,
   a limit has hidden one of them: nothing is known then. */
bool tg_suspended_resume (tg_Suspended *w, tg_ThreadId thread, uint32_t row,
                          tg_SuspendedCall *call) {
  uint32_t place = tg_intmap_find(&w->places, thread);
  if (place == TG_INTMAP_NONE)
    return false;
  tg_Parked *p = &w->list[place];
  tg_assert(p->thread == thread);
  if (p->count == 0 || p->calls[p->count - 1].row != row)
    return false;
  *call = p->calls[--p->count];
  return true;
}

/* The coroutine will not go on; what it has parked is over, from the innermost
   out. */
void tg_suspended_end (tg_Suspended *w, tg_ThreadId thread) {
  uint32_t place = tg_intmap_find(&w->places, thread);
  if (place == TG_INTMAP_NONE)
    return;
  give_up(w, &w->list[place]);
  tg_intmap_drop(&w->places, thread);
  free_place(w, place);
}

/* Places stay: their owner frees all of it, or asks no more. */
void tg_suspended_finish (tg_Suspended *w) {
  for (uint32_t i = 0; i < w->used; i++)
    give_up(w, &w->list[i]);
}
