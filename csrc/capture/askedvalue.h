/*
** askedvalue.h - values for rules.h, by the public API. Private to asked.c.
**
** A value is where it stands on the Lua stack:
**
**     1 ..   arguments and locals   kept objects  |  what was taken
**                                                 mark
**
** What was taken (a metatable, a key and its value) is on top and has a number
** from the mark on, 0 and down. An object that is to be looked at later is
** kept: a copy goes below the mark, which moves, so that all numbers stay
** right. The table that it was met in may be all that keeps the object from
** the collector; a reference in the registry would allocate.
**
** Raw access only (lua_next, lua_rawget): what the program has in __pairs,
** __index or __name never runs.
*/
#ifndef TG_CAPTURE_ASKEDVALUE_H
#define TG_CAPTURE_ASKEDVALUE_H

#include "capture/budget.h"
#include "capture/capture.h"
#include "capture/varargs.h"
#include "state/catalog.h"

#define INTEGER (-2)    /* a type beside Lua's: numbers that are asked once */

typedef struct Value {
  int at;               /* index; 0 and less: number from the mark on */
  int type;
  lua_Integer i;        /* an INTEGER */
} Value;

typedef struct Traversal {
  int table;            /* index */
  int key;              /* number; the value has the next one */
} Traversal;

TG_INLINE int index_of (const tg_Capture *c, Value v) {
  return (v.at > 0) ? v.at : c->mark - v.at;
}

/* What has just been pushed. */
TG_INLINE Value taken (tg_Capture *c, int type) {
  tg_assert(lua_gettop(c->L) == c->mark + c->above);
  return (Value){.at = -c->above++, .type = type};
}

TG_INLINE void leave (tg_Capture *c) {
  lua_pop(c->L, 1);
  c->above--;
}

/* ---- what it is ---- */

TG_INLINE int type_of (Value v) {
  return v.type;
}

TG_INLINE const void *address_of (const tg_Capture *c, Value v) {
  return lua_topointer(c->L, index_of(c, v));
}

TG_INLINE const char *text_of (const tg_Capture *c, Value v, size_t *n) {
  return lua_tolstring(c->L, index_of(c, v), n);
}

TG_INLINE uint8_t *put_number (lua_State *L, int i, uint8_t *p) {
  return lua_isinteger(L, i) ? put_integer(p, lua_tointeger(L, i))
                             : put_float(p, lua_tonumber(L, i));
}

/* The same as put_small_slot (slots.h), of the value at index 'i'. */
TG_INLINE uint8_t *put_small_at (lua_State *L, int i, int type, uint32_t limit,
                                 uint8_t *p) {
  size_t n;
  const char *s;
  switch (type) {
    case LUA_TNUMBER:
      return put_number(L, i, p);
    case LUA_TSTRING:
      s = lua_tolstring(L, i, &n);
      return put_text(p, s, n, limit);
    case LUA_TBOOLEAN:
      return put_boolean(p, lua_toboolean(L, i));
    case LUA_TNIL: case LUA_TNONE:
      return put_byte(p, TG_GRIP_NIL);
    default:
      return NULL;
  }
}

TG_INLINE uint8_t *put_small (const tg_Capture *c, Value v, uint32_t limit,
                              uint8_t *p) {
  if (v.type == INTEGER)
    return put_integer(p, v.i);
  return put_small_at(c->L, index_of(c, v), v.type, limit, p);
}

TG_INLINE bool is_integer (Value v, lua_Integer *i) {
  *i = v.i;
  return v.type == INTEGER;
}

TG_INLINE Value integer_value (lua_Integer i) {
  return (Value){.type = INTEGER, .i = i};
}

TG_INLINE tg_FunctionId definition_of (tg_Capture *c, Value v) {
  return tg_catalog_value(c->session, c->L, index_of(c, v));
}

/* ---- where it is found ---- */

/* Extra arguments have no index: they are pushed. What cannot be pushed is told
   as nil: the program may have cleared the table that has them. */
TG_INLINE Value take_item (tg_Capture *c, const tg_ValueList *list, int i) {
  int at = list->first + i;
  if (i >= list->count) {
    at = c->mark;
    if (!tg_varargs_push(c->L, list->ar, list->count, i - list->count + 1))
      lua_pushnil(c->L);
  }
  return (Value){.at = at, .type = lua_type(c->L, at)};
}

