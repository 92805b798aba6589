/*
** agent.c - loads the debugger's Lua and calls it, always through lua_resume on
** a coroutine of its own: whatever is raised there stays there (manual, section
** 4.4), and a pcall on the program's coroutine would be a frame on its stack.
** Called in the hook, and from C functions that the program has called. An
** error of the agent is one of ours: it is told once, and the program goes on.
*/
#include <errno.h>
#include <stdio.h>

#include <lualib.h>

#include "inspect/agent.h"
#include "base/clock.h"
#include "chain/emit.h"
#include "inspect/workspace.h"
#include "state/libraries.h"

static const char key_work = 0;     /* registry: the coroutine */
static const char key_import = 0;   /* registry: the function 'import' */

#define AGENT "tracegrip.inspect.agent"

/* ---- modules ---- */

enum { LOADED = 1, PATH, ENVIRONMENT };   /* upvalues of 'import' */

/* The file of a module, by Lua's own package.searchpath; raises. By raw access:
   the program may have put anything in the global's place. */
static const char *find_file (lua_State *L, const char *name) {
  if (lx_loaded(L, LUA_LOADLIBNAME) != LUA_TTABLE)
    luaL_error(L, "no package library");
  lua_pushliteral(L, "searchpath");
  lua_rawget(L, -2);
  lua_pushstring(L, name);
  lua_pushvalue(L, lua_upvalueindex(PATH));
  lua_call(L, 2, 2);
  if (lua_type(L, -2) != LUA_TSTRING)
    luaL_error(L, "module '%s' not found:%s", name, lua_tostring(L, -1));
  lua_pop(L, 1);
  return lua_tostring(L, -1);
}

/* import(name): what 'require' is to the agent's modules. */
static int import (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  lua_settop(L, 1);
  if (lua_getfield(L, lua_upvalueindex(LOADED), name) != LUA_TNIL)
    return 1;
  const char *file = find_file(L, name);
  if (luaL_loadfilex(L, file, "t") != LUA_OK)
    return lua_error(L);
  lua_pushvalue(L, lua_upvalueindex(ENVIRONMENT));
  lua_setupvalue(L, -2, 1);
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  lua_pushvalue(L, -1);
  lua_setfield(L, lua_upvalueindex(LOADED), name);
  return 1;
}

/* Copies the table at 'from' into that on top: tables in it as well while there
   are 'levels'. By raw access; metatables are left. */
static void copy_into_top (lua_State *L, int from, int levels) {
  luaL_checkstack(L, 6, NULL);
  int to = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, from) != 0; ) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);                  /* copy key key value */
    if (levels > 0 && lua_istable(L, -1)) {
      int inner = lua_gettop(L);
      lua_newtable(L);
      copy_into_top(L, inner, levels - 1);
      lua_remove(L, inner);
    }
    lua_rawset(L, to);
  }
}

/* The modules' globals are Lua's libraries as they were made, and the program's
   table of globals: whatever the program does to its own libraries. */
static void push_environment (lua_State *L) {
  tg_libraries_push(L);
  lua_pushglobaltable(L);
  lua_setfield(L, -2, LUA_GNAME);
}

/* The module "tracegrip.core", copied for the same reason. */
static void push_core (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &tg_key_core);
  lua_newtable(L);
  copy_into_top(L, lua_gettop(L) - 1, 1);
  lua_remove(L, -2);
  tg_libraries_push(L);
  lua_setfield(L, -2, "lua");
}

lua_State *tg_agent_setup (lua_State *L, const char *path) {
  TG_STACK_GUARD(L);
  lua_createtable(L, 0, 8);
  push_core(L);
  lua_setfield(L, -2, "tracegrip.core");
  lua_pushstring(L, path);
  push_environment(L);
  lua_pushvalue(L, -1);
  lua_insert(L, -4);                    /* env loaded path env */
  lua_pushcclosure(L, import, 3);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "require");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key_import);
  lua_pop(L, 1);
  lua_State *work = tg_workspace_new(L, &key_work);
  TG_STACK_CHECK(L);
  return work;
}

void tg_agent_clear (lua_State *L) {
  tg_workspace_drop(L, &key_work);
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key_import);
}

/* ---- calls ---- */

/* What the agent is to know beside the kind and the coroutine: how many
   values. */
static int push_details (lua_State *L, const tg_Tidings *t, int subject) {
  if (t->text != NULL) {
    lua_pushlstring(L, t->text, t->size);
    return 1;
  }
  if (t->thrower != NULL) {
    lua_pushvalue(L, subject);
    lua_pushinteger(L, t->level);
    lua_pushboolean(L, t->uncaught);
    return 3;
  }
  if (t->frame != NULL) {
    lua_pushvalue(L, subject);
    lua_pushinteger(L, t->source);
    lua_pushinteger(L, t->line);
    lua_pushboolean(L, t->hit);
    lua_pushboolean(L, t->entered);
    lua_pushboolean(L, t->stepped);
    lua_pushboolean(L, t->changed);
    return 7;
  }
  if (!t->changed)
    return 0;
  lua_pushinteger(L, t->level);
  return 1;
}

