/*
** userhook.c - see userhook.h: what stands in for debug.sethook and gethook
** while a hook of ours is there or may come, so that the program has the hook
** that it set, and sees no other.
**
** Called by the program, as functions of its own that may raise; entered and
** left when tracing begins and ends. The real functions are called for all that
** is theirs: checks, the table of hook functions, messages.
*/
#include "host/userhook.h"
#include "host/builtins.h"
#include "host/ownfunctions.h"
#include "host/running.h"

#include <lualib.h>

/* The coroutine that is spoken of, as getthread in ldblib.c. */
static lua_State *subject (lua_State *L) {
  return lua_isthread(L, 1) ? lua_tothread(L, 1) : L;
}

/* A signal in the midst of it has read a hook that was half set, and put ours
   there (running.h). It is not held off, since the real one may raise; but not
   a second time, and with the same arguments. */
static int set (lua_State *L, const tg_Host *h, lua_State *L1) {
  int top = lua_gettop(L);
  int n = tg_real_sethook(L);
  if (h == NULL || !tg_hooks_has(h, L1, TG_HOOK_INTERRUPT))
    return n;
  lua_settop(L, top);
  tg_running_hold(h);
  n = tg_real_sethook(L);
  tg_running_let(h);
  return n;
}

/* The real one takes our hooks away; what it has set is then found on the
   coroutine, and ours are put above it. */
static int standin_sethook (lua_State *L) {
  lua_State *L1 = subject(L);
  tg_Host *h = tg_host_find(L);
  unsigned were = tg_hooks_there(h, L1);
  int n = set(L, h, L1);
  tg_hooks_cover(h, TG_HOOK_PROGRAM, L1, L, were);
  if (h != NULL)
    tg_running_show(h, L1);
  return n;
}

/* The hook function that debug.sethook keeps for 'L1': hooktable[L1] (HOOKKEY
   of ldblib.c, which has had this string for a key since 5.4.0). */
static void push_hook_function (lua_State *L, lua_State *L1) {
  TG_STACK_GUARD(L);
  if (lua_getfield(L, LUA_REGISTRYINDEX, "_HOOKKEY") != LUA_TTABLE)
    return;                             /* nil will do */
  lua_pushthread(L1);
  if (L1 != L)
    lua_xmove(L1, L, 1);
  lua_rawget(L, -2);
  lua_remove(L, -2);
  TG_STACK_LEFT(L, 1);
}

/* By the table that is there since the program has set its first hook: nothing
   is made for it. */
bool tg_userhook_calls (lua_State *L1) {
  if (!lua_checkstack(L1, 3))
    return true;
  push_hook_function(L1, L1);
  bool calls = lua_isfunction(L1, -1);
  lua_pop(L1, 1);
  return calls;
}

/* As unmakemask in ldblib.c has it. */
static void push_mask (lua_State *L, int mask) {
  char text[4];
  int n = 0;
  if (mask & LUA_MASKCALL)
    text[n++] = 'c';
  if (mask & LUA_MASKRET)
    text[n++] = 'r';
  if (mask & LUA_MASKLINE)
    text[n++] = 'l';
  lua_pushlstring(L, text, (size_t)n);
}

/* As db_gethook. A program that keeps what it is told and sets that again must
   not be given a hook of ours, which is no function. What it has set is told by
   whoever has kept it: to lift our hook for a moment would start the count of a
   count hook anew. */
static int standin_gethook (lua_State *L) {
  lua_State *L1 = subject(L);
  tg_UserHook user = tg_hooks_at(tg_host_find(L), L1, TG_HOOK_PROGRAM);
  if (user.hook == NULL) {
    luaL_pushfail(L);
    return 1;
  }
  luaL_checkstack(L, 4, NULL);
  luaL_checkstack(L1, 1, NULL);
  if (user.hook == tg_lua_hook)
    push_hook_function(L, L1);
  else
    lua_pushliteral(L, "external hook");
  push_mask(L, user.mask);
  lua_pushinteger(L, user.count);
  return 3;
}

/* Wherever the library's functions are found by their name; one that the
   program keeps in a variable is the real one still, and what it sets replaces
   ours. */
static int enter (lua_State *L) {
  lx_replace(L, LUA_DBLIBNAME, "sethook", tg_real_sethook, standin_sethook);
  lx_replace(L, LUA_DBLIBNAME, "gethook", tg_real_gethook, standin_gethook);
  return 0;
}

static int leave (lua_State *L) {
  lx_replace(L, LUA_DBLIBNAME, "sethook", standin_sethook, tg_real_sethook);
  lx_replace(L, LUA_DBLIBNAME, "gethook", standin_gethook, tg_real_gethook);
  return 0;
}

void tg_userhook_enter (tg_Host *h, lua_State *L) {
  if (h->hookers++ > 0)
    return;
  tg_ownfunctions_except(standin_sethook);
  tg_ownfunctions_except(standin_gethook);
  lx_quietly_due(L, enter, NULL);
}

void tg_userhook_leave (tg_Host *h, lua_State *L) {
  tg_assert(h->hookers > 0);
  if (--h->hookers == 0)
    lx_quietly_due(L, leave, NULL);
}

void tg_userhook_call (lua_Hook hook, int mask, lua_State *L, lua_Debug *ar) {
  if (ar->event != LUA_HOOKLINE)
    ar->currentline = -1;       /* our lua_getinfo may have filled it */
  if (mask & lx_event_mask(ar->event))
    hook(L, ar);
}
