/*
** few.c - see few.h. Called in the hook, on the traced thread.
**
** The long way (rules.h) lists to any depth, counts the bytes of all values,
** and has a pool that can grow: by that way an event with an object or two
** takes a third more instructions. Six values at most, of which nothing but
** they themselves is listed, need a fixed number of objects, and nothing is
** counted. What is told of an object is the same (descriptor.h).
**
** Values that do not fit these limits go the long way: a string that was not
** written yet, a class with a long name, a function that has no definition yet,
** too many objects.
*/
#include "capture/few.h"
#include "capture/met.h"
#include "capture/slotvalue.h"
#include "capture/table.h"
#include "state/models.h"

/* ---- descriptors ---- */

TG_INLINE uint8_t *put_string (const tg_Capture *c, const char *s, size_t n,
                               uint8_t *p) {
  return put_text(p, s, n, c->limits->string);
}

TG_INLINE uint8_t *put_object (const tg_Capture *c, uint32_t id,
                               tg_ObjectType type, uint8_t *p) {
  (void)c, (void)type;
  return (p != NULL) ? put_byte(p, (uint8_t)(TG_GRIP_SMALLOBJ + id)) : NULL;
}

TG_INLINE uint8_t *put_function (const tg_Capture *c, tg_FunctionId id,
                                 uint8_t *p) {
  (void)c;
  return (p != NULL) ? tg_putvar(p, id) : NULL;
}

#include "capture/descriptor.h"

/* The first byte of a row of tables that are only named, without a class (NAMED
   in stream/values.h): of such that are empty, have something, or have a
   metatable. */
#define ROW_EMPTY ((uint32_t)TG_DESC_NAMED)
#define ROW_FULL (ROW_EMPTY | 1u << TG_NAMED_SHIFT)
#define ROW_META (ROW_EMPTY | 2u << TG_NAMED_SHIFT)
#define NO_ROW 0u               /* none has begun */
#define ALONE 0x100u            /* of what is in no row */

static TG_NOINLINE uint32_t row_of_rest (const void *table) {
  return tg_capture_has_content(table) ? ROW_FULL : ROW_EMPTY;
}

/* Mostly it is seen at once whether there is anything in a table. */
TG_INLINE uint32_t row_of_plain (const void *table) {
  bool array = tg_direct_has_array(table);
  if (array && !tg_slot_is_nil(tg_direct_element(table, 0)))
    return ROW_FULL;
  if (!tg_slot_is_nil(tg_node_value(tg_direct_node(table, 0))))
    return ROW_FULL;
  if (!array && tg_direct_nodes(table) == 1)
    return ROW_EMPTY;
  return row_of_rest(table);
}

/* Most of what is only named is a table without a class. */
TG_INLINE uint32_t row_of (tg_Few *f, tg_Slot v) {
  size_t n;
  if (tg_unlikely(tg_slot_type(v) != LUA_TTABLE))
    return ALONE;
  tg_Slot meta = {.u.p = tg_direct_metatable(v.u.p, LUA_TTABLE)};
  if (meta.u.p == NULL)
    return row_of_plain(v.u.p);
  return (class_of(&f->c, meta, &n) == NULL) ? ROW_META : ALONE;
}

/* The descriptor of an object that is only named. */
static TG_NOINLINE uint8_t *put_name (tg_Few *f, tg_Slot v, uint8_t *p) {
  tg_Object o = {0};
  examine_named(&f->c, &o, v);
  p = put_head(p, object_type(tg_slot_type(v)), o.flags);
  return put_parts(&f->c, &o, o.flags, p);
}

/* Of the objects from 'id' on: as many tables of one sort as come in a row are
   one byte, which is written when the row has ended. */
static uint8_t *put_names (tg_Few *f, uint32_t id, uint8_t *p) {
  const tg_Slot *v = &f->objects[id], *end = &f->objects[f->count];
  uint32_t row = NO_ROW;        /* its first byte and how many have followed */
  for (; v < end; v++) {
    uint32_t first = row_of(f, *v);
    if (tg_likely((row ^ first) < TG_NAMED_MOST)) {
      row++;
      continue;
    }
    if (row != NO_ROW)
      p = put_byte(p, (uint8_t)row);
    row = first;
    if (tg_unlikely(first == ALONE)) {
      p = put_name(f, *v, p);
      row = NO_ROW;
      if (p == NULL)
        return NULL;
    }
  }
  return (row != NO_ROW) ? put_byte(p, (uint8_t)row) : p;
}

