/* proof.c - see proof.h. */
#include "outside/proof.h"

#include <string.h>

#include "outside/proto.h"
#include "outside/walk.h"

#define LOOKS 4                 /* at what may be on the move */
#define COROUTINES 64u          /* looked at, */
#define SLOTS 256u              /* slots of each, */
#define FRAMES 32u              /* and frames */
#define ENTRIES 1000u           /* of a table */

/* How often something was as it must be, and how often not. */
typedef struct Tally {
  uint32_t good, bad;
} Tally;

/* ---- strings, tables, numbers ---- */

/* The first of the metamethods has the same name in all releases (ltm.c). */
static bool has_names (tg_Sight *s, uint64_t shared) {
  char name[16];
  uint64_t list = shared + (uint64_t)tg_sight_row(s, AT_SHARED_EVENTS);
  return tg_seen_name(s, tg_memory_word(s->memory, list), name, sizeof name)
         && strcmp(name, "__index") == 0;
}

/* From 5.2 on the registry has the globals at 2 (LUA_RIDX_GLOBALS). */
static bool has_globals (tg_Sight *s, uint64_t registry,
                         tg_SeenValue *globals) {
  *globals = tg_seen_index(s, registry, 2);
  return s->release < 50200 || tg_seen_type(*globals) == TG_SEEN_TABLE;
}

/* Whether keys are strings or of other types, and not of none; and what is its
   metatable, a table. */
static bool is_usual_table (tg_Sight *s, uint64_t table) {
  tg_SeenTable t;
  Tally keys = {0, 0};
  char name[8];
  uint64_t meta = tg_seen_metatable(s, 0, (tg_SeenValue){table,
                                                         TG_SEEN_TABLE});
  tg_seen_traverse(s, table, ENTRIES, &t);
  t.i = t.elements;
  while (tg_seen_next(s, &t)) {
    tg_SeenType type = tg_seen_type(t.key);
    bool named = type == TG_SEEN_STRING
                 && tg_seen_name(s, t.key.bits, name, sizeof name);
    if (type == TG_SEEN_NIL || (type == TG_SEEN_STRING && !named))
      keys.bad++;
    else
      keys.good++;
  }
  return keys.bad <= keys.good / 8
         && (meta == 0 || tg_seen_is_table(s, meta));
}

/* In 5.4 the library "package" keeps what it has loaded in a table with a
   finalizer (createclibstable of loadlib.c). Of other releases no table is
   known to have a metatable. */
static bool has_metatables (tg_Sight *s, uint64_t registry) {
  tg_SeenValue loaded = tg_seen_field(s, registry, "_CLIBS");
  if (s->release / 100 != 504 || tg_seen_type(loaded) != TG_SEEN_TABLE)
    return true;
  uint64_t meta = tg_sight_word(s, loaded.bits, AT_TABLE_META);
  return tg_seen_type(tg_seen_field(s, meta, "__gc")) == TG_SEEN_FUNCTION;
}

static bool has_usual_tables (tg_Sight *s, uint64_t shared) {
  tg_SeenValue globals;
  uint64_t registry = tg_state_registry(s, shared);
  return has_globals(s, registry, &globals) && is_usual_table(s, registry)
         && has_metatables(s, registry)
         && (tg_seen_type(globals) != TG_SEEN_TABLE
             || is_usual_table(s, globals.bits));
}

/* package.loaded.math.pi; a host may have left it out. */
static bool has_usual_numbers (tg_Sight *s, uint64_t shared) {
  static const char *const path[] = {"_LOADED", "math", "pi"};
  tg_SeenValue v = {tg_state_registry(s, shared), TG_SEEN_TABLE};
  for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
    if (tg_seen_type(v) != TG_SEEN_TABLE)
      return true;
    v = tg_seen_field(s, v.bits, path[i]);
  }
  return tg_seen_type(v) != TG_SEEN_NUMBER
         || tg_seen_float(v) == 3.14159265358979323846;
}

/* A file is a userdata whose metatable the registry has (luaL_newmetatable).
   What the program has put there instead says nothing. */
