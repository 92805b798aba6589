/* proof.c - see proof.h. */
#include "jit/proof.h"

#include <string.h>

#include "jit/states.h"
#include "jit/values.h"
#include "outside/proof.h"
#include "outside/proto.h"
#include "outside/state.h"
#include "outside/value.h"

#define LOOKS 4                 /* at what may be on the move */
#define COROUTINES 64u          /* looked at, */
#define SLOTS 256u              /* and slots of each */
#define TRACES_MOST 65536u
#define TRACES_READ 64u

static bool is_string (tg_Sight *s, uint64_t string, const char *text) {
  char name[16];
  return tg_seen_name(s, string, name, sizeof name) && strcmp(name, text) == 0;
}

static bool has_empty_string (tg_Sight *s, uint64_t shared) {
  return is_string(s, shared + (uint64_t)tg_jit_row(s, AT_SHARED_EMPTY), "");
}

/* In their order (lj_obj.h, MMDEF). */
static bool has_names (tg_Sight *s, uint64_t shared) {
  static const char *const names[] = {
    "__index", "__newindex", "__gc", "__mode", "__eq", "__len", "__lt",
    "__le", "__concat", "__call", "__add", "__sub", "__mul", "__div",
    "__mod", "__pow", "__unm", "__metatable", "__tostring"
  };
  uint64_t list = shared + (uint64_t)tg_jit_row(s, AT_SHARED_EVENTS);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (!is_string(s, tg_memory_word(s->memory, list + 8 * i), names[i]))
      return false;
  }
  return true;
}

static bool has_instructions (tg_Sight *s, uint64_t shared) {
  return tg_jit_op(tg_jit_half(s, shared, AT_SHARED_CCALL))
         == tg_jit_row(s, OP_FUNCC);
}

/* What runs, or ran last. */
static bool has_current (tg_Sight *s, uint64_t shared) {
  tg_SeenState state;
  uint64_t at = tg_jit_word(s, shared, AT_SHARED_CURRENT);
  return at != 0 && tg_state_read(s, at, &state) && state.shared == shared;
}

/* Each trace has its number; without the compiler, or before the first one,
   there is no array. */
static bool has_traces (tg_Sight *s, uint64_t shared) {
  uint64_t list = tg_jit_word(s, shared, AT_SHARED_TRACES);
  uint32_t n = tg_jit_half(s, shared, AT_SHARED_NTRACES);
  if (list == 0 || n == 0)
    return list == 0 && n == 0;
  if (n > TRACES_MOST || list % 8 != 0)
    return false;
  for (uint32_t i = 1; i < n && i < TRACES_READ; i++) {
    uint64_t trace = tg_memory_word(s->memory, list + 8u * (uint64_t)i);
    if (trace != 0
        && (!tg_jit_is(s, trace, TG_JIT_TRACE)
            || (tg_jit_half(s, trace, AT_TRACE_NUMBER) & 0xffff) != i))
      return false;
  }
  return true;
}

/* ---- functions ---- */

static bool begins_well (tg_Sight *s, uint64_t proto) {
  tg_SeenProto p;
  if (!tg_proto_read(s, proto, &p))
    return false;
  int32_t op = tg_jit_op(tg_proto_code(s, &p, 0));
  return op >= tg_jit_row(s, OP_FUNCF) && op < tg_jit_row(s, OP_FUNCC);
}

static void count_functions (tg_Sight *s, uint64_t at, uint32_t *good,
                             uint32_t *bad) {
  tg_SeenState state;
  uint64_t code;
  bool known;
  if (!tg_state_read(s, at, &state))
    return;
  uint64_t slot = state.stack;
  for (uint32_t i = 0; i < SLOTS && slot < state.top; i++) {
    tg_SeenValue v = tg_jitvalues_at(s, slot);
    slot += TG_JIT_SLOT;
    if (tg_seen_type(v) != TG_SEEN_FUNCTION
        || tg_seen_is_c(s, v, &code, &known) || !known)
      continue;
    if (begins_well(s, code))
      (*good)++;
    else
      (*bad)++;
  }
}

static bool has_functions (tg_Sight *s, const tg_Finds *found) {
  uint32_t good = 0, bad = 0;
  for (uint32_t i = 0; i < found->nstates; i++)
    count_functions(s, found->mains[i], &good, &bad);
  for (uint32_t i = 0; i < found->count && i < COROUTINES; i++)
    count_functions(s, found->list[i].at, &good, &bad);
  return bad == 0 || good > 0;
}

/* ---- all of it ---- */

static const char *object_to (tg_Sight *s, uint64_t shared) {
  if (!has_empty_string(s, shared))
    return "its strings";
  if (!has_names(s, shared))
    return "its names of metamethods";
  if (!has_instructions(s, shared))
    return "its instructions";
  if (!has_current(s, shared))
    return "its coroutines";
  if (!has_traces(s, shared))
    return "its traces";
  return tg_outside_objection_to_values(s, shared);
}

static const char *object (tg_Sight *s, const tg_Finds *found) {
  for (uint32_t i = 0; i < found->nstates; i++) {
    const char *objection = object_to(s, found->shareds[i]);
    if (objection != NULL)
      return objection;
  }
  return has_functions(s, found) ? NULL : "its functions";
}

const char *tg_jit_objection (tg_Sight *s, const tg_Finds *found) {
  const char *objection = NULL;
  for (int i = 0; i < LOOKS; i++) {
    objection = object(s, found);
    if (objection == NULL)
      return NULL;
    tg_memory_refresh(s->memory);
  }
  return objection;
}
