/*
** lanes.h - the coroutines of a document, in order of appearance.
**
** A format that gives each coroutine a place of its own asks for the lane of
** every frame that is entered; lanes are numbered from 0. What else it keeps of
** a coroutine is in an array of its own, by lane.
**
** Plain C, one thread. Memory: the coroutines.
*/
#ifndef TG_LANES_H
#define TG_LANES_H

#include "base/base.h"
#include "base/index.h"

typedef struct tg_Lane {
  tg_ThreadId thread;
  tg_FunctionId first;        /* the first function seen in it */
} tg_Lane;

typedef struct tg_Lanes {     /* zeroed memory is empty */
  tg_Lane *list;              /* owns */
  uint32_t count, capacity;
  uint32_t latest;            /* asked for last */
  tg_Index places;            /* owns; by thread */
} tg_Lanes;

/* The lane of a coroutine, made if there is none ('count' tells);
   TG_INDEX_NONE without memory. */
uint32_t tg_lanes_of (tg_Lanes *l, tg_ThreadId thread, tg_FunctionId first);

void tg_lanes_free (tg_Lanes *l);

#endif
