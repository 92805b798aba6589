/* valuelist.c - see valuelist.h. */
#include "dump/valuelist.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

#define BYTES_MOST ((size_t)8 << 20)    /* of one list */
#define LEARNED_MOST 64         /* values looked at in one hidden table */

void tg_valuelist_free (tg_ValueLister *l) {
  tg_secrets_free(&l->secrets);
  tg_intmap_free(&l->ids);
  tg_free(l->met);
  tg_buf_free(&l->text);
}

/*
** {==================================================================
** Scalars
** ===================================================================
*/

static void add_var (tg_Buf *to, uint64_t v) {
  while (v >= 0x80) {
    tg_buf_addchar(to, (char)(v | 0x80));
    v >>= 7;
  }
  tg_buf_addchar(to, (char)v);
}

static void add_integer (tg_Buf *to, int64_t i) {
  tg_buf_addchar(to, TG_GRIP_INT);
  add_var(to, ((uint64_t)i << 1) ^ (uint64_t)(i >> 63));
}

/* Up to 5.2 all numbers are floats: those that are whole read as integers. */
static void add_number (tg_ValueLister *l, tg_SeenValue v, tg_Buf *to) {
  const tg_Sight *s = &l->definitions->target->sight;
  double d = tg_seen_float(v);
  if (tg_seen_is_integer(s, v))
    add_integer(to, (int64_t)v.bits);
  else if (!tg_sight_has(s, TAG_INTEGER) && d >= -0x1p53 && d <= 0x1p53
           && d == (double)(int64_t)d && (d != 0 || v.bits == 0))
    add_integer(to, (int64_t)d);
  else {
    tg_buf_addchar(to, TG_GRIP_FLOAT);
    tg_buf_put64(to, v.bits);
  }
}

static bool read_text (tg_ValueLister *l, uint64_t string, uint64_t *whole) {
  size_t most = l->selection->limits.string;
  if (tg_secrets_any(&l->secrets) && most < TG_NAME_READ)
    most = TG_NAME_READ;
  tg_buf_clear(&l->text);
  return tg_seen_text(&l->definitions->target->sight, string, most, &l->text,
                      whole);
}

/* One that cannot be read is shown as a string of no bytes, not whole. */
static void add_string (tg_ValueLister *l, uint64_t string, tg_Buf *to) {
  uint64_t whole = 1;
  bool read = read_text(l, string, &whole);
  size_t size = read ? l->text.size : 0;
  if (size > l->selection->limits.string)
    size = l->selection->limits.string;
  if (tg_secrets_any(&l->secrets) && l->text.size > 0
      && tg_secrets_find(&l->secrets, l->text.data, l->text.size, size)) {
    tg_buf_addchar(to, TG_GRIP_REDACTED);
    return;
  }
  tg_buf_addchar(to, TG_GRIP_STRING);
  add_var(to, whole);
  add_var(to, size);
  tg_buf_add(to, l->text.data, size);
}

/* }================================================================== */

/*
** {==================================================================
** Objects
** ===================================================================
*/

static tg_ObjectType object_type (tg_SeenValue v) {
  switch (tg_seen_type(v)) {
    case TG_SEEN_TABLE: return TG_OBJ_TABLE;
    case TG_SEEN_FUNCTION: return TG_OBJ_FUNCTION;
    case TG_SEEN_THREAD: return TG_OBJ_THREAD;
    case TG_SEEN_NIL: case TG_SEEN_BOOLEAN: case TG_SEEN_LIGHT:
    case TG_SEEN_NUMBER: case TG_SEEN_STRING: case TG_SEEN_USERDATA:
    case TG_SEEN_OTHER: default:
      return TG_OBJ_USERDATA;
  }
}

/* Light userdata may have the address of another object: an odd one of its
   own. */
static uint64_t identity (tg_SeenValue v) {
  return (tg_seen_type(v) == TG_SEEN_LIGHT) ? v.bits + 1 : v.bits;
}

#define NONE UINT32_MAX

static uint32_t meet (tg_ValueLister *l, tg_SeenValue v, uint32_t level) {
  uint32_t id = tg_intmap_find(&l->ids, identity(v));
  if (id != TG_INTMAP_NONE)
    return id;
  if (l->count >= l->selection->limits.objects
      || !tg_grow(&l->met, &l->capacity, l->count + 1, sizeof *l->met)
      || !tg_intmap_set(&l->ids, identity(v), l->count))
    return NONE;
  l->met[l->count] = (tg_Met){v, level};
  return l->count++;
}

