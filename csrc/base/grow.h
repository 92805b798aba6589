/*
** grow.h - arrays that grow: room for so many items, doubled when it is short.
**
** An array is a pointer and a capacity, both zero at first; its owner counts
** what is in it. 'list' is the pointer's address, whatever it points to:
**
**     if (!tg_grow(&l->list, &l->capacity, l->count + 1, sizeof *l->list))
**       return false;
**     l->list[l->count++] = item;
*/
#ifndef TG_GROW_H
#define TG_GROW_H

#include "base/base.h"

/* The slow half of tg_grow: there is no room for 'need' items yet. */
bool tg_grow_more (void *list, uint32_t *capacity, uint32_t need, size_t size);

/* Room for 'need' items of 'size' bytes. False without memory: then nothing has
   changed. What is new is not initialised. */
TG_INLINE bool tg_grow (void *list, uint32_t *capacity, uint32_t need,
                        size_t size) {
  return tg_likely(need <= *capacity)
         || tg_grow_more(list, capacity, need, size);
}

/* The same for an array by number, all of which is in use: what is new is
   zeros. */
bool tg_grow_zeroed (void *list, uint32_t *capacity, uint32_t need,
                     size_t size);

#endif
