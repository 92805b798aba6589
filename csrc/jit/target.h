/*
** target.h - a process or core that has LuaJIT in it: what outside/target.h
** refuses, opened.
**
** LuaJIT 2.1 on x86-64 with GC64, as lua.org's releases are: for `dump`, `ps`
** and samples, which walk stacks and read values by the dialect. What else
** there is, other series, builds without GC64, forks, is refused by name. Plain
** C.
*/
#ifndef TG_JIT_TARGET_H
#define TG_JIT_TARGET_H

#include "outside/target.h"

/* Where 'refusal', with its words, is for want of another Lua than LuaJIT: what
   comes of looking for that one. Else 'refusal'. */
tg_Refusal tg_jittarget_prove (tg_Target *t, tg_Refusal refusal,
                               tg_Buf *words);

#endif
