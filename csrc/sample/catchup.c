/*
** catchup.c - see catchup.h.
*/
#include "sample/catchup.h"

#include "chain/arm.h"
#include "chain/emit.h"
#include "chain/resumechain.h"
#include "chain/unseen.h"
#include "chain/window.h"
#include "host/running.h"

/* What is found out, and for whom. */
typedef struct CatchUp {
  tg_Session *s;
  tg_StackWalk *w;
  lua_State *L;                 /* runs */
  int skip;
  uint64_t now;
  lua_State *runs[TG_CHAIN_MAX];        /* what runs, outermost first */
  int nruns;
  tg_Coroutine *had[TG_CHAIN_MAX];      /* what the session has, the same way */
  int nhad;
} CatchUp;

static bool is_alive (const CatchUp *c, const tg_Coroutine *t) {
  return t->id == 1 || tg_coroutine_alive(t, c->L);
}

static int skipped (const CatchUp *c, const tg_Coroutine *t) {
  return t->L == c->L ? c->skip : 0;
}

/*
** {==================================================================
** Which coroutines
** ===================================================================
*/

static void read_had (CatchUp *c) {
  int n = 0;
  for (tg_Coroutine *t = c->s->current; t != NULL && n < TG_CHAIN_MAX;
       t = t->resumer)
    n++;
  c->nhad = n;
  for (tg_Coroutine *t = c->s->current; n > 0; t = t->resumer)
    c->had[--n] = t;
}

/* Whether 'L' is where the session has it: then it was resumed from C, if the
   stand-ins do not know it, and so may those below it. */
static bool is_had (const CatchUp *c, int *at) {
  for (int i = 0; i < c->nhad; i++) {
    if (!is_alive(c, c->had[i]))
      return false;
    *at = i;
    if (c->had[i]->L == c->L)
      return true;
  }
  return false;
}

static void read_runs (CatchUp *c) {
  lua_State *co;
  int at;
  c->nruns = 0;
  while (c->nruns + 1 < TG_CHAIN_MAX
         && (co = tg_running_at(&c->s->host, c->nruns)) != NULL) {
    c->runs[c->nruns++] = co;
    if (co == c->L)
      return;
  }
  if (!is_had(c, &at)) {
    c->runs[c->nruns++] = c->L;
    return;
  }
  for (c->nruns = 0; c->nruns <= at; c->nruns++)
    c->runs[c->nruns] = c->had[c->nruns]->L;
}

/* }================================================================== */

/*
** {==================================================================
** Frames
** ===================================================================
*/

/* Frames of 't' that began meanwhile. */
static void add_newer (const CatchUp *c, tg_Coroutine *t) {
  if (t->n > 0)
    tg_unseen_above(t, t->frames[t->n - 1].ci, skipped(c, t));
}

/* Of the innermost coroutine of the session's chain. */
static void settle_running (const CatchUp *c, tg_Coroutine *t) {
  tg_Standing still;
  if (!tg_stackwalk_compare(c->w, t, skipped(c, t), &still))
    return;
  if (still.frames < t->n)
    tg_resumechain_miss(t, still.frames);
  add_newer(c, t);
}

/* Of one that is not in the chain, but lives. Where nothing of it is left, its
   frames are as those of one that is older than the trace. */
static void settle_suspended (const CatchUp *c, tg_Coroutine *t) {
  tg_Standing still;
  if (!tg_stackwalk_compare(c->w, t, skipped(c, t), &still))
    return;
  if (still.frames < t->n)
    tg_resumechain_drop(t, still.frames);
  if (t->n > 0)
    add_newer(c, t);
  else {
    t->dropped = true;
    tg_unseen_read(t, skipped(c, t));
  }
}

/* }================================================================== */

/*
** {==================================================================
** The chain
** ===================================================================
*/

/* Whether 't', which has resumed another coroutine, does so still. */
static bool resumes_still (const CatchUp *c, tg_Coroutine *t) {
  tg_Standing still;
  return tg_stackwalk_compare(c->w, t, 0, &still) && still.frames == t->n
         && !still.newer;
}

/* How many coroutines of the session's chain are where they were, outermost
   first. Frames of the last of them may have changed. */
static int count_standing (const CatchUp *c) {
  int i = 0;
  while (i < c->nhad && i < c->nruns && c->had[i]->L == c->runs[i]
         && is_alive(c, c->had[i])) {
    bool above = i + 1 < c->nhad;
    if (above && !resumes_still(c, c->had[i]))
      return i + 1;
    i++;
  }
  return i;
}

