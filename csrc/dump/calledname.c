/* calledname.c - see calledname.h. */
#include "dump/calledname.h"

#include <stdio.h>
#include <string.h>

#include "outside/dialect.h"

#define LOOKED_AT 100000        /* instructions before a call, at most */
#define DEPTH 8                 /* moves from register to register */

typedef struct Finder {
  tg_Sight *s;
  const tg_SeenProto *p;
  char *name;
  size_t room;
} Finder;

/*
** {==================================================================
** Instructions
** ===================================================================
*/

static uint32_t bits (uint32_t i, int32_t at, int32_t size) {
  return (i >> at) & ((UINT32_C(1) << size) - 1);
}

static int32_t opcode (const tg_Sight *s, uint32_t i) {
  return (int32_t)(i & (uint32_t)tg_sight_row(s, CODE_KIND));
}

static uint32_t operand_a (const tg_Sight *s, uint32_t i) {
  return bits(i, tg_sight_row(s, CODE_AT_A), 8);
}

static uint32_t operand_b (const tg_Sight *s, uint32_t i) {
  return bits(i, tg_sight_row(s, CODE_AT_B), tg_sight_row(s, CODE_SIZE_B));
}

static uint32_t operand_c (const tg_Sight *s, uint32_t i) {
  return bits(i, tg_sight_row(s, CODE_AT_C), tg_sight_row(s, CODE_SIZE_C));
}

static uint32_t operand_long (const tg_Sight *s, uint32_t i) {
  return bits(i, tg_sight_row(s, CODE_AT_LONG),
              tg_sight_row(s, CODE_SIZE_LONG));
}

/* Signed operands are stored with an excess of half their range. */
static int32_t jump (const tg_Sight *s, uint32_t i) {
  if (tg_sight_has(s, CODE_AT_JUMP))
    return (int32_t)bits(i, tg_sight_row(s, CODE_AT_JUMP), 25) - 0xffffff;
  return (int32_t)operand_long(s, i) - 0x1ffff;
}

static bool sets_a (const tg_Sight *s, int32_t op) {
  tg_LayoutRow row = (tg_LayoutRow)(TG_ROW_SETS_A + op / 16);
  return op < 96 && (s->layout->at[row] >> (op % 16) & 1) != 0;
}

static bool changes (const tg_Sight *s, uint32_t i, uint32_t reg) {
  int32_t op = opcode(s, i);
  uint32_t a = operand_a(s, i), b = operand_b(s, i);
  if (op == tg_sight_row(s, OP_LOADNIL))
    return a <= reg && reg <= (s->release < 50200 ? b : a + b);
  if (op == tg_sight_row(s, OP_ITERATE))
    return reg >= a + 2;
  if (op == tg_sight_row(s, OP_CALL) || op == tg_sight_row(s, OP_TAILCALL))
    return reg >= a;
  return op != tg_sight_row(s, OP_JMP) && sets_a(s, op) && reg == a;
}

static bool is_fallback (const tg_Sight *s, int32_t op) {
  return tg_sight_has(s, OP_MMBIN) && op >= tg_sight_row(s, OP_MMBIN)
         && op <= tg_sight_row(s, OP_MMBINK);
}

/* The last instruction that sets a register before 'last' (findsetreg); -1:
   none does for certain. */
static int32_t setter (const Finder *f, int32_t last, uint32_t reg) {
  int32_t found = -1, target = 0;
  if (last > LOOKED_AT)
    return -1;
  if (is_fallback(f->s, opcode(f->s, tg_proto_code(f->s, f->p, last))))
    last--;             /* the one before did not finish */
  for (int32_t pc = 0; pc < last; pc++) {
    uint32_t i = tg_proto_code(f->s, f->p, pc);
    if (opcode(f->s, i) == tg_sight_row(f->s, OP_JMP)) {
      int32_t to = pc + 1 + jump(f->s, i);
      if (to <= last && to > target)
        target = to;
    }
    else if (changes(f->s, i, reg))
      found = (pc < target) ? -1 : pc;
  }
  return found;
}

