/*
** grips.c - from captured bytes to grips, descriptors and pool.
**
** A packet's JSON stays below 16 MiB whatever the limits: each part is paid
** for out of a budget, estimated generously, and what is not affordable is cut
** like what is beyond a limit.
**
** Called by packet.c and by exports, on any thread; memory is the caller's,
** kept from packet to packet (tg_Scratch). Where it is refused something is
** left out and 'failed' says so. The bytes may be from a file: numbers in them
** are looked up and never used as an index before they are compared.
*/
#include "packet/grips.h"

#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/grow.h"
#include "packet/names.h"
#include "packet/scalars.h"
#include "text/utf8.h"

/* What an object comes to in JSON at most, grip and descriptor, without its
   names and properties. */
#define COST_OBJECT 320u

/* All or nothing: what is cut is cut at a whole part. */
bool tg_grips_spend (tg_Grips *g, size_t cost) {
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

/* Bytes that one comes to in JSON, at most: a control character six, what is
   not ASCII two, since what is no text is shown in base64. */
static uint32_t byte_cost (char c) {
  unsigned char byte = (unsigned char)c;
  if (byte < 0x20)
    return 6;
  return byte >= 0x80 || c == '"' || c == '\\' ? 2 : 1;
}

/* Of up to eight bytes together. Each test leaves a byte's highest bit set if
   it holds for that byte; none carries into the next one, as the sum of seven
   bits and 0x7f has no ninth. The product adds up the eight bits. */
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
size_t tg_grips_afford (tg_Grips *g, const char *s, size_t size) {
  size_t n = 0;
  uint32_t cost;
  if (size > g->selection->limits.string)
    size = g->selection->limits.string;
  while (n < size) {
    size_t part = size - n < 8 ? size - n : 8;
    cost = word_cost(s + n, part);
    tg_assert(cost >= part && cost <= 6 * part);
    if (cost > g->budget)
      break;
    g->budget -= cost;
    n += part;
  }
  while (n < size && tg_grips_spend(g, byte_cost(s[n])))
    n++;
  return n;
}

/* One buffer for all that must be put together: each use ends before the next
   begins. */
tg_Buf *tg_grips_room (tg_Grips *g) {
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

/* Entries have two uses: the n-th says where the descriptor n is, and which
   object has the index n in the packet. */
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

/* 'c' is at the descriptor that says which tables the others are. */
static void note_identities (tg_Grips *g, tg_ValueCursor c) {
  tg_KnownTable one;
  c.p += 2;
  while (tg_values_identity(&c, &one)) {
    if (one.id >= g->descriptors)
      return;
    g->scratch->entries[one.id].identity = one.number;
  }
}

/* Those that can be read to their end; the rest is as if it were not there.
   Each is found by reading the one before: they have no lengths. */
static void find_descriptors (tg_Grips *g, tg_ValueCursor c) {
  while (c.p < c.end && !c.bad) {
    uint32_t offset = (uint32_t)(c.p - g->bytes);
    if (tg_unlikely(tg_values_tells_identities(c.p, c.end)))
      note_identities(g, c);
    if (tg_values_pass_head(&c))
      tg_values_skip_properties(&c);
    if (c.bad || !add_entry(g, offset))
      return;
  }
}

/* How many values can be read, and behind them the descriptors. A list that was
   cut says how many it had. */
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

/* Positions in the bytes have 32 bits in an entry; a longer list, which only a
   damaged file has, shows as one without values. */
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

/* The type is in a descriptor's first byte, which find_descriptors has read. Of
   an object without a descriptor nothing is known: a table is what it mostly
   is. */
tg_ObjectType tg_grips_type (const tg_Grips *g, uint32_t id) {
  if (id >= g->descriptors)
    return TG_OBJ_TABLE;
  return tg_values_type(g->bytes[g->scratch->entries[id].offset]);
}

uint32_t tg_grips_identity (const tg_Grips *g, uint32_t id) {
  return id < g->descriptors ? g->scratch->entries[id].identity : 0;
}

void tg_grips_descriptor (const tg_Grips *g, uint32_t id,
                          tg_ValueCursor *c, tg_Descriptor *d) {
  tg_check(id < g->descriptors);
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
  tg_grips_descriptor(g, id, &c, &d);
  const tg_Function *f = tg_functions_find(g->functions, d.function);
  if (f == NULL)
    return 0;
  size_t cost = length_of(f->name) + length_of(f->url);
  for (uint16_t i = 0; f->params != NULL && i < f->nparams; i++)
    cost += length_of(f->params[i]) + 4;
  return cost * TG_COST_ESCAPED;
}

/* Paid once, when the object gets its index. */
static size_t object_cost (const tg_Grips *g, uint32_t id) {
  if (tg_grips_type(g, id) != TG_OBJ_FUNCTION)
    return COST_OBJECT;
  return COST_OBJECT + function_cost(g, id);
}

/* 1 + the index of an object, which it may get here; 0: there is no room. */
uint32_t tg_grips_rank (tg_Grips *g, uint32_t id, uint32_t level) {
  if (id >= g->descriptors)
    return 0;
  tg_GripEntry *e = &g->scratch->entries[id];
  if (e->rank != 0)
    return e->rank;
  if (g->given >= g->selection->limits.objects
      || !tg_grips_spend(g, object_cost(g, id)))
    return 0;
  tg_assert(g->given < g->descriptors);
  e->level = level;
  g->scratch->entries[g->given++].id = id;
  e->rank = g->given + (g->standin != 0);
  return e->rank;
}

/* An object without room. Clients look into the pool for every object: one more
   entry there stands for all of these. */
static void put_noroom (tg_Grips *g, tg_ObjectType type) {
  const char *name = tg_values_type_name(type);
  tg_Sink *out = g->out;
  if (g->standin == 0)
    g->standin = g->given + 1;
  tg_scalars_open(out, "object");
  tg_sink_key(out, "objectId");
  out->integer(out, g->standin - 1);
  tg_sink_key(out, "class");
  out->string(out, name, strlen(name));
  tg_scalars_truncated(out);
  out->close(out);
}

/* A grip refers to the pool by index: the same object is one entry, however
   often it appears, also in itself. */
static void put_object (tg_Grips *g, uint32_t id, uint32_t level) {
  uint32_t rank = tg_grips_rank(g, id, level);
  if (rank == 0) {
    put_noroom(g, tg_grips_type(g, id));
    return;
  }
  tg_scalars_open(g->out, "object");
  tg_sink_key(g->out, "objectId");
  g->out->integer(g->out, rank - 1);
  g->out->close(g->out);
}

/* A string that is no text, as it was captured: in base64. */
static void put_bytes (tg_Grips *g, const char *s, size_t size,
                       uint64_t length) {
  tg_Buf *b = tg_grips_room(g);
  tg_scalars_base64(b, s, size);
  if (!b->failed && size > 0)
    tg_scalars_long(g->out, true, b->data, b->size, length);
  else
    tg_scalars_long(g->out, true, "", 0, length);
}

/* A character that the cut has broken is no reason to call a text bytes. */
static void put_string (tg_Grips *g, const tg_Grip *v) {
  const char *s = v->u.s.data;
  size_t n = tg_grips_afford(g, s, v->u.s.size);
  bool cut = n < v->u.s.length;
  size_t whole = tg_utf8_whole(s, n);
  if (whole < n && !(cut && tg_utf8_begun(s + whole, n - whole)))
    put_bytes(g, s, n, v->u.s.length);
  else if (cut)
    tg_scalars_long(g->out, false, s, whole, v->u.s.length);
  else
    g->out->string(g->out, s, n);
}

/* One value. What is nil in Lua is undefined for a client; null is what cjson
   and luv use in its place. */
void tg_grips_put (tg_Grips *g, const tg_Grip *v, uint32_t level) {
  tg_Sink *out = g->out;
  switch (v->type) {
    case TG_FALSE: case TG_TRUE: out->boolean(out, v->type == TG_TRUE); break;
    case TG_NULL: tg_scalars_typed(out, "null"); break;
    case TG_REDACTED: tg_scalars_typed(out, "redacted"); break;
    case TG_INT: tg_scalars_integer(out, v->u.i); break;
    case TG_FLOAT: tg_scalars_float(out, v->u.f); break;
    case TG_STRING: put_string(g, v); break;
    case TG_OBJECT: put_object(g, v->u.id, level); break;
    case TG_NOROOM: put_noroom(g, v->u.object); break;
    case TG_NIL: case TG_END: default:
      tg_scalars_typed(out, "undefined");
      break;
  }
}

/* }================================================================== */

/*
** {==================================================================
** Lists
** ===================================================================
*/

/* Of a list without values nil: so Lua has it too. */
void tg_grips_first (tg_Grips *g) {
  tg_ValueCursor c = g->first;
  tg_Grip v = {.type = TG_NIL};
  if (g->listed > 0)
    tg_values_grip(&c, &v);
  tg_grips_put(g, &v, 0);
}

/* Values beyond the parameters, of '...', have no names. */
static bool secret_parameter (const tg_Grips *g, const tg_Function *f,
                              uint32_t i) {
  return f != NULL && i < f->nparams && f->params != NULL
         && f->params[i] != NULL
         && tg_selection_secret(g->selection, f->params[i]);
}

/* The values of a list are at level 0: what they hold is at level 1. */
void tg_grips_list (tg_Grips *g, const tg_Function *f) {
  tg_ValueCursor c = g->first;
  g->out->array(g->out);
  for (uint32_t i = 0; i < g->listed; i++) {
    tg_Grip v;
    tg_values_grip(&c, &v);
    if (secret_parameter(g, f, i))
      tg_scalars_typed(g->out, "redacted");
    else
      tg_grips_put(g, &v, 0);
  }
  g->out->close(g->out);
}

static bool secret_name (const tg_Grips *g, const tg_Grip *name) {
  return name->type == TG_STRING
         && tg_selection_hides(g->selection, name->u.s.data, name->u.s.size);
}

/* A name is paid for as text is. */
static void put_named (tg_Grips *g, const tg_Grip *name, const tg_Grip *v) {
  g->out->object(g->out);
  tg_sink_key(g->out, "name");
  tg_grips_put(g, name, 0);
  tg_sink_key(g->out, "value");
  if (secret_name(g, name))
    tg_scalars_typed(g->out, "redacted");
  else
    tg_grips_put(g, v, 0);
  g->out->close(g->out);
}

void tg_grips_named (tg_Grips *g) {
  tg_ValueCursor c = g->first;
  g->out->array(g->out);
  for (uint32_t i = 0; i + 1 < g->listed; i += 2) {
    tg_Grip name, v;
    tg_values_grip(&c, &name);
    tg_values_grip(&c, &v);
    put_named(g, &name, &v);
  }
  g->out->close(g->out);
}

/* Whether there were more values than are listed. */
bool tg_grips_cut (const tg_Grips *g) {
  return g->listed < g->count;
}

/* }================================================================== */
