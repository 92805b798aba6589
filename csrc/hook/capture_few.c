/*
** capture_few.c - see capture_few.h. Called in the hook, on the traced
** thread.
**
** The long way has a pool, which every object is entered in, and which can grow
** and be listed from. Of six values at most, which hold nothing that is listed,
** the few objects can be compared with each other.
**
** Whatever does not fit what is done here ends it: a string that was not
** written yet, a class with a long name, a function that nobody has defined.
*/
#include "hook/capture_few.h"
#include "state/catalog.h"

typedef struct Few {
  const tg_Session *session;
  lua_State *L;
  tg_Slot objects[TG_PLAIN_MAX];    /* in the order in which they were met */
  uint32_t count;                   /* of these */
  bool refers;
} Few;

/* A string that is in the stream already. 'limit' may be none at all, and all
   strings of a list too much for a packet: that is for the long way to see. */
static uint8_t *put_written (Few *f, tg_Slot v, uint8_t *p) {
  size_t n, limit = f->session->selection.limits.string;
  const char *s = tg_slot_text(v, &n);
  size_t kept = (n < limit) ? n : limit;
  if (kept > TG_PACKET_MAX / COST_PER_BYTE / TG_PLAIN_MAX)
    return NULL;
  const uint8_t *grip = find_written(&f->session->writer, s, n, kept);
  if (grip == NULL)
    return NULL;
  f->refers = true;
  return put_distance(p, grip);
}

/* An object, perhaps one that was met before. Light userdata are told by type
   and address. */
static uint8_t *put_named (Few *f, tg_Slot v, uint8_t *p) {
  uint32_t id = 0;
  while (id < f->count && (f->objects[id].u.p != v.u.p
                           || tg_slot_type(f->objects[id]) != tg_slot_type(v)))
    id++;
  if (id == f->count)
    f->objects[f->count++] = v;
  return put_byte(p, (uint8_t)(TG_GRIP_SMALLOBJ + id));
}

static uint8_t *put_outer (Few *f, tg_Slot v, uint8_t *p) {
  uint8_t *end = put_small_slot(v, f->session->selection.limits.string, p);
  if (end != NULL)
    return end;
  if (tg_slot_type(v) == LUA_TSTRING)
    return put_written(f, v, p);
  return is_null(v) ? put_byte(p, TG_GRIP_NULL) : put_named(f, v, p);
}

/* The name that a metatable gives to its class, if that is short; NULL if it
   is not. */
static uint8_t *put_class_name (const Few *f, const void *meta, uint8_t *p,
                                uint32_t *flags) {
  tg_Slot name = tg_direct_field(meta, f->session->name_key);
  if (tg_slot_type(name) != LUA_TSTRING)
    return p;
  *flags |= TG_DESC_CLASS;
  return put_small_slot(name, f->session->selection.limits.string, p);
}

/* One of the objects, by its type and class, and a function by its
   definition. */
static uint8_t *put_name (const Few *f, tg_Slot v, uint8_t *p) {
  int type = tg_slot_type(v);
  uint8_t *head = p;
  uint32_t flags = 0;
  const void *meta = tg_capture_metatable(f->L, v);
  p += 2;
  if (meta != NULL) {
    flags = TG_DESC_TRUNCATED | TG_DESC_META;
    p = put_class_name(f, meta, p, &flags);
  }
  else if (type == LUA_TTABLE && tg_capture_has_content(v.u.p))
    flags = TG_DESC_TRUNCATED;
  if (p != NULL && type == LUA_TFUNCTION) {
    tg_FunctionId id = tg_catalog_seen(f->session, v);
    flags |= TG_DESC_FUNCTION;
    p = (id != 0) ? tg_putvar(p, id) : NULL;
  }
  head[0] = (uint8_t)object_type(type);
  head[1] = (uint8_t)flags;
  return p;
}

uint8_t *tg_capture_few (const tg_Session *s, lua_State *L, const void *base,
                         int first, int n, uint8_t *start) {
  Few f;
  uint8_t *p = start + 4;
  tg_assert(tg_capture_are_few(s, base, first, n, start));
  f.session = s;                /* 'objects' are not worth clearing */
  f.L = L;
  f.count = 0;
  f.refers = false;
  p = put_byte(p, (uint8_t)n);
  for (int i = 0; i < n && p != NULL; i++)
    p = put_outer(&f, slot_at(base, first + i), p);
  for (uint32_t i = 0; i < f.count && p != NULL; i++)
    p = put_name(&f, f.objects[i], p);
  if (p != NULL)
    tg_put32(start, (uint32_t)(p - start - 4)
                    | (f.refers ? TG_VALUES_REFERS : 0u));
  return p;
}
