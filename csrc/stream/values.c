/*
** values.c - reading back what was captured.
**
** Called by whoever shows values: packets, logs, exports; on any thread. The
** bytes may come from a file, so nothing in them is believed: each read checks
** what is left, and the first surprise makes the cursor bad for good. Then
** every further read gives NIL or END, so loops end without asking after each
** step.
*/
#include "stream/values.h"

#include <string.h>

/* Reads go through 'has', 'read_byte' and tg_values_var only: so there is
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

static uint8_t read_byte (tg_ValueCursor *c) {
  return has(c, 1) ? *c->p++ : 0;
}

/* Ten bytes hold 64 bits, the last one has a single bit of them. */
uint64_t tg_values_var (tg_ValueCursor *c) {
  uint64_t v = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    uint8_t b = read_byte(c);
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
  uint8_t type = read_byte(c);
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

/* The cursor is behind the tag, from which the distance counts. The reference
   must lead to a string itself: references to references could go round. */
static void read_again (tg_ValueCursor *c, tg_Grip *g) {
  const uint8_t *tag = c->p - 1;
  uint64_t distance = tg_values_var(c);
  if (c->origin == NULL || distance > (uint64_t)(tag - c->origin)) {
    tg_values_spoil(c);
    return;
  }
  tg_ValueCursor there = {.p = tag - distance, .end = tag};
  if (read_byte(&there) == TG_GRIP_STRING)
    read_long_string(&there, g);
  if (there.bad || g->type != TG_STRING)
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
    default: tg_values_spoil(c); break;
  }
}

/* Out of line, so that tg_values_grip is short and the compiler keeps its
   registers. A grip that is bad is END: a loop over properties ends with it. */
