/*
** finder.h - finds Lua states and their coroutines in a process's memory.
**
** Nothing points to a state: no symbol, no variable. But a main thread and its
** global_State are one block, so the word by which the first names the second
** is its own address and a number that is known: one comparison a word. Whoever
** has that word is then looked at as a coroutine (state.h). Coroutines have the
** same word.
**
**     [heap] first, then all else that is written and present
**
** A state in such memory is found in any case, but for those that tracegrip has
** made for itself there (ownmark.h); what begins later is not. So are
** coroutines that the collector has freed, where nobody has written yet: which
** of them exist is not asked here (objectlist.h). Plain C.
*/
#ifndef TG_FINDER_H
#define TG_FINDER_H

#include "outside/state.h"

#define TG_FOUND_STATES 64u
#define TG_FOUND_COROUTINES (1u << 20)

typedef struct tg_Find {
  uint64_t at;          /* its lua_State */
  uint32_t of;          /* whose it is: a place among the main threads */
  bool sure;            /* it exists (objectlist.h) */
} tg_Find;

typedef struct tg_Finds {
  uint64_t mains[TG_FOUND_STATES];    /* main threads, */
  uint64_t shareds[TG_FOUND_STATES];  /* and their global_States */
  uint32_t nstates;
  uint32_t omitted;     /* states for which there was no room */
  tg_Find *list;       /* owns; all coroutines but those */
  uint32_t count, capacity;
  uint64_t bytes;       /* that were searched */
} tg_Finds;

/* Looks for states in that release's layout. Zeroed is empty. */
void tg_finder_search (tg_Sight *s, tg_Finds *found);

void tg_found_free (tg_Finds *found);

#endif
