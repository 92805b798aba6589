/*
** watch.c - see watch.h. All in the hook, on the thread that runs the state,
** but for what is called at a safe point. Nothing here allocates; what the
** agent does when the program stops is behind tg_agent_call. A frame is known
** by lua_Debug's i_ci.
*/
#include "inspect/watch.h"

#include "chain/arm.h"
#include "host/builtins.h"
#include "host/ownfunctions.h"
#include "host/running.h"
#include "inspect/agent.h"
#include "inspect/caller.h"
#include "inspect/evaluation.h"
#include "inspect/mask.h"
#include "inspect/thrown.h"
#include "state/closures.h"

#define CALLS (LUA_MASKCALL)
#define RETURNS (LUA_MASKCALL | LUA_MASKRET)
#define LINES (LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE)
#define OUTER 16            /* callers that are looked at for a breakpoint */

static void hook (lua_State *L, lua_Debug *ar);
static void entered (tg_Host *h, lua_State *co);

/*
** {==================================================================
** Which inspector
** ===================================================================
*/

/* The inspector that this thread has found last, and its state's shared part.
   Ending an inspector bumps 'generation', which empties all threads' caches. */
static _Thread_local struct {
  const void *shared;
  tg_Inspector *inspector;
  uint64_t generation;
} last TG_TLS_QUICK;

static _Atomic uint64_t generation = 1;

static TG_NOINLINE tg_Inspector *find_inspector (lua_State *L) {
  tg_Inspector *i = tg_debuggee_of(tg_host_find(L));
  if (i != NULL && i->direct) {
    last.shared = tg_direct_shared(L);
    last.inspector = i;
    last.generation = atomic_load(&generation);
  }
  return i;
}

/* find_inspector fills the cache only where memory may be read. So a valid
   generation allows to read it here too. */
TG_INLINE tg_Inspector *inspector_of (lua_State *L) {
  if (last.generation == atomic_load_explicit(&generation,
                                              memory_order_relaxed)
      && last.shared == tg_direct_shared(L))
    return last.inspector;
  return find_inspector(L);
}

/* }================================================================== */

/*
** {==================================================================
** Frames and functions
** ===================================================================
*/

/* A lua_Debug is its i_ci: no more of it is read by lua_getinfo. */
static lua_Debug debug_of (const void *frame) {
  lua_Debug ar = {.i_ci = (struct CallInfo *)(uintptr_t)frame};
  return ar;
}

/* A source is met for the first time: the agent is told, unless the source is
   our own. */
static int meet (tg_Inspector *i, lua_State *L, lua_Debug *ar) {
  lua_getinfo(L, "f", ar);
  bool own = tg_ownfunctions_function(L, ar);
  lua_pop(L, 1);
  int at = tg_breakpoints_add(&i->breakpoints, ar->source, ar->srclen, own);
  if (at >= 0 && !own)
    tg_agent_call(i, L, &(tg_Tidings){.kind = "source", .text = ar->source,
                                      .size = ar->srclen});
  return at;
}

/* What there is to know of a Lua function's frame, asked of Lua; false: it is
   none, or there is no memory. */
static TG_NOINLINE bool learn (tg_Inspector *i, lua_State *L,
                               const void *frame, tg_Known *k) {
  tg_Breakpoints *b = &i->breakpoints;
  lua_Debug ar = debug_of(frame);
  lua_getinfo(L, "S", &ar);
  if (*ar.what == 'C' || !lua_checkstack(L, 2))
    return false;
  k->at = tg_breakpoints_find(b, ar.source, ar.srclen);
  if (k->at < 0)
    k->at = meet(i, L, &ar);
  if (k->at < 0)
    return false;
  k->first = ar.linedefined;
  k->stops = tg_breakpoints_function(b, k->at, k->first);
  k->enters = tg_breakpoints_entry(b, k->at, k->first);
  k->epoch = b->epoch;
  return true;
}

static tg_Known *place_of (tg_Inspector *i, const void *proto) {
  uintptr_t h = (uintptr_t)proto / 16;
  return &i->breakpoints.known[(h ^ h >> 12) % TG_PROTOS];
}

/* The function of a frame; NULL of a C function. Where memory is not read it is
   asked anew each time, and the answer lasts until the next question. */
TG_INLINE const tg_Known *known_of (tg_Inspector *i, lua_State *L,
                                    const void *frame) {
  tg_Breakpoints *b = &i->breakpoints;
  if (tg_unlikely(!i->direct))
    return learn(i, L, frame, &b->known[0]) ? &b->known[0] : NULL;
  if (tg_frame_is_c(frame))
    return NULL;
  const void *proto = tg_function_proto(tg_frame_function(frame));
  const void *source = tg_read_pointer(proto, TG_AT_PROTO_SOURCE);
  uint64_t lines = tg_read64(proto, TG_AT_PROTO_LINE);
  tg_Known *k = place_of(i, proto);
  if (tg_likely(k->proto == proto && k->source == source && k->lines == lines
                && k->epoch == b->epoch))
    return k;
  if (!learn(i, L, frame, k)) {
    k->proto = NULL;
    return NULL;
  }
  k->proto = proto;
  k->source = source;
  k->lines = lines;
  return k;
}

