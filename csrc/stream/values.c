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

#include "stream/event.h"

/* Reads go through 'has', 'read_byte' and tg_values_var only: so there is one
   place each where the end of the bytes is looked at. */

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
}

/* A bad cursor is at its end: nothing more is read. */
static void spoil (tg_ValueCursor *c) {
  c->p = c->end;
  c->model = NULL;
  c->bad = true;
}

/* Whether so many bytes are left; if not, the cursor is bad from here on. */
static bool has (tg_ValueCursor *c, uint64_t size) {
  tg_assert(c->p <= c->end);
  if (!c->bad && size <= (uint64_t)(c->end - c->p))
    return true;
  spoil(c);
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
  spoil(c);
  return 0;
}

/* A number that has to fit into 32 bits: an id, of a function or an object. */
static uint32_t read_id (tg_ValueCursor *c) {
  uint64_t v = tg_values_var(c);
  if (v > UINT32_MAX)
    spoil(c);
  return (uint32_t)v;
}

/* A type that there is not would be an index into a table of names
   somewhere. */
static tg_ObjectType read_type (tg_ValueCursor *c) {
  uint8_t type = read_byte(c);
  if (type > TG_OBJ_USERDATA)
    spoil(c);
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
    spoil(c);
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
    spoil(c);
    return;
  }
  tg_ValueCursor there = {.p = tag - distance, .end = tag};
  if (read_byte(&there) == TG_GRIP_STRING)
    read_long_string(&there, g);
  if (there.bad || g->type != TG_STRING)
    spoil(c);
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
    case TG_GRIP_REDACTED: g->type = TG_REDACTED; break;
    case TG_GRIP_INT: read_int(c, g); break;
    case TG_GRIP_FLOAT: read_float(c, g); break;
    case TG_GRIP_STRING: read_long_string(c, g); break;
    case TG_GRIP_OBJECT: set_object(g, read_id(c)); break;
    case TG_GRIP_NOROOM:
      g->type = TG_NOROOM;
      g->u.object = read_type(c);
      break;
    case TG_GRIP_STRAGAIN: read_again(c, g); break;
    case TG_GRIP_VEIL: case TG_GRIP_VEILTEXT: read_veil(c, g); break;
    case TG_GRIP_END: g->type = TG_END; break;
    default: spoil(c); break;
  }
}

/* Out of line, so that tg_values_grip is short and the compiler keeps its
   registers. A grip that is bad is END: a loop over properties ends with it. */
static TG_NOINLINE void read_large (tg_ValueCursor *c, tg_Grip *g) {
  memset(g, 0, sizeof *g);
  uint8_t tag = read_byte(c);
  if (tag >= TG_GRIP_SMALLSTR)
    spoil(c);             /* a string that is not all there */
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

/* The type of an object, and whether it is told by another one. */
static tg_ObjectType read_kind (tg_ValueCursor *c, bool *like) {
  *like = c->p < c->end
          && (*c->p == TG_DESC_LIKE || *c->p == TG_DESC_UNLIKE);
  if (!*like)
    return read_type(c);
  c->p++;
  return TG_OBJ_TABLE;
}

/* Passes over flags and what they say comes before properties. */
static uint32_t pass_parts (tg_ValueCursor *c) {
  uint32_t id, flags = read_byte(c);
  if (flags & TG_DESC_CLASS)
    pass(c, &id);
  if (flags & TG_DESC_PROTO)
    pass(c, &id);
  if (flags & TG_DESC_FUNCTION)
    read_id(c);
  return c->bad ? 0 : flags;
}

/* Where a redaction has cut the way back, the values are passed over. */
static void pass_hidden (tg_ValueCursor *c, uint64_t count) {
  uint32_t id;
  c->left = count <= TG_LIKE_MOST ? (uint32_t)count : 0;
  for (uint64_t differ = c->differ; differ != 0; differ &= differ - 1)
    pass(c, &id);
}

/* As of a string that is referred to: what is there must be a table itself, and
   stand before. */
bool tg_values_like (tg_ValueCursor *c, const uint8_t *head) {
  bool hidden = *head == TG_DESC_UNLIKE;
  c->contents = c->p;
  uint64_t distance = tg_values_var(c);
  c->differ = tg_values_var(c);
  if (hidden)
    pass_hidden(c, distance);
  if (hidden || c->bad)
    return false;
  if (c->origin == NULL || distance == 0
      || distance > (uint64_t)(head - c->origin)) {
    spoil(c);
    return false;
  }
  tg_ValueCursor there = {.p = head - distance, .end = head,
                          .origin = c->origin};
  if (read_byte(&there) != TG_OBJ_TABLE
      || (pass_parts(&there) & TG_DESC_PROPS) == 0)
    spoil(c);
  else {
    c->model = there.p;
    c->model_end = head;
    c->left = TG_LIKE_MOST;
  }
  return !c->bad;
}

static bool is_scalar (const tg_Grip *g) {
  return g->type != TG_OBJECT && g->type != TG_NOROOM && g->type != TG_END;
}

/* At the end all that differs has been read, which is then where the next
   descriptor begins. */
static bool end_like (tg_ValueCursor *c) {
  c->model = NULL;
  if (c->differ != 0)
    spoil(c);
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
    tg_values_grip(&there, v);
  if (there.bad || !is_scalar(key) || (!own && !is_scalar(v)) || c->left-- == 0)
    spoil(c);
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
    spoil(c);
    g->type = TG_END;
  }
}

