#include <stdio.h>
#include <string.h>

#include "state/funcname.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "state/declarations.h"

#define SOURCE_FILE_MAX ((size_t)16 << 20)

static const char key_loaded = 0;   /* registry: package.loaded */

/* ---- declared names, by source ---- */

struct tg_FuncNames {
  struct tg_FuncNames *next;
  char *source;                     /* owns */
  tg_Declarations declared;         /* owns */
};

static bool read_file (const char *path, tg_Buf *text) {
  FILE *f = fopen(path, "rb");
  if (f == NULL)
    return false;
  for (;;) {
    if (!tg_buf_reserve(text, 65536) || text->size > SOURCE_FILE_MAX)
      break;
    size_t n = fread(text->data + text->size, 1, 65536, f);
    text->size += n;
    if (n == 0)
      break;
  }
  fclose(f);
  return !text->failed;
}

static void scan_source (tg_FuncNames *e, const lua_Debug *ar) {
  tg_Buf text = {0};
  if (ar->source[0] == '@') {
    if (read_file(ar->source + 1, &text))
      tg_declarations_scan(&e->declared, text.data, text.size);
    tg_buf_free(&text);
  }
  else if (ar->source[0] != '=')
    tg_declarations_scan(&e->declared, ar->source, ar->srclen);
}

static tg_FuncNames *find_source (tg_FuncNames **sources, const lua_Debug *ar) {
  tg_FuncNames *e;
  for (e = *sources; e != NULL; e = e->next) {
    if (strcmp(e->source, ar->source) == 0)
      return e;
  }
  if ((e = tg_calloc(1, sizeof *e)) == NULL)
    return NULL;
  if ((e->source = tg_strdup(ar->source, ar->srclen)) == NULL) {
    tg_free(e);
    return NULL;
  }
  scan_source(e, ar);
  e->next = *sources;
  *sources = e;
  return e;
}

void tg_funcname_free (tg_FuncNames *e) {
  while (e != NULL) {
    tg_FuncNames *next = e->next;
    tg_declarations_free(&e->declared);
    tg_free(e->source);
    tg_free(e);
    e = next;
  }
}

/* String chunks come and go by the thousand: only what they declare now. */
static char *declared_name (tg_FuncNames **sources, const lua_Debug *ar,
                            const char *called) {
  uint32_t line = (uint32_t)ar->linedefined;
  const char *name = NULL;
  char *copy;
  if (ar->source[0] == '@') {
    tg_FuncNames *e = find_source(sources, ar);
    if (e != NULL)
      name = tg_declarations_find(&e->declared, line, called);
    return (name != NULL) ? tg_strdup(name, strlen(name)) : NULL;
  }
  tg_FuncNames e = {0};
  scan_source(&e, ar);
  name = tg_declarations_find(&e.declared, line, called);
  copy = (name != NULL) ? tg_strdup(name, strlen(name)) : NULL;
  tg_declarations_free(&e.declared);
  return copy;
}

/* What a file does not tell, or a string that may be long, is taken for so. */
bool tg_name_crowded (tg_FuncNames **sources, const lua_Debug *ar) {
  if (*ar->what == 'C' || *ar->what == 'm')
    return false;
  tg_FuncNames *e = (ar->source[0] == '@') ? find_source(sources, ar) : NULL;
  return e == NULL
         || tg_declarations_count(&e->declared, (uint32_t)ar->linedefined) != 1;
}

/* ---- names in package.loaded ---- */

void tg_funcname_setup (lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key_loaded);
}

/* The best name so far: a module's before a global's, then by alphabet. */
typedef struct Best {
  char name[256];
  bool global, found;
} Best;

static void consider (Best *best, const char *module, const char *field) {
  char name[sizeof best->name];
  bool global = strcmp(module, LUA_GNAME) == 0;
  int n;
  if (field == NULL)
    n = snprintf(name, sizeof name, "%s", module);
  else if (global)
    n = snprintf(name, sizeof name, "%s", field);
  else
    n = snprintf(name, sizeof name, "%s.%s", module, field);
  if (n < 0 || (size_t)n >= sizeof name)
    return;
  if (best->found && (global > best->global
                      || (global == best->global
                          && strcmp(name, best->name) >= 0)))
    return;
  memcpy(best->name, name, (size_t)n + 1);
  best->global = global;
  best->found = true;
}

static bool same_function (lua_State *L, const void *address) {
  return lua_isfunction(L, -1) && lua_topointer(L, -1) == address;
}

/* Looks through the module table on top of the stack. */
static void look_in (lua_State *L, const char *module, const void *address,
                     Best *best) {
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    if (same_function(L, address) && lua_type(L, -2) == LUA_TSTRING)
      consider(best, module, lua_tostring(L, -2));
    lua_pop(L, 1);
  }
}

