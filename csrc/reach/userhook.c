/*
** userhook.c - see userhook.h: what stands in for debug.sethook and gethook
** while a hook of ours is there or may come, so that the program has the hook
** that it set, and sees no other.
**
** Called by the program, as functions of its own that may raise; entered and
** left when tracing begins and ends. The real functions are called for all that
** is theirs: checks, the table of hook functions, messages.
*/
#include "reach/userhook.h"
#include "chain/arm.h"
#include "chain/builtincalls.h"
#include "reach/running.h"
#include "state/builtins.h"
#include "state/ownfunctions.h"

#include <lualib.h>

/* As getthread in ldblib.c. */
lua_State *tg_userhook_subject (lua_State *L) {
  return lua_isthread(L, 1) ? lua_tothread(L, 1) : L;
}

/* A signal in the midst of it has read a hook that was half set, and put ours
   there (running.h). It is not held off, since the real one may raise; but not
   a second time, and with the same arguments. */
int tg_userhook_set (lua_State *L) {
  lua_State *L1 = tg_userhook_subject(L);
  int top = lua_gettop(L);
  int n = tg_real_sethook(L);
  const tg_Session *s = tg_session_find(L);
  if (s == NULL || s->hooked || !tg_running_has(L1))
    return n;
  lua_settop(L, top);
  tg_running_hold(s);
  n = tg_real_sethook(L);
  tg_running_let(s);
  return n;
}

/* The real one takes our hook away; what it has set is then found on the
   coroutine, and ours put above it. A suspended coroutine that is older than
   the trace is met here for the first time: the frames that it has are read, as
   when it is resumed. */
static int standin_sethook (lua_State *L) {
  lua_State *L1 = tg_userhook_subject(L);
  tg_Session *s = tg_session_find(L);
  bool met = L1 == L || (s != NULL && s->hooked && tg_arm_has(s, L1));
  int n = tg_userhook_set(L);
  if (s != NULL && s->hooked && met)
    tg_arm_coroutine(s, L1, L);
  else if (s != NULL && s->hooked)
    tg_builtincalls_meet(s, L1, L);
  if (s != NULL)
    tg_running_show(s, L1);
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

/* Told from the record, where there is one: to lift our hook for a moment would
   start the count of a count hook anew. Else a signal may have set a hook. */
static tg_UserHook hook_below (const tg_Session *s, lua_State *L1) {
  if (s != NULL && s->hooked && tg_arm_has(s, L1)) {
    const tg_Coroutine *t = tg_coroutines_find(&s->threads, L1);
    if (t != NULL)
      return (tg_UserHook){t->user_hook, t->user_mask, t->user_count};
  }
  return tg_running_hook(s, L1);
}

/* A program that keeps what it is told and sets that again must not be given a
   debugger's, which is no function. */
tg_UserHook tg_userhook_of (const tg_Session *s, lua_State *L1) {
  tg_UserHook user = hook_below(s, L1);
  bool debugs = user.hook != NULL && s != NULL && user.hook == s->watch;
  return debugs ? (tg_UserHook){NULL, 0, 0} : user;
}

/* As db_gethook. */
int tg_userhook_tell (lua_State *L, lua_State *L1, tg_UserHook user) {
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

static int standin_gethook (lua_State *L) {
  lua_State *L1 = tg_userhook_subject(L);
  return tg_userhook_tell(L, L1, tg_userhook_of(tg_session_find(L), L1));
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

void tg_userhook_enter (lua_State *L) {
  tg_ownfunctions_except(standin_sethook);
  tg_ownfunctions_except(standin_gethook);
  lx_quietly_due(L, enter, NULL);
}

void tg_userhook_leave (const tg_Session *s, lua_State *L) {
  if (!s->hooked && !tg_running_open(s))
    lx_quietly_due(L, leave, NULL);
}

void tg_userhook_call (lua_Hook hook, int mask, lua_State *L, lua_Debug *ar) {
  if (ar->event != LUA_HOOKLINE)
    ar->currentline = -1;       /* our lua_getinfo may have filled it */
  if (mask & lx_event_mask(ar->event))
    hook(L, ar);
}
