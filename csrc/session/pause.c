/*
** pause.c - the hook goes away for a while. Called by whoever surrounds a
** program and traces it (tracegrip.busted), through the Trace; on the thread
** that runs the state. Cannot fail: without memory the hook stays away, which
** is how a trace without memory goes on anyway.
**
** Lua has no mask for functions: a hook is called for all or for none
** (lua_sethook). Other coroutines keep theirs, since they do not run.
*/
#include "session/pause.h"
#include "chain/arm.h"
#include "chain/resumechain.h"

/* How many of its frames, counted from the bottom, are up to the last one that
   is visible. */
static uint32_t visible_end (const tg_Coroutine *t) {
  uint32_t n = t->n;
  while (n > 0 && (t->frames[n - 1].what & TG_FR_HIDDEN))
    n--;
  return n;
}

/* Only for a session's single trace, since others may want the events. The
   hidden frames on top are forgotten, the caller's among them: they return
   while nobody looks, and the interpreter gives their CallInfo to other calls.
   The visible frames below stand until the program, which goes on there, is
   seen again. */
bool tg_pause_begin (lua_State *L, const tg_Trace *trace) {
  tg_Session *s = trace->session;
  if (s == NULL || s->traces != trace || trace->next != NULL)
    return false;
  tg_Coroutine *t = s->current;
  if (t == NULL || t->L != L || !tg_arm_has(s, L))
    return false;
  tg_assert(t->running && t->session == s);
  tg_resumechain_miss(t, visible_end(t));
  t->floor = NULL;
  tg_arm_lift(t);
  return true;
}

/* The coroutine's record is still there, and knows the program's own hook. */
void tg_pause_end (lua_State *L, const tg_Trace *trace) {
  tg_Session *s = trace->session;
  if (s != NULL && tg_session_traces(s))
    tg_arm_coroutine(s, L, L);
}
