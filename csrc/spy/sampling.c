/* sampling.c - see sampling.h. */
#include "spy/sampling.h"

#include <string.h>

#define TRIES 8                 /* looks for one sample */

/* ---- the leaf's instruction ---- */

/* Where the interpreter has called C its registers are on the C stack, of which
   a tick has the top. */
static void refine (tg_Spy *y, const tg_Registers *registers,
                    const tg_SpyTick *tick) {
  tg_SpyStack *k = &y->stack;
  const tg_SpySpan *span = &k->spans[k->nspans - 1];
  tg_Registers known = *registers;
  if (span->count == 0)
    return;
  tg_SeenFrame *leaf = &k->frames[span->first];
  if (!y->plan.stop)
    known.stack = UINT64_MAX;   /* what is there by now is of another moment */
  tg_walk_refine(&y->target.sight, &span->state, leaf, &known);
  if (leaf->stale && tick != NULL && tick->stack != NULL)
    tg_walk_refine_by(&y->target.sight, leaf, tick->stack, tick->stack_size);
}

/* ---- looks ---- */

static tg_Look look (tg_Spy *y, uint32_t state, const tg_Registers *registers,
                     bool still, tg_Reason *why) {
  const tg_Finds *found = &y->target.found;
  tg_SpyHint hint = {
    .registers = (registers != NULL && registers->count > 0) ? registers
                                                              : NULL,
    .others = found->list, .nothers = found->count, .still = still
  };
  return tg_spystack_look(&y->stack, &y->target.sight, found->mains[state],
                          &hint, why);
}

/* The thread stands still, or waits: that it has waited all the time is asked
   when it has been looked at. */
static tg_Look look_halted (tg_Spy *y, uint32_t state, int tid,
                            tg_Reason *why) {
  tg_Halt h;
  if (!tg_halt_begin(&h, y->target.memory.pid, tid))
    return TG_LOOK_NONE;
  const tg_Registers *registers = &h.registers;
  tg_Look found = look(y, state, registers, true, why);
  if (found == TG_LOOK_GOOD && h.registers.count > 0)
    refine(y, registers, NULL);
  if (!tg_halt_rests(&h))
    found = TG_LOOK_TORN;
  tg_halt_end(&h);
  y->stopped_ns += h.took_ns;
  return found;
}

static tg_Look look_running (tg_Spy *y, uint32_t state,
                             const tg_SpyTick *tick, tg_Reason *why) {
  const tg_Registers *registers = (tick != NULL) ? &tick->registers : NULL;
  tg_Look found = look(y, state, registers, false, why);
  if (found == TG_LOOK_GOOD && registers != NULL)
    refine(y, registers, tick);
  return found;
}

bool tg_spy_sample (tg_Spy *y, uint32_t state, int tid,
                    const tg_SpyTick *tick) {
  tg_Reason why = TG_REASON_STATE;
  for (int i = 0; i < TRIES; i++) {
    tg_Look found = (y->plan.stop && tid != 0)
                    ? look_halted(y, state, tid, &why)
                    : look_running(y, state, tick, &why);
    if (found == TG_LOOK_GOOD) {
      if (tg_spywriting_take(&y->writing, &y->stack,
                             y->target.found.mains[state]))
        return true;
      why = TG_REASON_FUNCTION;
    }
    else if (found == TG_LOOK_NONE)
      why = TG_REASON_STATE;
    y->misses.retried++;
    if (i >= 2)                 /* pages may be of what is gone */
      tg_memory_forget(&y->target.memory);
  }
  y->misses.retried--;          /* the last one was given up instead */
  y->misses.counts[why]++;
  return false;
}