/* By raw traversal: nothing is allocated, nothing of the program runs. */
static bool loaded_name (lua_State *L, const void *address, Best *best) {
  best->found = false;
  if (!lua_checkstack(L, 8))
    return false;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &key_loaded);
  if (lua_istable(L, -1)) {
    lua_pushnil(L);
    while (lua_next(L, -2)) {
      if (lua_type(L, -2) == LUA_TSTRING) {
        const char *module = lua_tostring(L, -2);
        if (same_function(L, address))
          consider(best, module, NULL);
        else if (lua_istable(L, -1))
          look_in(L, module, address, best);
      }
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
  return best->found;
}

/* ---- the rule ---- */

/* Whether the metatable on top of the stack holds the function. */
static bool holds (lua_State *L, const void *address) {
  bool found = false;
  lua_pushnil(L);
  while (!found && lua_next(L, -2)) {
    found = same_function(L, address);
    lua_pop(L, 1);
  }
  if (found)
    lua_pop(L, 1);
  return found;
}

/*
** A message handler is called from within the instruction that failed, and Lua
** takes it for the metamethod of that instruction: which it is only if it is in
** the metatable of an operand.
*/
static bool is_metamethod (lua_State *L) {
  const void *address = lua_topointer(L, -1);
  bool found = false;
  if (!lua_checkstack(L, 6))
    return true;
  for (int i = 1; i <= 2 && i < lua_gettop(L) && !found; i++) {
    if (lua_getmetatable(L, i)) {
      found = holds(L, address);
      lua_pop(L, 1);
    }
  }
  return found;
}

/* The text after "file:line: " at the start of 'message', if that is where the
   innermost Lua function of the two below the called one is; else NULL. */
static const char *after_position (lua_State *L, const char *message,
                                   bool *c) {
  lua_Debug ar;
  char position[LUA_IDSIZE + 24];
  *c = false;
  for (int level = 1; level <= 2 && lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "Sl", &ar);
    if (ar.currentline > 0) {
      int n = snprintf(position, sizeof position, "%s:%d: ", ar.short_src,
                       ar.currentline);
      return (strncmp(message, position, (size_t)n) == 0) ? message + n : NULL;
    }
    *c = *ar.what == 'C';
  }
  return NULL;
}

/* A metamethod has two arguments at least, a finalizer's is no string. What
   cannot be called lends its name to the handler. */
bool tg_name_handler (lua_State *L) {
  static const char uncallable[] = "attempt to call a ";
  lua_Debug ar;
  bool c;
  if (lua_gettop(L) != 2 || lua_type(L, 1) != LUA_TSTRING
      || !lua_getstack(L, 0, &ar))
    return false;
  const char *text = after_position(L, lua_tostring(L, 1), &c);
  if (text == NULL || c)
    return text != NULL;
  lua_getinfo(L, "n", &ar);
  return strcmp(ar.namewhat, "metamethod") == 0
         || strncmp(text, uncallable, sizeof uncallable - 1) == 0;
}

char *tg_funcname_called (lua_State *L, const lua_Debug *ar, bool callee) {
  char name[128];
  if (ar->name == NULL || strcmp(ar->namewhat, "hook") == 0
      || strcmp(ar->name, "integer index") == 0)
    return NULL;        /* t[1](): these are Lua's words, not a name */
  bool meta = strcmp(ar->namewhat, "metamethod") == 0;
  if (callee && ((meta && !is_metamethod(L)) || tg_name_handler(L)))
    return NULL;
  const char *prefix = (meta && strncmp(ar->name, "__", 2) != 0) ? "__" : "";
  int n = snprintf(name, sizeof name, "%s%s", prefix, ar->name);
  return tg_strdup(name, ((size_t)n < sizeof name) ? (size_t)n
                                                   : sizeof name - 1);
}

char *tg_funcname_of (tg_FuncNames **sources, lua_State *L, const lua_Debug *ar,
                      const char *called, tg_NameKind *kind) {
  Best best;
  char *name = NULL;
  *kind = TG_NAME_GIVEN;
  if (*ar->what == 'm')
    return tg_strdup("(main chunk)", 12);
  if (loaded_name(L, lua_topointer(L, -1), &best)) {
    *kind = TG_NAME_LOADED;
    return tg_strdup(best.name, strlen(best.name));
  }
  if (*ar->what != 'C')
    name = declared_name(sources, ar, called);
  if (name == NULL && called != NULL)
    name = tg_strdup(called, strlen(called));
  if (name != NULL)
    return name;
  *kind = TG_NAME_NONE;
  return tg_strdup(TG_ANONYMOUS, sizeof TG_ANONYMOUS - 1);
}
