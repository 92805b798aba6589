/*
** probe_values.c - the half of the proof that needs no calls: what a slot
** holds, the text of strings, what tables hold, by themselves and in
** lua_next's order. Runs protected in the probe's state: an error of Lua's is
** a fault of the proof.
**
** Called by proof.c before probe_frames.c, which compares values in this way.
** Each check has the same shape: make a value by the public API, read it from
** memory, and ask the API whether it is that.
*/
#include <string.h>

#include "direct/probe.h"

/* ---- values ---- */

/* The text must be where the interpreter itself has it, not just equal: then
   its length and its end are its own as well. What is behind the tag is read
   only if that fits into the arena, the length of a long one only if it is
   one. */
static bool same_text (tg_Probe *p, lua_State *L, int i, tg_Slot v) {
  size_t n, m;
  const char *text = lua_tolstring(L, i, &n);
  if (!tg_probe_inside(p, v.u.p, TG_AT_STRING_TEXT)
      || (!tg_direct_is_short(v.u.p)
          && !tg_probe_inside(p, v.u.p, TG_SIZE_STRING)))
    return false;
  const char *found = tg_slot_text(v, &m);
  return found == text && m == n
         && tg_direct_is_short(v.u.p) == (tg_slot_variant(v) == TG_TAG_SHORT);
}

/* Whether a C function has upvalues decides where it stands: in the slot
   itself, or in a closure (lua_pushcclosure). */
static bool same_function (lua_State *L, int i, tg_Slot v) {
  lua_CFunction f = lua_tocfunction(L, i);
  int variant = tg_slot_variant(v);
  bool upvalues = lua_getupvalue(L, i, 1) != NULL;
  if (upvalues)
    lua_pop(L, 1);
  if (v.u.p != lua_topointer(L, i))
    return false;
  return (f == NULL) ? variant == TG_TAG_LUA
                     : variant == (upvalues ? TG_TAG_C : TG_TAG_LIGHTC);
}

/* Floats by their bits: a zero has a sign, and that is recorded too; and a NaN
   is not equal to itself. */
static bool same_number (lua_State *L, int i, tg_Slot v) {
  lua_Number n = lua_tonumber(L, i);
  if (lua_isinteger(L, i))
    return tg_slot_variant(v) == TG_TAG_INTEGER
           && v.u.i == lua_tointeger(L, i);
  return tg_slot_variant(v) == TG_TAG_FLOAT
         && memcmp(&v.u.n, &n, sizeof n) == 0;
}

/* lua_topointer gives the address of an object; of a light userdata, a pointer
   of the program's, it is the value itself. */
bool tg_probe_same (tg_Probe *p, lua_State *L, int i, tg_Slot v) {
  int type = lua_type(L, i);
  if (tg_slot_type(v) != (type == LUA_TNONE ? LUA_TNIL : type))
    return false;
  switch (type) {
    case LUA_TNIL: case LUA_TNONE: return true;
    case LUA_TBOOLEAN:
      return (tg_slot_variant(v) == TG_TAG_TRUE) == lua_toboolean(L, i);
    case LUA_TNUMBER: return same_number(L, i, v);
    case LUA_TSTRING: return same_text(p, L, i, v);
    case LUA_TFUNCTION: return same_function(L, i, v);
    case LUA_TLIGHTUSERDATA: return v.u.p == lua_touserdata(L, i);
    case LUA_TUSERDATA:         /* its object stands before its bytes */
      return tg_probe_inside(p, v.u.p, TG_SIZE_USERDATA)
             && (const char *)v.u.p < (const char *)lua_touserdata(L, i);
    default: return v.u.p == lua_topointer(L, i);
  }
}

/* The value on top of the stack, read as the hook reads it. */
static void check_pushed (tg_Probe *p, const char *what) {
  tg_probe_check(p, tg_probe_same(p, p->L, -1, tg_direct_pushed(p->L)), what);
}

/* The frame that runs and how much is on its stack, before anything on it is
   looked at. Three values are pushed one by one, since a top that stood still
   might be right by chance. */
