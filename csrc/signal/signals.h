/*
** signals.h - signals kept away: one that our own doing may raise, from the
** program; all of them, from our threads.
**
**     tg_Signals q = tg_signals_block(SIGPIPE);
**     ... write ...
**     tg_signals_unblock(&q, error == EPIPE);
**
** One that somebody else sent meanwhile still arrives.
*/
#ifndef TG_SIGNALS_H
#define TG_SIGNALS_H

#include <pthread.h>
#include <signal.h>

#include "base/base.h"

typedef struct tg_Signals {
  sigset_t set, before;
  bool blocked;           /* we have blocked it */
  bool pending;           /* it was on its way already */
} tg_Signals;

/* Blocks the signal in this thread. */
tg_Signals tg_signals_block (int signal);

/* Takes the pending signal back if it 'came' from us, and unblocks the signal.
   Keeps errno. */
void tg_signals_unblock (tg_Signals *q, bool came);

/* Starts a thread that gets no signals: they are the program's. False with
   errno. */
bool tg_signals_thread (pthread_t *thread, void *(*run) (void *), void *ud);

#endif
