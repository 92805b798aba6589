/*
** resumechain.c - see resumechain.h: what must have happened since the last
** event, when frames are not where they should be or another coroutine runs.
**
** Called in the hook, on the traced thread, when the quick comparison has
** failed; so it may ask the public API what it likes, of any coroutine that is
** alive. Each thing found out is told to the stream before the event itself.
** Without memory a coroutine has no record, and its events are counted as
** unseen.
*/
#include "chain/resumechain.h"
#include "chain/emit.h"
#include "chain/errorvalue.h"
#include "chain/stash.h"
#include "chain/unseen.h"
#include "host/builtins.h"
#include "state/awaited.h"
#include "stream/event.h"

#define LEVELS_ASKED 100    /* for a frame that is known; each costs its
                               distance from the top */

/* Forgets frames from index 'keep' up; returns how many were visible. */
static uint32_t drop_frames (tg_Coroutine *t, uint32_t keep) {
  uint32_t visible = 0;
  tg_assert(keep <= t->n);
  for (uint32_t i = keep; i < t->n; i++) {
    visible += !(t->frames[i].what & TG_FR_HIDDEN);
    if (t->frames[i].what & TG_FR_TARGET)
      tg_awaited_exit(t, i);
  }
  t->hidden -= t->n - keep - visible;
  t->n = keep;
  tg_assert(t->hidden <= keep);
  t->blind = t->yielding = false;
  if (t->ncatches > 0)
    tg_coroutine_uncatch(t, keep);
  return visible;
}

/* An error has unwound the frames from index 'keep' up, as event 'ar' on 'L'
   shows; 'catcher' is the role of what caught it. */
static void unwind (tg_Coroutine *t, lua_State *L, lua_Debug *ar, uint32_t keep,
                    tg_Role catcher, uint64_t now) {
  tg_Session *s = t->session;
  tg_Unwound part[TG_UNWOUND_PARTS];
  int top = lua_gettop(L);
  int n = tg_errorvalue_find(t, L, ar, keep, catcher, part);
  for (int i = 0; i < n; i++) {
    uint32_t visible = drop_frames(t, part[i].keep);
    if (visible > 0)
      tg_emit_throw(s, visible, &part[i].value, now);
  }
  tg_assert(lua_gettop(L) >= top);
  lua_settop(L, top);           /* a value may have been pushed to be read */
  tg_stash_drop(t, keep);
  if (keep > 0)
    t->frames[keep - 1].what |= TG_FR_CAUGHT;
  else if (!tg_builtins_close_replaces())
    t->unsure = true;
}

/* Frames from 'keep' up returned unseen, since a hook of the program's, or a
   library, has switched hooks off for a while. The moment is only known to lie
   after the last event; the results are not known. */
void tg_resumechain_miss (tg_Coroutine *t, uint32_t keep) {
  tg_Session *s = t->session;
  uint64_t then = tg_emit_latest(s);
  while (t->n > keep) {         /* one by one: a CONTEXT may come between */
    uint32_t visible = drop_frames(t, t->n - 1);
    if (visible > 0)
      tg_emit_plain(s, TG_EV_RETURN, 1, then);
  }
  drop_frames(t, keep);         /* without frames too: flags and catches */
  tg_stash_drop(t, keep);
  tg_awaited_review(s);
}

void tg_resumechain_drop (tg_Coroutine *t, uint32_t keep) {
  tg_assert(!t->running);
  drop_frames(t, keep);
  tg_stash_drop(t, keep);
  t->dropped = true;
}

/* ---- when it happened ---- */

/* The role of the function that returns or calls with event 'ar', seen or not.
   __close methods of a dead coroutine have no caller on it: the function that
   closes the coroutine counts as their caller. */
static tg_Role going_on (const tg_Coroutine *t, lua_State *L, lua_Debug *ar) {
  lua_Debug up;
  TG_STACK_GUARD(L);
  if (ar->event != LUA_HOOKRET) {
    if (!lua_getstack(L, 1, &up))
      return (t->L == L && t->resumer != NULL)
             ? tg_frame_role(tg_coroutine_top(t->resumer)) : TG_ROLE_NONE;
    ar = &up;
  }
  lua_getinfo(L, "f", ar);
  tg_Role role = tg_builtins_role(lua_tocfunction(L, -1));
  lua_pop(L, 1);
  TG_STACK_CHECK(L);
  return role;
}

/*
** When frames of 't' went away, or 't' was suspended, as event 'ar' on 'L'
** shows now. 'known' is the role of the function that goes on, if that is in a
** shadow stack. C functions that are not Lua's, and the host, may have been
** busy or have slept since: then the last sign of life is the event before.
*/
static uint64_t happened (const tg_Coroutine *t, tg_Role known, lua_State *L,
                          lua_Debug *ar, uint64_t now) {
  if (tg_builtins_goes_on(known)
      || tg_builtins_goes_on(going_on(t, L, ar)))
    return now;
  return tg_emit_latest(t->session);
}

