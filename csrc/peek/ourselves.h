/*
** ourselves.h - the state that calls, looked at as others are: its release, as
** far as that is proved, and where its objects are.
*/
#ifndef TG_OURSELVES_H
#define TG_OURSELVES_H

#include <lua.h>

#include "outside/memory.h"
#include "outside/sight.h"

typedef struct tg_Ourselves {
  tg_Memory memory;     /* owns; this process's */
  const tg_Layout *layout;
  int release;
  uint64_t main;        /* the main thread */
} tg_Ourselves;

/* NULL, or why not. Makes nothing in the state. In any case
   tg_ourselves_close. */
const char *tg_ourselves_open (tg_Ourselves *o, lua_State *L);

void tg_ourselves_close (tg_Ourselves *o);

#endif
