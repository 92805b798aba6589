/*
** roll.h - the roll of a state's coroutines: all that its collector knows of,
** whoever has them, found in the interpreter's memory.
**
** To find them takes a walk over all objects, of which there may be millions:
** so the walk is made once in a cycle of the collector, which works far longer
** on the same objects. Until the collector decides anew what is dead, nothing
** that lived at the walk is freed; and what was made since comes before an
** object that was made then. Two small objects tell that:
**
**   sentinel   held by nobody, in a weak table: gone with the next decision
**   marker     held by the registry: where the next walk ends
**
** On the thread that runs the state; only where memory is read (tg_roll_known).
** Nothing is kept of a coroutine but its address, which says nothing once the
** program has gone on: who asks calls the roll.
*/
#ifndef TG_ROLL_H
#define TG_ROLL_H

#include <lua.h>

#include "base/base.h"

typedef struct tg_Roll {
  lua_State **list;       /* owns: the oldest first */
  uint32_t count, capacity;
  const void *marker;     /* made at the last walk; NULL: there was none */
} tg_Roll;

/* Whether a state's objects can be walked over. */
bool tg_roll_known (void);

/* Makes the list what it is now, tracegrip's own coroutines and those that are
   over included. It is good until an object is made, so who is to keep some of
   it makes room before. Raises for want of memory: then there is no list. */
void tg_roll_call (tg_Roll *r, lua_State *L);                  /* [-0, +0, m] */

void tg_roll_free (tg_Roll *r, lua_State *L);                  /* [-0, +0, -] */

#endif
