/*
** slots.h - the values on a coroutine's stack, with what Lua calls the places
** that they are in: "local x of f", "argument of f".
**
** From the first slot to where the collector stops: the top, and of a Lua
** function that runs the end of its frame. Frames beyond a number are not
** named. Plain C.
*/
#ifndef TG_SLOTS_H
#define TG_SLOTS_H

#include "heap/naming.h"
#include "outside/value.h"

/* 'name' is TG_NO_NAME where the place has none; 'variable' is the variable's
   alone, or TG_NO_NAME. */
typedef void tg_SlotUse (void *data, uint32_t name, uint32_t variable,
                         tg_SeenValue v);

void tg_slots_each (tg_Naming *n, uint64_t thread, tg_SlotUse *use,
                    void *data);

#endif
