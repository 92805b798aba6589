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
#include "state/session.h"

/* Where a program that goes on is to stop again, beside its breakpoints. */
typedef enum tg_Step {
  TG_STEP_NONE,
  TG_STEP_NEXT,           /* before its next instruction */
  TG_STEP_INTO,           /* at the next line, or when 'frame' has returned */
  TG_STEP_OVER,           /* at the next line of 'frame', or then */
  TG_STEP_OUT             /* when 'frame' has returned */
} tg_Step;

/* Of which errors debuggers want to hear. */
typedef enum tg_Errors {
  TG_ERRORS_NONE,
  TG_ERRORS_UNCAUGHT,
  TG_ERRORS_ALL
} tg_Errors;

typedef struct tg_Evaluation tg_Evaluation;   /* inspect/evaluation.h */

typedef struct tg_Inspector {
  tg_Part part;
  tg_Session *session;    /* borrows */
  void (*close) (tg_Host *h, lua_State *L);   /* tg_inspector_close */
  tg_Channel *channel;    /* pins */
  tg_ConsoleListener listener; /* of the console (inspect/console.h) */
  lua_State *work;        /* ours, anchored: the debugger's Lua runs on it */
  bool direct;            /* the interpreter's memory is read (direct/) */
  bool busy;              /* the debugger's Lua is running */
  tg_Evaluation *evaluation;    /* borrows: code of a debugger that runs; NULL:
                             none does */
  bool closing;           /* closed while busy: it goes when that is over */
  bool attached;          /* a debugger wants to hear of pauses */
  bool listened;          /* a debugger wants to hear of the console */
  uint64_t said, taken;   /* messages of the console so far; of these taken */
  size_t shelved;         /* bytes of strings in those in between */
  bool widened;           /* there is a breakpoint where there was none */
  bool curious;           /* a breakpoint may be in a source that is yet to be
                             loaded */
  tg_Coverage *coverage;  /* owns: calls and lines are counted; NULL: not */
  tg_Errors errors;
  lua_CFunction handler;  /* our pcall's message handler, which tells of errors
                             itself */
  bool passing;           /* an error goes from a dead coroutine, where it was
                             told, to the one that has resumed that */
  tg_Step step;
  lua_State *from;        /* of a step: its coroutine, anchored... */
  const void *frame;      /* ...and its frame (lua_Debug's i_ci) */
  const void *counted;    /* the instruction before which it stands, or has
                             stood, or its frame where memory is not read... */
  int counted_line;       /* ...and its line: no new place to stop at */
  tg_Breakpoints breakpoints;
} tg_Inspector;

/* Makes 'i', which is zeroed memory, the debugger's part of the session's host;
   'close' is called when the state closes. */
void tg_debuggee_begin (tg_Inspector *i, tg_Session *s,
                        void (*close) (tg_Host *h, lua_State *L));

/* That of a host; NULL: its state is not open to debuggers. */
tg_Inspector *tg_debuggee_of (const tg_Host *h);

/* Whether the program is watched at all: without breakpoints, steps, coverage
   and errors that are asked for it has no hook. */
TG_INLINE bool tg_debuggee_watched (const tg_Inspector *i) {
  return i->breakpoints.count > 0 || i->curious || i->step != TG_STEP_NONE
         || i->errors != TG_ERRORS_NONE || i->coverage != NULL;
}

#endif
