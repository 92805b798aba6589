/*
** tracedvalues.c - see tracedvalues.h.
**
** Strings are cut so that no entry is longer than ENTRY_MAX: 4 arguments of
** TEXT bytes, or of 16 members, each with a name and a value of MEMBER bytes.
** So room for an entry is made once, and the pieces are put there without a
** look.
**
** For arguments.c, at each call. Captured values are decoded by
** stream/values.h, which makes nil of damaged bytes. Memory that was refused is
** in 'failed'; the entry is whole all the same, if poorer.
*/
#include "formats/firefox/tracedvalues.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "export/jsontext.h"
#include "text/utf8.h"

#define ARGUMENTS 4u
#define MEMBERS 16u
#define TEXT ((size_t)1000)
#define MEMBER ((size_t)100)
#define ENTRY_MAX ((size_t)32 << 10)  /* none is longer */
#define HEAD_MAX ((size_t)16)         /* what a value has besides its text */

_Static_assert(ARGUMENTS * (HEAD_MAX + MEMBERS * 2 * (HEAD_MAX + MEMBER))
                   < ENTRY_MAX && ARGUMENTS * (HEAD_MAX + TEXT) < ENTRY_MAX,
               "an entry has room for what may be in it");

enum {                          /* types of values */
  TYPE_DOUBLE = 0, TYPE_INT = 1, TYPE_BOOLEAN = 2, TYPE_UNDEFINED = 3,
  TYPE_NULL = 4, TYPE_HOLE = 5, TYPE_STRING = 6, TYPE_BIGINT = 9,
  TYPE_OBJECT = 12
};

enum {                          /* kinds of objects */
  KIND_OPAQUE = 0, KIND_ARRAY = 1, KIND_MAP = 2, KIND_FUNCTION = 3,
  KIND_OBJECT = 5
};

#define WHOLE (15u << 4)        /* flags: a number follows */
#define UTF8 (2u << 14)

static void value (tg_TracedValues *v, tg_Buf *out, const tg_Grip *g,
                   bool member);

/*
** {==================================================================
** Pieces
** ===================================================================
*/

/* Room is there: see ENTRY_MAX. Byte by byte, since numbers are little-endian
   whatever the machine is, and stand where they come to. */
static void put16 (tg_Buf *out, uint32_t n) {
  uint8_t bytes[2] = {(uint8_t)n, (uint8_t)(n >> 8)};
  memcpy(out->data + out->size, bytes, sizeof bytes);
  out->size += sizeof bytes;
}

static void put32 (tg_Buf *out, uint32_t n) {
  put16(out, n);
  put16(out, n >> 16);
}

/* The type's byte, with flags in its upper half. */
static void put_type (tg_Buf *out, unsigned type) {
  out->data[out->size++] = (char)type;
}

/* Here the room is asserted: sizes of all else are constant. */
static void put_bytes (tg_Buf *out, const char *s, size_t size) {
  tg_assert(size <= out->capacity - out->size);
  if (size > 0)
    memcpy(out->data + out->size, s, size);
  out->size += size;
}

/* Text without its head; cut at the beginning of a character. */
static void put_text (tg_Buf *out, const char *s, size_t size, size_t most,
                      bool more) {
  if (size > most) {
    size = tg_utf8_start(s, most);
    more = true;
  }
  put16(out, (uint32_t)(size + (more ? 3 : 0)) | UTF8);
  put_bytes(out, s, size);
  if (more)
    put_bytes(out, "\xE2\x80\xA6", 3);      /* an ellipsis */
}

/* Shorter within a table: there may be 64 of them in an entry, and the viewer
   shows a member on one line. */
static void put_string (tg_TracedValues *v, tg_Buf *out, const tg_Grip *g,
                        bool member) {
  size_t most = member ? MEMBER : TEXT;
  if (most > v->selection->limits.string)
    most = v->selection->limits.string;
  put_type(out, TYPE_STRING);
  put_text(out, g->u.s.data, g->u.s.size, most, g->u.s.size < g->u.s.length);
}

