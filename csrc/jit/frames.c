/* frames.c - see frames.h. */
#include "jit/frames.h"

#include "jit/values.h"
#include "outside/value.h"

static bool is_frame_slot (const tg_SeenState *state, uint64_t at) {
  return at % TG_JIT_SLOT == 0 && at > state->lowest && at < state->last;
}

/* The call's first operand is where it put the function. */
static uint64_t below_by_call (tg_Sight *s, const tg_JitFrame *f) {
  uint32_t call = tg_memory_half(s->memory, f->link - 4);
  return f->at - (2 + (uint64_t)tg_jit_a(call)) * TG_JIT_SLOT;
}

bool tg_jitframes_read (tg_Sight *s, const tg_SeenState *state, uint64_t at,
                        tg_JitFrame *f) {
  *f = (tg_JitFrame){.at = at};
  if (!is_frame_slot(state, at))
    return false;
  f->link = tg_memory_word(s->memory, at);
  if ((f->link & 3) == TG_JIT_LINK_LUA) {
    f->kind = TG_JIT_LINK_LUA;
    f->below = below_by_call(s, f);
  }
  else {
    f->kind = (tg_JitLink)(f->link & 7);
    f->below = at - (f->link & ~UINT64_C(7));
  }
  return f->below < at && f->below >= state->lowest
         && f->below % TG_JIT_SLOT == 0;
}

tg_SeenValue tg_jitframes_function (tg_Sight *s, uint64_t at) {
  return tg_jitvalues_at(s, at - TG_JIT_SLOT);
}

bool tg_jitframes_may_run (tg_Sight *s, const tg_SeenState *state,
                           uint64_t at) {
  tg_JitFrame f;
  uint64_t code;
  bool known;
  if (!tg_jitframes_read(s, state, at, &f))
    return false;
  tg_seen_is_c(s, tg_jitframes_function(s, at), &code, &known);
  return known;
}

/* Below the function of a metamethod is where its caller goes on. */
uint64_t tg_jitframes_return (tg_Sight *s, const tg_JitFrame *f) {
  if (f->kind == TG_JIT_LINK_LUA)
    return f->link;
  if (f->kind == TG_JIT_LINK_CONTINUED)
    return tg_memory_word(s->memory, f->at - 2 * TG_JIT_SLOT);
  return 0;
}
