/* dump.c - see dump.h. */
#include "dump/dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "dump/frames.h"
#include "outside/objectlist.h"
#include "outside/process.h"

#define WORK UINT64_C(60000000) /* words, all in all */
#define COROUTINES 10000u       /* of a state, without 'all' */
#define TRIES 20                /* to find a thread that waits waiting still */
#define ROUNDS 3                /* of looks, until pages are of one moment */

const char *tg_dump_status (tg_DumpStatus status) {
  static const char *const words[] = {"running", "normal", "idle",
                                      "suspended", "dead"};
  return words[status];
}

/*
** {==================================================================
** Which coroutines, and what each does
** ===================================================================
*/

static bool is_main (const tg_Dump *d, uint64_t at) {
  for (uint32_t i = 0; i < d->target->found.nstates; i++) {
    if (d->target->found.mains[i] == at)
      return true;
  }
  return false;
}

/* Whether something runs on it: a host may call Lua without protection. */
static bool is_active (const tg_Dump *d, const tg_SeenState *state) {
  if (state->status != 0 || !tg_state_has_frames(state))
    return false;
  return state->jump != 0 || is_main(d, state->at);
}

static tg_DumpStatus status_of (const tg_Dump *d, const tg_SeenState *state) {
  if (is_active(d, state))
    return TG_DUMP_NORMAL;      /* or it runs: that takes all of them */
  if (is_main(d, state->at))
    return TG_DUMP_IDLE;
  return tg_state_is_over(state) ? TG_DUMP_DEAD : TG_DUMP_SUSPENDED;
}

/* One that was found may have been freed meanwhile. What runs exists, whatever
   is known of it. */
static void add_thread (tg_Dump *d, tg_DumpState *s, tg_Find found) {
  tg_SeenState state;
  if (!tg_state_read(&d->target->sight, found.at, &state)
      || state.shared != s->shared)
    return;
  if (tg_state_is_freed(&d->target->sight, &state) && !is_main(d, found.at))
    return;
  tg_DumpStatus status = status_of(d, &state);
  bool unsure = !found.sure && status != TG_DUMP_NORMAL;
  s->unsure += unsure;
  if (status == TG_DUMP_DEAD && !d->options.all) {
    s->over++;
    return;
  }
  if (!tg_grow(&s->threads, &s->capacity, s->nthreads + 1,
               sizeof *s->threads)) {
    d->failed = true;
    return;
  }
  s->threads[s->nthreads] = (tg_DumpThread){
    .state = state, .status = status, .id = s->nthreads + 1,
    .unsure = unsure};
  s->nthreads++;
}

/* Where on the C stack, which grows down, a coroutine was resumed: of two that
   are active the innermost has the lower address. A host may call Lua without
   protection, outside of all. */
static uint64_t resumed_at (const tg_DumpThread *t) {
  return (t->state.jump != 0) ? t->state.jump : UINT64_MAX;
}

/* Of those that are active the one that was resumed last runs. */
static void mark_running (tg_DumpState *s) {
  tg_DumpThread *last = NULL;
  for (uint32_t i = 0; i < s->nthreads; i++) {
    tg_DumpThread *t = &s->threads[i];
    if (t->status == TG_DUMP_NORMAL
        && (last == NULL || resumed_at(t) < resumed_at(last)))
      last = t;
  }
  if (last != NULL)
    last->status = TG_DUMP_RUNNING;
}

/* By status; of those that are active the innermost first. */
static int by_status (const void *a, const void *b) {
  const tg_DumpThread *x = a, *y = b;
  if (x->status != y->status)
    return (x->status > y->status) - (x->status < y->status);
  uint64_t i = resumed_at(x), j = resumed_at(y);
  if (x->status == TG_DUMP_NORMAL && i != j)
    return (i > j) - (i < j);
  return (x->id > y->id) - (x->id < y->id);
}

