/* running.c - see running.h. */
#include "jit/running.h"

#include "jit/frames.h"
#include "jit/machine.h"
#include "jit/values.h"
#include "outside/proto.h"
#include "outside/value.h"

/* What g->vmstate says runs; from 0 on it is a trace's number (lj_obj.h). */
enum { INTERPRETER = -1, C_FUNCTION = -2, LEAVES_TRACE = -4 };

static int32_t does (tg_Sight *s, const tg_SeenState *state) {
  return (int32_t)tg_jit_half(s, state->shared, AT_SHARED_DOES);
}

static bool is_current (tg_Sight *s, const tg_SeenState *state) {
  return state->jump != 0
         && tg_jit_word(s, state->shared, AT_SHARED_CURRENT) == state->at;
}

static void give_up (tg_JitRunning *r) {
  r->frame = 0;
  r->above.kind = TG_ABOVE_UNKNOWN;
}

/* The prototype of a frame's function; false: it is C, or none. */
static bool proto_of (tg_Sight *s, uint64_t frame, tg_SeenProto *p) {
  uint64_t code;
  bool known;
  bool is_c = tg_seen_is_c(s, tg_jitframes_function(s, frame), &code, &known);
  return known && !is_c && tg_proto_read(s, code, p);
}

static bool owns (tg_Sight *s, uint64_t frame, uint64_t next) {
  tg_SeenProto p;
  int32_t pc;
  return next % 4 == 0 && proto_of(s, frame, &p)
         && tg_proto_owns(&p, next, &pc);
}

/*
** {==================================================================
** Compiled code
** ===================================================================
*/

static void find_beginning (tg_Sight *s, uint64_t trace, tg_SeenAbove *above) {
  tg_SeenProto p;
  uint64_t code = tg_jit_word(s, trace, AT_TRACE_PROTO);
  uint64_t first = tg_jit_word(s, trace, AT_TRACE_CODE);
  if (!tg_proto_read(s, code, &p) || !tg_proto_owns(&p, first + 4, &above->pc))
    return;
  above->code = code;
}

/* Functions that the trace has inlined have no frames, and where it is inside
   of its function is not known but for its beginning. */
static void find_compiled (tg_Sight *s, const tg_SeenState *state,
                           tg_JitRunning *r) {
  tg_SeenProto p;
  uint64_t base = r->above.slots;
  uint32_t n = (uint32_t)does(s, state);
  tg_JitTrace trace;
  if (!tg_jitframes_may_run(s, state, base - TG_JIT_SLOT)) {
    give_up(r);
    return;
  }
  r->frame = base - TG_JIT_SLOT;
  r->above.kind = TG_ABOVE_COMPILED;
  r->above.trace = n;
  if (tg_jitmachine_numbered(s, state->shared, n, &trace))
    find_beginning(s, trace.at, &r->above);
  if (r->above.code != 0 && proto_of(s, r->frame, &p)
      && p.at == r->above.code) {
    r->next = p.code + 4u * ((uint64_t)(uint32_t)r->above.pc + 1);
    r->stale = true;
  }
}

/* }================================================================== */

/*
** {==================================================================
** The interpreter
** ===================================================================
*/

/* Which register has what on x86-64 (vm_x64.dasc), by their places in
   tg_Registers: rbx, r14 and rdx; the first six are preserved by C. */
enum { AT_NEXT = 0, AT_TABLE = 4, AT_BASE = 12, PRESERVED = 6 };

#define TABLE_MOST 0x4000u      /* from global_State to its table */
#define HELPERS 57u             /* fast functions behind (lj_dispatch.h) */
#define AROUND 4096u            /* machine code before and behind all that */

/* The interpreter's table of machine code for instructions is behind the
   global_State, and one register is for it. Whether the thread is inside of
   that code. */
static bool is_inside (tg_Sight *s, const tg_SeenState *state,
                       const tg_Registers *registers) {
  uint64_t table = registers->list[AT_TABLE];
  uint32_t n = (uint32_t)tg_jit_row(s, OP_FUNCC) + 2 + HELPERS;
  uint64_t low = UINT64_MAX, high = 0;
  if (table - state->shared >= TABLE_MOST || table % 8 != 0)
    return false;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t code = tg_memory_word(s->memory, table + 8u * (uint64_t)i);
    low = (code < low) ? code : low;
    high = (code > high) ? code : high;
  }
  const tg_Map *map = tg_maps_find(&s->memory->maps, low);
  return map != NULL && (map->flags & TG_MAP_RUN) != 0 && high < map->end
         && registers->pc + AROUND >= low && registers->pc < high + AROUND;
}

