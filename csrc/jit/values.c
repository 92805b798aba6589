/* values.c - see values.h. */
#include "jit/values.h"

#include <string.h>

#include "outside/value.h"

#define NODES_MOST (1u << 26)
#define ELEMENTS_MOST (1u << 27)
#define TEXT_MOST (UINT64_C(1) << 31)   /* LJ_MAX_STR */

/* Of the word: what an object's address is in, and where the type begins. */
#define ADDRESS ((UINT64_C(1) << 47) - 1)
#define TYPE_AT 47
#define TYPES 14                /* from the highest number down */
#define INTEGER 13              /* where numbers may be integers */

/* Lua's types for these; cdata shows as userdata. Others never are values. */
static const uint8_t tags[TYPES] = {
  TG_SEEN_NIL, TG_SEEN_BOOLEAN, TG_SEEN_BOOLEAN, TG_SEEN_LIGHT,
  TG_SEEN_STRING, TG_SEEN_OTHER, TG_SEEN_THREAD, TG_SEEN_OTHER,
  TG_SEEN_FUNCTION, TG_SEEN_OTHER, TG_SEEN_USERDATA | 16, TG_SEEN_TABLE,
  TG_SEEN_USERDATA, TG_SEEN_NUMBER
};

static tg_SeenValue number (double d) {
  tg_SeenValue v = {0, TG_SEEN_NUMBER};
  memcpy(&v.bits, &d, sizeof d);
  return v;
}

/* A boolean's bits are its value. */
tg_SeenValue tg_jitvalues_of (uint64_t word) {
  uint64_t type = ~((uint64_t)((int64_t)word >> TYPE_AT));
  if (type >= TYPES)
    return (tg_SeenValue){word, TG_SEEN_NUMBER};
  if (type == INTEGER)
    return number((int32_t)(uint32_t)word);
  if (tags[type] == TG_SEEN_NIL)
    return (tg_SeenValue){0};
  if (tags[type] == TG_SEEN_BOOLEAN)
    return (tg_SeenValue){type == 2, TG_SEEN_BOOLEAN};
  return (tg_SeenValue){word & ADDRESS, tags[type]};
}

/* What is not there is nil, and not the float 0 that zeros are. */
tg_SeenValue tg_jitvalues_at (tg_Sight *s, uint64_t slot) {
  uint64_t word;
  if (!tg_memory_get(s->memory, slot, &word, sizeof word))
    return (tg_SeenValue){0};
  return tg_jitvalues_of(word);
}

/*
** {==================================================================
** Functions
** ===================================================================
*/

/* Functions of the library that are made of instructions have no lines: they
   are the library's, as those in C (lj_lib.c, lib_read_lfunc). */
static bool is_library (tg_Sight *s, uint64_t proto) {
  return tg_jit_half(s, proto, AT_PROTO_LINE) == UINT32_MAX;
}

/* Fast functions in machine code may have one C function in common, for what
   they cannot do: each has an instruction of its own. */
static uint64_t code_of_c (tg_Sight *s, uint64_t f) {
  uint64_t first = tg_jit_word(s, f, AT_FUNCTION_CODE);
  int32_t op = tg_jit_op(tg_memory_half(s->memory, first));
  return (op > tg_jit_row(s, OP_FUNCC) + 1) ? first
                                            : tg_jit_word(s, f, AT_FUNCTION_C);
}

bool tg_jitvalues_is_c (tg_Sight *s, tg_SeenValue f, uint64_t *code,
                        bool *known) {
  *code = 0;
  *known = tg_seen_type(f) == TG_SEEN_FUNCTION
           && tg_jit_is(s, f.bits, TG_JIT_FUNCTION);
  if (!*known)
    return false;
  if (tg_jit_byte(s, f.bits, AT_FUNCTION_KIND) != 0) {
    *code = code_of_c(s, f.bits);
    return true;
  }
  *code = tg_jit_word(s, f.bits, AT_FUNCTION_CODE)
          - (uint64_t)tg_jit_row(s, SIZE_PROTO);
  return is_library(s, *code);
}

bool tg_jitvalues_upvalue (tg_Sight *s, tg_SeenValue f, uint32_t n,
                           uint64_t *slot) {
  if (!tg_jit_is(s, f.bits, TG_JIT_FUNCTION)
      || n >= tg_jit_byte(s, f.bits, AT_FUNCTION_CAPTURED))
    return false;
  uint64_t at = f.bits + (uint64_t)tg_jit_row(s, AT_FUNCTION_UPVALUES)
                + 8u * (uint64_t)n;
  uint64_t object = tg_memory_word(s->memory, at);
  *slot = tg_jit_word(s, object, AT_UPVALUE_SLOT);
  return object != 0;
}

