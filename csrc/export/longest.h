/*
** longest.h - which calls a document has if there are more than its viewers can
** bear: the longest ones, wherever in the trace they are.
**
** What is counted: entries, since each is a box in a picture; a call that goes
** on after a yield is one more. A call is as long as all of its stays together
** (minduration.h), so a caller stays where its callee does, and what is left
** out has its time added to whoever called it. Where a trace has more entries
** than fit, all of it is read once more, before the document is begun:
**
**     lengths   | 60 ns | 61 ns | 62 ns | 63 ns | 64 ns ... 2 s |
**     entries     9000    7000    300     200     40 ...     1
**                               <-quota-><-- sure: all of them -->
**
** From the longest down as many as fit are sure; of those of the next length
** the first ones, in the order in which they were entered, up to the quota: an
** outer call before the calls in it. So the document is full, and all that is
** left out is shorter than 'sure_ns'. Lengths are exact up to half a
** microsecond, and 1/256 apart from there on.
**
** Who owns what: tg_longest_find counts in memory of its own, 120 KB, and frees
** it; what comes of it is set in the filter by duration, which from then on
** leaves out what is too short as if the user had asked for that. Its memory is
** two bits for each call.
**
** Plain C, on the thread that exports, before packets are read ahead.
*/
#ifndef TG_LONGEST_H
#define TG_LONGEST_H

#include "reader/minduration.h"

typedef struct tg_Longest {
  uint64_t entries;           /* in all */
  uint64_t sure_ns;           /* what is left out is shorter; 0: nothing is */
} tg_Longest;

/*
** Has the filter, from which nothing was read yet, give at most 'most' entries
** before 'stop', and, with 'boxes', those of boxes for calls that are left out
** among them; then all are given if that is a sixteenth too much at most. An
** entry into another coroutine than the main one counts for
** 'others'. 'tell' (may be NULL) is called now and then with the time that
** is reached; if it says false the reading ends, and nothing is set.
*/
tg_Status tg_longest_find (tg_Longest *l, tg_MinDuration *m, tg_Pos stop,
                           uint64_t most, uint32_t others, bool boxes,
                           bool (*tell) (void *ud, uint64_t reached_ns),
                           void *ud);

#endif
