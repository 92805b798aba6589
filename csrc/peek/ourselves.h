/*
** ourselves.h - a state of this process, looked at as others are: its release,
** as far as that is proved, and where its objects are.
*/
#ifndef TG_OURSELVES_H
#define TG_OURSELVES_H

#include "outside/memory.h"
#include "outside/sight.h"

typedef struct tg_Ourselves {
  tg_Memory memory;     /* owns; this process's */
  const tg_Layout *layout;
  int release;
  uint64_t main;        /* the main thread */
} tg_Ourselves;

/* Of a state's main thread, on whatever thread. NULL, or why not. Makes nothing
   in the state. In any case tg_ourselves_close. */
const char *tg_ourselves_open (tg_Ourselves *o, const void *main);

void tg_ourselves_close (tg_Ourselves *o);

#endif
