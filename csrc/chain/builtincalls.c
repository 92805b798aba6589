/*
** builtincalls.c - see builtincalls.h. Called in the hook, at events of those
** few functions of Lua's libraries that decide what runs: which they are is
** told by the address of the C function, whatever name they are called by
** (host/builtins.h). Without memory a coroutine stays without hook or record
** until it is met again.
*/
#include "chain/builtincalls.h"
#include "capture/resumed.h"
#include "chain/arm.h"
#include "chain/resumechain.h"
#include "chain/stash.h"
#include "chain/unseen.h"

/* A coroutine of the program's is seen for the first time. It was made before
   the trace, or it would have inherited the hook (lua_newthread). A record at
   this address that does not run belongs to a coroutine that died. */
void tg_builtincalls_meet (tg_Session *s, lua_State *co, lua_State *L) {
  if (co == NULL || co == L || tg_arm_hears(s, co))
    return;
  tg_Coroutine *old = tg_coroutines_find(&s->threads, co);
  if (old != NULL && !old->running)
    tg_resumechain_forget(s, old, s->writer.last);
  tg_Coroutine *t = tg_arm_coroutine(s, co, L);
  if (t != NULL && !t->running && lua_status(co) == LUA_YIELD)
    tg_unseen_read(t, 0);
}

/* The program has set its hook on 'L1', which may be met here for the first
   time: then the frames that it has are read, as when it is resumed. */
void tg_builtincalls_cover (tg_Host *h, lua_State *L1, lua_State *L,
                            bool had) {
  tg_Session *s = tg_session_of(h);
  if (!s->hooked)
    return;
  tg_session_end_window(s, L);
  if (had || L1 == L)
    tg_arm_coroutine(s, L1, (s->current != NULL) ? s->current->L : L);
  else
    tg_builtincalls_meet(s, L1, L);
}

/* Whether the 'n' arguments of os.exit are in order (loslib.c), so that it will
   exit. */
static bool exits (lua_State *L, int n) {
  int integer;
  if (n == 0 || lua_isnil(L, 1) || lua_isboolean(L, 1))
    return true;
  lua_tointegerx(L, 1, &integer);
  return integer;
}

/* A handler that a host gave to lua_pcall is nobody's argument: it is known by
   its name alone (tg_funcname_handler), whose function is on top of the stack.
   */
static void note_handler (tg_Coroutine *t, lua_State *L) {
  lua_Debug ar;
  if (tg_funcname_handler(L) && lua_getstack(L, 0, &ar)) {
    lua_getinfo(L, "S", &ar);
    tg_stash_handler(t, L, &ar, 0);
  }
}

/* Notes what has to be known before the function does its work. Nothing for
   pcall, whose frame is enough. 'above': so many values on the stack are not
   arguments. */
void tg_builtincalls_call (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                           uint32_t what, int above) {
  tg_Session *s = t->session;
  tg_Role role = tg_role_bits(what);
  tg_assert(tg_coroutine_top(t)->ci == ar->i_ci && above <= 1);
  switch (role) {
    case TG_ROLE_YIELD:
      t->yielding = true;
      break;
    case TG_ROLE_RESUME: case TG_ROLE_CLOSE: case TG_ROLE_WRAPPED:
      tg_builtincalls_meet(s, tg_resumed_by(t, L, ar, role), L);
      break;
    case TG_ROLE_XPCALL:
      tg_coroutine_catch(t, lua_topointer(L, 2));
      break;
    case TG_ROLE_ERROR: case TG_ROLE_ASSERT:
      tg_stash_error(t, L, role, lua_gettop(L) - above);
      break;
    case TG_ROLE_EXIT:
      if (s->phase == TG_PHASE_TRACING && exits(L, lua_gettop(L) - above)) {
        s->phase = TG_PHASE_EXITING;
        tg_session_request_attention(s);
      }
      break;
    case TG_ROLE_HANDLER:
      note_handler(t, L);
      break;
    case TG_ROLE_NONE: case TG_ROLE_PCALL: case TG_ROLE_CREATE:
    case TG_ROLE_WRAP: case TG_ROLE_KEYED:
      break;
  }
}

/* A coroutine just made has our hook by inheritance; it gets its record, so
   that the hook can be taken from it even if it never runs. */
static void note_created (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                          bool wrap) {
  tg_Session *s = t->session;
  lua_State *co;
  TG_STACK_GUARD(L);
  lua_getinfo(L, "r", ar);
  if (ar->ntransfer != 1)
    return;
  lua_pushvalue(L, ar->ftransfer);
  co = wrap ? tg_resumed_wrapped(L, -1) : lua_tothread(L, -1);
  lua_pop(L, 1);
  TG_STACK_CHECK(L);
  if (co == NULL || !tg_arm_has(s, co))
    return;
  tg_Coroutine *old = tg_coroutines_find(&s->threads, co);
  if (old != NULL)
    tg_resumechain_forget(s, old, s->writer.last);
  tg_resumechain_adopt(s, co, L);
}

/* And what is known only by its results. An error that unwinds xpcall's frame
   takes its handler away elsewhere (drop_frames of resumechain.c). */
void tg_builtincalls_return (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                             uint32_t what) {
  tg_Role role = tg_role_bits(what);
  tg_assert(tg_coroutine_top(t)->ci == ar->i_ci);
  if (role == TG_ROLE_CREATE || role == TG_ROLE_WRAP)
    note_created(t, L, ar, role == TG_ROLE_WRAP);
  else if (role == TG_ROLE_XPCALL)
    tg_coroutine_uncatch(t, t->n - 1);
}
