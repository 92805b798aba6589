/*
** awaited.h - calls that traces wait for: those with the option 'on' see
** nothing but these calls and what happens in them.
**
** While none of them is open on the running chain, a session records what its
** other traces want, which mostly is nothing: all frames are hidden. What is
** recorded within such a call and what outside are two selections, each with
** what the hook knows of functions by it. One is in force, the other is put
** 'aside', so that a switch is an exchange of two structs: within a call the
** hook goes its usual way at its usual cost.
**
** A call begins with a frame of its function, the *root*, and is over when that
** has exited; a tail call hands it on to what takes the root's place. Roots are
** always visible, whatever else the trace wants.
*/
#ifndef TG_AWAITED_H
#define TG_AWAITED_H

#include "state/session.h"

/*
** At the call of a function that some trace may wait for (TG_FR_TARGET), whose
** frame is on top of 't' and hidden as yet: what is known of it, 'k', from now
** on. The frame has its flags: TG_FR_TARGET if it is a root. NULL: it stays
** hidden.
*/
const tg_Closure *tg_awaited_enter (tg_Coroutine *t, const tg_Closure *k);

/* The root at index 'at' of 't' has exited. */
void tg_awaited_exit (const tg_Coroutine *t, uint32_t at);

/* All roots of 't' have, which is not there any more. */
void tg_awaited_drop (const tg_Coroutine *t);

/* The slow half of tg_awaited_review. */
void tg_awaited_look (tg_Session *s);

/* Frames or coroutines have gone or come: what is recorded from here on. */
TG_INLINE void tg_awaited_review (tg_Session *s) {
  if (tg_unlikely(s->await.any))
    tg_awaited_look(s);
}

/* Whether 't' has seen all calls that it waited for. */
bool tg_awaited_all (const tg_Trace *t);

/* 't' waits as if it had only begun. */
void tg_awaited_restart (tg_Trace *t);

/* 't' is not active any more. */
void tg_awaited_free (tg_Trace *t);

/*
** What is recorded from now on: 'all' within calls that are waited for, and
** 'outer' outside of them; where no trace waits, 'all'. Takes both. False
** without memory: then nothing has changed.
*/
bool tg_awaited_install (tg_Session *s, bool awaits, tg_Wanted *all,
                         tg_Wanted *outer);

#endif
