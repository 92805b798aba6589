/*
** few.h - short lists with strings that have been written before, or
** with objects that are named, or listed without what is in them: what
** functions mostly hand on if it is not plain (plain.h). The same bytes as by
** rules.h.
*/
#ifndef TG_CAPTURE_FEW_H
#define TG_CAPTURE_FEW_H

#include "capture/plain.h"

/* Whether these 'n' values may be for tg_capture_few, at 'start'; -1 are none.
   */
TG_INLINE bool tg_capture_are_few (const tg_Session *s, int n,
                                   const uint8_t *start) {
  return (unsigned)n <= TG_PLAIN_MAX
         && (size_t)(s->writer.lim - start) >= TG_PLAIN_ROOM;
}

/*
** The list of 'n' values from slot 'first' above 'base' on, and of 'extra' ones
** below it, to 'start', which is where it will stay in the chunk; they are few.
** Before it its size, a var of two bytes; it may refer to bytes before it. NULL
** if there is more to them than that, and then nothing has been done.
*/
uint8_t *tg_capture_few (tg_Session *s, lua_State *L, const void *base,
                         int first, int n, int extra, uint8_t *start);

#endif
