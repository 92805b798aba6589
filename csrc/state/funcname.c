/*
** funcname.c - looks for a function's name in package.loaded, in source files,
** and in what the interpreter says of the caller.
**
** Called once for each function, when it is defined, on the traced thread and
** mostly inside the hook. So only what neither allocates in Lua nor runs code
** of the program: raw traversal of tables, and memory of C. Without memory a
** function is defined with another name than it might have, or none.
*/
#include <stdio.h>
#include <string.h>

#include "state/funcname.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/grow.h"
#include "text/declarations.h"
#include "text/fieldname.h"
#include "text/fileio.h"

/* Of a larger file only what is declared before that is known: the hook must
   not read a disk image which somebody has called a source. */
#define SOURCE_FILE_MAX ((size_t)16 << 20)

static const char key_loaded = 0;   /* registry: package.loaded */

/* ---- declared names, by source ---- */

struct tg_FuncNames {
  tg_IntMap places;                 /* owns; of a file's text in 'files' */
  tg_Declarations *files;           /* owns */
  uint32_t nfiles, capacity;
  tg_TextId last_text;              /* the last text that was no file, if any */
  tg_Declarations last;             /* owns */
};

/*
** A source is a file name after '@', a name that the host chose after '=', else
** the text itself (manual, lua_Debug). The file as it is now: if it was edited
** since it was loaded, names may be wrong. What is no file is not read: a pipe
** that a script came through is the program's input, and the hook would wait
** for it.
*/
static void scan_source (tg_Declarations *declared, const lua_Debug *ar) {
  tg_Buf text = {0};
  if (ar->source[0] == '@') {
    tg_fileio_text(ar->source + 1, SOURCE_FILE_MAX, &text);
    if (text.size > 0 && !text.failed)
      tg_declarations_scan(declared, text.data, text.size);
    tg_buf_free(&text);
  }
  else if (ar->source[0] != '=')
    tg_declarations_scan(declared, ar->source, ar->srclen);
}

static tg_FuncNames *names_of (tg_FuncNames **names) {
  if (*names == NULL)
    *names = tg_calloc(1, sizeof **names);
  return *names;
}

/* A file that cannot be read has an entry too, without declarations: it is
   tried once. */
static const tg_Declarations *of_file (tg_FuncNames **names,
                                       const lua_Debug *ar, tg_TextId text) {
  tg_FuncNames *n = names_of(names);
  uint32_t place = (n == NULL) ? TG_INTMAP_NONE
                               : tg_intmap_find(&n->places, text);
  if (place != TG_INTMAP_NONE)
    return &n->files[place];
  if (n == NULL
      || !tg_grow(&n->files, &n->capacity, n->nfiles + 1, sizeof *n->files)
      || !tg_intmap_set(&n->places, text, n->nfiles))
    return NULL;
  tg_Declarations *d = &n->files[n->nfiles++];
  *d = (tg_Declarations){0};
  scan_source(d, ar);
  return d;
}

/* String chunks come and go by the thousand: only what the last one declares
   is kept, which may be long and have many functions. */
static const tg_Declarations *of_text (tg_FuncNames **names,
                                       const lua_Debug *ar, tg_TextId text) {
  tg_FuncNames *n = names_of(names);
  if (n == NULL || n->last_text == text)
    return (n == NULL) ? NULL : &n->last;
  tg_declarations_free(&n->last);
  n->last = (tg_Declarations){0};
  n->last_text = text;
  scan_source(&n->last, ar);
  return &n->last;
}

void tg_funcname_free (tg_FuncNames *n) {
  if (n == NULL)
    return;
  for (uint32_t i = 0; i < n->nfiles; i++)
    tg_declarations_free(&n->files[i]);
  tg_declarations_free(&n->last);
  tg_free(n->files);
  tg_intmap_free(&n->places);
  tg_free(n);
}

static char *declared_name (tg_FuncNames **names, const lua_Debug *ar,
                            tg_TextId text, const char *called) {
  const tg_Declarations *d = (ar->source[0] == '@') ? of_file(names, ar, text)
                                                    : of_text(names, ar, text);
  if (d == NULL)
    return NULL;
  return tg_strcopy(tg_declarations_find(d, (uint32_t)ar->linedefined,
                                         called));
}

/* What a file does not tell, or a string that may be long, is taken for so. */
bool tg_funcname_crowded (tg_FuncNames **names, const lua_Debug *ar,
                          tg_TextId text) {
  if (*ar->what == 'C' || *ar->what == 'm')
    return false;
  const tg_Declarations *d = (ar->source[0] == '@')
                             ? of_file(names, ar, text) : NULL;
  return d == NULL
         || tg_declarations_count(d, (uint32_t)ar->linedefined) != 1;
}

/* ---- names in package.loaded ---- */

/* By a key of ours: lua_getfield needs the string "_LOADED", and makes it if a
   program has taken it out of the registry. In the hook nothing may be made. */
void tg_funcname_setup (lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key_loaded);
}

/* The best name so far. */
typedef struct Best {
  tg_FieldName name;
  bool found;
} Best;

static void consider (Best *best, const char *module, const char *field) {
  tg_FieldName name;
  if (!tg_fieldname_make(&name, module, field)
      || (best->found && !tg_fieldname_is_better(&name, best->name.text,
                                                 best->name.global)))
    return;
  best->name = name;
  best->found = true;
}