static bool check_state (tg_Probe *p) {
  lua_State *L = p->L;
  lua_Debug ar;
  if (!tg_probe_check(p, tg_probe_inside(p, L, tg_direct_facts.state),
                      "the state")
      || !lua_getstack(L, 0, &ar))
    return false;
  const void *frame = tg_direct_running(L);
  if (!tg_probe_check(p, frame == (const void *)ar.i_ci
                         && tg_probe_inside(p, frame, TG_SIZE_FRAME),
                      "the running frame"))
    return false;
  for (int i = 0; i < 3; i++) {
    lua_pushinteger(L, i);
    const void *slot = tg_frame_slot(frame);
    if (!tg_probe_check(p, tg_probe_inside(p, slot, TG_SIZE_SLOT)
                           && tg_direct_top(L, frame) == lua_gettop(L),
                        "the stack"))
      return false;
  }
  lua_pop(L, 3);
  return true;
}

/* A C function to be looked at, never called. */
static int nothing (lua_State *L) {
  (void)L;
  return 0;
}

/* Both kinds, and such as would show a value that is cut or moved: the least
   and the largest integer, a float whose bits are all in its upper half. */
static void check_numbers (tg_Probe *p) {
  static const lua_Integer integers[] = {
    0, 1, -1, 255, 1 << 20, LUA_MAXINTEGER, LUA_MININTEGER
  };
  static const lua_Number floats[] = {0.0, -0.0, 1.5, 1e300, -2.0};
  for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
    lua_pushinteger(p->L, integers[i]);
    check_pushed(p, "integers");
    lua_pop(p->L, 1);
  }
  for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
    lua_pushnumber(p->L, floats[i]);
    check_pushed(p, "floats");
    lua_pop(p->L, 1);
  }
}

/* Values without contents of which only the tag or an address matters. */
static void check_simple (tg_Probe *p) {
  lua_State *L = p->L;
  lua_pushnil(L);
  check_pushed(p, "nil");
  lua_pushboolean(L, 0);
  check_pushed(p, "false");
  lua_pushboolean(L, 1);
  check_pushed(p, "true");
  lua_pushlightuserdata(L, &p->seen);
  check_pushed(p, "light userdata");
  lua_pushcfunction(L, nothing);
  check_pushed(p, "C functions");
  lua_newthread(L);
  check_pushed(p, "coroutines");
  lua_settop(L, 0);
}

/* Of its upvalues the first one is read: a function made by coroutine.wrap has
   its coroutine there. */
static void check_closure (tg_Probe *p) {
  lua_State *L = p->L;
  lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 1);
  lua_pushcclosure(L, nothing, 2);
  check_pushed(p, "C closures");
  tg_Slot f = tg_direct_pushed(L);
  if (p->fault == NULL
      && tg_probe_check(p, tg_probe_inside(p, f.u.p, TG_AT_CLOSURE_VALUES
                                                     + 2 * TG_SIZE_SLOT)
                           && tg_function_proto(f)
                              == (const void *)(uintptr_t)nothing,
                        "C closures"))
    tg_probe_check(p, tg_probe_same(p, L, 1, tg_cfunction_upvalue(f)),
                   "upvalues of C functions");
  lua_settop(L, 0);
}

/* Of an object with a metatable and one without, on top of the stack. */
static void check_metatable (tg_Probe *p, size_t size, const char *what) {
  lua_State *L = p->L;
  tg_Slot v = tg_direct_pushed(L);
  int type = lua_type(L, -1);
  if (!tg_probe_check(p, tg_probe_same(p, L, -1, v)
                         && tg_probe_inside(p, v.u.p, size), what))
    return;
  tg_probe_check(p, tg_direct_metatable(v.u.p, type) == NULL, what);
  lua_createtable(L, 0, 1);
  const void *meta = lua_topointer(L, -1);
  lua_setmetatable(L, -2);
  tg_probe_check(p, tg_direct_metatable(v.u.p, type) == meta, what);
}

/* Userdata of different sizes: the metatable's place depends on neither their
   bytes nor their user values. */
static void check_objects (tg_Probe *p) {
  lua_newuserdatauv(p->L, 24, 1);
  check_metatable(p, TG_SIZE_USERDATA, "userdata");
  lua_newuserdatauv(p->L, 0, 0);
  check_metatable(p, TG_SIZE_USERDATA, "userdata");
  lua_createtable(p->L, 3, 3);
  check_metatable(p, TG_SIZE_TABLE, "tables");
  lua_settop(p->L, 0);
}

/* ---- strings ---- */

#define LONGEST 300

/* All lengths around the one at which strings become long (LUAI_MAXSHORTLEN),
   and some beyond 255, for which a byte is not enough. */
