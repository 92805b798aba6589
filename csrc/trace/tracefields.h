/*
** tracefields.h - what a Trace says of itself, as its fields: name, active,
** ended, bytes, events, lost, damage.
**
** Each is worked out when it is asked for: of a trace that runs, as far as it
** has come.
*/
#ifndef TG_TRACEFIELDS_H
#define TG_TRACEFIELDS_H

#include "state/session.h"

/* Pushes the field of that name; false: there is none. */
bool tg_tracefields_push (lua_State *L, tg_Trace *t,
                          const char *key);                    /* [-0, +1, m] */

/* Pushes a table of the causes that have lost something; all others read as
   0. */
void tg_tracefields_push_lost (lua_State *L,
                               const tg_Trace *t);             /* [-0, +1, m] */

/* The number of packets that the trace still has. */
uint64_t tg_tracefields_packets (tg_Trace *t);

#endif
