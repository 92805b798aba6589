/*
** historyobject.c - see historyobject.h. On the thread that runs the state. The
** userdata pins the replay, which recalls values and shows them.
*/
#include "trace/historyobject.h"

#include <string.h>

#include "replay/history.h"
#include "trace/replayobject.h"

#define HISTORY "tracegrip.history"

static int history__gc (lua_State *L) {
  tg_history_free(lua_touserdata(L, 1));
  return 0;
}

static tg_History *check_history (lua_State *L) {
  tg_History *h = luaL_checkudata(L, 1, HISTORY);
  if (h->reader == NULL)
    luaL_error(L, "this history has been collected");
  return h;
}

/* Pushes the replay; raises if that is gone already, as while the state
   closes. */
static tg_Replay *push_replay (lua_State *L) {
  lua_getiuservalue(L, 1, 1);
  return tg_replayobject_check(L, -1);
}

/* ---- making one ---- */

/* A key of a table by its hash; 0: there is none in the options. */
static uint64_t field_of (lua_State *L) {
  tg_Grip key = {.type = TG_NIL};
  switch (lua_getfield(L, 3, "field")) {
    case LUA_TNIL: break;
    case LUA_TBOOLEAN:
      key.type = lua_toboolean(L, -1) ? TG_TRUE : TG_FALSE;
      break;
    case LUA_TNUMBER:
      key.type = lua_isinteger(L, -1) ? TG_INT : TG_FLOAT;
      if (key.type == TG_INT)
        key.u.i = lua_tointeger(L, -1);
      else
        key.u.f = lua_tonumber(L, -1);
      break;
    case LUA_TSTRING:
      key.type = TG_STRING;
      key.u.s.data = lua_tolstring(L, -1, &key.u.s.size);
      key.u.s.length = key.u.s.size;
      break;
    default: luaL_argerror(L, 3, "a key is a string, number or boolean");
  }
  uint64_t hash = key.type != TG_NIL ? tg_tablecontents_key(&key) : 0;
  lua_pop(L, 1);
  return hash;
}

static tg_History *new_history (lua_State *L);

int historyobject_new (lua_State *L) {
  const tg_Replay *r = tg_replayobject_check(L, 1);
  lua_Integer table = luaL_checkinteger(L, 2);
  luaL_argcheck(L, table >= 0 && table <= UINT32_MAX, 2,
                "the number of a table expected");
  lua_settop(L, 3);
  if (lua_isnil(L, 3)) {
    lua_newtable(L);
    lua_replace(L, 3);
  }
  luaL_checktype(L, 3, LUA_TTABLE);
  tg_Wished wished = {.table = (uint32_t)table, .key = field_of(L)};
  lua_getfield(L, 3, "changes");
  bool only_changes = lua_toboolean(L, -1);
  tg_History *h = new_history(L);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  if (!tg_history_begin(h, r, wished, only_changes))
    return luaL_error(L, "not enough memory");
  return 1;
}

/* ---- reading ---- */

static int history_turn (lua_State *L) {
  tg_History *h = check_history(L);
  lua_Integer budget = luaL_checkinteger(L, 2);
  luaL_argcheck(L, budget > 0, 2, "a positive number expected");
  bool more = tg_history_turn(h, (uint64_t)budget);
  if (h->status == TG_ERR_MEMORY)
    return luaL_error(L, "not enough memory");
  lua_pushboolean(L, more);
  return 1;
}

static int history_counts (lua_State *L) {
  const tg_History *h = check_history(L);
  lua_pushinteger(L, h->count);
  lua_pushinteger(L, (lua_Integer)h->unkept);
  lua_pushinteger(L, (lua_Integer)h->number);
  return 3;
}

static const tg_Sighting *check_sighting (lua_State *L, const tg_History *h) {
  lua_Integer i = luaL_checkinteger(L, 2);
  luaL_argcheck(L, i >= 1 && i <= (lua_Integer)h->count, 2,
                "there is no such sighting");
  return &h->list[i - 1];
}

static void set_flag (lua_State *L, const char *key, bool flag) {
  lua_pushboolean(L, flag);
  lua_setfield(L, -2, key);
}

