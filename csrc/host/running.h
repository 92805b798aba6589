/*
** running.h - which coroutines run, and a hook on all of them from a signal
** handler.
**
** Somebody outside wants the state: the server's thread has a request
** (server/interrupt.h), a timer wants to know what runs (sampler.h). A handler
** may not look at the state; all it may do is to set a hook. That hook fires
** with the next call, return or instruction, takes itself away and has the
** callers served, at a point where the state may be looked at.
**
** Which coroutines run now is not Lua's to tell in a handler. So while there
** are callers, stand-ins for coroutine.resume, wrap and close (standins.h) keep
** a list here. What got hold of Lua's own before, or resumes from C, is not on
** it: such a coroutine is reached when it comes back to one that is.
**
** Signal and stack are one thread's: what the handler and the stand-ins share
** needs no lock, only order. But a hook is three fields, and a signal may come
** between two of them: whoever changes hooks while there are callers does so
** between tg_running_hold and tg_running_let, and a handler that comes
** meanwhile sets none.
**
** What waits is reached by no handler: a signal would end its system call. It
** is caught by another thread (standstill.h), which sets the hook by its fields
** in memory (hookfield.h): so the function that waits is still on the stack
** when the hook fires, with its return. While that thread does so, the state's
** own takes no coroutine off the list and no hook of ours away.
*/
#ifndef TG_RUNNING_H
#define TG_RUNNING_H

#include "host/hooks.h"

typedef enum tg_Caller {
  TG_CALLER_SERVER, TG_CALLER_SAMPLER, TG_CALLER_INSPECTOR
} tg_Caller;

/* Serves a caller, in the hook. 'ar' is the event; the program's own hooks are
   back on all coroutines. */
typedef void tg_Serve (tg_Host *h, lua_State *L, lua_Debug *ar);

/* Makes the host's list, once, which stays until the state closes: a hook or
   a stand-in may be met long after the last caller has gone. False without
   memory. */
bool tg_running_setup (tg_Host *h, lua_State *L);
void tg_running_free (tg_Host *h);

/* A caller is served from now on, or no more (stand-ins come and go with the
   callers: standins.h). Whether it is the first to come, the last to go. */
bool tg_running_add (tg_Host *h, tg_Caller who, tg_Serve *serve);
bool tg_running_remove (tg_Host *h, tg_Caller who);

/* Between these two no handler and no other thread changes a hook of the state;
   they do not nest, and nothing in between may raise. What was called for
   meanwhile, and what was taken away with a hook, is set after that. NULL: a
   state that nobody calls. */
void tg_running_hold (const tg_Host *h);
void tg_running_let (const tg_Host *h);

/* In a handler: whether it has come in between, and is to change no hook. */
bool tg_running_held (const tg_Host *h);

/*
** Between these two Lua sees no hook on 'L', which runs, and no handler sets
** one: for a function that is called in an event of an instruction. When it
** returns, Lua notes that instruction as the last one (rethook in ldo.c), and
** then takes it for a jump back to its own line (luaG_traceexec in ldebug.c),
** of which the program's hook would be told once more.
*/
int tg_running_mute (const tg_Host *h, lua_State *L);
void tg_running_unmute (const tg_Host *h, lua_State *L, int mask);

/* In a handler, on the state's thread: 'who' is to be served. The server is at
   a call or a return, where Lua itself is at a rest; the sampler with the next
   instruction, but where the program counts instructions itself. */
void tg_running_call (tg_Host *h, tg_Caller who);

/* The same outside of a handler, when 'L' runs, which may be on no list. */
void tg_running_reach (tg_Host *h, lua_State *L, tg_Caller who);

/* The same on another thread, while the state's own does not run, or may just
   have begun to. A coroutine for which the program has a hook is not reached;
   nor is one whose hook the state's thread is about to change. */
void tg_running_catch (tg_Host *h, tg_Caller who);

/* Whether tg_running_catch works for this state: its memory is known. */
bool tg_running_catches (lua_State *L);

/* In a forked child: the other thread is not there. */
void tg_running_forked (tg_Host *h);

/* Whoever is resumed from now on is shown to 'entered' first, as it is, and so
   is a coroutine on which the program has set its hook or has taken it away;
   NULL: no more. */
void tg_running_watch (tg_Host *h,
                       void (*entered) (tg_Host *h, lua_State *co));
void tg_running_show (tg_Host *h, lua_State *co);

/* Whoever dies of an error from now on is shown to 'died' by the stand-ins, its
   frames and the error on top of its stack as they are: 'L' has resumed it and
   gets the error as its own ('passes'), or as a result. 'co' is 'L': the frames
   are gone, since 'L' has had a coroutine closed, in which the error was
   raised. NULL: no more. */
typedef void tg_Died (tg_Host *h, lua_State *L, lua_State *co, bool passes);

void tg_running_report_deaths (tg_Host *h, tg_Died *died);
void tg_running_died (tg_Host *h, lua_State *L, lua_State *co, bool passes);

/* All coroutines have their own hooks; whoever waits, waits no more. */
void tg_running_lower (tg_Host *h);

/* Somebody may call. */
bool tg_running_open (const tg_Host *h);

/* 'co' is resumed by what runs now; false: it is not noted. It has come to its
   end or yielded: only after it was noted. */
bool tg_running_enter (tg_Host *h, lua_State *co);
void tg_running_leave (const tg_Host *h);

/* Coroutine number 'i' of the running chain, the main coroutine being 0; NULL
   beyond the innermost. */
lua_State *tg_running_at (const tg_Host *h, int i);

/* In a handler: the innermost of them; NULL: its thread is about to change
   hooks. */
lua_State *tg_running_top (const tg_Host *h);

#endif
