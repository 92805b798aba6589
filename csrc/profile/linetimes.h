/*
** linetimes.h - what ticks tell of lines: how many have met a row or a node at
** each of its lines, and which part of its self time that is.
**
** A tick says where the innermost frame was (tg_Packet.values). All of a row's
** ticks together stand for its self time, whoever has measured that: by calls
** it is exact, and divided among the lines as the ticks say. What no tick tells
** of has no line: a row without ticks has none, and that is no line 0, which is
** a tick whose line is not known.
**
** The owner tells ticks as its packets come, and divides once. Plain C, one
** thread. Memory: the distinct pairs of owner and line.
*/
#ifndef TG_LINETIMES_H
#define TG_LINETIMES_H

#include "profile/calltree.h"
#include "profile/live.h"
#include "profile/spots.h"
#include "reader/framer.h"

typedef struct tg_LineTime {
  tg_Ticked ticked;
  uint64_t periods;           /* the owner's: ticks that were late as often as
                                 they count */
  uint64_t calls;             /* that were made from there */
  uint64_t allocations, bytes;        /* that were allocated there */
  tg_Holding live, high;      /* of that: at the end, and at the peak */
  uint64_t self_ns;           /* these two once it is divided */
  double variance;
} tg_LineTime;

/* Zeroed memory has none. */
typedef struct tg_LineTimes {
  tg_Spots spots;             /* owns; whose each is, and the line */
  tg_LineTime *list;          /* owns; by the spots' numbers */
  uint32_t capacity;
  uint32_t *next;             /* owns; once they are listed (see below) */
  uint32_t *first;            /* owns; by 'of' */
} tg_LineTimes;

void tg_linetimes_free (tg_LineTimes *l);     /* zeroed memory is fine */

/* The line of a tick's open frame number 'level', outermost 0; 0 = not known,
   as of all C functions. */
uint32_t tg_linetimes_line (const tg_Packet *tick, uint32_t level);

/* What is known of a line; valid until the next is asked for. NULL without
   memory. */
tg_LineTime *tg_linetimes_at (tg_LineTimes *l, uint32_t of, uint32_t line);

/* A tick has met it there, and stands for so much processor time. False without
   memory. */
bool tg_linetimes_tick (tg_LineTimes *l, uint32_t of, uint32_t line,
                        uint64_t ns);

/* Each line has its part of what its node has to itself. 'whole_ns' is what all
   ticks stand for. False without memory. */
bool tg_linetimes_divide (tg_LineTimes *l, const tg_CallTree *t,
                          uint64_t whole_ns);

/* The same of owners whose self time is that of their ticks. */
void tg_linetimes_keep (tg_LineTimes *l, uint64_t whole_ns);

/* From now on 'first' and 'next' lead through the lines of each owner below
   'owners', in order of appearance; TG_INTMAP_NONE ends a list. False without
   memory. */
bool tg_linetimes_chain (tg_LineTimes *l, uint32_t owners);

#endif
