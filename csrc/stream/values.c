/*
** values.c - reading back what was captured: grips (descriptors.c: objects).
**
** Called by whoever shows values: packets, logs, exports; on any thread. The
** bytes may come from a file, so nothing in them is believed: each read checks
** what is left, and the first surprise makes the cursor bad for good. Then
** every further read gives NIL or END, so loops end without asking after each
** step.
*/
#include "stream/values.h"

#include <string.h>

/* Reads go through 'has', tg_values_byte and tg_values_var only: so there is
   one place each where the end of the bytes is looked at. */

/* Lua's own words (lua_typename). */
const char *tg_values_type_name (tg_ObjectType type) {
  static const char *const names[] = {"table", "function", "thread",
                                      "userdata"};
  tg_assert((unsigned)type <= TG_OBJ_USERDATA);
  return names[type];
}

/* A list that is not there reads as one whose bytes are bad. */
void tg_values_open (tg_ValueCursor *c, tg_Slice bytes) {
  c->p = bytes.data;
  c->end = bytes.data != NULL ? bytes.data + bytes.size : NULL;
  c->origin = bytes.origin;
  c->bad = bytes.data == NULL;
  c->model = NULL;
  c->taken = c->named = 0;
}

/* A bad cursor is at its end: nothing more is read. */
void tg_values_spoil (tg_ValueCursor *c) {
  c->p = c->end;
  c->model = NULL;
  c->bad = true;
}

/* Whether so many bytes are left; if not, the cursor is bad from here on. */
static bool has (tg_ValueCursor *c, uint64_t size) {
  tg_assert(c->p <= c->end);
  if (!c->bad && size <= (uint64_t)(c->end - c->p))
    return true;
  tg_values_spoil(c);
  return false;
}

uint8_t tg_values_byte (tg_ValueCursor *c) {
  return has(c, 1) ? *c->p++ : 0;
}

/* Ten bytes hold 64 bits, the last one has a single bit of them. */
uint64_t tg_values_var (tg_ValueCursor *c) {
  uint64_t v = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    uint8_t b = tg_values_byte(c);
    if (c->bad || (shift == 63 && b > 1))
      break;
    v |= (uint64_t)(b & 0x7f) << shift;
    if (b < 0x80)
      return v;
  }
  tg_values_spoil(c);
  return 0;
}

/* A number that has to fit into 32 bits: an id, of a function or an object. */
uint32_t tg_values_id (tg_ValueCursor *c) {
  uint64_t v = tg_values_var(c);
  if (v > UINT32_MAX)
    tg_values_spoil(c);
  return (uint32_t)v;
}

/* A type that there is not would be an index into a table of names
   somewhere. */
static tg_ObjectType read_type (tg_ValueCursor *c) {
  uint8_t type = tg_values_byte(c);
  if (type > TG_OBJ_USERDATA)
    tg_values_spoil(c);
  return c->bad ? TG_OBJ_TABLE : (tg_ObjectType)type;
}

/* Of a grip only what its type says is set; the rest is what was there. */
static void set_int (tg_Grip *g, int64_t i) {
  g->type = TG_INT;
  g->u.i = i;
}

static void set_object (tg_Grip *g, uint32_t id) {
  g->type = TG_OBJECT;
  g->u.id = id;
}

/* Longer than captured it may be, shorter not. The length is a Lua string's, so
   it fits an int64_t; what says otherwise is damage. */
static void read_string (tg_ValueCursor *c, tg_Grip *g, uint64_t length,
                         uint64_t size) {
  if (size > length || length > INT64_MAX || !has(c, size)) {
    tg_values_spoil(c);
    return;
  }
  g->type = TG_STRING;
  g->u.s.data = (const char *)c->p;
  g->u.s.size = (size_t)size;
  g->u.s.length = length;
  c->p += size;
}

/* The bits as the machine has them: a recording of another byte order is not
   opened (fileformat.h). */
static void read_float (tg_ValueCursor *c, tg_Grip *g) {
  if (!has(c, 8))
    return;
  g->type = TG_FLOAT;
  memcpy(&g->u.f, c->p, 8);
  c->p += 8;
}

/* Zigzag: 0, -1, 1, -2... are 0, 1, 2, 3. The term in brackets is all ones for
   an odd number, 0 for an even one. */
static void read_int (tg_ValueCursor *c, tg_Grip *g) {
  uint64_t v = tg_values_var(c);
  set_int(g, (int64_t)(v >> 1 ^ (~(v & 1) + 1)));   /* zigzag */
}

/* The string's full length, then the bytes that were captured. Two statements,
   since C does not promise in which order arguments are evaluated. */
static void read_long_string (tg_ValueCursor *c, tg_Grip *g) {
  uint64_t length = tg_values_var(c);
  read_string(c, g, length, tg_values_var(c));
}

/* How much of the bytes a small grip is, its tag included; 0 if there is none.
   A bad cursor is at its end. */
TG_INLINE size_t small_size (const tg_ValueCursor *c) {
  size_t left = (size_t)(c->end - c->p);
  if (tg_unlikely(left == 0) || *c->p < TG_GRIP_SMALLSTR)
    return 0;
  size_t size = 1;
  if (*c->p < TG_GRIP_SMALLOBJ)
    size += *c->p & TG_GRIP_SMALLMAX;
  return size <= left ? size : 0;
}

