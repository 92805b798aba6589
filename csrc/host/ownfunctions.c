/*
** ownfunctions.c - the list of our sources, and how a C function is told to be
** ours.
**
** Lua states on several threads share the list, so there is a mutex around each
** use. Asked once for each function, when it is defined: strings are compared
** one by one. A source that could not be added for want of memory is reported
** to the module that adds it.
*/
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "host/ownfunctions.h"
#include "base/alloc.h"
#include "base/atfork.h"

/* Functions of ours that a program sees in the place of one of Lua's. */
#define SHOWN_MAX 8

static struct {
  pthread_mutex_t mutex;
  char **list;          /* sources of ours; up to a '/': all that begin so */
  size_t count;
  lua_CFunction shown[SHOWN_MAX];   /* C functions of ours that are shown */
  size_t nshown;
  uintptr_t low, high;  /* where our library is */
} own = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* A directory's entry ends with the slash, so "a/b/" does not cover "a/bc". */
static bool covers (const char *ours, const char *source) {
  size_t n = strlen(ours);
  if (n > 0 && ours[n - 1] == '/')
    return strncmp(ours, source, n) == 0;
  return strcmp(ours, source) == 0;
}

/* With the mutex held. The list is as long as the modules of ours, some
   fifty. */
static bool own_has (const char *source) {
  for (size_t i = 0; i < own.count; i++) {
    if (covers(own.list[i], source))
      return true;
  }
  return false;
}

/* A copy is made before the mutex is taken: to wait for memory with it would be
   to let other threads' hooks wait. A source that is there already is fine. */
bool tg_ownfunctions_add (const char *source, size_t size) {
  char *copy = tg_strdup(source, size);
  pthread_mutex_lock(&own.mutex);
  bool ok = copy != NULL;
  if (ok && !own_has(copy)) {
    char **list = tg_realloc(own.list, (own.count + 1) * sizeof *list);
    if ((ok = list != NULL)) {
      own.list = list;
      own.list[own.count++] = copy;
      copy = NULL;
    }
  }
  pthread_mutex_unlock(&own.mutex);
  tg_free(copy);
  return ok;
}

/* What a program has inside has one name, which no file system knows
   (modules/static.c). */
static bool inside (const char *source) {
  static const char root[] = "@/proc/self/exe/";
  return strncmp(source, root, sizeof root - 1) == 0
         && strlen(source) <= PATH_MAX;
}

/* The source of a file as it is called wherever it was found. */
static bool real_source (const char *source, char real[PATH_MAX + 1]) {
  if (inside(source)) {
    strcpy(real, source);
    return true;
  }
  real[0] = '@';
  return source[0] == '@' && realpath(source + 1, real + 1) != NULL;
}

/* A source that is no file, or is gone, has no directory: there is nothing to
   add, and that is no failure. */
bool tg_ownfunctions_add_beside (const char *source) {
  char real[PATH_MAX + 1];
  if (!real_source(source, real))
    return true;
  char *end = strrchr(real, '/');       /* realpath's begins with one */
  tg_assert(end != NULL);
  return tg_ownfunctions_add(real, (size_t)(end - real) + 1);
}

/* Freed for the sake of leak checkers; who asks after this finds an empty list,
   and our functions would show in a trace that nobody will read. */
static void at_exit (void) {
  pthread_mutex_lock(&own.mutex);   /* other threads may still trace */
  for (size_t i = 0; i < own.count; i++)
    tg_free(own.list[i]);
  tg_free(own.list);
  own.list = NULL;
  own.count = 0;
  pthread_mutex_unlock(&own.mutex);
}

static void at_fork (tg_AtFork side) {
  tg_atfork_mutex(&own.mutex, side);
}

/* Where this file is linked into one program with all else, our code is in a
   section of its own (build-aux/static.sh), at the ends of which linkers put
   these. A library has no such section. */
extern const char __start_tg_code[] __attribute__((weak, visibility("hidden")));
extern const char __stop_tg_code[] __attribute__((weak, visibility("hidden")));

static int find_library (struct dl_phdr_info *info, size_t size, void *here) {
  uintptr_t low = UINTPTR_MAX, high = 0;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *h = &info->dlpi_phdr[i];
    if (h->p_type != PT_LOAD)
      continue;
    uintptr_t from = (uintptr_t)info->dlpi_addr + (uintptr_t)h->p_vaddr;
    uintptr_t to = from + (uintptr_t)h->p_memsz;
    low = (from < low) ? from : low;
    high = (to > high) ? to : high;
  }
  bool ours = (uintptr_t)here >= low && (uintptr_t)here < high;
  if (ours) {
    own.low = low;
    own.high = high;
  }
  return ours;
}

void tg_ownfunctions_setup (void) {
  tg_atfork_register(TG_ATFORK_OWN, at_fork, at_exit);
  pthread_mutex_lock(&own.mutex);
  if (__start_tg_code != NULL) {
    own.low = (uintptr_t)__start_tg_code;
    own.high = (uintptr_t)__stop_tg_code;
  }
  else if (own.high == 0)
    dl_iterate_phdr(find_library, (void *)(uintptr_t)own_has);
  pthread_mutex_unlock(&own.mutex);
}

bool tg_ownfunctions_code (const void *f) {
  return (uintptr_t)f >= own.low && (uintptr_t)f < own.high;
}

static bool own_source (const char *source) {
  pthread_mutex_lock(&own.mutex);
  bool found = own_has(source);
  pthread_mutex_unlock(&own.mutex);
  return found;
}

/* A main chunk has not yet said whose it is; the names of our modules, which
   are as those of their files, begin with "tracegrip". */
static bool own_main (const char *source) {
  char real[PATH_MAX + 1];
  return strstr(source, "tracegrip/") != NULL && real_source(source, real)
         && own_source(real);
}

/* C functions are ours if they are where our code is. No list could be
   complete: many of ours are upvalues and metamethods that no table names. A
   function pointer goes to a data pointer by way of an integer, since ISO C has
   no other (POSIX dlsym relies on the same). */
static bool own_address (lua_CFunction f) {
  return tg_ownfunctions_code((const void *)(uintptr_t)f);
}

/* With the mutex held. */
static bool is_shown (lua_CFunction f) {
  for (size_t i = 0; i < own.nshown; i++) {
    if (own.shown[i] == f)
      return true;
  }
  return false;
}

/* Functions of ours that stand in for one of Lua's are shown as the program's:
   to it they are Lua's. */
void tg_ownfunctions_except (lua_CFunction f) {
  pthread_mutex_lock(&own.mutex);
  if (!is_shown(f) && own.nshown < SHOWN_MAX)
    own.shown[own.nshown++] = f;
  pthread_mutex_unlock(&own.mutex);
}

/* Most C functions are not in our file, which needs no mutex. */
static bool own_cfunction (lua_CFunction f) {
  if (!own_address(f))
    return false;
  pthread_mutex_lock(&own.mutex);
  bool shown = is_shown(f);
  pthread_mutex_unlock(&own.mutex);
  return !shown;
}

/* Of the function on top of the stack; 'ar' has "S". */
bool tg_ownfunctions_function (lua_State *L, const lua_Debug *ar) {
  tg_assert(lua_isfunction(L, -1));
  if (*ar->what == 'C')
    return own_cfunction(lua_tocfunction(L, -1));
  return own_source(ar->source) || (*ar->what == 'm' && own_main(ar->source));
}
