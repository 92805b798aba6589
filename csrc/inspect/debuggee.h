/*
** debuggee.h - what is kept of a Lua state that a debugger may attach to.
**
** One for a session, from its first listen {inspect = ...} until it listens no
** more. All of it is used on the thread that runs the state.
*/
#ifndef TG_DEBUGGEE_H
#define TG_DEBUGGEE_H

#include "channel/channel.h"
#include "coverage/coverage.h"
#include "inspect/breakpoints.h"
#include "inspect/cells.h"
#include "inspect/roll.h"
#include "inspect/step.h"
#include "inspect/tests.h"
#include "state/session.h"

/* Of which errors debuggers want to hear. */
typedef enum tg_Errors {
  TG_ERRORS_NONE,
  TG_ERRORS_UNCAUGHT,
  TG_ERRORS_ALL
} tg_Errors;

/* What debuggers want to hear of, which the agent says for all of them. Each
   wish is there or not, whatever the others are. */
typedef struct tg_Wishes {
  bool pauses;            /* a debugger is attached (agent.lua: attached) */
  bool console;           /* what the program says by it (listened) */
  bool sources;           /* those that are yet to be loaded: a breakpoint may
                             be in one (curious) */
  tg_Errors errors;
} tg_Wishes;

/*
** The life of an inspector: whether the debugger's Lua runs, and whether the
** inspector has been closed. Code that a debugger runs may close the listener
** that it came by: then the agent is still at work, and what it works with
** goes later.
**
**             the agent begins   the agent ends    it is closed
**             (agent.c, tg_agent_call)             (tg_inspector_close)
**   idle      working            -                 freed
**   working   -                  idle              closing
**   closing   -                  closed            closing
**   closed    closing            -                 freed
**
** Who has called the agent frees a closed one (inspector.c, call_agent). Where
** the hook has, which goes on with it, it is freed with the next call from
** elsewhere, when the state is opened again, or when the state closes. One
** whose agent never ends, since code of a debugger ends the program, is not
** freed.
**
** Code of a debugger ('evaluation') runs while the agent works, and at no other
** time; so does a pause, which is the agent waiting for a message.
*/
typedef enum tg_InspectorLife {
  TG_INSPECTOR_IDLE,
  TG_INSPECTOR_WORKING,
  TG_INSPECTOR_CLOSING,   /* it works, and is closed when that is over */
  TG_INSPECTOR_CLOSED     /* nothing is wanted of it any more */
} tg_InspectorLife;

typedef struct tg_Evaluation tg_Evaluation;   /* inspect/evaluation.h */

typedef struct tg_Inspector {
  tg_Part part;
  tg_Session *session;    /* borrows */
  void (*close) (tg_Host *h, lua_State *L);   /* tg_inspector_close */
  tg_InspectorLife life;
  tg_Channel *channel;    /* pins */
  tg_ConsoleListener listener; /* of the console (inspect/console.h) */
  lua_State *work;        /* ours, anchored: the debugger's Lua runs on it */
  bool direct;            /* the interpreter's memory is read (direct/) */
  tg_Evaluation *evaluation;    /* borrows: code of a debugger that runs; NULL:
                             none does */
  tg_Wishes wants;
  uint64_t said, taken;   /* messages of the console so far; of these taken */
  size_t shelved;         /* bytes of strings in those in between */
  tg_Coverage *coverage;  /* owns: calls and lines are counted; NULL: not */
  lua_CFunction handler;  /* our pcall's message handler, which tells of errors
                             itself */
  bool passing;           /* an error goes from a dead coroutine, where it was
                             told, to the one that has resumed that */
  const void *called;     /* the frame that was called last; NULL: it has come
                             to its first line */
  tg_Step step;
  tg_Cells cells;
  tg_Tests tests;
  tg_Roll roll;
  tg_Breakpoints breakpoints;
} tg_Inspector;

/* Makes 'i', which is zeroed memory, the debugger's part of the session's host;
   'close' is called when the state closes. */
void tg_debuggee_begin (tg_Inspector *i, tg_Session *s,
                        void (*close) (tg_Host *h, lua_State *L));

/* That of a host; NULL: its state is not open to debuggers. */
tg_Inspector *tg_debuggee_of (const tg_Host *h);

/* Whether the debugger's Lua runs: it is not called again then, and the program
   stops nowhere. */
TG_INLINE bool tg_debuggee_works (const tg_Inspector *i) {
  return i->life == TG_INSPECTOR_WORKING || i->life == TG_INSPECTOR_CLOSING;
}

/* Whether a coroutine is one of ours (workspace.h). */
TG_INLINE bool tg_debuggee_owns (const tg_Inspector *i, const lua_State *co) {
  return co == i->work || co == i->cells.work || co == i->tests.work;
}

/* Whether every line of the program is of interest. */
TG_INLINE bool tg_debuggee_sees_lines (const tg_Inspector *i) {
  return i->coverage != NULL || i->cells.count > 0;
}

/* Whether the program is watched at all: without breakpoints, steps, coverage
   and errors that are asked for it has no hook. */
TG_INLINE bool tg_debuggee_watched (const tg_Inspector *i) {
  return i->breakpoints.count > 0 || i->wants.sources
         || i->step.kind != TG_STEP_NONE
         || i->wants.errors != TG_ERRORS_NONE || tg_debuggee_sees_lines(i);
}

#endif
