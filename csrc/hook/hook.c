#include "hook/hook.h"
#include "direct/frame.h"
#include "hook/arm.h"
#include "hook/builtincalls.h"
#include "hook/crosscheck.h"
#include "hook/emit.h"
#include "hook/errorvalue.h"
#include "hook/resumechain.h"
#include "hook/stash.h"
#include "state/ownfunctions.h"
#include "stream/event.h"

static void tg_hook (lua_State *L, lua_Debug *ar);

/*
** {==================================================================
** The one exception to "no mutable statics": which record belongs to the
** coroutine that ran last on this thread. A look-up costs 20 ns.
**
** What a thread remembers holds for one generation. A session that begins,
** ends, or is run by another thread than before (its home) starts a new one
** for all; so only its home may remember a session's records, and forgets
** those that die. One thing remains: a coroutine collected by the host, without
** an event, while another session's gets its address. So while more than one
** session traces, the state's registry is compared as well.
** ===================================================================
*/

static _Thread_local struct {
  lua_State *L;
  tg_Coroutine *thread;
  uint64_t generation;
} cache __attribute__((tls_model("initial-exec")));

#define ONE_GENERATION (UINT64_C(1) << 20)
#define TRACING (ONE_GENERATION - 1)    /* bits: how many sessions trace */
#define CROWDED (UINT64_C(1) << 63)     /* more than one did; cache only */

static _Atomic uint64_t generation = ONE_GENERATION;

TG_INLINE uint64_t current_generation (void) {
  return atomic_load_explicit(&generation, memory_order_relaxed);
}

/* As the cache has it: in a crowd it never equals the generation. */
TG_INLINE uint64_t as_cached (uint64_t g) {
  return ((g & TRACING) > 1) ? g | CROWDED : g;
}

static void next_generation (uint64_t change) {
  atomic_fetch_add_explicit(&generation, ONE_GENERATION + change,
                            memory_order_relaxed);
}

TG_INLINE bool cached (lua_State *L) {
  return tg_likely(cache.L == L && cache.generation == current_generation());
}

/* The same in a crowd; NULL if it is not known. */
static tg_Coroutine *recall (lua_State *L) {
  if (cache.L != L || cache.generation != as_cached(current_generation())
      || cache.thread->session->registry
         != lua_topointer(L, LUA_REGISTRYINDEX))
    return NULL;
  return cache.thread;
}

static void remember (lua_State *L, tg_Coroutine *t) {
  cache.L = L;
  cache.thread = t;
  cache.generation = as_cached(current_generation());
}

/* The state is run by another thread than before. */
static TG_NOINLINE void move_home (tg_Session *s) {
  atomic_store_explicit(&s->home, &cache, memory_order_relaxed);
  next_generation(0);
}

bool tg_hook_home (const tg_Session *s) {
  const void *home = atomic_load_explicit(&((tg_Session *)(uintptr_t)s)->home,
                                          memory_order_relaxed);
  return home == &cache;
}

/* It is as if another coroutine ran: the event is looked at closely. */
void tg_hook_call (void) {
  cache.generation = 0;
}

void tg_hook_forget (const tg_Coroutine *t) {
  if (!tg_hook_home(t->session))
    next_generation(0);
  else if (cache.thread == t)
    cache.generation = 0;
}

void tg_hook_begin (tg_Session *s) {
  s->hook = tg_hook;
  atomic_store_explicit(&s->home, &cache, memory_order_relaxed);
  next_generation(1);
}

void tg_hook_end (tg_Session *s, lua_State *L) {
  atomic_store_explicit(&s->home, NULL, memory_order_relaxed);
  next_generation(UINT64_MAX);  /* one less */
  tg_arm_release(s, L);
}

/* }================================================================== */

/* A hook that was left on a coroutine nobody could reach. */
static void remove_stray (lua_State *L) {
  if (lua_gethook(L) == tg_hook)
    lua_sethook(L, NULL, 0, 0);
}

/* ---- what runs when the stream needs it ---- */

static uint32_t chain_length (const tg_Session *s) {
  uint32_t n = 0;
  for (const tg_Coroutine *t = s->current; t != NULL; t = t->resumer)
    n++;
  return (n < TG_CONTEXT_THREADS) ? n : TG_CONTEXT_THREADS;
}

