/*
** trueclock.c - see trueclock.h. Called by the reader, for each gauge. Cannot
** fail; numbers of a damaged file make times wrong, and no more.
*/
#include "reader/trueclock.h"

/* The mean of the first gauges; later each new gauge changes it by a part. */
static void settle_scale (tg_TrueClock *c, uint64_t gap) {
  uint64_t most = TG_TRUECLOCK_MOST * c->work;
  uint64_t work = gap < most ? gap : most;
  int64_t ratio = (int64_t)(work * TG_TRUECLOCK_SAME / c->work);
  if (c->gauges < TG_TRUECLOCK_GAUGES)
    c->gauges++;
  int64_t change = (ratio - (int64_t)c->scale) / (int64_t)c->gauges;
  c->scale = (uint32_t)((int64_t)c->scale + change);
}

void tg_trueclock_gauge (tg_TrueClock *c, uint64_t gap) {
  uint64_t share = gap < c->owed ? gap : c->owed;
  c->spent += share;
  c->owed -= share;
  if (c->work > 0)
    settle_scale(c, gap);
}
