/*
** funcname.c - looks for a function's name in source files, and in what the
** interpreter says of the caller.
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
#include "text/fileio.h"

/* Of a larger file only what is declared before that is known: the hook must
   not read a disk image which somebody has called a source. */
#define SOURCE_FILE_MAX ((size_t)16 << 20)

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

/* ---- names that callers give ---- */

/* Whether the metatable on top of the stack holds the function. */
static bool holds (lua_State *L, const void *address) {
  bool found = false;
  TG_STACK_GUARD(L);
  lua_pushnil(L);
  while (!found && lua_next(L, -2)) {
    found = lua_isfunction(L, -1) && lua_topointer(L, -1) == address;
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

/* ---- the rule ---- */

/* The caller's word comes last, since it is a local name of its own as often as
   not; but it helps to choose among those declared on one line. */
char *tg_funcname_of (tg_FuncNames **names, const lua_Debug *ar,
                      tg_TextId text, const char *called, tg_NameKind *kind) {
  char *name = NULL;
  *kind = TG_NAME_GIVEN;
  if (*ar->what == 'm')
    return tg_strdup("(main chunk)", 12);
  if (*ar->what != 'C')
    name = declared_name(names, ar, text, called);
  if (name == NULL && called != NULL)
    name = tg_strcopy(called);
  if (name != NULL)
    return name;
  *kind = TG_NAME_NONE;
  return tg_strdup(TG_ANONYMOUS, sizeof TG_ANONYMOUS - 1);
}
