/*
** costs.c - what one event costs. Called by readers, for each event; cannot
** fail.
*/
#include "stream/costs.h"

bool tg_costs_known (const tg_Costs *c) {
  for (int i = 0; i < TG_NCOSTS; i++) {
    if (c->ticks[i] != 0)
      return true;
  }
  return false;
}

/* What is captured costs by its size: what a table takes shows in its
   entries. */
static uint64_t of_values (const tg_Costs *c, size_t size) {
  return c->ticks[TG_COST_VALUES]
         + (uint64_t)c->ticks[TG_COST_BYTES] * size / TG_COSTS_UNIT;
}

static uint64_t of_kind (const tg_Costs *c, const tg_Event *e,
                         bool c_function) {
  switch (e->kind) {
    case TG_EV_CALL:
      if (e->flags & TG_EVF_TAIL)
        return c->ticks[TG_COST_TAIL];
      return c->ticks[c_function ? TG_COST_CALL_C : TG_COST_CALL];
    case TG_EV_RETURN:
      return c->ticks[c_function ? TG_COST_RETURN_C : TG_COST_RETURN];
    case TG_EV_YIELD: case TG_EV_RESUME: case TG_EV_LEAVE:
      return c->ticks[TG_COST_SWITCH];
    case TG_EV_THROW:
      return c->ticks[TG_COST_THROW];
    case TG_EV_NONE: case TG_EV_CONTEXT: case TG_EV_TIME:
    case TG_EV_TERMINATE: case TG_EV_GONE: case TG_EV_LOST: case TG_EV_MARK:
    case TG_EV_SAMPLE: case TG_EV_WAIT: default: return 0;
  }
}

/* A file may have any numbers: the sum is cut to what a gap can be. */
uint32_t tg_costs_of (const tg_Costs *c, const tg_Event *e, const tg_Function *f) {
  uint64_t ticks = of_kind(c, e, f != NULL && f->is_c);
  if (e->kind == TG_EV_CALL && (e->flags & TG_EVF_SITE))
    ticks += c->ticks[TG_COST_SITE];
  if (e->kind == TG_EV_CALL && f != NULL && !f->is_c && !f->file)
    ticks += c->ticks[TG_COST_UNSURE];
  if (e->values.data != NULL && e->kind != TG_EV_MARK)
    ticks += of_values(c, e->values.size);
  return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}
