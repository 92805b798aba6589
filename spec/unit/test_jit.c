/*
** test_jit.c - LuaJIT's memory, put together here and changed: that what is
** whole is told, that what is forged is refused with a reason, and that nothing
** takes long. What a real one says of itself, specs compare (spec/outside).
*/
#include <string.h>

#include "jit/frames.h"
#include "jit/inlined.h"
#include "jit/sight.h"
#include "jit/tick.h"
#include "jit/values.h"
#include "outside/proto.h"
#include "outside/state.h"
#include "outside/value.h"
#include "outside/walk.h"
#include "unit.h"

/*
** {==================================================================
** Memory
** ===================================================================
*/

/* From WHERE on, and nothing else. */
#define WHERE UINT64_C(0x10000)
#define SIZE 0x8000u

static uint8_t image[SIZE];

static uint32_t read_image (tg_Memory *m, const tg_Range *list, uint32_t n) {
  (void)m;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t from = list[i].at - WHERE;
    if (list[i].at < WHERE || from + list[i].size > SIZE)
      return i;
    memcpy(list[i].to, image + from, list[i].size);
  }
  return n;
}

static tg_Memory memory;
static tg_Sight sight;

static void put (uint64_t at, uint64_t word, size_t size) {
  memcpy(image + (at - WHERE), &word, size);
}

static void put_row (uint64_t object, tg_JitRow row, uint64_t word,
                     size_t size) {
  put(object + (uint64_t)sight.jit->at[row], word, size);
}

