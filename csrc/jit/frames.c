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

bool tg_jitframes_take (tg_Sight *s, const tg_SeenState *state, uint64_t at,
                        uint64_t link, tg_JitFrame *f) {
  *f = (tg_JitFrame){.at = at, .link = link};
  if (!is_frame_slot(state, at))
    return false;
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

bool tg_jitframes_read (tg_Sight *s, const tg_SeenState *state, uint64_t at,
                        tg_JitFrame *f) {
  return tg_jitframes_take(s, state, at, tg_memory_word(s->memory, at), f);
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

bool tg_jitframes_by_call (tg_Sight *s, const tg_JitFrame *f) {
  int32_t op = tg_jit_op(tg_memory_half(s->memory, f->link - 4));
  return op >= tg_jit_row(s, OP_CALLM) && op <= tg_jit_row(s, OP_ITERC) + 1;
}
