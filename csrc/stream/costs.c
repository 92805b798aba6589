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

static uint64_t of_values (const tg_Costs *c, tg_Slice values,
                           tg_CountedModels *models) {
  tg_ValueCount n;
  tg_valuecount(&n, values, models);
  return c->ticks[TG_COST_VALUES] + n.objects * c->ticks[TG_COST_TABLE]
         + n.properties * c->ticks[TG_COST_PROPERTY]
         + n.alike * c->ticks[TG_COST_ALIKE]
         + n.functions * c->ticks[TG_COST_FUNCTION]
         + n.strings * c->ticks[TG_COST_STRING];
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
    case TG_EV_SAMPLE: case TG_EV_WAIT: case TG_EV_ALLOCATIONS:
    default: return 0;
  }
}

/* Of the events whose work is gauged. */
static uint64_t work_of_kind (const tg_Costs *c, const tg_Event *e,
                              bool c_function) {
  if (e->kind == TG_EV_CALL && !(e->flags & TG_EVF_TAIL))
    return c->ticks[c_function ? TG_COST_WORK_CALL_C : TG_COST_WORK_CALL];
  if (e->kind == TG_EV_RETURN)
    return c->ticks[c_function ? TG_COST_WORK_RETURN_C : TG_COST_WORK_RETURN];
  return 0;
}

/* Longer strings are not told by their address and hash (LUAI_MAXSHORTLEN):
   of such a source the hook compares the text. */
#define SHORT_MAX 40

static bool is_unsure (const tg_Function *f) {
  return !f->is_c && (!f->file || f->source_size > SHORT_MAX);
}

/* What is dear about the function that is called. */
static uint64_t of_function (const tg_Costs *c, const tg_Function *f) {
  switch (f->role) {
    case TG_ROLE_RESUME: case TG_ROLE_WRAPPED: case TG_ROLE_YIELD:
      return c->ticks[TG_COST_SWITCHER];
    case TG_ROLE_ERROR: case TG_ROLE_ASSERT:
      return c->ticks[TG_COST_RAISER];
    case TG_ROLE_NONE: case TG_ROLE_PCALL: case TG_ROLE_XPCALL:
    case TG_ROLE_CREATE: case TG_ROLE_WRAP: case TG_ROLE_CLOSE:
    case TG_ROLE_EXIT: case TG_ROLE_KEYED: case TG_ROLE_HANDLER:
    default:
      return is_unsure(f) ? c->ticks[TG_COST_UNSURE] : 0;
  }
}

/* The event's cost beyond that of all events of its kind. */
static uint64_t beyond_kind (const tg_Costs *c, const tg_Event *e,
                             const tg_Function *f, tg_CountedModels *models) {
  uint64_t ticks = 0;
  if (e->kind == TG_EV_CALL && (e->flags & TG_EVF_SITE))
    ticks += c->ticks[TG_COST_SITE];
  if (e->kind == TG_EV_CALL && f != NULL)
    ticks += of_function(c, f);
  if (e->values.data != NULL && e->kind != TG_EV_MARK)
    ticks += of_values(c, e->values, models);
  return ticks;
}

/* A file may have any numbers: a sum is cut to what a gap can be. */
static uint32_t cut (uint64_t ticks) {
  return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

/* All that is beyond its kind is work of the hook's. */
tg_Price tg_costs_of (const tg_Costs *c, const tg_Event *e,
                      const tg_Function *f, tg_CountedModels *models) {
  bool c_function = f != NULL && f->is_c;
  uint64_t beyond = beyond_kind(c, e, f, models);
  uint64_t work = work_of_kind(c, e, c_function);
  return (tg_Price){cut(of_kind(c, e, c_function) + beyond),
                    work > 0 ? cut(work + beyond) : 0};
}
