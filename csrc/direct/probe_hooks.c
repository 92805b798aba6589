/*
** probe_hooks.c - that a coroutine has its hook where hookfield.h writes it:
** several are set, and read there. Called by proof.c as the other probes are,
** and last.
**
** Then it is tried: a C function writes the fields while it runs, and its own
** return must be the first event that comes. That is what a waiting function is
** caught by. With counts of instructions, the first event must be the next one
** of its caller.
*/
#include <string.h>

#include "direct/hookfield.h"
#include "direct/probe.h"

/* ---- the fields ---- */

static void hook_one (lua_State *L, lua_Debug *ar) {
  (void)L, (void)ar;
}

static void hook_other (lua_State *L, lua_Debug *ar) {
  (void)L, (void)ar;
}

static bool has_hook (const lua_State *L, lua_Hook hook, int mask) {
  return tg_read64(L, tg_direct_facts.hook) == (uint64_t)(uintptr_t)hook
         && tg_read32(L, tg_direct_facts.hook_mask) == (uint32_t)mask;
}

/* Masks of all kinds; without a hook there is none. */
static bool fields_hold (lua_State *L) {
  static const int masks[] = {
    LUA_MASKCALL, LUA_MASKRET, LUA_MASKLINE, LUA_MASKCALL | LUA_MASKRET,
    LUA_MASKRET | LUA_MASKLINE, 0
  };
  bool hold = true;
  for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
    lua_Hook hook = (masks[i] == 0) ? NULL : i % 2 ? hook_one : hook_other;
    lua_sethook(L, hook, masks[i], 0);
    hold = hold && has_hook(L, hook, masks[i]);
  }
  return hold;
}

/* Two integers, one after the other: lua_sethook sets both to the same. */
static bool counts_hold (lua_State *L) {
  static const int counts[] = {1000003, 77, 1 << 20, 5};
  const uint8_t *at = (const uint8_t *)L + tg_direct_facts.hook_counts;
  bool hold = true;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    lua_sethook(L, hook_one, LUA_MASKCOUNT, counts[i]);
    hold = hold && tg_read32(at, 0) == (uint32_t)counts[i]
           && tg_read32(at, 4) == (uint32_t)counts[i];
  }
  lua_sethook(L, NULL, 0, 0);
  return hold;
}

/* ---- a trial ---- */

static int wait_once (lua_State *L);

/* The first event: the return of the function that has set it. */
static void on_event (lua_State *L, lua_Debug *ar) {
  tg_Probe *p = tg_probe_of(L);
  lua_getinfo(L, "f", ar);
  p->caught = ar->event == LUA_HOOKRET
              && lua_tocfunction(L, -1) == wait_once;
  if (!tg_hookfield_runs(L))
    tg_direct_facts.allows = 0;
  lua_pop(L, 1);
  lua_sethook(L, NULL, 0, 0);
}

static int wait_once (lua_State *L) {
  if (tg_hookfield_runs(L))
    tg_direct_facts.allows = 0;
  tg_hookfield_set(L, on_event, LUA_MASKCALL | LUA_MASKRET);
  return 0;
}

/* ---- the same with counts ---- */

/* The first instruction after the function that has set it. */
static void on_count (lua_State *L, lua_Debug *ar) {
  tg_Probe *p = tg_probe_of(L);
  p->caught = ar->event == LUA_HOOKCOUNT;
  tg_hookfield_put(L, NULL, 0, 0);
}

/* A frame's words, but for the one that is to be its trap. */
static bool alike_but_trap (const void *frame, const uint8_t *before) {
  return memcmp(frame, before, TG_AT_FRAME_TRAP) == 0
         && memcmp((const uint8_t *)frame + TG_AT_FRAME_TRAP + 4,
                   before + TG_AT_FRAME_TRAP + 4,
                   TG_SIZE_FRAME - TG_AT_FRAME_TRAP - 4) == 0;
}

/* Its caller's frame has changed by a hook of Lua's own as one of ours would
   change it. */
static int find_trap (lua_State *L) {
  tg_Probe *p = tg_probe_of(L);
  const void *frame = tg_frame_caller(tg_direct_running(L));
  uint8_t before[TG_SIZE_FRAME];
  if (!tg_probe_inside(p, frame, TG_SIZE_FRAME))
    return 0;
  memcpy(before, frame, TG_SIZE_FRAME);
  lua_sethook(L, hook_one, LUA_MASKCOUNT, 1000);
  p->caught = tg_read32(before, TG_AT_FRAME_TRAP) == 0
              && tg_read32(frame, TG_AT_FRAME_TRAP) == 1
              && alike_but_trap(frame, before);
  lua_sethook(L, NULL, 0, 0);
  return 0;
}

static int count_once (lua_State *L) {
  tg_hookfield_put(L, on_count, LUA_MASKCOUNT, 1);
  tg_hookfield_trap(tg_frame_caller(tg_direct_running(L)));
  return 0;
}

/* Called by Lua, as functions that wait are. */
static bool try (tg_Probe *p, lua_State *L, lua_CFunction function) {
  p->caught = false;
  if (luaL_loadstring(L, "local f = ... f() return 1") != LUA_OK)
    return false;
  lua_pushcfunction(L, function);
  lua_call(L, 1, 0);
  return p->caught && lua_gethook(L) == NULL && lua_gethookmask(L) == 0
         && lua_gethookcount(L) == 0;
}

/* Counts need the other two fields. */
void tg_probe_hooks (tg_Probe *p) {
  lua_State *L = lua_newthread(p->L);
  bool hooks = tg_probe_inside(p, L, tg_direct_facts.state) && fields_hold(L)
               && try(p, L, wait_once);
  bool counts = hooks && counts_hold(L) && try(p, L, find_trap)
                && try(p, L, count_once);
  if (!hooks)
    tg_direct_facts.hook = tg_direct_facts.hook_mask = tg_direct_facts.allows
        = 0;
  if (!counts)
    tg_direct_facts.hook_counts = 0;
}