static bool is_own (const tg_Inspector *i, const tg_Known *k) {
  return i->breakpoints.sources[k->at].own;
}

/* }================================================================== */

/*
** {==================================================================
** Masks
** ===================================================================
*/

/* Until the next event shows which function runs. */
static int mask_until_known (const tg_Inspector *i) {
  if (!tg_debuggee_watched(i))
    return 0;
  return LINES | ((i->step.kind == TG_STEP_NEXT) ? LUA_MASKCOUNT : 0);
}

/* Whether what happens in the frame may stop the program. */
TG_INLINE bool wants_lines (tg_Inspector *i, lua_State *L,
                            const void *frame) {
  if (tg_unlikely(i->step.kind != TG_STEP_NONE)
      && tg_step_ends(&i->step, L, frame))
    return true;
  if (tg_unlikely(tg_debuggee_sees_lines(i)))
    return true;
  const tg_Known *k = known_of(i, L, frame);
  return k != NULL && k->stops;
}

/* Whether one of the next few callers wants lines: then its return has to be
   seen. Of a caller further up the lines are seen from its next call on. */
static bool is_below (tg_Inspector *i, lua_State *L, const void *frame) {
  for (int n = 0; frame != NULL && n < OUTER; n++) {
    if (wants_lines(i, L, frame))
      return true;
    frame = tg_caller_of(i->direct, L, frame);
  }
  return frame != NULL;
}

/* }================================================================== */

/*
** {==================================================================
** Events
** ===================================================================
*/

/* Whether a value that is watched is another one. */
TG_INLINE bool has_changed (tg_Inspector *i, lua_State *L) {
  return tg_unlikely(i->cells.count > 0) && tg_cells_look(&i->cells, L);
}

/* The step is over where the agent stops. If it does not (a condition that does
   not hold) the step goes on. The code of a debugger may have closed the
   inspector: what is left of it is freed later, since the hook goes on. */
static void tell (tg_Inspector *i, lua_State *L, const tg_Tidings *t) {
  tg_StepKind step = i->step.kind;
  if (tg_debuggee_works(i))
    return;
  i->step.kind = TG_STEP_NONE;
  bool stopped = tg_agent_call(i, L, t);
  tg_cells_settle(&i->cells, L, t->changed);
  if (!stopped && i->step.kind == TG_STEP_NONE)
    i->step.kind = step;
  if (i->life == TG_INSPECTOR_CLOSED)
    tg_watch_end(i, L);
  else
    tg_watch_review(i, L);
}

/* At the frame's current line; 't' says why. */
static void stop (tg_Inspector *i, lua_State *L, lua_Debug *ar, tg_Tidings t) {
  t.kind = "stop";
  t.frame = ar;
  t.line = ar->currentline;
  t.changed = has_changed(i, L);
  tell(i, L, &t);
}

/* Whether the conditions of all breakpoints that the function has come to say
   no. */
static bool is_refused (tg_Inspector *i, lua_State *L, lua_Debug *ar,
                        const tg_Known *k, const tg_Tidings *t) {
  const tg_Tests *tests = &i->tests;
  return (!t->hit || tg_tests_refuse(tests, L, ar, k->at, ar->currentline))
         && (!t->entered || tg_tests_refuse(tests, L, ar, k->at, -k->first));
}

/* Where a function begins is no matter of its lines: a loop comes back to the
   first of them, and what defines the function may stand there, too. */
static void on_line (tg_Inspector *i, lua_State *L, lua_Debug *ar) {
  const void *frame = ar->i_ci;
  bool begins = i->called == frame;
  i->called = NULL;
  const tg_Known *k = known_of(i, L, frame);
  if (k == NULL || tg_step_counted(&i->step, i->direct, ar) || is_own(i, k))
    return;
  tg_Tidings t = {.source = k->at, .entered = begins && k->enters};
  t.hit = k->stops
          && tg_breakpoints_line(&i->breakpoints, k->at, ar->currentline);
  t.stepped = tg_step_ends(&i->step, L, frame);
  bool changed = has_changed(i, L), met = t.hit || t.entered;
  if (met && !t.stepped && !changed && is_refused(i, L, ar, k, &t))
    return;
  if (met || t.stepped || changed)
    stop(i, L, ar, t);
}

/* An instruction in the middle of a line: after a return, or where the pause
   button has met the program. */