/* }================================================================== */

/*
** {==================================================================
** Where a register's value is from
** ===================================================================
*/

static bool constant (const Finder *f, uint32_t n) {
  tg_SeenValue k = tg_proto_constant(f->s, f->p, n);
  return tg_seen_type(k) == TG_SEEN_STRING
         && tg_seen_name(f->s, k.bits, f->name, f->room);
}

/* A register that was loaded with a string, as a key. */
static bool key_in (const Finder *f, int32_t pc, uint32_t reg) {
  int32_t set = setter(f, pc, reg);
  if (set < 0)
    return false;
  uint32_t i = tg_proto_code(f->s, f->p, set);
  return opcode(f->s, i) == tg_sight_row(f->s, OP_LOADK)
         && constant(f, operand_long(f->s, i));
}

/* A key that is a constant or in a register. */
static bool key_of (const Finder *f, int32_t pc, uint32_t i, bool in_5_4) {
  uint32_t c = operand_c(f->s, i);
  if (tg_sight_has(f->s, CODE_CONSTANT)) {
    uint32_t flag = (uint32_t)tg_sight_row(f->s, CODE_CONSTANT);
    return (c & flag) ? constant(f, c & ~flag) : key_in(f, pc, c);
  }
  return in_5_4 ? constant(f, c) : key_in(f, pc, c);
}

/* In 5.4 the bit between A and B says that the method's name is a constant; in
   5.5 it always is. */
static bool method_of (const Finder *f, int32_t pc, uint32_t i) {
  return key_of(f, pc, i, f->s->release >= 50500 || bits(i, 15, 1) != 0);
}

static bool object_name (const Finder *f, int32_t pc, uint32_t reg,
                         int depth) {
  if (tg_proto_local(f->s, f->p, reg, pc, f->name, f->room))
    return f->name[0] != '(';   /* the interpreter's own variables */
  int32_t set = setter(f, pc, reg);
  if (set < 0 || depth == 0)
    return false;
  uint32_t i = tg_proto_code(f->s, f->p, set);
  int32_t op = opcode(f->s, i);
  if (op == tg_sight_row(f->s, OP_MOVE))
    return operand_b(f->s, i) < operand_a(f->s, i)
           && object_name(f, set, operand_b(f->s, i), depth - 1);
  if (op == tg_sight_row(f->s, OP_GETUPVAL))
    return tg_proto_upvalue(f->s, f->p, operand_b(f->s, i), f->name, f->room);
  if (op == tg_sight_row(f->s, OP_GETGLOBAL))
    return constant(f, operand_long(f->s, i));
  if (op == tg_sight_row(f->s, OP_GETTABUP)
      || op == tg_sight_row(f->s, OP_GETFIELD))
    return key_of(f, set, i, true);
  if (op == tg_sight_row(f->s, OP_GETTABLE))
    return key_of(f, set, i, false);
  return op == tg_sight_row(f->s, OP_SELF) && method_of(f, set, i);
}

/* }================================================================== */

/*
** {==================================================================
** What the instruction is
** ===================================================================
*/

typedef struct Event {
  tg_LayoutRow row;
  const char *name;
} Event;

