/*
** costs.c - what one event costs. Called by readers, for each event; cannot
** fail.
*/
#include "stream/costs.h"
#include "stream/values.h"

bool tg_costs_known (const tg_Costs *c) {
  for (int i = 0; i < TG_NCOSTS; i++) {
    if (c->ticks[i] != 0)
      return true;
  }
  return false;
}

/* A grip, and what is dear about it: a short string is written as it is, of a
   longer one the hook looks for an earlier one that is the same. */
static uint64_t of_grip (const tg_Costs *c, tg_ValueCursor *at) {
  uint32_t id;
  uint8_t tag = at->p < at->end ? *at->p : 0;
  tg_values_pass(at, &id);
  return (tag == TG_GRIP_STRING || tag == TG_GRIP_STRAGAIN
          || tag == TG_GRIP_VEILTEXT)
         ? c->ticks[TG_COST_STRING] : 0;
}

/* Of a table that is told by another one each property was compared. */
static uint64_t of_like (const tg_Costs *c, tg_ValueCursor *at) {
  tg_Grip key, v;
  uint64_t ticks = 0;
  while (tg_values_property(at, &key, &v))
    ticks += c->ticks[TG_COST_ALIKE];
  return ticks;
}

/* Its properties are pairs of grips. */
static uint64_t of_object (const tg_Costs *c, tg_ValueCursor *at) {
  uint8_t type = at->p < at->end ? *at->p : 0;
  uint64_t ticks = c->ticks[type == TG_OBJ_FUNCTION ? TG_COST_FUNCTION
                                                    : TG_COST_TABLE];
  if (!tg_values_pass_head(at))
    return type == TG_DESC_UNLIKE && !at->bad
           ? ticks + at->left * (uint64_t)c->ticks[TG_COST_ALIKE] : ticks;
  if (type == TG_DESC_LIKE)
    return ticks + of_like(c, at);
  while (at->p < at->end && *at->p != TG_GRIP_END) {
    ticks += c->ticks[TG_COST_PROPERTY] + of_grip(c, at);
    ticks += of_grip(c, at);
  }
  at->p += at->p < at->end;
  return ticks;
}

/* Grips, then objects up to the end (values.h). Bytes that are bad end it. */
static uint64_t of_values (const tg_Costs *c, tg_Slice values) {
  tg_ValueCursor at;
  uint64_t ticks = c->ticks[TG_COST_VALUES];
  tg_values_open(&at, values);
  uint64_t n = tg_values_var(&at);
  for (uint64_t i = 0; i < n && i < TG_VALUES_MAX && !at.bad; i++)
    ticks += of_grip(c, &at);
  while (at.p < at.end)
    ticks += of_object(c, &at);
  return ticks;
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
                             const tg_Function *f) {
  uint64_t ticks = 0;
  if (e->kind == TG_EV_CALL && (e->flags & TG_EVF_SITE))
    ticks += c->ticks[TG_COST_SITE];
  if (e->kind == TG_EV_CALL && f != NULL)
    ticks += of_function(c, f);
  if (e->values.data != NULL && e->kind != TG_EV_MARK)
    ticks += of_values(c, e->values);
  return ticks;
}

/* A file may have any numbers: a sum is cut to what a gap can be. */
static uint32_t cut (uint64_t ticks) {
  return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

/* All that is beyond its kind is work of the hook's. */
tg_Price tg_costs_of (const tg_Costs *c, const tg_Event *e,
                      const tg_Function *f) {
  bool c_function = f != NULL && f->is_c;
  uint64_t beyond = beyond_kind(c, e, f);
  uint64_t work = work_of_kind(c, e, c_function);
  return (tg_Price){cut(of_kind(c, e, c_function) + beyond),
                    work > 0 ? cut(work + beyond) : 0};
}