static int history_sighting (lua_State *L) {
  const tg_Sighting *s = check_sighting(L, check_history(L));
  lua_createtable(L, 0, 6);
  lx_set_integer(L, "number", (lua_Integer)s->number);
  lx_set_integer(L, "moment", (lua_Integer)tg_history_moment(s));
  set_flag(L, "told", s->told);
  set_flag(L, "changed", s->changed);
  set_flag(L, "locals", s->locals);
  if (s->before != TG_SIGHTING_NONE)
    lx_set_integer(L, "before", (lua_Integer)s->before + 1);
  return 1;
}

/* As far as it is known without going there. */
static bool recall (tg_Replay *r, const tg_Sighting *s, tg_Packet *p) {
  const tg_CallFrame f = {.function = s->function, .locals_at = s->at};
  if (s->locals)
    return tg_replay_locals(r, &f, p);
  *p = (tg_Packet){.why = (tg_Why)s->why, .function = s->function};
  return tg_replay_recall(r, s->at, p);
}

static const char *field_with (const tg_Sighting *s) {
  if (s->locals)
    return "locals";
  switch ((tg_Why)s->why) {
    case TG_WHY_ENTER: return "arguments";
    case TG_WHY_RETURN: return "return";
    case TG_WHY_EXCEPTION: return "throw";
    case TG_WHY_YIELD: case TG_WHY_TERMINATED: case TG_WHY_MARK:
    case TG_WHY_TICK: default: return "yield";
  }
}

static int history_list (lua_State *L) {
  const tg_History *h = check_history(L);
  const tg_Sighting *s = check_sighting(L, h);
  tg_Replay *r = push_replay(L);
  tg_Packet p;
  if (!recall(r, s, &p))
    return 0;
  tg_replayobject_push(L, -1, &p);
  lua_getfield(L, -1, field_with(s));
  lua_insert(L, -2);
  return 2;
}

static int history_changes (lua_State *L) {
  const tg_History *h = check_history(L);
  uint64_t last = UINT64_MAX;
  lua_Integer n = 0;
  lua_newtable(L);
  for (uint32_t i = 0; i < h->count; i++) {
    uint64_t moment = tg_history_moment(&h->list[i]);
    if (!h->list[i].changed || moment == last)
      continue;
    lua_pushinteger(L, (lua_Integer)moment);
    lua_rawseti(L, -2, ++n);
    last = moment;
  }
  return 1;
}

/* ---- all tables ---- */

/* Puts the table at place 'at' into a list of the 'n' most frequent ones, which
   has room for one more. */
static void put_in_order (uint32_t *best, uint32_t n, const tg_History *h,
                          uint32_t at) {
  uint32_t i = n;
  for (; i > 0 && h->tables[best[i - 1]].lists < h->tables[at].lists; i--)
    best[i] = best[i - 1];
  best[i] = at;
}

static int history_tables (lua_State *L) {
  const tg_History *h = check_history(L);
  lua_Integer most = luaL_checkinteger(L, 2);
  luaL_argcheck(L, most >= 1 && most <= 100000, 2, "1 to 100000 expected");
  uint32_t *best = lua_newuserdatauv(L, ((size_t)most + 1) * sizeof *best, 0);
  uint32_t n = 0;
  for (uint32_t i = 0; i < h->ntables; i++) {
    put_in_order(best, n, h, i);
    n += n < (uint32_t)most;
  }
  lua_createtable(L, (int)n, 0);
  for (uint32_t i = 0; i < n; i++) {
    lua_createtable(L, 0, 3);
    const tg_TableCount *t = &h->tables[best[i]];
    lx_set_integer(L, "table", t->number);
    lx_set_integer(L, "lists", t->lists);
    lx_set_integer(L, "first", (lua_Integer)t->first);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_pushinteger(L, h->ntables - n);
  return 2;
}

static tg_History *new_history (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"turn", history_turn},
    {"counts", history_counts},
    {"sighting", history_sighting},
    {"list", history_list},
    {"changes", history_changes},
    {"tables", history_tables},
    {"__gc", history__gc},
    {NULL, NULL}
  };
  tg_History *h = lua_newuserdatauv(L, sizeof *h, 1);
  memset(h, 0, sizeof *h);
  lx_class(L, HISTORY, methods);
  luaL_setmetatable(L, HISTORY);
  return h;
}
