/*
** spots.h - a number for each pair of something and a line, from 0 in the order
** in which they are met.
**
** Whoever adds up by line has such pairs: a function and the line at which it
** stands, a function and the line of its caller from which it was called, a
** node of a tree and the line that a tick has met there.
**
** Plain C, one thread. Memory: the distinct pairs.
*/
#ifndef TG_SPOTS_H
#define TG_SPOTS_H

#include "base/base.h"
#include "base/intmap.h"

typedef struct tg_Spot {
  uint32_t of;                /* its owner says what the number means */
  uint32_t line;              /* 0: not known */
} tg_Spot;

/* Zeroed memory has none. */
typedef struct tg_Spots {
  tg_Spot *list;              /* owns; by number */
  uint32_t count, capacity;
  tg_IntMap numbers;          /* owns */
} tg_Spots;

/* The number of a pair, a new one if it has none; TG_INTMAP_NONE without
   memory. */
uint32_t tg_spots_number (tg_Spots *s, uint32_t of, uint32_t line);

void tg_spots_free (tg_Spots *s);             /* zeroed memory is fine */

#endif
