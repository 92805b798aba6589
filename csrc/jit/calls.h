/*
** calls.h - what an instruction of LuaJIT that calls calls the function
** (lj_debug_funcname): a pure function of a prototype and an instruction.
*/
#ifndef TG_JIT_CALLS_H
#define TG_JIT_CALLS_H

#include "jit/reading.h"

bool tg_jitcalls_name (tg_Sight *s, const tg_SeenProto *p, int32_t pc,
                       char *name, size_t room);

#endif