/* ---- settling ---- */

/*
** The innermost frame from 'level' of the Lua stack down that is in the shadow
** stack, and at which level it is; -1 if there is none. Those above it went
** unseen: a hook was away when they were called, or Lua had no room on the
** stack to call it (luaD_hook), and calls the message handler from there.
** An address alone is no proof, since a CallInfo is used again.
*/
static int64_t find_standing (const tg_Coroutine *t, lua_State *L, int *level) {
  lua_Debug ar;
  int end = *level + LEVELS_ASKED;
  for (; *level < end && lua_getstack(L, *level, &ar); ++*level) {
    int64_t k = tg_coroutine_frame(t, ar.i_ci);
    if (k >= 0 && tg_catalog_is_frame(t->session, L, &ar,
                                      t->frames[k].what & TG_FR_ID))
      return k;
  }
  return -1;
}

/* Whether frame 'ar' runs a Lua function. */
static bool is_lua (lua_State *L, lua_Debug *ar) {
  TG_STACK_GUARD(L);
  lua_getinfo(L, "f", ar);
  bool lua = !lua_iscfunction(L, -1);
  lua_pop(L, 1);
  TG_STACK_CHECK(L);
  return lua;
}

/* Whether event 'ar' is the return of pcall or xpcall, without an error. */
static bool succeeds (const tg_Frame *f, lua_State *L, lua_Debug *ar) {
  tg_Role role = tg_frame_role(f);
  if (ar->event != LUA_HOOKRET || ar->i_ci != f->ci
      || (role != TG_ROLE_PCALL && role != TG_ROLE_XPCALL))
    return false;
  lua_getinfo(L, "r", ar);
  return lua_toboolean(L, ar->ftransfer);
}

/*
** Whether the frames above index 'k' have returned and not been unwound by an
** error: a Lua function catches none, and pcall tells. If all are gone, what
** goes on is the frame at 'level'.
*/
static bool returned (const tg_Coroutine *t, int64_t k, lua_State *L,
                      lua_Debug *ar, int level) {
  lua_Debug older;
  if (k < 0)
    return lua_getstack(L, level, &older) && is_lua(L, &older);
  const tg_Frame *f = &t->frames[k];
  if (f->what & TG_FR_C)
    return succeeds(f, L, ar);
  return (f->what & TG_FR_ID) != 0;     /* else nobody knows what it is */
}

/* The rare event that is behind an error; 'happened' is what it costs. */
void tg_resumechain_align (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                           int level, uint64_t now) {
  int found = level;
  int64_t k = find_standing(t, L, &found);
  uint32_t keep = (uint32_t)(k + 1);
  tg_Role catcher = tg_frame_role((k >= 0) ? &t->frames[k] : NULL);
  if (keep < t->n && returned(t, k, L, ar, level))
    tg_resumechain_miss(t, keep);
  else if (keep < t->n)
    unwind(t, L, ar, keep, catcher, happened(t, catcher, L, ar, now));
  tg_awaited_review(t->session);
  while (k >= 0 && found > level)
    tg_unseen_push(t, L, --found);
}

/* ---- leaving ---- */

typedef enum Outcome {
  YIELDED, DIED, ENDED,
  RUNNING               /* it is a resumer itself */
} Outcome;

/* What the status of a living coroutine says after its resume returned. */
static Outcome status_of (const tg_Coroutine *t) {
  int status = lua_status(t->L);
  return (status == LUA_YIELD) ? YIELDED : (status == LUA_OK) ? ENDED : DIED;
}

/* What a coroutine's own status says, if it can be asked. */
static Outcome ask (const tg_Coroutine *t, lua_State *L) {
  if (tg_coroutine_alive(t, L)) {
    switch (lua_status(t->L)) {
      case LUA_OK: return (t->n > 0 || t->based) ? RUNNING : ENDED;
      case LUA_YIELD: return YIELDED;
      default: return DIED;
    }
  }
  if (tg_frame_role(tg_coroutine_top(t)) == TG_ROLE_YIELD)
    return YIELDED;
  return (t->n > 0) ? DIED : ENDED;
}

/* Whether the event is the return of the resume or wrap function that is on
   top of 'resumer'. */
static tg_Role returning (const tg_Coroutine *resumer, const lua_Debug *ar) {
  const tg_Frame *top = tg_coroutine_top(resumer);
  if (ar->event != LUA_HOOKRET || top == NULL || top->ci != ar->i_ci)
    return TG_ROLE_NONE;
  return tg_frame_role(top);
}

/* What became of the innermost coroutine. What resumed it knows best: a wrap
   function returns what was yielded or returned, and throws otherwise. */