uint8_t *tg_hook_context (tg_Writer *r, uint8_t *p) {
  tg_Session *s = (tg_Session *)(void *)((char *)r
                                         - offsetof(tg_Session, writer));
  uint32_t n = chain_length(s);
  uint8_t *at = tg_put32(p, n) + 8 * (size_t)n, *end = at;
  for (tg_Coroutine *t = s->current; t != NULL && n > 0; t = t->resumer, n--) {
    at -= 8;
    tg_put32(tg_put32(at, t->id), t->visible);
    t->counted = r->epoch + 1;  /* the epoch that begins here */
  }
  return end;
}

void tg_hook_terminate (tg_Session *s) {
  uint32_t visible = 0;
  for (tg_Coroutine *t = s->current; t != NULL; t = t->resumer) {
    visible += t->visible;
    t->n = t->visible = 0;
  }
  s->depth = 0;
  tg_emit_plain(s, TG_EV_TERMINATE, visible, tg_clock_ticks());
}

/* ---- calls ---- */

/* A function that is not the closure 'seen', unless that shares its line. At
   first sight its source may have to be read: that time is ours, so the call
   begins after it. */
static TG_NOINLINE const tg_Closure *meet (tg_Call *c,
                                           const tg_Closure *seen) {
  tg_Session *s = c->t->session;
  if (tg_catalog_alike(s, c->L, seen, c->ar))
    return seen;
  const tg_Closure *k = tg_catalog_slow(s, c->L, c->ar);
  c->now = tg_clock_ticks();
  return k;
}

/* What the function on top of the stack is; the common case is a closure seen
   before, still of the same definition. NULL without memory. */
static const tg_Closure *identify (tg_Call *call) {
  tg_Session *s = call->t->session;
  lua_State *L = call->L;
  lua_Debug *ar = call->ar;
  const void *address = lua_topointer(L, -1);
  const tg_Closure *c = tg_closures_find(&s->known.closures, address);
  if (c->address != address)
    return meet(call, c);
  if (c->what & TG_FR_C) {
    if (tg_likely(*ar->what == 'C'
                  && (c->source == address
                      || c->source == (const void *)(uintptr_t)
                                      lua_tocfunction(L, -1))))
      return c;
  }
  else if (tg_likely(c->source == ar->source
                     && c->line == (uint32_t)ar->linedefined
                     && c->last_line == (uint32_t)ar->lastlinedefined
                     && c->tail == tg_source_tail(ar->source, ar->srclen))) {
    if (tg_likely(*ar->source == '@') || tg_catalog_same(s, c, ar))
      return c;
  }
  return meet(call, c);
}

/* By the public API. The function's value stays on the Lua stack: luaD_hook
   drops it. */
static TG_NOINLINE void ask_callee (tg_Call *c) {
  lua_getinfo(c->L, "fS", c->ar);
  c->function = lua_topointer(c->L, -1);
  c->callee = identify(c);
}

/* A function whose prototype is not, or not simply, the one that was seen at
   its address. */
static TG_NOINLINE const tg_Closure *meet_slot (tg_Call *c, tg_Slot f,
                                                const tg_Closure *seen) {
  tg_Session *s = c->t->session;
  if (seen->address == tg_slot_key(f) && tg_catalog_holds(s, seen, f))
    return seen;
  lua_getinfo(c->L, "fS", c->ar);
  const tg_Closure *k = tg_catalog_slow(s, c->L, c->ar);
  lua_pop(c->L, 1);
  c->now = tg_clock_ticks();
  return k;
}

/* From memory: what the frame's function is. */
TG_INLINE void read_callee (tg_Call *c) {
  const tg_Closures *known = &c->t->session->known.closures;
  tg_Slot f = tg_frame_function(c->ar->i_ci);
  c->function = f.u.p;
  const void *key = f.u.p;
  bool lua = tg_slot_variant(f) == TG_TAG_LUA;
  if (tg_likely(lua))
    key = tg_function_proto(f);
  c->callee = tg_closures_find(known, key);
  if (tg_unlikely(c->callee->address != key
                  || !(lua ? tg_closure_is_proto(c->callee, key)
                             && !(c->callee->tail & TG_MARK_LONG)
                           : c->callee->source == tg_slot_cfunction(f))))
    c->callee = meet_slot(c, f, c->callee);
}

