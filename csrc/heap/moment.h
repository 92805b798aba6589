/*
** moment.h - a process' memory as it is at one moment, or a core's: the image
** of a state that is whole.
**
** All threads stand still while the memory is copied, and go on before anything
** is made of it. One that waits in a system call is not stopped, if it waits
** until the end; if it never does, it is. A thread may be stopped in the middle
** of an allocation, and what is there is then half done: so the sum of all
** objects is compared with what the state says, and where that differs the copy
** is made again a little later.
**
**     threads ── halt ── copy ── go on ── sizes == what the state says ── done
**                  ^─────────────────────────── no ──┘
**
** Or one thread is made to fork, all go on, and the copy is read, which stands
** still (outside/twin.h).
**
** The process is never written to. Plain C; on the thread that calls, which
** traces meanwhile (ptrace(2)).
*/
#ifndef TG_MOMENT_H
#define TG_MOMENT_H

#include "heap/census.h"
#include "outside/target.h"

typedef struct tg_Moment {
  tg_Image image;       /* owns */
  tg_Heap heap;         /* owns; the objects in it */
  uint64_t stopped_ns;  /* the longest stop */
  uint32_t tries;       /* copies made */
  bool agrees;          /* the sum is what the state says */
  int left;             /* of a fork, what the process still has in its table
                           (outside/twin.h); 0: nothing */
} tg_Moment;

/* Of state 'n' of what was found; 'forked': a process stands still for a fork
   alone. False, and 'words' says why. In any case tg_moment_free. */
bool tg_moment_take (tg_Moment *m, tg_Target *t, uint32_t n, bool forked,
                     tg_Buf *words);

void tg_moment_free (tg_Moment *m);

#endif
