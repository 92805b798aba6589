/*
** eventreader.h - one event read back from its bytes.
**
** The counterpart of what the hook writes by hand (event.h has the layout).
*/
#ifndef TG_EVENTREADER_H
#define TG_EVENTREADER_H

#include "base/bytereader.h"
#include "stream/event.h"
#include "stream/marks.h"

typedef struct tg_Event {
  tg_Kind kind;
  uint32_t flags;         /* TG_EVF_* as they stand in the head */
  uint64_t ticks;         /* absolute, or since the last event */
  tg_FunctionId function; /* CALL */
  uint32_t line;          /* CALL, MARK with SITE */
  tg_FunctionId caller;   /* CALL with FAR; MARK with SITE */
  tg_ThreadId thread;     /* RESUME, GONE */
  uint32_t n;             /* THROW: frames; CONTEXT, RESUME: list entries */
  const uint8_t *list;    /* borrows; CONTEXT: pairs, RESUME: functions */
  uint32_t nframes;       /* CONTEXT with LIST: */
  const uint8_t *frames;  /* borrows; their functions */
  uint64_t used_ns;       /* SAMPLE; its entries are in 'list', pairs */
  uint64_t hook_ns;       /* SAMPLE with APART... */
  uint64_t others_ns;     /* ...with OTHERS */
  uint32_t weight, kept;  /* ticks that came; entries of the one before */
  uint64_t waited;        /* WAIT; of a TIME its overhead */
  uint64_t number;        /* LOST: packets; MARK with NUMBER */
  uint32_t mark;          /* MARK: its sort and its groups */
  tg_Slice values;        /* data NULL without VALUES; ALLOCATIONS: its body */
  uint32_t counted;       /* bytes that tell the size of values; 0: they are not
                             the event's, as those of NOTHING */
} tg_Event;

/*
** Reads the event at 'p', of which at most 'size' bytes belong to it. Returns
** how many did; 0 if these bytes are no event. Its values may refer to bytes
** from '*origin' on: at first where the block's data begin, then the last
** CONTEXT that was read here.
*/
size_t tg_event_decode (const uint8_t **origin, const uint8_t *p, size_t size,
                        tg_Event *e);

/* A call or a return, as nearly all are: then it is none of those below, which
   need not be asked for one by one. */
TG_INLINE bool tg_event_is_usual (const tg_Event *e) {
  return e->kind == TG_EV_CALL || e->kind == TG_EV_RETURN;
}

/* Whether it is a gauge of the hook's work. */
TG_INLINE bool tg_event_gauges (const tg_Event *e) {
  return e->kind == TG_EV_TIME && (e->flags & TG_EVF_GAUGE) != 0;
}

/* For how long calls were not seen before it; 0: of any other event. */
TG_INLINE uint64_t tg_event_untraced (const tg_Event *e) {
  bool window = e->kind == TG_EV_MARK
                && (e->mark & TG_MARK_SORT) == TG_MARK_UNTRACED;
  return window ? e->number : 0;
}

/* Whether it tells the locals of a frame. */
TG_INLINE bool tg_event_tells_locals (const tg_Event *e) {
  return e->kind == TG_EV_MARK && (e->mark & TG_MARK_SORT) == TG_MARK_LOCALS;
}

/* Whether its ticks are absolute. */
TG_INLINE bool tg_event_absolute (const tg_Event *e) {
  return e->kind == TG_EV_CONTEXT || e->kind == TG_EV_WAIT
         || (e->kind == TG_EV_TIME && !tg_event_gauges(e));
}

/* What an ALLOCATIONS tells. */
typedef struct tg_Allocations {
  uint64_t count;         /* blocks that were made, or made larger */
  uint64_t allocated, freed;    /* bytes */
  uint64_t heap;          /* bytes of Lua's heap now; 0: not known */
  uint64_t above;         /* it had more than before and now, by so many */
  tg_ByteReader held;     /* borrows; for tg_holdings_read; empty: not known */
} tg_Allocations;

/* From the body of one, which was decoded before. */
tg_Allocations tg_event_allocations (tg_Slice body);

/* The highest function id that an event names anywhere, in its values too; 0 if
   it names none. Malformed values name none from there on. */
tg_FunctionId tg_event_names (const tg_Event *e);

#endif
