/*
** threadlist.h - the coroutines of a document, in order of appearance.
**
** A format that gives each coroutine a place of its own asks for the number,
** from 0 on, of the coroutine of every frame that is entered. The format keeps
** its own data of a coroutine in an array, by number.
**
** Viewers need seconds for thousands of places, so from the thousandth on
** coroutines share the last place. Frames of coroutines that share a place
** nest, since a coroutine that resumes another waits for it.
**
** Plain C, one thread. Memory: the coroutines that have a place of their own.
*/
#ifndef TG_THREADLIST_H
#define TG_THREADLIST_H

#include "base/base.h"
#include "base/intmap.h"
#include "reader/framer.h"

#define TG_THREADLIST_OWN 999u    /* places that are one coroutine's */
#define TG_THREADLIST_OTHERS 0u   /* the coroutine of the place after those */

typedef struct tg_ThreadEntry {
  tg_ThreadId thread;
  tg_FunctionId first;        /* what it begins with, as far as that is known:
                                 else the first function seen in it */
  bool sure;                  /* it does begin with it */
} tg_ThreadEntry;

typedef struct tg_ThreadList {   /* zeroed memory is empty */
  tg_ThreadEntry *list;       /* owns */
  uint32_t count, capacity;
  uint32_t latest;            /* asked for last */
  tg_IntMap places;           /* owns; by thread */
} tg_ThreadList;

/* The number of a packet's coroutine, made if there is none ('count' tells);
   TG_INTMAP_NONE without memory. */
uint32_t tg_threadlist_of (tg_ThreadList *l, const tg_Packet *p);

void tg_threadlist_free (tg_ThreadList *l);

#endif
