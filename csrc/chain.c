#include "chain.h"
#include "emit.h"
#include "event.h"
#include "roles.h"
#include "thrown.h"

#define FRAMES_READ 1000    /* of a coroutine older than the trace; each costs
                               its distance from the top */

int64_t tg_chain_find (const tg_Thread *t, const void *ci) {
  for (int64_t i = (int64_t)t->n - 1; i >= 0; i--) {
    if (t->frames[i].ci == ci)
      return i;
  }
  return -1;
}

/* Forgets frames from index 'keep' up; returns how many were visible. */
static uint32_t drop_frames (tg_Thread *t, uint32_t keep) {
  uint32_t visible = 0;
  for (uint32_t i = keep; i < t->n; i++)
    visible += !(t->frames[i].what & TG_FR_HIDDEN);
  t->n = keep;
  t->visible -= visible;
  t->blind = false;
  if (t->ncatches > 0)
    tg_thread_uncatch(t, keep);
  return visible;
}

void tg_chain_unwind (tg_Thread *t, lua_State *L, lua_Debug *ar, uint32_t keep,
                      tg_Role catcher, uint64_t now) {
  tg_Session *s = t->session;
  tg_Unwound part[TG_UNWOUND_PARTS];
  int n = tg_thrown_find(t, L, ar, keep, catcher, part);
  for (int i = 0; i < n; i++) {
    uint32_t visible = drop_frames(t, part[i].keep);
    s->depth -= visible;
    if (visible > 0)
      tg_emit_throw(s, visible, &part[i].value, now);
  }
  tg_thrown_drop(t, keep);
  if (keep > 0)
    t->frames[keep - 1].what |= TG_FR_CAUGHT;
  else if (!tg_close_replaces())
    t->unsure = true;
}

/* ---- leaving ---- */

typedef enum Outcome {
  YIELDED, DIED, ENDED,
  RUNNING               /* it is a resumer itself */
} Outcome;

/* What a coroutine's own status says, if it can be asked. */
static Outcome ask (const tg_Thread *t, lua_State *L) {
  if (tg_thread_alive(t, L)) {
    switch (lua_status(t->L)) {
      case LUA_OK: return (t->n > 0 || t->based) ? RUNNING : ENDED;
      case LUA_YIELD: return YIELDED;
      default: return DIED;
    }
  }
  if (tg_frame_role(tg_thread_top(t)) == TG_ROLE_YIELD)
    return YIELDED;
  return (t->n > 0) ? DIED : ENDED;
}

/* Whether the event is the return of the resume or wrap function that is on
   top of 'resumer'. */
static tg_Role returning (const tg_Thread *resumer, const lua_Debug *ar) {
  const tg_Frame *top = tg_thread_top(resumer);
  if (ar->event != LUA_HOOKRET || top == NULL || top->ci != ar->i_ci)
    return TG_ROLE_NONE;
  return tg_frame_role(top);
}

static Outcome outcome (const tg_Thread *t, lua_State *L,
                        const lua_Debug *ar) {
  const tg_Thread *resumer = t->resumer;
  if (t->done)
    return ENDED;
  if (resumer != NULL && resumer->L == L) {
    tg_Role top = tg_frame_role(tg_thread_top(resumer));
    tg_Role role = returning(resumer, ar);
    if (role == TG_ROLE_WRAPPED)
      return YIELDED;
    if (role == TG_ROLE_RESUME && lua_tothread(L, 1) == t->L)
      return (lua_status(t->L) == LUA_YIELD) ? YIELDED : DIED;
    if (role == TG_ROLE_NONE && top == TG_ROLE_WRAPPED)
      return DIED;      /* its error went on through the wrap function */
  }
  return ask(t, L);
}

/* The values yielded, when they are not the arguments of a coroutine.yield that
   is in the stream: what the resume gives besides "true". */
