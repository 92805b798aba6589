/*
** hooks.h - whose hook is on a coroutine, and what is below it.
**
** Lua has one hook for a coroutine, with one mask. Several may want events of
** it at a time: the program, coverage, a debugger, whoever interrupts from
** outside, the tracer. So hooks stand above each other, in the order of
** tg_HookLevel: who sets one keeps what it finds there, calls it for the events
** that it has asked for, and gives it back. Here is what that needs to know of
** all of them: which hook function is whose, what each has kept, and whom to
** tell when the program sets a hook of its own.
**
**     tracer      calls and returns; it is alone most of the time
**     interrupt   the next call, return or instruction, once (running.h)
**     debugger    lines and calls where a breakpoint or a step needs them
**     evaluation  counts, on coroutines of a debugger's code
**     coverage    calls and lines
**     program     what debug.sethook, or a host in C, has set
**
** On the thread that runs the state. Nothing here allocates or raises.
*/
#ifndef TG_HOOKS_H
#define TG_HOOKS_H

#include "host/host.h"

/* A hook as lua_sethook takes it. */
typedef struct tg_UserHook {
  lua_Hook hook;                /* NULL: none */
  int mask, count;
} tg_UserHook;

/* What a layer tells of itself. */
struct tg_HookLayer {
  lua_Hook hook;
  /* The hook that it keeps for 'L', which has its own; NULL: it keeps none, as
     it only sets its own where there is nothing. */
  tg_UserHook (*below) (const tg_Host *h, lua_State *L);
  /* A hook has been set on 'L1' in the place of the layer's, which was there if
     'had', and is to be below it. Of layers that had none only the program's is
     told. 'L' runs. NULL: so it stays. */
  void (*cover) (tg_Host *h, lua_State *L1, lua_State *L, bool had);
};

/* From now on the level's hook is known. 'layer' stays, also when the level has
   no hook any more: one may be left behind on a coroutine nobody reaches. */
TG_INLINE void tg_hooks_know (tg_Host *h, tg_HookLevel level,
                              const tg_HookLayer *layer) {
  tg_assert(level > TG_HOOK_PROGRAM && level < TG_HOOK_LEVELS);
  h->layers[level] = layer;
}

/* Whose hook it is. 'h' may be NULL, as below. */
tg_HookLevel tg_hooks_level (const tg_Host *h, lua_Hook hook);

/* Whether 'L' has the hook of that level. */
TG_INLINE bool tg_hooks_has (const tg_Host *h, lua_State *L,
                             tg_HookLevel level) {
  return h->layers[level] != NULL && lua_gethook(L) == h->layers[level]->hook;
}

/* The hook that 'L' would have without those above the level: that of the level
   itself, or of one below it. A signal may come meanwhile. */
tg_UserHook tg_hooks_at (const tg_Host *h, lua_State *L, tg_HookLevel level);

/* Which levels have their hooks on 'L', a bit each... */
unsigned tg_hooks_there (const tg_Host *h, lua_State *L);

/* ...and now that one of that level has been set on 'L1', in the place of all,
   or none, those above it get theirs again. 'L' runs. */
void tg_hooks_cover (tg_Host *h, tg_HookLevel level, lua_State *L1,
                     lua_State *L, unsigned were);             /* [-0, +0, -] */

#endif