static bool same_function (lua_State *L, const void *address) {
  return lua_isfunction(L, -1) && lua_topointer(L, -1) == address;
}

/* Looks through the module table on top of the stack. lua_tostring only of keys
   that are strings: it would change a number's key in place, and lua_next lose
   its way (manual, lua_next). */
static void look_in (lua_State *L, const char *module, const void *address,
                     Best *best) {
  TG_STACK_GUARD(L);
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    if (same_function(L, address) && lua_type(L, -2) == LUA_TSTRING)
      consider(best, module, lua_tostring(L, -2));
    lua_pop(L, 1);
  }
  TG_STACK_CHECK(L);
}

/* By raw traversal: nothing is allocated, nothing of the program runs. */
static bool loaded_name (lua_State *L, const void *address, Best *best) {
  best->found = false;
  if (!lua_checkstack(L, 8))
    return false;
  TG_STACK_GUARD(L);
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
  TG_STACK_CHECK(L);
  return best->found;
}

/* ---- the rule ---- */

/* Whether the metatable on top of the stack holds the function. */
static bool holds (lua_State *L, const void *address) {
  bool found = false;
  TG_STACK_GUARD(L);
  lua_pushnil(L);
  while (!found && lua_next(L, -2)) {
    found = same_function(L, address);
    lua_pop(L, 1);
  }
  if (found)
    lua_pop(L, 1);
  TG_STACK_CHECK(L);
  return found;
}

/* A message handler is called from within the instruction that failed, and Lua
   takes it for the metamethod of that instruction: which it is only if it is in
   the metatable of an operand. Operands are the first two arguments; the
   function itself is on top. */
static bool is_metamethod (lua_State *L) {
  const void *address = lua_topointer(L, -1);
  bool found = false;
  if (!lua_checkstack(L, 6))
    return true;
  TG_STACK_GUARD(L);
  for (int i = 1; i <= 2 && i < lua_gettop(L) && !found; i++) {
    if (lua_getmetatable(L, i)) {
      found = holds(L, address);
      lua_pop(L, 1);
    }
  }
  TG_STACK_CHECK(L);
  return found;
}

/* The text after "file:line: " at the start of 'message', if that is where the
   innermost Lua function of the two below the called one is; else NULL. So do
   luaG_runerror (ldebug.c) and, a C function up, luaL_error begin their
   messages (luaL_where). '*c': a C function raised it. */
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
bool tg_funcname_handler (lua_State *L) {
  static const char uncallable[] = "attempt to call a ";
  lua_Debug ar;
  bool c;
  TG_STACK_GUARD(L);
  if (lua_gettop(L) != 2 || lua_type(L, 1) != LUA_TSTRING
      || !lua_getstack(L, 0, &ar))
    return false;
  const char *text = after_position(L, lua_tostring(L, 1), &c);
  if (text == NULL || c)
    return text != NULL;
  lua_getinfo(L, "n", &ar);
  TG_STACK_CHECK(L);
  return strcmp(ar.namewhat, "metamethod") == 0
         || strncmp(text, uncallable, sizeof uncallable - 1) == 0;
}

/* Lua tells the name of a metamethod without its underscores, but for __gc
   (funcnamefromcode and funcnamefromcall of ldebug.c); a function that a hook
   calls is called "?". */
char *tg_funcname_called (lua_State *L, const lua_Debug *ar, bool callee) {
  char name[128];
  if (ar->name == NULL || strcmp(ar->namewhat, "hook") == 0
      || strcmp(ar->name, "integer index") == 0)
    return NULL;        /* t[1](): these are Lua's words, not a name */
  bool meta = strcmp(ar->namewhat, "metamethod") == 0;
  if (callee && ((meta && !is_metamethod(L)) || tg_funcname_handler(L)))
    return NULL;
  const char *prefix = (meta && strncmp(ar->name, "__", 2) != 0) ? "__" : "";
  int n = snprintf(name, sizeof name, "%s%s", prefix, ar->name);
  return tg_strdup(name, ((size_t)n < sizeof name) ? (size_t)n
                                                   : sizeof name - 1);
}

/* The caller's word comes last, since it is a local name of its own as often as
   not; but it helps to choose among those declared on one line. */
char *tg_funcname_of (tg_FuncNames **names, lua_State *L, const lua_Debug *ar,
                      tg_TextId text, const char *called, tg_NameKind *kind) {
  Best best;
  char *name = NULL;
  tg_assert(lua_isfunction(L, -1));
  *kind = TG_NAME_GIVEN;
  if (*ar->what == 'm')
    return tg_strdup("(main chunk)", 12);
  if (loaded_name(L, lua_topointer(L, -1), &best)) {
    *kind = TG_NAME_LOADED;
    return tg_strcopy(best.name.text);
  }
  if (*ar->what != 'C')
    name = declared_name(names, ar, text, called);
  if (name == NULL && called != NULL)
    name = tg_strcopy(called);
  if (name != NULL)
    return name;
  *kind = TG_NAME_NONE;
  return tg_strdup(TG_ANONYMOUS, sizeof TG_ANONYMOUS - 1);
}