static const tg_ValueList *yielded (const tg_Thread *t, lua_State *L,
                                    lua_Debug *ar, tg_ValueList *list) {
  const tg_Frame *top = tg_thread_top(t);
  bool told = tg_frame_role(top) == TG_ROLE_YIELD
              && !(top->what & TG_FR_HIDDEN);
  if (told || t->resumer == NULL || t->resumer->L != L)
    return NULL;
  tg_Role role = returning(t->resumer, ar);
  int skip = role == TG_ROLE_RESUME;
  if (role != TG_ROLE_RESUME && role != TG_ROLE_WRAPPED)
    return NULL;
  lua_getinfo(L, "r", ar);
  *list = (tg_ValueList){.first = ar->ftransfer + skip,
                         .count = ar->ntransfer - skip};
  return list;
}

static void suspend (tg_Thread *t, lua_State *L, lua_Debug *ar,
                     uint64_t now) {
  tg_ValueList list;
  tg_emit_yield(t->session, t, L, yielded(t, L, ar, &list), now);
  t->session->depth -= t->visible;
}

static void end (tg_Thread *t, uint64_t now) {
  tg_Session *s = t->session;
  s->depth -= drop_frames(t, 0);
  tg_emit_plain(s, TG_EV_LEAVE, 0, now);
}

/* The role by which a death was caught, if it says how by its results. */
static tg_Role catcher_of (const tg_Thread *t, const lua_Debug *ar) {
  if (t->resumer == NULL)
    return TG_ROLE_NONE;
  tg_Role role = returning(t->resumer, ar);
  return (role == TG_ROLE_RESUME || role == TG_ROLE_CLOSE) ? role
                                                          : TG_ROLE_NONE;
}

/* The innermost coroutine is not running any more: 'o' is what became of it. */
static void leave (tg_Session *s, Outcome o, lua_State *L, lua_Debug *ar,
                   uint64_t now) {
  tg_Thread *t = s->current;
  if (o == YIELDED)
    suspend(t, L, ar, now);
  else {
    if (o == DIED)
      tg_chain_unwind(t, L, ar, 0, catcher_of(t, ar), now);
    end(t, now);
  }
  s->current = t->resumer;
  t->resumer = NULL;
  t->running = false;
  if ((o == DIED || t->done) && t->id != 1 && t->user_hook == NULL)
    tg_threads_remove(&s->threads, t);
}

/* ---- entering ---- */

/* Whether the top frame of 't' is still there: its coroutine is alive. */
static bool top_stands (const tg_Thread *t) {
  lua_Debug ar;
  return t->n == 0 || (lua_getstack(t->L, 0, &ar)
                       && ar.i_ci == tg_thread_top(t)->ci);
}

/* Whether the running coroutine can be the one that resumed another. */
static Outcome resumer_state (const tg_Session *s, lua_State *L) {
  const tg_Thread *t = s->current;
  tg_Role role = tg_frame_role(tg_thread_top(t));
  if (role == TG_ROLE_RESUME || role == TG_ROLE_WRAPPED
      || role == TG_ROLE_CLOSE)
    return RUNNING;
  if (t->id == 1)
    return top_stands(t) ? RUNNING : DIED;
  if (t->done)
    return ENDED;
  return ask(t, L);
}

/* Coroutines that cannot have resumed the one that comes now are left. */
static void find_resumer (tg_Session *s, lua_State *L, lua_Debug *ar,
                          uint64_t now) {
  while (s->current != NULL) {
    Outcome o = resumer_state(s, L);
    if (o == RUNNING)
      return;
    if (s->current->id == 1) {  /* an error went to the host */
      tg_chain_unwind(s->current, L, ar, 0, TG_ROLE_NONE, now);
      return;
    }
    leave(s, o, L, ar, now);
  }
}

/* Everything above 't', which is in the chain, has been left. */
static void leave_down_to (tg_Session *s, tg_Thread *t, lua_State *L,
                           lua_Debug *ar, uint64_t now) {
  while (s->current != t) {
    Outcome o = outcome(s->current, L, ar);
    if (o == RUNNING)   /* it was closed after it died, and looks like new */
      o = (s->current->n > 0) ? DIED : ENDED;
    leave(s, o, L, ar, now);
  }
}

