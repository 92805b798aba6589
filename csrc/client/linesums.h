/*
** linesums.h - where samples found the program, and where it has allocated,
** added up by function and line: beside a profile (profile.h), which adds up by
** function.
**
** A sample's time is that of the innermost frame's line (self), and of the line
** that each open frame has reached (total): once for a line, however often it
** recurs. Nothing of it is added up before somebody asks, since each sample
** goes through all frames.
**
** What lines have allocated the profile knows from the beginning on: it is put
** beside the times when it is asked for. So all lines of a row have together
** what the row has, to the byte; what has no line is at line 0.
*/
#ifndef TG_LINESUMS_H
#define TG_LINESUMS_H

#include "base/intmap.h"
#include "profile/profile.h"

typedef struct tg_LineSum {
  uint32_t row, line;         /* of the profile; 0 = not known, as of C */
  uint64_t self_ns, total_ns;
  uint64_t allocations, bytes;  /* that it has made... */
  uint64_t live;              /* ...and bytes that are alive of that */
  uint64_t tick;              /* the last one that showed it */
} tg_LineSum;

typedef struct tg_LineSums {
  bool on;                    /* somebody asks */
  tg_LineSum *list;           /* owns */
  uint32_t n, capacity;
  tg_IntMap places;           /* owns; row and line to the place in the list */
  uint64_t ticks;
} tg_LineSums;

/* A tick comes, while these frames are open. False without memory. */
bool tg_linesums_add (tg_LineSums *s, const tg_Profile *p,
                      const tg_Packet *tick);

/* Lines have what was allocated so far. False without memory. */
bool tg_linesums_allocated (tg_LineSums *s, const tg_Profile *p);

void tg_linesums_free (tg_LineSums *s);       /* zeroed memory is fine */

#endif