#define PUT(object, row, word, size) \
  put_row((object), TG_JIT_##row, (word), (size))

static uint64_t tagged (uint64_t object, unsigned type) {
  return object | ~(uint64_t)type << 47;
}

#define NIL UINT64_MAX

/* }================================================================== */

/*
** {==================================================================
** A coroutine: caller() calls callee(), which C interrupts
** ===================================================================
*/

enum {
  STATE = WHERE + 0x100, SHARED = WHERE + 0x200, STACK = WHERE + 0x1000,
  CALLER = WHERE + 0x2000, CALLER_PROTO = WHERE + 0x2100,
  CALLEE = WHERE + 0x2800, CALLEE_PROTO = WHERE + 0x2900,
  CFUNCTION = WHERE + 0x3000, ENTRY = WHERE + 0x3800,
  TABLE = WHERE + 0x4000, ARRAY = WHERE + 0x4100, NODES = WHERE + 0x4200,
  STRING = WHERE + 0x4400, LAST = STACK + 0x800
};

static void put_type (uint64_t object, unsigned type) {
  PUT(object, AT_OBJECT_TYPE, type, 1);
}

static uint64_t code_of (uint64_t proto) {
  return proto + (uint64_t)sight.jit->at[TG_JIT_SIZE_PROTO];
}

static void put_function (uint64_t function, uint64_t proto, uint32_t line) {
  put_type(function, TG_JIT_FUNCTION);
  PUT(function, AT_FUNCTION_CODE, code_of(proto), 8);
  put_type(proto, TG_JIT_PROTO);
  PUT(proto, AT_PROTO_NCODE, 8, 4);
  PUT(proto, AT_PROTO_LINE, line, 4);
  PUT(proto, AT_PROTO_NLINES, 10, 4);
}

/* A frame's function and link; its variables are behind. */
static uint64_t put_frame (uint64_t at, uint64_t function, uint64_t link) {
  put(at - 8, tagged(function, TG_JIT_FUNCTION), 8);
  put(at, link, 8);
  return at;
}

static uint64_t put_frames (void) {
  uint64_t call = code_of(CALLER_PROTO) + 3 * 4;
  put(call - 4, 65 + (4u << 8), 4);     /* a call from slot 4 */
  uint64_t caller = put_frame(STACK + 5 * 8, CALLER, 4 * 8 | TG_JIT_LINK_C);
  uint64_t callee = put_frame(caller + 6 * 8, CALLEE, call);
  put(code_of(CALLEE_PROTO) + 4 * 4, 66 + (2u << 8), 4);
  return put_frame(callee + 4 * 8, CFUNCTION, code_of(CALLEE_PROTO) + 5 * 4);
}

static void put_state (uint64_t leaf) {
  put_type(STATE, TG_JIT_THREAD);
  PUT(STATE, AT_STATE_SHARED, SHARED, 8);
  PUT(STATE, AT_STATE_STACK, STACK, 8);
  PUT(STATE, AT_STATE_LAST, LAST, 8);
  PUT(STATE, AT_STATE_BASE, leaf + 8, 8);
  PUT(STATE, AT_STATE_TOP, leaf + 3 * 8, 8);
  PUT(STATE, AT_STATE_ENTRY, ENTRY, 8);
  PUT(SHARED, AT_SHARED_CURRENT, STATE, 8);
  PUT(SHARED, AT_SHARED_DOES, UINT64_C(0xfffffffe), 4);  /* a C function */
  put(STACK, tagged(STATE, TG_JIT_THREAD), 8);
  put(STACK + 8, NIL, 8);
}

static void begin (void) {
  memset(image, 0, sizeof image);
  tg_memory_init(&memory, read_image);
  sight = tg_jitsight(&memory, &tg_jitlayouts[0]);
  put_function(CALLER, CALLER_PROTO, 10);
  put_function(CALLEE, CALLEE_PROTO, 30);
  put_type(CFUNCTION, TG_JIT_FUNCTION);
  PUT(CFUNCTION, AT_FUNCTION_KIND, 1, 1);
  put_state(put_frames());
}

#define MOST 100u

typedef struct Walked {
  tg_SeenFrame list[MOST];
  uint32_t count;
  tg_WalkEnd end;
  tg_SeenAbove above;
} Walked;

static bool walk_with (Walked *w, const tg_Registers *registers) {
  tg_SeenState state;
  w->count = 0;
  if (!tg_state_read(&sight, STATE, &state))
    return false;
  w->end = tg_walk_running(&sight, &state, registers, w->list, MOST, &w->count,
                           &w->above);
  return true;
}

static bool walk (Walked *w) {
  return walk_with(w, NULL);
}

static uint64_t slot_of_leaf (void) {
  return STACK + 15 * 8;
}

/* }================================================================== */

static void a_stack_is_told_as_it_is (void) {
  Walked w;
  begin();
  UNIT_CHECK(walk(&w));
  UNIT_CHECK(w.end == TG_WALK_WHOLE && w.count == 3);
  UNIT_CHECK(w.above.kind == TG_ABOVE_NOTHING);
  UNIT_CHECK(w.list[0].is_c && w.list[0].function.bits == CFUNCTION);
  UNIT_CHECK(w.list[1].code == CALLEE_PROTO && w.list[1].pc == 4);
  UNIT_CHECK(w.list[2].code == CALLER_PROTO && w.list[2].pc == 2);
  UNIT_CHECK(w.list[2].limit == w.list[1].slot);
  tg_memory_free(&memory);
}

static void extra_arguments_are_behind_the_parameters (void) {
  Walked w;
  begin();
  /* the callee's own frame becomes the holder of three values, one of which is
     its parameter; a copy of it is above */
  uint64_t holder = STACK + 11 * 8, copy = holder + 5 * 8;
  PUT(CALLEE_PROTO, AT_PROTO_FLAGS, 2, 1);
  PUT(CALLEE_PROTO, AT_PROTO_PARAMS, 1, 1);
  put_frame(copy, CALLEE, 5 * 8 | TG_JIT_LINK_EXTRA);
  put_state(copy);
  UNIT_CHECK(walk(&w) && w.end == TG_WALK_WHOLE && w.count == 2);
  UNIT_CHECK(w.list[0].extra == 2 && w.list[0].extras == holder + 2 * 8);
  UNIT_CHECK(w.list[1].code == CALLER_PROTO);
  tg_memory_free(&memory);
}

static void what_only_the_interpreter_knows_is_not_told (void) {
  Walked w;
  begin();
  PUT(SHARED, AT_SHARED_DOES, UINT64_C(0xffffffff), 4);
  UNIT_CHECK(walk(&w) && w.count == 0);
  UNIT_CHECK(w.above.kind == TG_ABOVE_UNKNOWN);
  tg_memory_free(&memory);
}

static void compiled_code_has_the_frame_it_was_entered_with (void) {
  Walked w;
  begin();
  PUT(SHARED, AT_SHARED_DOES, 7, 4);
  PUT(SHARED, AT_SHARED_TRACED, STACK + 12 * 8, 8);
  UNIT_CHECK(walk(&w) && w.count == 2 && w.list[0].code == CALLEE_PROTO);
  UNIT_CHECK(w.above.kind == TG_ABOVE_COMPILED && w.above.trace == 7);
  UNIT_CHECK(w.above.code == 0 && w.list[0].pc == -1);
  tg_memory_free(&memory);
}

/* A coroutine's stack begins with itself. */
static void what_is_no_coroutine_is_none (void) {
  Walked w;
  begin();
  put(STACK, tagged(STATE + 8, TG_JIT_THREAD), 8);
  UNIT_CHECK(!walk(&w) && sight.rejected[TG_REASON_STATE] == 1);
  tg_memory_free(&memory);
  begin();
  PUT(STATE, AT_STATE_LAST, STACK + (UINT64_C(1) << 40), 8);
  UNIT_CHECK(!walk(&w));
  tg_memory_free(&memory);
}

/* Each link that does not lead to a frame below, on the stack. */
static void links_that_lead_nowhere_end_the_walk (void) {
  static const uint64_t links[] = {
    TG_JIT_LINK_C, TG_JIT_LINK_PCALL,   /* to itself */
    UINT64_C(0xfffffffffffffff8) | TG_JIT_LINK_C,       /* up */
    0x7ff8 | TG_JIT_LINK_CONTINUED,     /* below the stack */
    0, 0x40, UINT64_C(0x7fff00000000)   /* no code is there */
  };
  for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
    Walked w;
    begin();
    put(STACK + 11 * 8, links[i], 8);
    memory.work = 0;
    UNIT_CHECK(walk(&w) && w.count <= 20);
    UNIT_CHECK(w.end == TG_WALK_TORN || i >= 4);
    UNIT_CHECK(memory.work < 1000);
    tg_memory_free(&memory);
  }
}

