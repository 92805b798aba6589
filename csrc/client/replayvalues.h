/*
** replayvalues.h - grips and object pools back into the bytes of values.h: what
** grips.h is the other way round.
**
** They are the Lua tables that a packet has, and may come from anywhere. What
** makes no sense as a grip becomes nil. The order of properties is not in a
** table: the sequence comes first, then the others by name, and last those with
** objects, by their place in the pool.
*/
#ifndef TG_REPLAYVALUES_H
#define TG_REPLAYVALUES_H

#include "base/buf.h"
#include "binding/lx.h"

typedef struct tg_ReplayValues {
  tg_Buf *out;              /* borrows */
  tg_Buf *types;            /* borrows; for us to write on */
  /* The id of the function that the descriptor at 'at' describes. */
  tg_FunctionId (*function) (lua_State *L, int at, void *ud);
  void *ud;
} tg_ReplayValues;

/*
** Appends the list that the table on top of the stack holds: its "values", or
** its one "value"; and its "objectPool". Raises what Lua raises.
*/
void tg_replayvalues_list (lua_State *L, const tg_ReplayValues *g); /* [-0, +0, m] */

#endif
