/*
** costs.h - what tracing costs the program, as measured when it began.
**
** The hook notes the time of an event first and then does its work, so that
** work falls into the gap before the next event. A cost is what a gap is longer
** by, in ticks, because of the event that it follows: the hook's work, the way
** back from it, and the way into the next hook. Two events in a row have one
** gap between them, so each gap has exactly one cost, and all costs together
** are all that tracing has taken.
**
**     calibration ─> stream.costs ─> COSTS entry ─> stream.costs ─> reader
**     (session/)     (the tracer's)  (a file)       (of who reads)  (trueclock)
**
** How much of that the hook's own work is shows a *gauge* of the same event
** (event.h). Gauges go on while the program runs: as they change, so do costs.
**
** What was captured with an event shows in its bytes, and is counted there. So
** the costs are the same for all traces of a stream, whatever each of them has
** asked for.
*/
#ifndef TG_COSTS_H
#define TG_COSTS_H

#include "base/base.h"
#include "stream/eventreader.h"
#include "stream/functions.h"
#include "stream/valuecount.h"

/* In the order of a recording's entry: so new costs come last. */
#define TG_COSTS(X) \
  X(CALL)       /* of a Lua function */ \
  X(RETURN)     /* from one */ \
  X(CALL_C)     /* of a C function */ \
  X(RETURN_C)   /* from one */ \
  X(TAIL)       /* a tail call */ \
  X(SWITCH)     /* a RESUME, a YIELD or a LEAVE */ \
  X(THROW) \
  X(UNSURE)     /* more: of a function that takes a longer look to be known */ \
  X(SITE)       /* more: with the call's site */ \
  X(VALUES)     /* more: with a list of values */ \
  X(TABLE)      /* more: for each object of them, a table or userdata... */ \
  X(PROPERTY)   /* ...and each of its properties that is listed */ \
  X(FUNCTION)   /* more: for each function of them */ \
  X(STRING)     /* more: for each string that is not short */ \
  X(SWITCHER)   /* more: a call of what resumes or yields */ \
  X(RAISER)     /* more: a call of 'error' or 'assert' */ \
  X(WORK_CALL)  /* what a gauge shows of a plain CALL, ... */ \
  X(WORK_RETURN) \
  X(WORK_CALL_C) \
  X(WORK_RETURN_C) \
  X(ALIKE)      /* more: for each property of a table that is told by another
                   one, in the place of PROPERTY */ \
  X(LEANING)    /* of a CALL and its RETURN: what ticks do not meet in the hook,
                   but in the function that is called */

typedef enum tg_Cost {
#define X(name) TG_COST_##name,
  TG_COSTS(X)
#undef X
  TG_NCOSTS
} tg_Cost;

typedef struct tg_Costs {
  uint32_t ticks[TG_NCOSTS];  /* all 0: nobody has measured them */
} tg_Costs;

/* Whether there is anything to be taken out. */
bool tg_costs_known (const tg_Costs *c);

typedef struct tg_Price {
  uint32_t ticks;             /* what the event costs */
  uint32_t work;              /* what a gauge of it shows; 0: not known */
} tg_Price;

/* Whether the event has a list of values that the hook has captured: markers
   are the program's own doing, and what they cost stays. */
TG_INLINE bool tg_costs_count_list (const tg_Event *e) {
  return e->values.data != NULL && e->kind != TG_EV_MARK
         && e->kind != TG_EV_ALLOCATIONS;
}

/* What such a list costs, in ticks; 'models' are those of its chunk. */
uint64_t tg_costs_of_list (const tg_Costs *c, tg_Slice values,
                           tg_CountedModels *models);

/* What an event of that kind costs, of whose list 'list' is known. 'f' is the
   function that it calls or leaves, NULL if it is not known. */
tg_Price tg_costs_of (const tg_Costs *c, tg_Kind kind, uint32_t flags,
                      const tg_Function *f, uint64_t list);

#endif