/* The head of a descriptor; its properties are left at the cursor. A bad
   descriptor has no flags, so no properties. */
void tg_values_descriptor (tg_ValueCursor *c, tg_Descriptor *d) {
  const uint8_t *head = c->p;
  bool like;
  memset(d, 0, sizeof *d);
  c->model = NULL;
  d->type = read_kind(c, &like);
  d->flags = read_byte(c);
  if (d->flags & TG_DESC_CLASS)
    read_either(c, &d->cls, TG_STRING, TG_STRING);
  if (d->flags & TG_DESC_PROTO)
    read_either(c, &d->proto, TG_OBJECT, TG_NOROOM);
  if (d->flags & TG_DESC_FUNCTION)
    d->function = read_id(c);
  c->contents = c->p;
  if (like && !tg_values_like(c, head))
    d->flags &= ~(uint32_t)TG_DESC_PROPS;
  if (c->bad)
    d->flags = 0;
}

/* Reads as tg_values_descriptor does, but keeps nothing, for readers that only
   look for objects. */
bool tg_values_pass_head (tg_ValueCursor *c) {
  const uint8_t *head = c->p;
  bool like;
  c->model = NULL;
  read_kind(c, &like);
  uint32_t flags = pass_parts(c);
  if (like)
    return tg_values_like(c, head);
  return !c->bad && (flags & TG_DESC_PROPS) != 0;
}

/*
** {==================================================================
** Copies
** ===================================================================
*/

/* A list that is being copied to a place without the strings and tables that it
   refers to. */
typedef struct Copy {
  tg_Buf *out;
  tg_ValueCursor c;
  const uint8_t *from;  /* bytes before this are copied */
  size_t put_in, most;  /* bytes that were elsewhere */
} Copy;

/* Bytes without references are copied in one piece, when a reference comes. */
static void flush_until (Copy *k, const uint8_t *to) {
  tg_buf_add(k->out, k->from, (size_t)(to - k->from));
  k->from = to;
}

static void add_string (Copy *k, const tg_Grip *g) {
  uint8_t head[24], *p = head;
  tg_assert(g->type == TG_STRING);
  *p++ = TG_GRIP_STRING;
  p = tg_putvar(p, g->u.s.length);
  p = tg_putvar(p, g->u.s.size);
  tg_buf_add(k->out, head, (size_t)(p - head));
  tg_buf_add(k->out, g->u.s.data, g->u.s.size);
  k->put_in += g->u.s.size;
}

/* Puts the string in place of the bytes since 'tag', which refer to it. */
static void put_in (Copy *k, const uint8_t *tag, const tg_Grip *g) {
  tg_assert(tag >= k->from);
  flush_until(k, tag);
  add_string(k, g);
  k->from = k->c.p;
}

