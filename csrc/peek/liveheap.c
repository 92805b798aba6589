/* liveheap.c - see liveheap.h. */
#include "peek/liveheap.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "direct/objects.h"
#include "heap/births.h"
#include "peek/birthmarks.h"
#include "peek/ourselves.h"

#define LIVING "tracegrip.liveheap"
#define COLLECTABLE 0x40        /* of a slot's tag (lobject.h, ctb) */

typedef struct Living {
  tg_Ourselves ours;    /* owns, as all here */
  tg_Image image;
  uint64_t shared;
  uint64_t *list;       /* addresses that were meant */
  uint32_t count, capacity;
  bool failed;
} Living;

typedef bool Meant (Living *v, uint64_t object, uint64_t what);

static void free_sight (Living *v) {
  tg_image_free(&v->image);
  tg_ourselves_close(&v->ours);
}

static int living__gc (lua_State *L) {
  Living *v = lua_touserdata(L, 1);
  tg_free(v->list);
  free_sight(v);
  memset(v, 0, sizeof *v);
  return 0;
}

#define row(v, name) ((uint64_t)(v)->ours.layout->at[TG_ROW_##name])

/* The memory as it is now: what is mapped later is not seen. NULL, or why
   not. */
static const char *open_sight (Living *v, const lua_State *main) {
  const char *objection = tg_ourselves_open(&v->ours, main);
  if (objection != NULL)
    return objection;
  if (!tg_image_own(&v->image, &v->ours.memory.maps))
    return "not enough memory";
  v->shared = tg_image_word(&v->image, v->ours.main + row(v, AT_STATE_SHARED));
  return NULL;
}

/* Pushes the userdata; NULL: pushes nil and why. */
static Living *open_living (lua_State *L) {
  Living *v = lx_owner(L, sizeof *v, 0, LIVING, living__gc);
  const char *objection = open_sight(v, lx_mainthread(L));
  if (objection == NULL)
    return v;
  lua_pushnil(L);
  lua_pushstring(L, objection);
  return NULL;
}

/* ---- one object ---- */

static uint8_t tag_of (Living *v, uint64_t object) {
  return tg_image_byte(&v->image, object + row(v, AT_OBJECT_TAG)) & 0x3f;
}

/* Marked with the white of the cycle before (lgc.h, isdead). */
static bool is_dead (Living *v, uint64_t object) {
  uint8_t marked = tg_image_byte(&v->image, object + row(v, AT_OBJECT_MARKED));
  uint8_t white = tg_image_byte(&v->image,
                                v->shared + row(v, AT_SHARED_COLOUR));
  return (marked & (white ^ TG_OBJECT_WHITES) & TG_OBJECT_WHITES) != 0;
}

/* A value of the type that the object says, in a slot which Lua has made room
   for: the collector finds it there like any other. */
static void push_object (lua_State *L, Living *v, uint64_t object) {
  lua_pushboolean(L, 0);
  uint64_t top = tg_image_word(&v->image, (uint64_t)(uintptr_t)L
                                          + row(v, AT_STATE_TOP));
  uint8_t *slot = (uint8_t *)(uintptr_t)(top - row(v, SIZE_SLOT));
  slot[8] = tag_of(v, object) | COLLECTABLE;
  memcpy(slot, &object, sizeof object);
}

/* What Lua code can have: no prototypes, no upvalues. */
static bool is_value (Living *v, uint64_t object) {
  uint8_t tag = tag_of(v, object);
  return tag != row(v, TAG_PROTO) && tag != row(v, TAG_UPVALUE);
}

/* ---- all objects ---- */

static void note (Living *v, uint64_t object) {
  if (tg_grow(&v->list, &v->capacity, v->count + 1, sizeof *v->list))
    v->list[v->count++] = object;
  else
    v->failed = true;
}

static void search_list (Living *v, uint64_t list, Meant *meant,
                         uint64_t what) {
  uint64_t at = tg_image_word(&v->image, v->shared + list);
  for (; at != 0;
       at = tg_image_word(&v->image, at + row(v, AT_OBJECT_NEXT))) {
    if (meant(v, at, what) && !is_dead(v, at) && is_value(v, at))
      note(v, at);
  }
}

/* The main thread is on no list. */
static void search (Living *v, Meant *meant, uint64_t what) {
  search_list(v, row(v, AT_SHARED_OBJECTS), meant, what);
  search_list(v, row(v, AT_SHARED_FINALIZED), meant, what);
  search_list(v, row(v, AT_SHARED_FIXED), meant, what);
  if (meant(v, v->ours.main, what))
    note(v, v->ours.main);
}

static bool is_at (Living *v, uint64_t object, uint64_t at) {
  (void)v;
  return object == at;
}

static bool has_id (Living *v, uint64_t object, uint64_t id) {
  return tg_birth_id(v->image.low, v->image.high, object) == id;
}

/* A field of a table, by a string of Lua's: by its address, since short strings
   are there once. */
static uint64_t index_of (lua_State *L, Living *v, uint64_t meta) {
  uint64_t found = 0;
  push_object(L, v, meta);
  lua_pushliteral(L, "__index");
  lua_rawget(L, -2);
  if (lua_type(L, -1) == LUA_TTABLE)
    found = (uint64_t)(uintptr_t)lua_topointer(L, -1);
  lua_pop(L, 2);
  return found;
}