static void put_word (tg_Buf *out, const char *s) {
  put_type(out, TYPE_STRING);
  put_text(out, s, strlen(s), MEMBER, false);
}

/* The bits of a double, as IEEE 754 has them; C allows to copy them. */
static void put_double (tg_Buf *out, double f) {
  uint64_t bits;
  memcpy(&bits, &f, sizeof bits);
  put_type(out, TYPE_DOUBLE | WHOLE);
  put32(out, (uint32_t)bits);
  put32(out, (uint32_t)(bits >> 32));
}

/* The smallest are in the type's byte, shifted by one for -1. Beyond 2^53 a
   double would be another number. */
static void put_integer (tg_Buf *out, int64_t i) {
  const int64_t exact = INT64_C(1) << 53;
  if (i >= -1 && i <= 13)
    put_type(out, TYPE_INT | (unsigned)(i + 1) << 4);
  else if (i >= INT32_MIN && i <= INT32_MAX) {
    put_type(out, TYPE_INT | WHOLE);
    put32(out, (uint32_t)i);
  }
  else if (i >= -exact && i <= exact)
    put_double(out, (double)i);
  else {
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%" PRId64, i);
    put_type(out, TYPE_BIGINT);
    put_text(out, digits, (size_t)n, sizeof digits, false);
  }
}

/* }================================================================== */

/*
** {==================================================================
** Shapes
** ===================================================================
*/

/* A shape is kept as its text, a JSON array: tables with the same class and the
   same keys share one, and the document needs no other form of it. */
static void begin_shape (tg_TracedValues *v, const char *cls, size_t size) {
  tg_buf_clear(&v->shape);
  tg_buf_addchar(&v->shape, '[');
  tg_jsontext_string(&v->shape, cls, size < MEMBER ? size : MEMBER);
}

/* The name of the class, or of the type where nobody has given one. */
static void begin_class (tg_TracedValues *v, const tg_Descriptor *d) {
  const char *type = tg_values_type_name(d->type);
  if ((d->flags & TG_DESC_CLASS) && d->cls.type == TG_STRING)
    begin_shape(v, d->cls.u.s.data, d->cls.u.s.size);
  else
    begin_shape(v, type, strlen(type));
}

static void add_key (tg_TracedValues *v, const char *s, size_t size) {
  tg_buf_addchar(&v->shape, ',');
  tg_jsontext_string(&v->shape, s, size);
}

/* Finds the shape, or adds it. */
static uint32_t add_shape (tg_TracedValues *v) {
  uint32_t shape = v->shape.failed ? TG_INTMAP_NONE
                   : tg_intern_add(v->shapes, v->shape.data, v->shape.size);
  v->failed = v->failed || shape == TG_INTMAP_NONE;
  return shape;
}

/* The number of the shape; TG_INTMAP_NONE if there is no room for more. */
static uint32_t end_shape (tg_TracedValues *v) {
  tg_buf_addchar(&v->shape, ']');
  if (v->shape.failed || v->shapes->count < v->most)
    return add_shape(v);
  return tg_intern_find(v->shapes, v->shape.data, v->shape.size);
}

/* Where the number stands is told to who will renumber it: on several threads
   each counts shapes of its own (arguments.c). */
static void put_shape (tg_TracedValues *v, tg_Buf *out, uint32_t shape) {
  uint16_t place = (uint16_t)(out->size - v->at);
  if (v->places_of != NULL)
    tg_buf_add(v->places_of, &place, sizeof place);
  put32(out, shape);
}

/* The head of an object of which a class is known, if there is room: shape 0 is
   "table", which the others become when there are too many. */
static void put_object (tg_TracedValues *v, tg_Buf *out, unsigned kind) {
  uint32_t shape = end_shape(v);
  tg_assert(v->shapes->count > 0 || v->failed);
  put_type(out, TYPE_OBJECT);
  put_type(out, kind);
  put_shape(v, out, shape != TG_INTMAP_NONE ? shape : 0);
}

