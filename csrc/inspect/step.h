/*
** step.h - a step: where the program, which a debugger lets go on, is to stop
** again, beside its breakpoints.
**
** A frame is known by lua_Debug's i_ci. Lua uses these again (luaE_extendCI):
** so a step whose frame was dropped by an error is ended when whoever caught
** the error returns, before another frame can have its address.
**
** Used on the thread that runs the state, in the hook (watch.h), which shows
** calls and returns to a step. Nothing here allocates or fails. 'direct': the
** interpreter's memory is read.
*/
#ifndef TG_STEP_H
#define TG_STEP_H

#include <lua.h>

#include "base/base.h"

/*
** A debugger asks for any kind, at a pause or while the program runs
** (tg_step_begin). What becomes of it then:
**
**           its frame has       its frame has        the agent is asked
**           become a callee's   returned, or is      to stop the program
**           (tg_step_tailed)    lost (tg_step_left)  (watch.c, tell)
**   none    -                   -                    -
**   next    -                   -                    none
**   into    -                   next                 none
**   over    out                 next                 none
**   out     -                   next                 none
**
** An agent that lets the program go on, and asks for no other step, has the
** step put back.
*/
typedef enum tg_StepKind {
  TG_STEP_NONE,
  TG_STEP_NEXT,           /* before its next instruction */
  TG_STEP_INTO,           /* at the next line, or when 'frame' has returned */
  TG_STEP_OVER,           /* at the next line of 'frame', or then */
  TG_STEP_OUT             /* when 'frame' has returned */
} tg_StepKind;

typedef struct tg_Step {
  tg_StepKind kind;
  lua_State *from;        /* its coroutine, anchored while there is a step... */
  const void *frame;      /* ...and its frame; NULL: none */
  const void *counted;    /* the instruction before which the program stands, or
                             has stood, or its frame where memory is not
                             read... */
  int counted_line;       /* ...and its line: no new place to stop at */
} tg_Step;

/* A step from the frame of that level of 'L', which the caller keeps alive
   until the next. */
void tg_step_begin (tg_Step *s, lua_State *L, int level, tg_StepKind kind);
                                                               /* [-0, +0, -] */

/* Whether a line of the frame ends the step; its next instruction, of NEXT. */
TG_INLINE bool tg_step_ends (const tg_Step *s, const lua_State *L,
                             const void *frame) {
  return s->kind == TG_STEP_NEXT || s->kind == TG_STEP_INTO
         || (s->kind == TG_STEP_OVER && L == s->from && frame == s->frame);
}

/* The frame's function has been left by a tail call. */
void tg_step_tailed (tg_Step *s, const lua_State *L, const void *frame);

/* The frame returns. */
void tg_step_left (tg_Step *s, bool direct, lua_State *L, const void *frame);

/* The program was to stop before the instruction of 'ar', in the middle of a
   line: whatever came of that, the place has been seen. */
void tg_step_count (tg_Step *s, bool direct, const lua_Debug *ar);

/* Whether the line that begins at 'ar' is such a place, asked once. */
bool tg_step_counted (tg_Step *s, bool direct, const lua_Debug *ar);

#endif
