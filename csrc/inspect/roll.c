/*
** roll.c - see roll.h. Called by coroutines.c.
*/
#include <lauxlib.h>

#include "inspect/roll.h"
#include "base/alloc.h"
#include "base/grow.h"
#include "binding/lx.h"
#include "direct/objects.h"

static const char key_marker = 0;     /* registry: the marker */
static const char key_weak = 0;       /* registry: a weak table, {sentinel} */

bool tg_roll_known (void) {
  return tg_objects_known();
}

/* Pushes the weak table. */
static void push_weak (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key_weak) == LUA_TTABLE)
    return;
  lua_pop(L, 1);
  lx_weak_list(L, 1);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key_weak);
}

/* Makes the new marker; its address, which comes first of all objects then. */
static const void *make_marker (lua_State *L) {
  lua_newtable(L);
  const void *marker = lua_topointer(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key_marker);
  return marker;
}

/* Whether nothing that was there at the last walk may have been freed. */
static bool is_current (const tg_Roll *r, lua_State *L, int weak) {
  bool current = lua_rawgeti(L, weak, 1) != LUA_TNIL && r->marker != NULL;
  lua_pop(L, 1);
  return current;
}

static bool add (tg_Roll *r, lua_State *co) {
  if (!tg_grow(&r->list, &r->capacity, r->count + 1, sizeof *r->list))
    return false;
  r->list[r->count++] = co;
  return true;
}

/* From the newest object to 'end', which is not looked at. */
static bool walk (tg_Roll *r, const lua_State *L, const void *end,
                  const void *fresh) {
  for (const void *o = tg_objects_first(L); o != NULL && o != end;
       o = tg_objects_next(o)) {
    lua_State *co = tg_objects_coroutine(o);
    if (co != NULL && !tg_objects_dead(o, fresh) && !add(r, co))
      return false;
  }
  return true;
}

static void reverse (lua_State **first, lua_State **last) {
  while (first < last) {
    lua_State *co = *first;
    *first++ = *last;
    *last-- = co;
  }
}

/* What makes objects comes first: each may be where the collector decides. The
   sentinel is made after that, so a walk that is told of by it saw all. */
void tg_roll_call (tg_Roll *r, lua_State *L) {
  luaL_checkstack(L, 4, NULL);
  push_weak(L);
  int weak = lua_gettop(L);
  lua_newtable(L);                      /* weak sentinel */
  const void *marker = make_marker(L), *end = r->marker;
  bool current = is_current(r, L, weak);
  if (!current) {
    end = NULL;
    r->count = 0;
    lua_pushvalue(L, -1);
    lua_rawseti(L, weak, 1);
  }
  lua_pop(L, 2);
  uint32_t before = r->count;
  r->marker = walk(r, L, end, marker) ? marker : NULL;
  if (r->marker == NULL)
    luaL_error(L, "not enough memory");
  if (r->count > before)
    reverse(r->list + before, r->list + r->count - 1);
}

void tg_roll_free (tg_Roll *r, lua_State *L) {
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key_marker);
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key_weak);
  tg_free(r->list);
  *r = (tg_Roll){.list = NULL};
}
