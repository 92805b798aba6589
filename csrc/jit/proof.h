/*
** proof.h - whether what was found is LuaJIT as one layout has it: all of them
** call themselves 2.1, so what must be so is compared for each.
**
** Of a global_State: the empty string inside of it, the names of metamethods,
** the instruction of C functions, the coroutine that runs, the array of traces;
** then tables, numbers and files (outside/proof.h), and how functions begin
** that are on stacks. Plain C.
*/
#ifndef TG_JIT_PROOF_H
#define TG_JIT_PROOF_H

#include "jit/reading.h"
#include "outside/finder.h"

/* NULL: all is as it must be; else what is not. */
const char *tg_jit_objection (tg_Sight *s, const tg_Finds *found);

#endif