static void check_strings (tg_Probe *p) {
  lua_State *L = p->L;
  char text[LONGEST];
  for (int i = 0; i < LONGEST; i++)
    text[i] = (char)(i * 7);
  for (size_t n = 0; n <= LONGEST && p->fault == NULL;
       n += (n < 48) ? 1 : 63) {
    lua_pushlstring(L, text, n);
    tg_Slot v = tg_direct_pushed(L);
    check_pushed(p, "strings");
    tg_probe_check(p, (tg_slot_variant(v) == TG_TAG_SHORT) == (n <= 40),
                   "short strings");
    lua_settop(L, 0);
  }
}

/* One whose text is not Lua's, from 5.5 on: never a short one. */
static void check_external (tg_Probe *p) {
#if LUA_VERSION_NUM >= 505
  static const char text[] = "a text of more than forty bytes, to be sure";
  for (size_t skip = 0; skip < sizeof text; skip++) {
    lua_pushexternalstring(p->L, text + skip, sizeof text - 1 - skip, NULL,
                           NULL);
    check_pushed(p, "external strings");
    lua_pop(p->L, 1);
  }
#else
  (void)p;
#endif
}

/* Hashes must differ where texts do: a source is told by its own. And a short
   string that is made again must be the same object (internshrstr of
   lstring.c): a class name is looked up by its address. Whether hashes differ
   enough is judged by how many of their 32 bits have changed. */
static void check_hashes (tg_Probe *p) {
  uint32_t all = 0;
  for (int i = 0; i < 32 && p->fault == NULL; i++) {
    const char *text = lua_pushfstring(p->L, "@name%d", i + 10);
    tg_Slot v = tg_direct_pushed(p->L);
    lua_pushstring(p->L, text);
    tg_probe_check(p, tg_direct_pushed(p->L).u.p == v.u.p, "short strings");
    all |= tg_read32(v.u.p, TG_AT_STRING_HASH) ^ (uint32_t)i;
    lua_settop(p->L, 0);
  }
  tg_probe_check(p, __builtin_popcount(all) > 20, "hashes of strings");
}

/* ---- tables ---- */

/* Whether all that will be read of the table on top of the stack is there. The
   size of its node part is a power of two; 2^16 is more than any table here
   has, and small enough that the product below cannot wrap. */
static bool readable (const tg_Probe *p, const void *table) {
  const void *from;
  if (!tg_probe_inside(p, table, TG_SIZE_TABLE)
      || tg_read8(table, TG_AT_TABLE_NODES) > 16)
    return false;
  uint32_t nodes = tg_direct_nodes(table);
  uint32_t slots = tg_direct_array_size(table);
  size_t span = tg_direct_array_span(table, slots, &from);
  return (slots == 0 || tg_probe_inside(p, from, span))
         && (nodes == 1 /* may be one that all empty tables share */
             || tg_probe_inside(p, tg_direct_node(table, 0),
                                nodes * (size_t)TG_SIZE_NODE));
}

/* Each key and value as lua_next gives them, and nothing after. */
static bool same_traversal (tg_Probe *p, const void *table) {
  lua_State *L = p->L;
  tg_Traversal t = tg_direct_traverse(table);
  bool same = true;
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    same = same && tg_traversal_next(&t) && tg_probe_same(p, L, -2, t.key)
           && tg_probe_same(p, L, -1, t.value);
    lua_pop(L, 1);
  }
  return same && !tg_traversal_next(&t);
}

/* Integer keys from 1 on, wherever they are: in the array, among the nodes, or
   nowhere. */
static bool same_elements (tg_Probe *p, const void *table, int n, int step) {
  bool same = true;
  for (int k = 1; k <= n * step; k += step) {
    lua_rawgeti(p->L, -1, k);
    same = same && tg_probe_same(p, p->L, -1,
                                 tg_direct_index(table, (uint64_t)k));
    lua_pop(p->L, 1);
  }
  return same;
}

/* By the string's object, as a class name is looked up; also of a name that the
   table does not have. */
static bool same_field (tg_Probe *p, const void *table, const char *name) {
  lua_State *L = p->L;
  lua_pushstring(L, name);
  const void *string = tg_direct_pushed(L).u.p;
  lua_rawget(L, -2);
  tg_assert(string != NULL && lua_gettop(L) >= 2);
  bool same = tg_probe_same(p, L, -1, tg_direct_field(table, string));
  lua_pop(L, 1);
  return same;
}

