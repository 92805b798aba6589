/*
** eventshape.c - see eventshape.h.
*/
#include "stream/eventshape.h"

#define HAS(b, flag) (((b) & (flag)) != 0)
#define KIND(b) ((b) & TG_EV_KINDMASK)

/* A call of kind 0 is not told from zeros without a flag. */
#define IS_SHORT(b) \
  (KIND(b) == TG_EV_NONE \
   || (KIND(b) == TG_EV_RETURN && HAS(b, TG_EVF_SHORT)))
#define IS_CALL(b) (KIND(b) == TG_EV_NONE || KIND(b) == TG_EV_CALL)
#define IS_RETURN(b) (KIND(b) == TG_EV_RETURN)
#define IS_GAUGE(b) (KIND(b) == TG_EV_TIME && HAS(b, TG_EVF_GAUGE))
#define IS_SHAPED(b) \
  ((b) != 0 && (IS_CALL(b) || IS_RETURN(b) || IS_GAUGE(b)))

/* A function, a line, and the caller's function. */
#define NUMBERS(b) \
  (!IS_CALL(b) ? 0 : !HAS(b, TG_EVF_SITE) ? 1 : HAS(b, TG_EVF_FAR) ? 3 : 2)
#define HAS_VALUES(b) \
  (HAS(b, TG_EVF_VALUES) \
   && (IS_CALL(b) || (IS_RETURN(b) && !HAS(b, TG_EVF_NOTHING))))

#define HIGH(b) (IS_SHORT(b) ? 1 : 2)
#define NUMBER_BYTES(b) (NUMBERS(b) * (IS_SHORT(b) ? 2 : 4))

#define SHAPE(b) \
  {IS_SHAPED(b) ? 2 + HIGH(b) + NUMBER_BYTES(b) : 0, NUMBER_BYTES(b), HIGH(b), \
   !HAS_VALUES(b) ? TG_SHAPE_NONE : IS_SHORT(b) ? TG_SHAPE_VAR : TG_SHAPE_U32}
#define SHAPES4(b) SHAPE(b), SHAPE((b) + 1), SHAPE((b) + 2), SHAPE((b) + 3)
#define SHAPES16(b) \
  SHAPES4(b), SHAPES4((b) + 4), SHAPES4((b) + 8), SHAPES4((b) + 12)
#define SHAPES64(b) \
  SHAPES16(b), SHAPES16((b) + 16), SHAPES16((b) + 32), SHAPES16((b) + 48)

const tg_EventShape tg_eventshapes[256] = {
  SHAPES64(0), SHAPES64(64), SHAPES64(128), SHAPES64(192)
};

/* Mostly a var in four bytes, whose size was not known when it was begun. */
size_t tg_eventshape_many (const uint8_t *p, tg_EventShape s) {
  if (s.count == TG_SHAPE_U32)
    return sizeof(uint32_t) + (tg_get32(p) & ~TG_VALUES_REFERS);
  size_t size = p[0] & 0x7fu, n = 1;
  while (p[n - 1] >= 0x80) {
    if (n == TG_SHAPE_COUNT_MAX)
      return 0;
    size |= (size_t)(p[n] & 0x7f) << 7 * n;
    n++;
  }
  return n + size;
}
