/* value.c - see value.h. Layouts of tables: ltable.h and lobject.h of each
   release. */
#include "outside/value.h"

#include <string.h>

#include "outside/dialect.h"

#define NODES_MOST 26           /* MAXHBITS of ltable.c, on 64 bits: less */
#define ELEMENTS_MOST (UINT64_C(1) << 27)
#define NIL ((tg_SeenValue){0})

tg_SeenValue tg_seen_slot (tg_Sight *s, uint64_t slot) {
  uint8_t bytes[9];
  tg_SeenValue v = NIL;
  if (s->dialect != NULL)
    return s->dialect->value(s, slot);
  if (!tg_memory_get(s->memory, slot, bytes, sizeof bytes))
    return v;
  memcpy(&v.bits, bytes, sizeof v.bits);
  v.tag = bytes[8];
  return v;
}

bool tg_seen_is_integer (const tg_Sight *s, tg_SeenValue v) {
  return tg_sight_has(s, TAG_INTEGER)
         && tg_seen_variant(v) == tg_sight_row(s, TAG_INTEGER);
}

/* Up to 5.3 a boolean has one tag, and its value in an int. */
bool tg_seen_is_true (const tg_Sight *s, tg_SeenValue v) {
  if (tg_sight_has(s, TAG_TRUE))
    return tg_seen_variant(v) == tg_sight_row(s, TAG_TRUE);
  return (uint32_t)v.bits != 0;
}

double tg_seen_float (tg_SeenValue v) {
  double d;
  memcpy(&d, &v.bits, sizeof d);
  return d;
}

/*
** {==================================================================
** Functions
** ===================================================================
*/

/* The tag of an object must be that of the value which refers to it. In 5.2.0
   only the value's tells C from Lua. */
static bool is_object (tg_Sight *s, tg_SeenValue v) {
  uint8_t tag = tg_sight_byte(s, v.bits, AT_OBJECT_TAG) & 0x3f;
  int kind = tg_sight_has(s, AT_CLOSURE_C) ? (int)tg_seen_type(v)
                                           : tg_seen_variant(v);
  return v.bits != 0 && tag == kind;
}

bool tg_seen_is_c (tg_Sight *s, tg_SeenValue f, uint64_t *code, bool *known) {
  if (s->dialect != NULL)
    return s->dialect->is_c(s, f, code, known);
  bool light = tg_sight_has(s, TAG_LIGHTC)
               && tg_seen_variant(f) == tg_sight_row(s, TAG_LIGHTC);
  *code = f.bits;
  *known = tg_seen_type(f) == TG_SEEN_FUNCTION && (light || is_object(s, f));
  if (light || !*known)
    return light;
  *code = tg_sight_word(s, f.bits, AT_CLOSURE_FUNCTION);
  if (tg_sight_has(s, AT_CLOSURE_C))
    return tg_sight_byte(s, f.bits, AT_CLOSURE_C) != 0;
  return tg_seen_variant(f) == tg_sight_row(s, TAG_C);
}

bool tg_seen_upvalue (tg_Sight *s, tg_SeenValue f, uint32_t n,
                      uint64_t *slot) {
  if (s->dialect != NULL)
    return s->dialect->upvalue(s, f, n, slot);
  if (n >= tg_sight_byte(s, f.bits, AT_CLOSURE_UPVALUES))
    return false;
  uint64_t object = tg_memory_word(s->memory,
    f.bits + (uint64_t)tg_sight_row(s, AT_CLOSURE_CAPTURED) + 8u * n);
  *slot = tg_sight_word(s, object, AT_UPVALUE_SLOT);
  return object != 0;
}

/* }================================================================== */

/*
** {==================================================================
** Strings
** ===================================================================
*/

/* Where the bytes of a string are, and how many; false: it is none. */
static bool find_text (tg_Sight *s, uint64_t string, uint64_t *at,
                       uint64_t *size) {
  if (s->dialect != NULL)
    return s->dialect->text(s, string, at, size);
  int tag = tg_sight_byte(s, string, AT_OBJECT_TAG) & 0x3f;
  bool is_long = tag == tg_sight_row(s, TAG_LONG);
  if (string == 0 || (!is_long && tag != tg_sight_row(s, TAG_SHORT)))
    return tg_sight_reject(s, TG_REASON_STRING);
  *at = string + (uint64_t)tg_sight_row(s, AT_STRING_TEXT);
  if (is_long || !tg_sight_has(s, AT_STRING_SHORT))
    *size = tg_sight_word(s, string, AT_STRING_LONG);
  else
    *size = tg_sight_byte(s, string, AT_STRING_SHORT);
  if (is_long && s->release >= 50500)
    *at = tg_memory_word(s->memory, *at);       /* contents (lobject.h) */
  if (*size >= (UINT64_C(1) << 40))
    return tg_sight_reject(s, TG_REASON_STRING);
  return true;
}

