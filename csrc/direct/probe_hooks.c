/*
** probe_hooks.c - where a coroutine has its hook: found by setting several, and
** looking at what has changed in its memory. Called by proof.c as the other
** probes are, and last.
**
** Found, and not written down, since releases of 5.4 differ. Then it is tried:
** a C function writes the fields while it runs, and its own return must be the
** first event that comes. That is what a waiting function is caught by. With
** counts of instructions, the first event must be the next one of its caller.
*/
#include "direct/hookfield.h"
#include "direct/probe.h"

#define SPAN 256        /* bytes of a lua_State that are looked at */
#define WORDS (SPAN / 8)
#define HALVES (SPAN / 4)

/* ---- the fields ---- */

static void hook_one (lua_State *L, lua_Debug *ar) {
  (void)L, (void)ar;
}

static void hook_other (lua_State *L, lua_Debug *ar) {
  (void)L, (void)ar;
}

/* Which of those that are left still say the same. */
static uint64_t hooks_like (const lua_State *L, uint64_t left, lua_Hook hook) {
  for (size_t i = 0; i < WORDS; i++) {
    if (tg_read64(L, 8 * i) != (uint64_t)(uintptr_t)hook)
      left &= ~(UINT64_C(1) << i);
  }
  return left;
}

static uint64_t masks_like (const lua_State *L, uint64_t left, int mask) {
  for (size_t i = 0; i < HALVES; i++) {
    if (tg_read32(L, 4 * i) != (uint32_t)mask)
      left &= ~(UINT64_C(1) << i);
  }
  return left;
}

/* Of two integers, one after the other: lua_sethook sets both to the same. */
static uint64_t counts_like (const lua_State *L, uint64_t left, int count) {
  for (size_t i = 0; i < HALVES; i++) {
    if (i + 1 == HALVES || tg_read32(L, 4 * i) != (uint32_t)count
        || tg_read32(L, 4 * i + 4) != (uint32_t)count)
      left &= ~(UINT64_C(1) << i);
  }
  return left;
}

/* The place of the only bit; 0 if there are none or several. The first bytes
   are the object's own, so 0 is no place. */
static uint16_t only (uint64_t left, size_t size) {
  if (left == 0 || (left & (left - 1)) != 0)
    return 0;
  return (uint16_t)((size_t)__builtin_ctzll(left) * size);
}

/* Masks of all kinds; without a hook there is none. */
static void find_fields (lua_State *L) {
  static const int masks[] = {
    LUA_MASKCALL, LUA_MASKRET, LUA_MASKLINE, LUA_MASKCALL | LUA_MASKRET,
    LUA_MASKRET | LUA_MASKLINE, 0
  };
  uint64_t hooks = UINT64_MAX >> (64 - WORDS), events = UINT64_MAX;
  for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
    lua_Hook hook = (masks[i] == 0) ? NULL : i % 2 ? hook_one : hook_other;
    lua_sethook(L, hook, masks[i], 0);
    hooks = hooks_like(L, hooks, hook);
    events = masks_like(L, events, masks[i]);
  }
  tg_direct_facts.hook = only(hooks, 8);
  tg_direct_facts.hook_mask = only(events, 4);
}

static void find_counts (lua_State *L) {
  static const int counts[] = {1000003, 77, 1 << 20, 5};
  uint64_t left = UINT64_MAX;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    lua_sethook(L, hook_one, LUA_MASKCOUNT, counts[i]);
    left = counts_like(L, left, counts[i]);
  }
  lua_sethook(L, NULL, 0, 0);
  tg_direct_facts.hook_counts = only(left, 4);
}

/* ---- a trial ---- */

static int wait_once (lua_State *L);

/* The first event: the return of the function that has set it. */
static void on_event (lua_State *L, lua_Debug *ar) {
  tg_Probe *p = tg_probe_of(L);
  lua_getinfo(L, "f", ar);
  p->caught = ar->event == LUA_HOOKRET
              && lua_tocfunction(L, -1) == wait_once;
  lua_pop(L, 1);
  lua_sethook(L, NULL, 0, 0);
}

static int wait_once (lua_State *L) {
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

void tg_probe_hooks (tg_Probe *p) {
  lua_State *L = lua_newthread(p->L);
  tg_direct_facts.hook = tg_direct_facts.hook_mask = 0;
  tg_direct_facts.hook_counts = 0;
  if (!tg_probe_inside(p, L, SPAN))
    return;
  find_fields(L);
  if (tg_direct_facts.hook == 0 || tg_direct_facts.hook_mask == 0
      || !try(p, L, wait_once)) {
    tg_direct_facts.hook = tg_direct_facts.hook_mask = 0;
    return;
  }
  find_counts(L);
  if (tg_direct_facts.hook_counts == 0 || !try(p, L, find_trap)
      || !try(p, L, count_once))
    tg_direct_facts.hook_counts = 0;
}
