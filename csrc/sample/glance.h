/*
** glance.h - what runs, read where a tick strikes: in its signal handler, by
** the interpreter's memory, without a call of Lua's.
**
** A hook sees a function at its next call, return or instruction. By then a
** function that ends in a tail call has given its frame away, straight code
** has gone on to the line of that event, and a C function that does not return
** is never seen. So the handler itself looks at the frames, if it can: it
** finds nothing out, makes nothing and waits for nobody. Where it comes upon
** what is not known yet (a function, a coroutine), or cannot be sure that what
** it reads is whole, it says so, and the tick is left to the hook.
**
** What can be sure, in a handler on the thread that runs the state:
**
** - The frames themselves (CallInfo) of what runs are never freed or moved.
** - A frame's slot is on the stack, which may be about to be moved: its place
**   is compared with the stack's, and both ends are asked of the kernel.
** - What a slot of the stack holds is alive: the collector clears all others.
** - The innermost frame may be about to begin or to end: then its slot has no
**   function, or half of one, or its instruction is not one of the function's.
** - Tables of ours may be about to change only where a function of ours runs,
**   or a hook.
*/
#ifndef TG_GLANCE_H
#define TG_GLANCE_H

#include "sample/stackwalk.h"
#include "signal/struck.h"

/* Of one sampled thread; zeroes at first, but for the stack. */
typedef struct tg_Glancer {
  uintptr_t stack_end;          /* the thread's; 0: nothing is read */
  int process;                  /* whose memory is read (mapped.h) */
  const void *proto;            /* of the Lua function that was met last */
  uint32_t votes[TG_REGISTERS_MAX];     /* how often a register pointed to an
                                   instruction of what ran */
} tg_Glancer;

/* The innermost frame, as a tick has met it. */
typedef struct tg_Leaf {
  const lua_State *L;           /* NULL: not seen... */
  bool moves;                   /* ...but for the next two: a tail call puts
                                   the function into its caller's frame */
  const void *ci;
  tg_Slot function;
  uint32_t line;                /* 0: of a C function */
  bool collects;                /* the collector runs, on its account */
  bool traced;                  /* its calls are, if any are */
} tg_Leaf;

/* Definitions of what has none of its own. */
typedef struct tg_Strangers {
  tg_FunctionId collector;      /* the garbage collector */
  tg_FunctionId function;       /* a C function that is not known; 0: see
                                   below */
} tg_Strangers;

/* The calling thread runs the state, and is going to be sampled. */
void tg_glance_begin (tg_Glancer *g, lua_State *L);

/* In a forked child, before its first tick. A child that is made without the
   handlers of atfork.h has no ticks (ticker.h). */
void tg_glance_forked (tg_Glancer *g);

/* In a handler: the innermost frame; false where it cannot be read. */
bool tg_glance_leaf (tg_Glancer *g, const tg_Session *s, const void *context,
                     tg_Leaf *leaf);

/*
** In the same handler: all frames, if calls are not traced. False: there is
** one that is not known, one of ours is the innermost (then the list is left
** alone), or the list has no room. 'function' of the strangers: a C function
** has run for long, so no hook will see these frames soon. C functions that
** are not known are that one then, and Lua functions are left out. 0: not so.
*/
bool tg_glance_frames (const tg_Glancer *g, tg_StackWalk *w,
                       const tg_Session *s, tg_Leaf *leaf,
                       tg_Strangers strangers);

#endif
