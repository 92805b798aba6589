/*
** callee.c - functions that are not simply the one seen before, and all of them
** where the public API is asked. Called by the hook at a call, when the
** callee's frame stands. Without memory nothing is known of the function.
*/
#include "chain/callee.h"

/* A function that is not the closure 'seen', unless that shares its line. */
static TG_NOINLINE const tg_Closure *meet (tg_Call *c,
                                           const tg_Closure *seen) {
  tg_Session *s = c->t->session;
  if (tg_catalog_is_shape(s, c->L, seen, c->ar))
    return seen;
  const tg_Closure *k = tg_catalog_slow(s, c->L, c->ar);
  tg_session_overhead(s, c->now);
  c->now = tg_clock_ticks();
  return k;
}

/* What the function on top of the stack is; the common case is a closure seen
   before, still of the same definition. The address of a source string is
   compared first, which says yes in most cases; but it may be another string by
   now, so lines and the end of its text are too. Only a source that is a file's
   name is told by that: for chunks from strings the text is compared. */
static const tg_Closure *identify (tg_Call *call) {
  tg_Session *s = call->t->session;
  lua_State *L = call->L;
  lua_Debug *ar = call->ar;
  const void *address = lua_topointer(L, -1);
  const tg_Closure *c = tg_closures_find(&s->known.closures, address);
  if (c->address != address)
    return meet(call, c);
  if (c->what & TG_FR_C) {
    if (tg_likely(*ar->what == 'C'
                  && (c->source == address
                      || c->source == (const void *)(uintptr_t)
                                      lua_tocfunction(L, -1))))
      return c;
  }
  else if (tg_likely(c->source == ar->source
                     && c->line == (uint32_t)ar->linedefined
                     && c->last_line == (uint32_t)ar->lastlinedefined
                     && c->tail == tg_source_tail(ar->source, ar->srclen))) {
    if (tg_likely(*ar->source == '@') || tg_catalog_is(s, c, ar))
      return c;
  }
  return meet(call, c);
}

/* "f" pushes the function, which is left there: several that are called from
   here look at it, and luaD_hook sets the top back in the end. */
void tg_callee_ask (tg_Call *c) {
  TG_STACK_GUARD(c->L);
  lua_getinfo(c->L, "fS", c->ar);
  c->function = lua_topointer(c->L, -1);
  c->callee = identify(c);
  TG_STACK_LEFT(c->L, 1);
}

/* Where memory is read: what the quick comparison was not sure of is held
   against all there is to compare; only a function that is really new is asked
   about. That takes microseconds, which are none of the program's: the event's
   time is taken again. */
tg_Call tg_callee_meet (tg_Call c, tg_Slot f, const tg_Closure *seen) {
  tg_Session *s = c.t->session;
  TG_STACK_GUARD(c.L);
  if (seen->address == tg_slot_key(f) && tg_catalog_is_slot(s, seen, f))
    return c;
  lua_getinfo(c.L, "fS", c.ar);
  c.callee = tg_catalog_slow(s, c.L, c.ar);
  lua_pop(c.L, 1);
  TG_STACK_CHECK(c.L);
  tg_session_overhead(s, c.now);
  c.now = tg_clock_ticks();
  return c;
}

const tg_Closure *tg_callee_seen (const tg_Session *s, tg_Slot f) {
  const void *key = tg_slot_key(f);
  const tg_Closure *k = tg_closures_find(&s->known.closures, key);
  return tg_callee_known(k, f, key)
         || (k->address == key && tg_catalog_is_slot(s, k, f)) ? k : NULL;
}
