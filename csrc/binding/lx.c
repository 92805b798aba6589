/*
** lx.c - the few things that are done with Lua in more than one place. On the
** thread of the state; what may raise says so in the header.
*/
#include <errno.h>
#include <string.h>

#include <lualib.h>

#include "binding/lx.h"
#include "text/newfile.h"

const char tg_key_core = 0;
const char tg_key_host = 0;
const char tg_key_threads = 0;
const char tg_key_strings = 0;
const char tg_key_traces = 0;

/* ---- quietly ---- */

#if LUA_VERSION_NUM >= 505

/* Since 5.5 a step of a size less than zero is one that collects (lua_gc). So
   the collector is stopped, and has its next step early: not for what happens
   at many events. */
static long long hold_collector (lua_State *L) {
  lua_gc(L, LUA_GCSTOP);
  return 0;
}

static void release_collector (lua_State *L, long long size) {
  (void)size;
  lua_gc(L, LUA_GCRESTART);
}

#else

#define AHEAD (1 << 20)   /* KiB that the collector is made to wait for */

/* In bytes: lua_gc gives them in two parts. */
static long long heap_size (lua_State *L) {
  return lua_gc(L, LUA_GCCOUNT) * 1024LL + lua_gc(L, LUA_GCCOUNTB);
}

/*
** Not by LUA_GCSTOP: LUA_GCRESTART forgets how much the program may allocate
** until its next collection, which would come at once. A step of a size less
** than zero (lua_gc only adds it to the debt) lets it have more, and is taken
** back but for what has been allocated meanwhile. Returns the heap's size.
*/
static long long hold_collector (lua_State *L) {
  long long size = heap_size(L);
  lua_gc(L, LUA_GCSTEP, -AHEAD);
  return size;
}

static void release_collector (lua_State *L, long long size) {
  lua_gc(L, LUA_GCSTEP, AHEAD - (int)((heap_size(L) - size + 1023) >> 10));
}

#endif

/* Light userdata and a light C function: to push them allocates nothing, so
   that all which may fail happens inside the protected call. The error's value
   is dropped: nobody in the hook could tell it. */
bool lx_quietly (lua_State *L, lua_CFunction f, void *ud) {
  bool ok;
  TG_STACK_GUARD(L);
  bool collecting = lua_gc(L, LUA_GCISRUNNING) == 1;
  long long size = 0;
  if (!lua_checkstack(L, 4))
    return false;
  if (collecting)
    size = hold_collector(L);
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, ud);
  ok = lua_pcall(L, 1, 0, 0) == LUA_OK;
  if (!ok)
    lua_pop(L, 1);
  if (collecting)
    release_collector(L, size);
  TG_STACK_CHECK(L);
  return ok;
}

/* Without that allowance the collector's next step comes with the next
   allocation, whatever was allocated here: memory that a trace holds is not in
   Lua's own count. */
bool lx_quietly_due (lua_State *L, lua_CFunction f, void *ud) {
  bool ok = lx_quietly(L, f, ud);
  if (lua_gc(L, LUA_GCISRUNNING) == 1)
    lua_gc(L, LUA_GCRESTART);           /* no debt, and no allowance */
  return ok;
}

void lx_set_package (lua_State *L, const char *path, const char *cpath) {
  lua_getglobal(L, LUA_LOADLIBNAME);
  lx_set_string(L, "path", path);
  lx_set_string(L, "cpath", cpath);
  lua_pop(L, 1);
}

/* By lua_setfield: the table was just made, or is ours, and has no
   metatable. */
void lx_set_string (lua_State *L, const char *key, const char *value) {
  lua_pushstring(L, value);
  lua_setfield(L, -2, key);
}

void lx_set_integer (lua_State *L, const char *key, lua_Integer value) {
  lua_pushinteger(L, value);
  lua_setfield(L, -2, key);
}

void lx_set_number (lua_State *L, const char *key, lua_Number value) {
  lua_pushnumber(L, value);
  lua_setfield(L, -2, key);
}

void lx_weak_list (lua_State *L, int n) {
  lua_createtable(L, n, 0);
  lua_createtable(L, 0, 1);
  lx_set_string(L, "__mode", "v");
  lua_setmetatable(L, -2);
}

bool lx_isword (lua_State *L, int index) {
  size_t size = 0;
  const char *s = lua_type(L, index) == LUA_TSTRING
                  ? lua_tolstring(L, index, &size) : NULL;
  return s != NULL && strlen(s) == size;
}

const char *lx_checkword (lua_State *L, int arg) {
  const char *s = luaL_checkstring(L, arg);
  luaL_argcheck(L, lx_isword(L, arg), arg,
                "a string without zero bytes expected");
  return s;
}

/* The metatable is its own __index first, and 'methods' may put another one
   there. A name without a function is false there (luaL_setfuncs): so a list
   with {"__metatable", NULL} hides the metatable from the program. */
void lx_class (lua_State *L, const char *name, const luaL_Reg *methods) {
  TG_STACK_GUARD(L);
  if (luaL_newmetatable(L, name)) {
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
    luaL_setfuncs(L, methods, 0);
  }
  lua_pop(L, 1);
  TG_STACK_CHECK(L);
}

/* Zeros before it has the finalizer, which may come at any allocation. Lua
   marks an object for finalization when it gets its metatable, and only if that
   has a __gc by then (manual, 2.5.3). */
void *lx_owner (lua_State *L, size_t size, int nuvalues, const char *name,
                lua_CFunction gc) {
  TG_STACK_GUARD(L);
  void *owner = lua_newuserdatauv(L, size, nuvalues);
  memset(owner, 0, size);
  if (luaL_newmetatable(L, name)) {
    lua_pushcfunction(L, gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  TG_STACK_LEFT(L, 1);
  return owner;
}

/* The thread that makes the host may be any coroutine; the main one is what Lua
   keeps in its registry (section 4.3 of the manual). */
lua_State *lx_mainthread (lua_State *L) {
  lua_State *M;
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  M = lua_tothread(L, -1);
  lua_pop(L, 1);
  tg_assert(M != NULL);
  return M;
}

/* package.loaded is asked, not the global, which may be another table by now. A
   host that has opened no library has no such table. */
int lx_loaded (lua_State *L, const char *name) {
  if (lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE) == LUA_TTABLE) {
    lua_pushstring(L, name);
    lua_rawget(L, -2);
    lua_remove(L, -2);
  }
  return lua_type(L, -1);
}

/* What the program has put in the place of 'what' is left alone. */
void lx_replace (lua_State *L, const char *library, const char *name,
                 lua_CFunction what, lua_CFunction with) {
  int top = lua_gettop(L);
  if (lx_loaded(L, library) == LUA_TTABLE) {
    lua_pushstring(L, name);
    lua_rawget(L, -2);
    if (lua_tocfunction(L, -1) == what) {
      lua_pushstring(L, name);
      lua_pushcfunction(L, with);
      lua_rawset(L, -4);
    }
  }
  lua_settop(L, top);
}

int lx_failure (lua_State *L, const char *path) {
  int error = errno;
  luaL_pushfail(L);
  if (path != NULL)
    lua_pushfstring(L, "%s: %s", path, tg_newfile_words(error));
  else
    lua_pushstring(L, tg_newfile_words(error));
  lua_pushinteger(L, error);
  return 3;
}
