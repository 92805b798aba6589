/*
** machinecode.c - see machinecode.h. The library stays loaded: whoever throws,
** or ends a thread, has it loaded as well.
*/
#include "signal/machinecode.h"

#include <dlfcn.h>
#include <string.h>

#define STEP 16u                /* functions begin at multiples of it */

/* As unwind.h and unwind-dw2-fde.h of GCC have them: an interface of the ABI,
   for which there is no header everywhere. */
typedef struct Context Context;
typedef int Visit (Context *c, void *ud);

typedef struct Bases {
  void *text, *data, *function;
} Bases;

typedef struct Unwinder {
  int (*backtrace) (Visit *visit, void *ud);
  uintptr_t (*address) (Context *c);
  const void *(*find) (void *address, Bases *bases);
} Unwinder;

static bool find_symbol (void *library, const char *name, void *to) {
  void *symbol = dlsym(library, name);
  memcpy(to, &symbol, sizeof symbol);
  return symbol != NULL;
}

static bool load (Unwinder *u) {
  void *library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_LOCAL);
  return library != NULL
         && find_symbol(library, "_Unwind_Backtrace", &u->backtrace)
         && find_symbol(library, "_Unwind_GetIP", &u->address)
         && find_symbol(library, "_Unwind_Find_FDE", &u->find);
}

/* 0: in none. */
static uintptr_t begin_of (const Unwinder *u, uintptr_t address) {
  Bases bases = {0};
  const void *found = u->find((void *)address, &bases);
  return found != NULL ? (uintptr_t)bases.function : 0;
}

/* A function ends where another one begins, or none: an entry's own length is
   in a form that differs from machine to machine. */
tg_CodeRange tg_machinecode_of (uintptr_t address) {
  Unwinder u;
  uintptr_t begin = load(&u) ? begin_of(&u, address) : 0;
  if (begin == 0)
    return (tg_CodeRange){0, 0};
  for (uintptr_t n = 0; n < TG_MACHINECODE_LONGEST; n++) {
    if (n % STEP == 0 && begin_of(&u, begin + n + 1) != begin)
      return (tg_CodeRange){begin, begin + n};
  }
  return (tg_CodeRange){0, 0};
}

typedef struct Walk {
  const Unwinder *u;
  uintptr_t first;
  uintptr_t *list;
  uint32_t n, size;
} Walk;

/* 0 goes on, all else ends the walk. */
static int visit (Context *c, void *ud) {
  Walk *w = ud;
  uintptr_t address = w->u->address(c);
  if (w->n > 0 || address == w->first)
    w->list[w->n++] = address;
  return w->n == w->size;
}

uint32_t tg_machinecode_callers (uintptr_t first, uintptr_t *list,
                                 uint32_t size) {
  Unwinder u;
  if (size == 0 || !load(&u))
    return 0;
  Walk w = {.u = &u, .first = first, .list = list, .size = size};
  u.backtrace(visit, &w);
  return w.n;
}