/* Only references need another form: all other grips are copied later, with the
   bytes around them. */
static tg_GripType copy_grip (Copy *k) {
  const uint8_t *tag = k->c.p;
  tg_Grip g;
  tg_values_grip(&k->c, &g);
  if (!k->c.bad && *tag == TG_GRIP_STRAGAIN) {
    if (g.u.s.size > k->most - k->put_in)
      spoil(&k->c);
    else
      put_in(k, tag, &g);
  }
  return g.type;
}

/* Puts in a grip, the bytes from 'at' to 'end', which may be elsewhere. */
static void put_grip (Copy *k, const uint8_t *at, const uint8_t *end,
                      const tg_Grip *g) {
  bool again = *at == TG_GRIP_STRAGAIN;
  size_t size = again ? g->u.s.size : (size_t)(end - at);
  if (size > k->most - k->put_in)
    spoil(&k->c);
  else if (again)
    add_string(k, g);
  else {
    tg_buf_add(k->out, at, size);
    k->put_in += size;
  }
}

/* One property of a table that is like another one; false after the last. */
static bool copy_like_property (Copy *k) {
  tg_ValueCursor *c = &k->c;
  tg_ValueCursor there = {.p = c->model, .end = c->model_end,
                          .origin = c->origin};
  const uint8_t *at = there.p, *own = tg_values_own(c) ? c->p : NULL;
  tg_Grip key, v;
  if (!tg_values_property(c, &key, &v))
    return false;
  tg_values_grip(&there, &key);
  put_grip(k, at, there.p, &key);
  if (own != NULL)
    put_grip(k, own, c->p, &v);
  else
    put_grip(k, there.p, c->model, &v);
  return !c->bad;
}

/* The descriptor at 'head', which has been read up to its way back, becomes
   one that stands by itself. */
static void copy_like (Copy *k, const uint8_t *head) {
  flush_until(k, k->c.p);
  if (tg_values_like(&k->c, head)) {
    while (copy_like_property(k))
      ;
  }
  if (!k->c.bad)
    tg_buf_addchar(k->out, TG_GRIP_END);
  k->from = k->c.p;
}

/* Reads as tg_values_descriptor does; each grip in it may be a reference. */
static void copy_descriptor (Copy *k) {
  const uint8_t *head = k->c.p;
  bool like;
  read_kind(&k->c, &like);
  if (like) {
    flush_until(k, head);
    tg_buf_addchar(k->out, TG_OBJ_TABLE);
    k->from = k->c.p;
  }
  uint8_t flags = read_byte(&k->c);
  if (flags & TG_DESC_CLASS)
    copy_grip(k);
  if (flags & TG_DESC_PROTO)
    copy_grip(k);
  if (flags & TG_DESC_FUNCTION)
    read_id(&k->c);
  if (like)
    copy_like(k, head);
  else if (flags & TG_DESC_PROPS)
    while (copy_grip(k) != TG_END)
      copy_grip(k);
}

/* Descriptors follow the list until the bytes end: their number is not
   written. */
static void copy_list (Copy *k) {
  uint64_t n = tg_values_var(&k->c);
  for (uint64_t i = 0; i < n && i < TG_VALUES_MAX && !k->c.bad; i++)
    copy_grip(k);
  while (!k->c.bad && k->c.p < k->c.end)
    copy_descriptor(k);
}

/* A list without 'origin' has no references and is copied as it is. Any other
   list has to be read: its references count from their own place, and the copy
   is elsewhere. */
size_t tg_values_copy (tg_Buf *out, tg_Slice bytes, size_t most) {
  if (bytes.origin == NULL) {
    tg_buf_add(out, bytes.data, bytes.size);
    return 0;
  }
  Copy k = {.out = out, .from = bytes.data};
  k.most = most < TG_PACKET_MAX ? most : TG_PACKET_MAX;
  tg_values_open(&k.c, bytes);
  copy_list(&k);
  tg_assert(k.from <= k.c.end && k.put_in <= k.most);
  flush_until(&k, k.c.end);
  return k.put_in;
}

/* }================================================================== */
