/*
** snapshot.h - SIGUSR1 saves what a ring has: a flight writer's button.
**
** While a trace records on a ring's file, and if the program does not use the
** signal itself, SIGUSR1 makes the hook save PATH.1, the next one PATH.2, and
** so on (never over a file that is there), with the program's next event:
** nothing of a trace is ever looked at in a signal handler. System calls of the
** program go on (SA_RESTART).
*/
#ifndef TG_SNAPSHOT_H
#define TG_SNAPSHOT_H

#include "state/session.h"

/* The session's file from now on answers to the signal; until tg_snapshot_off.
   One session of a process at a time. */
void tg_snapshot_on (tg_Session *s);
void tg_snapshot_off (tg_Session *s);

/* Saves. What cannot be written is told on standard error. */
void tg_snapshot_save (tg_Session *s);

#endif