/* Frames that could not be kept for want of memory are counted as lost. */
static void go_blind (tg_Coroutine *t) {
  t->blind = true;
  t->session->unseen++;
}

/* The caller is not the frame on top. False: the event is inside frames that
   could not be kept. */
static TG_NOINLINE bool settle_call (tg_Coroutine *t, lua_State *L,
                                     lua_Debug *ar, const void *parent,
                                     uint64_t now) {
  if (t->blind && tg_coroutine_frame(t, parent) < 0) {
    t->session->unseen++;
    return false;
  }
  tg_resumechain_settle(t, L, ar, 1, now);
  return true;
}

/* Flags that a frame gets from where it runs. */
TG_INLINE uint32_t placed (const tg_Coroutine *t, uint32_t what) {
  const tg_Frame *caller = tg_coroutine_top(t);
  if (caller != NULL && tg_unlikely(caller->what & TG_FR_OWN))
    what |= TG_FR_OWN | TG_FR_HIDDEN;
  if (tg_unlikely(t->session->depth >= t->session->depth_limit))
    what |= TG_FR_HIDDEN;
  return what;
}

/* The callee is a message handler, or one of Lua's functions that we must know
   of. They are asked about with the function on top of the stack. */
static TG_NOINLINE void note_callee (tg_Call *c, uint32_t what) {
  tg_Coroutine *t = c->t;
  if (t->session->direct)
    lua_getinfo(c->L, "fS", c->ar);
  if (t->handler != NULL && c->function == t->handler)
    tg_stash_handler(t, c->L, c->ar, t->catches[t->ncatches - 1].frame + 1);
  if (tg_builtincalls_noted(TG_NOTED_CALLS, what))
    tg_builtincalls_call(t, c->L, what);
  if (t->session->direct)
    lua_pop(c->L, 1);
}

/* Pushes the callee's frame and tells of the call. */
TG_INLINE void push_call (tg_Call *c) {
  tg_Coroutine *t = c->t;
  tg_Session *s = t->session;
  if (tg_likely(s->direct)) {
    read_callee(c);
    tg_crosscheck_call(c);
  }
  else
    ask_callee(c);
  if (tg_unlikely(c->callee == NULL || !tg_coroutine_room(t))) {
    if (c->tail)
      tg_emit_tail_exit(s, c->now);
    go_blind(t);
    return;
  }
  uint32_t what = placed(t, c->callee->what);
  if (tg_unlikely(t->stashed >= t->n))
    tg_stash_deny(t, c->replaces);
  t->frames[t->n++] = (tg_Frame){c->ar->i_ci, what, s->writer.epoch};
  if (tg_unlikely(tg_builtincalls_noted(TG_NOTED_CALLS, what)
                  || (t->handler != NULL && c->function == t->handler)))
    note_callee(c, what);
  if (tg_likely(!(what & TG_FR_HIDDEN))) {
    t->visible++;
    s->depth++;
    tg_emit_call(c);
  }
  else {
    s->hidden_at = c->now;
    if (c->tail)
      tg_emit_tail_exit(s, c->now);
  }
}

/* The frame that called the one of 'ar'; false if there is none. */
TG_INLINE bool find_caller (const tg_Session *s, lua_State *L,
                            const lua_Debug *ar, lua_Debug *up) {
  if (tg_unlikely(!s->direct))
    return lua_getstack(L, 1, up);
  const void *caller = tg_frame_caller(ar->i_ci);
  up->i_ci = (struct CallInfo *)(uintptr_t)caller;
  return caller != NULL;
}

static void on_call (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                     uint64_t now) {
  lua_Debug up;
  bool nested = find_caller(t->session, L, ar, &up);
  const tg_Frame *top = tg_coroutine_top(t);
  if (top != NULL && tg_unlikely(!nested || top->ci != up.i_ci)) {
    if (!settle_call(t, L, ar, nested ? up.i_ci : NULL, now))
      return;
  }
  tg_Call c = {t, L, ar, nested ? &up : NULL, NULL, NULL, false, false, now};
  push_call(&c);
}