static void a_frame_without_a_function_ends_the_walk (void) {
  Walked w;
  begin();
  put(STACK + 10 * 8, tagged(TABLE, TG_JIT_TABLE), 8);
  UNIT_CHECK(walk(&w) && w.end == TG_WALK_TORN && w.count == 1);
  UNIT_CHECK(sight.rejected[TG_REASON_FUNCTION] == 1);
  tg_memory_free(&memory);
}

/* Entries on the C stack that lead to themselves. */
static void entries_in_a_circle_end (void) {
  Walked w;
  begin();
  PUT(ENTRY, AT_ENTRY_BEFORE, ENTRY, 8);
  PUT(ENTRY, AT_ENTRY_RESULTS, UINT64_C(0x80000000), 4);
  put(slot_of_leaf(), 4 * 8 | TG_JIT_LINK_C, 8);
  memory.work = 0;
  UNIT_CHECK(walk(&w) && memory.work < 50000);
  tg_memory_free(&memory);
}

/*
** {==================================================================
** Ticks: what registers say of these frames
** ===================================================================
*/

enum {
  TRACE = WHERE + 0x4800, SNAPS = WHERE + 0x4900, ENTRIES = WHERE + 0x4940,
  CONSTANTS = WHERE + 0x4980, FIRST = 0x7ff0,   /* of the constants */
  LIST = WHERE + 0x4a00,                        /* of traces */
  INTERPRETER = 0x400000, COMPILED = 0x500000, OWN_STACK = 16
};

#define BASE (STACK + UINT64_C(12) * 8) /* the callee's */

typedef struct Ticked {
  tg_Registers registers;
  tg_JitTick tick;
  tg_JitFit fit;
  tg_SeenFrame list[MOST];
  uint32_t count;
  uint64_t next;
} Ticked;

