/*
** glance.c - see glance.h. All in a signal handler, but for tg_glance_begin.
*/
#include "sample/glance.h"

#include <unistd.h>

#include "chain/callee.h"
#include "direct/collector.h"
#include "direct/cstack.h"
#include "direct/hookfield.h"
#include "direct/proof.h"
#include "host/builtins.h"
#include "host/ownfunctions.h"
#include "host/running.h"
#include "signal/mapped.h"
#include "signal/stackend.h"

void tg_glance_begin (tg_Glancer *g, lua_State *L) {
  bool readable = tg_proof_holds(L) && tg_cstack_known();
  g->stack_end = readable ? tg_stackend() : 0;
  g->process = (int)getpid();
}

void tg_glance_forked (tg_Glancer *g) {
  g->process = (int)getpid();
}

/*
** {==================================================================
** One frame
** ===================================================================
*/

/* A Lua function's instructions; none of a C function. */
typedef struct Code {
  const void *proto;
  uintptr_t begin, end;
} Code;

static Code code_of (tg_Slot f) {
  if (tg_slot_variant(f) != TG_TAG_LUA)
    return (Code){NULL, 0, 0};
  const void *proto = tg_function_proto(f);
  uintptr_t begin = (uintptr_t)tg_read_pointer(proto, TG_AT_PROTO_CODE);
  return (Code){proto, begin,
                begin + 4 * (uintptr_t)tg_read32(proto, TG_AT_PROTO_NCODE)};
}

/* Where the next instruction is, one is behind its beginning. */
static bool has (const Code *c, uintptr_t next) {
  return next >= c->begin && next <= c->end && (next - c->begin) % 4 == 0;
}

static uint32_t line_at (const Code *c, uintptr_t next) {
  int pc = (next > c->begin) ? (int)((next - c->begin) / 4) - 1 : 0;
  int line = tg_proto_line(c->proto, pc);
  return line > 0 ? (uint32_t)line : 0;
}

static uintptr_t saved_next (const void *ci) {
  return (uintptr_t)tg_read_pointer(ci, TG_AT_FRAME_NEXT);
}

/* The slots in use of a stack that is not being moved. */
typedef struct Slots {
  const uint8_t *begin, *end;
} Slots;

static Slots slots_of (const lua_State *L) {
  return (Slots){tg_read_pointer(L, tg_direct_facts.stack),
                 tg_read_pointer(L, TG_AT_STATE_TOP)};
}

/* Also of a coroutine that has resumed another one: the collector makes stacks
   smaller. */
static bool has_slots (const tg_Glancer *g, Slots all) {
  return all.begin < all.end
         && tg_mapped_both(g->process, all.begin, all.end - TG_SIZE_SLOT);
}

/* Whether an object says that it is what the slot has it for. */
static bool has_tag (const uint8_t *object, int variant) {
  return (tg_read8(object, TG_AT_OBJECT_TAG) & TG_TAG_VARIANT) == variant;
}

#define CLOSURE_SIZE (TG_AT_CLOSURE_FUNCTION + sizeof(void *))
#define PROTO_SIZE (TG_AT_OBJECT_TAG + 1u)

/* Whether a prototype is there. */
static bool is_proto (const tg_Glancer *g, const void *proto) {
  uint8_t bytes[PROTO_SIZE];
  return tg_mapped_copy(g->process, bytes, (tg_MappedPart){proto, PROTO_SIZE},
                        (tg_MappedPart){NULL, 0}) == PROTO_SIZE
         && has_tag(bytes, TG_TAG_PROTO);
}

/* Whether a slot that says so has a function: that of the innermost frame may
   be about to get a result, whose value is there before its tag is. Its
   prototype is mostly that of the tick before, and is read with it. */
static bool is_whole (tg_Glancer *g, tg_Slot f) {
  uint8_t bytes[CLOSURE_SIZE + PROTO_SIZE];
  if (tg_slot_variant(f) == TG_TAG_LIGHTC)
    return true;
  size_t n = tg_mapped_copy(g->process, bytes,
                            (tg_MappedPart){f.u.p, CLOSURE_SIZE},
                            (tg_MappedPart){g->proto, PROTO_SIZE});
  if (n < CLOSURE_SIZE || !has_tag(bytes, tg_slot_variant(f)))
    return false;
  if (tg_slot_variant(f) == TG_TAG_C)
    return true;
  const void *proto = tg_read_pointer(bytes, TG_AT_CLOSURE_FUNCTION);
  if (proto == g->proto)
    return n == sizeof bytes && has_tag(bytes + CLOSURE_SIZE, TG_TAG_PROTO);
  if (!is_proto(g, proto))
    return false;
  g->proto = proto;
  return true;
}

