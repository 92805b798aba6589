/*
** rules.h - what a list of values comes to as bytes (stream/values.h): which
** values are listed, in which order, how far, what is hidden. Compiled twice,
** by slots.c and asked.c, so that both ways to read values write the same
** bytes; each defines before, as slotvalue.h and askedvalue.h do:
**
**     Value                 a value; its type_of, address_of, text_of, whether
**                           is_integer and which; integer_value makes a key
**     put_small             a number, boolean, nil, or short string
**     take_item             a value of the list; leave_item lets go of it
**     take_metatable, _field  of a value; 'leave' lets go of the last one
**     traverse, next_entry  entries in lua_next's order; next_entry lets go of
**                           the one before, leave_traversal of the last one
**     class_of              the name that a metatable gives, NULL: none
**     has_content           whether there is anything in a table
**     definition_of         of a function
**     note_place, value_of  an object of the pool as a value again...
**     keep, is_kept         ...also one that was taken, if there is room
**     may_nest              there is room to take one more
**
** Breadth first: the values themselves, then, in order of their pool index,
** the descriptors of the objects met. So an object's level is its distance,
** and an argument is listed as an argument even if it was met inside another
** one first. Objects at the level where nothing is listed any more are named:
** type, class, and whether there is more to them.
**
** Called in the hook, on the traced thread. Nothing fails here: room that is
** too small is latched (budget.h), and an object for which the pool or the
** stack has no room is marked, or only named.
*/
#ifndef TG_CAPTURE_RULES_H
#define TG_CAPTURE_RULES_H

#include "base/identities.h"
#include "capture/budget.h"
#include "capture/capture.h"
#include "capture/descriptor.h"

/* NULL is a light userdata without an identity. */
TG_INLINE bool is_object (const tg_Capture *c, Value v) {
  int type = type_of(v);
  return type >= LUA_TTABLE
         || (type == LUA_TLIGHTUSERDATA && address_of(c, v) != NULL);
}

/* Anything but an object. */
TG_INLINE uint8_t *put_scalar (tg_Capture *c, Value v, uint8_t *p) {
  if (type_of(v) == LUA_TSTRING) {
    size_t n;
    const char *s = text_of(c, v, &n);
    return put_text_value(c, s, n, p);
  }
  if (tg_unlikely(!room(c, p, ROOM)))
    return NULL;
  uint8_t *end = put_small(c, v, 0, p);
  return tg_likely(end != NULL) ? end : put_byte(p, TG_GRIP_NULL);
}

/* ---- objects ---- */

TG_INLINE uint32_t enter_value (tg_Capture *c, Value v, uint32_t level,
                                bool *fresh) {
  uint32_t id = enter(c, address_of(c, v), type_of(v), level, fresh);
  if (*fresh)
    note_place(&c->pool->list[id], v);
  return id;
}

/* An object, its metatable, and that one's, and so on: these functions call
   each other. Each round is a level deeper and enters an object that was not
   there, so it ends. */
static uint32_t meet (tg_Capture *c, Value v, uint32_t level);

/* One that is to be listed is met with its metatable, which has a place of its
   own in the pool. */
TG_INLINE void examine_listed (tg_Capture *c, uint32_t id, Value v) {
  Value meta;
  tg_Object *o = &c->pool->list[id];
  uint32_t level = o->level + 1;
  examine_definition(c, o, v);
  if (!take_metatable(c, v, &meta))
    return;
  if (level >= c->limits->depth || may_nest(c)) {
    uint32_t proto = meet(c, meta, level);
    o = &c->pool->list[id];             /* the pool may have grown */
    o->proto = proto;
    o->flags |= TG_DESC_PROTO;
  }
  else
    o->flags |= TG_DESC_TRUNCATED | TG_DESC_META;
  examine_class(c, o, meta);
  leave(c);
}

/* An object that was only named before is listed where it is met at a level
   that is, unless its descriptor is written. */
TG_INLINE bool promote (tg_Object *o) {
  bool was = o->brief;
  o->brief = false;
  return was;
}

/* An object that is to be listed. */
TG_INLINE uint32_t meet_listed (tg_Capture *c, Value v, uint32_t level) {
  bool fresh;
  uint32_t id = enter_value(c, v, level, &fresh);
  if (id == TG_POOL_NONE)
    return id;
  tg_Object *o = &c->pool->list[id];
  if (level < o->level)
    o->level = level;
  if (!promote(o) && !fresh)
    return id;
  bool kept = o->type != TG_OBJ_TABLE || keep(c, o, v);
  examine_listed(c, id, v);
  if (!kept)
    c->pool->list[id].flags |= TG_DESC_TRUNCATED;
  return id;
}