/* Checks the table on top of the stack, after each change: a table's layout
   depends on its layout before the change (luaH_resize, luaH_getn). */
static void check_table (tg_Probe *p, const char *what) {
  tg_Slot v = tg_direct_pushed(p->L);
  tg_probe_check(p, p->fault == NULL && tg_probe_same(p, p->L, -1, v)
                    && readable(p, v.u.p) && same_traversal(p, v.u.p)
                    && same_elements(p, v.u.p, 24, 1)
                    && same_field(p, v.u.p, "__name")
                    && same_field(p, v.u.p, "f3"), what);
}

/* Grown one by one, with its length asked for, which moves an array's limit;
   then with holes, then emptied. */
static void check_arrays (tg_Probe *p) {
  lua_State *L = p->L;
  for (int reserve = 0; reserve < 4; reserve += 3) {
    lua_createtable(L, reserve, 0);
    for (int k = 1; k <= 20 && p->fault == NULL; k++) {
      lua_pushinteger(L, k * 3);
      lua_rawseti(L, -2, k);
      check_table(p, "arrays");
      (void)lua_rawlen(L, -1);
      check_table(p, "arrays");
    }
    for (int k = 20; k >= 1 && p->fault == NULL; k -= (k > 12) ? 1 : 3) {
      lua_pushnil(L);
      lua_rawseti(L, -2, k);
      (void)lua_rawlen(L, -1);
      check_table(p, "arrays with holes");
    }
    lua_settop(L, 0);
  }
}

/* Sets a field with a short string as its key; one key is "__name". */
static void set_field (lua_State *L, int i) {
  lua_pushfstring(L, (i == 20) ? "__name" : "f%d", i);
  lua_pushinteger(L, i);
  lua_rawset(L, -3);
}

/* Keys of every kind; some removed, whose nodes stay. A collection in between
   makes the keys of removed ones dead (clearkey of lgc.c): those must not be
   taken for keys, nor followed. */
static void check_hashed (tg_Probe *p) {
  lua_State *L = p->L;
  lua_createtable(L, 0, 0);
  check_table(p, "empty tables");
  for (int i = 0; i < 24 && p->fault == NULL; i++) {
    set_field(L, i);
    lua_pushboolean(L, i & 1);
    lua_rawseti(L, -2, (i % 3 == 0) ? -i : i * i);
    lua_pushnumber(L, i + 0.5);
    lua_createtable(L, 0, 0);
    lua_rawset(L, -3);
    check_table(p, "tables by key");
  }
  for (int i = 0; i < 24 && p->fault == NULL; i += 2) {
    lua_pushfstring(L, "f%d", i);
    lua_pushnil(L);
    lua_rawset(L, -3);
    if (i == 12)
      lua_gc(L, LUA_GCCOLLECT);
    check_table(p, "tables with removed keys");
  }
  lua_settop(L, 0);
}

/* Which of the ways to hash integers finds those that are not in an array. Keys
   37 apart cannot be in one, since an array is at least half full (computesizes
   of ltable.c); and with many of them some collide, so that chains of nodes are
   walked as well. */
static void find_masks (tg_Probe *p) {
  bool found = false;
  lua_createtable(p->L, 0, 32);
  for (int k = 5; k < 30; k++) {
    lua_pushinteger(p->L, -k);
    lua_rawseti(p->L, -2, 1 + k * 37);
  }
  const void *table = tg_direct_pushed(p->L).u.p;
  for (int masks = 0; masks <= 1 && !found && readable(p, table); masks++) {
    tg_direct_facts.masks = masks;
    found = same_elements(p, table, 32, 37);
  }
  tg_probe_check(p, found, "integer keys");
  lua_settop(p->L, 0);
}

/* In this order: strings before tables, which have them as keys; how integers
   are hashed before tables with such keys. The first fault is the last: after
   it nothing can be relied upon. */
void tg_probe_values (tg_Probe *p) {
  static void (*const checks[]) (tg_Probe *p) = {
    check_numbers, check_simple, check_closure, check_objects, check_strings,
    check_external, check_hashes, check_arrays, find_masks, check_hashed
  };
  tg_assert(p->fault == NULL && lua_gettop(p->L) == 0);
  if (!check_state(p))
    return;
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
    if (p->fault == NULL)
      checks[i](p);
  }
}