/* The body of the coroutine: the tidings, the program's coroutine, and what it
   is about, an error or a function; the result is the agent's. The first call
   loads the modules. */
static int enter (lua_State *L) {
  const tg_Tidings *t = lua_touserdata(L, 1);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &key_import);
  lua_pushliteral(L, AGENT);
  lua_call(L, 1, 1);
  lua_pushstring(L, t->kind);
  lua_pushvalue(L, 2);
  lua_call(L, 2 + push_details(L, t, 3), 1);
  return 1;
}

static void report (lua_State *L) {
  const char *message = lua_tostring(L, -1);
  fprintf(stderr, "tracegrip: debugger: %s\n",
          (message != NULL) ? message : "an error without a message");
}

/* It has failed, or has yielded, which is as bad: the coroutine begins anew. */
static void recover (lua_State *work, int status) {
  if (status == LUA_YIELD)
    lua_pushliteral(work, "it has yielded");
  report(work);
  lua_resetthread(work);
  lua_settop(work, 0);
}

/* While it runs, or waits, the time of traces stands still. Told at once: what
   comes before the next event would be in the time of that. */
static void take_out (tg_Session *s, uint64_t begun) {
  if (!tg_session_traces(s) || s->phase == TG_PHASE_TERMINATED)
    return;
  s->after.waited += tg_clock_ticks() - begun;
  tg_emit_wait(s);
}

/* What 'enter' is called with. The error stays where it is, and a copy of it is
   given. */
static int push_call (lua_State *work, const tg_Tidings *t, lua_State *about) {
  lua_pushcfunction(work, enter);
  lua_pushlightuserdata(work, (void *)(uintptr_t)t);
  lua_pushthread(about);
  lua_xmove(about, work, 1);
  if (t->thrower == NULL && t->frame == NULL)
    return 2;
  if (t->frame != NULL)
    lua_getinfo(about, "f", t->frame);
  else
    lua_pushvalue(about, -1);
  lua_xmove(about, work, 1);
  return 3;
}

/* The transitions of the agent: debuggee.h. */
static void begin_work (tg_Inspector *i) {
  tg_assert(!tg_debuggee_works(i));
  i->life = (i->life == TG_INSPECTOR_IDLE) ? TG_INSPECTOR_WORKING
                                           : TG_INSPECTOR_CLOSING;
}

static void end_work (tg_Inspector *i) {
  tg_assert(tg_debuggee_works(i));
  i->life = (i->life == TG_INSPECTOR_WORKING) ? TG_INSPECTOR_IDLE
                                              : TG_INSPECTOR_CLOSED;
}

/* Resumed by nobody, so that its C calls are counted from 0: where the program
   has all that there are (LUAI_MAXCCALLS), which is an error like others, the
   agent could not begin. It is never inside of itself, so twice as many is the
   most. A trace that the agent itself has begun has left a hook here, as on
   all that ran then: no event may come from where the program is not. */
bool tg_agent_call (tg_Inspector *i, lua_State *L, const tg_Tidings *t) {
  lua_State *work = i->work, *about = (t->thrower != NULL) ? t->thrower : L;
  int error = errno, results = 0;
  bool answer = false;
  if (tg_debuggee_works(i) || !lua_checkstack(about, 1)
      || !lua_checkstack(work, 5))
    return false;
  tg_assert(work != L && lua_gettop(work) == 0);
  TG_STACK_GUARD(L);
  begin_work(i);
  lua_sethook(work, NULL, 0, 0);
  uint64_t begun = tg_clock_ticks();
  int status = lua_resume(work, NULL, push_call(work, t, about), &results);
  if (status == LUA_OK) {
    answer = lua_toboolean(work, -1);
    lua_settop(work, 0);
  }
  else
    recover(work, status);
  end_work(i);
  take_out(i->session, begun);
  errno = error;
  TG_STACK_CHECK(L);
  return answer;
}

void tg_agent_nest (lua_State *L, const tg_Tidings *t) {
  if (!lua_checkstack(L, 4))
    return;
  TG_STACK_GUARD(L);
  lua_pushcfunction(L, enter);
  lua_pushlightuserdata(L, (void *)(uintptr_t)t);
  lua_pushthread(L);
  if (lua_pcall(L, 2, 1, 0) != LUA_OK)
    report(L);
  lua_pop(L, 1);
  TG_STACK_CHECK(L);
}