static void tick (Ticked *t, uint64_t pc, uint64_t base, uint64_t next) {
  static tg_JitTrace traces[] = {
    {COMPILED, COMPILED + 0x100, TRACE, SHARED, OWN_STACK}
  };
  static tg_Finds found = {.mains = {STATE}, .shareds = {SHARED},
                           .nstates = 1};
  tg_JitMachine m = {.low = INTERPRETER, .high = INTERPRETER + 0x1000,
                     .list = traces, .count = 1, .next_ns = UINT64_MAX};
  uint64_t stack = ENTRY - (pc >= COMPILED ? OWN_STACK : 0);
  tg_JitWords words = {&t->registers, image + (stack - WHERE), 0x80};
  memset(t, 0, sizeof *t);
  t->registers = (tg_Registers){.count = 15, .stack = stack, .pc = pc};
  t->registers.list[0] = next;
  t->registers.list[12] = base;
  tg_jittick_read(&m, &sight, &found, &words, &t->tick);
  t->fit = tg_jittick_walk(&sight, &t->tick, &words, t->list, MOST, &t->count,
                           &t->next);
}

static void begin_tick (void) {
  begin();
  PUT(SHARED, AT_SHARED_DOES, UINT64_C(0xffffffff), 4);
  PUT(ENTRY, AT_ENTRY_STATE, STATE, 8);
}

static void registers_tell_what_the_interpreter_runs (void) {
  Ticked t;
  begin_tick();
  tick(&t, INTERPRETER + 8, BASE, code_of(CALLEE_PROTO) + 4 * 4);
  UNIT_CHECK(t.tick.doing == TG_JIT_INTERPRETS && t.tick.state.at == STATE);
  UNIT_CHECK(t.fit == TG_JIT_FIT && t.count == 2);
  UNIT_CHECK(t.list[0].code == CALLEE_PROTO && t.list[0].pc == 3);
  UNIT_CHECK(t.list[1].code == CALLER_PROTO && t.list[1].pc == 2);
  tg_memory_free(&memory);
}

/* The instruction is another function's than the one that is there. */
static void callers_are_told_where_another_one_runs_by_now (void) {
  Ticked t;
  begin_tick();
  tick(&t, INTERPRETER + 8, BASE, WHERE + 0x7000);
  UNIT_CHECK(t.fit == TG_JIT_FIT_CALLED && t.next == WHERE + 0x7000);
  UNIT_CHECK(t.count == 1 && t.list[0].code == CALLER_PROTO);
  tg_memory_free(&memory);
}

/* On the way in or out the instruction is the caller's. */
static void half_a_call_is_the_callers (void) {
  Ticked t;
  begin_tick();
  tick(&t, INTERPRETER + 8, BASE, code_of(CALLER_PROTO) + 3 * 4);
  UNIT_CHECK(t.fit == TG_JIT_FIT && t.count == 1);
  UNIT_CHECK(t.list[0].code == CALLER_PROTO && t.list[0].pc == 2);
  tg_memory_free(&memory);
}

static void what_is_not_there_any_more_is_late (void) {
  Ticked t;
  begin_tick();
  put(BASE - 8, NIL, 8);
  tick(&t, INTERPRETER + 8, BASE, WHERE + 0x7000);
  UNIT_CHECK(t.fit == TG_JIT_FIT_LATE);
  tg_memory_free(&memory);
  begin_tick();                 /* a link behind what calls nobody */
  put(code_of(CALLER_PROTO) + 2 * 4, 18 + (4u << 8), 4);
  tick(&t, INTERPRETER + 8, BASE, code_of(CALLEE_PROTO) + 4 * 4);
  UNIT_CHECK(t.fit == TG_JIT_FIT_LATE);
  tg_memory_free(&memory);
}

/* An operation before each constant, which says what it is. */
static void put_constant (uint32_t n, uint32_t kind, uint64_t word) {
  uint64_t at = CONSTANTS + (n - FIRST) * UINT64_C(8);
  PUT(at, AT_OPERATION_KIND, kind, 1);
  put(at + 8, word, 8);
}