/* }================================================================== */

bool tg_jitvalues_text (tg_Sight *s, uint64_t string, uint64_t *at,
                        uint64_t *size) {
  *at = string + (uint64_t)tg_jit_row(s, AT_STRING_TEXT);
  *size = 0;
  if (!tg_jit_is(s, string, TG_JIT_STRING))
    return tg_sight_reject(s, TG_REASON_STRING);
  *size = tg_jit_half(s, string, AT_STRING_SIZE);
  return *size < TEXT_MOST || tg_sight_reject(s, TG_REASON_STRING);
}

/*
** {==================================================================
** Tables
** ===================================================================
*/

bool tg_jitvalues_is_table (tg_Sight *s, uint64_t table) {
  return tg_jit_is(s, table, TG_JIT_TABLE);
}

/* Metatables of types are in the order of their internal tags. */
static uint32_t number_of (tg_SeenType type) {
  switch (type) {
    case TG_SEEN_BOOLEAN: return 1;
    case TG_SEEN_LIGHT: return 3;
    case TG_SEEN_STRING: return TG_JIT_STRING;
    case TG_SEEN_THREAD: return TG_JIT_THREAD;
    case TG_SEEN_FUNCTION: return TG_JIT_FUNCTION;
    case TG_SEEN_NUMBER: return INTEGER;
    case TG_SEEN_NIL: case TG_SEEN_TABLE: case TG_SEEN_USERDATA:
    case TG_SEEN_OTHER: default: return 0;
  }
}

/* What cdata can do is in its C type. */
uint64_t tg_jitvalues_metatable (tg_Sight *s, uint64_t shared,
                                 tg_SeenValue v) {
  tg_SeenType type = tg_seen_type(v);
  if (v.tag == TG_SEEN_TABLE || v.tag == TG_SEEN_USERDATA)
    return tg_jit_word(s, v.bits, AT_TABLE_META);
  if (type == TG_SEEN_USERDATA)
    return 0;
  return tg_memory_word(s->memory,
                        shared + (uint64_t)tg_jit_row(s, AT_SHARED_METAS)
                        + 8u * (uint64_t)number_of(type));
}

/* The array begins with key 0, which a sequence does not have: that slot is
   taken as one node more. */
bool tg_jitvalues_traverse (tg_Sight *s, tg_SeenTable *t) {
  uint32_t slots = tg_jit_half(s, t->table, AT_TABLE_ELEMENTS);
  uint32_t mask = tg_jit_half(s, t->table, AT_TABLE_NODES);
  if (slots > ELEMENTS_MOST || mask >= NODES_MOST)
    return tg_sight_reject(s, TG_REASON_TABLE);
  t->elements = (slots > 0) ? slots - 1 : 0;
  t->nodes = mask + UINT64_C(1) + (slots > 0);
  t->array = tg_jit_word(s, t->table, AT_TABLE_ARRAY);
  t->first = tg_jit_word(s, t->table, AT_TABLE_NODE);
  return true;
}

tg_SeenValue tg_jitvalues_element (tg_Sight *s, const tg_SeenTable *t,
                                   uint64_t i) {
  return tg_jitvalues_at(s, t->array + (i + 1) * TG_JIT_SLOT);
}

static bool is_element_0 (tg_Sight *s, const tg_SeenTable *t, uint64_t i) {
  return i > tg_jit_half(s, t->table, AT_TABLE_NODES);
}

tg_SeenValue tg_jitvalues_node (tg_Sight *s, const tg_SeenTable *t, uint64_t i,
                                tg_SeenValue *key) {
  if (is_element_0(s, t, i)) {
    *key = number(0);
    return tg_jitvalues_at(s, t->array);
  }
  uint64_t node = t->first + i * (uint64_t)tg_jit_row(s, SIZE_NODE);
  tg_SeenValue v = tg_jitvalues_at(s, node);
  if (tg_seen_type(v) == TG_SEEN_NIL)
    return v;
  *key = tg_jitvalues_at(s, node + (uint64_t)tg_jit_row(s, AT_NODE_KEY));
  return (tg_seen_type(*key) == TG_SEEN_OTHER) ? (tg_SeenValue){0} : v;
}

/* }================================================================== */