/* The cursor is behind the tag. The reference must lead to a string itself:
   references to references could go round. */
static void read_again (tg_ValueCursor *c, tg_Grip *g) {
  const uint8_t *tag = c->p - 1;
  uint64_t number = tg_values_var(c);
  tg_ValueCursor there = {.p = tg_values_place(c->origin, tag, number),
                          .end = tag};
  if (there.p != NULL && tg_values_byte(&there) == TG_GRIP_STRING)
    read_long_string(&there, g);
  if (there.bad || g->type != TG_STRING)
    tg_values_spoil(c);
}

/* The same of a short one. */
static void read_small_again (tg_ValueCursor *c, tg_Grip *g) {
  const uint8_t *tag = c->p - 1;
  if (!has(c, TG_SMALLAGAIN_SIZE - 1))
    return;
  tg_ValueCursor there = {.end = tag};
  there.p = tg_values_place(c->origin, tag, tg_values_again(tag));
  c->p = tag + TG_SMALLAGAIN_SIZE;
  if (there.p != NULL && small_size(&there) > 0 && *there.p < TG_GRIP_SMALLOBJ)
    tg_values_grip(&there, g);
  if (g->type != TG_STRING)
    tg_values_spoil(c);
}

/* Whatever was there is not. */
static void read_veil (tg_ValueCursor *c, tg_Grip *g) {
  uint64_t size = tg_values_var(c);
  if (!has(c, size))
    return;
  c->p += size;
  g->type = TG_REDACTED;
}

/* A grip whose tag is none of the small ones, in the order of values.h. */
static void read_tagged (tg_ValueCursor *c, tg_Grip *g, uint8_t tag) {
  switch (tag) {
    case TG_GRIP_NIL: g->type = TG_NIL; break;
    case TG_GRIP_FALSE: g->type = TG_FALSE; break;
    case TG_GRIP_TRUE: g->type = TG_TRUE; break;
    case TG_GRIP_NULL: g->type = TG_NULL; break;
    case TG_GRIP_REDACTED: case TG_GRIP_VEILOBJ: g->type = TG_REDACTED; break;
    case TG_GRIP_INT: read_int(c, g); break;
    case TG_GRIP_FLOAT: read_float(c, g); break;
    case TG_GRIP_STRING: read_long_string(c, g); break;
    case TG_GRIP_OBJECT: set_object(g, tg_values_id(c)); break;
    case TG_GRIP_NOROOM:
      g->type = TG_NOROOM;
      g->u.object = read_type(c);
      break;
    case TG_GRIP_STRAGAIN: read_again(c, g); break;
    case TG_GRIP_VEIL: case TG_GRIP_VEILTEXT: read_veil(c, g); break;
    case TG_GRIP_END: g->type = TG_END; break;
    default:
      if (tg_values_are_again(tag))
        read_small_again(c, g);
      else
        tg_values_spoil(c);
      break;
  }
}

/* Out of line, so that tg_values_grip is short and the compiler keeps its
   registers. A grip that is bad is END: a loop over properties ends with it. */
static TG_NOINLINE void read_large (tg_ValueCursor *c, tg_Grip *g) {
  memset(g, 0, sizeof *g);
  uint8_t tag = tg_values_byte(c);
  if (tag >= TG_GRIP_SMALLSTR)
    tg_values_spoil(c);   /* a string that is not all there */
  read_tagged(c, g, tag);
  if (c->bad)
    g->type = TG_END;
}

/* Small ones here, which most are: a tag that holds the value, or up to a few
   bytes behind it. */
void tg_values_grip (tg_ValueCursor *c, tg_Grip *g) {
  size_t size = small_size(c);
  if (tg_unlikely(size == 0)) {
    read_large(c, g);
    return;
  }
  uint8_t tag = *c->p, low = tag & TG_GRIP_SMALLMAX;
  if (tag >= TG_GRIP_SMALLINT)
    set_int(g, low);
  else if (tag >= TG_GRIP_SMALLOBJ)
    set_object(g, low);
  else {
    g->type = TG_STRING;
    g->u.s.data = (const char *)c->p + 1;
    g->u.s.size = low;
    g->u.s.length = low;
  }
  c->p += size;
}

/* Passes over a grip, reading no more than how long it is. An object tells its
   id; everything else but END is NIL. */
TG_INLINE tg_GripType pass (tg_ValueCursor *c, uint32_t *id) {
  size_t size = small_size(c);
  if (tg_likely(size > 0)) {
    uint8_t tag = *c->p;
    *id = tag & TG_GRIP_SMALLMAX;
    c->p += size;
    return tag >= TG_GRIP_SMALLOBJ && tag < TG_GRIP_SMALLINT ? TG_OBJECT
                                                             : TG_NIL;
  }
  tg_Grip g;
  read_large(c, &g);
  *id = g.type == TG_OBJECT ? g.u.id : 0;
  return g.type == TG_OBJECT || g.type == TG_END ? g.type : TG_NIL;
}

/* For other files; here it is inlined into the loop over pairs. */
tg_GripType tg_values_pass (tg_ValueCursor *c, uint32_t *id) {
  return pass(c, id);
}

void tg_values_pass_pairs (tg_ValueCursor *c) {
  uint32_t id;
  while (pass(c, &id) != TG_END)
    pass(c, &id);
}