static Outcome outcome (const tg_Coroutine *t, lua_State *L,
                        const lua_Debug *ar) {
  const tg_Coroutine *resumer = t->resumer;
  if (t->done)
    return ENDED;
  if (resumer != NULL && resumer->L == L) {
    tg_Role top = tg_frame_role(tg_coroutine_top(resumer));
    tg_Role role = returning(resumer, ar);
    if (role == TG_ROLE_WRAPPED)
      return (t->yielding || !tg_coroutine_alive(t, L)) ? YIELDED
                                                        : status_of(t);
    if (role == TG_ROLE_RESUME && lua_tothread(L, 1) == t->L)
      return status_of(t);
    if (role == TG_ROLE_NONE && top == TG_ROLE_WRAPPED)
      return DIED;      /* its error went on through the wrap function */
  }
  return ask(t, L);
}

/* The values yielded, when they are not the arguments of a coroutine.yield that
   is in the stream: what the resume gives besides "true". */
static const tg_ValueList *yielded (const tg_Coroutine *t, lua_State *L,
                                    lua_Debug *ar, tg_ValueList *list) {
  const tg_Frame *top = tg_coroutine_top(t);
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

/* The frames of 't' stay, since it may go on with them. The RESUME names the
   frames that are still there then. */
static void suspend (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                     uint64_t now) {
  tg_ValueList list;
  tg_emit_yield(t->session, t, L, yielded(t, L, ar, &list), now);
}

/* The frames of 't' are gone already, by returns or by an error. */
static void end (tg_Coroutine *t, uint64_t now) {
  drop_frames(t, 0);
  tg_emit_plain(t->session, TG_EV_LEAVE, 0, now);
}

static void unchain (tg_Session *s) {
  tg_Coroutine *t = s->current;
  s->current = t->resumer;
  t->resumer = NULL;
  t->running = false;
}

void tg_resumechain_left (tg_Session *s, bool suspended, uint64_t then) {
  tg_Coroutine *t = s->current;
  tg_assert(t->running && t->id != 1);
  if (suspended)
    tg_emit_yield(s, t, t->L, NULL, then);
  else {
    tg_resumechain_miss(t, 0);
    end(t, then);
  }
  unchain(s);
}

/* The innermost coroutine is not running any more: 'o' is what became of it. */
static void leave (tg_Session *s, Outcome o, lua_State *L, lua_Debug *ar,
                   uint64_t now) {
  tg_Coroutine *t = s->current;
  tg_assert(t->running && o != RUNNING);
  tg_Role back = (t->resumer != NULL) ? returning(t->resumer, ar)
                                      : TG_ROLE_NONE;
  uint64_t then = happened(t, back, L, ar, now);
  if (o == YIELDED)
    suspend(t, L, ar, then);
  else {
    if (o == DIED)
      unwind(t, L, ar, 0, tg_builtins_tells(back) ? back : TG_ROLE_NONE, then);
    else
      tg_resumechain_miss(t, 0);
    end(t, then);
  }
  unchain(s);
  t->died = o == DIED;
  if (t->done && t->id != 1 && t->user.hook == NULL)
    tg_coroutines_remove(&s->threads, t);
}

/* ---- entering ---- */

/* Whether the top frame of 't' is still there: its coroutine is alive. */
static bool top_stands (const tg_Coroutine *t) {
  lua_Debug ar;
  return t->n == 0 || (lua_getstack(t->L, 0, &ar)
                       && ar.i_ci == tg_coroutine_top(t)->ci);
}

/* Whether the coroutine that ran can have resumed another. */
static Outcome resumer_state (const tg_Session *s, lua_State *L) {
  const tg_Coroutine *t = s->current;
  tg_Role role = tg_frame_role(tg_coroutine_top(t));
  if (role == TG_ROLE_RESUME || role == TG_ROLE_WRAPPED
      || role == TG_ROLE_CLOSE)
    return RUNNING;
  if (t->id == 1)
    return top_stands(t) ? RUNNING : DIED;
  if (t->done)
    return ENDED;
  return ask(t, L);
}

/* Leaves coroutines that cannot have resumed the running coroutine. */
static void find_resumer (tg_Session *s, lua_State *L, lua_Debug *ar,
                          uint64_t now) {
  while (s->current != NULL) {
    Outcome o = resumer_state(s, L);
    if (o == RUNNING)
      return;
    if (s->current->id == 1) {  /* an error went to the host */
      unwind(s->current, L, ar, 0, TG_ROLE_NONE,
             happened(s->current, TG_ROLE_NONE, L, ar, now));
      return;
    }
    leave(s, o, L, ar, now);
  }
}

/* Everything above 't', which is in the chain, has been left. */
static void leave_down_to (tg_Session *s, tg_Coroutine *t, lua_State *L,
                           lua_Debug *ar, uint64_t now) {
  while (s->current != t) {
    Outcome o = outcome(s->current, L, ar);
    if (o == RUNNING)   /* dead and closed: LUA_OK, as a new one */
      o = (s->current->n > 0) ? DIED : ENDED;
    leave(s, o, L, ar, now);
  }
}

/* On top of the chain. A coroutine has its number from its first run in the
   trace on. */
void tg_resumechain_resume (tg_Session *s, tg_Coroutine *t, uint64_t now) {
  tg_assert(!t->running && t != s->current);
  if (t->id == 0)
    t->id = (t->L == s->host.main) ? 1 : s->threads.next_id++;
  t->resumer = s->current;
  t->running = true;
  t->done = t->yielding = false;
  s->current = t;
  tg_emit_resume(s, t, now);
}

/* Told as if it had been seen when it happened: suspended at the last sign of
   life, resumed now. */
void tg_resumechain_come_back (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                               uint64_t now) {
  tg_Session *s = t->session;
  tg_assert(s->current == t);
  suspend(t, L, ar, tg_emit_latest(s));
  s->current = t->resumer;
  t->running = false;
  tg_resumechain_resume(s, t, now);
}

/* The frame that must be in the shadow stack for it to be true. */
static const void *witness (lua_State *L, const lua_Debug *ar) {
  lua_Debug up;
  if (ar->event != LUA_HOOKCALL)
    return ar->i_ci;
  return lua_getstack(L, 1, &up) ? (const void *)up.i_ci : NULL;
}

/*
** Whether the record belongs to a dead coroutine that had this address before.
** A suspended coroutine whose frames are gone was closed: its __close methods
** run now, and no event tells of the ends of its frames.
*/
static bool stale (tg_Coroutine *t, lua_State *L, const lua_Debug *ar) {
  if (t->id == 1)
    return false;
  if (t->n == 0)
    return t->id != 0 && !t->based && !tg_coroutine_alive(t, L);
  if (tg_coroutine_frame(t, witness(L, ar)) >= 0)
    return false;
  if (!tg_coroutine_alive(t, L))
    return true;
  t->unsure = t->unsure || tg_errorvalue_unsure(t);
  drop_frames(t, 0);
  t->dropped = true;
  return false;
}

/* The program's hook is inherited as ours is, from the coroutine that made
   this one; the running one is the best guess. */
static void inherit_user_hook (tg_Coroutine *t, const tg_Coroutine *from) {
  if (from != NULL && from->user.hook != NULL) {
    t->user = from->user;
  }
}

/* Whether a coroutine that died runs because it is being closed. Otherwise a
   host has reset the dead coroutine and started it anew. */
static bool closing (const tg_Session *s) {
  tg_Role role = (s->current != NULL)
                 ? tg_frame_role(tg_coroutine_top(s->current)) : TG_ROLE_NONE;
  return role == TG_ROLE_CLOSE || role == TG_ROLE_WRAPPED;
}

/* A record for a coroutine that has none. Without memory for its place in the
   weak list nobody sees the coroutine die, and the record stays until tracing
   ends. */
tg_Coroutine *tg_resumechain_adopt (tg_Session *s, lua_State *L1,
                                    lua_State *L) {
  tg_Coroutine *t = tg_coroutines_add(&s->threads, s, L1);
  if (t == NULL)
    return NULL;
  inherit_user_hook(t, s->current);
  tg_session_enlist(s, t, L);
  return t;
}

/* Readers remember only coroutines with visible frames: only these get a
   GONE. */
void tg_resumechain_forget (tg_Session *s, tg_Coroutine *t, uint64_t now) {
  if (tg_coroutine_visible(t) > 0 && !t->running)
    tg_emit_gone(s, t, now);
  tg_awaited_drop(t);
  tg_coroutines_remove(&s->threads, t);
}

/* In this order: whether the record belongs to the coroutine at all, then the
   coroutines that were left, then the coroutine that runs. */
tg_Coroutine *tg_resumechain_enter (tg_Session *s, lua_State *L, lua_Debug *ar,
                                    uint64_t now) {
  tg_Coroutine *t = tg_coroutines_find(&s->threads, L);
  if (t != NULL && t->running && t->done) {
    leave_down_to(s, t, L, ar, now);
    leave(s, ENDED, L, ar, now);
    t = tg_coroutines_find(&s->threads, L);
  }
  if (t != NULL && !t->running
      && (stale(t, L, ar) || (t->died && !closing(s)))) {
    tg_resumechain_forget(s, t, now);
    t = NULL;
  }
  if (t == NULL && (t = tg_resumechain_adopt(s, L, L)) == NULL)
    return NULL;
  if (t->running)
    leave_down_to(s, t, L, ar, now);
  else {
    find_resumer(s, L, ar, now);
    tg_resumechain_resume(s, t, now);
  }
  tg_awaited_review(s);
  return t;
}
