/*
** keeps.h - the traces that a line's server has asked to be kept (kept.h), by
** number, and what becomes of them: stopped Traces in the server's own state,
** to which whatever works on a Trace can be put.
**
** Used on the server's thread alone.
*/
#ifndef TG_KEEPS_H
#define TG_KEEPS_H

#include "binding/lx.h"
#include "server/line.h"

typedef struct tg_Keep tg_Keep;

typedef struct tg_Keeps {
  tg_Keep *first;             /* owns */
} tg_Keeps;                   /* zeroed memory is empty */

/* Asks for one of these options, which are copied; raises without memory. */
void tg_keeps_ask (lua_State *L, tg_Keeps *k, tg_Line *l, uint64_t id,
                   const tg_Options *o);                       /* [-0, +0, m] */

/*
** Ends it, and pushes its Trace; nil, if the program has not come to begin it.
** Raises, without memory, and nothing has changed; or if there is none of that
** number.
*/
void tg_keeps_take (lua_State *L, tg_Keeps *k, tg_Line *l, uint64_t id);
                                                               /* [-0, +1, v] */

/* What it has is not wanted; nothing of that number is fine. The program does
   not hear of it. */
void tg_keeps_drop (tg_Keeps *k, tg_Line *l, uint64_t id);

/* The same of all. */
void tg_keeps_clear (tg_Keeps *k, tg_Line *l);

#endif