/* The frame's function, which may have no frame any more, or not yet, if that
   is the innermost one: false. */
static bool function_of (const void *ci, Slots all, tg_Slot *f) {
  const uint8_t *slot = tg_frame_slot(ci);
  if (slot < all.begin || slot >= all.end
      || (size_t)(slot - all.begin) % TG_SIZE_SLOT != 0)
    return false;
  *f = tg_read_slot(slot, 0);
  bool lua = tg_slot_variant(*f) == TG_TAG_LUA;
  return tg_slot_type(*f) == LUA_TFUNCTION && lua != tg_frame_is_c(ci);
}

/* Whether the frame has come to an instruction of its function. */
static bool is_under_way (const void *ci, tg_Slot f) {
  Code c = code_of(f);
  return c.proto == NULL || has(&c, saved_next(ci));
}

/* }================================================================== */

/*
** {==================================================================
** The innermost frame
** ===================================================================
*/

/*
** The interpreter has the next instruction in a register, and saves it in the
** frame only before it calls (lvm.c, savepc). Which register that is the
** compiler has chosen; others may have pointed to an instruction before: the
** one that has done so most often is believed.
*/
static uintptr_t next_of (tg_Glancer *g, const Code *c, const void *ci,
                          const void *context) {
  uintptr_t registers[TG_REGISTERS_MAX];
  int n = tg_struck_registers(context, registers), best = -1;
  for (int i = 0; i < n; i++) {
    if (!has(c, registers[i]))
      continue;
    g->votes[i]++;
    if (best < 0 || g->votes[i] > g->votes[best])
      best = i;
  }
  return (best >= 0) ? registers[best] : saved_next(ci);
}

/* Whether the thread that was struck runs it, and its stack is there. */
static bool is_readable (const tg_Glancer *g, const lua_State *L,
                         const void *context) {
  return tg_cstack_runs(L, tg_struck_stack(context), g->stack_end)
         && has_slots(g, slots_of(L));
}

/* A full cycle is made of many steps, and between two of them nothing says that
   the collector works: but all that collectgarbage does takes no time beside. A
   finalizer has a frame of its own. */
static bool collects (const lua_State *L, tg_Slot function) {
  const void *full = (const void *)(uintptr_t)tg_real_collectgarbage;
  return tg_collector_runs(L)
         || (tg_collector_tells() && tg_slot_cfunction(function) == full);
}