static void list_threads (tg_Dump *d, tg_DumpState *s, uint32_t i) {
  const tg_Finds *found = &d->target->found;
  add_thread(d, s, (tg_Find){.at = found->mains[i], .of = i, .sure = true});
  for (uint32_t n = 0; n < found->count; n++) {
    if (found->list[n].of == i)
      add_thread(d, s, found->list[n]);
  }
  mark_running(s);
  if (s->nthreads > 1)
    qsort(s->threads, s->nthreads, sizeof *s->threads, by_status);
  if (!d->options.all && s->nthreads > COROUTINES) {
    s->omitted = s->nthreads - COROUTINES;
    s->nthreads = COROUTINES;
  }
}

/* }================================================================== */

/*
** {==================================================================
** One look
** ===================================================================
*/

static void forget (tg_Dump *d) {
  for (uint32_t i = 0; i < d->nstates; i++) {
    tg_DumpState *s = &d->states[i];
    for (uint32_t n = 0; n < s->nthreads; n++)
      tg_dumpframes_free(&s->threads[n]);
    s->nthreads = s->over = s->omitted = s->unsure = 0;
  }
}

static void begin_look (tg_Dump *d) {
  forget(d);
  memset(d->target->sight.rejected, 0, sizeof d->target->sight.rejected);
  d->work = d->target->memory.work + WORK;
  d->frames = d->options.all ? TG_DUMP_SUM_ALL : TG_DUMP_SUM;
}

static void look_at (tg_Dump *d, tg_DumpState *s, uint32_t i,
                     const tg_Registers *registers) {
  list_threads(d, s, i);
  d->compiled = (tg_DumpSlots){0};
  for (uint32_t n = 0; n < s->nthreads; n++) {
    bool runs = s->threads[n].status == TG_DUMP_RUNNING;
    tg_dumpframes_take(d, &s->threads[n], runs ? registers : NULL);
  }
}

static void look (tg_Dump *d, const tg_Halt *halts) {
  begin_look(d);
  for (uint32_t i = 0; i < d->nstates; i++) {
    bool known = halts != NULL && halts[i].registers.stack != 0;
    look_at(d, &d->states[i], i, known ? &halts[i].registers : NULL);
  }
}

/* }================================================================== */

/*
** {==================================================================
** The moment
** ===================================================================
*/

/* The system's thread that runs a state, by the C stack that its protected
   calls are on. */
static int thread_of (tg_Dump *d, const tg_DumpState *s) {
  uint64_t jump = 0;
  for (uint32_t i = 0; i < s->nthreads && jump == 0; i++)
    jump = s->threads[i].state.jump;
  const tg_Map *map = tg_maps_find(&d->target->memory.maps, jump);
  if (map == NULL)
    return tg_halt_thread(d->target->memory.pid, 0, 0);
  return tg_halt_thread(d->target->memory.pid, map->start, map->end);
}

static bool is_halted (const tg_Halt *halts, uint32_t n, int tid) {
  for (uint32_t i = 0; i < n; i++) {
    if (halts[i].tid == tid && halts[i].kind != TG_HALT_NONE)
      return true;
  }
  return false;
}

static void halt (tg_Dump *d, tg_Halt *halts) {
  for (uint32_t i = 0; i < d->nstates; i++) {
    tg_DumpState *s = &d->states[i];
    halts[i] = (tg_Halt){0};
    if (s->tid == 0 || is_halted(halts, i, s->tid))
      continue;
    tg_halt_begin(&halts[i], d->target->memory.pid, s->tid);
    s->waits = halts[i].kind == TG_HALT_WAITS;
  }
}

/* Whether nothing has run since they were halted. */
static bool resume (tg_Dump *d, tg_Halt *halts) {
  bool steady = true;
  for (uint32_t i = 0; i < d->nstates; i++) {
    bool other = is_halted(halts, i, d->states[i].tid);
    steady = steady && (other || tg_halt_rests(&halts[i]));
    tg_halt_end(&halts[i]);
    if (halts[i].took_ns > d->stopped_ns)
      d->stopped_ns = halts[i].took_ns;
  }
  return steady;
}

/* All pages as they are at one moment. A thread that waited may have gone on
   meanwhile: then once more. */
static void take_pages (tg_Dump *d, tg_Halt *halts) {
  int usual = tg_halt_hurry();
  d->steady = false;
  for (int i = 0; i < TRIES && !d->steady; i++) {
    halt(d, halts);
    tg_memory_refresh(&d->target->memory);
    d->steady = resume(d, halts);
  }
  tg_halt_relax(usual);
}