static void add_object (tg_ValueLister *l, tg_SeenValue v, uint32_t level,
                        tg_Buf *to) {
  uint32_t id = meet(l, v, level);
  tg_buf_addchar(to, (id != NONE) ? TG_GRIP_OBJECT : TG_GRIP_NOROOM);
  if (id != NONE)
    add_var(to, id);
  else
    tg_buf_addchar(to, (char)object_type(v));
}

static void add_value (tg_ValueLister *l, tg_SeenValue v, uint32_t level,
                       tg_Buf *to) {
  const tg_Sight *s = &l->definitions->target->sight;
  switch (tg_seen_type(v)) {
    case TG_SEEN_NIL: case TG_SEEN_OTHER: default:
      tg_buf_addchar(to, TG_GRIP_NIL);
      break;
    case TG_SEEN_BOOLEAN:
      tg_buf_addchar(to, tg_seen_is_true(s, v) ? TG_GRIP_TRUE
                                               : TG_GRIP_FALSE);
      break;
    case TG_SEEN_NUMBER: add_number(l, v, to); break;
    case TG_SEEN_STRING: add_string(l, v.bits, to); break;
    case TG_SEEN_LIGHT:
      if (v.bits == 0) {
        tg_buf_addchar(to, TG_GRIP_NULL);
        break;
      }
      add_object(l, v, level, to);
      break;
    case TG_SEEN_TABLE: case TG_SEEN_FUNCTION: case TG_SEEN_USERDATA:
    case TG_SEEN_THREAD:
      add_object(l, v, level, to);
      break;
  }
}

/* }================================================================== */

/*
** {==================================================================
** What is hidden
** ===================================================================
*/

static void learn_text (tg_ValueLister *l, uint64_t string) {
  uint64_t whole;
  tg_buf_clear(&l->text);
  if (tg_seen_text(&l->definitions->target->sight, string, TG_SECRET_TEXT,
                   &l->text, &whole) && l->text.size > 0)
    tg_secrets_add(&l->secrets, l->text.data, l->text.size);
}

/* Strings that are hidden, or in a table that is, are hidden in other values,
   too. */
static void learn (tg_ValueLister *l, tg_SeenValue v, int depth) {
  tg_SeenTable t;
  if (tg_seen_type(v) == TG_SEEN_STRING)
    learn_text(l, v.bits);
  if (tg_seen_type(v) != TG_SEEN_TABLE || depth == 0)
    return;
  tg_seen_traverse(&l->definitions->target->sight, v.bits, LEARNED_MOST, &t);
  while (tg_seen_next(&l->definitions->target->sight, &t))
    learn(l, t.value, depth - 1);
}

static bool is_hidden (tg_ValueLister *l, tg_SeenValue key) {
  char name[TG_NAME_READ + 2];
  if (!l->selection->redacts || tg_seen_type(key) != TG_SEEN_STRING)
    return false;
  tg_seen_name(&l->definitions->target->sight, key.bits, name, sizeof name);
  return tg_selection_hides(l->selection, name, strlen(name));
}

/* }================================================================== */

/*
** {==================================================================
** Tables
** ===================================================================
*/

typedef struct Listing {
  uint64_t table;
  uint32_t level;       /* of what its properties hold */
  uint32_t listed;
  uint64_t n;           /* length of the sequence */
  bool cut;
} Listing;

static bool affordable (tg_ValueLister *l, Listing *t, const tg_Buf *to) {
  if (t->listed >= l->selection->limits.properties || to->size > BYTES_MOST)
    t->cut = true;
  else
    t->listed++;
  return !t->cut;
}

static void add_property (tg_ValueLister *l, const Listing *t,
                          tg_SeenValue key, tg_SeenValue value, tg_Buf *to) {
  add_value(l, key, t->level, to);
  if (is_hidden(l, key)) {
    learn(l, value, 3);
    tg_buf_addchar(to, TG_GRIP_REDACTED);
  }
  else
    add_value(l, value, t->level, to);
}

static void add_sequence (tg_ValueLister *l, Listing *t, tg_Buf *to) {
  tg_Sight *s = &l->definitions->target->sight;
  for (;;) {
    tg_SeenValue v = tg_seen_index(s, t->table, t->n + 1);
    if (tg_seen_type(v) == TG_SEEN_NIL || !affordable(l, t, to))
      return;
    t->n++;
    add_integer(to, (int64_t)t->n);
    add_value(l, v, t->level, to);
  }
}

/* Whether an integer key is one of the sequence, which is listed already. */
static bool in_sequence (const tg_Sight *s, const Listing *t,
                         tg_SeenValue key) {
  if (tg_seen_type(key) != TG_SEEN_NUMBER)
    return false;
  if (tg_seen_is_integer(s, key))
    return key.bits >= 1 && key.bits <= t->n;
  double d = tg_seen_float(key);
  return !tg_sight_has(s, TAG_INTEGER) && d >= 1 && d <= (double)t->n
         && d == (double)(uint64_t)d;
}

