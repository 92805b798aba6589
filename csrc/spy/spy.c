/* spy.c - see spy.h. */
#include "spy/spy.h"

#include <stdio.h>
#include <string.h>

#include "jit/target.h"
#include "outside/process.h"
#include "spy/byclock.h"
#include "spy/byevents.h"

#define SECOND_NS UINT64_C(1000000000)
#define TIDY_NS (SECOND_NS / 2) /* between looks for new threads */
#define SEARCH_NS SECOND_NS     /* and for new states, at least; as long as */
#define SEARCH_SHARE 30         /* it takes a small part of the time */

/*
** {==================================================================
** Begin and end
** ===================================================================
*/

static void name_reasons (tg_Misses *m) {
  m->known = true;
  m->n = TG_SPY_REASONS;
  for (int i = 0; i < TG_NREASONS; i++)
    snprintf(m->reasons[i], TG_MISSES_WORD, "%s",
             tg_sight_reason((tg_Reason)i));
  snprintf(m->reasons[TG_SPY_LATE], TG_MISSES_WORD, "late");
  snprintf(m->reasons[TG_SPY_UNSEEN], TG_MISSES_WORD, "threads");
  snprintf(m->reasons[TG_SPY_LOST], TG_MISSES_WORD, "ticks");
  snprintf(m->reasons[TG_SPY_OMITTED], TG_MISSES_WORD, "states");
  snprintf(m->reasons[TG_SPY_UNWOUND], TG_MISSES_WORD, "native");
}

/* States come and go: the most that were left out at one time. */
static void count_beside (tg_Spy *y) {
  uint64_t *counts = y->misses.counts;
  counts[TG_SPY_UNSEEN] = y->ticks.unseen;
  counts[TG_SPY_LOST] = y->ticks.lost;
  if (y->target.found.omitted > counts[TG_SPY_OMITTED])
    counts[TG_SPY_OMITTED] = y->target.found.omitted;
}

/* C frames, and LuaJIT's, need the registers of the moment: those of a tick, or
   of a thread that stands still. */
static tg_Refusal check_registers (tg_Spy *y, tg_Buf *words) {
  bool jit = y->target.sight.jit != NULL;
  if (y->by_events || y->plan.stop || (!jit && !y->plan.native))
    return TG_REFUSED_NOT;
  tg_buf_clear(words);
  tg_buf_addfmt(words, "%s the registers of a thread: --stop, or the kernel's "
                "events, which count processor time "
                "(/proc/sys/kernel/perf_event_paranoid of 2 or less)",
                jit ? "LuaJIT keeps what it runs in" : "C frames need");
  return TG_REFUSED_OTHER;
}

/* Compiled code has no unwind tables, and functions in C of the library no
   frames that could be told from the interpreter's. */
static tg_Refusal refuse_native (tg_Buf *words) {
  tg_buf_clear(words);
  tg_buf_addstr(words, "C frames between those of LuaJIT cannot be told: leave "
                "out --native");
  return TG_REFUSED_OTHER;
}

tg_Refusal tg_spy_open (tg_Spy *y, int pid, const tg_SpyPlan *plan,
                        tg_Buf *words) {
  memset(y, 0, sizeof *y);
  y->plan = *plan;
  y->random = 2463534242u;
  y->opened = true;
  name_reasons(&y->misses);
  tg_Refusal refusal = tg_target_process(&y->target, pid, NULL, words);
  refusal = tg_jittarget_prove(&y->target, refusal, words);
  if (refusal != TG_REFUSED_NOT)
    return refusal;
  if (plan->native && y->target.sight.jit != NULL)
    return refuse_native(words);
  if (plan->native
      && !tg_cstack_open(&y->cstack, &y->target.memory, y->target.root)) {
    tg_buf_addstr(words, TG_LIBDW_MISSING);
    return TG_REFUSED_OTHER;
  }
  y->by_events = !plan->wall
                 && tg_spyticks_open(&y->ticks, pid, plan->hz,
                                     plan->native ? TG_SPY_CSTACK
                                                  : TG_SPY_STACK);
  count_beside(y);
  return check_registers(y, words);
}

