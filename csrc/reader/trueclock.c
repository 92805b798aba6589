/*
** trueclock.c - see trueclock.h. Called by the reader, for each event. Cannot
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

void tg_trueclock_event (tg_TrueClock *c, const tg_Event *e,
                         const tg_Function *f, tg_CountedModels *models) {
  tg_Price price = tg_costs_of(c->costs, e, f, models);
  uint64_t cost = (uint64_t)price.ticks * c->scale / TG_TRUECLOCK_SAME;
  uint64_t most = TG_TRUECLOCK_OWED * cost;
  c->work = price.work;
  c->owed += cost;
  if (cost > 0 && c->owed > most)
    c->owed = most;
}
