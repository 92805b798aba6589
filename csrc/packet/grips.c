/*
** grips.c - from captured bytes to grips, descriptors and pool.
**
** A packet's JSON stays below 16 MiB whatever the limits: each part is paid
** for out of a budget, estimated generously, and what is not affordable is cut
** like what is beyond a limit.
*/
#include "packet/grips.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/grow.h"
#include "packet/names.h"
#include "packet/scalars.h"
#include "text/jsonwriter.h"
#include "text/terminal.h"

/* What parts of a packet come to in JSON, at most. */
#define COST_OBJECT 320u
#define COST_PROPERTY 192u    /* value included, but for a string's text */
#define COST_ESCAPED 6u       /* per byte of a key that is escaped twice */

static bool spend (tg_Grips *g, size_t cost) {
  if (cost > g->budget)
    return false;
  g->budget -= (uint32_t)cost;
  return true;
}

/*
** {==================================================================
** Text
** ===================================================================
*/

static uint32_t byte_cost (char c) {
  unsigned char byte = (unsigned char)c;
  if (byte < 0x20)
    return 6;
  return byte >= 0x80 || c == '"' || c == '\\' ? 2 : 1;
}

/* Of up to eight bytes together. */
static uint32_t word_cost (const char *s, size_t size) {
  const uint64_t low = TG_EACH(0x7f);
  uint64_t x = tg_escape_load(s, size);
  if (size < 8)
    x |= TG_EACH('a') << 8 * size;      /* bytes that cost nothing more */
  uint64_t quote = x ^ TG_EACH('"'), slash = x ^ TG_EACH('\\');
  uint64_t two = x | ~(((quote & low) + low) | quote)
                 | ~(((slash & low) + low) | slash);
  uint64_t six = ~(((x & low) + TG_EACH(0x60)) | x);
  two = ((two >> 7 & TG_EACH(1)) * TG_EACH(1)) >> 56;
  six = ((six >> 7 & TG_EACH(1)) * TG_EACH(1)) >> 56;
  return (uint32_t)(size + two + 5 * six);
}

/* How much of a text within the string limit is affordable; it is paid. */
static size_t afford (tg_Grips *g, const char *s, size_t size) {
  size_t n = 0;
  uint32_t cost;
  if (size > g->selection->limits.string)
    size = g->selection->limits.string;
  while (n < size) {
    size_t part = size - n < 8 ? size - n : 8;
    cost = word_cost(s + n, part);
    if (cost > g->budget)
      break;
    g->budget -= cost;
    n += part;
  }
  while (n < size && spend(g, byte_cost(s[n])))
    n++;
  return n;
}

static tg_Buf *fresh_room (tg_Grips *g) {
  g->scratch->failed = g->scratch->failed || g->scratch->room.failed;
  tg_buf_clear(&g->scratch->room);
  return &g->scratch->room;
}

/* }================================================================== */

/*
** {==================================================================
** Opening: where the descriptors are
** ===================================================================
*/

void tg_scratch_free (tg_Scratch *scratch) {
  tg_free(scratch->entries);
  tg_buf_free(&scratch->room);
  memset(scratch, 0, sizeof *scratch);
}

static bool add_entry (tg_Grips *g, uint32_t offset) {
  tg_Scratch *s = g->scratch;
  if (!tg_grow(&s->entries, &s->capacity, g->descriptors + 1,
               sizeof *s->entries)) {
    s->failed = true;
    return false;
  }
  s->entries[g->descriptors++] = (tg_GripEntry){.offset = offset};
  return true;
}

/* Those that can be read to their end; the rest is as if it were not there. */
static void find_descriptors (tg_Grips *g, tg_ValueCursor c) {
  while (c.p < c.end && !c.bad) {
    uint32_t offset = (uint32_t)(c.p - g->bytes);
    if (tg_values_pass_head(&c))
      tg_values_skip_properties(&c);
    if (c.bad || !add_entry(g, offset))
      return;
  }
}