static void put_snap (uint32_t i, uint32_t offset, uint32_t first,
                      uint32_t count) {
  uint64_t at = SNAPS + i * (uint64_t)sight.jit->at[TG_JIT_SIZE_SNAP];
  PUT(at, AT_SNAP_MACHINE, offset, 2);
  PUT(at, AT_SNAP_FIRST, first, 4);
  PUT(at, AT_SNAP_COUNT, count, 1);
}

/* A trace of the callee: from 0x40 on, it is in the caller's function, which
   the callee has called from its slot 4, and which has been inlined. */
static void put_trace (void) {
  uint64_t call = code_of(CALLEE_PROTO) + 6 * 4;
  put(call - 4, 66 + (4u << 8), 4);
  put_type(TRACE, TG_JIT_TRACE);
  PUT(TRACE, AT_TRACE_MACHINE, COMPILED, 8);
  PUT(TRACE, AT_TRACE_SIZE, 0x100, 4);
  PUT(TRACE, AT_TRACE_SNAPS, SNAPS, 8);
  PUT(TRACE, AT_TRACE_NSNAPS, 2, 2);
  PUT(TRACE, AT_TRACE_ENTRIES, ENTRIES, 8);
  PUT(TRACE, AT_TRACE_NENTRIES, 6, 4);
  PUT(TRACE, AT_TRACE_CONSTANTS, CONSTANTS - FIRST * UINT64_C(8), 8);
  put_constant(FIRST, (uint32_t)sight.jit->at[TG_JIT_CONSTANT_OBJECT], CALLER);
  put_constant(FIRST + 2, (uint32_t)sight.jit->at[TG_JIT_CONSTANT_FLOAT],
               call);
  put_snap(0, 0, 0, 0);
  put(ENTRIES, (code_of(CALLEE_PROTO) + 2 * 4) << 8, 8);
  put_snap(1, 0x40, 2, 2);
  put(ENTRIES + 8, (UINT64_C(6) << 24) + FIRST, 4);
  put(ENTRIES + 12, (UINT64_C(7) << 24) + 0x10000 + FIRST + 2, 4);
  put(ENTRIES + 16, (code_of(CALLER_PROTO) + 4 * 4) << 8 | 6, 8);
  PUT(SHARED, AT_SHARED_DOES, 1, 4);
  PUT(SHARED, AT_SHARED_TRACED, BASE, 8);
}

static void compiled_code_has_the_frames_that_it_would_leave (void) {
  Ticked t;
  begin_tick();
  put_trace();
  tick(&t, COMPILED + 0x3f, 0, 0);
  UNIT_CHECK(t.tick.doing == TG_JIT_COMPILED && t.tick.offset == 0x3f);
  UNIT_CHECK(t.fit == TG_JIT_FIT && t.count == 2);
  UNIT_CHECK(t.list[0].code == CALLEE_PROTO && t.list[0].pc == 2);
  UNIT_CHECK(!t.list[0].inlined);
  tick(&t, COMPILED + 0x40, 0, 0);
  UNIT_CHECK(t.fit == TG_JIT_FIT && t.count == 3);
  UNIT_CHECK(t.list[0].code == CALLER_PROTO && t.list[0].pc == 4);
  UNIT_CHECK(t.list[0].inlined && t.list[0].function.bits == CALLER);
  UNIT_CHECK(t.list[1].code == CALLEE_PROTO && t.list[1].pc == 5);
  UNIT_CHECK(!t.list[1].inlined && t.list[2].code == CALLER_PROTO);
  tg_memory_free(&memory);
}

/* The same of a thread that stands still, by the trace's number. What the trace
   calls returns to the word below its part of the C stack. */
static void put_numbered (void) {
  put_trace();
  PUT(TRACE, AT_TRACE_NUMBER, 1, 2);
  PUT(TRACE, AT_TRACE_STACK, 8, 2);
  PUT(SHARED, AT_SHARED_TRACES, LIST, 8);
  PUT(SHARED, AT_SHARED_NTRACES, 2, 4);
  put(LIST + 8, TRACE, 8);
}