static TG_NOINLINE void read_large (tg_ValueCursor *c, tg_Grip *g) {
  memset(g, 0, sizeof *g);
  uint8_t tag = read_byte(c);
  if (tag >= TG_GRIP_SMALLSTR)
    tg_values_spoil(c);   /* a string that is not all there */
  read_tagged(c, g, tag);
  if (c->bad)
    g->type = TG_END;
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

/* For other files; here it is inlined into the loop over properties. */
tg_GripType tg_values_pass (tg_ValueCursor *c, uint32_t *id) {
  return pass(c, id);
}

/*
** {==================================================================
** Tables like others
** ===================================================================
*/

uint8_t tg_values_named (uint8_t first) {
  static const uint8_t flags[] = {0, TG_DESC_TRUNCATED,
                                  TG_DESC_TRUNCATED | TG_DESC_META};
  tg_assert(tg_values_are_named(first));
  return flags[(first - TG_DESC_NAMED) >> TG_NAMED_SHIFT];
}

/* One of several in a row, if they come next. The cursor stays before them
   until they have all been taken: so where any of them is read anew, the first
   is, which is like it. */
static bool take_named (tg_ValueCursor *c, uint32_t *flags) {
  if (tg_likely(c->p >= c->end || !tg_values_are_named(*c->p)))
    return false;
  *flags = tg_values_named(*c->p);
  if (++c->named > TG_NAMED_ALL) {
    tg_values_spoil(c);
    return false;
  }
  if (c->taken++ == (*c->p & TG_NAMED_MOST)) {
    c->taken = 0;
    c->p++;
  }
  c->contents = c->p;
  return true;
}

/* Passes over what the flags say comes before properties; the flags, or none if
   the bytes are bad. */
static uint32_t pass_parts (tg_ValueCursor *c, uint32_t flags) {
  uint32_t id;
  if (flags & TG_DESC_CLASS)
    pass(c, &id);
  if (flags & TG_DESC_PROTO)
    pass(c, &id);
  if (flags & TG_DESC_FUNCTION)
    tg_values_id(c);
  return c->bad ? 0 : flags;
}

/* What is told by one byte for type and flags. */
static void read_short (tg_Head *h, uint8_t first) {
  unsigned form = first & TG_SHORT_FORM;
  h->type = TG_OBJ_TABLE;
  h->flags = tg_values_short_flags(first);
  h->like = form != TG_SHORT_TABLE;
  h->hidden = form == TG_SHORT_UNLIKE || form == TG_SHORT_UNLIKE_NEXT;
  h->nexts = form == TG_SHORT_LIKE_NEXT || form == TG_SHORT_UNLIKE_NEXT;
}

static void read_head (tg_ValueCursor *c, tg_Head *h, uint8_t first) {
  h->like = first == TG_DESC_LIKE || first == TG_DESC_UNLIKE;
  h->hidden = first == TG_DESC_UNLIKE;
  if (first == TG_DESC_DEFINED) {
    h->type = TG_OBJ_FUNCTION;
    h->flags = TG_DESC_FUNCTION;
    return;
  }
  if (!h->like && first > TG_OBJ_USERDATA) {    /* an index into a table of */
    tg_values_spoil(c);                         /* names somewhere */
    return;
  }
  h->type = h->like ? TG_OBJ_TABLE : (tg_ObjectType)first;
  h->flags = read_byte(c);
}

void tg_values_head (tg_ValueCursor *c, tg_Head *h) {
  *h = (tg_Head){.at = c->p};
  uint8_t first = read_byte(c);
  if (tg_likely(tg_values_are_short(first)))
    read_short(h, first);
  else
    read_head(c, h, first);
  if (c->bad)
    *h = (tg_Head){.at = h->at};
}

/* Where a redaction has cut the way back, the values are passed over. */
static void pass_hidden (tg_ValueCursor *c, uint64_t count) {
  uint32_t id;
  c->left = count <= TG_LIKE_MOST ? (uint32_t)count : 0;
  for (uint64_t differ = c->differ; differ != 0; differ &= differ - 1)
    pass(c, &id);
}

/* The table 'distance' bytes before 'head': a table itself, which stands
   before. */
static void find_model (tg_ValueCursor *c, const uint8_t *head,
                        uint64_t distance) {
  tg_Head model;
  if (c->origin == NULL || distance == 0
      || distance > (uint64_t)(head - c->origin)) {
    tg_values_spoil(c);
    return;
  }
  tg_ValueCursor there = {.p = head - distance, .end = head,
                          .origin = c->origin};
  tg_values_head(&there, &model);
  if (model.type != TG_OBJ_TABLE || model.like
      || (pass_parts(&there, model.flags) & TG_DESC_PROPS) == 0) {
    tg_values_spoil(c);
    return;
  }
  c->model = there.p;
  c->model_end = head;
  c->left = TG_LIKE_MOST;
}

bool tg_values_like (tg_ValueCursor *c, const tg_Head *h) {
  c->contents = c->p;
  uint64_t distance = tg_values_var(c);
  c->differ = tg_values_var(c);
  c->nexts = h->nexts;
  c->next = h->nexts ? tg_values_id(c) : 0;
  if (h->hidden)
    pass_hidden(c, distance);
  else if (!c->bad)
    find_model(c, h->at, distance);
  return !c->bad && !h->hidden;
}

static bool is_scalar (const tg_Grip *g) {
  return g->type != TG_OBJECT && g->type != TG_NOROOM && g->type != TG_END;
}

/* Whether the value at 'p' is an object, and is told to be one where it is
   hidden. */
TG_INLINE bool is_object (const uint8_t *p, const uint8_t *end) {
  return p < end && (*p == TG_GRIP_VEILOBJ
                     || (*p >= TG_GRIP_SMALLOBJ && *p < TG_GRIP_SMALLINT));
}

/* The value that the other table has, at the cursor 'there'; or an object that
   comes next, which is hidden where that is. */
static void take_value (tg_ValueCursor *c, tg_ValueCursor *there, tg_Grip *v) {
  bool next = c->nexts && is_object(there->p, there->end);
  tg_values_grip(there, v);
  if (next) {
    uint32_t id = c->next++;
    if (v->type == TG_OBJECT)
      set_object(v, id);
  }
  else if (!is_scalar(v))
    tg_values_spoil(c);
}

/* At the end all that differs has been read, which is then where the next
   descriptor begins. */
static bool end_like (tg_ValueCursor *c) {
  c->model = NULL;
  if (c->differ != 0)
    tg_values_spoil(c);
  return false;
}

/* The key from the other table, the value from there or of its own. */
static bool next_like (tg_ValueCursor *c, tg_Grip *key, tg_Grip *v) {
  tg_ValueCursor there = {.p = c->model, .end = c->model_end,
                          .origin = c->origin};
  bool own = (c->differ & 1) != 0;
  uint32_t id;
  tg_values_grip(&there, key);
  if (key->type == TG_END && !there.bad)
    return end_like(c);
  if (own) {
    pass(&there, &id);
    tg_values_grip(c, v);
  }
  else
    take_value(c, &there, v);
  if (there.bad || !is_scalar(key) || c->left-- == 0)
    tg_values_spoil(c);
  else if (!c->bad) {
    c->model = there.p;
    c->differ >>= 1;
  }
  return !c->bad;
}

/* }================================================================== */

/* False at the end, and where the bytes are bad: a key without a value is not
   given. */
bool tg_values_property (tg_ValueCursor *c, tg_Grip *key, tg_Grip *v) {
  if (tg_unlikely(c->model != NULL))
    return next_like(c, key, v);
  tg_values_grip(c, key);
  if (key->type == TG_END || c->bad)
    return false;
  tg_values_grip(c, v);
  return !c->bad;
}

/* A key and a value each, up to END. A bad cursor gives END for ever. */
void tg_values_skip_properties (tg_ValueCursor *c) {
  tg_Grip key, v;
  uint32_t id;
  if (tg_unlikely(c->model != NULL)) {
    while (next_like(c, &key, &v))
      ;
    return;
  }
  while (pass(c, &id) != TG_END)
    pass(c, &id);
}

/* A grip that has to be of one of two types. */
static void read_either (tg_ValueCursor *c, tg_Grip *g, tg_GripType a,
                         tg_GripType b) {
  tg_values_grip(c, g);
  if (g->type != a && g->type != b) {
    tg_values_spoil(c);
    g->type = TG_END;
  }
}

/* A descriptor up to its properties, which are left at the cursor. A bad one
   has no flags, so no properties. */
void tg_values_descriptor (tg_ValueCursor *c, tg_Descriptor *d) {
  tg_Head h;
  memset(d, 0, sizeof *d);
  c->model = NULL;
  if (take_named(c, &d->flags))
    return;
  tg_values_head(c, &h);
  d->type = h.type;
  d->flags = h.flags;
  if (d->flags & TG_DESC_CLASS)
    read_either(c, &d->cls, TG_STRING, TG_STRING);
  if (d->flags & TG_DESC_PROTO)
    read_either(c, &d->proto, TG_OBJECT, TG_NOROOM);
  if (d->flags & TG_DESC_FUNCTION)
    d->function = tg_values_id(c);
  c->contents = c->p;
  if (h.like && !tg_values_like(c, &h))
    d->flags &= ~(uint32_t)TG_DESC_PROPS;
  if (c->bad)
    d->flags = 0;
}

/* Reads as tg_values_descriptor does, but keeps nothing, for readers that only
   look for objects. */
bool tg_values_pass_head (tg_ValueCursor *c) {
  tg_Head h;
  uint32_t flags;
  c->model = NULL;
  if (take_named(c, &flags))
    return false;
  tg_values_head(c, &h);
  flags = pass_parts(c, h.flags);
  if (h.like)
    return tg_values_like(c, &h);
  return !c->bad && (flags & TG_DESC_PROPS) != 0;
}

/* What is no number of a table is damage. */
bool tg_values_identity (tg_ValueCursor *c, tg_KnownTable *out) {
  tg_Grip key, v;
  tg_values_grip(c, &key);
  if (key.type == TG_END)
    return false;
  tg_values_grip(c, &v);
  if (key.type != TG_INT || key.u.i < 0 || key.u.i > UINT32_MAX
      || v.type != TG_INT || v.u.i < 1 || v.u.i > UINT32_MAX) {
    tg_values_spoil(c);
    return false;
  }
  *out = (tg_KnownTable){.id = (uint32_t)key.u.i, .number = (uint32_t)v.u.i};
  return true;
}
