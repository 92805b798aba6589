/*
** leaf.c - see leaf.h. In the hook, on the thread that runs the state. Without
** memory the sample stays as the hook sees it.
*/
#include "sample/leaf.h"

#include "direct/push.h"

/* What is known of a Lua function that has just made a tail call, and so has no
   frame any more. It is alive: its frame was given away in this event, and
   nothing has been collected since. NULL without memory. */
static const tg_Closure *find_past (tg_Session *s, lua_State *L, tg_Slot f) {
  const tg_Closure *k;
  if (!lua_checkstack(L, LUA_MINSTACK))
    return NULL;
  TG_STACK_GUARD(L);
  tg_direct_push(L, f);
  k = tg_catalog_past(s, L);
  lua_pop(L, 1);
  TG_STACK_CHECK(L);
  return k;
}

/* The frame that the tick has met is the innermost one still. */
static void mend (tg_WalkedFrame *last, tg_Session *s, lua_State *L,
                  const lua_Debug *ar, const tg_Leaf *leaf) {
  bool same = tg_frame_function(leaf->ci).u.p == leaf->function.u.p;
  if (!same && ar->event == LUA_HOOKTAILCALL && !s->hooked
      && tg_slot_variant(leaf->function) == TG_TAG_LUA) {
    const tg_Closure *k = find_past(s, L, leaf->function);
    same = k != NULL && !(k->what & TG_FR_OWN);
    if (same)
      last->function = k->what & TG_FR_ID;
  }
  if (same)
    last->line = leaf->line;
}

void tg_leaf_mend (tg_StackWalk *w, tg_Session *s, lua_State *L,
                   const lua_Debug *ar, tg_Leaf *leaf,
                   tg_FunctionId collector) {
  tg_WalkedFrame *last = (w->n > 0) ? &w->list[w->n - 1] : NULL;
  bool there = leaf->L == L && last != NULL && last->ci == leaf->ci;
  leaf->L = NULL;
  if (there)
    mend(last, s, L, ar, leaf);
  if (there && leaf->collects && collector != 0
      && tg_stackwalk_reserve(w, w->n + 1))
    w->list[w->n++] = (tg_WalkedFrame){.function = collector};
}