/*
** The callee takes the place of the frame on top. A caller that was hidden, or
** older than the trace, makes it an ordinary call.
*/
static TG_NOINLINE void on_tail_call (tg_Coroutine *t, lua_State *L,
                                      lua_Debug *ar, uint64_t now) {
  lua_Debug up;
  bool nested = find_caller(t->session, L, ar, &up);
  tg_Call c = {t, L, ar, nested ? &up : NULL, NULL, NULL, false, true, now};
  int64_t k = tg_coroutine_frame(t, ar->i_ci);
  if (k >= 0) {
    if (k + 1 < (int64_t)t->n)
      tg_resumechain_miss(t, (uint32_t)(k + 1));
    c.tail = !(t->frames[k].what & TG_FR_HIDDEN);
    t->visible -= c.tail;
    t->session->depth -= c.tail;
    t->n--;
  }
  else if (t->n > 0
           && !settle_call(t, L, ar, nested ? up.i_ci : NULL, now))
    return;
  push_call(&c);
}

/* ---- returns ---- */

/* A frame with a role, hidden, or of our own. */
static TG_NOINLINE void return_special (tg_Coroutine *t, lua_State *L,
                                        lua_Debug *ar, uint32_t what,
                                        uint64_t now) {
  if (tg_builtincalls_noted(TG_NOTED_RETURNS, what))
    tg_builtincalls_return(t, L, ar, what);
  if (t->yielding && tg_role_bits(what) == TG_ROLE_YIELD) {
    t->n++;             /* it was there while it was suspended */
    tg_resumechain_come_back(t, L, ar, now);
    t->n--;
  }
  if (!(what & TG_FR_HIDDEN)) {
    t->visible--;
    t->session->depth--;
    tg_emit_return(t, L, ar, what, now);
  }
  else
    t->session->hidden_at = now;
}

/* The frame that returns is not the one on top. False: it is older than the
   trace, or could not be kept. */
static TG_NOINLINE bool settle_return (tg_Coroutine *t, lua_State *L,
                                       lua_Debug *ar, uint64_t now) {
  if (t->blind && tg_coroutine_frame(t, ar->i_ci) < 0) {
    t->session->unseen++;
    return false;
  }
  if (t->n > 0)
    tg_resumechain_settle(t, L, ar, 0, now);
  const tg_Frame *top = tg_coroutine_top(t);
  if (top == NULL) {
    if (ar->i_ci == t->floor)
      t->floor = NULL;
    t->base_ci = NULL;
    t->based = true;
  }
  return top != NULL && top->ci == ar->i_ci;
}

/* The body of a coroutine has returned: the next event with its address is
   that of another one, or it was started anew. */
static TG_NOINLINE void note_done (tg_Coroutine *t, lua_State *L) {
  if (t->id != 1 && !t->based && lua_isyieldable(L)) {
    t->done = true;
    tg_hook_forget(t);
  }
}

static void on_return (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                       uint64_t now) {
  const tg_Frame *top = tg_coroutine_top(t);
  if (tg_unlikely(top == NULL || top->ci != ar->i_ci)) {
    if (!settle_return(t, L, ar, now))
      return;
    top = tg_coroutine_top(t);
  }
  uint32_t what = top->what;
  t->n--;
  t->blind = false;
  if (tg_likely(!(what & TG_FR_SPECIAL))) {
    t->visible--;
    t->session->depth--;
    tg_emit_return(t, L, ar, what, now);
  }
  else
    return_special(t, L, ar, what, now);
  if (tg_unlikely(t->n == 0))
    note_done(t, L);
}

/* ---- the program's own hook ---- */

static const int mask_of[] = {
  [LUA_HOOKCALL] = LUA_MASKCALL, [LUA_HOOKRET] = LUA_MASKRET,
  [LUA_HOOKLINE] = LUA_MASKLINE, [LUA_HOOKCOUNT] = LUA_MASKCOUNT,
  [LUA_HOOKTAILCALL] = LUA_MASKCALL
};

/* It may raise, yield, or stop the trace: the last thing done but for saying
   that it has returned. */
