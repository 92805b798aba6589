/*
** sight.h - memory in which LuaJIT lies, as one of its layouts has it: what is
** asked of values, functions and coroutines there is answered by this room.
*/
#ifndef TG_JIT_SIGHT_H
#define TG_JIT_SIGHT_H

#include "outside/dialect.h"

tg_Sight tg_jitsight (tg_Memory *m, const tg_JitLayout *layout);

#endif