static void add_rest (tg_ValueLister *l, Listing *t, tg_Buf *to) {
  tg_Sight *s = &l->definitions->target->sight;
  tg_SeenTable e;
  tg_seen_traverse(s, t->table, TG_SEEN_STEPS, &e);
  if (t->n < e.elements)
    e.i = t->n;         /* they have been */
  else
    e.i = e.elements;
  while (!t->cut && tg_seen_next(s, &e)) {
    if (!in_sequence(s, t, e.key) && affordable(l, t, to))
      add_property(l, t, e.key, e.value, to);
  }
  t->cut = t->cut || e.cut;
}

static bool add_properties (tg_ValueLister *l, const tg_Met *o, tg_Buf *to) {
  Listing t = {.table = o->value.bits, .level = o->level + 1};
  add_sequence(l, &t, to);
  if (!t.cut)
    add_rest(l, &t, to);
  tg_buf_addchar(to, TG_GRIP_END);
  return t.cut;
}

static bool has_content (tg_ValueLister *l, uint64_t table) {
  tg_SeenTable t;
  tg_seen_traverse(&l->definitions->target->sight, table, TG_SEEN_STEPS, &t);
  return tg_seen_next(&l->definitions->target->sight, &t);
}

/* }================================================================== */

/*
** {==================================================================
** Descriptors
** ===================================================================
*/

/* The class that a metatable gives. */
static bool find_class (tg_ValueLister *l, uint64_t meta, uint64_t *name) {
  tg_SeenValue v = tg_seen_field(&l->definitions->target->sight, meta,
                                 "__name");
  *name = v.bits;
  return tg_seen_type(v) == TG_SEEN_STRING;
}

static uint64_t metatable_of (tg_ValueLister *l, tg_SeenValue v) {
  uint64_t meta = tg_seen_metatable(&l->definitions->target->sight, l->shared,
                                    v);
  return (meta != 0 && tg_seen_is_table(&l->definitions->target->sight, meta))
         ? meta : 0;
}

/* Type and flags come first and are known last. */
static void add_descriptor (tg_ValueLister *l, uint32_t id, tg_Buf *to) {
  tg_Met o = l->met[id];
  bool listed = o.level < l->selection->limits.depth
                && to->size <= BYTES_MOST;
  uint64_t name, meta = metatable_of(l, o.value);
  uint32_t flags = 0;
  size_t head = to->size;
  tg_buf_addchar(to, (char)object_type(o.value));
  tg_buf_addchar(to, 0);
  if (meta != 0 && find_class(l, meta, &name)) {
    flags |= TG_DESC_CLASS;
    add_string(l, name, to);
  }
  if (meta != 0 && listed) {
    flags |= TG_DESC_PROTO;
    add_object(l, (tg_SeenValue){meta, TG_SEEN_TABLE}, o.level + 1, to);
  }
  else if (meta != 0)
    flags |= TG_DESC_META | TG_DESC_TRUNCATED;
  if (tg_seen_type(o.value) == TG_SEEN_FUNCTION) {
    tg_FunctionId f = tg_described_of(l->definitions, o.value, NULL);
    flags |= (f != 0) ? TG_DESC_FUNCTION : 0u;
    if (f != 0)
      add_var(to, f);
  }
  if (tg_seen_type(o.value) == TG_SEEN_TABLE && listed) {
    flags |= TG_DESC_PROPS;
    flags |= add_properties(l, &o, to) ? TG_DESC_TRUNCATED : 0u;
  }
  else if (tg_seen_type(o.value) == TG_SEEN_TABLE
           && has_content(l, o.value.bits))
    flags |= TG_DESC_TRUNCATED;
  if (!to->failed)
    to->data[head + 1] = (char)flags;
}

void tg_valuelist_put (tg_ValueLister *l, const tg_SeenValue *values,
                       const bool *hidden, uint32_t n, tg_Buf *to) {
  tg_intmap_free(&l->ids);
  memset(&l->ids, 0, sizeof l->ids);
  l->count = 0;
  add_var(to, n);
  for (uint32_t i = 0; i < n; i++) {
    if (hidden[i]) {
      learn(l, values[i], 3);
      tg_buf_addchar(to, TG_GRIP_REDACTED);
    }
    else
      add_value(l, values[i], 0, to);
  }
  for (uint32_t id = 0; id < l->count; id++)
    add_descriptor(l, id, to);
}

/* }================================================================== */
