/*
** threadlist.h - the coroutines of a document, in order of appearance.
**
** A format that gives each coroutine a place of its own asks for the number of
** the coroutine of every frame that is entered, from 0 on. What else it keeps
** of a coroutine is in an array of its own, by number.
**
** Plain C, one thread. Memory: the coroutines.
*/
#ifndef TG_THREADLIST_H
#define TG_THREADLIST_H

#include "base/base.h"
#include "base/intmap.h"

typedef struct tg_ThreadEntry {
  tg_ThreadId thread;
  tg_FunctionId first;        /* the first function seen in it */
} tg_ThreadEntry;

typedef struct tg_ThreadList {   /* zeroed memory is empty */
  tg_ThreadEntry *list;       /* owns */
  uint32_t count, capacity;
  uint32_t latest;            /* asked for last */
  tg_IntMap places;           /* owns; by thread */
} tg_ThreadList;

/* The number of a coroutine, made if there is none ('count' tells);
   TG_INTMAP_NONE without memory. */
uint32_t tg_threadlist_of (tg_ThreadList *l, tg_ThreadId thread,
                           tg_FunctionId first);

void tg_threadlist_free (tg_ThreadList *l);

#endif
