/*
** threadlist.c - see threadlist.h. For the formats that have a place for each
** coroutine; without memory TG_INTMAP_NONE, and the list is as it was.
*/
#include "export/threadlist.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

/* All memory first, the list's room and the hash's: so what the hash has is in
   the list. */
static uint32_t add_entry (tg_ThreadList *l, tg_ThreadEntry entry) {
  if (!tg_grow(&l->list, &l->capacity, l->count + 1, sizeof *l->list))
    return TG_INTMAP_NONE;
  if (!tg_intmap_set(&l->places, entry.thread, l->count))
    return TG_INTMAP_NONE;
  l->list[l->count] = entry;
  return l->count++;
}

/* The place that all others share, of nobody's first function. */
static uint32_t shared_place (tg_ThreadList *l) {
  static const tg_ThreadEntry others = {.thread = TG_THREADLIST_OTHERS,
                                        .sure = true};
  return l->count > TG_THREADLIST_OWN ? TG_THREADLIST_OWN
                                      : add_entry(l, others);
}

/* The first TG_THREADLIST_OWN coroutines have a place of their own, by order of
   appearance; what comes later shares one. A program that makes a coroutine for
   each request would fill a viewer with tracks of which nobody could find
   one. */
static uint32_t find (tg_ThreadList *l, const tg_Packet *p) {
  uint32_t number = tg_intmap_find(&l->places, p->thread);
  if (number != TG_INTMAP_NONE)
    return number;
  if (l->count >= TG_THREADLIST_OWN)
    return shared_place(l);
  return add_entry(l, (tg_ThreadEntry){.thread = p->thread,
                                       .first = p->function});
}

/* Of a coroutine that was there before the trace a later RESUME may tell. */
static void note_body (tg_ThreadEntry *e, tg_FunctionId body) {
  if (body == 0 || e->sure)
    return;
  e->first = body;
  e->sure = true;
}

/* The latest one is asked for again mostly: a hash for each packet would be
   felt in an export of millions. */
uint32_t tg_threadlist_of (tg_ThreadList *l, const tg_Packet *p) {
  uint32_t number = l->latest;
  if (number >= l->count || l->list[number].thread != p->thread)
    number = find(l, p);
  if (number == TG_INTMAP_NONE)
    return number;
  tg_assert(number < l->count && number <= TG_THREADLIST_OWN);
  note_body(&l->list[number], p->body);
  l->latest = number;
  return number;
}

void tg_threadlist_free (tg_ThreadList *l) {
  tg_free(l->list);
  tg_intmap_free(&l->places);
  memset(l, 0, sizeof *l);
}
