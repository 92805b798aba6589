/* byevents.c - see byevents.h. */
#include "spy/byevents.h"

#include "spy/sampling.h"

#define NONE UINT32_MAX
#define WAIT_NS UINT64_C(50000000)

/*
** {==================================================================
** Which state a thread runs
** ===================================================================
*/

static uint32_t by_shared (const tg_Spy *y, uint64_t shared) {
  for (uint32_t i = 0; i < y->target.found.nstates; i++) {
    if (y->target.found.shareds[i] == shared)
      return i;
  }
  return NONE;
}

/* The interpreter has the coroutine that it runs in a register. */
static uint32_t by_registers (tg_Spy *y, const tg_Registers *r) {
  tg_SeenState state;
  for (unsigned i = 0; i < r->count; i++) {
    if (r->list[i] % 8 != 0 || r->list[i] < TG_PAGE
        || !tg_state_read(&y->target.sight, r->list[i], &state))
      continue;
    uint32_t found = by_shared(y, state.shared);
    if (found != NONE)
      return found;
  }
  return NONE;
}

/* Its protected calls are on the thread's C stack: of several states the one
   that was called last. */
static uint32_t by_stack (tg_Spy *y, const tg_Registers *r) {
  tg_Memory *m = &y->target.memory;
  const tg_Map *map = tg_maps_find(&m->maps, r->stack);
  uint64_t lowest = UINT64_MAX;
  uint32_t found = NONE;
  for (uint32_t i = 0; map != NULL && i < y->target.found.nstates; i++) {
    uint64_t jump = 0;
    tg_memory_block(m, y->target.found.mains[i]
                       + (uint64_t)tg_sight_row(&y->target.sight,
                                                AT_STATE_JUMP),
                    &jump, sizeof jump);
    if (jump >= map->start && jump < map->end && jump < lowest) {
      lowest = jump;
      found = i;
    }
  }
  return found;
}

/* LuaJIT's coroutine is where the interpreter was entered, on the C stack. */
static uint32_t by_tick (tg_Spy *y, const tg_SpyTick *tick) {
  tg_JitWords words = {&tick->registers, tick->stack, tick->stack_size};
  tg_JitTick what;
  tg_memory_renew(&y->target.memory);
  tg_jittick_read(&y->stack.machine, &y->target.sight, &y->target.found,
                  &words, &what);
  return (what.doing != TG_JIT_ELSEWHERE) ? by_shared(y, what.state.shared)
                                          : NONE;
}

static tg_SpyTicked *find_ticked (tg_Spy *y, int tid) {
  for (uint32_t i = 0; i < y->nticked; i++) {
    if (y->ticked[i].tid == tid)
      return &y->ticked[i];
  }
  return NULL;
}

static bool still_ticks (const tg_Spy *y, int tid) {
  for (uint32_t i = 0; i < y->ticks.count; i++) {
    if (y->ticks.threads[i].tid == tid)
      return true;
  }
  return false;
}

/* One that has ended makes room: there are as many places as threads that
   tick. */
static tg_SpyTicked *make_ticked (tg_Spy *y, int tid) {
  tg_SpyTicked *of = find_ticked(y, tid);
  if (of != NULL)
    return of;
  uint32_t i = 0;
  while (i < y->nticked && still_ticks(y, y->ticked[i].tid))
    i++;
  if (i == TG_SPY_THREADS)
    return NULL;
  y->nticked += i == y->nticked;
  y->ticked[i] = (tg_SpyTicked){.tid = tid};
  return &y->ticked[i];
}

/* Threads that never run Lua are nobody's business. One that does is outside
   of Lua when nothing of a state is on its stack. */
static uint32_t state_of (tg_Spy *y, const tg_SpyTick *tick) {
  bool alone = y->target.found.nstates == 1;
  bool jit = y->target.sight.jit != NULL;
  if (alone && y->ticks.count == 1)
    return 0;
  uint32_t found = jit ? by_tick(y, tick) : by_stack(y, &tick->registers);
  if (found == NONE && !jit)
    found = by_registers(y, &tick->registers);
  if (found == NONE && alone && find_ticked(y, tick->tid) != NULL)
    found = 0;
  return found;
}

/* }================================================================== */

static void sample (tg_Spy *y, const tg_SpyTick *tick) {
  uint32_t state = state_of(y, tick);
  if (state == NONE)
    return;
  tg_SpyTicked *of = make_ticked(y, tick->tid);
  if (of == NULL)
    return;
  of->carried_ns += tick->used_ns;
  of->carried++;
  if (!tg_spy_sample(y, state, tick->tid, tick))
    return;
  tg_SpyTime t = {.ticks = tg_clock_ticks(), .ns = of->carried_ns,
                  .count = of->carried};
  if (!tg_spywriting_put(&y->writing, &t)) {
    y->end = TG_SPY_FULL;
    return;
  }
  of->carried_ns = 0;
  of->carried = 0;
}

/* The first tick of a thread has the time since its event was opened. Ticks may
   come faster than stacks can be looked at: what is left then is the next
   turn's. */
void tg_spy_by_events (tg_Spy *y, uint64_t ns) {
  uint64_t until = tg_clock_monotonic_ns() + ns;
  tg_SpyTick tick;
  if (!tg_spyticks_wait(&y->ticks, ns < WAIT_NS ? ns : WAIT_NS))
    return;
  while (y->end == TG_SPY_RUNS && tg_clock_monotonic_ns() < until
         && tg_spyticks_next(&y->ticks, &tick))
    sample(y, &tick);
}