static TG_NOINLINE void call_user_hook (lua_Hook hook, int mask, lua_State *L,
                                        lua_Debug *ar) {
  if (ar->event != LUA_HOOKLINE)
    ar->currentline = -1;       /* our lua_getinfo may have filled it */
  if (mask & mask_of[ar->event])
    hook(L, ar);
}

/* The session of an event on another coroutine than the last one: of the same
   state, as its registry tells; else that is asked (20 ns). */
TG_INLINE tg_Session *session_of (lua_State *L) {
  if (cached(cache.L) && cache.thread->session->registry
                         == lua_topointer(L, LUA_REGISTRYINDEX))
    return cache.thread->session;
  tg_Session *s = tg_session_find(L);
  return (s != NULL && s->tracing) ? s : NULL;
}

/* A client's commands come before the event. False: with them tracing ended,
   and the event is only the program's. */
static TG_NOINLINE bool answer (tg_Session *s, lua_State *L, lua_Debug *ar) {
  s->attend(s, L);
  if (s->tracing)
    return true;
  lua_Hook hook = lua_gethook(L);
  if (hook != NULL)
    call_user_hook(hook, lua_gethookmask(L), L, ar);
  return false;
}

/* An event on another coroutine than the last one. NULL: not to be traced. */
static TG_NOINLINE tg_Coroutine *switch_to (lua_State *L, lua_Debug *ar,
                                            uint64_t now) {
  tg_Coroutine *t = recall(L);
  if (t != NULL)
    return t;
  tg_Session *s = session_of(L);
  if (s == NULL) {
    remove_stray(L);
    return NULL;
  }
  if (tg_unlikely(!tg_hook_home(s)))
    move_home(s);
  if (tg_unlikely(tg_session_called(s)) && !answer(s, L, ar))
    return NULL;
  t = s->current;
  if (ar->event == LUA_HOOKLINE || ar->event == LUA_HOOKCOUNT)
    return tg_coroutines_find(&s->threads, L);
  if (t == NULL || t->L != L || t->done)
    t = tg_resumechain_enter(s, L, ar, now);
  if (t == NULL) {
    s->unseen++;
    return NULL;
  }
  remember(L, t);
  return t;
}

/* ---- the hook ---- */

static void tg_hook (lua_State *L, lua_Debug *ar) {
  uint64_t now = tg_clock_ticks();
  tg_Coroutine *t = cached(L) ? cache.thread : switch_to(L, ar, now);
  if (tg_unlikely(t == NULL))
    return;
  if (ar->event == LUA_HOOKRET)
    on_return(t, L, ar, now);
  else if (tg_likely(ar->event == LUA_HOOKCALL))
    on_call(t, L, ar, now);
  else if (ar->event == LUA_HOOKTAILCALL)
    on_tail_call(t, L, ar, now);
  tg_Session *s = t->session;
  lua_Hook user = t->user_hook;
  int mask = t->user_mask;
  if (tg_unlikely(s->attention))
    s->attend(s, L);    /* 't' may be gone now */
  if (tg_unlikely(user != NULL)) {
    s->hooking = true;
    call_user_hook(user, mask, L, ar);
    s->hooking = false;
  }
}

/* ---- our own frames ---- */

/* Whether a frame is our own; 'through': or one between ours, as pcall is. */
static bool own_frame (lua_State *L, lua_Debug *ar, bool *through) {
  lua_getinfo(L, "fS", ar);
  bool own = tg_ownfunctions_function(L, ar);
  *through = own || *ar->what == 'C';
  lua_pop(L, 1);
  return own;
}

void tg_hook_own_frames (tg_Session *s, lua_State *L) {
  lua_Debug ar;
  int n = 0;
  bool through = true;
  tg_Coroutine *t = tg_coroutines_find(&s->threads, L);
  for (int i = 0; i < 32 && through && lua_getstack(L, i, &ar); i++) {
    if (own_frame(L, &ar, &through))
      n = i + 1;
  }
  if (t != NULL)
    tg_errorvalue_floor(t, n);
  while (t != NULL && n-- > 0) {
    if (lua_getstack(L, n, &ar) && tg_coroutine_room(t))
      t->frames[t->n++] = (tg_Frame){ar.i_ci, TG_FR_OWN | TG_FR_HIDDEN, 0};
  }
}