/* }================================================================== */

/*
** {==================================================================
** Tables
** ===================================================================
*/

/* A table's captured members: the first of them, and what all are like. */
typedef struct Members {
  tg_Grip keys[MEMBERS], values[MEMBERS];
  uint32_t listed;        /* here */
  uint32_t count;         /* those captured, within the selection's limit */
  bool more;              /* there are others */
  bool sequence, named;   /* all keys are 1..count; all are short strings */
} Members;

static bool is_secret (const tg_TracedValues *v, const tg_Grip *key) {
  return v->selection->redacts && key->type == TG_STRING
         && tg_selection_hides(v->selection, key->u.s.data, key->u.s.size);
}

/* Nothing of a secret is put in, not even its length: it becomes another
   type. */
static bool next_member (const tg_TracedValues *v, tg_ValueCursor *c,
                         tg_Grip *key, tg_Grip *g) {
  if (!tg_values_property(c, key, g))
    return false;
  if (is_secret(v, key))
    g->type = TG_REDACTED;
  return true;
}

/* Strings may stand elsewhere in the chunk, relative to the list's origin. */
static tg_ValueCursor cursor_at (const tg_TracedValues *v, const uint8_t *p) {
  return (tg_ValueCursor){.p = p, .end = v->values.data + v->values.size,
                          .origin = v->values.origin};
}

/* 'count' has been raised for this key: a sequence counts from 1. A string that
   is cut is no name, since two that differ would become one. */
static void look_at_key (Members *m, const tg_Grip *key) {
  m->sequence = m->sequence && key->type == TG_INT && key->u.i == m->count;
  m->named = m->named && key->type == TG_STRING && key->u.s.size <= MEMBER
             && key->u.s.size == key->u.s.length;
}

/* The members at 'c'. Those beyond the list are read as well: one key among
   them may be what makes the table no sequence, and their number is told. */
static void read_members (const tg_TracedValues *v, tg_ValueCursor c,
                          Members *m) {
  tg_Grip beyond_key, beyond;
  tg_Grip *key = m->keys, *g = m->values;
  m->listed = m->count = 0;
  m->sequence = m->named = true;
  while (next_member(v, &c, key, g)) {
    if (m->count == v->selection->limits.properties) {
      m->more = true;
      return;
    }
    m->count++;
    look_at_key(m, key);
    if (m->listed < MEMBERS)
      m->listed++;
    key = m->listed < MEMBERS ? &m->keys[m->listed] : &beyond_key;
    g = m->listed < MEMBERS ? &m->values[m->listed] : &beyond;
  }
}

/* Members of members are not told: 'member' ends it there. */
static void put_members (tg_TracedValues *v, tg_Buf *out, const Members *m,
                         bool keys) {
  for (uint32_t i = 0; i < m->listed; i++) {
    if (keys)
      value(v, out, &m->keys[i], true);
    value(v, out, &m->values[i], true);
  }
}

/* A table that is 1 to n. */
static void put_sequence (tg_TracedValues *v, tg_Buf *out, const Members *m) {
  put_object(v, out, KIND_ARRAY);
  put32(out, m->count + m->more);
  put_members(v, out, m, false);
  if (m->more && m->count < MEMBERS)
    put_type(out, TYPE_HOLE);     /* as many as the length says */
}

/* A table of named fields is an object of a shape, as in JavaScript. False:
   there are too many shapes already. */
static bool put_named (tg_TracedValues *v, tg_Buf *out, const Members *m) {
  for (uint32_t i = 0; i < m->listed; i++)
    add_key(v, m->keys[i].u.s.data, m->keys[i].u.s.size);
  uint32_t shape = end_shape(v);
  if (shape == TG_INTMAP_NONE)
    return false;
  put_type(out, TYPE_OBJECT);
  put_type(out, KIND_OBJECT);
  put_shape(v, out, shape);
  put32(out, m->count + m->more);
  put_members(v, out, m, false);
  return true;
}

