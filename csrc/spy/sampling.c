/* sampling.c - see sampling.h. */
#include "spy/sampling.h"

#include "outside/process.h"

#define TRIES 8                 /* looks for one sample, */
#define TRIES_NS UINT64_C(500000000)    /* and for so long at most */

/* ---- looks ---- */

static tg_Look look (tg_Spy *y, uint32_t state, const tg_SpyTick *tick,
                     bool still, tg_Reason *why) {
  tg_SpyHint hint = {.still = still};
  if (tick != NULL && tick->registers.count > 0) {
    hint.registers = &tick->registers;
    hint.top = tick->stack;
    hint.top_size = tick->stack_size;
  }
  return tg_spystack_look(&y->stack, &y->target.sight, &y->target.found, state,
                          &hint, why);
}

/* The leaf's instruction, where the interpreter keeps that in a register. */
static void refine (tg_Spy *y, const tg_Registers *registers) {
  tg_SpyStack *k = &y->stack;
  const tg_SpySpan *span = &k->spans[k->nspans - 1];
  if (span->count > 0 && registers->count > 0)
    tg_walk_refine(&y->target.sight, &span->state, &k->frames[span->first],
                   registers);
}

/* A thread that is late stands still for nobody, and if it does it is not to be
   taken for somebody else's. Without room to note one none is stopped. */
static bool may_halt (const tg_Spy *y, int tid) {
  for (uint32_t i = 0; i < y->nlate; i++) {
    if (y->late[i].tid == tid)
      return false;
  }
  return y->nlate < TG_SPY_THREADS;
}

static bool halt (tg_Spy *y, tg_Halt *h, int tid) {
  if (!may_halt(y, tid))
    return false;
  bool stands = tg_halt_begin(h, y->target.memory.pid, tid);
  if (h->late)
    y->late[y->nlate++] = *h;
  return stands;
}

/* What is on its C stack, for when it runs again. */
static void copy_stack (tg_Spy *y, const tg_Registers *registers) {
  tg_Memory *m = &y->target.memory;
  const tg_Map *map = tg_maps_find(&m->maps, registers->stack);
  uint64_t size = (map != NULL) ? map->end - registers->stack : 0;
  if (size > sizeof y->halted_stack)
    size = sizeof y->halted_stack;
  y->halted = (tg_SpyTick){.registers = *registers};
  if (tg_memory_block(m, registers->stack, y->halted_stack, (size_t)size)) {
    y->halted.stack = y->halted_stack;
    y->halted.stack_size = (size_t)size;
  }
}

/* The thread stands still, or waits: that it has waited all the time is asked
   when it has been looked at. What LuaJIT runs is on the C stack as well. */
static tg_Look look_halted (tg_Spy *y, uint32_t state, int tid,
                            tg_Reason *why) {
  bool jit = y->target.sight.jit != NULL;
  tg_Halt h;
  if (!halt(y, &h, tid))
    return TG_LOOK_NONE;
  y->halted = (tg_SpyTick){.registers = h.registers};
  if (jit)
    copy_stack(y, &h.registers);
  tg_Look found = look(y, state, &y->halted, true, why);
  if (found == TG_LOOK_GOOD && !jit)
    refine(y, &h.registers);
  if (y->plan.native && y->halted.stack == NULL)
    copy_stack(y, &h.registers);
  if (!tg_halt_rests(&h))
    found = TG_LOOK_TORN;
  tg_halt_end(&h);
  y->stopped_ns += h.took_ns;
  return found;
}

static tg_Look look_at (tg_Spy *y, uint32_t state, int tid,
                        const tg_SpyTick *tick, tg_Reason *why) {
  if (y->plan.stop && tid != 0)
    return look_halted(y, state, tid, why);
  return look(y, state, tick, false, why);
}

