/*
** allocators.c - Lua states of a host with an allocator of its own, which
** counts and checks what it is asked: each block has its size before it, and
** whoever frees or resizes it must know that.
**
** In such a state the global function counted() gives allocations, bytes
** allocated, bytes freed and bytes in use, of that state; it allocates nothing.
*/
#include <stdlib.h>
#include <string.h>

#include "lua.h"

#include "lauxlib.h"
#include "lualib.h"

#define STATE "spec.allocators"
#define HEAD ((size_t)16)

typedef struct Counts {
  size_t allocations, allocated, freed, used;
  size_t blocks, tables;        /* in use; made, by the kind in 'osize' */
  size_t wrong;                 /* calls with an 'osize' that is not so */
  size_t most;                  /* bytes in use, not exceeded; 0 = any */
  size_t passed;                /* calls that came by way of 'outer' */
} Counts;

typedef struct State {
  lua_State *L;                 /* owns; NULL once closed */
  Counts counts;
  lua_Alloc inner;              /* what 'outer' stands before... */
  void *inner_ud;
} State;

static void note (Counts *c, size_t before, size_t after) {
  if (after > before) {
    c->allocations++;
    c->allocated += after - before;
  }
  else
    c->freed += before - after;
  c->used += after - before;
}

static void *host (void *ud, void *block, size_t osize, size_t nsize) {
  Counts *c = ud;
  char *old = block != NULL ? (char *)block - HEAD : NULL;
  size_t before = 0;
  if (old != NULL) {
    memcpy(&before, old, sizeof before);
    c->wrong += before != osize;
  }
  if (nsize == 0) {
    c->blocks -= old != NULL;
    note(c, before, 0);
    free(old);
    return NULL;
  }
  if (c->most > 0 && nsize > before && c->used + nsize - before > c->most)
    return NULL;
  char *p = realloc(old, nsize + HEAD);
  if (p == NULL)
    return NULL;
  c->blocks += old == NULL;
  c->tables += old == NULL && osize == LUA_TTABLE;
  memcpy(p, &nsize, sizeof nsize);
  note(c, before, nsize);
  return p + HEAD;
}

/* A program's own, which stands before whatever was there. */
static void *outer (void *ud, void *block, size_t osize, size_t nsize) {
  State *s = ud;
  s->counts.passed++;
  return s->inner(s->inner_ud, block, osize, nsize);
}

static State *check_state (lua_State *L) {
  State *s = luaL_checkudata(L, 1, STATE);
  luaL_argcheck(L, s->L != NULL, 1, "closed");
  return s;
}

static int counted (lua_State *L) {
  const Counts *c = lua_touserdata(L, lua_upvalueindex(1));
  lua_pushinteger(L, (lua_Integer)c->allocations);
  lua_pushinteger(L, (lua_Integer)c->allocated);
  lua_pushinteger(L, (lua_Integer)c->freed);
  lua_pushinteger(L, (lua_Integer)c->used);
  return 4;
}

static int wrap (lua_State *L) {
  State *s = lua_touserdata(L, lua_upvalueindex(1));
  s->inner = lua_getallocf(L, &s->inner_ud);
  lua_setallocf(L, outer, s);
  return 0;
}

static int unwrap (lua_State *L) {
  State *s = lua_touserdata(L, lua_upvalueindex(1));
  lua_setallocf(L, s->inner, s->inner_ud);
  return 0;
}

/* original() -> whether the allocator is the host's, as it was. */
static int original (lua_State *L) {
  State *s = lua_touserdata(L, lua_upvalueindex(1));
  void *ud;
  lua_Alloc f = lua_getallocf(L, &ud);
  lua_pushboolean(L, f == host && ud == &s->counts);
  return 1;
}

/* limit(bytes): so many more may be in use. */
static int limit (lua_State *L) {
  State *s = lua_touserdata(L, lua_upvalueindex(1));
  lua_Integer more = luaL_optinteger(L, 1, 0);
  s->counts.most = more > 0 ? s->counts.used + (size_t)more : 0;
  return 0;
}

static const luaL_Reg inside[] = {
  {"wrap", wrap}, {"unwrap", unwrap}, {"original", original},
  {"limit", limit}, {NULL, NULL}
};

static int state_new (lua_State *L) {
  State *s = lua_newuserdatauv(L, sizeof *s, 0);
  memset(s, 0, sizeof *s);
  luaL_setmetatable(L, STATE);
  s->L = lua_newstate(host, &s->counts
#if LUA_VERSION_NUM >= 505
                      , 1
#endif
                      );
  if (s->L == NULL)
    return luaL_error(L, "no memory");
  luaL_openlibs(s->L);
  lua_pushlightuserdata(s->L, &s->counts);
  lua_pushcclosure(s->L, counted, 1);
  lua_setglobal(s->L, "counted");
  lua_pushglobaltable(s->L);
  lua_pushlightuserdata(s->L, s);
  luaL_setfuncs(s->L, inside, 1);
  lua_pop(s->L, 1);
  return 1;
}

/* state:run(code) -> its result as a string; raises its error. */
static int state_run (lua_State *L) {
  State *s = check_state(L);
  int failed = luaL_loadstring(s->L, luaL_checkstring(L, 2)) != LUA_OK
               || lua_pcall(s->L, 0, 1, 0) != LUA_OK;
  lua_pushstring(L, luaL_tolstring(s->L, -1, NULL));
  lua_settop(s->L, 0);
  return failed ? lua_error(L) : 1;
}

/* state:facts() -> blocks in use, bytes in use, wrong calls, tables made,
   calls by way of the program's allocator. Of a closed one too. */
static int state_facts (lua_State *L) {
  const State *s = luaL_checkudata(L, 1, STATE);
  lua_pushinteger(L, (lua_Integer)s->counts.blocks);
  lua_pushinteger(L, (lua_Integer)s->counts.used);
  lua_pushinteger(L, (lua_Integer)s->counts.wrong);
  lua_pushinteger(L, (lua_Integer)s->counts.tables);
  lua_pushinteger(L, (lua_Integer)s->counts.passed);
  return 5;
}

static int state_close (lua_State *L) {
  State *s = luaL_checkudata(L, 1, STATE);
  if (s->L != NULL)
    lua_close(s->L);
  s->L = NULL;
  return 0;
}

static const luaL_Reg methods[] = {
  {"run", state_run},
  {"facts", state_facts},
  {"close", state_close},
  {"__gc", state_close},
  {NULL, NULL}
};

__attribute__((visibility("default")))
int luaopen_allocators (lua_State *L);
int luaopen_allocators (lua_State *L) {
  luaL_newmetatable(L, STATE);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, state_new);
  return 1;
}
