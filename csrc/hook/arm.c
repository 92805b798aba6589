/*
** arm.c - which coroutines have the tracer's hook. Called when tracing begins
** and ends, when the program sets a hook of its own, and in the hook when a
** coroutine appears that has none; on the traced thread. Without memory a
** coroutine stays without the hook.
*/
#include "hook/arm.h"
#include "hook/resumechain.h"

#define OURS (LUA_MASKCALL | LUA_MASKRET)

/* For the events that we and the program's hook need. */
static void install (const tg_Coroutine *t) {
  lua_sethook(t->L, t->session->hook, OURS | t->user_mask, t->user_count);
}

/* As if ours had never been there. */
void tg_arm_lift (const tg_Coroutine *t) {
  lua_sethook(t->L, t->user_hook, t->user_mask, t->user_count);
}

/* What the program has on a coroutine. A new coroutine inherits its maker's
   hook (lua_newthread): one made in the moment in which a signal had armed its
   maker (running.h) has the hook 'summon', which the program knows nothing
   of. */
static void read_user_hook (tg_Coroutine *t) {
  t->quick = 0;
  t->user_hook = lua_gethook(t->L);
  if (t->user_hook == t->session->summon)
    t->user_hook = NULL;
  t->user_mask = (t->user_hook != NULL) ? lua_gethookmask(t->L) : 0;
  t->user_count = (t->user_hook != NULL) ? lua_gethookcount(t->L) : 0;
}

/* The program's hook is read before ours takes its place, and once only: with
   ours there it would be ours that is read. */
tg_Coroutine *tg_arm_coroutine (tg_Session *s, lua_State *L1, lua_State *L) {
  tg_Coroutine *t = tg_coroutines_find(&s->threads, L1);
  if (t == NULL && (t = tg_resumechain_adopt(s, L1, L)) == NULL)
    return NULL;
  tg_assert(t->session == s && t->L == L1);
  if (tg_arm_has(s, L1))
    return t;
  read_user_hook(t);
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
  release_one(s->main, s);
}