static void a_thread_that_stands_in_compiled_code_has_inlined_frames (void) {
  Walked w;
  uint64_t own = ENTRY - OWN_STACK - 8;
  tg_Registers r = {.stack = own, .pc = COMPILED + 0x40};
  begin_tick();
  put_numbered();
  UNIT_CHECK(walk_with(&w, &r) && w.end == TG_WALK_WHOLE && w.count == 3);
  UNIT_CHECK(w.above.kind == TG_ABOVE_COMPILED && w.above.slots == BASE);
  UNIT_CHECK(w.list[0].inlined && w.list[0].near && w.list[0].pc == 4);
  UNIT_CHECK(w.list[0].code == CALLER_PROTO && !w.list[1].inlined);
  UNIT_CHECK(w.list[1].code == CALLEE_PROTO && w.list[1].pc == 5);
  r.pc = COMPILED + 0x3f;
  UNIT_CHECK(walk_with(&w, &r) && w.count == 2 && w.list[0].pc == 2);
  r = (tg_Registers){.stack = own - 0x30, .pc = WHERE};
  put(own - 8, COMPILED + 0x41, 8);
  tg_memory_forget(&memory);
  UNIT_CHECK(walk_with(&w, &r) && w.count == 3 && w.list[0].inlined);
  tg_memory_free(&memory);
}

/* In no place of that trace, or on another stack: what memory says, and nothing
   is counted as impossible for it. */
static void where_a_trace_is_not_certain_is_not_told (void) {
  Walked w;
  uint64_t own = ENTRY - OWN_STACK - 8;
  tg_Registers wrong[] = {
    {.stack = own, .pc = COMPILED + 0x100}, {.stack = own, .pc = WHERE},
    {.stack = own + 8, .pc = COMPILED + 0x40}, {.stack = own - 8}, {.count = 15}
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    begin_tick();
    put_numbered();
    UNIT_CHECK(walk_with(&w, &wrong[i]) && w.count == 2);
    UNIT_CHECK(!w.list[0].near && !w.list[0].inlined);
    UNIT_CHECK(w.list[0].code == CALLEE_PROTO);
    UNIT_CHECK(sight.rejected[TG_REASON_CODE] == 0);
    tg_memory_free(&memory);
  }
}

/* Where the trace was entered is in a register, or still on the stack, when it
   has been left. */
static void a_trace_that_was_left_is_found_by_its_frame (void) {
  Ticked t;
  begin_tick();
  put_trace();
  PUT(SHARED, AT_SHARED_TRACED, 0, 8);
  tick(&t, COMPILED + 0x40, BASE, 0);
  UNIT_CHECK(t.fit == TG_JIT_FIT && t.count == 3);
  tick(&t, COMPILED + 0x40, 0, 0);
  UNIT_CHECK(t.fit == TG_JIT_FIT && t.count == 3);
  put(BASE - 16, tagged(CALLER, TG_JIT_FUNCTION), 8);
  tg_memory_forget(&memory);
  tick(&t, COMPILED + 0x40, BASE, 0);
  UNIT_CHECK(t.fit == TG_JIT_FIT_LATE);
  tg_memory_free(&memory);
}

/* Before March 2021 there is another number where the first one has 0. */
static void snapshots_of_an_older_one_are_not_misread (void) {
  tg_JitInlined x;
  begin_tick();
  put_trace();
  UNIT_CHECK(tg_jitinlined_read(&sight, TRACE, 0x40, &x));
  put_snap(0, 0x0302, 0, 0);
  tg_memory_forget(&memory);
  UNIT_CHECK(!tg_jitinlined_read(&sight, TRACE, 0x40, &x));
  tg_memory_free(&memory);
}

/* }================================================================== */

/*
** {==================================================================
** Values
** ===================================================================
*/

static void put_table (uint32_t slots, uint32_t mask) {
  put_type(TABLE, TG_JIT_TABLE);
  PUT(TABLE, AT_TABLE_ELEMENTS, slots, 4);
  PUT(TABLE, AT_TABLE_NODES, mask, 4);
  PUT(TABLE, AT_TABLE_ARRAY, ARRAY, 8);
  PUT(TABLE, AT_TABLE_NODE, NODES, 8);
}

