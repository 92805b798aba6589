/*
** misses.h - samples that were taken of another process while it ran: how many
** had to be taken again, and how many were given up, by reason.
**
** Filled in by whoever takes samples (spy/), written into its file as they are,
** and read again. Reasons are words, so that a reader knows them all.
*/
#ifndef TG_MISSES_H
#define TG_MISSES_H

#include "base/base.h"

#define TG_MISSES_MAX 32u
#define TG_MISSES_WORD 32u      /* bytes of a reason, with a zero */

typedef struct tg_Misses {
  bool known;                   /* else it is no such recording */
  uint64_t retried;
  uint32_t n;
  char reasons[TG_MISSES_MAX][TG_MISSES_WORD];
  uint64_t counts[TG_MISSES_MAX];
} tg_Misses;

#endif
