/*
** window.c - see window.h. Nothing here allocates or fails.
*/
#include "chain/window.h"

#include "chain/arm.h"
#include "chain/emit.h"
#include "chain/lastrun.h"
#include "direct/hookfield.h"
#include "host/running.h"
#include "host/userhook.h"

/* Those that run keep their hooks, and hear what the program's hook asks
   for. */
void tg_window_open (tg_Session *s, uint64_t now) {
  lua_State *co;
  tg_assert(s->window.state == TG_WINDOW_SHUT);
  for (int i = 0; (co = tg_running_at(&s->host, i)) != NULL; i++) {
    tg_Coroutine *t = tg_coroutines_find(&s->threads, co);
    if (t != NULL && t->running && tg_arm_has(s, co)) {
      tg_hookfield_mask(co, t->user.mask);
      t->muted = true;
    }
  }
  s->window = (tg_Window){.state = TG_WINDOW_OPEN, .used = true, .opened = now};
  tg_lastrun_invalidate();
}

/* Without a look at records, which may be about to change. */
static bool unmute (const tg_Session *s, lua_State *L) {
  int mask = tg_arm_has(s, L) ? lua_gethookmask(L) : TG_ARM_EVENTS;
  if ((mask & TG_ARM_EVENTS) == TG_ARM_EVENTS)
    return false;
  tg_hookfield_mask(L, mask | TG_ARM_EVENTS);
  return true;
}

static bool unmute_all (const tg_Session *s) {
  bool any = false;
  lua_State *co;
  for (int i = 0; (co = tg_running_at(&s->host, i)) != NULL; i++)
    any |= unmute(s, co);
  return any;
}

void tg_window_shut (tg_Session *s, uint64_t now) {
  tg_assert(s->window.state == TG_WINDOW_OPEN);
  s->window.shut = now;
  s->window.told = false;
  s->window.state = TG_WINDOW_BEHIND;
  tg_lastrun_invalidate();
  unmute_all(s);
}

void tg_window_heed (tg_Session *s) {
  if (!s->window.used || !unmute_all(s))
    return;
  if (s->window.state == TG_WINDOW_SHUT) {
    s->window.told = true;
    s->window.state = TG_WINDOW_BEHIND;
  }
  tg_lastrun_invalidate();
}

/* What the program has set on 'L'. A coroutine that has no record yet has
   inherited its maker's. */
static tg_UserHook users (tg_Session *s, lua_State *L, tg_Coroutine **record) {
  tg_Coroutine *t = tg_coroutines_find(&s->threads, L);
  if (t != NULL && L != s->host.main && !tg_coroutine_alive(t, L))
    t = NULL;
  *record = t;
  if (t == NULL)
    t = s->current;
  return t != NULL ? t->user : (tg_UserHook){NULL, 0, 0};
}

static void mute (const tg_Session *s, lua_State *L, int mask) {
  tg_running_hold(&s->host);
  if (tg_arm_has(s, L))
    tg_hookfield_mask(L, mask);
  tg_running_let(&s->host);
}

/* The event is the program's alone. */
static void pass (tg_Session *s, lua_State *L, lua_Debug *ar) {
  tg_Coroutine *t;
  tg_UserHook user = users(s, L, &t);
  if (s->window.state == TG_WINDOW_OPEN) {
    mute(s, L, user.mask);
    if (t != NULL)
      t->muted = true;
  }
  if (user.hook == NULL)
    return;
  s->hooking = true;
  tg_userhook_call(user.hook, user.mask, L, ar);
  s->hooking = false;
}

/* Between two instructions of the program nothing of ours may be called
   (tg_running_mute): the next call or return will do. */
bool tg_window_passes (tg_Session *s, lua_State *L, lua_Debug *ar,
                       uint64_t now) {
  if (s->window.state == TG_WINDOW_OPEN || ar->event == LUA_HOOKLINE
      || ar->event == LUA_HOOKCOUNT) {
    pass(s, L, ar);
    return true;
  }
  s->end_window(s, L, ar->event == LUA_HOOKCALL, now);
  return false;
}

void tg_window_tell (tg_Session *s, uint64_t now) {
  tg_Window *w = &s->window;
  if (w->state == TG_WINDOW_SHUT || w->told)
    return;
  uint64_t end = w->state == TG_WINDOW_OPEN ? now : w->shut;
  double ticks = (double)(end - w->opened);
  w->told = true;
  tg_emit_untraced(s, (uint64_t)(ticks * s->writer.stream->clock.ns_per_tick),
                   now);
}
