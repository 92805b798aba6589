/*
** loadednames.h - functions of another process by what package.loaded calls
** them, as traces do: "string.gsub", "print", "M.parse".
**
** Made once for a state, by a walk over its registry; C functions have no other
** name, since libraries do not export theirs. Bounded. Plain C.
*/
#ifndef TG_LOADEDNAMES_H
#define TG_LOADEDNAMES_H

#include "base/intmap.h"
#include "outside/state.h"

typedef struct tg_LoadedName {
  char *name;           /* owns */
  bool global;          /* a field of _G, whose names come last */
} tg_LoadedName;

typedef struct tg_LoadedNames {
  tg_IntMap places;     /* owns; by a function's value */
  tg_LoadedName *list;  /* owns */
  uint32_t count, capacity;
} tg_LoadedNames;

/* Adds those of the state with that global_State. */
void tg_loadednames_add (tg_LoadedNames *names, tg_Sight *s, uint64_t shared);

/* The name of a function; NULL: it has none. */
const char *tg_loadednames_find (const tg_LoadedNames *names,
                                 tg_SeenValue function);

void tg_loadednames_free (tg_LoadedNames *names);

#endif