bool tg_spy_begin (tg_Spy *y, tg_Stream *stream) {
  uint64_t now = tg_clock_monotonic_ns();
  y->begun = true;
  y->last_ns = y->next_ns = y->tidied_ns = now;
  y->search_ns = now + SEARCH_NS;
  y->usual = tg_halt_hurry();
  bool good = tg_spywriting_open(&y->writing, &y->target, stream)
              && tg_spywriting_begin(&y->writing, tg_clock_ticks());
  tg_memory_forget(&y->target.memory);
  return good;
}

void tg_spy_close (tg_Spy *y) {
  if (!y->opened)
    return;
  if (y->begun)
    tg_halt_relax(y->usual);
  tg_spy_release(y);
  tg_spyticks_close(&y->ticks);
  tg_spywriting_close(&y->writing);
  tg_spystack_free(&y->stack);
  tg_spyleaves_free(&y->leaves);
  tg_spysites_free(&y->sites);
  tg_spymix_free(&y->mix);
  tg_cstack_close(&y->cstack);
  tg_target_close(&y->target);
  memset(y, 0, sizeof *y);
}

/* }================================================================== */

/*
** {==================================================================
** Now and then
** ===================================================================
*/

/* What a number stood for may be another process by now, or another program
   (execve). */
static tg_SpyEnd end_of (const tg_Spy *y) {
  int pid = y->target.memory.pid;
  if (tg_process_task(pid) == 0 || tg_process_born(pid) != y->target.born)
    return TG_SPY_ENDED;
  return tg_target_lives(&y->target) ? TG_SPY_RUNS : TG_SPY_CHANGED;
}

/* By the order in which they are found states keep what is known of them. */
static void adopt (tg_Spy *y, tg_Finds *found) {
  tg_SpyClocked clocked[TG_FOUND_STATES] = {{0}};
  for (uint32_t i = 0; i < found->nstates; i++) {
    for (uint32_t j = 0; j < y->target.found.nstates; j++) {
      if (y->target.found.mains[j] == found->mains[i])
        clocked[i] = y->clocked[j];
    }
  }
  memcpy(y->clocked, clocked, sizeof clocked);
  tg_found_free(&y->target.found);
  y->target.found = *found;
  tg_described_reload(&y->writing.described);
}

static void search (tg_Spy *y) {
  tg_Finds found = {0};
  uint64_t begun = tg_clock_monotonic_ns();
  tg_process_renew(&y->target.memory);
  tg_finder_search(&y->target.sight, &found);
  if (found.nstates > 0)
    adopt(y, &found);
  else
    tg_found_free(&found);
  uint64_t took = tg_clock_monotonic_ns() - begun;
  uint64_t pause = took * SEARCH_SHARE;
  y->search_ns = begun + took + (pause > SEARCH_NS ? pause : SEARCH_NS);
}

/* The process may have loaded C modules since. */
static void renew_files (tg_Spy *y) {
  if (!y->plan.native)
    return;
  tg_process_renew(&y->target.memory);
  if (tg_cstack_renew(&y->cstack))
    tg_spywriting_forget_c(&y->writing);
}

/* Pages that are kept may be of what is gone by now. */
static void tidy (tg_Spy *y, uint64_t now) {
  y->tidied_ns = now;
  y->end = end_of(y);
  if (y->end != TG_SPY_RUNS)
    return;
  if (y->by_events)
    tg_spyticks_rescan(&y->ticks);
  if (now >= y->search_ns)
    search(y);
  renew_files(y);
  tg_memory_forget(&y->target.memory);
  tg_spywriting_forget(&y->writing);
}

void tg_spy_release (tg_Spy *y) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < y->nlate; i++) {
    if (!tg_halt_release(&y->late[i]))
      y->late[kept++] = y->late[i];
  }
  y->nlate = kept;
}

/* }================================================================== */

tg_SpyEnd tg_spy_run (tg_Spy *y, uint64_t ns) {
  uint64_t now = tg_clock_monotonic_ns(), until = now + ns;
  while (y->end == TG_SPY_RUNS && now < until) {
    tg_spy_release(y);
    if (y->by_events)
      tg_spy_by_events(y, until - now);
    else
      tg_spy_by_clock(y, until);
    now = tg_clock_monotonic_ns();
    if (now - y->tidied_ns >= TIDY_NS)
      tidy(y, now);
  }
  count_beside(y);
  return y->end;
}