/* The C stack, and which of its functions Lua is known to call. */
static void unwind (tg_Spy *y, const tg_SpyTick *tick) {
  tg_CStack *c = &y->cstack;
  tg_cstack_unwind(c, &tick->registers, tick->stack, tick->stack_size);
  for (uint32_t i = 0; i < c->count; i++) {
    tg_CCode *code = tg_cstack_code(c, i);
    if (code->lua)
      continue;
    tg_FunctionId id = tg_spywriting_called(&y->writing, code->start);
    code->lua = id != 0;
    code->function = code->lua ? id : code->function;
  }
}

/* A C function that Lua has called and that the look has not, since it is over
   by now: whether whom the look shows in its place as the caller calls it. */
static bool is_settled (const tg_Spy *y) {
  const tg_SpyMix *m = &y->mix;
  return m->callee == 0
         || tg_spyleaves_calls(&y->leaves, m->caller, m->callee);
}

/* What a look has left open is known, or not. Where a call is new its
   function is named as it is called now: later it may stand where the caller
   calls another one. */
static bool mend (tg_Spy *y, uint32_t state, bool by_clock) {
  tg_Sight *s = &y->target.sight;
  bool news = false;
  tg_spyleaves_meet(&y->leaves, s, &y->stack);
  if (by_clock && s->jit == NULL
      && !tg_spymend(&y->sites, &y->leaves, s, &y->stack, &news))
    return false;
  return !news || tg_spywriting_take(&y->writing, &y->stack,
                                     y->target.found.mains[state]);
}

/* A look that holds together becomes what is written. False: it does not after
   all. */
static bool take (tg_Spy *y, uint32_t state, const tg_SpyTick *moment,
                  int *why) {
  uint64_t main = y->target.found.mains[state];
  *why = TG_REASON_FUNCTION;
  if (moment == NULL)
    return tg_spywriting_take(&y->writing, &y->stack, main);
  unwind(y, moment);
  if (!tg_spymix_make(&y->mix, &y->stack, &y->cstack, moment == &y->halted)) {
    y->misses.counts[TG_SPY_UNWOUND]++;
    return tg_spywriting_take(&y->writing, &y->stack, main);
  }
  if (!is_settled(y)) {
    *why = TG_SPY_LATE;
    return false;
  }
  return tg_spywriting_mix(&y->writing, &y->stack, main, &y->mix, &y->cstack);
}

/* Of which moment the C stack is wanted; NULL: it is not. */
static const tg_SpyTick *moment_of (const tg_Spy *y, const tg_SpyTick *tick) {
  if (!y->plan.native)
    return NULL;
  return (tick != NULL) ? tick : &y->halted;
}

/* Of a process that has ended meanwhile there was nothing to be seen. */
static bool give_up (tg_Spy *y, int why) {
  if (tg_process_task(y->target.memory.pid) != 0)
    y->misses.counts[why]++;
  return false;
}

bool tg_spy_sample (tg_Spy *y, uint32_t state, int tid,
                    const tg_SpyTick *tick) {
  tg_Reason why = TG_REASON_STATE;
  int untaken = TG_REASON_FUNCTION;
  uint64_t until = tg_clock_monotonic_ns() + TRIES_NS;
  y->halted.registers.count = 0;
  for (int i = 0; i == 0 || (i < TRIES && tg_clock_monotonic_ns() < until);
       i++) {
    y->misses.retried += i > 0;
    if (i > 2)                  /* pages may be of what is gone */
      tg_memory_forget(&y->target.memory);
    tg_Look found = look_at(y, state, tid, tick, &why);
    if (found == TG_LOOK_LATE)
      return give_up(y, TG_SPY_LATE);
    if (found == TG_LOOK_NONE)
      why = TG_REASON_STATE;
    if (found != TG_LOOK_GOOD)
      continue;
    why = TG_REASON_FRAMES;
    if (!mend(y, state, tick == NULL))
      continue;
    if (tick != NULL && !tg_spyleaves_settle(&y->leaves, &y->target.sight,
                                             &y->stack, tick))
      return give_up(y, TG_SPY_LATE);
    if (take(y, state, moment_of(y, tick), &untaken))
      return true;
    if (untaken == TG_SPY_LATE)
      return give_up(y, untaken);
    why = TG_REASON_FUNCTION;
  }
  return give_up(y, (int)why);
}