TG_INLINE uint32_t meet_named (tg_Capture *c, Value v, uint32_t level) {
  bool fresh;
  uint32_t id = enter_value(c, v, level, &fresh);
  if (fresh) {
    c->pool->list[id].brief = true;
    examine_named(c, &c->pool->list[id], v);
  }
  return id;
}

/* The pool index of an object met at 'level' inside another one; TG_POOL_NONE:
   no room for it. */
static uint32_t meet (tg_Capture *c, Value v, uint32_t level) {
  return (level < c->limits->depth) ? meet_listed(c, v, level)
                                    : meet_named(c, v, level);
}

/* ---- what is hidden ---- */

#define LEARNED_MOST 64         /* values looked at in one table */
#define LEARNED_DEPTH 3

/* Of a value that is hidden, from then on strings that hold it are hidden too;
   of a table, those that hold one of its strings: its keys are names. Of
   numbers and the like nothing is learned: the next one that is the same is
   another one. */
static void learn (tg_Capture *c, Value v, int depth, int *left) {
  Value key, value;
  if (type_of(v) == LUA_TSTRING) {
    size_t n;
    const char *text = text_of(c, v, &n);
    tg_secrets_add(&c->session->capture.secrets, text, n);
  }
  if (type_of(v) != LUA_TTABLE || depth == 0 || !may_nest(c))
    return;
  Traversal t = traverse(c, v);
  while (next_entry(c, &t, &key, &value)) {
    if (--*left < 0) {
      leave_traversal(c);
      return;
    }
    learn(c, value, depth - 1, left);
  }
}

TG_INLINE void learn_value (tg_Capture *c, Value v) {
  int left = LEARNED_MOST;
  learn(c, v, LEARNED_DEPTH, &left);
}

/* What is to be done about a property where something is hidden. */
typedef enum Veiled { SHOWN, HIDDEN, LEFT_OUT } Veiled;

/* Only names are secret: a pattern is matched with text, and a number is none.
   A key may be a secret itself, and then nothing is told of it. */
static Veiled look_at_key (tg_Capture *c, Value key, Value value) {
  size_t n;
  if (!c->redacts || type_of(key) != LUA_TSTRING)
    return SHOWN;
  const char *text = text_of(c, key, &n);
  if (holds_secret(c, text, n)) {
    c->left_out = true;
    return LEFT_OUT;
  }
  if (!tg_selection_hides(&c->session->selection, text, n))
    return SHOWN;
  learn_value(c, value);
  return HIDDEN;
}

/* ---- what a table holds ---- */

/* The state of listing one table. */
typedef struct Listing {
  Value table;
  uint32_t level;       /* of what its properties hold */
  uint32_t listed;      /* properties so far */
  lua_Integer n;        /* length of the sequence so far */
  bool in_order;        /* only the sequence has come so far */
  bool full;            /* a limit was reached */
} Listing;

/* Whether one more property may be listed: then it counts. */
TG_INLINE bool affordable (tg_Capture *c, Listing *t) {
  if (t->listed >= c->limits->properties || !spend(c, COST_PROPERTY))
    t->full = true;
  else
    t->listed++;
  return !t->full;
}

/* A key or value, whatever it is. */
static TG_NOINLINE uint8_t *put_any (tg_Capture *c, Value v, uint32_t level,
                                     uint8_t *p) {
  if (is_object(c, v))
    return put_object(c, meet(c, v, level), object_type(type_of(v)), p);
  return put_scalar(c, v, p);
}

/* A property whose key is not small, or where something may be hidden. */
static TG_NOINLINE uint8_t *put_special (tg_Capture *c, Value key, Value value,
                                         uint32_t level, uint8_t *p) {
  Veiled veiled = look_at_key(c, key, value);
  if (veiled == LEFT_OUT)
    return p;
  p = put_any(c, key, level, p);
  return (veiled == SHOWN) ? put_any(c, value, level, p) : put_redacted(c, p);
}

/* Room for the key and the value is asked for at once, and both may turn out
   to be small: then nothing else is asked. */
