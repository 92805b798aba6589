/*
** static.c - tracegrip as one file that needs nothing where it is copied:
** "make static" links this with Lua, our module, luv and zlib.
**
** The program is two: called by a name that begins with "lua" it is Lua's own
** interpreter (lua.c), which is how the command line starts a script; by any
** other it is the command line.
**
** Lua finds what is in the file by paths below /proc/self/exe, where nothing
** else can be, since that is no directory: its libraries are compiled with the
** functions here in place of fopen, dlopen and the like. So modules are looked
** for, found and named as where they are files, and hardly any has to know.
**
** On any thread; nothing here changes once main has begun.
*/
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lua.h>

#include "static.h"

#define ROOT "/proc/self/exe/"

int lua_main (int argc, char **argv);
FILE *tg_static_fopen (const char *path, const char *mode);
void *tg_static_dlopen (const char *path, int flags);
void *tg_static_dlsym (void *library, const char *name);
char *tg_static_dlerror (void);
int tg_static_dlclose (void *library);
int luaopen_tracegrip_core (lua_State *L);
int luaopen_luv (lua_State *L);

/*
** {==================================================================
** What is inside
** ===================================================================
*/

typedef struct Library {
  const char *name;
  lua_CFunction opens;
} Library;

/* By the path of a file that would be loaded. */
static Library libraries[] = {
  {"lib/tracegrip/core.so", luaopen_tracegrip_core},
#ifdef TG_STATIC_LUV
  {"lib/luv.so", luaopen_luv},
#endif
  {NULL, NULL}
};

/* The name below the root; NULL of a path that is not there. */
static const char *inside (const char *path) {
  size_t n = sizeof ROOT - 1;
  return path != NULL && strncmp(path, ROOT, n) == 0 ? path + n : NULL;
}

static Library *find_library (const char *name) {
  for (Library *l = libraries; l->name != NULL; l++) {
    if (strcmp(l->name, name) == 0)
      return l;
  }
  return NULL;
}

static const tg_StaticText *find_text (const char *name) {
  for (const tg_StaticText *t = tg_static_texts; t->name != NULL; t++) {
    if (strcmp(t->name, name) == 0)
      return t;
  }
  return NULL;
}

/* }================================================================== */

/*
** {==================================================================
** In place of the system's functions
** ===================================================================
*/

/* A library can be opened to see whether it is there (package.searchpath); what
   is read is nothing. */
static FILE *open_text (const char *name) {
  static const unsigned char nothing[] = "\n";
  const tg_StaticText library = {name, nothing, 1};
  const tg_StaticText *t = find_library(name) != NULL ? &library
                                                      : find_text(name);
  if (t == NULL)
    return NULL;
  return fmemopen((void *)(uintptr_t)t->bytes, t->size, "r");
}

FILE *tg_static_fopen (const char *path, const char *mode) {
  const char *name = inside(path);
  return name != NULL ? open_text(name) : fopen(path, mode);
}

void *tg_static_dlopen (const char *path, int flags) {
  const char *name = inside(path);
  (void)flags;
  return name != NULL ? find_library(name) : NULL;
}

/* A library has one function that Lua asks for. */
void *tg_static_dlsym (void *library, const char *name) {
  const Library *l = library;
  void *function;
  (void)name;
  memcpy(&function, &l->opens, sizeof function);
  return function;
}

char *tg_static_dlerror (void) {
  static char message[] = "this tracegrip is one file, and loads no libraries";
  return message;
}

int tg_static_dlclose (void *library) {
  (void)library;
  return 0;
}

/* }================================================================== */

/*
** {==================================================================
** The two programs
** ===================================================================
*/

/* As cli/launcher.sh does: what the user wants Lua to run first is for the
   program that is traced. */
static void aside (const char *from, const char *to) {
  const char *text = getenv(from);
  if (text != NULL)
    setenv(to, text, 1);
  unsetenv(from);
}

/* The command line may start itself as an interpreter with the launcher, as it
   does where both are files. */
static int command_line (int argc, char **argv) {
  static char name[] = "lua5.4";
  static char launcher[] = ROOT "lua/tracegrip/cli/launcher.lua";
  if (argc > 1 && strcmp(argv[1], launcher) == 0) {
    argc--;
    argv++;
  }
  char **words = calloc((size_t)argc + 2, sizeof *words);
  if (words == NULL) {
    fputs("tracegrip: not enough memory\n", stderr);
    return 1;
  }
  words[0] = name;
  words[1] = launcher;
  for (int i = 1; i < argc; i++)
    words[i + 1] = argv[i];
  aside("LUA_INIT", "TRACEGRIP_INIT");
  aside("LUA_INIT_5_4", "TRACEGRIP_INIT_5_4");
  setenv("TRACEGRIP_LIB", ROOT "lib", 1);
  return lua_main(argc + 1, words);
}

int main (int argc, char **argv) {
  const char *path = argc > 0 ? argv[0] : "";
  const char *slash = strrchr(path, '/');
  const char *name = slash != NULL ? slash + 1 : path;
  bool interpreter = strncmp(name, "lua", 3) == 0;
  return interpreter ? lua_main(argc, argv) : command_line(argc, argv);
}

/* }================================================================== */
