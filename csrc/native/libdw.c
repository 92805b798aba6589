/* libdw.c - see libdw.h. */
#include "native/libdw.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static tg_Libdw functions;
static bool found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A function's address, as dlsym(3) says that it is to be taken. */
static bool take (void *library, const char *name, void *to) {
  void *symbol = dlsym(library, name);
  memcpy(to, &symbol, sizeof symbol);
  return symbol != NULL;
}

/* Never unloaded: it has state of its own. */
static void load (void) {
  void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
  found = library != NULL;
#define X(name, result, arguments) \
  found = found && take(library, "dwfl_" #name, &functions.name);
  TG_LIBDW_FUNCTIONS(X)
#undef X
}

const tg_Libdw *tg_libdw (void) {
  pthread_once(&once, load);
  return found ? &functions : NULL;
}