/* The descriptor of an object with its metatable and its content. */
static uint8_t *put_listed (tg_Few *f, tg_Slot v, uint8_t *p) {
  tg_Object o = {0};
  tg_Slot meta;
  uint8_t *head = p;
  examine_definition(&f->c, &o, v);
  if (take_metatable(&f->c, v, &meta)) {
    o.proto = tg_met_number(f, meta);
    if (tg_unlikely(o.proto >= f->most))
      return NULL;
    o.flags |= TG_DESC_PROTO;
    examine_class(&f->c, &o, meta);
  }
  p = put_head(p, object_type(tg_slot_type(v)), o.flags);
  p = put_parts(&f->c, &o, o.flags, p);
  if (tg_likely(p != NULL && tg_slot_type(v) == LUA_TTABLE))
    p = tg_few_put_table(f, v.u.p, o.flags, head, p);
  return p;
}

/* The most bytes that one descriptor takes, without a table's content. */
#define OBJECT_ROOM (2u + SMALL_ROOM + (size_t)ROOM)

static bool has_room (const tg_Few *f, const uint8_t *p, size_t need) {
  return p != NULL && (size_t)(f->c.lim - p) >= need;
}

/* First the objects of the list itself, then the objects inside of these. */
static uint8_t *put_descriptors (tg_Few *f, uint8_t *p) {
  uint32_t id = 0, listed = f->count;
  if (f->c.session->selection.limits.depth == 1) {
    for (; id < listed && has_room(f, p, OBJECT_ROOM); id++)
      p = put_listed(f, f->objects[id], p);
    if (id < listed)
      return NULL;
  }
  if (!has_room(f, p, OBJECT_ROOM * (f->count - id)))
    return NULL;
  return put_names(f, id, p);
}

/* ---- lists ---- */

TG_INLINE uint8_t *put_outer (tg_Few *f, tg_Slot v, uint8_t *p) {
  uint8_t *end = tg_few_put_small(f, v, p);
  return (end != NULL) ? end : tg_few_put_large(f, v, p);
}

/* How many objects there may be: none where they would be listed any
   deeper. */
static uint32_t most_objects (const tg_Selection *wanted) {
  const tg_Limits *l = &wanted->limits;
  if (l->depth > 1)
    return 0;
  return (l->objects < TG_MET_MAX) ? l->objects : TG_MET_MAX;
}

uint8_t *tg_capture_few (tg_Session *s, lua_State *L, const void *base,
                         int first, int n, int extra, uint8_t *start) {
  tg_Few f;
  uint8_t *p = start + 2;
  tg_assert(tg_capture_are_few(s, n + extra, start));
  if (tg_unlikely(s->selection.redacts || s->capture.identities != NULL))
    return NULL;                /* each value has to be looked at, or told by
                                   its number */
  f.c.session = s;              /* the rest of it is for the long way */
  f.c.L = L;
  f.c.limits = &s->selection.limits;
  f.c.lim = s->writer.lim;
  f.c.unknown = false;
  f.c.meta = NULL;
  f.noted = false;
  f.count = 0;                  /* 'objects' are not worth clearing */
  f.seen = 0;
  f.most = most_objects(&s->selection);
  f.limit = s->selection.limits.string;
  f.words = s->capture.words;
  p = put_byte(p, (uint8_t)(n + extra));
  for (int i = 0; i < n && p != NULL; i++)
    p = put_outer(&f, slot_at(base, first + i), p);
  for (int i = -extra; i < 0 && p != NULL; i++)
    p = put_outer(&f, slot_at(base, i), p);
  if (p != NULL && f.count > 0)
    p = put_descriptors(&f, p);
  if (p == NULL || f.c.unknown || p - start > (ptrdiff_t)TG_SHORT_WIDE + 2) {
    if (f.noted)
      tg_models_forget(s->capture.models, start, s->writer.lim);
    return NULL;
  }
  uint32_t size = (uint32_t)(p - start - 2);
  tg_put16(start, (size & 0x7f) | 0x80 | size >> 7 << 8);
  return p;
}
