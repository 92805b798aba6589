/*
** outlook.h - a thread that ticks, seen from another one: whether the ticks
** come. One that has signals blocked cannot tell that itself as long as it has.
*/
#ifndef TG_OUTLOOK_H
#define TG_OUTLOOK_H

#include <stdatomic.h>

#include "tick/ticker.h"
#include "tick/ticking.h"

/* Of a thread; zeroes: of none. Each field is one word, written by that
   thread. */
typedef struct tg_Outlook {
  _Atomic int thread;           /* its number; 0: none ticks */
  _Atomic int clock;            /* of its processor time (a clockid_t) */
  _Atomic int signal;
  _Atomic uint64_t last_ns;     /* its processor time at the last tick */
} tg_Outlook;

/* The calling thread begins to tick, or does not tick any more. */
void tg_outlook_begin (tg_Outlook *o, const tg_Ticker *ticker);
void tg_outlook_end (tg_Outlook *o);

/* On any thread of that process: as tg_ticking_get, and with the ticks that are
   blocked right now. */
void tg_outlook_get (const tg_Outlook *o, const tg_Ticking *t,
                     uint64_t to[TG_TICKING_FIGURES]);

#endif