static void on_count (tg_Inspector *i, lua_State *L, lua_Debug *ar) {
  const tg_Known *k = (i->step.kind == TG_STEP_NEXT)
                      ? known_of(i, L, ar->i_ci) : NULL;
  if (k == NULL || is_own(i, k))
    return;
  lua_getinfo(L, "l", ar);
  stop(i, L, ar, (tg_Tidings){.source = k->at, .stepped = true});
  tg_step_count(&i->step, i->direct, ar);
}

/* Pushes the first argument of the handler that is called; a vararg handler may
   have it among its extra arguments. */
static void push_error (lua_State *L, const lua_Debug *ar) {
  if (lua_getlocal(L, ar, -1) == NULL && lua_getlocal(L, ar, 1) == NULL)
    lua_pushnil(L);
}

/* A message handler is called where the error is, with all frames still there.
   What runs after an error that has passed a coroutine has caught it. */
static TG_NOINLINE void look_for_error (tg_Inspector *i, lua_State *L,
                                        lua_Debug *ar) {
  const void *frame = ar->i_ci;
  if (!i->direct || tg_debuggee_works(i))
    return;
  if (!tg_thrown_handles(L, frame)) {
    i->passing = i->passing && tg_frame_is_c(frame);
    return;
  }
  if (!lua_checkstack(L, 2))
    return;
  lua_getinfo(L, "f", ar);
  bool ours = lua_tocfunction(L, -1) == i->handler;
  lua_pop(L, 1);
  if (ours)
    return;
  push_error(L, ar);
  tg_watch_error(i, L, L, 1, !tg_thrown_is_caught(i, L, 1));
  lua_pop(L, 1);
}

/* The C function of a frame; NULL of a Lua function. */
TG_INLINE lua_CFunction cfunction_of (const tg_Inspector *i, lua_State *L,
                                      lua_Debug *ar) {
  if (tg_likely(i->direct)) {
    if (tg_likely(!tg_frame_is_c(ar->i_ci)))
      return NULL;
    const void *f = tg_slot_cfunction(tg_frame_function(ar->i_ci));
    return (lua_CFunction)(uintptr_t)f;
  }
  if (!lua_checkstack(L, 1))
    return NULL;
  lua_getinfo(L, "f", ar);
  lua_CFunction f = lua_tocfunction(L, -1);
  lua_pop(L, 1);
  return f;
}

/* The stand-ins show whom they resume (running.h). Lua's own functions, which
   the program may have kept from before there were any, are seen when they are
   called. */
static TG_NOINLINE void look_for_resume (tg_Inspector *i, lua_State *L,
                                         lua_Debug *ar) {
  tg_Role role;
  lua_State *co = tg_arm_subject(L, ar, &role);
  if (co != NULL && co != L)
    entered(i->part.host, co);
}

/* Of most calls with breakpoints elsewhere this is all. Where no trace runs the
   hook that was called is ours, and its mask is one look. */
TG_INLINE void on_call (tg_Inspector *i, lua_State *L, lua_Debug *ar) {
  i->called = ar->i_ci;
  if (tg_unlikely(i->wants.errors != TG_ERRORS_NONE))
    look_for_error(i, L, ar);
  int all = i->session->hooked ? tg_mask_of(i, L) : lua_gethookmask(L);
  int now = all & LINES;
  int mask = (i->step.kind != TG_STEP_NONE || now != CALLS) ? RETURNS : CALLS;
  lua_CFunction c = cfunction_of(i, L, ar);
  if (tg_unlikely(c != NULL && tg_builtins_resumes(c)))
    look_for_resume(i, L, ar);
  if (wants_lines(i, L, ar->i_ci))
    mask = LINES;
  if (tg_unlikely(mask != now))
    tg_mask_set(i, L, mask);
}

static void on_return (tg_Inspector *i, lua_State *L, const lua_Debug *ar) {
  tg_step_left(&i->step, i->direct, L, ar->i_ci);
  if (i->step.kind == TG_STEP_NEXT) {
    tg_mask_set(i, L, LINES | LUA_MASKCOUNT);
    return;
  }
  const void *caller = tg_caller_of(i->direct, L, ar->i_ci);
  int mask = CALLS;
  if (caller != NULL && wants_lines(i, L, caller))
    mask = LINES;
  else if (i->step.kind != TG_STEP_NONE || is_below(i, L, caller))
    mask = RETURNS;
  tg_mask_set(i, L, mask);
}

/* A call or return: what has changed was changed by the function that calls or
   returns. One of C is not shown without its caller. */
static TG_NOINLINE void look_for_change (tg_Inspector *i, lua_State *L,
                                         const lua_Debug *ar) {
  if (tg_debuggee_works(i))
    return;
  tg_cells_shown(&i->cells, L, ar);
  if (tg_cells_look(&i->cells, L))
    tell(i, L, &(tg_Tidings){.kind = "changed", .changed = true,
                             .level = (ar->event == LUA_HOOKCALL)});
  if (ar->event == LUA_HOOKRET)
    tg_cells_returned(&i->cells, L, ar->i_ci);
}

