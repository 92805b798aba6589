/*
** ownframes.c - when a trace is started from Lua, the functions that do it are
** on the stack: their frames are older than the trace, but what they call from
** now on is not the program's.
**
** Called when tracing begins, on the traced thread, before the first event.
** Without memory a frame is left out, and what it calls shows in the trace.
*/
#include "chain/ownframes.h"
#include "chain/errorvalue.h"
#include "chain/unseen.h"
#include "host/ownfunctions.h"

/* Nobody starts a trace from deeper inside of tracegrip than that. */
#define LEVELS 32

/* Whether a frame is our own; 'through': or one between ours, as pcall is. */
static bool is_own (lua_State *L, lua_Debug *ar, bool *through) {
  TG_STACK_GUARD(L);
  lua_getinfo(L, "fS", ar);
  bool own = tg_ownfunctions_function(L, ar);
  *through = own || *ar->what == 'C';
  lua_pop(L, 1);
  TG_STACK_CHECK(L);
  return own;
}

/* No event may be taken for a usual one while such a frame is on top: 'quick'
   (quick.h) is worked out again when it has gone. */
static void push (tg_Coroutine *t, const void *ci) {
  t->frames[t->n++] = (tg_Frame){ci, TG_FR_OWN | TG_FR_HIDDEN, 0};
  t->hidden++;
  t->quick = 0;
}

/* lua_getstack counts from the top, a shadow stack grows from below: so the
   frames are counted first, and pushed the other way round. A coroutine that is
   ours alone is run by a hook, as a debugger's is: what stands below is that
   hook's, and goes without a word. */
void tg_ownframes_push (tg_Session *s, lua_State *L) {
  lua_Debug ar;
  int n = 0;
  bool through = true;
  tg_Coroutine *t = tg_coroutines_find(&s->threads, L);
  for (int i = 0; i < LEVELS && through && lua_getstack(L, i, &ar); i++) {
    if (is_own(L, &ar, &through))
      n = i + 1;
  }
  bool alone = !lua_getstack(L, n, &ar);
  if (t != NULL)
    tg_errorvalue_floor(t, n);
  if (t != NULL && !alone)
    tg_unseen_stand(t, n);
  while (t != NULL && n-- > 0) {
    if (lua_getstack(L, n, &ar) && tg_coroutine_room(t))
      push(t, ar.i_ci);
  }
}
