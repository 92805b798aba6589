/*
** hooks.c - see hooks.h.
*/
#include "host/hooks.h"

/* The tracer first, whose hook it mostly is. */
tg_HookLevel tg_hooks_level (const tg_Host *h, lua_Hook hook) {
  int level = (h != NULL) ? TG_HOOK_LEVELS - 1 : TG_HOOK_PROGRAM;
  while (level > TG_HOOK_PROGRAM
         && (h->layers[level] == NULL || h->layers[level]->hook != hook))
    level--;
  return (tg_HookLevel)level;
}

static tg_UserHook read_hook (lua_State *L) {
  lua_Hook hook = lua_gethook(L);
  if (hook == NULL)
    return (tg_UserHook){NULL, 0, 0};
  return (tg_UserHook){hook, lua_gethookmask(L), lua_gethookcount(L)};
}

static tg_UserHook below (const tg_Host *h, lua_State *L, tg_HookLevel level) {
  const tg_HookLayer *layer = h->layers[level];
  return (layer->below != NULL) ? layer->below(h, L)
                                : (tg_UserHook){NULL, 0, 0};
}

/* A handler may come at any moment, but only ever puts the interrupt's hook
   there. If that is not there after all has been read, what was read belongs
   together; if it is, what is below is kept where no handler changes it
   again. */
static tg_UserHook read_settled (const tg_Host *h, lua_State *L) {
  tg_UserHook user = read_hook(L);
  atomic_signal_fence(memory_order_seq_cst);
  if (h != NULL && tg_hooks_has(h, L, TG_HOOK_INTERRUPT))
    user = below(h, L, TG_HOOK_INTERRUPT);
  return user;
}

tg_UserHook tg_hooks_at (const tg_Host *h, lua_State *L, tg_HookLevel level) {
  tg_UserHook user = read_settled(h, L);
  tg_HookLevel whose = tg_hooks_level(h, user.hook);
  while (user.hook != NULL && whose > level) {
    user = below(h, L, whose);
    tg_assert(user.hook == NULL || tg_hooks_level(h, user.hook) < whose);
    whose = tg_hooks_level(h, user.hook);
  }
  return user;
}

unsigned tg_hooks_there (const tg_Host *h, lua_State *L) {
  unsigned set = 0;
  tg_HookLevel level = TG_HOOK_LEVELS;
  while (h != NULL && level > TG_HOOK_PROGRAM) {
    level = tg_hooks_level(h, tg_hooks_at(h, L, level - 1).hook);
    set |= 1u << level;
  }
  return set;
}

/* The lowest first: who is above another one finds that there. */
void tg_hooks_cover (tg_Host *h, tg_HookLevel level, lua_State *L1,
                     lua_State *L, unsigned were) {
  for (int i = (int)level + 1; h != NULL && i < TG_HOOK_LEVELS; i++) {
    const tg_HookLayer *layer = h->layers[i];
    bool had = (were & 1u << i) != 0;
    if (layer != NULL && layer->cover != NULL
        && (had || level == TG_HOOK_PROGRAM))
      layer->cover(h, L1, L, had);
  }
}
