/*
** grippool.c - see grippool.h.
**
** Called by packet.c when all grips of a packet are written; on any thread. The
** bytes of the descriptors were read through once when the list was opened, so
** each ends where it should; what they say may still be anything. What cannot
** be afforded, or put together for want of memory, is left out and marked.
*/
#include "packet/grippool.h"

#include <math.h>
#include <string.h>

#include "packet/names.h"
#include "packet/scalars.h"
#include "text/jsonwriter.h"
#include "text/terminal.h"
#include "text/utf8.h"

/* Bytes of JSON that a property comes to at most, with its value, but for a
   string's text. */
#define COST_PROPERTY 192u

/*
** {==================================================================
** Keys: as in a Lua constructor
** ===================================================================
*/

/* NaN is no key (manual, 2.1), but a damaged file may have it. */
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

/* Writes a key as it stands between brackets; false for a key without such a
   text. An object as a key is named by its type and index, and so gets a place
   in the pool. */
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
      rank = tg_grips_rank(g, k->u.id, level);
      if (rank == 0)
        return false;
      tg_buf_addstr(b, tg_values_type_name(tg_grips_type(g, k->u.id)));
      tg_buf_addchar(b, ' ');
      tg_buf_addu64(b, rank - 1);
      return true;
    case TG_NIL: case TG_REDACTED: case TG_STRING: case TG_NOROOM: case TG_END:
    default: return false;
  }
}

/* A key that had to be put together. Without memory for it the property is left
   out: half a key would be another one. */
static bool put_built_key (tg_Sink *out, tg_Buf *b) {
  if (b->failed)
    return false;
  out->key(out, b->data, b->size);
  return true;
}

/* A key that is no string, between brackets; false if it cannot be shown. */
static bool put_bracket_key (tg_Grips *g, const tg_Grip *k, uint32_t level) {
  tg_Buf *b = tg_grips_room(g);
  tg_buf_addchar(b, '[');
  if (!add_key(g, b, k, level))
    return false;
  tg_buf_addchar(b, ']');
  return put_built_key(g->out, b);
}

/* A name that is not UTF-8, or could be taken for a bracketed key: JSON's keys
   are strings, so a string that begins with a bracket is written as one in
   brackets. */
static bool put_escaped_key (tg_Grips *g, const char *s, size_t size,
                             bool bracket) {
  tg_Buf *b = tg_grips_room(g);
  if (!tg_grips_spend(g, size * TG_COST_ESCAPED))
    return false;
  if (bracket)
    tg_buf_addstr(b, "[\"");
  tg_terminal_escape(b, s, size, bracket ? '"' : 0);
  if (bracket)
    tg_buf_addstr(b, "\"]");
  return put_built_key(g->out, b);
}

/* A key that is a string, which most are. Cut like any string; '*cut' says
   whether it was. False if it cannot be afforded or put together. */
