/*
** step.c - see step.h.
*/
#include "inspect/step.h"

#include "inspect/caller.h"

void tg_step_begin (tg_Step *s, lua_State *L, int level, tg_StepKind kind) {
  lua_Debug ar;
  s->kind = kind;
  s->from = L;
  s->frame = lua_getstack(L, level, &ar) ? (const void *)ar.i_ci : NULL;
}

/* The callee has the frame of its caller, which is gone: so a step over the
   caller's lines becomes a step out of the callee. */
void tg_step_tailed (tg_Step *s, const lua_State *L, const void *frame) {
  if (s->kind == TG_STEP_OVER && L == s->from && frame == s->frame)
    s->kind = TG_STEP_OUT;
}

/* Whether the step's frame has gone without returning: dropped by an error, or
   left by a yield. Seen where a C function returns, for only those catch
   errors and resume. */
static bool is_lost (const tg_Step *s, bool direct, lua_State *L,
                     const void *frame) {
  lua_Debug ar;
  if (L != s->from)
    return lua_status(s->from) != LUA_OK || !lua_getstack(s->from, 0, &ar);
  while (frame != NULL && frame != s->frame)
    frame = tg_caller_of(direct, L, frame);
  return frame == NULL;
}

void tg_step_left (tg_Step *s, bool direct, lua_State *L, const void *frame) {
  if (s->kind == TG_STEP_NONE || s->kind == TG_STEP_NEXT)
    return;
  bool returns = L == s->from && frame == s->frame;
  if (returns || ((!direct || tg_frame_is_c(frame))
                  && is_lost(s, direct, L, frame)))
    s->kind = TG_STEP_NEXT;
}

/* What is to come next; where memory is not read, in which frame. */
static const void *instruction (bool direct, const lua_Debug *ar) {
  return direct ? tg_read_pointer(ar->i_ci, TG_AT_FRAME_NEXT)
                : (const void *)ar->i_ci;
}

void tg_step_count (tg_Step *s, bool direct, const lua_Debug *ar) {
  s->counted = instruction(direct, ar);
  s->counted_line = ar->currentline;
}

/* Of an instruction that begins a line Lua tells twice: as one, and as a line
   (luaG_traceexec). Who has stopped at the first is not stopped again. */
bool tg_step_counted (tg_Step *s, bool direct, const lua_Debug *ar) {
  const void *counted = s->counted;
  s->counted = NULL;
  return counted != NULL && counted == instruction(direct, ar)
         && s->counted_line == ar->currentline;
}