static void hook (lua_State *L, lua_Debug *ar) {
  tg_Inspector *i = inspector_of(L);
  if (tg_unlikely(i == NULL)) {
    lua_sethook(L, NULL, 0, 0);
    return;
  }
  if (tg_unlikely(i->coverage != NULL))
    tg_coverage_event(i->coverage, L, ar);
  if (tg_unlikely(i->cells.count > 0) && ar->event != LUA_HOOKLINE
      && ar->event != LUA_HOOKCOUNT)
    look_for_change(i, L, ar);
  if (tg_unlikely(!tg_debuggee_watched(i)))
    tg_mask_set(i, L, 0);
  else if (tg_likely(ar->event == LUA_HOOKCALL))
    on_call(i, L, ar);
  else if (ar->event == LUA_HOOKRET)
    on_return(i, L, ar);
  else if (ar->event == LUA_HOOKLINE)
    on_line(i, L, ar);
  else if (ar->event == LUA_HOOKCOUNT)
    on_count(i, L, ar);
  else {
    tg_step_tailed(&i->step, L, ar->i_ci);
    on_call(i, L, ar);
  }
}

/* }================================================================== */

/*
** {==================================================================
** From outside of the hook
** ===================================================================
*/

/* Whether the mask of a coroutine that is about to run may be too small: it was
   worked out for other breakpoints, or all lines are wanted by now. Otherwise
   the frames are those for which the mask was worked out. */
static bool is_stale (const tg_Inspector *i, lua_State *co) {
  if (tg_debuggee_sees_lines(i) || i->step.kind == TG_STEP_NEXT
      || i->step.kind == TG_STEP_INTO)
    return true;
  return tg_mask_is_stale(i, co);
}

/* A coroutine is resumed, or the program has set or removed its hook. If code
   of a debugger resumes it, it gets a hook by which that code can be ended. */
static void entered (tg_Host *h, lua_State *co) {
  tg_Inspector *i = tg_debuggee_of(h);
  if (i != NULL && i->evaluation != NULL)
    tg_evaluation_enter(i, co);
  else if (i != NULL && !tg_debuggee_works(i) && tg_debuggee_watched(i)
           && is_stale(i, co))
    tg_mask_set(i, co, mask_until_known(i));
}

void tg_watch_evaluation (const tg_Inspector *i) {
  tg_running_watch(i->part.host, entered);
}

/* Nothing is below: where the program has a hook, ours is not set. */
static const tg_HookLayer layer = {.hook = hook};

void tg_watch_begin (const tg_Inspector *i) {
  tg_hooks_know(i->part.host, TG_HOOK_DEBUGGER, &layer);
  tg_evaluation_setup(i->part.host);
}

void tg_watch_review (tg_Inspector *i, lua_State *L) {
  tg_Host *h = i->part.host;
  int mask = mask_until_known(i);
  lua_State *co;
  tg_running_watch(h, (mask != 0) ? entered : NULL);
  if (i->breakpoints.widened || i->cells.widened)
    tg_mask_set_all(i, L, LINES);
  i->breakpoints.widened = i->cells.widened = false;
  for (int n = 0; (co = tg_running_at(h, n)) != NULL && co != L; n++) {
    lua_State *next = tg_running_at(h, n + 1);
    tg_mask_set_from(i, co, (next != NULL) ? next : L, L, mask);
  }
  tg_mask_set(i, L, mask);
}

bool tg_watch_is_left (const tg_Inspector *i, lua_State *L) {
  return tg_mask_is_taken(i, L);
}

void tg_watch_error (tg_Inspector *i, lua_State *L, lua_State *co, int level,
                     bool uncaught) {
  bool passing = i->passing;
  i->passing = false;
  if (passing || (i->wants.errors == TG_ERRORS_UNCAUGHT && !uncaught))
    return;
  tell(i, L, &(tg_Tidings){.kind = "error", .thrower = co, .level = level,
                           .uncaught = uncaught});
}

void tg_watch_end (tg_Inspector *i, lua_State *L) {
  tg_assert(tg_debuggee_of(i->part.host) == i);
  i->breakpoints.count = 0;
  i->wants.sources = false;
  i->wants.errors = TG_ERRORS_NONE;
  i->step.kind = TG_STEP_NONE;
  tg_coverage_free(i->coverage);
  i->coverage = NULL;
  tg_cells_clear(&i->cells, L);
  tg_tests_clear(&i->tests, L);
  i->wants.pauses = false;
  tg_watch_review(i, L);
  atomic_fetch_add(&generation, 1);
}

/* }================================================================== */