TG_INLINE uint8_t *put_property (tg_Capture *c, Value key, Value value,
                                 uint32_t level, uint8_t *p) {
  if (!room(c, p, 2 * SMALL_ROOM))
    return NULL;
  uint8_t *end = put_small(c, key, c->limits->string, p);
  if (tg_unlikely(end == NULL || c->redacts))
    return put_special(c, key, value, level, p);
  p = end;
  end = put_small(c, value, c->limits->string, p);
  return tg_likely(end != NULL) ? end : put_any(c, value, level, p);
}

/* Elements of the sequence from n + 1 on. */
static uint8_t *put_sequence (tg_Capture *c, Listing *t, uint8_t *p) {
  for (;;) {
    Value v = take_field(c, t->table, t->n + 1);
    bool more = type_of(v) != LUA_TNIL && affordable(c, t);
    if (more)
      p = put_property(c, integer_value(++t->n), v, t->level, p);
    leave(c);
    if (!more || p == NULL)
      return p;
  }
}

/*
** Whether the integer key 'k' (0: another one) is to be passed over because the
** sequence has it already. The first key that is not the sequence's next one is
** where the rest of the sequence is looked for.
*/
static bool in_sequence (tg_Capture *c, Listing *t, lua_Integer k,
                         uint8_t **p) {
  if (t->in_order) {
    if (k == t->n + 1) {
      t->n++;
      return false;
    }
    t->in_order = false;
    *p = put_sequence(c, t, *p);
  }
  return k >= 1 && k <= t->n;
}

/* A table's array part comes in order anyway; what of the sequence does not is
   fetched at the first other key. */
static uint8_t *put_entries (tg_Capture *c, Listing *t, uint8_t *p) {
  Value key, value;
  Traversal e = traverse(c, t->table);
  while (next_entry(c, &e, &key, &value)) {
    lua_Integer k;
    bool integer = is_integer(key, &k);
    if (tg_unlikely(t->in_order || integer)
        && in_sequence(c, t, integer ? k : 0, &p))
      continue;
    if (tg_unlikely(p == NULL || !affordable(c, t))) {
      leave_traversal(c);
      break;
    }
    p = put_property(c, key, value, t->level, p);
  }
  return p;
}

TG_INLINE bool has_field (tg_Capture *c, Value table, lua_Integer k) {
  bool has = type_of(take_field(c, table, k)) != LUA_TNIL;
  leave(c);
  return has;
}

/* The sequence 1..n first, then the rest. A sequence of more elements than may
   be listed is fetched: that is cheaper than to traverse it, but what else
   there is only a traversal tells. */
static uint8_t *put_properties (tg_Capture *c, Listing *t, uint8_t *p) {
  if (has_field(c, t->table, 1)) {
    lua_Integer beyond = (lua_Integer)c->limits->properties + 1;
    t->in_order = !has_field(c, t->table, beyond);
    if (!t->in_order)
      p = put_sequence(c, t, p);
  }
  return (t->full || p == NULL) ? p : put_entries(c, t, p);
}

/* The properties of an object of the pool, which may move meanwhile. */
static uint8_t *put_table (tg_Capture *c, const tg_Object *o,
                                       uint32_t *flags, uint8_t *p) {
  Listing t = {.table = value_of(o), .level = o->level + 1};
  c->left_out = false;
  p = put_properties(c, &t, p);
  *flags |= TG_DESC_PROPS | (t.full || c->left_out ? TG_DESC_TRUNCATED : 0u);
  return room(c, p, ROOM) ? put_byte(p, TG_GRIP_END) : NULL;
}

/* ---- descriptors ---- */

/* One of the list's own values: looked at now, so that they come first. */
TG_INLINE void examine_outer (tg_Capture *c, uint32_t id) {
  tg_Object *o = &c->pool->list[id];
  if (c->limits->depth > 0)
    examine_listed(c, id, value_of(o));
  else
    examine_named(c, o, value_of(o));
}

/* Type and flags come first. Those of a table are known last: it is written
   again. */
static uint8_t *put_descriptor (tg_Capture *c, uint32_t id, uint8_t *p) {
  if (!c->pool->list[id].examined)
    examine_outer(c, id);
  if (!room(c, p, ROOM))
    return NULL;
  tg_Object *o = &c->pool->list[id];
  uint8_t *head = p;
  uint32_t flags = o->flags;
  o->brief = false;             /* what is written stays so */
  p = put_parts(c, o, flags, put_head(p, o->type, flags));
  if (o->type == TG_OBJ_TABLE && o->level < c->limits->depth && is_kept(o)) {
    p = put_table(c, o, &flags, p);
    put_head(head, TG_OBJ_TABLE, flags);
  }
  return p;
}

