/*
** profilelines.h - the part of a profile that is about lines (profile.h): which
** calls each line makes, where frames stand at a tick, and what becomes of that
** in the end.
**
** For profile.c, but for what is read in the end. Plain C, one thread. Without
** memory functions give false, or 0.
*/
#ifndef TG_PROFILELINES_H
#define TG_PROFILELINES_H

#include "profile/profile.h"

/* The node of a frame of 'row' below 'parent', whose frame is at 'line'; 0
   without memory. */
uint32_t tg_profilelines_child (tg_Profile *p, uint32_t parent, uint32_t row,
                                uint32_t line);

/* The line of the innermost frame from which the packet's frame is called; 0 if
   it is not that frame's: the caller may be hidden. */
uint32_t tg_profilelines_caller (const tg_Profile *p, const tg_Packet *k);

/* The packet's call is one of its caller's line. */
bool tg_profilelines_call (tg_Profile *p, const tg_Packet *k);

/* The line of the innermost open frame that has made all that the packet tells
   of; 0: it is not known. */
uint32_t tg_profilelines_maker (const tg_Profile *p, const tg_Packet *k);

/* Lines have what is alive of what they have made. */
bool tg_profilelines_hold (tg_Profile *p);

/* What was allocated is of lines of the innermost open frame, as far as it is
   known, and as far as that is whose it was: it may be hidden. */
bool tg_profilelines_allocated (tg_Profile *p, const tg_Packet *k);

/* The frames that are open stand where the tick has met them. */
bool tg_profilelines_place (tg_Profile *p, const tg_Packet *tick);

/* The tick is one of the innermost open frame, which is that of the tick's own
   function if it has one. */
bool tg_profilelines_tick (tg_Profile *p, const tg_Packet *tick);

/* The number in the tree of a row without a line; TG_INTMAP_NONE without
   memory. */
uint32_t tg_profilelines_number (tg_Profile *p, uint32_t row);

/* The line has allocated so much, and is the innermost open frame's. */
bool tg_profilelines_made (tg_Profile *p, const tg_AllocLine *line);

/* All self times are settled: lines have theirs, and the tree becomes one of
   lines. */
bool tg_profilelines_settle (tg_Profile *p);

/* ---- what is read in the end ---- */

/* Whose a node of the tree is, and its line; 0: none is known. */
tg_Spot tg_profilelines_spot (const tg_Profile *p, const tg_Node *node);

/* A line of a row. */
typedef struct tg_RowLine {
  uint32_t row, line;         /* line 0: where it was is not known */
  uint64_t self_ns;
  double variance;
  uint64_t samples;
  uint64_t calls;             /* that it has made */
  uint64_t allocations, bytes;
  tg_Holding live, high;      /* of that: at the end, and at the peak */
} tg_RowLine;

typedef struct tg_RowLines {
  tg_RowLine *list;           /* owns; by row, most self time first */
  uint32_t count;
} tg_RowLines;

/* The lines of all rows that are Lua functions (TG_LINED_ROWS). */
bool tg_rowlines_make (tg_RowLines *l, const tg_Profile *p);
void tg_rowlines_free (tg_RowLines *l);       /* zeroed memory is fine */

/* Those of a row, of which there are '*n'. */
const tg_RowLine *tg_rowlines_of (const tg_RowLines *l, uint32_t row,
                                  uint32_t *n);

#endif
