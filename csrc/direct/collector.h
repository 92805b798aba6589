/*
** collector.h - what the collector is doing, straight from memory. Three bytes
** that stand side by side in what all coroutines of a state share
** (global_State): the colour of what is new, which changes once in each cycle;
** the state, one of TG_COLLECTOR_MARKS and so on; the mode. From 5.4.4 on
** another byte says whether a step is under way: a cycle has many steps, and
** the program runs between two of them.
**
** That they are there is proved on a state of its own (probe_collector.c).
*/
#ifndef TG_DIRECT_COLLECTOR_H
#define TG_DIRECT_COLLECTOR_H

#include "direct/frame.h"

typedef struct tg_Collector {
  uint8_t colour, state, mode;  /* mode 0: step by step; else generations */
} tg_Collector;

TG_INLINE bool tg_collector_known (void) {
  return tg_direct_facts.collector != 0;
}

/* Where it is to be read, as long as the state lives. */
TG_INLINE const uint8_t *tg_collector_at (const lua_State *L) {
  return (const uint8_t *)tg_direct_shared(L) + tg_direct_facts.collector;
}

TG_INLINE tg_Collector tg_collector_read (const uint8_t *at) {
  return (tg_Collector){at[0], at[1], at[2]};
}

TG_INLINE bool tg_collector_works (tg_Collector c) {
  if (c.mode != 0)
    return c.state != TG_COLLECTOR_MARKS && c.state < TG_COLLECTOR_FINISHED;
  return c.state < TG_COLLECTOR_FINISHED;
}

/* Whether it is known when the collector itself runs. */
TG_INLINE bool tg_collector_tells (void) {
  return tg_direct_facts.collector != 0 && tg_direct_facts.step != 0;
}

/* Whether the collector itself runs now, and not the program or a finalizer;
   false too where that is not known. For a signal handler, at any moment. */
TG_INLINE bool tg_collector_runs (const lua_State *L) {
  if (!tg_collector_tells())
    return false;
  tg_Collector c = tg_collector_read(tg_collector_at(L));
  return tg_read8(tg_direct_shared(L), tg_direct_facts.step) == 1
         || c.state == TG_COLLECTOR_ATOMIC
         || (c.mode == 1 && tg_collector_works(c));
}

#endif
