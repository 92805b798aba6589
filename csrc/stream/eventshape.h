/*
** eventshape.h - where in an event's bytes is what, by its first byte: of
** calls, returns and gauges, which are nearly all events.
**
**     first byte | delta, two or three bytes | numbers | count | values
**
** For whoever sorts these bytes or passes over them: a tenth of the time that
** it takes to decode the event (eventreader.h), and nothing is known of what it
** says. Of all other events, which are *bare* here, only that can tell how long
** they are.
*/
#ifndef TG_EVENTSHAPE_H
#define TG_EVENTSHAPE_H

#include "base/base.h"
#include "stream/event.h"

/* The count of values, before them. Times its first byte, and one more for that
   byte, it is what values of few bytes take; above SHORT one has to look. */
typedef enum tg_ShapeCount {
  TG_SHAPE_NONE = 0,
  TG_SHAPE_VAR = 1,
  TG_SHAPE_SHORT = 0x80,
  TG_SHAPE_U32 = TG_SHAPE_SHORT + 1
} tg_ShapeCount;

#define TG_SHAPE_COUNT_MAX ((size_t)4)  /* bytes of a count, whichever it is */

/* Bytes without the values of any event that is not bare. */
#define TG_SHAPE_MOST (4 + 12 + TG_SHAPE_COUNT_MAX)

typedef struct tg_EventShape {
  uint8_t size;           /* bytes before the count; 0: it is bare */
  uint8_t numbers;        /* of these, behind the delta: 12 at most */
  uint8_t high;           /* bytes of the delta, but for the first */
  uint8_t count;          /* a tg_ShapeCount */
} tg_EventShape;

extern const tg_EventShape tg_eventshapes[256]
  __attribute__((visibility("hidden")));

/* As tg_eventshape_values, of a count that is not one byte. */
size_t tg_eventshape_many (const uint8_t *p, tg_EventShape s);

/* How many bytes the values at 'p' are with their count, where there are
   COUNT_MAX; 0, if there is a count: nobody writes such a one. */
TG_INLINE size_t tg_eventshape_values (const uint8_t *p, tg_EventShape s) {
  size_t n = s.count * ((size_t)*p + 1);
  return tg_unlikely(n > TG_SHAPE_SHORT) ? tg_eventshape_many(p, s) : n;
}

/* Whether an event with that first byte tells a list of values, which may be
   that there are none. */
TG_INLINE bool tg_eventshape_has_list (uint8_t first, tg_EventShape s) {
  return s.count != TG_SHAPE_NONE
         || (first & (TG_EV_KINDMASK | TG_EVF_NOTHING))
            == (TG_EV_RETURN | TG_EVF_NOTHING);
}

/* That list, where the values are the 'n' bytes at 'p' with their count; they
   refer to bytes from 'origin' on, if to any. One without values is one byte,
   which is in no event (values.h). */
TG_INLINE tg_Slice tg_eventshape_list (const uint8_t *p, size_t n,
                                       tg_EventShape s,
                                       const uint8_t *origin) {
  static const uint8_t nothing[] = {0};
  size_t counted = 1;
  bool refers;
  if (s.count == TG_SHAPE_NONE)
    return (tg_Slice){.data = nothing, .size = sizeof nothing};
  if (s.count == TG_SHAPE_U32) {
    counted = sizeof(uint32_t);
    refers = (tg_get32(p) & TG_VALUES_REFERS) != 0;
  }
  else {
    while (p[counted - 1] >= 0x80)
      counted++;
    refers = counted > 1;
  }
  return (tg_Slice){.data = p + counted, .size = n - counted,
                    .origin = refers ? origin : NULL};
}

#endif
