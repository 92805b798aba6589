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

/* Every fourth list is empty, or one value that is a tag alone. */
uint64_t tg_costs_of_list (const tg_Costs *c, tg_Slice values,
                           tg_CountedModels *models) {
  tg_ValueCount n;
  if (values.size - 1 <= 1 && values.data[0] <= 1)
    return c->ticks[TG_COST_VALUES];
  tg_valuecount(&n, values, models);
  return c->ticks[TG_COST_VALUES] + n.objects * c->ticks[TG_COST_TABLE]
         + n.properties * c->ticks[TG_COST_PROPERTY]
         + n.alike * c->ticks[TG_COST_ALIKE]
         + n.functions * c->ticks[TG_COST_FUNCTION]
         + n.strings * c->ticks[TG_COST_STRING];
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

/* What an event costs, in parts. */
typedef struct Parts {
  uint64_t kind;        /* as all events of its kind */
  uint64_t work;        /* what a gauge of those shows; 0: they have none */
  uint64_t beyond;      /* more than those: all of it is work of the hook's */
} Parts;

static Parts of_call (const tg_Costs *c, uint32_t flags,
                      const tg_Function *f) {
  bool c_function = f != NULL && f->is_c;
  Parts p = {0};
  if (flags & TG_EVF_TAIL)
    p.kind = c->ticks[TG_COST_TAIL];
  else {
    p.kind = c->ticks[c_function ? TG_COST_CALL_C : TG_COST_CALL];
    p.work = c->ticks[c_function ? TG_COST_WORK_CALL_C : TG_COST_WORK_CALL];
  }
  if (flags & TG_EVF_SITE)
    p.beyond += c->ticks[TG_COST_SITE];
  if (f != NULL)
    p.beyond += of_function(c, f);
  return p;
}

static Parts of_return (const tg_Costs *c, const tg_Function *f) {
  if (f != NULL && f->is_c)
    return (Parts){.kind = c->ticks[TG_COST_RETURN_C],
                   .work = c->ticks[TG_COST_WORK_RETURN_C]};
  return (Parts){.kind = c->ticks[TG_COST_RETURN],
                 .work = c->ticks[TG_COST_WORK_RETURN]};
}

/* Of the events that are neither. */
static uint64_t of_other (const tg_Costs *c, tg_Kind kind) {
  if (kind == TG_EV_YIELD || kind == TG_EV_RESUME || kind == TG_EV_LEAVE)
    return c->ticks[TG_COST_SWITCH];
  return kind == TG_EV_THROW ? c->ticks[TG_COST_THROW] : 0;
}

/* A file may have any numbers: a sum is cut to what a gap can be. */
static uint32_t cut (uint64_t ticks) {
  return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

/* The kind is asked for once: nearly all events are calls and returns. */
tg_Price tg_costs_of (const tg_Costs *c, tg_Kind kind, uint32_t flags,
                      const tg_Function *f, uint64_t list) {
  Parts p = {0};
  if (kind == TG_EV_CALL)
    p = of_call(c, flags, f);
  else if (kind == TG_EV_RETURN)
    p = of_return(c, f);
  else
    p.kind = of_other(c, kind);
  p.beyond += list;
  return (tg_Price){cut(p.kind + p.beyond),
                    p.work > 0 ? cut(p.work + p.beyond) : 0};
}
