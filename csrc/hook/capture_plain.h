/*
** capture_plain.h - most lists: a few numbers, booleans and short strings,
** straight from memory. What capture.c writes of the same values is the same
** bytes.
*/
#ifndef TG_CAPTURE_PLAIN_H
#define TG_CAPTURE_PLAIN_H

#include "hook/capture_slots.h"

#define FEW 6
#define FEW_ROOM (16u + FEW * SMALL_ROOM)

/*
** Writes the whole list of 'n' values that stand from slot 'first' above
** 'base' on, all of which exist. NULL if that is not for here to do, and then
** nothing has been done.
*/
TG_INLINE uint8_t *tg_capture_plain (const tg_Session *s, const void *base,
                                     int first, int n, uint8_t *start,
                                     const uint8_t *lim) {
  uint32_t limit = s->selection.limits.string;
  uint8_t *p = start + 4;
  if (tg_unlikely((unsigned)n > FEW || (size_t)(lim - start) < FEW_ROOM))
    return NULL;
  *p++ = (uint8_t)n;
  for (int i = 0; i < n; i++) {
    p = put_small_slot(slot_at(base, first + i), limit, p);
    if (tg_unlikely(p == NULL))
      return NULL;
  }
  tg_put32(start, (uint32_t)(p - start - 4));
  return p;
}

#endif
