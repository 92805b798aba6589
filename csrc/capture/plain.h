/*
** plain.h - most lists: a few numbers, booleans and short strings, straight
** from memory. The same bytes as by rules.h; a part of the hook itself, which
** calls no function for such a list.
*/
#ifndef TG_CAPTURE_PLAIN_H
#define TG_CAPTURE_PLAIN_H

#include "capture/slots.h"

/*
** Writes the whole list of 'n' values that stand from slot 'first' above
** 'base' on, all of which exist, where there are TG_PLAIN_ROOM bytes; its size
** is the caller's to write. NULL if that is not for here to do, and then
** nothing has been done.
*/
TG_INLINE uint8_t *tg_capture_plain (const tg_Session *s, const void *base,
                                     int first, int n, uint8_t *p) {
  const uint8_t *v = (const uint8_t *)base + (ptrdiff_t)first * TG_SIZE_SLOT;
  if (tg_unlikely((unsigned)n > TG_PLAIN_MAX))
    return NULL;
  *p++ = (uint8_t)n;
  for (const uint8_t *end = v + (ptrdiff_t)n * TG_SIZE_SLOT; v < end;
       v += TG_SIZE_SLOT) {
    p = put_small_slot(tg_read_slot(v, 0), s->selection.plain, p);
    if (tg_unlikely(p == NULL))
      return NULL;
  }
  return p;
}

#endif