bool tg_glance_leaf (tg_Glancer *g, const tg_Session *s, const void *context,
                     tg_Leaf *leaf) {
  const lua_State *L = (g->stack_end != 0) ? tg_running_top(&s->host) : NULL;
  leaf->L = NULL;
  leaf->moves = leaf->traced = false;
  if (L == NULL || tg_struck_stack(context) == 0
      || !is_readable(g, L, context))
    return false;
  leaf->ci = tg_direct_running(L);
  if (tg_read_pointer(leaf->ci, TG_AT_FRAME_CALLER) == NULL   /* the host's */
      || !function_of(leaf->ci, slots_of(L), &leaf->function)
      || !is_whole(g, leaf->function))
    return false;
  leaf->moves = !is_under_way(leaf->ci, leaf->function);
  if (leaf->moves)
    return false;
  Code c = code_of(leaf->function);
  leaf->line = (c.proto == NULL)
               ? 0 : line_at(&c, next_of(g, &c, leaf->ci, context));
  leaf->collects = collects(L, leaf->function);
  leaf->L = L;
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** All frames
** ===================================================================
*/

/* For what is not added from here, the list is full. */
static bool add (tg_StackWalk *w, const void *ci, uint32_t function,
                 uint32_t line) {
  if (w->n == w->capacity)
    return false;
  w->list[w->n++] = (tg_WalkedFrame){ci, function, line};
  return true;
}

/* A place at which a Lua function of this tick's stack waits for what it has
   called: a deep stack is a recursion, whose frames wait at a few places. */
typedef struct Place {
  const void *proto;            /* NULL: none */
  uintptr_t next;
  uint32_t function, line;      /* as in the list */
} Place;

#define PLACES 8u

/* What is looked at, and for whom. */
typedef struct Look {
  const tg_Glancer *g;
  tg_StackWalk *w;
  const tg_Session *s;
  tg_Leaf *leaf;
  tg_Strangers strangers;
  Place places[PLACES];         /* that are found out, by their instruction */
} Look;

/* A function of which nothing is known; a Lua function is left out. False: then
   nothing may be. */
static bool add_stranger (const Look *k, const void *ci, tg_Slot f) {
  const void *cfunction = tg_slot_cfunction(f);
  if (k->strangers.function == 0 || cfunction == NULL)
    return k->strangers.function != 0;
  uint32_t id = tg_ownfunctions_code(cfunction) ? 0 : k->strangers.function;
  return add(k->w, ci, id | TG_FR_C, 0);
}

static bool add_leaf (const Look *look) {
  tg_Leaf *leaf = look->leaf;
  const tg_Closure *k = tg_callee_seen(look->s, leaf->function);
  if (k == NULL)
    return add_stranger(look, leaf->ci, leaf->function);
  leaf->traced = !(k->what & TG_FR_HIDDEN);
  return add(look->w, leaf->ci, tg_stackwalk_entry(k->what), leaf->line);
}

/* Of a Lua function that is known 'place' has what was found out. */
static bool add_caller (const Look *look, const void *ci, tg_Slot f,
                        Place *place) {
  if (!is_under_way(ci, f))
    return false;
  const tg_Closure *k = tg_callee_seen(look->s, f);
  if (k == NULL)
    return add_stranger(look, ci, f);
  Code c = code_of(f);
  uintptr_t next = saved_next(ci);
  uint32_t line = c.proto != NULL ? line_at(&c, next) : 0;
  uint32_t function = tg_stackwalk_entry(k->what);
  if (c.proto != NULL)
    *place = (Place){c.proto, next, function, line};
  return add(look->w, ci, function, line);
}

static bool add_frame (Look *look, const void *ci, Slots all) {
  tg_Slot f;
  if (ci == look->leaf->ci)
    return add_leaf(look);
  if (!function_of(ci, all, &f))
    return false;
  uintptr_t next = saved_next(ci);
  Place *place = &look->places[next / 4 % PLACES];
  if (tg_slot_variant(f) == TG_TAG_LUA && place->next == next
      && place->proto == tg_function_proto(f))
    return add(look->w, ci, place->function, place->line);
  return add_caller(look, ci, f, place);
}

/* From the innermost out. */
static bool add_frames (Look *look, const lua_State *L) {
  Slots all = slots_of(L);
  const void *ci = tg_direct_running(L);
  if (tg_read_pointer(ci, TG_AT_FRAME_CALLER) == NULL)
    return true;
  for (int i = 0; i < TG_STACKWALK_FRAMES && ci != NULL; i++) {
    if (!add_frame(look, ci, all))
      return false;
    ci = tg_frame_caller(ci);
  }
  return true;
}

static bool add_coroutine (Look *look, lua_State *L) {
  const tg_Session *s = look->s;
  const tg_Coroutine *t = tg_coroutines_find(&s->threads, L);
  if (t == NULL
      || (L != s->host.main && !tg_coroutine_lives(&s->threads, t))
      || !add(look->w, NULL, 0, t->id))
    return false;
  uint32_t first = look->w->n;
  if ((L != look->leaf->L && !has_slots(look->g, slots_of(L)))
      || !add_frames(look, L))
    return false;
  tg_stackwalk_turn(look->w, first, t->id == 1);
  return true;
}

/* Whether a function that is known is our code at work on tables of ours. What
   stands in for debug.sethook is so, though it is shown as the program's
   (userhook.h): it writes to the stream and makes records. What stands in for
   coroutine.resume has a role, and does nothing of the kind. */
static bool works_for_us (const tg_Closure *k, const void *cfunction) {
  return (k->what & TG_FR_OWN) != 0
         || (cfunction != NULL && tg_role_bits(k->what) == TG_ROLE_NONE
             && tg_ownfunctions_code(cfunction));
}

/* In a hook, or in a function of ours, tables of ours may be about to
   change. */
static bool is_ours (const Look *look) {
  tg_Slot f = look->leaf->function;
  if (tg_hookfield_runs(look->leaf->L))
    return true;
  const tg_Closure *k = tg_callee_seen(look->s, f);
  const void *cfunction = tg_slot_cfunction(f);
  if (k != NULL)
    return works_for_us(k, cfunction);
  return look->strangers.function == 0 || cfunction == NULL
         || tg_ownfunctions_code(cfunction);
}

bool tg_glance_frames (const tg_Glancer *g, tg_StackWalk *w,
                       const tg_Session *s, tg_Leaf *leaf,
                       tg_Strangers strangers) {
  Look look = {.g = g, .w = w, .s = s, .leaf = leaf, .strangers = strangers};
  lua_State *co = NULL;
  if (is_ours(&look))
    return false;
  w->n = 0;
  for (int i = 0; co != leaf->L; i++) {
    co = tg_running_at(&s->host, i);
    if (co == NULL || !add_coroutine(&look, co))
      return false;
  }
  return !leaf->collects || strangers.collector == 0
         || add(w, NULL, strangers.collector, 0);
}

/* }================================================================== */
