/*
** objectlist.h - which of the coroutines that a search has found exist: those
** that are on their state's list of objects.
**
** What the collector has freed stays in memory until somebody writes there, and
** has then all that a search looks for. The state itself knows: its objects are
** on one list, the newest first. No coroutine is older than the registry, so
** whoever has followed the list down to that has met them all.
**
**     global_State ─> newest ─> ... coroutine ... ─> registry ─> oldest
**
** Of each object one word is needed, by which it names the next one; memory is
** read in blocks, since to ask for each word would be a call of the system. A
** process may run meanwhile: what is met was on the list since the check began,
** and a list that leads elsewhere is followed anew.
**
** Bounded: so many objects and blocks, of all states together. What nobody
** knows in the end is kept, and not called sure. Plain C, one thread.
*/
#ifndef TG_OBJECTLIST_H
#define TG_OBJECTLIST_H

#include "outside/finder.h"

/* Says of coroutines that were found whether they are sure, and drops those
   that are gone. */
void tg_objectlist_check (tg_Sight *s, tg_Finds *found);

#endif
