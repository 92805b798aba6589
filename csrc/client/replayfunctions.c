/*
** replayfunctions.c - see replayfunctions.h. For packetevents.c, once for each
** frame that is entered.
**
** Words are compared as one string, which is a key of a Lua table: Lua interns
** short strings and hashes them once. The table is the replay's user value, so
** what is known goes with it. Without memory outside Lua 0 is returned, and
** nothing is defined by halves.
*/
#include <string.h>

#include "client/replayfunctions.h"
#include "base/alloc.h"

#define PARAMS_MAX 250      /* Lua has no more; C's are not known */
#define ALIKE_MAX 16        /* functions with the same words */
#define MAIN_CHUNK "(main chunk)"

/* What a packet says, on Lua's stack from 'base' + 1 on, so that nothing of it
   goes away: name, url, and a list of the parameters. */
typedef struct Words {
  const char *name, *url;   /* NULL: not told */
  uint32_t line;            /* 0: not told */
  int params;               /* index of the list */
} Words;

/* The field as a string, which stays on the stack; one value is pushed in any
   case. 'at' 0: there is no table. */
static const char *string_field (lua_State *L, int at, const char *key) {
  if (at == 0 || lua_getfield(L, at, key) != LUA_TSTRING) {
    lua_settop(L, lua_gettop(L) - (at != 0));
    lua_pushnil(L);
    return NULL;
  }
  return lua_tostring(L, -1);
}

/* Bounded by what a lua_Debug can hold. */
static uint32_t line_field (lua_State *L, int at) {
  lua_Integer n = 0;
  if (at != 0 && lua_getfield(L, at, "line") == LUA_TNUMBER)
    n = lua_tointeger(L, -1);
  if (at != 0)
    lua_pop(L, 1);
  return n > 0 && n <= INT32_MAX ? (uint32_t)n : 0;
}

/* What a frame packet or a descriptor says of its function. The place of a
   packet is a table of its own ("location"), that of a descriptor is in it. */
static void read_words (lua_State *L, int at, int place, Words *w) {
  w->name = string_field(L, at, "name");
  w->url = string_field(L, place, "url");
  w->line = line_field(L, place);
  if (lua_getfield(L, at, "parameterNames") != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
  }
  w->params = lua_gettop(L);
}

/* How many parameter names there are: a list from elsewhere may be of any
   length. */
static lua_Integer count_params (lua_State *L, const Words *w) {
  lua_Unsigned n = lua_rawlen(L, w->params);
  return n < PARAMS_MAX ? (lua_Integer)n : PARAMS_MAX;
}

/* Pushes parameter i; what is no string is one without a name. */
static const char *push_param (lua_State *L, const Words *w, lua_Integer i) {
  if (lua_rawgeti(L, w->params, i) != LUA_TSTRING) {
    lua_pop(L, 1);
    lua_pushliteral(L, "?");
  }
  return lua_tostring(L, -1);
}

/* A word that is not told is as an empty one: both show as nothing. */
static void add_word (luaL_Buffer *b, const char *s) {
  luaL_addstring(b, s != NULL ? s : "");
  luaL_addchar(b, '\0');
}

/* Pushes all words as one string. Zeros stand between: no word has one, since
   all of them are C strings here. */
static void push_key (lua_State *L, const Words *w) {
  luaL_Buffer b;
  lua_Integer n = count_params(L, w);
  luaL_buffinit(L, &b);
  add_word(&b, w->name);
  add_word(&b, w->url);
  lua_pushinteger(L, (lua_Integer)w->line);
  luaL_addvalue(&b);
  for (lua_Integer i = 1; i <= n; i++) {
    luaL_addchar(&b, '\0');
    push_param(L, w, i);
    luaL_addvalue(&b);
  }
  luaL_pushresult(&b);
}

/* "..." is last, if it is there; a C function has nothing else. */
static bool fill_params (lua_State *L, const Words *w, tg_Function *f) {
  lua_Integer n = count_params(L, w);
  if (n > 0) {
    f->vararg = strcmp(push_param(L, w, n), "...") == 0;
    lua_pop(L, 1);
    n -= f->vararg;
  }
  if (f->is_c)
    f->vararg = false;
  if (f->is_c || n == 0)
    return true;
  f->params = tg_calloc((size_t)n, sizeof *f->params);
  for (lua_Integer i = 1; f->params != NULL && i <= n; i++) {
    f->params[i - 1] = tg_strcopy(push_param(L, w, i));
    f->nparams = (uint16_t)i;
    lua_pop(L, 1);
    if (f->params[i - 1] == NULL)
      return false;
  }
  return f->params != NULL;
}

/* A packet does not say what is a main chunk, or a C function. The first has a
   name that no other function has, the second the place "[C]" and no line. */
static tg_FunctionId define (lua_State *L, const Words *w, tg_Functions *fs) {
  bool main = w->name != NULL && strcmp(w->name, MAIN_CHUNK) == 0;
  tg_Function f = {
    .name = tg_strcopy(w->name), .url = tg_strcopy(w->url),
    .is_c = w->url != NULL && strcmp(w->url, "[C]") == 0 && w->line == 0,
    .line = main ? 0 : w->line, .last_line = w->line
  };
  tg_FunctionId id = 0;
  bool ok = fill_params(L, w, &f) && (f.name != NULL || w->name == NULL)
            && (f.url != NULL || w->url == NULL);
  if (ok)
    id = tg_functions_add(fs, &f);
  if (id == 0)
    tg_function_clear(&f);
  return id;
}