static void find_values (tg_Grips *g) {
  tg_ValueCursor c = g->first;
  uint32_t most = g->count < TG_VALUES_MAX ? (uint32_t)g->count
                                           : TG_VALUES_MAX;
  while (g->listed < most) {
    tg_Grip grip;
    tg_values_grip(&c, &grip);
    if (grip.type == TG_END)
      return;
    g->listed++;
  }
  find_descriptors(g, c);
}

void tg_grips_open (tg_Grips *g, tg_Sink *out, const tg_Functions *functions,
                    const tg_Selection *selection, tg_Scratch *scratch,
                    tg_Slice values) {
  memset(g, 0, sizeof *g);
  g->out = out;
  g->functions = functions;
  g->selection = selection;
  g->scratch = scratch;
  g->bytes = values.data;
  g->budget = TG_PACKET_MAX;
  tg_values_open(&g->first, values);
  g->count = tg_values_var(&g->first);
  if (values.size <= UINT32_MAX)
    find_values(g);
}

/* }================================================================== */

/*
** {==================================================================
** Grips
** ===================================================================
*/

static const char *type_name (tg_ObjectType type) {
  static const char *const names[] = {"table", "function", "thread",
                                      "userdata"};
  return names[type];
}

static tg_ObjectType object_type (const tg_Grips *g, uint32_t id) {
  if (id >= g->descriptors)
    return TG_OBJ_TABLE;
  return (tg_ObjectType)g->bytes[g->scratch->entries[id].offset];
}

static void read_descriptor (const tg_Grips *g, uint32_t id,
                             tg_ValueCursor *c, tg_Descriptor *d) {
  *c = g->first;
  c->p = g->bytes + g->scratch->entries[id].offset;
  c->bad = false;
  tg_values_descriptor(c, d);
}

static size_t length_of (const char *s) {
  return s != NULL ? strlen(s) : 0;
}

/* A function's descriptor brings along names of any length. */
static size_t function_cost (const tg_Grips *g, uint32_t id) {
  tg_ValueCursor c;
  tg_Descriptor d;
  read_descriptor(g, id, &c, &d);
  const tg_Function *f = tg_functions_find(g->functions, d.function);
  if (f == NULL)
    return 0;
  size_t cost = length_of(f->name) + length_of(f->url);
  for (uint16_t i = 0; f->params != NULL && i < f->nparams; i++)
    cost += length_of(f->params[i]) + 4;
  return cost * COST_ESCAPED;
}

static size_t object_cost (const tg_Grips *g, uint32_t id) {
  if (object_type(g, id) != TG_OBJ_FUNCTION)
    return COST_OBJECT;
  return COST_OBJECT + function_cost(g, id);
}

/* 1 + the index of an object, which it may get here; 0: there is no room. */
static uint32_t rank_of (tg_Grips *g, uint32_t id, uint32_t level) {
  if (id >= g->descriptors)
    return 0;
  tg_GripEntry *e = &g->scratch->entries[id];
  if (e->rank != 0)
    return e->rank;
  if (g->given >= g->selection->limits.objects || !spend(g, object_cost(g, id)))
    return 0;
  e->level = level;
  g->scratch->entries[g->given++].id = id;
  e->rank = g->given + (g->standin != 0);
  return e->rank;
}

/* An object without room. Clients look into the pool for every object: one more
   entry there stands for all of these. */
static void put_noroom (tg_Grips *g, tg_ObjectType type) {
  const char *name = type_name(type);
  tg_Sink *out = g->out;
  if (g->standin == 0)
    g->standin = g->given + 1;
  tg_open_typed(out, "object");
  tg_put_key(out, "objectId");
  out->integer(out, g->standin - 1);
  tg_put_key(out, "class");
  out->string(out, name, strlen(name));
  tg_put_truncated(out);
  out->close(out);
}

static void put_object (tg_Grips *g, uint32_t id, uint32_t level) {
  uint32_t rank = rank_of(g, id, level);
  if (rank == 0) {
    put_noroom(g, object_type(g, id));
    return;
  }
  tg_open_typed(g->out, "object");
  tg_put_key(g->out, "objectId");
  g->out->integer(g->out, rank - 1);
  g->out->close(g->out);
}