static void resume (tg_Session *s, tg_Thread *t, uint64_t now) {
  if (t->id == 0)
    t->id = (t->L == s->main) ? 1 : s->threads.next_id++;
  t->resumer = s->current;
  t->running = true;
  t->done = false;
  s->current = t;
  s->depth += t->visible;
  tg_emit_resume(s, t, now);
}

/* The frame that must be in the shadow stack for it to be true. */
static const void *witness (lua_State *L, const lua_Debug *ar) {
  lua_Debug up;
  if (ar->event != LUA_HOOKCALL)
    return ar->i_ci;
  return lua_getstack(L, 1, &up) ? (const void *)up.i_ci : NULL;
}

/*
** Whether the record is that of another coroutine, dead, which had this
** address. A suspended one whose frames are gone was closed: its __close
** methods run now, and its frames get nothing.
*/
static bool stale (tg_Thread *t, lua_State *L, const lua_Debug *ar) {
  if (t->id == 1)
    return false;
  if (t->n == 0)
    return t->id != 0 && !t->based && !tg_thread_alive(t, L);
  if (tg_chain_find(t, witness(L, ar)) >= 0)
    return false;
  if (!tg_thread_alive(t, L))
    return true;
  t->unsure = t->unsure || tg_thrown_unsure(t);
  drop_frames(t, 0);
  t->dropped = true;
  return false;
}

/* The program's hook is inherited as ours is, from the coroutine that made
   this one; the running one is the best guess. */
static void inherit_user_hook (tg_Thread *t, const tg_Thread *from) {
  if (from != NULL && from->user_hook != NULL) {
    t->user_hook = from->user_hook;
    t->user_mask = from->user_mask;
    t->user_count = from->user_count;
  }
}

tg_Thread *tg_chain_adopt (tg_Session *s, lua_State *L1, lua_State *L) {
  tg_Thread *t = tg_threads_add(&s->threads, s, L1);
  if (t == NULL)
    return NULL;
  inherit_user_hook(t, s->current);
  tg_thread_enlist(&s->threads, t, L);
  return t;
}

void tg_chain_forget (tg_Session *s, tg_Thread *t, uint64_t now) {
  if (t->visible > 0 && !t->running)
    tg_emit_gone(s, t, now);
  tg_threads_remove(&s->threads, t);
}

tg_Thread *tg_chain_enter (tg_Session *s, lua_State *L, lua_Debug *ar,
                           uint64_t now) {
  tg_Thread *t = tg_threads_find(&s->threads, L);
  if (t != NULL && t->running && t->done) {
    leave_down_to(s, t, L, ar, now);
    leave(s, ENDED, L, ar, now);
    t = tg_threads_find(&s->threads, L);
  }
  if (t != NULL && !t->running && stale(t, L, ar)) {
    tg_chain_forget(s, t, now);
    t = NULL;
  }
  if (t == NULL && (t = tg_chain_adopt(s, L, L)) == NULL)
    return NULL;
  if (t->running)
    leave_down_to(s, t, L, ar, now);
  else {
    find_resumer(s, L, ar, now);
    resume(s, t, now);
  }
  return t;
}

/* ---- frames that were there before ---- */

static void push_read (tg_Session *s, tg_Thread *t, lua_Debug *ar) {
  tg_FunctionId id = tg_define_frame(s, t->L, ar);
  uint32_t what = (id != 0) ? id | tg_define_flags(s, id)
                            : (uint32_t)TG_FR_HIDDEN;
  if (!tg_thread_room(t)) {
    t->based = true;
    return;
  }
  t->frames[t->n++] = (tg_Frame){ar->i_ci, what, 0};
  t->visible += !(what & TG_FR_HIDDEN);
}

void tg_chain_read_frames (tg_Session *s, tg_Thread *t) {
  lua_Debug ar;
  int n = 0;
  while (n < FRAMES_READ && lua_getstack(t->L, n, &ar))
    n++;
  t->based = n == FRAMES_READ;
  while (n-- > 0) {
    if (lua_getstack(t->L, n, &ar))
      push_read(s, t, &ar);
  }
}
