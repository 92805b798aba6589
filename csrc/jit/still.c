/* still.c - see still.h. */
#include "jit/still.h"

#include <string.h>

#include "jit/inlined.h"
#include "jit/machine.h"
#include "jit/running.h"
#include "jit/walk.h"

/* Where in a trace a thread is that runs it. Compiled code keeps the C stack as
   it was entered with, but for what the trace has there itself; so what is
   called by it returns to the word below. */
static bool find_offset (tg_Sight *s, const tg_JitTrace *t, uint64_t entry,
                         const tg_Registers *r, uint64_t *offset) {
  uint64_t stack = entry - t->stack, at = r->pc;
  if (r->stack < stack)         /* behind the instruction that calls */
    at = tg_memory_word(s->memory, stack - 8) - 1;
  else if (r->stack != stack)
    return false;
  *offset = at - t->start;
  return at >= t->start && at < t->end;
}

/* The frames with those that are inlined. */
static bool walk_inlined (tg_Sight *s, const tg_SeenState *state,
                          const tg_Registers *registers,
                          const tg_SeenAbove *above, tg_SeenFrame *list,
                          uint32_t most, uint32_t *count, tg_WalkEnd *end) {
  tg_JitTrace t;
  tg_JitInlined x;
  uint64_t offset;
  if (!tg_jitmachine_numbered(s, state->shared, above->trace, &t)
      || !find_offset(s, &t, state->jump, registers, &offset)
      || !tg_jitinlined_read(s, t.at, offset, &x))
    return false;
  x.base = above->slots;
  tg_JitRunning r = {.frame = tg_jitinlined_frame(&x), .next = x.next};
  *end = tg_jitwalk_from(s, state, &r, &x, list, most, count);
  if (*end == TG_WALK_TORN || *count == 0 || list[0].pc < 0)
    return false;
  list[0].near = true;
  return true;
}

tg_WalkEnd tg_jitstill_walk (tg_Sight *s, const tg_SeenState *state,
                             const tg_Registers *registers, tg_SeenFrame *list,
                             uint32_t most, uint32_t *count,
                             tg_SeenAbove *above) {
  tg_JitRunning r;
  tg_WalkEnd end;
  uint64_t rejected[TG_NREASONS];
  tg_jitrunning_find(s, state, registers, &r);
  *above = r.above;
  memcpy(rejected, s->rejected, sizeof rejected);
  if (r.above.kind == TG_ABOVE_COMPILED && registers != NULL
      && walk_inlined(s, state, registers, above, list, most, count, &end))
    return end;
  memcpy(s->rejected, rejected, sizeof rejected);       /* a try */
  return tg_jitwalk_still(s, state, &r, list, most, count);
}