static uint64_t metatable_of (Living *v, uint64_t object) {
  switch (tag_of(v, object)) {
    case LUA_TTABLE:
      return tg_image_word(&v->image, object + row(v, AT_TABLE_META));
    case LUA_TUSERDATA:
      return tg_image_word(&v->image, object + row(v, AT_USERDATA_META));
    default: return 0;
  }
}

static bool has_metatable (Living *v, uint64_t object, uint64_t meta) {
  (void)meta;
  return metatable_of(v, object) != 0;
}

/* ---- for Lua ---- */

/* A userdata's pointer is that of its bytes, which are behind its values. */
static uint64_t userdata_at (lua_State *L, Living *v, uint64_t bytes) {
  int n = 0;
  while (lua_getiuservalue(L, 1, n + 1) != LUA_TNONE) {
    lua_pop(L, 1);
    n++;
  }
  lua_pop(L, 1);
  return bytes - (n == 0 ? row(v, SIZE_USERDATA)
                         : row(v, AT_USERDATA_VALUES)
                           + row(v, SIZE_SLOT) * (uint64_t)n);
}

/* C functions without upvalues are values like numbers. */
static bool is_light (lua_State *L) {
  bool light = lua_iscfunction(L, 1) && lua_getupvalue(L, 1, 1) == NULL;
  lua_settop(L, 1);
  return light || lua_islightuserdata(L, 1) || lua_topointer(L, 1) == NULL;
}

int liveheap_id (lua_State *L) {
  luaL_checkany(L, 1);
  const tg_Births *births = tg_birthmarks_opt(L, 2);
  lua_settop(L, 1);
  if (is_light(L)) {
    lua_pushnil(L);
    return 1;
  }
  uint64_t at = (uint64_t)(uintptr_t)lua_topointer(L, 1);
  Living *v = open_living(L);
  if (v == NULL)
    return 2;
  if (lua_type(L, 1) == LUA_TUSERDATA)
    at = userdata_at(L, v, at);
  uint64_t id = births != NULL ? tg_births_find(births, at) : 0;
  if (id == 0)
    id = tg_birth_id(v->image.low, v->image.high, at);
  lua_pushinteger(L, (lua_Integer)id);
  return 1;
}

static int push_no_memory (lua_State *L) {
  lua_pushnil(L);
  lua_pushliteral(L, "not enough memory");
  return 2;
}

/* The collector rests between search and push, and nothing there raises: so it
   never stays stopped, nor is an address collected before it is pushed. */
static bool stop_collector (lua_State *L) {
  bool went = lua_gc(L, LUA_GCISRUNNING);
  lua_gc(L, LUA_GCSTOP);
  return went;
}

static void let_collector (lua_State *L, bool went) {
  if (went)
    lua_gc(L, LUA_GCRESTART);
}

int liveheap_object (lua_State *L) {
  uint64_t id = (uint64_t)luaL_checkinteger(L, 1);
  const tg_Births *births = tg_birthmarks_opt(L, 2);
  uint64_t at = births != NULL ? tg_births_address(births, id) : 0;
  luaL_checkstack(L, 8, NULL);
  Living *v = open_living(L);
  if (v == NULL)
    return 2;
  bool went = stop_collector(L);
  if (at != 0)
    search(v, is_at, at);
  else
    search(v, has_id, id);
  lua_pushboolean(L, v->count > 0);
  if (v->count > 0)
    push_object(L, v, v->list[0]);
  let_collector(L, went);
  if (v->failed)
    return push_no_memory(L);
  return v->count > 0 ? 2 : 1;
}

static bool is_instance (lua_State *L, Living *v, uint64_t object,
                         uint64_t wanted) {
  uint64_t meta = metatable_of(v, object);
  return meta == wanted || index_of(L, v, meta) == wanted;
}

/* Fills the table on top, which has room for as many as the search may find;
   false: it has found more. */
static bool fill_instances (lua_State *L, Living *v, uint64_t wanted,
                            uint32_t room) {
  lua_Integer n = 0;
  v->count = 0;
  search(v, has_metatable, 0);
  if (v->count > room)
    return false;
  for (uint32_t i = 0; i < v->count; i++) {
    if (!is_instance(L, v, v->list[i], wanted))
      continue;
    push_object(L, v, v->list[i]);
    lua_rawseti(L, -2, ++n);
  }
  return true;
}

/* To make the table may collect, run finalizers, and raise: so it is made
   before the collector is stopped, and again if there are more by then. The
   heap may have grown by it, to where an earlier look at memory does not see:
   the newest object is the first on its list. */
int liveheap_instances (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checkstack(L, 8, NULL);
  uint64_t wanted = (uint64_t)(uintptr_t)lua_topointer(L, 1);
  Living *v = open_living(L);
  if (v == NULL)
    return 2;
  lua_pushliteral(L, "__index");        /* is there, whatever follows */
  search(v, has_metatable, 0);
  for (bool filled = false; !filled;) {
    uint32_t room = v->count;
    if (v->failed || room > INT_MAX)
      return push_no_memory(L);
    lua_createtable(L, (int)room, 0);
    bool went = stop_collector(L);
    free_sight(v);
    v->failed = open_sight(v, lx_mainthread(L)) != NULL;
    filled = v->failed || fill_instances(L, v, wanted, room);
    let_collector(L, went);
    if (!filled)
      lua_pop(L, 1);
  }
  return v->failed ? push_no_memory(L) : 1;
}
