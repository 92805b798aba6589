/*
** losslist.h - what a trace has lost as a program has it: how much, by cause.
**
**     lost[TG_LOSS_MEMORY] = 3, all else 0  ->  {memory = 3}
*/
#ifndef TG_LOSSLIST_H
#define TG_LOSSLIST_H

#include "binding/lx.h"
#include "options/endreason.h"

/* Only what is not zero is in the table; nil if nothing is. Raises for want of
   memory alone. */
void tg_losslist_push (lua_State *L,                           /* [-0, +1, m] */
                       const uint64_t lost[TG_NLOSSES]);

#endif
