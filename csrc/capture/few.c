/*
** few.c - see few.h. Called in the hook, on the traced
** thread.
**
** The long way lists to any depth, counts the bytes of all values, and has a
** pool that can grow. Six values at most, of which nothing but they themselves
** is listed, need a fixed number of objects, and nothing is counted.
**
** Values that do not fit these limits go the long way: a string that was not
** written yet, a class with a long name, a function that has no definition yet,
** too many objects.
*/
#include "capture/few.h"
#include "capture/met.h"
#include "capture/table.h"
#include "state/catalog.h"

/* ---- descriptors ---- */

/* Writes the name that a metatable gives to its class; NULL: it is not
   short. */
static TG_NOINLINE uint8_t *read_class (tg_Few *f, const void *meta,
                                        uint8_t *p) {
  tg_Slot name = tg_direct_field(meta, f->session->host.name_key);
  uint8_t *from = p;
  if (tg_slot_type(name) == LUA_TSTRING)
    p = put_small_slot(name, f->limit, p);
  if (p == NULL)
    return NULL;
  f->meta = meta;
  f->from = from;
  f->class_size = (size_t)(p - from);
  return p;
}

/* Objects of a list are often of one class: a class name that was written once
   is copied. */
TG_INLINE uint8_t *put_class (tg_Few *f, const void *meta, uint8_t *p,
                              uint32_t *flags) {
  if (meta != f->meta)
    p = read_class(f, meta, p);
  else if (f->class_size > 0) {
    memcpy(p, f->from, f->class_size);
    p += f->class_size;
  }
  if (f->class_size > 0)
    *flags |= TG_DESC_CLASS;
  return p;
}

/* What descriptors of functions have. */
TG_INLINE uint8_t *put_definition (const tg_Few *f, tg_Slot v, uint8_t *p,
                                   uint32_t *flags) {
  if (tg_likely(tg_slot_type(v) != LUA_TFUNCTION))
    return p;
  tg_FunctionId id = tg_catalog_seen(f->session, v);
  *flags |= TG_DESC_FUNCTION;
  return (id != 0) ? tg_putvar(p, id) : NULL;
}

/* The descriptor of an object that is only named: its type and class; of a
   function its definition too. */
TG_INLINE uint8_t *put_name (tg_Few *f, tg_Slot v, uint8_t *p) {
  int type = tg_slot_type(v);
  uint8_t *head = p;
  uint32_t flags = 0;
  const void *meta = tg_capture_metatable(f->L, v);
  p += 2;
  if (meta != NULL) {
    flags = TG_DESC_TRUNCATED | TG_DESC_META;
    p = put_class(f, meta, p, &flags);
  }
  else if (type == LUA_TTABLE && tg_capture_has_content(v.u.p))
    flags = TG_DESC_TRUNCATED;
  if (tg_likely(p != NULL))
    p = put_definition(f, v, p, &flags);
  head[0] = (uint8_t)object_type(type);
  head[1] = (uint8_t)flags;
  return p;
}

/* The metatable of an object that is listed: its class, and itself. */
static uint8_t *put_metatable (tg_Few *f, const void *meta, uint8_t *p,
                               uint32_t *flags) {
  tg_Slot table = {.u.p = meta, .tag = LUA_TTABLE | TG_TAG_OWNED};
  uint32_t id = tg_met_number(f, table);
  if (tg_unlikely(id >= f->most))
    return NULL;
  *flags |= TG_DESC_PROTO;
  p = put_class(f, meta, p, flags);
  return (p != NULL) ? put_byte(p, (uint8_t)(TG_GRIP_SMALLOBJ + id)) : NULL;
}

/* The descriptor of an object with its metatable and its content. */
static uint8_t *put_listed (tg_Few *f, tg_Slot v, uint8_t *p) {
  int type = tg_slot_type(v);
  uint8_t *head = p;
  uint32_t flags = 0;
  const void *meta = tg_capture_metatable(f->L, v);
  p += 2;
  if (meta != NULL)
    p = put_metatable(f, meta, p, &flags);
  if (tg_likely(p != NULL))
    p = put_definition(f, v, p, &flags);
  if (tg_likely(p != NULL && type == LUA_TTABLE))
    p = tg_few_put_table(f, v.u.p, p, &flags);
  head[0] = (uint8_t)object_type(type);
  head[1] = (uint8_t)flags;
  return p;
}

/* The most bytes that one descriptor takes, without a table's content. */
#define OBJECT_ROOM (2u + SMALL_ROOM + (size_t)ROOM)

static bool has_room (const tg_Few *f, const uint8_t *p, size_t need) {
  return p != NULL && (size_t)(f->lim - p) >= need;
}

/* First the objects of the list itself, then the objects inside of these. */
static uint8_t *put_descriptors (tg_Few *f, uint8_t *p) {
  uint32_t id = 0, listed = f->count;
  if (f->session->selection.limits.depth == 1) {
    for (; id < listed && has_room(f, p, OBJECT_ROOM); id++)
      p = put_listed(f, f->objects[id], p);
    if (id < listed)
      return NULL;
  }
  if (!has_room(f, p, OBJECT_ROOM * (f->count - id)))
    return NULL;
  for (; id < f->count && p != NULL; id++)
    p = put_name(f, f->objects[id], p);
  return p;
}

/* ---- lists ---- */

TG_INLINE uint8_t *put_outer (tg_Few *f, tg_Slot v, uint8_t *p) {
  uint8_t *end = put_small_slot(v, f->limit, p);
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
                         int first, int n, uint8_t *start) {
  tg_Few f;
  uint8_t *p = start + 4;
  tg_assert(tg_capture_are_few(s, n, start));
  if (tg_unlikely(s->selection.redacts))
    return NULL;                /* each value has to be looked at */
  f.session = s;                /* 'objects' are not worth clearing */
  f.L = L;
  f.lim = s->writer.lim;
  f.count = 0;
  f.most = most_objects(&s->selection);
  f.limit = s->selection.limits.string;
  f.refers = false;
  f.meta = NULL;
  p = put_byte(p, (uint8_t)n);
  for (int i = 0; i < n && p != NULL; i++)
    p = put_outer(&f, slot_at(base, first + i), p);
  if (p != NULL && f.count > 0)
    p = put_descriptors(&f, p);
  if (p != NULL)
    tg_put32(start, (uint32_t)(p - start - 4)
                    | (f.refers ? TG_VALUES_REFERS : 0u));
  return p;
}
