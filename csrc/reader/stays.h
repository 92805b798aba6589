/*
** stays.h - calls over their stays: yields cut a call into pieces, and the time
** that it ran is that of all pieces, without the time in which its coroutine
** was suspended.
**
** Plain C, one thread, for readers of packets that ask how long calls are:
** minduration.c and survey.c. Memory: the open calls, and those that wait in
** suspended coroutines.
*/
#ifndef TG_STAYS_H
#define TG_STAYS_H

#include "base/base.h"
#include "reader/reader.h"
#include "reader/suspended.h"

/* An open frame. */
typedef struct tg_Stay {
  tg_SuspendedCall call; /* its row is a tg_FunctionId, its tag the number of
                           the call in the order of entries */
  uint64_t opened_ns;
  tg_ThreadId thread;
  uint64_t first_ns;    /* how long the first call inside ran, and the latest:
                           for a survey... */
  uint64_t latest_ns;
  bool calls;           /* ...if there are calls inside */
  bool given;           /* by the filter */
  bool left;            /* left out, and its time goes into a box */
} tg_Stay;

/* Calls, over all their stays. */
typedef struct tg_Calls {
  tg_Stay *open;        /* owns; innermost last */
  uint32_t nopen, copen;
  uint64_t count;       /* of calls so far */
  tg_Suspended waiting; /* owns */
} tg_Calls;

/* The call that a packet enters or goes on with; NULL without memory. */
tg_Stay *tg_stays_enter (tg_Calls *c, const tg_Packet *p);

/* The call that a packet ends or interrupts, until the next one is entered;
   NULL without memory. */
tg_Stay *tg_stays_leave (tg_Calls *c, const tg_Packet *p);

/* For tg_suspended_init: does nothing about a call that will not go on. */
void tg_stays_forget (void *owner, const tg_SuspendedCall *call);

void tg_stays_free (tg_Calls *c);   /* zeroed memory is fine */

#endif
