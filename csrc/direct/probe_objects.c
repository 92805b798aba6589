/*
** probe_objects.c - where a state has the list of its objects (objects.h):
** found by making some, each of which is the first one then. Called by proof.c,
** after the other probes.
*/
#include <string.h>

#include "direct/objects.h"
#include "direct/probe.h"

#define SPAN 640        /* bytes that are looked at */

/* Which places are left for the list, if that object is the first one. */
static void keep (bool *left, const uint8_t *shared, const void *object) {
  for (size_t i = 0; i < SPAN / sizeof object; i++)
    left[i] = left[i] && tg_read_pointer(shared, i * sizeof object) == object;
}

/* 0: none, or several. */
static uint16_t only (const bool *left) {
  uint16_t found = 0;
  for (uint16_t i = 1; i < SPAN / sizeof(void *); i++) {
    if (left[i] && found != 0)
      return 0;
    if (left[i])
      found = i;
  }
  return (uint16_t)(found * sizeof(void *));
}

/* Two tables and a coroutine; and whether each leads to the one before. */
static bool find (lua_State *L, const uint8_t *shared, bool *left) {
  lua_newtable(L);
  const void *first = lua_topointer(L, -1);
  keep(left, shared, first);
  lua_newtable(L);
  const void *second = lua_topointer(L, -1);
  keep(left, shared, second);
  const lua_State *co = lua_newthread(L);
  keep(left, shared, co);
  return tg_objects_next(co) == second && tg_objects_next(second) == first
         && tg_objects_coroutine(co) == co
         && tg_objects_coroutine(first) == NULL;
}

void tg_probe_objects (tg_Probe *p) {
  const uint8_t *shared = tg_direct_shared(p->L);
  bool left[SPAN / sizeof(void *)];
  memset(left, true, sizeof left);
  tg_direct_facts.objects = 0;
  if (tg_probe_inside(p, shared, SPAN) && find(p->L, shared, left))
    tg_direct_facts.objects = only(left);
}
