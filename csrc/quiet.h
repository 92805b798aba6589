/*
** quiet.h - a signal that our own doing may raise, kept from the program.
**
**     tg_Quiet q = tg_quiet_begin(SIGPIPE);
**     ... write ...
**     tg_quiet_end(&q, error == EPIPE);
**
** One that somebody else sent meanwhile still arrives.
*/
#ifndef TG_QUIET_H
#define TG_QUIET_H

#include <signal.h>

#include "base.h"

typedef struct tg_Quiet {
  sigset_t set, before;
  bool blocked;           /* we have blocked it */
  bool pending;           /* it was on its way already */
} tg_Quiet;

/* Blocks the signal in this thread. */
tg_Quiet tg_quiet_begin (int signal);

/* Takes it back if it 'came' from us, and unblocks it. Keeps errno. */
void tg_quiet_end (tg_Quiet *q, bool came);

#endif
