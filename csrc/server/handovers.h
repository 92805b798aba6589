/*
** handovers.h - the traces that a line's server has asked to be kept
** (handover.h), by number, and what becomes of them: stopped Traces in the
** server's own state, to which whatever works on a Trace can be put.
**
** Used on the server's thread alone.
*/
#ifndef TG_HANDOVERS_H
#define TG_HANDOVERS_H

#include "binding/lx.h"
#include "channel/channel.h"

typedef struct tg_HandoverEntry tg_HandoverEntry;

typedef struct tg_Handovers {
  tg_HandoverEntry *first;    /* owns */
} tg_Handovers;               /* zeroed memory is empty */

/* Asks for a trace with these options, which are copied; raises without
   memory. */
void tg_handovers_ask (lua_State *L, tg_Handovers *k, tg_Channel *l, uint64_t
id, const tg_Options *o);                       /* [-0, +0, m] */

/*
** Ends it, and pushes its Trace; nil, if the program has not come to begin it.
** Raises, without memory, and nothing has changed; or if there is none of that
** number.
*/
void tg_handovers_take (lua_State *L, tg_Handovers *k, tg_Channel *l,
                        uint64_t id);
/* [-0, +1, v] */

/* Drops the trace's events; an unknown number is fine. The program does not
   hear of it. */
void tg_handovers_drop (tg_Handovers *k, tg_Channel *l, uint64_t id);

/* The same of all. */
void tg_handovers_clear (tg_Handovers *k, tg_Channel *l);

#endif
