/*
** capture_few.h - short lists with strings that have been written before, or
** with objects that are only named: what functions mostly hand on if it is not
** plain (capture_plain.h). What capture_slots.c writes of the same values is
** the same bytes.
*/
#ifndef TG_CAPTURE_FEW_H
#define TG_CAPTURE_FEW_H

#include "hook/capture_plain.h"

/* With descriptors of type, flags, a class, a function. */
#define TG_FEW_ROOM \
  (TG_PLAIN_ROOM + TG_PLAIN_MAX * (2u + SMALL_ROOM + (size_t)ROOM))

/* Whether objects among these values are only named. */
TG_INLINE bool tg_capture_names (const tg_Limits *limits, const void *base,
                                 int first, int n) {
  if (limits->depth == 0)
    return limits->objects >= TG_PLAIN_MAX;
  for (int i = 0; i < n; i++) {
    if (tg_slot_type(slot_at(base, first + i)) >= LUA_TTABLE)
      return false;
  }
  return true;
}

/* Whether these 'n' values may be for tg_capture_few, at 'start'; -1 are none.
   It is asked first, for nothing is won by finding out in the middle. */
TG_INLINE bool tg_capture_are_few (const tg_Session *s, const void *base,
                                   int first, int n, const uint8_t *start) {
  return (unsigned)n <= TG_PLAIN_MAX
         && (size_t)(s->writer.lim - start) >= TG_FEW_ROOM
         && tg_capture_names(&s->selection.limits, base, first, n);
}

/*
** The list of 'n' values from slot 'first' above 'base' on, to 'start', which
** is where it will stay in the chunk; they are few. NULL if there is more to
** them than that, and then nothing has been done.
*/
uint8_t *tg_capture_few (const tg_Session *s, lua_State *L, const void *base,
                         int first, int n, uint8_t *start);

#endif