/* Which tables they are, if that is asked for: behind the last descriptor, as a
   userdata that has properties, which no other one has. */
static TG_NOINLINE uint8_t *put_identities (tg_Capture *c, uint8_t *p) {
  bool any = false;
  for (uint32_t id = 0; p != NULL && id < c->pool->count; id++) {
    const tg_Object *o = &c->pool->list[id];
    uint32_t number = o->type == TG_OBJ_TABLE
                      ? tg_identities_of(c->session->capture.identities,
                                         o->address) : 0;
    if (number == 0)
      continue;
    if (!room(c, p, 2 * ROOM))  /* what begins the list and ends it, too */
      return NULL;
    if (!any)
      p = put_byte(put_byte(p, TG_OBJ_USERDATA), TG_DESC_PROPS);
    any = true;
    p = put_integer(put_integer(p, id), number);
  }
  return any ? put_byte(p, TG_GRIP_END) : p;
}

/* In the order of their indices, which is that in which they were met: so what
   is listed meets others, which get the numbers after its own, and the loop
   ends when nobody is met any more. */
static uint8_t *put_pool (tg_Capture *c, uint8_t *p) {
  for (uint32_t id = 0; p != NULL && id < c->pool->count; id++)
    p = put_descriptor(c, id, p);
  if (tg_unlikely(c->session->capture.identities != NULL))
    p = put_identities(c, p);
  tg_objectpool_clear(c->pool);
  return p;
}

/* ---- lists ---- */

/* One of the values of the list. Whether it has a metatable is looked at later,
   so that arguments come first. */
TG_INLINE uint8_t *put_outer (tg_Capture *c, Value v, uint8_t *p) {
  bool fresh;
  if (is_object(c, v))
    return put_object(c, enter_value(c, v, 0, &fresh), object_type(type_of(v)),
                      p);
  return put_scalar(c, v, p);
}

/* The count is of all there are, the values are those that a list may have. Of
   what is secret not even its type is told. */
static uint8_t *put_list (tg_Capture *c, const tg_ValueList *list,
                          uint8_t *p) {
  int total = list->count + list->varargs;
  int n = (total < TG_VALUES_MAX) ? total : TG_VALUES_MAX;
  p = tg_putvar(p, (uint64_t)total);
  for (int i = 0; i < n && p != NULL; i++) {
    if (tg_unlikely(tg_veil_has(list->veil, i)))
      p = put_redacted(c, p);
    else {
      Value v = take_item(c, list, i);
      p = put_outer(c, v, p);
      leave_item(c, list, i, v);
    }
  }
  return put_pool(c, p);
}

/* Names and values alternate. What hides a value hides no name. */
static TG_NOINLINE uint8_t *put_named (tg_Capture *c, const tg_ValueList *list,
                                       uint8_t *p) {
  tg_assert(list->varargs == 0 && 2 * list->count <= TG_VALUES_MAX);
  p = tg_putvar(p, 2 * (uint64_t)list->count);
  for (int i = 0; i < list->count && p != NULL; i++) {
    const char *name = list->names[i];
    p = put_text_value(c, name, strlen(name), p);
    if (tg_veil_has(list->veil, i))
      p = put_redacted(c, p);
    else
      p = put_outer(c, take_item(c, list, i), p);
  }
  return put_pool(c, p);
}

static uint8_t *put_any_list (tg_Capture *c, const tg_ValueList *list,
                              uint8_t *p) {
  return tg_unlikely(list->names != NULL) ? put_named(c, list, p)
                                          : put_list(c, list, p);
}

/* The list with its size at 'start'. Where the room ends, what was written is
   nobody's: strings in it are not to be referred to. */
static uint8_t *capture (tg_Capture *c, const tg_ValueList *list,
                         uint8_t *start) {
  tg_assert(c->pool->count == 0);
  uint8_t *p = room(c, start, 4 + ROOM) ? put_any_list(c, list, start + 4)
                                          : NULL;
  if (tg_likely(p != NULL && !c->unknown))
    tg_put32(start, (uint32_t)(p - start - 4)
                    | (c->refers ? TG_VALUES_REFERS : 0u));
  else
    tg_capture_forget(&c->session->writer, start);
  return p;
}

#endif
