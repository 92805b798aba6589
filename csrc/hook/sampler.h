/*
** sampler.h - what runs, looked at every so often: the running coroutine's
** stack with the line of each frame, and the stacks of those that resumed it.
**
**     ticker ──signal──> handler ──arms──> hook ──> SAMPLE (event.h)
**
** The handler may arm a hook and do nothing else. Where calls are traced the
** tracer's hook is there already, and its next event is looked at in full;
** where they are not, there is no hook but from a tick to the next instruction,
** call or return (running.h). So a tick in a C function is seen while that
** function is still on the stack. Ticks that come before their hook has fired
** are one sample, which says how many they were.
**
** Time is the processor time of the thread that began to sample; a state that
** goes on on another one is not seen from there.
*/
#ifndef TG_SAMPLER_H
#define TG_SAMPLER_H

#include "state/session.h"

/*
** From now on so many samples per second of processor time, 0: none. False
** (errno) if there is no clock for that, or no memory; then there are as many
** as before.
*/
bool tg_sampler_set (tg_Session *s, lua_State *L, uint32_t hz);

/* At least so many. */
bool tg_sampler_add (tg_Session *s, lua_State *L, uint32_t hz);

/* In the tracer's hook, at event 'ar' of what runs, when the session says that
   a sample is due. It stays due where the shadow stacks are not in step. */
void tg_sampler_take (tg_Session *s, lua_State *L, const lua_Debug *ar,
                      uint64_t now);

/* One more before a trace ends, from one of our own functions: what has run
   since the one before would be nobody's. */
void tg_sampler_finish (tg_Session *s, lua_State *L);

/* The same when nobody may be looked at: the process ends. */
void tg_sampler_terminate (tg_Session *s);

/* In a forked child, whose thread this is: it ticks anew. */
void tg_sampler_forked (tg_Session *s);

/* The session goes: what is not wanted any more is freed. No sample is due. */
void tg_sampler_free (tg_Session *s);

#endif