/* Objects are described after all values. */
TG_INLINE void leave_item (tg_Capture *c, const tg_ValueList *list, int i,
                           Value v) {
  if (i < list->count)
    return;
  if (v.type >= LUA_TTABLE || v.type == LUA_TLIGHTUSERDATA)
    c->mark++;
  else
    lua_pop(c->L, 1);
}

TG_INLINE bool take_metatable (tg_Capture *c, Value v, Value *meta) {
  if (!lua_getmetatable(c->L, index_of(c, v)))
    return false;
  *meta = taken(c, LUA_TTABLE);
  return true;
}

TG_INLINE Value take_field (tg_Capture *c, Value table, lua_Integer k) {
  return taken(c, lua_rawgeti(c->L, index_of(c, table), k));
}

/* The text is used after the name was popped: the metatable has the string, and
   nothing of the program can change it before this list is complete. */
static TG_NOINLINE void ask_class (tg_Capture *c, tg_Class *k, Value meta) {
  lua_State *L = c->L;
  k->capture = c->session->capture.lists;
  k->name = NULL;
  lua_rawgeti(L, LUA_REGISTRYINDEX, TG_KEY_NAME);
  if (lua_rawget(L, index_of(c, meta)) == LUA_TSTRING)
    k->name = lua_tolstring(L, -1, &k->size);
  lua_pop(L, 1);
}

/* Objects of few kinds come together in a list: their metatables are asked
   once. */
TG_INLINE const char *class_of (tg_Capture *c, Value meta, size_t *n) {
  const void *address = address_of(c, meta);
  uint32_t at = tg_address_hash(address) % TG_CLASSES;
  tg_Class *k = &c->session->capture.classes[at];
  if (k->meta != address || k->capture != c->session->capture.lists) {
    k->meta = address;
    ask_class(c, k, meta);
  }
  *n = k->size;
  return k->name;
}

/* Not by lua_rawlen, which knows of sequences only. */
static bool has_content (const tg_Capture *c, Value table) {
  lua_pushnil(c->L);
  bool any = lua_next(c->L, index_of(c, table)) != 0;
  if (any)
    lua_pop(c->L, 2);
  return any;
}

/* From a nil, which stands for the key, and something in the value's place. */
TG_INLINE Traversal traverse (tg_Capture *c, Value table) {
  Traversal t = {index_of(c, table), -c->above};
  lua_pushnil(c->L);
  lua_pushnil(c->L);
  c->above += 2;
  return t;
}

TG_INLINE bool next_entry (tg_Capture *c, const Traversal *t, Value *key,
                           Value *value) {
  lua_State *L = c->L;
  lua_pop(L, 1);
  if (!lua_next(L, t->table)) {
    c->above -= 2;
    return false;
  }
  *key = (Value){.at = t->key, .type = lua_type(L, -2)};
  *value = (Value){.at = t->key - 1, .type = lua_type(L, -1)};
  if (key->type == LUA_TNUMBER && lua_isinteger(L, -2))
    *key = integer_value(lua_tointeger(L, -2));
  return true;
}

TG_INLINE void leave_traversal (tg_Capture *c) {
  lua_pop(c->L, 2);
  c->above -= 2;
}

/* ---- to be looked at later ---- */

TG_INLINE void note_place (tg_Object *o, Value v) {
  o->index = (v.at > 0) ? v.at : 0;
  o->tag = (uint8_t)v.type;
}

/* False: there is no room on the stack. */
TG_INLINE bool keep (tg_Capture *c, tg_Object *o, Value v) {
  if (o->index != 0)
    return true;
  if (!lua_checkstack(c->L, 8))
    return false;
  lua_pushvalue(c->L, index_of(c, v));
  lua_insert(c->L, c->mark);
  o->index = c->mark++;
  return true;
}

TG_INLINE bool is_kept (const tg_Object *o) {
  return o->index != 0;
}

TG_INLINE Value value_of (const tg_Object *o) {
  return (Value){.at = o->index, .type = o->tag};
}

/* Whether there is room for a chain of metatables, each of which is to be
   listed: it may be long. */
TG_INLINE bool may_nest (const tg_Capture *c) {
  return lua_checkstack(c->L, 8) != 0;
}

#endif