static bool has_usual_userdata (tg_Sight *s, uint64_t shared) {
  uint64_t registry = tg_state_registry(s, shared);
  tg_SeenValue meta = tg_seen_field(s, registry, "FILE*");
  tg_SeenValue loaded = tg_seen_field(s, registry, "_LOADED");
  if (tg_seen_type(loaded) != TG_SEEN_TABLE
      || tg_seen_type(meta) != TG_SEEN_TABLE)
    return true;
  tg_SeenValue io = tg_seen_field(s, loaded.bits, "io");
  if (tg_seen_type(io) != TG_SEEN_TABLE)
    return true;
  tg_SeenValue file = tg_seen_field(s, io.bits, "stdout");
  return tg_seen_type(file) != TG_SEEN_USERDATA
         || tg_seen_metatable(s, shared, file) == meta.bits;
}

/* ---- functions and frames ---- */

/* Every function ends with a return, and has a step of lines for each
   instruction, or none (lcode.c, luaK_finish; lparser.c, close_func). */
static bool is_function (tg_Sight *s, uint64_t at) {
  tg_SeenProto p;
  if (!tg_proto_read(s, at, &p))
    return false;
  uint32_t lines = tg_sight_half(s, at, AT_PROTO_NLINES);
  uint32_t last = tg_proto_code(s, &p, (int32_t)p.ncode - 1)
                  & (uint32_t)tg_sight_row(s, CODE_KIND);
  return (lines == 0 || lines == p.ncode)
         && last >= (uint32_t)tg_sight_row(s, OP_RETURN)
         && last <= (uint32_t)tg_sight_row(s, OP_RETURN) + 2;
}

static void count_functions (tg_Sight *s, const tg_SeenState *state,
                             Tally *t) {
  uint64_t slot = state->stack;
  for (uint32_t i = 0; i < SLOTS && slot < state->top; i++, slot += 16) {
    uint64_t code;
    bool known;
    tg_SeenValue v = tg_seen_slot(s, slot);
    if (tg_seen_type(v) != TG_SEEN_FUNCTION
        || tg_seen_is_c(s, v, &code, &known) || !known)
      continue;
    if (is_function(s, code))
      t->good++;
    else
      t->bad++;
  }
}

static void count_frames (tg_Sight *s, const tg_SeenState *state, Tally *t) {
  tg_SeenFrame list[FRAMES];
  uint32_t n;
  if (!tg_state_has_frames(state))
    return;
  if (tg_walk(s, state, list, FRAMES, &n) == TG_WALK_TORN || n == 0)
    t->bad++;
  else
    t->good++;
}

static void count_coroutine (tg_Sight *s, uint64_t at, Tally *functions,
                             Tally *frames) {
  tg_SeenState state;
  if (!tg_state_read(s, at, &state))
    return;
  count_functions(s, &state, functions);
  count_frames(s, &state, frames);
}

static bool is_wrong (const Tally *t) {
  return t->bad > 0 && t->good == 0;
}

static const char *object_to_stacks (tg_Sight *s, const tg_Finds *found) {
  Tally functions = {0, 0}, frames = {0, 0};
  for (uint32_t i = 0; i < found->nstates; i++)
    count_coroutine(s, found->mains[i], &functions, &frames);
  for (uint32_t i = 0; i < found->count && i < COROUTINES; i++)
    count_coroutine(s, found->list[i].at, &functions, &frames);
  if (is_wrong(&functions))
    return "its functions";
  return is_wrong(&frames) ? "its frames" : NULL;
}

const char *tg_outside_objection_to_values (tg_Sight *s, uint64_t shared) {
  if (!has_usual_tables(s, shared))
    return "its tables";
  if (!has_usual_numbers(s, shared))
    return "its numbers (LUA_32BITS, or others)";
  return has_usual_userdata(s, shared) ? NULL : "its userdata";
}

const char *tg_outside_objection (tg_Sight *s, const tg_Finds *found) {
  const char *objection = NULL;
  for (uint32_t i = 0; i < found->nstates; i++) {
    if (!has_names(s, found->shareds[i]))
      return "its strings";
    objection = tg_outside_objection_to_values(s, found->shareds[i]);
    if (objection != NULL)
      return objection;
  }
  for (int i = 0; i < LOOKS; i++) {
    objection = object_to_stacks(s, found);
    if (objection == NULL)
      return NULL;
    tg_memory_refresh(s->memory);
  }
  return objection;
}
