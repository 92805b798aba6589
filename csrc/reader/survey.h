/*
** survey.h - how long the calls are that a filter by duration is about to read,
** and how many boxes it would take to tell of those that are left out.
**
** For whoever does not know a minimum but how many calls there may be. Of calls
** shorter than the filter's minimum nothing is told.
**
** Calls in a row that are left out are one box (lefttime.h). So whether a call
** needs a box of its own depends on the minimum: it does if the call itself is
** left out, and what is around it and the call before it there are not.
**
** Plain C, one thread. Memory: as stays.h.
*/
#ifndef TG_SURVEY_H
#define TG_SURVEY_H

#include "reader/minduration.h"

typedef struct tg_Survey {
  /* A call is over, or all is read and it is not (then 'ran_ns' is the most):
     how often it was entered. 'main': in the main coroutine. */
  void (*over) (void *ud, uint64_t ran_ns, uint64_t entries, bool main);
  /* There is a box more if the minimum is longer than 'ran_ns', but not longer
     than 'most_ns'. */
  void (*box) (void *ud, uint64_t ran_ns, uint64_t most_ns, bool main);
  /* Called now and then with the time that is reached; false ends it. */
  bool (*go_on) (void *ud, uint64_t reached_ns);
  void *ud;
  /* private */
  const tg_MinDuration *filter;
  tg_Calls calls;
  tg_Stay outside;            /* what is around outermost calls */
} tg_Survey;

/* Reads to 'end' beforehand, with a reader of its own, from where the filter's
   stands. */
tg_Status tg_survey_run (tg_Survey *v, const tg_MinDuration *s, tg_Pos end);

#endif
