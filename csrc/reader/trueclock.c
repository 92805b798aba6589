/*
** trueclock.c - see trueclock.h. Called by the reader, for each event. Cannot
** fail; numbers of a damaged file make times wrong, and no more.
*/
#include "reader/trueclock.h"

void tg_trueclock_event (tg_TrueClock *c, const tg_Event *e,
                         const tg_Function *f) {
  uint64_t cost = tg_costs_of(c->costs, e, f);
  uint64_t most = TG_TRUECLOCK_OWED * cost;
  c->owed += cost;
  if (cost > 0 && c->owed > most)
    c->owed = most;
}
