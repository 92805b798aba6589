/*
** alloclines.h - what was allocated at each instruction since it was last told:
** counts and bytes, and which line of which function that is.
**
** The program between two events of the hook may allocate at many lines, and
** again and again at each: so amounts are kept by instruction. A loop comes
** through the same ones in the same order, and whoever is next is looked for
** behind the one before first.
**
** No more than TG_ALLOCLINES_MOST instructions have a line between two events,
** and none has where memory is refused: what they allocate has no line then,
** which shows as the rest of their function.
**
** Filled where Lua allocates (session/allocplace.h), told by stream/holdings.h.
** Plain C, one thread; nothing changes errno.
*/
#ifndef TG_ALLOCLINES_H
#define TG_ALLOCLINES_H

#include "base/base.h"

#define TG_ALLOCLINES_MOST 256u

typedef struct tg_AllocLine {
  const void *pc;         /* compared only */
  uint32_t function;      /* its id in the stream; 0: it has none yet, */
  const void *stranger;   /* and is found by this, which is compared only; else
                             NULL */
  uint32_t line;
  uint32_t place;         /* a number that all instructions of the line share,
                             from 1 on */
  uint64_t count, bytes;
} tg_AllocLine;

/* Zeroed memory has none. */
typedef struct tg_AllocLines {
  tg_AllocLine *list;     /* owns */
  uint32_t count, capacity;
  uint32_t last;          /* which one it was before */
} tg_AllocLines;

void tg_alloclines_free (tg_AllocLines *l);

/* What is known of that instruction of that function; NULL if nothing is. Until
   the next is added. */
tg_AllocLine *tg_alloclines_find (tg_AllocLines *l, const void *pc,
                                  uint32_t function);

/* One more, which was not found; NULL: it has no line. */
tg_AllocLine *tg_alloclines_add (tg_AllocLines *l, tg_AllocLine line);

/* All have been told. */
TG_INLINE void tg_alloclines_told (tg_AllocLines *l) {
  l->count = l->last = 0;
}

#endif
