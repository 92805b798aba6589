/* heapend.c - see heapend.h. What is finalized last in a state was marked for
   that first (manual 2.5.3): so the program's own finalizers have run. */
#include "peek/heapend.h"

#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "peek/ownheap.h"
#include "text/newfile.h"
#include "trace/trace.h"

#define END "tracegrip.heapend"

static const char key;          /* registry: the End */

typedef struct End {
  char *path, *told;    /* owns; NULL: it has been taken */
  pid_t pid;            /* whose end is meant */
} End;

/* Of the trace that tells who made the objects, why it has ended before. */
static void tell_of_trace (lua_State *L, FILE *f) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &key);
  if (lua_getiuservalue(L, -1, 1) == LUA_TUSERDATA
      && lua_getfield(L, -1, "ended") == LUA_TSTRING)
    fprintf(f, "ended = \"%s\", ", lua_tostring(L, -1));
}

/* As a string of Lua's, whatever is in it. */
static void tell_failed (lua_State *L, FILE *f) {
  const char *message = lua_tostring(L, -1);
  fputs("{failed = \"", f);
  for (; message != NULL && *message != '\0'; message++)
    fprintf(f, "\\%03u", (unsigned)(unsigned char)*message);
  fputs("\"}\n", f);
}

static void tell_taken (lua_State *L, FILE *f) {
  static const char *const names[] = {"objects", "bytes", "state_bytes",
                                      "garbage"};
  fputs("{", f);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    lua_getfield(L, -1, names[i]);
    fprintf(f, "%s = %lld, ", names[i], (long long)lua_tointeger(L, -1));
    lua_pop(L, 1);
  }
  lua_getfield(L, -1, "stopped_ms");
  lua_Number stopped_ms = lua_tonumber(L, -1);
  tell_of_trace(L, f);
  fprintf(f, "stopped_ms = %.6f}\n", stopped_ms);
}

/* Of what the snapshot gave: a table, or nil and why there is none. */
static void tell (lua_State *L, const End *end) {
  int fd = tg_newfile_open(end->told);
  FILE *f = (fd >= 0) ? fdopen(fd, "w") : NULL;
  if (f == NULL)
    return;
  if (!lua_istable(L, -2))
    tell_failed(L, f);
  else {
    lua_pop(L, 1);
    tell_taken(L, f);
  }
  fclose(f);
}

static void write_snapshot (lua_State *L, const End *end) {
  lua_pushcfunction(L, ownheap_snapshot);
  lua_pushstring(L, end->path);
  lua_pushboolean(L, 1);
  if (lua_pcall(L, 2, 2, 0) == LUA_OK)
    tell(L, end);
}

/* At most once: in os.exit, or when the state closes. Not of a child that was
   forked: the file is its parent's. */
static int take (lua_State *L) {
  End *end = lua_touserdata(L, 1);
  if (end->path == NULL)
    return 0;
  if (end->pid == getpid())
    write_snapshot(L, end);
  tg_free(end->path);
  tg_free(end->told);
  end->path = end->told = NULL;
  return 0;
}

/* In the place of os.exit, which is the upvalue. */
static int exit_after (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &key);
  lua_pushcfunction(L, take);
  lua_insert(L, -2);
  lua_call(L, 1, 0);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static void replace_exit (lua_State *L) {
  if (lx_loaded(L, "os") == LUA_TTABLE) {
    lua_pushliteral(L, "exit");
    lua_pushliteral(L, "exit");
    lua_rawget(L, -3);
    lua_pushcclosure(L, exit_after, 1);
    lua_rawset(L, -3);
  }
  lua_pop(L, 1);
}

/* Made before what keeps it, and so finalized after that. Nil: there is
   none. */
static void push_trace (lua_State *L) {
  if (lua_getfield(L, 1, "watch") == LUA_TTABLE) {
    lua_pushcfunction(L, trace_watch);
    lua_insert(L, -2);
    lua_call(L, 1, 1);
  }
}

int heapend_start (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_getfield(L, 1, "path");
  lua_getfield(L, 1, "told");
  const char *path = luaL_checkstring(L, -2), *told = luaL_checkstring(L, -1);
  push_trace(L);
  End *end = lx_owner(L, sizeof *end, 1, END, take);
  lua_insert(L, -2);
  lua_setiuservalue(L, -2, 1);
  end->path = tg_strcopy(path);
  end->told = tg_strcopy(told);
  end->pid = getpid();
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
  replace_exit(L);
  lua_pushboolean(L, 1);
  return 1;
}