static bool find_inside (tg_Sight *s, const tg_SeenState *state,
                         const tg_Registers *registers, tg_JitRunning *r) {
  uint64_t frame = registers->list[AT_BASE] - TG_JIT_SLOT;
  if (!is_inside(s, state, registers)
      || !tg_jitframes_may_run(s, state, frame))
    return false;
  r->frame = frame;
  r->next = registers->list[AT_NEXT];
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** What the interpreter calls
** ===================================================================
*/

#define WORDS 512u              /* of the C stack, looked at */

/* Words that C functions which the interpreter has called were told to
   preserve: registers, and the C stack up to the interpreter's own frame. */
typedef struct Words {
  uint64_t list[PRESERVED + WORDS];
  uint32_t count;
} Words;

static void gather (tg_Sight *s, const tg_SeenState *state,
                    const tg_Registers *registers, Words *w) {
  w->count = 0;
  for (uint32_t i = 0; i < PRESERVED && i < registers->count; i++)
    w->list[w->count++] = registers->list[i];
  uint64_t at = registers->stack & ~UINT64_C(7);
  for (uint32_t i = 0; i < WORDS && at < state->jump; i++, at += 8)
    w->list[w->count++] = tg_memory_word(s->memory, at);
}

static bool owns_any (tg_Sight *s, uint64_t frame, const Words *w,
                      uint64_t *next) {
  tg_SeenProto p;
  int32_t pc;
  if (!proto_of(s, frame, &p))
    return false;
  for (uint32_t i = 0; i < w->count; i++) {
    if (w->list[i] % 4 == 0 && w->list[i] != p.code
        && tg_proto_owns(&p, w->list[i], &pc)) {
      *next = w->list[i];
      return true;
    }
  }
  return false;
}

/* A frame of a Lua function whose instruction is among them, too. */
static bool find_called (tg_Sight *s, const tg_SeenState *state,
                         const tg_Registers *registers, tg_JitRunning *r) {
  Words w;
  gather(s, state, registers, &w);
  for (uint32_t i = 0; i < w.count; i++) {
    uint64_t frame = w.list[i] - TG_JIT_SLOT;
    if (tg_jitframes_may_run(s, state, frame)
        && owns_any(s, frame, &w, &r->next)) {
      r->frame = frame;
      return true;
    }
  }
  return false;
}

/* }================================================================== */

/* What the interpreter writes down before it calls what may look at frames: the
   frame, and the instruction, which of a fast function is its caller's. */
static bool find_saved (tg_Sight *s, const tg_SeenState *state,
                        tg_JitRunning *r) {
  tg_JitFrame f;
  uint64_t saved = tg_jit_word(s, state->jump, AT_ENTRY_CODE);
  if (owns(s, r->frame, saved)) {
    r->next = saved;
    r->stale = true;
    return true;
  }
  return tg_jitframes_read(s, state, r->frame, &f)
         && f.kind == TG_JIT_LINK_LUA && f.link == saved;
}

static void find_interpreted (tg_Sight *s, const tg_SeenState *state,
                              const tg_Registers *registers,
                              tg_JitRunning *r) {
  bool known = registers != NULL && registers->count > AT_BASE;
  if (known && (find_inside(s, state, registers, r)
                || find_called(s, state, registers, r)))
    return;
  if (!known || !find_saved(s, state, r))
    give_up(r);
}

void tg_jitrunning_find (tg_Sight *s, const tg_SeenState *state,
                         const tg_Registers *registers, tg_JitRunning *r) {
  int32_t what = does(s, state);
  *r = (tg_JitRunning){.frame = state->frame};
  r->above.pc = -1;
  if (!is_current(s, state) || what == C_FUNCTION) {
    r->exact = true;
    return;
  }
  r->above.slots = tg_jit_word(s, state->shared, AT_SHARED_TRACED);
  if (what >= 0)
    find_compiled(s, state, r);
  else if (what == INTERPRETER)
    find_interpreted(s, state, registers, r);
  else if (what == LEAVES_TRACE)
    give_up(r);
  else                          /* the collector, the compiler */
    find_saved(s, state, r);
}
