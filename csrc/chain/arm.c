/*
** arm.c - which coroutines have the tracer's hook. Called when tracing begins
** and ends, when the program sets a hook of its own, and in the hook when a
** coroutine appears that has none; on the traced thread. Without memory a
** coroutine stays without the hook.
*/
#include "chain/arm.h"
#include "chain/resumechain.h"
#include "host/builtins.h"

/* For the events that we and the program's hook need. */
static void install (const tg_Coroutine *t) {
  lua_sethook(t->L, t->session->host.layers[TG_HOOK_TRACER]->hook,
              TG_ARM_EVENTS | t->user.mask, t->user.count);
}

/* As if ours had never been there. */
void tg_arm_lift (const tg_Coroutine *t) {
  lua_sethook(t->L, t->user.hook, t->user.mask, t->user.count);
}

/* A coroutine without a record has inherited our hook, and has not run. */
tg_UserHook tg_arm_below (const tg_Host *h, lua_State *L) {
  const tg_Coroutine *t = tg_coroutines_find(&tg_session_of(h)->threads, L);
  return (t != NULL) ? t->user : (tg_UserHook){NULL, 0, 0};
}

/* What is there is read before ours takes its place, and once only. A new
   coroutine inherits its maker's hook (lua_newthread): one made in the moment
   in which a signal had armed its maker (running.h) has that of the interrupt,
   which stays nowhere. */
tg_Coroutine *tg_arm_coroutine (tg_Session *s, lua_State *L1, lua_State *L) {
  tg_Coroutine *t = tg_coroutines_find(&s->threads, L1);
  if (t == NULL && (t = tg_resumechain_adopt(s, L1, L)) == NULL)
    return NULL;
  tg_assert(t->session == s && t->L == L1);
  if (tg_arm_hears(s, L1))
    return t;
  t->quick = 0;
  t->user = tg_hooks_at(&s->host, L1, TG_HOOK_DEBUGGER);
  install(t);
  return t;
}

/* A coroutine without a record has inherited our hook and never run: it gets
   none in its place. */
static void release_one (lua_State *L1, void *ud) {
  tg_Session *s = ud;
  if (!tg_arm_has(s, L1))
    return;             /* somebody else's by now: leave it */
  const tg_Coroutine *t = tg_coroutines_find(&s->threads, L1);
  if (t != NULL)
    tg_arm_lift(t);
  else
    lua_sethook(L1, NULL, 0, 0);
}

/* The list of coroutines is weak and may lack some for want of memory; the one
   that runs and the main one are there for certain. */
void tg_arm_release (tg_Session *s, lua_State *L) {
  tg_coroutines_each(&s->threads, L, release_one, s);
  release_one(L, s);
  release_one(s->host.main, s);
}

/* The first argument of a C function is its first local (lua_getlocal); wrap's
   function has its coroutine as an upvalue (auxwrap in lcorolib.c). */
lua_State *tg_arm_subject (lua_State *M, lua_Debug *ar, tg_Role *role) {
  lua_State *co = NULL;
  if (!lua_checkstack(M, 4))
    return NULL;
  TG_STACK_GUARD(M);
  lua_getinfo(M, "f", ar);
  *role = tg_builtins_role(lua_tocfunction(M, -1));
  bool takes = *role == TG_ROLE_RESUME || *role == TG_ROLE_CLOSE;
  if ((takes && lua_getlocal(M, ar, 1) != NULL)
      || (*role == TG_ROLE_WRAPPED && lua_getupvalue(M, -1, 1) != NULL)) {
    co = lua_tothread(M, -1);
    lua_pop(M, 1);
  }
  lua_pop(M, 1);
  TG_STACK_CHECK(M);
  return co;
}

/* The chain from the main thread to 'L': each holds the next by the resume
   call on top of its stack, or that of close, which runs __close there. There
   is no function for it: lua_Debug tells of frames, not of who runs whom, and
   no field of a lua_State says it. */
lua_State *tg_arm_resumed_by (lua_State *M, lua_State *L) {
  lua_Debug ar;
  tg_Role role;
  if (!lua_getstack(M, 0, &ar))
    return NULL;
  lua_State *next = tg_arm_subject(M, &ar, &role);
  bool runs = next == L || next == NULL || role == TG_ROLE_CLOSE
              || lua_status(next) == LUA_OK;
  return runs ? next : NULL;
}

/* Arms what runs now: 'L' and all that resumed it, outermost first. Records
   are chained from the main coroutine up, as resumes are. One that was resumed
   from C is not found on the way, and joins on top without what is between.
   TG_CHAIN_MAX is a guard against a chain that is read wrongly, not a limit of
   Lua's. False without memory. */
bool tg_arm_chain (tg_Session *s, lua_State *L) {
  lua_State *M = s->host.main;
  for (int i = 0; i < TG_CHAIN_MAX && M != NULL; i++) {
    tg_Coroutine *t = tg_arm_coroutine(s, M, L);
    if (t == NULL)
      return false;
    t->based = true;
    t->running = true;
    t->id = (M == s->host.main) ? 1 : s->threads.next_id++;
    t->resumer = s->current;
    s->current = t;
    tg_assert(t->resumer == NULL || t->resumer->running);
    if (M == L)
      return true;
    M = tg_arm_resumed_by(M, L);
  }
  tg_Coroutine *t = tg_arm_coroutine(s, L, L); /* resumed from C */
  if (t == NULL)
    return false;
  if (!t->running) {
    t->based = t->running = true;
    t->id = s->threads.next_id++;
    t->resumer = s->current;
    s->current = t;
  }
  return true;
}
