/*
** probe_objects.c - that a state has the list of its objects where objects.h
** reads it: an object that is made is the first one then, and leads to the one
** before. Called by proof.c, after the other probes.
*/
#include "direct/objects.h"
#include "direct/probe.h"

static bool leads_to (lua_State *L, const void *object, const void *before) {
  return tg_objects_first(L) == object && tg_objects_next(object) == before;
}

/* One that was just made has one of the two. */
static bool has_colour (const void *fresh) {
  unsigned white = tg_read8(fresh, TG_AT_OBJECT_MARKED) & TG_OBJECT_WHITES;
  return white != 0 && (white & (white - 1)) == 0;
}

/* A table, another and a coroutine. */
static bool holds (lua_State *L) {
  const void *none = tg_objects_first(L);
  lua_newtable(L);
  const void *first = lua_topointer(L, -1);
  if (!leads_to(L, first, none))
    return false;
  lua_newtable(L);
  const void *second = lua_topointer(L, -1);
  if (!leads_to(L, second, first))
    return false;
  const lua_State *co = lua_newthread(L);
  return leads_to(L, co, second) && tg_objects_coroutine(co) == co
         && tg_objects_coroutine(first) == NULL && has_colour(first)
         && has_colour(co);
}

void tg_probe_objects (tg_Probe *p) {
  const uint8_t *list = (const uint8_t *)tg_direct_shared(p->L)
                        + tg_direct_facts.objects;
  if (!tg_probe_inside(p, list, sizeof(void *)) || !holds(p->L))
    tg_direct_facts.objects = 0;
}