static bool put_string_key (tg_Grips *g, const tg_Grip *k, bool *cut) {
  const char *s = k->u.s.data;
  size_t n = tg_grips_afford(g, s, k->u.s.size);
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

/* The whole key, also of one that is shown in part: as the hook looked at
   it. */
static bool secret_key (const tg_Grips *g, const tg_Grip *k) {
  return k->type == TG_STRING
         && tg_selection_hides(g->selection, k->u.s.data, k->u.s.size);
}

/* A property as JavaScript's clients know it: flags that are the same for all,
   and the value. */
static void put_property (tg_Grips *g, const tg_Grip *k, const tg_Grip *v,
                          uint32_t level) {
  static const tg_Member flags = TG_FLAGS("enumerable", true, "configurable",
                                         true, "writable", true);
  tg_Sink *out = g->out;
  out->object(out);
  out->member(out, &flags);
  tg_sink_key(out, "value");
  if (secret_key(g, k))
    tg_scalars_typed(out, "redacted");
  else
    tg_grips_put(g, v, level);
  out->close(out);
}

/* The properties at 'c'; whether some are not listed, or not in full. */
static bool put_properties (tg_Grips *g, tg_ValueCursor *c, uint32_t level) {
  bool cut = false;
  tg_Grip k, v;
  for (uint32_t n = 0; tg_values_property(c, &k, &v); n++) {
    if (n >= g->selection->limits.properties
        || !tg_grips_spend(g, COST_PROPERTY))
      return true;
    bool named = k.type == TG_STRING ? put_string_key(g, &k, &cut)
                                     : put_bracket_key(g, &k, level);
    if (named)
      put_property(g, &k, &v, level);
    else
      cut = true;
  }
  return cut;
}

/* Whether the class is not what it was. The class is the metatable's __name, or
   else the type. A character that the cut has broken is left out. */
static bool put_class (tg_Grips *g, const tg_Descriptor *d) {
  tg_sink_key(g->out, "class");
  if ((d->flags & TG_DESC_CLASS) == 0) {
    const char *name = tg_values_type_name(d->type);
    g->out->string(g->out, name, strlen(name));
    return false;
  }
  const char *s = d->cls.u.s.data;
  size_t n = tg_grips_afford(g, s, d->cls.u.s.size);
  bool cut = n < d->cls.u.s.length;
  size_t whole = tg_utf8_whole(s, n);
  if (cut && tg_utf8_begun(s + whole, n - whole))
    n = whole;
  tg_sink_text(g->out, &g->scratch->room, s, n);
  return cut;
}

/* Whether there is a metatable beyond the depth that is shown. "prototype" is
   null then, as without a metatable, so this null is marked as truncated. */
static bool put_prototype (tg_Grips *g, const tg_Descriptor *d,
                           uint32_t level) {
  bool listed = (d->flags & TG_DESC_PROTO) != 0;
  bool has = listed || (d->flags & TG_DESC_META) != 0;
  tg_sink_key(g->out, "prototype");
  if (listed && level < g->selection->limits.depth) {
    tg_grips_put(g, &d->proto, level + 1);
    return false;
  }
  tg_scalars_open(g->out, "null");
  if (has)
    tg_scalars_truncated(g->out);
  g->out->close(g->out);
  return has;
}

/* Whether a property is listed at the cursor, which is a copy: the caller's is
   not needed any more. */
static bool has_property (tg_ValueCursor *c) {
  tg_Grip key, v;
  return tg_values_property(c, &key, &v);
}

/* Whether there are properties that are not listed. Those of an object at the
   last level are not; that it has some is said, if it has. */
static bool put_own (tg_Grips *g, const tg_Descriptor *d, tg_ValueCursor *c,
                     uint32_t level) {
  bool cut = (d->flags & TG_DESC_TRUNCATED) != 0;
  tg_sink_key(g->out, "ownProperties");
  g->out->object(g->out);
  if (level >= g->selection->limits.depth)
    cut = cut || ((d->flags & TG_DESC_PROPS) != 0 && has_property(c));
  else if (d->flags & TG_DESC_PROPS)
    cut = put_properties(g, c, level + 1) || cut;
  g->out->close(g->out);
  return cut;
}

/* Which table it is, if that was told and is asked for. */
static void put_identity (tg_Grips *g, uint32_t id) {
  uint32_t number = tg_grips_identity(g, id);
  if (number == 0 || (g->selection->types & TG_TYPE_IDENTITY) == 0)
    return;
  tg_sink_key(g->out, "identity");
  g->out->integer(g->out, number);
}

/* Of a function that nobody defined there is nothing to say. Parameters are
   listed even if there are none: that is how a reader tells a function. */
static void put_function (tg_Grips *g, const tg_Descriptor *d) {
  const tg_Function *f = tg_functions_find(g->functions, d->function);
  if (f == NULL)
    return;
  tg_sink_key(g->out, "name");
  tg_names_function(g->out, &g->scratch->room, f);
  tg_sink_key(g->out, "parameterNames");
  tg_names_params(g->out, &g->scratch->room, f);
  tg_names_place(g->out, &g->scratch->room, f);
}

/* Of JavaScript's objects, which clients are made for. A table is none of
   these. */
static const tg_Member descriptor_flags
    = TG_FLAGS("extensible", true, "frozen", false, "sealed", false);

/* Fields in the order of the protocol's object descriptors. */
static void put_descriptor (tg_Grips *g, uint32_t id, uint32_t level) {
  tg_Sink *out = g->out;
  tg_ValueCursor c;
  tg_Descriptor d;
  tg_grips_descriptor(g, id, &c, &d);
  out->object(out);
  bool cut = put_class(g, &d);
  out->member(out, &descriptor_flags);
  put_identity(g, id);
  cut = put_prototype(g, &d, level) || cut;
  cut = put_own(g, &d, &c, level) || cut;
  tg_sink_key(out, "safeGetterValues");
  out->object(out);
  out->close(out);
  if (d.flags & TG_DESC_FUNCTION)
    put_function(g, &d);
  if (cut)
    tg_scalars_truncated(out);
  out->close(out);
}

/* Clients expect the field, with an object in it. */
static void put_empty (tg_Sink *out) {
  out->object(out);
  out->close(out);
}

/* The entry for objects without room, of which nothing is known. */
static void put_standin (tg_Sink *out) {
  out->object(out);
  tg_sink_member(out, "class", "object");
  out->member(out, &descriptor_flags);
  tg_sink_key(out, "prototype");
  tg_scalars_typed(out, "null");
  tg_sink_key(out, "ownProperties");
  put_empty(out);
  tg_sink_key(out, "safeGetterValues");
  put_empty(out);
  tg_scalars_truncated(out);
  out->close(out);
}

/* Whether the entry with the next index is the one for objects without room,
   which comes after 'n' of those with. */
static bool standin_next (const tg_Grips *g, uint32_t n) {
  return g->standin == n + 1;
}

/* The pool: a descriptor for each object that has got an index, in their order.
   To write one may give an index to more (what it holds), so the end is looked
   at again after each. */
void tg_grippool_write (tg_Grips *g) {
  uint32_t n = 0;
  g->out->array(g->out);
  for (; n < g->given; n++) {
    if (standin_next(g, n))
      put_standin(g->out);
    tg_assert(g->given <= g->descriptors);
    uint32_t id = g->scratch->entries[n].id;
    tg_assert(id < g->descriptors);
    put_descriptor(g, id, g->scratch->entries[id].level);
  }
  if (standin_next(g, n))
    put_standin(g->out);
  g->out->close(g->out);
}

/* }================================================================== */