static const Event events[] = {
  {TG_ROW_OP_SELF, "__index"}, {TG_ROW_OP_GETGLOBAL, "__index"},
  {TG_ROW_OP_GETTABUP, "__index"}, {TG_ROW_OP_GETTABLE, "__index"},
  {TG_ROW_OP_GETI, "__index"}, {TG_ROW_OP_GETFIELD, "__index"},
  {TG_ROW_OP_SETGLOBAL, "__newindex"}, {TG_ROW_OP_SETTABUP, "__newindex"},
  {TG_ROW_OP_SETTABLE, "__newindex"}, {TG_ROW_OP_SETI, "__newindex"},
  {TG_ROW_OP_SETFIELD, "__newindex"}, {TG_ROW_OP_UNM, "__unm"},
  {TG_ROW_OP_BNOT, "__bnot"}, {TG_ROW_OP_LEN, "__len"},
  {TG_ROW_OP_CONCAT, "__concat"}, {TG_ROW_OP_EQ, "__eq"},
  {TG_ROW_OP_LT, "__lt"}, {TG_ROW_OP_LTI, "__lt"}, {TG_ROW_OP_GTI, "__lt"},
  {TG_ROW_OP_LE, "__le"}, {TG_ROW_OP_LEI, "__le"}, {TG_ROW_OP_GEI, "__le"},
  {TG_ROW_OP_CLOSE, "__close"}
};

/* The arithmetic opcodes of releases before 5.4, in their order. */
static const char *arithmetic (const tg_Sight *s, int32_t op) {
  static const char *const old[] = {"__add", "__sub", "__mul", "__div",
                                    "__mod", "__pow"};
  static const char *const in_5_3[] = {
    "__add", "__sub", "__mul", "__mod", "__pow", "__div", "__idiv", "__band",
    "__bor", "__bxor", "__shl", "__shr"};
  int32_t n = op - tg_sight_row(s, OP_ADD);
  if (!tg_sight_has(s, OP_ADD) || n < 0
      || n >= tg_sight_row(s, OP_UNM) - tg_sight_row(s, OP_ADD))
    return NULL;
  if (s->release >= 50300)
    return (n < 12) ? in_5_3[n] : NULL;
  return (n < 6) ? old[n] : NULL;
}

static const char *event_of (const tg_Sight *s, int32_t op) {
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    if (s->layout->at[events[i].row] == op)
      return events[i].name;
  }
  if (s->release >= 50400 && op == tg_sight_row(s, OP_RETURN))
    return "__close";
  return arithmetic(s, op);
}

/* The names of metamethods are strings of the state, by number. */
static bool event_name (const Finder *f, uint64_t shared, uint32_t n) {
  uint64_t list = shared + (uint64_t)tg_sight_row(f->s, AT_SHARED_EVENTS);
  return n < (uint32_t)tg_sight_row(f->s, EVENTS)
         && tg_seen_name(f->s, tg_memory_word(f->s->memory, list + 8u * n),
                         f->name, f->room);
}

bool tg_calledname (tg_Sight *s, uint64_t shared, const tg_SeenProto *p,
                    int32_t pc, char *name, size_t room) {
  Finder f = {s, p, name, room};
  if (pc < 0 || (uint32_t)pc >= p->ncode)
    return false;
  if (s->dialect != NULL)
    return s->dialect->called_name(s, p, pc, name, room);
  uint32_t i = tg_proto_code(s, p, pc);
  int32_t op = opcode(s, i);
  if (op == tg_sight_row(s, OP_CALL) || op == tg_sight_row(s, OP_TAILCALL))
    return object_name(&f, pc, operand_a(s, i), DEPTH);
  const char *fixed = event_of(s, op);
  if (op == tg_sight_row(s, OP_ITERATE))
    fixed = "for iterator";
  if (fixed == NULL)
    return is_fallback(s, op) && event_name(&f, shared, operand_c(s, i));
  snprintf(name, room, "%s", fixed);
  return true;
}

/* }================================================================== */

bool tg_calledname_by (tg_Sight *s, uint64_t shared,
                       const tg_SeenFrame *caller, const tg_SeenFrame *callee,
                       char *name, size_t room) {
  tg_SeenProto p;
  if (callee->tail || caller->is_c || caller->hooked)
    return false;
  if (caller->finalizer) {
    snprintf(name, room, "__gc");
    return true;
  }
  return tg_proto_read(s, caller->code, &p)
         && tg_calledname(s, shared, &p, caller->pc, name, room);
}
