/*
** loadedname.c - see loadedname.h. Two ways, which find the same: by lua_next,
** some 130 instructions a field, and in memory, a tenth of that.
*/
#include "state/loadedname.h"

#include "direct/value.h"

static const char key_loaded = 0;   /* registry: package.loaded */

/* By a key of ours: lua_getfield needs the string "_LOADED", and makes it if a
   program has taken it out of the registry. In the hook nothing may be made. */
void tg_loadedname_setup (lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key_loaded);
}

/* What is looked for, and its best name so far. */
typedef struct Search {
  const void *address;          /* as lua_topointer has it */
  tg_FieldName best;
  bool found;
} Search;

static void consider (Search *s, const char *module, const char *field) {
  tg_FieldName name;
  if (!tg_fieldname_make(&name, module, field)
      || (s->found && !tg_fieldname_is_better(&name, s->best.text,
                                              s->best.global)))
    return;
  s->best = name;
  s->found = true;
}

/* ---- asked ---- */

static bool is_asked (lua_State *L, const Search *s) {
  return lua_isfunction(L, -1) && lua_topointer(L, -1) == s->address;
}

/* Looks through the module table on top of the stack. lua_tostring only of keys
   that are strings: it would change a number's key in place, and lua_next lose
   its way (manual, lua_next). */
static void ask_module (lua_State *L, const char *module, Search *s) {
  TG_STACK_GUARD(L);
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    if (is_asked(L, s) && lua_type(L, -2) == LUA_TSTRING)
      consider(s, module, lua_tostring(L, -2));
    lua_pop(L, 1);
  }
  TG_STACK_CHECK(L);
}

/* Looks through package.loaded, on top of the stack. */
static void ask_loaded (lua_State *L, Search *s) {
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    if (lua_type(L, -2) == LUA_TSTRING) {
      const char *module = lua_tostring(L, -2);
      if (is_asked(L, s))
        consider(s, module, NULL);
      else if (lua_istable(L, -1))
        ask_module(L, module, s);
    }
    lua_pop(L, 1);
  }
}

/* ---- read ---- */

/* A light C function is its own address, all others are objects. */
static bool is_read (tg_Slot value, const Search *s) {
  return value.u.p == s->address && tg_slot_type(value) == LUA_TFUNCTION;
}

static void read_module (const void *table, const char *module, Search *s) {
  size_t size;
  tg_Traversal t = tg_direct_traverse(table);
  while (tg_traversal_next(&t)) {
    if (is_read(t.value, s) && tg_slot_type(t.key) == LUA_TSTRING)
      consider(s, module, tg_slot_text(t.key, &size));
  }
}

static void read_loaded (const void *table, Search *s) {
  size_t size;
  tg_Traversal t = tg_direct_traverse(table);
  while (tg_traversal_next(&t)) {
    if (tg_slot_type(t.key) == LUA_TSTRING) {
      const char *module = tg_slot_text(t.key, &size);
      if (is_read(t.value, s))
        consider(s, module, NULL);
      else if (tg_slot_type(t.value) == LUA_TTABLE)
        read_module(t.value.u.p, module, s);
    }
  }
}

#ifdef TG_CROSSCHECK

#include <stdio.h>
#include <stdlib.h>

/* A difference is a fault of ours (capture/crosscheck.h). */
static void check (lua_State *L, const Search *read) {
  Search asked = {.address = read->address};
  ask_loaded(L, &asked);
  if (asked.found != read->found
      || (asked.found && strcmp(asked.best.text, read->best.text) != 0)) {
    fprintf(stderr, "loadedname: asked '%s', read '%s'\n",
            asked.found ? asked.best.text : "",
            read->found ? read->best.text : "");
    abort();
  }
}

#else

#define check(L, read) ((void)0)

#endif

/* Slots: package.loaded, a module's name, the module, a key and a value. */
bool tg_loadedname_find (lua_State *L, bool direct, tg_FieldName *name) {
  Search s = {.address = lua_topointer(L, -1)};
  tg_assert(lua_isfunction(L, -1));
  if (!lua_checkstack(L, 8))
    return false;
  TG_STACK_GUARD(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &key_loaded);
  if (lua_istable(L, -1)) {
    if (direct) {
      read_loaded(lua_topointer(L, -1), &s);
      check(L, &s);
    }
    else
      ask_loaded(L, &s);
  }
  lua_pop(L, 1);
  TG_STACK_CHECK(L);
  if (s.found)
    *name = s.best;
  return s.found;
}
