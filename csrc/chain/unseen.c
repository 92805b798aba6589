/*
** unseen.c - frames go onto a shadow stack whose calls gave no event. Called in
** the hook, on the traced thread; asks the public API, of a coroutine that is
** alive. Without memory for all of them the record is that of a coroutine with
** older frames.
*/
#include "chain/unseen.h"

#include "base/grow.h"
#include "direct/frame.h"

#define FRAMES_READ 1000    /* of a coroutine older than the trace; each costs
                               its distance from the top */
#define ROOM_TO_ERR 300     /* more than what Lua adds to a stack that is full
                               for the sake of a message handler (200) */

/* A function that a trace waits for is as others here: a call begins with an
   event. */
static uint32_t flags_of (const tg_Session *s, tg_FunctionId id) {
  uint32_t flags = tg_catalog_flags(s, id);
  if ((flags & TG_FR_TARGET) && !(flags & TG_FR_OWN)
      && tg_selection_wants(&s->selection,
                            tg_functions_get(s->writer.stream->functions, id)))
    flags &= ~(uint32_t)TG_FR_HIDDEN;
  return flags & ~(uint32_t)TG_FR_TARGET;
}

/* What is known of frame 'ar'. */
static uint32_t described (tg_Session *s, lua_State *L, lua_Debug *ar) {
  tg_FunctionId id = tg_catalog_frame(s, L, ar);
  return (id != 0) ? id | flags_of(s, id) : (uint32_t)TG_FR_HIDDEN;
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
    tg_lacks_add(&t->session->writer.stream->lacks, TG_LACK_MISSED, 2);
  push_frame(t, ar.i_ci, what | TG_FR_HIDDEN);
}

/* The frame on top has been found: xpcall has its handler for a second argument
   as long as it runs (luaB_xpcall in lbaselib.c). */
static void find_handler (tg_Coroutine *t, lua_Debug *ar) {
  if (tg_frame_role(tg_coroutine_top(t)) != TG_ROLE_XPCALL
      || !lua_checkstack(t->L, 1) || lua_getlocal(t->L, ar, 2) == NULL)
    return;
  tg_coroutine_catch(t, lua_topointer(t->L, -1));
  lua_pop(t->L, 1);
}

/* The frame, if it is there and no 'host': whether that goes on. */
static bool read_frame (tg_Coroutine *t, int level, bool host) {
  lua_Debug ar;
  if (!lua_getstack(t->L, level, &ar))
    return host;
  uint32_t what = described(t->session, t->L, &ar);
  if (host && (what & (TG_FR_C | TG_FR_OWN)) != 0)
    return true;
  if (push_frame(t, ar.i_ci, what))
    find_handler(t, &ar);
  else
    t->based = true;
  return false;
}

/* All frames of a coroutine, outermost first, as a shadow stack has them. One
   that is deeper than FRAMES_READ has its innermost ones, and is 'based' on the
   rest: what returns there is taken for older than the trace. Of the main
   coroutine not those that run its first Lua function, the host's or ours:
   samples leave them out as well (stackwalk.c). */
void tg_unseen_read (tg_Coroutine *t, int skip) {
  lua_Debug ar;
  int n = skip;
  while (n < FRAMES_READ + skip && lua_getstack(t->L, n, &ar))
    n++;
  t->based = n == FRAMES_READ + skip;
  bool host = t->id == 1 && !t->based;
  while (n-- > skip)
    host = read_frame(t, n, host);
}

/* Hidden, but for that as those of a coroutine that is met suspended. */
void tg_unseen_stand (tg_Coroutine *t, int skip) {
  if (t->id == 1)
    return;
  for (; t != NULL; t = t->resumer, skip = 0) {
    tg_assert(t->n == 0);
    tg_unseen_read(t, skip);
    for (uint32_t i = 0; i < t->n; i++)
      t->frames[i].what |= TG_FR_HIDDEN;
    t->hidden = t->n;
  }
}

/* One that nobody knows, or that is ours, stays hidden. */
static void reveal (tg_Coroutine *t, tg_Frame *f) {
  tg_FunctionId id = f->what & TG_FR_ID;
  if (!(f->what & TG_FR_HIDDEN) || (f->what & TG_FR_OWN) || id == 0)
    return;
  uint32_t flags = flags_of(t->session, id);
  if (flags & TG_FR_HIDDEN)
    return;
  f->what = id | flags
            | (f->what & (TG_FR_TARGET | TG_FR_CAUGHT | TG_FR_ROLE));
  f->epoch = TG_FR_UNTOLD;
  t->hidden--;
}

static void reveal_suspended (tg_Coroutine *t, void *ud) {
  (void)ud;
  for (uint32_t i = 0; !t->running && i < t->n; i++)
    reveal(t, &t->frames[i]);
}

void tg_unseen_reveal (tg_Session *s) {
  tg_coroutines_records(&s->threads, reveal_suspended, NULL);
}

/* The innermost frame that counts. */
static const void *innermost (const tg_Coroutine *t, int skip) {
  const void *ci = tg_direct_running(t->L);
  if (tg_read_pointer(ci, TG_AT_FRAME_CALLER) == NULL)
    return NULL;                /* the host's own: nothing runs */
  while (skip-- > 0 && ci != NULL)
    ci = tg_frame_caller(ci);
  return ci;
}

/* How many frames are inside of 'from'; -1: it is not there. */
static int64_t count_inside (const void *ci, const void *from) {
  int64_t n = 0;
  for (; ci != NULL && ci != from; ci = tg_frame_caller(ci))
    n++;
  return ci == from ? n : -1;
}

/* Written from the innermost out, since frames know their callers. */
static void put_inside (tg_Coroutine *t, const void *ci, const void *from) {
  lua_Debug ar;
  for (uint32_t i = t->n; ci != from; ci = tg_frame_caller(ci)) {
    ar.i_ci = (struct CallInfo *)(uintptr_t)ci;
    uint32_t what = described(t->session, t->L, &ar) | TG_FR_HIDDEN;
    t->frames[--i] = (tg_Frame){ci, what, 0};
  }
}

/* As many as there are, however deep: a recursion goes down a thousand levels
   while nobody looks. */
bool tg_unseen_above (tg_Coroutine *t, const void *from, int skip) {
  const void *ci = innermost(t, skip);
  int64_t n = from != NULL ? count_inside(ci, from) : -1;
  if (n < 0)
    return false;
  if (n > UINT32_MAX - t->n || !tg_grow(&t->frames, &t->capacity,
                                        t->n + (uint32_t)n,
                                        sizeof *t->frames)) {
    t->blind = true;
    return true;
  }
  t->n += (uint32_t)n;
  t->hidden += (uint32_t)n;
  put_inside(t, ci, from);
  return true;
}
