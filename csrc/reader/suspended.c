/*
** suspended.c - see suspended.h.
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

void tg_suspended_free (tg_Suspended *w) {
  for (uint32_t i = 0; i < w->used; i++)
    tg_free(w->list[i].calls);
  tg_free(w->list);
  tg_intmap_free(&w->places);
  memset(w, 0, sizeof *w);
}

/* A place not used, zeroed but for its memory for calls. */
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

static void free_place (tg_Suspended *w, uint32_t place) {
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

static void give_up (tg_Suspended *w, tg_Parked *p) {
  for (uint32_t i = 0; i < p->count; i++)
    w->over(w->owner, &p->calls[i]);
  p->count = 0;
}

static bool push (tg_Parked *p, const tg_SuspendedCall *call) {
  if (!tg_grow(&p->calls, &p->capacity, p->count + 1, sizeof *p->calls))
    return false;
  p->calls[p->count++] = *call;
  return true;
}

bool tg_suspended_park (tg_Suspended *w, tg_ThreadId thread,
                        const tg_SuspendedCall *call) {
  if (w->leaving == TG_INTMAP_NONE || w->list[w->leaving].thread != thread) {
    w->leaving = place_of(w, thread);
    if (w->leaving == TG_INTMAP_NONE)
      return false;
    give_up(w, &w->list[w->leaving]);
  }
  return push(&w->list[w->leaving], call);
}

bool tg_suspended_resume (tg_Suspended *w, tg_ThreadId thread, uint32_t row,
                          tg_SuspendedCall *call) {
  uint32_t place = tg_intmap_find(&w->places, thread);
  if (place == TG_INTMAP_NONE)
    return false;
  tg_Parked *p = &w->list[place];
  if (p->count == 0 || p->calls[p->count - 1].row != row)
    return false;
  *call = p->calls[--p->count];
  return true;
}

void tg_suspended_end (tg_Suspended *w, tg_ThreadId thread) {
  uint32_t place = tg_intmap_find(&w->places, thread);
  if (place == TG_INTMAP_NONE)
    return;
  give_up(w, &w->list[place]);
  tg_intmap_drop(&w->places, thread);
  free_place(w, place);
}

void tg_suspended_finish (tg_Suspended *w) {
  for (uint32_t i = 0; i < w->used; i++)
    give_up(w, &w->list[i]);
}