/* All other tables: keys of any type, in pairs. */
static void put_map (tg_TracedValues *v, tg_Buf *out, const Members *m) {
  bool more = m->more && m->count >= MEMBERS;   /* as above */
  put_object(v, out, KIND_MAP);
  put32(out, m->count + more);
  put_members(v, out, m, true);
}

/* A named table is tried first and may be refused for want of shapes; its keys
   are in the shape's text by then, so that begins again. */
static void put_table (tg_TracedValues *v, tg_Buf *out, const tg_Descriptor *d,
                       tg_ValueCursor at) {
  Members m;
  m.more = (d->flags & TG_DESC_TRUNCATED) != 0;
  begin_class(v, d);
  if (v->selection->limits.depth == 0 || !(d->flags & TG_DESC_PROPS)) {
    put_object(v, out, KIND_OPAQUE);
    return;
  }
  read_members(v, at, &m);
  if (m.sequence && m.count > 0)
    put_sequence(v, out, &m);
  else if (!m.named || !put_named(v, out, &m)) {
    begin_class(v, d);
    put_map(v, out, &m);
  }
}

/* }================================================================== */

/* Within a table without parameters: they would take more than all else. */
static void put_function (tg_TracedValues *v, tg_Buf *out,
                          const tg_Descriptor *d, bool member) {
  const tg_Function *f = tg_functions_find(v->functions, d->function);
  const char *name = f != NULL && f->name != NULL ? f->name : "";
  uint32_t n = f != NULL && f->params != NULL && !member ? f->nparams : 0;
  n = n < MEMBERS ? n : MEMBERS;
  put_type(out, TYPE_OBJECT);
  put_type(out, KIND_FUNCTION);
  put_text(out, name, strlen(name), MEMBER, false);
  put32(out, n);
  for (uint32_t i = 0; i < n; i++)
    put_text(out, f->params[i], strlen(f->params[i]), MEMBER, false);
}

/* The next descriptor begins where the cursor is. */
static bool note_place (tg_TracedValues *v) {
  if (!tg_grow(&v->places, &v->capacity, v->count + 1, sizeof *v->places)) {
    v->failed = true;
    return false;
  }
  v->places[v->count++] = (uint32_t)(v->next.p - v->values.data);
  return true;
}

/* Finds the descriptor of an object: they are in order, and those before it
   are passed over once. Their sizes are not told ahead, and most objects of a
   call are never asked for. */
static bool find_descriptor (tg_TracedValues *v, uint32_t id) {
  while (v->count <= id && !v->next.bad && v->next.p < v->next.end) {
    if (!note_place(v))
      return false;
    if (tg_values_pass_head(&v->next))
      tg_values_skip_properties(&v->next);
  }
  return id < v->count;
}

/* A descriptor that was damaged or not recorded leaves a type of 0, a table
   about which nothing is known. */
static void described (tg_TracedValues *v, tg_Buf *out, uint32_t id,
                       bool member) {
  tg_Descriptor d = {0};
  tg_ValueCursor c = cursor_at(v, v->values.data);
  bool found = find_descriptor(v, id);
  if (found) {
    tg_assert(v->places[id] < v->values.size);
    c.p += v->places[id];
    tg_values_descriptor(&c, &d);
  }
  if (d.type == TG_OBJ_FUNCTION)
    put_function(v, out, &d, member);
  else if (d.type == TG_OBJ_TABLE && !member && found)
    put_table(v, out, &d, c);
  else {
    begin_class(v, &d);
    put_object(v, out, KIND_OPAQUE);
  }
}