/* Whether somewhere the interpreter was between two frames: it will not be for
   long. */
static bool is_lost (const tg_Dump *d) {
  for (uint32_t i = 0; i < d->nstates; i++) {
    const tg_DumpState *s = &d->states[i];
    if (s->nthreads > 0 && s->threads[0].above.kind == TG_ABOVE_UNKNOWN)
      return true;
  }
  return false;
}

/* A look that needed pages which nobody had asked for before has these from a
   later moment: then once more. A program that makes new ones all the time
   stands still for the look itself. */
static void look_halted (tg_Dump *d, tg_Halt *halts) {
  const tg_Memory *m = &d->target->memory;
  for (int i = 0; i < ROUNDS; i++) {
    take_pages(d, halts);
    uint32_t known = m->count;
    look(d, halts);
    if (d->steady && m->count == known && !is_lost(d))
      return;
  }
  halt(d, halts);
  tg_memory_refresh(&d->target->memory);
  look(d, halts);
  d->steady = resume(d, halts);
}

static void look_running (tg_Dump *d) {
  tg_memory_refresh(&d->target->memory);
  look(d, NULL);
  for (uint32_t i = 0; i < d->nstates; i++) {
    int tid = d->states[i].tid;
    d->states[i].waits = tid != 0
                         && tg_halt_waits(d->target->memory.pid, tid) != 0;
  }
}

/* Whether any state is still where it was found. */
static bool has_states (const tg_Dump *d) {
  for (uint32_t i = 0; i < d->nstates; i++) {
    if (d->states[i].nthreads > 0)
      return true;
  }
  return false;
}

static bool take_process (tg_Dump *d, tg_Buf *words) {
  tg_Halt *halts = tg_calloc(d->nstates, sizeof *halts);
  if (halts == NULL) {
    tg_buf_addstr(words, "not enough memory");
    return false;
  }
  for (uint32_t i = 0; i < d->nstates; i++)
    d->states[i].tid = thread_of(d, &d->states[i]);
  if (d->options.no_stop)
    look_running(d);
  else
    look_halted(d, halts);
  tg_free(halts);
  if (tg_target_lives(d->target) && has_states(d))
    return true;
  tg_target_title(d->target, words);
  tg_buf_addstr(words, " has ended, or runs another program, meanwhile");
  return false;
}

/* Of a core each state's thread has left its registers. */
static void take_core (tg_Dump *d) {
  const tg_Core *core = d->target->memory.core;
  begin_look(d);
  d->steady = true;
  for (uint32_t i = 0; i < d->nstates; i++) {
    tg_DumpState *s = &d->states[i];
    list_threads(d, s, i);
    uint64_t jump = (s->nthreads > 0) ? s->threads[0].state.jump : 0;
    s->nthreads = s->over = s->omitted = s->unsure = 0;
    look_at(d, s, i, tg_core_thread(core, &d->target->memory.maps, jump));
  }
}

bool tg_dump_take (tg_Dump *d, tg_Target *t, const tg_DumpOptions *options,
                   tg_Buf *words) {
  *d = (tg_Dump){.target = t, .options = *options};
  d->lister.definitions = &d->definitions;
  d->lister.selection = options->selection;
  d->states = tg_calloc(t->found.nstates + 1u, sizeof *d->states);
  if (d->states == NULL || !tg_described_open(&d->definitions, t, NULL)) {
    tg_buf_addstr(words, "not enough memory");
    return false;
  }
  d->nstates = t->found.nstates;
  for (uint32_t i = 0; i < d->nstates; i++)
    d->states[i].shared = t->found.shareds[i];
  tg_objectlist_check(&t->sight, &t->found);
  look(d, NULL);
  if (t->memory.core == NULL)
    return take_process(d, words);
  take_core(d);
  return true;
}

void tg_dump_free (tg_Dump *d) {
  forget(d);
  for (uint32_t i = 0; i < d->nstates; i++)
    tg_free(d->states[i].threads);
  tg_free(d->states);
  tg_described_close(&d->definitions);
  tg_valuelist_free(&d->lister);
  *d = (tg_Dump){0};
}

/* }================================================================== */