static uint64_t number (double d) {
  uint64_t bits;
  memcpy(&bits, &d, sizeof bits);
  return bits;
}

static void a_table_has_its_entries_and_that_of_0 (void) {
  tg_SeenTable t;
  double sum = 0;
  int n = 0;
  begin();
  put_table(3, 0);
  put(ARRAY, number(100), 8);
  put(ARRAY + 8, number(1), 8);
  put(ARRAY + 16, tagged(UINT32_C(2), 13), 8);  /* an integer */
  put(NODES, number(4), 8);
  put(NODES + 8, number(-1), 8);
  tg_seen_traverse(&sight, TABLE, 100, &t);
  while (tg_seen_next(&sight, &t)) {
    sum += tg_seen_float(t.value);
    n++;
  }
  UNIT_CHECK(n == 4 && sum == 107);
  UNIT_CHECK(tg_seen_float(tg_seen_index(&sight, TABLE, 2)) == 2);
  tg_memory_free(&memory);
}

static void words_are_values_of_each_type (void) {
  static const struct { uint64_t word; tg_SeenType type; } words[] = {
    {NIL, TG_SEEN_NIL}, {~(UINT64_C(1) << 47), TG_SEEN_BOOLEAN},
    {0, TG_SEEN_NUMBER}, {UINT64_C(0xfff8000000000000), TG_SEEN_NUMBER},
    {UINT64_C(0x7ff0000000000000), TG_SEEN_NUMBER}
  };
  begin();
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    put(ARRAY, words[i].word, 8);
    tg_memory_forget(&memory);
    UNIT_CHECK(tg_seen_type(tg_seen_slot(&sight, ARRAY)) == words[i].type);
  }
  UNIT_CHECK(tg_seen_type(tg_seen_slot(&sight, 8)) == TG_SEEN_NIL);
  tg_memory_free(&memory);
}

static void impossible_sizes_are_refused (void) {
  tg_SeenTable t;
  tg_Buf text = {0};
  uint64_t whole;
  begin();
  put_table(0, UINT32_C(0xfffffffe));
  tg_seen_traverse(&sight, TABLE, UINT64_MAX, &t);
  UNIT_CHECK(!tg_seen_next(&sight, &t) && t.nodes == 0);
  put_type(STRING, TG_JIT_STRING);
  PUT(STRING, AT_STRING_SIZE, UINT32_C(0xfffffff0), 4);
  tg_memory_forget(&memory);
  UNIT_CHECK(!tg_seen_text(&sight, STRING, 100, &text, &whole));
  UNIT_CHECK(sight.rejected[TG_REASON_TABLE] == 1);
  UNIT_CHECK(sight.rejected[TG_REASON_STRING] == 1);
  tg_buf_free(&text);
  tg_memory_free(&memory);
}

/* Names without an end: bytes that are neither zero nor the end of a number. */
static void names_end (void) {
  tg_SeenProto p;
  tg_SeenNames names = {0};
  char name[64];
  begin();
  memset(image + 0x5000, 0xff, SIZE - 0x5000);
  PUT(CALLEE_PROTO, AT_PROTO_LOCALS, WHERE + 0x5000, 8);
  PUT(CALLEE_PROTO, AT_PROTO_UPVALUES, WHERE + 0x5000, 8);
  PUT(CALLEE_PROTO, AT_PROTO_NUPVALUES, 255, 1);
  UNIT_CHECK(tg_proto_read(&sight, CALLEE_PROTO, &p));
  memory.work = 0;
  while (tg_proto_next_local(&sight, &p, 3, &names, name, sizeof name))
    ;
  tg_proto_upvalue(&sight, &p, 254, name, sizeof name);
  UNIT_CHECK(memory.work < 200000);
  tg_memory_free(&memory);
}

