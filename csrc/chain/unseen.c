/*
** unseen.c - frames go onto a shadow stack whose calls gave no event. Called in
** the hook, on the traced thread; asks the public API, of a coroutine that is
** alive. Without memory for all of them the record is that of a coroutine with
** older frames.
*/
#include "chain/unseen.h"

#define FRAMES_READ 1000    /* of a coroutine older than the trace; each costs
                               its distance from the top */
#define ROOM_TO_ERR 300     /* more than what Lua adds to a stack that is full
                               for the sake of a message handler (200) */

/* What is known of frame 'ar'. */
static uint32_t described (tg_Session *s, lua_State *L, lua_Debug *ar) {
  tg_FunctionId id = tg_catalog_frame(s, L, ar);
  return (id != 0) ? id | tg_catalog_flags(s, id) : (uint32_t)TG_FR_HIDDEN;
}

/* A frame whose call gave no event, so it has no epoch: readers are told of its
   function when they need it. */
static bool push_frame (tg_Coroutine *t, const void *ci, uint32_t what) {
  if (!tg_coroutine_room(t))
    return false;
  t->frames[t->n++] = (tg_Frame){ci, what, 0};
  t->hidden += (what & TG_FR_HIDDEN) != 0;
  return true;
}

/* The call of the frame at 'level' went unseen: its two packets are lost. When
   the stack is full, it was none: the function has not begun. */
void tg_unseen_push (tg_Coroutine *t, lua_State *L, int level) {
  lua_Debug ar;
  if (!lua_getstack(L, level, &ar))
    return;
  uint32_t what = described(t->session, L, &ar);
  if (!(what & TG_FR_HIDDEN) && lua_checkstack(L, ROOM_TO_ERR))
    t->session->lost.missed += 2;
  push_frame(t, ar.i_ci, what | TG_FR_HIDDEN);
}

/* All frames of a coroutine, outermost first, as a shadow stack has them. One
   that is deeper than FRAMES_READ has its innermost ones, and is 'based' on the
   rest: what returns there is taken for older than the trace. */
void tg_unseen_read (tg_Coroutine *t) {
  lua_Debug ar;
  int n = 0;
  while (n < FRAMES_READ && lua_getstack(t->L, n, &ar))
    n++;
  t->based = n == FRAMES_READ;
  while (n-- > 0) {
    if (lua_getstack(t->L, n, &ar)
        && !push_frame(t, ar.i_ci, described(t->session, t->L, &ar)))
      t->based = true;
  }
}
