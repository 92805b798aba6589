/*
** quiet.h - signals kept away: one that our own doing may raise, from the
** program; all of them, from our threads.
**
**     tg_Quiet q = tg_quiet_begin(SIGPIPE);
**     ... write ...
**     tg_quiet_end(&q, error == EPIPE);
**
** One that somebody else sent meanwhile still arrives.
*/
#ifndef TG_QUIET_H
#define TG_QUIET_H

#include <pthread.h>
#include <signal.h>

#include "base/base.h"

typedef struct tg_Quiet {
  sigset_t set, before;
  bool blocked;           /* we have blocked it */
  bool pending;           /* it was on its way already */
} tg_Quiet;

/* Blocks the signal in this thread. */
tg_Quiet tg_quiet_begin (int signal);

/* Takes it back if it 'came' from us, and unblocks it. Keeps errno. */
void tg_quiet_end (tg_Quiet *q, bool came);

/* Starts a thread that gets no signals: they are the program's. False with
   errno. */
bool tg_quiet_thread (pthread_t *thread, void *(*run) (void *), void *ud);

#endif
