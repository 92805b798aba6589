/*
** mask.c - see mask.h. Called by watch.c, in its hook and at safe points.
*/
#include "inspect/mask.h"

#include <limits.h>

#include "chain/arm.h"
#include "direct/objects.h"
#include "host/running.h"
#include "host/userhook.h"

/* A coroutine's hook, ours or one below it, under those of a tracer and of a
   signal handler. */
static tg_UserHook hook_of (const tg_Inspector *i, lua_State *L) {
  return tg_hooks_at(i->part.host, L, TG_HOOK_DEBUGGER);
}

static bool is_ours (const tg_Inspector *i, tg_UserHook hook) {
  return tg_hooks_level(i->part.host, hook.hook) == TG_HOOK_DEBUGGER;
}

int tg_mask_of (const tg_Inspector *i, lua_State *L) {
  if (tg_likely(tg_hooks_has(i->part.host, L, TG_HOOK_DEBUGGER)))
    return lua_gethookmask(L);
  tg_UserHook now = hook_of(i, L);
  return is_ours(i, now) ? now.mask : 0;
}

/* But for a hook that it has only inherited, and that calls nothing; and that
   of an evaluation which has left it behind. */
bool tg_mask_is_taken (const tg_Inspector *i, lua_State *L) {
  tg_UserHook now = hook_of(i, L);
  if (now.hook == NULL || is_ours(i, now)
      || tg_hooks_level(i->part.host, now.hook) == TG_HOOK_EVALUATION)
    return false;
  return now.hook != tg_lua_hook || tg_userhook_calls(L);
}

/* Lua keeps the count of a hook that counts nothing, and has no use for it
   (lua_sethook): ours is the epoch of the breakpoints for which the mask was
   worked out. A coroutine is suspended with it, and a new one inherits it with
   the hook (lua_newthread). Never 1, which is the count of a step. */
static int epoch_count (const tg_Inspector *i) {
  return 2 + (int)(i->breakpoints.epoch % (INT_MAX - 2));
}

static lua_Hook ours (const tg_Inspector *i) {
  return i->part.host->layers[TG_HOOK_DEBUGGER]->hook;
}

/* A tracer's hook is put above it again, and calls it from then on. Held off
   meanwhile is a signal, whose handler puts a hook above ours. */
void tg_mask_set (const tg_Inspector *i, lua_State *L, int mask) {
  tg_Host *h = i->part.host;
  if (mask == tg_mask_of(i, L) || tg_mask_is_taken(i, L))
    return;
  unsigned were = tg_hooks_there(h, L);
  tg_running_hold(h);
  lua_sethook(L, (mask != 0) ? ours(i) : NULL, mask,
              (mask & LUA_MASKCOUNT) ? 1 : epoch_count(i));
  tg_running_let(h);
  tg_hooks_cover(h, TG_HOOK_DEBUGGER, L, L, were);
}

bool tg_mask_is_stale (const tg_Inspector *i, lua_State *co) {
  if (tg_likely(tg_hooks_has(i->part.host, co, TG_HOOK_DEBUGGER)))
    return lua_gethookcount(co) != epoch_count(i);
  tg_UserHook now = hook_of(i, co);
  return !is_ours(i, now) || now.count != epoch_count(i);
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
  lua_Hook now = lua_gethook(co);
  if (now == NULL || now == ours(i))
    lua_sethook(co, ours(i), mask, epoch_count(i));
}

void tg_mask_set_all (const tg_Inspector *i, const lua_State *L, int mask) {
  const tg_Host *h = i->part.host;
  if (!i->direct || !tg_objects_known() || i->session->hooked)
    return;
  tg_running_hold(h);
  for (const void *o = tg_objects_first(L); o != NULL;
       o = tg_objects_next(o)) {
    lua_State *co = tg_objects_coroutine(o);
    if (co != NULL && !tg_debuggee_owns(i, co))
      set_suspended(i, co, mask);
  }
  tg_running_let(h);
}