static void lines_are_within_the_function (void) {
  tg_SeenProto p;
  begin();
  PUT(CALLEE_PROTO, AT_PROTO_LINES, ARRAY, 8);
  put(ARRAY, 3, 1);
  put(ARRAY + 1, 200, 1);
  UNIT_CHECK(tg_proto_read(&sight, CALLEE_PROTO, &p));
  UNIT_CHECK(tg_proto_line(&sight, &p, 0) == 30);
  UNIT_CHECK(tg_proto_line(&sight, &p, 1) == 33);
  UNIT_CHECK(tg_proto_line(&sight, &p, 2) == 0);
  UNIT_CHECK(tg_proto_line(&sight, &p, 8) == 0);
  tg_memory_free(&memory);
}

/* }================================================================== */

/* Words of all of it changed: into others that are there, their neighbours, and
   what is none. */
static void whatever_is_there_ends_soon (void) {
  static uint8_t good[SIZE];
  uint64_t seed = 1;
  begin_tick();
  put_numbered();
  memcpy(good, image, sizeof good);
  tg_memory_free(&memory);
  for (int round = 0; round < 3000; round++) {
    Walked w;
    Ticked t;
    begin();
    memcpy(image, good, sizeof good);
    for (uint32_t n = unit_random(&seed) % 8; n > 0; n--) {
      uint64_t at = unit_random(&seed) % (SIZE / 8 - 1) * 8;
      uint64_t word = WHERE + unit_random(&seed) % SIZE;
      if (unit_random(&seed) % 2 == 0)
        word = (uint64_t)unit_random(&seed) << (unit_random(&seed) % 32);
      at = (unit_random(&seed) % 2 == 0) ? at % 0x1100 : at;
      memcpy(image + at, &word, sizeof word);
    }
    tg_Registers r = {.stack = ENTRY - OWN_STACK - 8,
                      .pc = COMPILED + (uint64_t)round % 0x100};
    UNIT_CHECK(!walk(&w) || w.count <= MOST);
    UNIT_CHECK(!walk_with(&w, &r) || w.count <= MOST);
    UNIT_CHECK(memory.work < 400000);
    memory.work = 0;
    tick(&t, COMPILED + (uint64_t)round % 0x100, WHERE + 0x1000, WHERE);
    tick(&t, INTERPRETER, BASE, code_of(CALLEE_PROTO) + 4 * 4);
    UNIT_CHECK(t.count <= MOST && memory.work < 2000000);
    tg_memory_free(&memory);
  }
}

int main (void) {
  UNIT_RUN(a_stack_is_told_as_it_is);
  UNIT_RUN(extra_arguments_are_behind_the_parameters);
  UNIT_RUN(what_only_the_interpreter_knows_is_not_told);
  UNIT_RUN(compiled_code_has_the_frame_it_was_entered_with);
  UNIT_RUN(what_is_no_coroutine_is_none);
  UNIT_RUN(links_that_lead_nowhere_end_the_walk);
  UNIT_RUN(a_frame_without_a_function_ends_the_walk);
  UNIT_RUN(entries_in_a_circle_end);
  UNIT_RUN(registers_tell_what_the_interpreter_runs);
  UNIT_RUN(callers_are_told_where_another_one_runs_by_now);
  UNIT_RUN(half_a_call_is_the_callers);
  UNIT_RUN(what_is_not_there_any_more_is_late);
  UNIT_RUN(compiled_code_has_the_frames_that_it_would_leave);
  UNIT_RUN(a_thread_that_stands_in_compiled_code_has_inlined_frames);
  UNIT_RUN(where_a_trace_is_not_certain_is_not_told);
  UNIT_RUN(a_trace_that_was_left_is_found_by_its_frame);
  UNIT_RUN(snapshots_of_an_older_one_are_not_misread);
  UNIT_RUN(a_table_has_its_entries_and_that_of_0);
  UNIT_RUN(words_are_values_of_each_type);
  UNIT_RUN(impossible_sizes_are_refused);
  UNIT_RUN(names_end);
  UNIT_RUN(lines_are_within_the_function);
  UNIT_RUN(whatever_is_there_ends_soon);
  return UNIT_END();
}