static void put_bytes (tg_Grips *g, const char *s, size_t size,
                       uint64_t length) {
  tg_Buf *b = fresh_room(g);
  tg_add_base64(b, s, size);
  if (!b->failed && size > 0)
    tg_put_long(g->out, true, b->data, b->size, length);
  else
    tg_put_long(g->out, true, "", 0, length);
}

static void put_string (tg_Grips *g, const tg_Grip *v) {
  const char *s = v->u.s.data;
  size_t n = afford(g, s, v->u.s.size);
  bool cut = n < v->u.s.length;
  size_t whole = tg_utf8_whole(s, n);
  if (whole < n && !(cut && tg_utf8_begun(s + whole, n - whole)))
    put_bytes(g, s, n, v->u.s.length);
  else if (cut)
    tg_put_long(g->out, false, s, whole, v->u.s.length);
  else
    g->out->string(g->out, s, n);
}

static void put_grip (tg_Grips *g, const tg_Grip *v, uint32_t level) {
  tg_Sink *out = g->out;
  switch (v->type) {
    case TG_FALSE: case TG_TRUE: out->boolean(out, v->type == TG_TRUE); break;
    case TG_NULL: tg_put_typed(out, "null"); break;
    case TG_REDACTED: tg_put_typed(out, "redacted"); break;
    case TG_INT: tg_put_integer(out, v->u.i); break;
    case TG_FLOAT: tg_put_float(out, v->u.f); break;
    case TG_STRING: put_string(g, v); break;
    case TG_OBJECT: put_object(g, v->u.id, level); break;
    case TG_NOROOM: put_noroom(g, v->u.object); break;
    case TG_NIL: case TG_END: default: tg_put_typed(out, "undefined"); break;
  }
}

/* }================================================================== */

/*
** {==================================================================
** Lists
** ===================================================================
*/

void tg_grips_first (tg_Grips *g) {
  tg_ValueCursor c = g->first;
  tg_Grip v = {.type = TG_NIL};
  if (g->listed > 0)
    tg_values_grip(&c, &v);
  put_grip(g, &v, 0);
}

static bool secret_parameter (const tg_Grips *g, const tg_Function *f,
                              uint32_t i) {
  return f != NULL && i < f->nparams && f->params != NULL
         && f->params[i] != NULL
         && tg_selection_secret(g->selection, f->params[i]);
}

void tg_grips_list (tg_Grips *g, const tg_Function *f) {
  tg_ValueCursor c = g->first;
  g->out->array(g->out);
  for (uint32_t i = 0; i < g->listed; i++) {
    tg_Grip v;
    tg_values_grip(&c, &v);
    if (secret_parameter(g, f, i))
      tg_put_typed(g->out, "redacted");
    else
      put_grip(g, &v, 0);
  }
  g->out->close(g->out);
}

bool tg_grips_cut (const tg_Grips *g) {
  return g->listed < g->count;
}

/* }================================================================== */

/*
** {==================================================================
** Keys: as in a Lua constructor
** ===================================================================
*/

static void add_float_key (tg_Buf *b, double v) {
  if (isnan(v))
    return;
  if (isinf(v)) {
    tg_buf_addstr(b, v > 0 ? "math.huge" : "-math.huge");
    return;
  }
  tg_JsonWriter json;
  tg_jsonwriter_init(&json, b);
  json.sink.number(&json.sink, v);
}

/* What stands between the brackets; false for what has no such text. */
static bool add_key (tg_Grips *g, tg_Buf *b, const tg_Grip *k,
                     uint32_t level) {
  uint32_t rank;
  switch (k->type) {
    case TG_FALSE: tg_buf_addstr(b, "false"); return true;
    case TG_TRUE: tg_buf_addstr(b, "true"); return true;
    case TG_NULL: tg_buf_addstr(b, "null"); return true;
    case TG_INT: tg_buf_addi64(b, k->u.i); return true;
    case TG_FLOAT: add_float_key(b, k->u.f); return !isnan(k->u.f);
    case TG_OBJECT:
      rank = rank_of(g, k->u.id, level);
      if (rank == 0)
        return false;
      tg_buf_addstr(b, type_name(object_type(g, k->u.id)));
      tg_buf_addchar(b, ' ');
      tg_buf_addu64(b, rank - 1);
      return true;
    case TG_NIL: case TG_REDACTED: case TG_STRING: case TG_NOROOM: case TG_END:
    default: return false;
  }
}