/* As one of JavaScript's values, which the viewer knows: nil is undefined. */
static void value (tg_TracedValues *v, tg_Buf *out, const tg_Grip *g,
                   bool member) {
  switch (g->type) {
    case TG_NIL: case TG_END: put_type(out, TYPE_UNDEFINED); break;
    case TG_FALSE: put_type(out, TYPE_BOOLEAN); break;
    case TG_TRUE: put_type(out, TYPE_BOOLEAN | 1u << 4); break;
    case TG_NULL: put_type(out, TYPE_NULL); break;
    case TG_REDACTED: put_word(out, "<redacted>"); break;
    case TG_INT: put_integer(out, g->u.i); break;
    case TG_FLOAT: put_double(out, g->u.f); break;
    case TG_STRING: put_string(v, out, g, member); break;
    case TG_OBJECT: described(v, out, g->u.id, member); break;
    case TG_NOROOM:
      begin_class(v, &(tg_Descriptor){.type = g->u.object});
      put_object(v, out, KIND_OPAQUE);
      break;
    default: tg_unreachable();
  }
}

/* Whether the value of parameter 'i' is to be kept secret. */
static bool secret (const tg_TracedValues *v, const tg_Function *f, uint32_t i)
{
  return v->selection->redacts && f != NULL && i < f->nparams
         && f->params != NULL
         && tg_selection_secret(v->selection, f->params[i]);
}

/* Passes over the grips at 'c': there the descriptors begin. */
static void begin_descriptors (tg_TracedValues *v, tg_ValueCursor c,
                               uint64_t grips) {
  tg_Grip g;
  for (; grips > 0 && !c.bad; grips--)
    tg_values_grip(&c, &g);
  v->count = 0;
  v->next = c;
}

/* The descriptors are looked for with the first object only: most calls have
   none among their first four arguments. */
static void put_values (tg_TracedValues *v, tg_Buf *out, tg_ValueCursor c,
                        uint64_t listed, const tg_Function *f) {
  bool begun = false;
  for (uint32_t i = 0; i < ARGUMENTS && i < listed; i++) {
    tg_ValueCursor here = c;
    tg_Grip g;
    tg_values_grip(&c, &g);
    if (g.type == TG_OBJECT && !begun) {
      begin_descriptors(v, here, listed - i);
      begun = true;
    }
    if (secret(v, f, i))
      g.type = TG_REDACTED;
    value(v, out, &g, false);
  }
}

/* Before any other, so that its number is 0 in each document. */
bool tg_tracedvalues_begin (tg_TracedValues *v) {
  if (v->shapes->count > 0)
    return true;
  begin_shape(v, "table", 5);
  return end_shape(v) != TG_INTMAP_NONE;
}

/* The size comes first and is known last: two bytes are left for it. */
void tg_tracedvalues_arguments (tg_TracedValues *v, tg_Buf *out,
                                const tg_Packet *p) {
  tg_ValueCursor c;
  tg_check(p->why == TG_WHY_ENTER && p->values.data != NULL);
  v->values = p->values;
  tg_values_open(&c, p->values);
  uint64_t n = tg_values_var(&c);
  tg_tracedvalues_begin(v);
  size_t at = v->at = out->size;
  if (!tg_buf_reserve(out, ENTRY_MAX)) {
    v->failed = true;
    return;
  }
  put16(out, 0);
  put32(out, n <= UINT32_MAX ? (uint32_t)n : UINT32_MAX);
  put_values(v, out, c, n < TG_VALUES_MAX ? n : TG_VALUES_MAX,
             tg_functions_find(v->functions, p->function));
  uint32_t size = (uint32_t)(out->size - at);
  tg_assert(size <= ENTRY_MAX);
  tg_assert(size >= TG_TRACEDVALUES_HEAD);
  out->data[at] = (char)size;
  out->data[at + 1] = (char)(size >> 8);
}

void tg_tracedvalues_free (tg_TracedValues *v) {
  tg_free(v->places);
  tg_buf_free(&v->shape);
  v->places = NULL;
  v->count = v->capacity = 0;
}
