/*
** mask.c - see mask.h. Called by watch.c, in its hook and at safe points.
*/
#include "inspect/mask.h"

#include <limits.h>

#include "chain/arm.h"
#include "direct/objects.h"
#include "inspect/evaluation.h"
#include "reach/running.h"
#include "reach/userhook.h"

/* The tracer's record of a coroutine, where a trace runs and has its hook
   there: then the program's own, which ours is one of, is in that. While
   tracing begins or ends some coroutines have it and some have not, so each is
   asked. */
static const tg_Coroutine *traced (const tg_Inspector *i, lua_State *L) {
  const tg_Session *s = i->session;
  bool has = s->hook != NULL && tg_arm_has(s, L);
  return has ? tg_coroutines_find(&i->session->threads, L) : NULL;
}

/* A coroutine's hook, ours or the program's, below those of a tracer and of a
   signal handler. */
static tg_UserHook hook_of (const tg_Inspector *i, lua_State *L) {
  const tg_Coroutine *t = traced(i, L);
  if (t != NULL)
    return (tg_UserHook){t->user_hook, t->user_mask, t->user_count};
  return tg_running_hook(i->session, L);
}

int tg_mask_of (const tg_Inspector *i, lua_State *L) {
  if (tg_likely(lua_gethook(L) == i->session->watch))
    return lua_gethookmask(L);
  tg_UserHook now = hook_of(i, L);
  return (now.hook == i->session->watch) ? now.mask : 0;
}

/* But for a hook that it has only inherited, and that calls nothing. */
bool tg_mask_is_taken (const tg_Inspector *i, lua_State *L) {
  const tg_Session *s = i->session;
  lua_Hook now = hook_of(i, L).hook;
  if (now == NULL || now == s->watch || now == s->interrupt_hook || now == s->hook
      || tg_evaluation_hooks(now))
    return false;
  return now != tg_lua_hook || tg_userhook_calls(L);
}

/* Lua keeps the count of a hook that counts nothing, and has no use for it
   (lua_sethook): ours is the epoch of the breakpoints for which the mask was
   worked out. A coroutine is suspended with it, and a new one inherits it with
   the hook (lua_newthread). Never 1, which is the count of a step. */
static int epoch_count (const tg_Inspector *i) {
  return 2 + (int)(i->breakpoints.epoch % (INT_MAX - 2));
}

/* As the program would set it: a tracer's hook is put above it again, and
   calls it from then on. Held off meanwhile is a signal, whose handler puts a
   hook above ours. */
void tg_mask_set (const tg_Inspector *i, lua_State *L, int mask) {
  tg_Session *s = i->session;
  bool above = traced(i, L) != NULL;
  if (mask == tg_mask_of(i, L) || tg_mask_is_taken(i, L))
    return;
  tg_running_hold(s);
  lua_sethook(L, (mask != 0) ? s->watch : NULL, mask,
              (mask & LUA_MASKCOUNT) ? 1 : epoch_count(i));
  tg_running_let(s);
  if (above)
    tg_arm_coroutine(s, L, (s->current != NULL) ? s->current->L : L);
}

bool tg_mask_is_stale (const tg_Inspector *i, lua_State *co) {
  if (tg_likely(lua_gethook(co) == i->session->watch))
    return lua_gethookcount(co) != epoch_count(i);
  tg_UserHook now = hook_of(i, co);
  return now.hook != i->session->watch || now.count != epoch_count(i);
}

void tg_mask_set_from (const tg_Inspector *i, lua_State *co, lua_State *next,
                       lua_State *L, int mask) {
  for (int n = 0; co != NULL && co != next && n < TG_CHAIN_MAX; n++) {
    tg_mask_set(i, co, mask);
    co = tg_arm_resumed_by(co, L);
  }
}

/* One that has no hook, or ours. Nothing is allocated for it, and so nothing is
   asked about the program's hooks. */
static void set_suspended (const tg_Inspector *i, lua_State *co, int mask) {
  lua_Hook now = lua_gethook(co), ours = i->session->watch;
  if (now == NULL || now == ours)
    lua_sethook(co, ours, mask, epoch_count(i));
}

void tg_mask_set_all (const tg_Inspector *i, const lua_State *L, int mask) {
  const tg_Session *s = i->session;
  if (!i->direct || !tg_objects_known() || s->hooked)
    return;
  tg_running_hold(s);
  for (const void *o = tg_objects_first(L); o != NULL;
       o = tg_objects_next(o)) {
    lua_State *co = tg_objects_coroutine(o);
    if (co != NULL && co != i->work)
      set_suspended(i, co, mask);
  }
  tg_running_let(s);
}
