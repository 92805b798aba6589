/* calls.c - see calls.h. */
#include "jit/calls.h"

#include <stdio.h>

#include "jit/protos.h"
#include "outside/proto.h"
#include "outside/value.h"

#define LOOKED_AT 100000        /* instructions before a call, at most */

typedef struct Finder {
  tg_Sight *s;
  const tg_SeenProto *p;
  char *name;
  size_t room;
} Finder;

static bool is_between (int32_t op, int32_t first, int32_t behind) {
  return first <= op && op < behind;
}

#define OP(f, row) tg_jit_row((f)->s, OP_##row)

/* Whether it sets the slot that its first operand says. */
static bool has_result (const Finder *f, int32_t op) {
  return is_between(op, OP(f, ISTC), OP(f, ISTC) + 2)
         || is_between(op, OP(f, MOV), OP(f, KNIL)) || op == OP(f, UGET)
         || is_between(op, OP(f, FNEW), OP(f, GSET))
         || is_between(op, OP(f, TGETV), OP(f, TSETV))
         || is_between(op, OP(f, JMP) + 1, OP(f, FUNCF));
}

/* Whether it changes slots from there on. */
static bool changes_slots (const Finder *f, int32_t op) {
  return op == OP(f, TSETM) || is_between(op, OP(f, CALLM), OP(f, RET))
         || is_between(op, OP(f, FORI), OP(f, LOOP));
}

static bool changes (const Finder *f, uint32_t i, uint32_t slot) {
  int32_t op = tg_jit_op(i);
  if (op == OP(f, KNIL))
    return tg_jit_a(i) <= slot && slot <= tg_jit_d(i);
  if (changes_slots(f, op))
    return slot >= tg_jit_a(i);
  return has_result(f, op) && slot == tg_jit_a(i);
}

/* The last instruction before 'pc' that sets a slot; 0, the function's head:
   none does. */
static int32_t setter (const Finder *f, int32_t pc, uint32_t slot) {
  int32_t end = (pc > LOOKED_AT) ? pc - LOOKED_AT : 0;
  for (pc = pc - 1; pc > end; pc--) {
    if (changes(f, tg_proto_code(f->s, f->p, pc), slot))
      return pc;
  }
  return 0;
}

/* Constants that are objects stand before the place, the first one next to
   it. */
static bool constant (const Finder *f, uint32_t n) {
  uint64_t list = tg_jit_word(f->s, f->p->at, AT_PROTO_CONSTANTS);
  if (n >= f->p->nconstants)
    return false;
  uint64_t string = tg_memory_word(f->s->memory, list - 8u * (n + UINT64_C(1)));
  return tg_seen_name(f->s, string, f->name, f->room);
}

/* A variable of the interpreter's own is no name. */
static bool variable (const Finder *f, int32_t pc, uint32_t slot) {
  return tg_proto_local(f->s, f->p, slot, pc, f->name, f->room);
}

#define DEPTH 8                 /* moves from slot to slot */

static bool slot_name (const Finder *f, int32_t pc, uint32_t slot) {
  for (int depth = 0; depth < DEPTH; depth++) {
    if (variable(f, pc, slot))
      return f->name[0] != '(';
    pc = setter(f, pc, slot);
    uint32_t i = tg_proto_code(f->s, f->p, pc);
    int32_t op = tg_jit_op(i);
    if (pc == 0)
      return false;
    if (op == OP(f, MOV))
      slot = tg_jit_d(i);
    else if (op == OP(f, GGET))
      return constant(f, tg_jit_d(i));
    else if (op == OP(f, TGETS))
      return constant(f, tg_jit_c(i));
    else
      return op == OP(f, UGET)
             && tg_jitprotos_upvalue(f->s, f->p, tg_jit_d(i), f->name,
                                     f->room);
  }
  return false;
}

/* The metamethod that an instruction may call; NULL: none. */
static const char *event_of (const Finder *f, int32_t op) {
  static const char *const arithmetic[] = {"__add", "__sub", "__mul", "__div",
                                           "__mod"};
  if (is_between(op, OP(f, ISLT), OP(f, ISLE)))
    return "__lt";
  if (is_between(op, OP(f, ISLE), OP(f, ISEQV)))
    return "__le";
  if (is_between(op, OP(f, ISEQV), OP(f, ISTC)))
    return "__eq";
  if (is_between(op, OP(f, ADDVN), OP(f, POW)))
    return arithmetic[(op - OP(f, ADDVN)) % 5];
  if (op == OP(f, GGET) || is_between(op, OP(f, TGETV), OP(f, TSETV)))
    return "__index";
  if (op == OP(f, GSET) || is_between(op, OP(f, TSETV), OP(f, CALLM)))
    return "__newindex";
  if (op == OP(f, UNM))
    return "__unm";
  if (op == OP(f, LEN))
    return "__len";
  if (op == OP(f, POW))
    return "__pow";
  return (op == OP(f, CAT)) ? "__concat" : NULL;
}

bool tg_jitcalls_name (tg_Sight *s, const tg_SeenProto *p, int32_t pc,
                       char *name, size_t room) {
  Finder f = {s, p, name, room};
  uint32_t i = tg_proto_code(s, p, pc);
  int32_t op = tg_jit_op(i);
  if (is_between(op, OP(&f, CALLM), OP(&f, ITERC)))
    return slot_name(&f, pc, tg_jit_a(i));
  const char *fixed = (op == OP(&f, ITERC)) ? "for iterator"
                                            : event_of(&f, op);
  if (fixed == NULL)
    return false;
  snprintf(name, room, "%s", fixed);
  return true;
}