static bool put_built_key (tg_Sink *out, tg_Buf *b) {
  if (b->failed)
    return false;
  out->key(out, b->data, b->size);
  return true;
}

static bool put_bracket_key (tg_Grips *g, const tg_Grip *k, uint32_t level) {
  tg_Buf *b = fresh_room(g);
  tg_buf_addchar(b, '[');
  if (!add_key(g, b, k, level))
    return false;
  tg_buf_addchar(b, ']');
  return put_built_key(g->out, b);
}

/* A name that is not UTF-8, or could be taken for a bracketed key. */
static bool put_escaped_key (tg_Grips *g, const char *s, size_t size,
                             bool bracket) {
  tg_Buf *b = fresh_room(g);
  if (!spend(g, size * COST_ESCAPED))
    return false;
  if (bracket)
    tg_buf_addstr(b, "[\"");
  tg_terminal_escape(b, s, size, bracket ? '"' : 0);
  if (bracket)
    tg_buf_addstr(b, "\"]");
  return put_built_key(g->out, b);
}

/* Cuts like a string; '*cut' says whether it did. */
static bool put_string_key (tg_Grips *g, const tg_Grip *k, bool *cut) {
  const char *s = k->u.s.data;
  size_t n = afford(g, s, k->u.s.size);
  size_t whole = tg_utf8_whole(s, n);
  if (n < k->u.s.length) {
    *cut = true;
    if (whole < n && tg_utf8_begun(s + whole, n - whole))
      n = whole;
  }
  bool bracket = n > 0 && s[0] == '[';
  if (whole < n || bracket)
    return put_escaped_key(g, s, n, bracket);
  g->out->key(g->out, s, n);
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Descriptors
** ===================================================================
*/

static bool secret_key (const tg_Grips *g, const tg_Grip *k) {
  return k->type == TG_STRING
         && tg_selection_hides(g->selection, k->u.s.data, k->u.s.size);
}

static void put_property (tg_Grips *g, const tg_Grip *k, const tg_Grip *v,
                          uint32_t level) {
  static const tg_Member flags = TG_FLAGS("enumerable", true, "configurable",
                                         true, "writable", true);
  tg_Sink *out = g->out;
  out->object(out);
  out->member(out, &flags);
  tg_put_key(out, "value");
  if (secret_key(g, k))
    tg_put_typed(out, "redacted");
  else
    put_grip(g, v, level);
  out->close(out);
}

/* The properties at 'c'; whether some are not listed, or not in full. */
static bool put_properties (tg_Grips *g, tg_ValueCursor *c, uint32_t level) {
  bool cut = false;
  tg_Grip k, v;
  tg_values_grip(c, &k);
  for (uint32_t n = 0; k.type != TG_END; n++) {
    tg_values_grip(c, &v);
    if (n >= g->selection->limits.properties || !spend(g, COST_PROPERTY))
      return true;
    bool named = k.type == TG_STRING ? put_string_key(g, &k, &cut)
                                     : put_bracket_key(g, &k, level);
    if (named)
      put_property(g, &k, &v, level);
    else
      cut = true;
    tg_values_grip(c, &k);
  }
  return cut;
}

/* Whether the class is not what it was. */
static bool put_class (tg_Grips *g, const tg_Descriptor *d) {
  tg_put_key(g->out, "class");
  if ((d->flags & TG_DESC_CLASS) == 0) {
    const char *name = type_name(d->type);
    g->out->string(g->out, name, strlen(name));
    return false;
  }
  const char *s = d->cls.u.s.data;
  size_t n = afford(g, s, d->cls.u.s.size);
  bool cut = n < d->cls.u.s.length;
  size_t whole = tg_utf8_whole(s, n);
  if (cut && tg_utf8_begun(s + whole, n - whole))
    n = whole;
  tg_put_text(g->out, &g->scratch->room, s, n);
  return cut;
}

/* Whether there is a metatable beyond the depth that is shown. */
static bool put_prototype (tg_Grips *g, const tg_Descriptor *d,
                           uint32_t level) {
  bool listed = (d->flags & TG_DESC_PROTO) != 0;
  bool has = listed || (d->flags & TG_DESC_META) != 0;
  tg_put_key(g->out, "prototype");
  if (listed && level < g->selection->limits.depth) {
    put_grip(g, &d->proto, level + 1);
    return false;
  }
  tg_open_typed(g->out, "null");
  if (has)
    tg_put_truncated(g->out);
  g->out->close(g->out);
  return has;
}

/* Whether a property is listed at the cursor, which is a copy. */
static bool has_property (tg_ValueCursor *c) {
  tg_Grip key;
  tg_values_grip(c, &key);
  return key.type != TG_END;
}

/* Whether there are properties that are not listed. */
static bool put_own (tg_Grips *g, const tg_Descriptor *d, tg_ValueCursor *c,
                     uint32_t level) {
  bool cut = (d->flags & TG_DESC_TRUNCATED) != 0;
  tg_put_key(g->out, "ownProperties");
  g->out->object(g->out);
  if (level >= g->selection->limits.depth)
    cut = cut || ((d->flags & TG_DESC_PROPS) != 0 && has_property(c));
  else if (d->flags & TG_DESC_PROPS)
    cut = put_properties(g, c, level + 1) || cut;
  g->out->close(g->out);
  return cut;
}

static void put_function (tg_Grips *g, const tg_Descriptor *d) {
  const tg_Function *f = tg_functions_find(g->functions, d->function);
  if (f == NULL)
    return;
  tg_put_key(g->out, "name");
  tg_put_name(g->out, &g->scratch->room, f);
  tg_put_key(g->out, "parameterNames");
  tg_put_params(g->out, &g->scratch->room, f);
  tg_put_place(g->out, &g->scratch->room, f);
}

static const tg_Member descriptor_flags
    = TG_FLAGS("extensible", true, "frozen", false, "sealed", false);

static void put_descriptor (tg_Grips *g, uint32_t id, uint32_t level) {
  tg_Sink *out = g->out;
  tg_ValueCursor c;
  tg_Descriptor d;
  read_descriptor(g, id, &c, &d);
  out->object(out);
  bool cut = put_class(g, &d);
  out->member(out, &descriptor_flags);
  cut = put_prototype(g, &d, level) || cut;
  cut = put_own(g, &d, &c, level) || cut;
  tg_put_key(out, "safeGetterValues");
  out->object(out);
  out->close(out);
  if (d.flags & TG_DESC_FUNCTION)
    put_function(g, &d);
  if (cut)
    tg_put_truncated(out);
  out->close(out);
}

static void put_empty (tg_Sink *out) {
  out->object(out);
  out->close(out);
}

/* The entry for objects without room, of which nothing is known. */
static void put_standin (tg_Sink *out) {
  out->object(out);
  tg_put_member(out, "class", "object");
  out->member(out, &descriptor_flags);
  tg_put_key(out, "prototype");
  tg_put_typed(out, "null");
  tg_put_key(out, "ownProperties");
  put_empty(out);
  tg_put_key(out, "safeGetterValues");
  put_empty(out);
  tg_put_truncated(out);
  out->close(out);
}

/* Whether the entry with the next index is the one for objects without room,
   which comes after 'n' of those with. */
static bool standin_next (const tg_Grips *g, uint32_t n) {
  return g->standin == n + 1;
}

void tg_grips_pool (tg_Grips *g) {
  uint32_t n = 0;
  g->out->array(g->out);
  for (; n < g->given; n++) {
    if (standin_next(g, n))
      put_standin(g->out);
    uint32_t id = g->scratch->entries[n].id;
    put_descriptor(g, id, g->scratch->entries[id].level);
  }
  if (standin_next(g, n))
    put_standin(g->out);
  g->out->close(g->out);
}

/* }================================================================== */
