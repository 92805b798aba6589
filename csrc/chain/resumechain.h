/*
** resumechain.h - the chain of running coroutines, and frames that went unseen.
**
** Lua tells of calls and returns, not of resumes, yields and deaths: an event
** on another coroutine than the running one is how they show. The chain holds
** the coroutines that have been resumed and not suspended, innermost first.
*/
#ifndef TG_RESUMECHAIN_H
#define TG_RESUMECHAIN_H

#include "state/session.h"

/*
** Makes the coroutine of event 'ar' on 'L' the running one, telling the stream
** what must have happened. NULL without memory.
*/
tg_Coroutine *tg_resumechain_enter (tg_Session *s, lua_State *L, lua_Debug *ar,
                                    uint64_t now);

/*
** The frame at 'level' of 'L', from which event 'ar' comes (0 at a return, 1 at
** a call), is not on top of 't': frames above it are gone, by an error or
** because their return went unseen; or its own call went unseen. Afterwards 't'
** has the frames of the Lua stack, as far as memory goes; none if it has all
** from before the trace.
*/
void tg_resumechain_align (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                           int level, uint64_t now);

/* Frames of 't' from index 'keep' up have returned, of which no event told. */
void tg_resumechain_miss (tg_Coroutine *t, uint32_t keep);

/* The same of 't', which does not run: nothing tells of it but the next RESUME,
   which lists what there is. */
void tg_resumechain_drop (tg_Coroutine *t, uint32_t keep);

/* What runs was left while nobody looked, since then, for what is below it in
   the chain: it is suspended, with the frames that it has; or it is over. */
void tg_resumechain_left (tg_Session *s, bool suspended, uint64_t then);

/* 't', which does not run, goes on top of the chain: it has been resumed. Tells
   of it. */
void tg_resumechain_resume (tg_Session *s, tg_Coroutine *t, uint64_t now);

/* The coroutine.yield on top of 't' returns as event 'ar' says, but nothing has
   told of its being suspended and resumed: C did both. */
void tg_resumechain_come_back (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                               uint64_t now);

/* A record for 'L1', a coroutine like the running one. */
tg_Coroutine *tg_resumechain_adopt (tg_Session *s, lua_State *L1, lua_State *L);

/* The record of a coroutine that is not there any more goes, and with it what
   readers remember of it. */
void tg_resumechain_forget (tg_Session *s, tg_Coroutine *t, uint64_t now);

#endif