/* The id under the key on top of the stack, which is popped; a new definition
   if there is none. It is defined before Lua keeps the id: if lua_rawset
   raises, a definition is there that nobody uses, which is no harm. */
static tg_FunctionId id_of (lua_State *L, int ids, const Words *w,
                            tg_Functions *fs) {
  lua_pushvalue(L, -1);
  if (lua_rawget(L, ids) == LUA_TNUMBER) {
    tg_FunctionId id = (tg_FunctionId)lua_tointeger(L, -1);
    lua_pop(L, 2);
    return id;
  }
  lua_pop(L, 1);
  tg_FunctionId id = define(L, w, fs);
  if (id == 0) {
    lua_pop(L, 1);
    return 0;
  }
  lua_pushinteger(L, (lua_Integer)id);
  lua_rawset(L, ids);
  return id;
}

/* Called for each packet that enters a frame: all its words become one string,
   and one look into the table tells the id. */
tg_FunctionId tg_replayfunctions_id (lua_State *L, int ids, int at, int place,
                                     tg_Functions *fs) {
  Words w;
  int top = lua_gettop(L);
  tg_assert(ids > 0 && at > 0 && place >= 0);
  luaL_checkstack(L, 10, NULL);
  read_words(L, at, place, &w);
  push_key(L, &w);
  tg_FunctionId id = id_of(L, ids, &w, fs);
  lua_settop(L, top);
  return id;
}

/* ---- by hit count ---- */

/* 0 where there is none, which is no id. */
static lua_Integer number_at (lua_State *L, int ids, lua_Integer key) {
  lua_rawgeti(L, ids, key);
  lua_Integer n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n;
}

static void set_number (lua_State *L, int ids, lua_Integer key,
                        lua_Integer n) {
  lua_pushinteger(L, n);
  lua_rawseti(L, ids, key);
}

/* One more than there are, so that a list of none is not NULL. */
static char **copy_params (const tg_Function *f) {
  char **params = tg_calloc(f->nparams + 1u, sizeof *params);
  for (int i = 0; params != NULL && i < f->nparams; i++)
    params[i] = tg_strcopy(f->params[i]);
  return params;
}

/* Another function with the words of 'last'; 0 without memory. All that it owns
   is copied: each definition is freed by itself. */
static tg_FunctionId add_alike (tg_Functions *fs, tg_FunctionId last) {
  tg_Function f = *tg_functions_get(fs, last);  /* its pointers are copied */
  bool whole = f.params != NULL;
  f.name = tg_strcopy(f.name);
  f.url = tg_strcopy(f.url);
  f.params = whole ? copy_params(&f) : NULL;
  tg_FunctionId id = 0;
  if (!whole || f.params != NULL)
    id = tg_functions_add(fs, &f);
  if (id == 0)
    tg_function_clear(&f);
  return id;
}

/* Functions with the same words are told apart by counting: the one that has
   been entered hits - 1 times is the one. If hit counts were asked for late, or
   frames were lost, none may fit; then the first one takes it. */
tg_FunctionId tg_replayfunctions_hit (lua_State *L, int ids, tg_FunctionId id,
                                      lua_Integer hits, tg_Functions *fs) {
  tg_FunctionId found = id, last = id;
  int n = 1;
  luaL_checkstack(L, 2, NULL);
  while (number_at(L, ids, (lua_Integer)found) != hits - 1) {
    last = found;
    found = (tg_FunctionId)number_at(L, ids, -(lua_Integer)found);
    if (found == 0)
      break;
    n++;
  }
  if (found == 0 && hits == 1 && n < ALIKE_MAX) {
    found = add_alike(fs, last);
    set_number(L, ids, -(lua_Integer)last, (lua_Integer)found);
  }
  if (found == 0)
    found = id;
  set_number(L, ids, (lua_Integer)found, hits);
  return found;
}

/* Words that are not told are alike. */
static bool same_word (const char *a, const char *b) {
  return (a == NULL || b == NULL) ? a == b : strcmp(a, b) == 0;
}

/* By their words and not by their ids: the second of two alike has another
   id. */
bool tg_replayfunctions_alike (const tg_Functions *fs, tg_FunctionId a,
                               tg_FunctionId b) {
  const tg_Function *f = tg_functions_find(fs, a);
  const tg_Function *g = tg_functions_find(fs, b);
  if (f == NULL || g == NULL || !same_word(f->name, g->name)
      || !same_word(f->url, g->url) || f->line != g->line
      || f->nparams != g->nparams || f->vararg != g->vararg)
    return false;
  for (int i = 0; f->params != NULL && i < f->nparams; i++) {
    if (!same_word(f->params[i], g->params[i]))
      return false;
  }
  return true;
}

/* Without a name: it stands for whatever function of that file called. */
tg_FunctionId tg_replayfunctions_source (lua_State *L, int ids, tg_Functions *fs) {
  int top = lua_gettop(L) - 1;
  Words w = {NULL, lua_tostring(L, -1), 1, 0};
  luaL_checkstack(L, 10, NULL);
  lua_newtable(L);
  w.params = lua_gettop(L);
  push_key(L, &w);
  tg_FunctionId id = id_of(L, ids, &w, fs);
  lua_settop(L, top);
  return id;
}
