/*
** probe_collector.c - that a state says what its collector does where
** collector.h reads it: the state is made to collect, in both modes. Called by
** proof.c, after the other probes.
*/
#include "direct/collector.h"
#include "direct/probe.h"

#define COLOURS 0x18u   /* two bits, of which one is set (WHITEBITS of lgc.h) */

/* The second and third argument are 5.4's alone; 5.5 passes over them. */
static void in_generations (lua_State *L) {
  lua_gc(L, LUA_GCGEN, 0, 0);
}

static void step_by_step (lua_State *L) {
  lua_gc(L, LUA_GCINC, 0, 0, 0);
}

static bool is_colour (uint8_t c) {
  return c == 0x08 || c == 0x10;
}

/* The three bytes, at rest after a cycle of one mode or the other. */
static bool rests (const uint8_t *at, uint8_t state, bool generations) {
  tg_Collector c = tg_collector_read(at);
  return is_colour(c.colour) && c.state == state
         && c.mode == (generations ? 1 : 0);
}

/* Each cycle changes the colour. */
static bool holds (lua_State *L, const uint8_t *at) {
  for (int i = 0; i < 3; i++) {
    uint8_t before = *at;
    lua_gc(L, LUA_GCCOLLECT);
    if (!rests(at, TG_COLLECTOR_RESTS, false) || (*at ^ before) != COLOURS)
      return false;
  }
  in_generations(L);
  bool young = rests(at, TG_COLLECTOR_MARKS, true);
  step_by_step(L);
  lua_gc(L, LUA_GCCOLLECT);
  return young && rests(at, TG_COLLECTOR_RESTS, false);
}

/* Blocks are freed in steps, and in no others' time. */
static bool tells_steps (tg_Probe *p, const uint8_t *step) {
  bool rested = *step == 0;
  for (int i = 0; i < 8; i++)
    lua_newtable(p->L);
  lua_pop(p->L, 8);
  p->watched = step;
  lua_gc(p->L, LUA_GCCOLLECT);
  p->watched = NULL;
  return rested && *step == 0 && p->freed[1] >= 8 && p->freed[0] == 0;
}

void tg_probe_collector (tg_Probe *p) {
  const uint8_t *at = tg_collector_at(p->L);
  const uint8_t *step
      = (const uint8_t *)tg_direct_shared(p->L) + tg_direct_facts.step;
  if (!tg_probe_inside(p, at, sizeof(tg_Collector)) || !holds(p->L, at))
    tg_direct_facts.collector = 0;
  if (tg_direct_facts.step != 0
      && !(tg_probe_inside(p, step, 1) && tells_steps(p, step)))
    tg_direct_facts.step = 0;
}