bool tg_seen_text (tg_Sight *s, uint64_t string, size_t most, tg_Buf *to,
                   uint64_t *whole) {
  uint64_t at;
  if (!find_text(s, string, &at, whole))
    return false;
  size_t size = (*whole < most) ? (size_t)*whole : most;
  size = (size < TG_SEEN_TEXT_MAX) ? size : TG_SEEN_TEXT_MAX;
  if (!tg_buf_reserve(to, size) || size == 0)
    return !to->failed;
  if (!tg_memory_get(s->memory, at, to->data + to->size, size))
    return tg_sight_reject(s, TG_REASON_UNREADABLE);
  to->size += size;
  return true;
}

bool tg_seen_name (tg_Sight *s, uint64_t string, char *to, size_t room) {
  uint64_t at, size;
  to[0] = '\0';
  if (!find_text(s, string, &at, &size))
    return false;
  size = (size < room - 1) ? size : room - 1;
  if (size > 0 && !tg_memory_get(s->memory, at, to, (size_t)size))
    return tg_sight_reject(s, TG_REASON_UNREADABLE);
  to[size] = '\0';
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Tables
** ===================================================================
*/

uint64_t tg_seen_metatable (tg_Sight *s, uint64_t shared, tg_SeenValue v) {
  tg_SeenType type = tg_seen_type(v);
  if (s->dialect != NULL)
    return s->dialect->metatable(s, shared, v);
  if (type == TG_SEEN_TABLE)
    return tg_sight_word(s, v.bits, AT_TABLE_META);
  if (type == TG_SEEN_USERDATA)
    return tg_sight_word(s, v.bits, AT_USERDATA_META);
  return tg_memory_word(s->memory,
                        shared + (uint64_t)tg_sight_row(s, AT_SHARED_METAS)
                        + 8u * (uint64_t)type);
}

/* In 5.4 the field may be a part of the size, which is then the next power of
   two (luaH_realasize). */
static uint64_t elements_of (tg_Sight *s, uint64_t table) {
  uint64_t n = tg_sight_half(s, table, AT_TABLE_ELEMENTS);
  if (!tg_sight_has(s, AT_TABLE_LIMITED)
      || (tg_sight_byte(s, table, AT_TABLE_LIMITED) & 0x80) == 0)
    return n;
  uint64_t real = 1;
  while (real < n)
    real *= 2;
  return real;
}

bool tg_seen_is_table (tg_Sight *s, uint64_t table) {
  if (s->dialect != NULL)
    return s->dialect->is_table(s, table);
  return table != 0
         && (tg_sight_byte(s, table, AT_OBJECT_TAG) & 0x3f) == TG_SEEN_TABLE;
}

void tg_seen_traverse (tg_Sight *s, uint64_t table, uint64_t steps,
                       tg_SeenTable *t) {
  *t = (tg_SeenTable){.table = table, .steps = steps};
  if (!tg_seen_is_table(s, table)) {
    tg_sight_reject(s, TG_REASON_TABLE);
    return;
  }
  if (s->dialect != NULL) {
    if (!s->dialect->traverse(s, t))
      *t = (tg_SeenTable){.table = table, .steps = steps};
    return;
  }
  unsigned power = tg_sight_byte(s, table, AT_TABLE_NODES);
  uint64_t elements = elements_of(s, table);
  if (power > NODES_MOST || elements > ELEMENTS_MOST) {
    tg_sight_reject(s, TG_REASON_TABLE);
    return;
  }
  t->elements = elements;
  t->nodes = UINT64_C(1) << power;
  t->array = tg_sight_word(s, table, AT_TABLE_ARRAY);
  t->first = tg_sight_word(s, table, AT_TABLE_NODE);
}

/* 5.5 has values before the array's address, backwards, and tags behind it
   (ltable.h). */
static tg_SeenValue element (tg_Sight *s, const tg_SeenTable *t, uint64_t i) {
  if (s->dialect != NULL)
    return s->dialect->element(s, t, i);
  if (!tg_sight_has(s, SIZE_VALUE))
    return tg_seen_slot(s, t->array
                           + i * (uint64_t)tg_sight_row(s, SIZE_SLOT));
  tg_SeenValue v;
  v.tag = tg_memory_byte(s->memory,
                         t->array + (uint64_t)tg_sight_row(s, SIZE_HINT) + i);
  v.bits = tg_memory_word(s->memory,
                          t->array - (i + 1)
                                     * (uint64_t)tg_sight_row(s, SIZE_VALUE));
  return v;
}

/* The entry of a node; nil: there is none, or its key is dead. */
static tg_SeenValue node_at (tg_Sight *s, const tg_SeenTable *t, uint64_t i,
                             tg_SeenValue *key) {
  if (s->dialect != NULL)
    return s->dialect->node(s, t, i, key);
  uint64_t node = t->first + i * (uint64_t)tg_sight_row(s, SIZE_NODE);
  tg_SeenValue v = tg_seen_slot(s, node);
  if (tg_seen_type(v) == TG_SEEN_NIL)
    return v;
  key->bits = tg_sight_word(s, node, AT_NODE_KEY);
  key->tag = tg_sight_byte(s, node, AT_NODE_TAG);
  return (tg_seen_type(*key) == TG_SEEN_OTHER) ? NIL : v;
}

static bool next_element (tg_Sight *s, tg_SeenTable *t) {
  while (t->i < t->elements && t->steps > 0) {
    t->steps--;
    t->value = element(s, t, t->i++);
    if (tg_seen_type(t->value) == TG_SEEN_NIL)
      continue;
    t->key = (tg_SeenValue){t->i, 0};
    return true;
  }
  return false;
}

static bool next_node (tg_Sight *s, tg_SeenTable *t) {
  while (t->node < t->nodes && t->steps > 0) {
    t->steps--;
    t->value = node_at(s, t, t->node++, &t->key);
    if (tg_seen_type(t->value) != TG_SEEN_NIL)
      return true;
  }
  return false;
}

/* A key in the array is an integer, in 5.1 and 5.2 a float. */
static void set_integer (const tg_Sight *s, tg_SeenValue *key, uint64_t k) {
  double d = (double)k;
  key->bits = k;
  if (!tg_sight_has(s, TAG_INTEGER))
    memcpy(&key->bits, &d, sizeof d);
  if (s->dialect != NULL)
    key->tag = TG_SEEN_NUMBER;
  else
    key->tag = (uint8_t)(tg_sight_has(s, TAG_INTEGER)
                         ? tg_sight_row(s, TAG_INTEGER)
                         : tg_sight_row(s, TAG_FLOAT));
}

bool tg_seen_next (tg_Sight *s, tg_SeenTable *t) {
  if (next_element(s, t)) {
    set_integer(s, &t->key, t->i);
    return true;
  }
  if (next_node(s, t))
    return true;
  t->cut = t->steps == 0 && (t->i < t->elements || t->node < t->nodes);
  return false;
}

static bool same_key (tg_SeenValue a, tg_SeenValue b) {
  return a.bits == b.bits && tg_seen_variant(a) == tg_seen_variant(b);
}

/* Node by node: hashes differ from release to release. */
#define SEARCHED 4096u

tg_SeenValue tg_seen_index (tg_Sight *s, uint64_t table, uint64_t k) {
  tg_SeenTable t;
  tg_SeenValue key, wanted;
  tg_seen_traverse(s, table, SEARCHED, &t);
  if (k - 1 < t.elements)
    return element(s, &t, k - 1);
  set_integer(s, &wanted, k);
  for (uint64_t i = 0; i < t.nodes && t.nodes <= SEARCHED; i++) {
    tg_SeenValue v = node_at(s, &t, i, &key);
    if (tg_seen_type(v) != TG_SEEN_NIL && same_key(key, wanted))
      return v;
  }
  return NIL;
}

tg_SeenValue tg_seen_field (tg_Sight *s, uint64_t table, const char *name) {
  tg_SeenTable t;
  char text[64];
  tg_seen_traverse(s, table, TG_SEEN_STEPS, &t);
  t.i = t.elements;
  while (tg_seen_next(s, &t)) {
    if (tg_seen_type(t.key) == TG_SEEN_STRING
        && tg_seen_name(s, t.key.bits, text, sizeof text)
        && strcmp(text, name) == 0)
      return t.value;
  }
  return NIL;
}

/* }================================================================== */