/* Whether it can go on: it has yielded, or has resumed another one from C. */
static bool may_go_on (const CatchUp *c, const tg_Coroutine *t) {
  lua_Debug ar;
  if (!is_alive(c, t))
    return false;
  int status = lua_status(t->L);
  return status == LUA_YIELD
         || (status == LUA_OK && lua_getstack(t->L, 0, &ar));
}

/* What coroutine.yield was given when it was seen is not what the coroutine is
   suspended with now. */
static uint32_t without_yield (const tg_Coroutine *t, uint32_t n) {
  return (n > 0 && tg_frame_role(&t->frames[n - 1]) == TG_ROLE_YIELD) ? n - 1
                                                                      : n;
}

/* The innermost coroutine of the session's chain does not run any more. */
static void leave (const CatchUp *c) {
  tg_Coroutine *t = c->s->current;
  tg_Standing still;
  uint64_t then = tg_emit_latest(c->s);
  bool suspended = may_go_on(c, t);
  if (suspended && tg_stackwalk_compare(c->w, t, 0, &still)) {
    uint32_t keep = without_yield(t, still.frames);
    if (keep < t->n)
      tg_resumechain_miss(t, keep);
  }
  bool died = !suspended && is_alive(c, t) && lua_status(t->L) > LUA_YIELD;
  tg_resumechain_left(c->s, suspended, then);
  t->died = died;
  if (suspended)
    settle_suspended(c, t);
}

/* The record of one that runs, or ran; a dead one's is nobody's. NULL: there is
   none. */
static tg_Coroutine *record_of (const CatchUp *c, lua_State *co) {
  tg_Coroutine *t = tg_coroutines_find(&c->s->threads, co);
  if (t == NULL || (!t->died && is_alive(c, t)))
    return t;
  tg_resumechain_forget(c->s, t, c->now);
  return NULL;
}

/* 'co' was resumed. False without memory. */
static bool enter (const CatchUp *c, lua_State *co) {
  tg_Coroutine *t = record_of(c, co);
  if (t == NULL) {
    int mask = tg_running_mute(&c->s->host, c->L);
    t = tg_resumechain_adopt(c->s, co, c->L);
    tg_running_unmute(&c->s->host, c->L, mask);
    if (t == NULL)
      return false;
    tg_unseen_read(t, co == c->L ? c->skip : 0);
  }
  else
    settle_suspended(c, t);
  tg_resumechain_resume(c->s, t, c->now);
  return true;
}

void tg_catchup_look (tg_Session *s, tg_StackWalk *w, lua_State *L, int skip,
                      uint64_t now) {
  CatchUp c = {.s = s, .w = w, .L = L, .skip = skip, .now = now};
  read_had(&c);
  read_runs(&c);
  int same = count_standing(&c);
  tg_Coroutine *last = same > 0 ? c.had[same - 1] : NULL;
  while (s->current != last)
    leave(&c);
  if (last != NULL)
    settle_running(&c, last);
  for (int i = same; i < c.nruns; i++) {
    if (!enter(&c, c.runs[i]))
      return;
  }
}

/* }================================================================== */

/*
** {==================================================================
** The end
** ===================================================================
*/

/* No handler changes the hook meanwhile. */
static void arm (const CatchUp *c, tg_Coroutine *t) {
  tg_running_hold(&c->s->host);
  tg_arm_coroutine(c->s, t->L, c->L);
  tg_running_let(&c->s->host);
}

/* One that was muted is heard again. If it does not run it may have run
   meanwhile, and be over. */
static void restore (tg_Coroutine *t, void *ud) {
  const CatchUp *c = ud;
  if (!t->muted)
    return;
  t->muted = false;
  if (!is_alive(c, t)) {
    tg_resumechain_forget(c->s, t, c->now);
    return;
  }
  arm(c, t);
  if (t->running)
    return;
  if (may_go_on(c, t))
    settle_suspended(c, t);
  else {
    tg_resumechain_drop(t, 0);
    t->died = lua_status(t->L) > LUA_YIELD;
  }
}

/* Whatever runs has our hook from now on, also what was made before the trace
   and ran in the window only. */
static void arm_chain (const CatchUp *c) {
  for (tg_Coroutine *t = c->s->current; t != NULL; t = t->resumer)
    arm(c, t);
}

void tg_catchup_end (tg_Session *s, tg_StackWalk *w, lua_State *L, int skip,
                     uint64_t now) {
  CatchUp c = {.s = s, .w = w, .L = L, .skip = skip, .now = now};
  if (s->window.state == TG_WINDOW_SHUT)
    return;
  tg_catchup_look(s, w, L, skip, now);
  tg_window_tell(s, now);
  s->window.state = TG_WINDOW_SHUT;
  tg_coroutines_records(&s->threads, restore, &c);
  arm_chain(&c);
  tg_session_review(s);
}

/* }================================================================== */
