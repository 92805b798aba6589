/*
** host.h - a Lua state that tracegrip is in: what all parts of tracegrip share
** of it, and which parts there are.
**
** One for each state (all its coroutines share it), found by the registry. It
** begins with the first part that needs it and ends when the state closes. Used
** on the thread that runs the state, but for what is atomic and the list of all
** hosts.
**
**     parts      the tracer, samples, the server, the debugger (part.h)
**     hooks      whose hook is on a coroutine, and what is below (hooks.h)
**     running    which coroutines run, and a hook on them from outside
*/
#ifndef TG_HOST_H
#define TG_HOST_H

#include <stdatomic.h>

#include "binding/lx.h"

typedef struct tg_HookLayer tg_HookLayer;     /* hooks.h */
typedef struct tg_Part tg_Part;               /* part.h */
typedef struct tg_Running tg_Running;         /* running.h */

/* Whose hook it is, from the lowest up: each stands above those before it, and
   keeps what it has found on the coroutine. */
typedef enum tg_HookLevel {
  TG_HOOK_PROGRAM,        /* whatever the program has set */
  TG_HOOK_COVERAGE,
  TG_HOOK_EVALUATION,     /* on coroutines of a debugger's code */
  TG_HOOK_DEBUGGER,
  TG_HOOK_INTERRUPT,      /* set from outside, once */
  TG_HOOK_TRACER,
  TG_HOOK_LEVELS
} tg_HookLevel;

typedef struct tg_Host {
  lua_State *main;            /* the state's main thread */
  const void *registry;       /* its registry: tells states apart */
  tg_Part *parts;             /* in the order in which they came (borrows) */
  const tg_HookLayer *layers[TG_HOOK_LEVELS];   /* NULL: never had a hook */
  uint32_t hookers;           /* who needs the stand-ins of userhook.h */
  tg_Running *running;        /* owns; NULL: nobody has called yet */
  _Atomic bool *wanted;       /* borrows: somebody outside asks for something,
                                 to be attended to; NULL: never */
  const void *_Atomic home;   /* the thread that runs the state; NULL: not
                                 known, as nobody traces */
  bool direct;                /* the interpreter's memory is read (direct/); */
  const void *name_key;       /* then: the string "__name" there, */
  const void *shared;         /* and what tells the state (tg_direct_shared) */
  struct tg_Host *next;       /* list of all hosts of the process */
} tg_Host;

/* The host of a state, NULL if it has none. */               /* [-0, +0, -] */
tg_Host *tg_host_find (lua_State *L);

/* Whether somebody outside asks for something. */
TG_INLINE bool tg_host_called (const tg_Host *h) {
  return h->wanted != NULL && atomic_load(h->wanted);
}

/* The interpreter's memory is read from now on, if its layout is known. */
void tg_host_read_directly (tg_Host *h, lua_State *L);         /* [-0, +0, -] */

/* This thread runs the state; nobody asks any more. */
void tg_host_claim (tg_Host *h);
void tg_host_leave (tg_Host *h);

/* Whether this thread is known to run the state. Any thread. */
bool tg_host_is_home (const tg_Host *h);

#endif
