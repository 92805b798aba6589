/* machine.c - see machine.h. */
#include "jit/machine.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/grow.h"
#include "jit/proof.h"
#include "outside/maps.h"

#define TABLE_MOST 0x4000u      /* from global_State to its table */
#define HELPERS 57u             /* fast functions behind (lj_dispatch.h) */
#define AROUND 4096u            /* machine code before all that, */
#define BEHIND 8192u            /* and behind */
#define TRACES 65536u           /* of a state: numbers have 16 bits */
#define SAVED 16u               /* bytes of registers, before compiled code is
                                   entered (vm_x64.dasc, BC_JLOOP) */
#define CODE_MOST (1u << 26)    /* bytes of a trace */
#define LIST_NS UINT64_C(1000000)       /* between lists, at least; as long as
                                           they take a small part of the time */
#define LIST_SHARE 20

void tg_jitmachine_free (tg_JitMachine *m) {
  tg_free(m->list);
  *m = (tg_JitMachine){0};
}

/*
** {==================================================================
** The interpreter
** ===================================================================
*/

bool tg_jitmachine_learn (tg_JitMachine *m, tg_Sight *s, uint64_t shared,
                          uint64_t word) {
  uint32_t n = (uint32_t)tg_jit_row(s, OP_FUNCC) + 2 + HELPERS;
  uint64_t low = UINT64_MAX, high = 0;
  if (word - shared >= TABLE_MOST || word % 8 != 0)
    return false;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t code = tg_memory_word(s->memory, word + 8u * (uint64_t)i);
    low = (code < low) ? code : low;
    high = (code > high) ? code : high;
  }
  const tg_Map *map = tg_maps_find(&s->memory->maps, low);
  if (map == NULL || (map->flags & TG_MAP_RUN) == 0 || high >= map->end)
    return false;
  m->low = low;
  m->high = high;
  return true;
}

bool tg_jitmachine_interprets (const tg_JitMachine *m, uint64_t pc) {
  return m->low != 0 && pc + AROUND >= m->low && pc < m->high + BEHIND;
}

/* }================================================================== */

/*
** {==================================================================
** Traces
** ===================================================================
*/

static bool read_trace (tg_Sight *s, uint64_t at, uint32_t number,
                        tg_JitTrace *t) {
  if (!tg_jit_is(s, at, TG_JIT_TRACE)
      || (tg_jit_half(s, at, AT_TRACE_NUMBER) & 0xffff) != number)
    return false;
  uint32_t size = tg_jit_half(s, at, AT_TRACE_SIZE);
  t->at = at;
  t->start = tg_jit_word(s, at, AT_TRACE_MACHINE);
  t->end = t->start + size;
  t->stack = SAVED + (tg_jit_half(s, at, AT_TRACE_STACK) & 0xffff);
  return t->start != 0 && size <= CODE_MOST;
}

bool tg_jitmachine_numbered (tg_Sight *s, uint64_t shared, uint32_t number,
                             tg_JitTrace *t) {
  uint64_t list = tg_jit_word(s, shared, AT_SHARED_TRACES);
  if (number == 0 || number >= TRACES
      || number >= tg_jit_half(s, shared, AT_SHARED_NTRACES))
    return false;
  t->shared = shared;
  uint64_t at = tg_memory_word(s->memory, list + 8u * (uint64_t)number);
  return at != 0 && read_trace(s, at, number, t);
}

static void list_traces (tg_JitMachine *m, tg_Sight *s, uint64_t shared) {
  tg_JitTrace t;
  uint32_t n = tg_jit_half(s, shared, AT_SHARED_NTRACES);
  for (uint32_t i = 1; i < n && i < TRACES; i++) {
    if (!tg_jitmachine_numbered(s, shared, i, &t))
      continue;
    if (!tg_grow(&m->list, &m->capacity, m->count + 1, sizeof *m->list))
      return;
    m->list[m->count++] = t;
  }
}

static int by_start (const void *a, const void *b) {
  uint64_t x = ((const tg_JitTrace *)a)->start;
  uint64_t y = ((const tg_JitTrace *)b)->start;
  return (x > y) - (x < y);
}

static void list_states (tg_JitMachine *m, tg_Sight *s,
                         const tg_Finds *states) {
  m->count = 0;
  for (uint32_t i = 0; i < states->nstates; i++)
    list_traces(m, s, states->shareds[i]);
}

/* A layout may have been taken of which nothing but where traces are is wrong,
   while there were none. */
static void list_otherwise (tg_JitMachine *m, tg_Sight *s,
                            const tg_Finds *states) {
  const tg_JitLayout *before = s->jit;
  for (int i = 0; i < TG_JIT_LAYOUTS && m->count == 0; i++) {
    s->jit = &tg_jitlayouts[i];
    if (tg_jit_objection(s, states) == NULL)
      list_states(m, s, states);
  }
  if (m->count == 0)
    s->jit = before;
}

/* Pages that are kept are of before. */
static void list_all (tg_JitMachine *m, tg_Sight *s, const tg_Finds *states) {
  uint64_t begun = tg_clock_monotonic_ns();
  if (begun < m->next_ns)
    return;
  tg_memory_forget(s->memory);
  list_states(m, s, states);
  if (m->count == 0)
    list_otherwise(m, s, states);
  if (m->count > 0)
    qsort(m->list, m->count, sizeof *m->list, by_start);
  uint64_t now = tg_clock_monotonic_ns();
  uint64_t pause = (now - begun) * LIST_SHARE;
  m->next_ns = now + (pause > LIST_NS ? pause : LIST_NS);
}

static const tg_JitTrace *find (const tg_JitMachine *m, uint64_t pc) {
  return tg_maps_search(m->list, m->count, sizeof *m->list, pc);
}

/* Machine code is nowhere but in memory that may run and is no file's. */
static bool is_for_code (const tg_Map *map) {
  return map != NULL && map->path == NULL && (map->flags & TG_MAP_RUN) != 0;
}

bool tg_jitmachine_may_have (const tg_JitMachine *m, tg_Sight *s,
                             uint64_t word) {
  if (m->count == 0)
    return is_for_code(tg_maps_find(&s->memory->maps, word));
  return word >= m->list[0].start && word <= m->list[m->count - 1].end;
}

static bool is_current (tg_Sight *s, const tg_JitTrace *t) {
  return tg_jit_is(s, t->at, TG_JIT_TRACE)
         && tg_jit_word(s, t->at, AT_TRACE_MACHINE) == t->start
         && t->start + tg_jit_half(s, t->at, AT_TRACE_SIZE) == t->end;
}

/* Maps are of a little earlier. */
static bool may_be_compiled (tg_Sight *s, uint64_t pc) {
  const tg_Map *map = tg_maps_find(&s->memory->maps, pc);
  return map == NULL || is_for_code(map);
}

const tg_JitTrace *tg_jitmachine_trace (tg_JitMachine *m, tg_Sight *s,
                                        const tg_Finds *states, uint64_t pc) {
  const tg_JitTrace *t = find(m, pc);
  if (t != NULL && is_current(s, t))
    return t;
  if (!may_be_compiled(s, pc))
    return NULL;
  list_all(m, s, states);
  t = find(m, pc);
  return (t != NULL && is_current(s, t)) ? t : NULL;
}

/* }================================================================== */
