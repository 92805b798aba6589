/*
** probe_collector.c - where a state says what its collector does (collector.h):
** found by having it collect, in both of its modes, and looking at what changes
** in what its coroutines share. Called by proof.c, after the other probes.
*/
#include <string.h>

#include "direct/collector.h"
#include "direct/probe.h"

#define SPAN 640        /* bytes that are looked at */
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

/* Which places are left for the three bytes, after each trial fewer. */
static void keep (bool *left, const uint8_t *now, const uint8_t *before,
                  uint8_t state, uint8_t mode) {
  for (size_t i = 0; i + 2 < SPAN; i++)
    left[i] = left[i] && is_colour(now[i])
              && (before == NULL || (now[i] ^ before[i]) == COLOURS)
              && now[i + 1] == state && now[i + 2] == mode;
}

/* 0: none, or several. */
static uint16_t only (const bool *left) {
  uint16_t found = 0;
  for (uint16_t i = 1; i + 2 < SPAN; i++) {
    if (left[i] && found != 0)
      return 0;
    if (left[i])
      found = i;
  }
  return found;
}

static void find (lua_State *L, const uint8_t *shared, bool *left) {
  uint8_t before[SPAN];
  for (int i = 0; i < 3; i++) {
    lua_gc(L, LUA_GCCOLLECT);
    keep(left, shared, i > 0 ? before : NULL, TG_COLLECTOR_RESTS, 0);
    memcpy(before, shared, SPAN);
  }
  in_generations(L);
  keep(left, shared, NULL, TG_COLLECTOR_MARKS, 1);
  step_by_step(L);
  lua_gc(L, LUA_GCCOLLECT);
  keep(left, shared, NULL, TG_COLLECTOR_RESTS, 0);
}

void tg_probe_collector (tg_Probe *p) {
  const uint8_t *shared = tg_direct_shared(p->L);
  bool left[SPAN];
  memset(left, true, sizeof left);
  tg_direct_facts.collector = 0;
  if (!tg_probe_inside(p, shared, SPAN))
    return;
  find(p->L, shared, left);
  tg_direct_facts.collector = only(left);
}
