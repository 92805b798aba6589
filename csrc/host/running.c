/*
** running.c - the list of coroutines that run, and the hook that a handler puts
** on them. All on the thread that runs the state, the handler too; but for
** tg_running_catch, which is another one's. Without memory for the list nobody
** is called.
*/
#include "host/running.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "direct/hookfield.h"
#include "direct/proof.h"

#define LEVELS 201              /* Lua nests 200 of them at most */
#define CALLERS 3
#define EVERY (LUA_MASKCALL | LUA_MASKRET)

/* A coroutine of the running chain: the running coroutine, or one of its
   resumers. */
typedef struct Level {
  lua_State *L;
  tg_UserHook user;             /* the program's, under ours while 'armed' */
  _Atomic bool armed;
} Level;

typedef struct tg_Running {
  tg_Serve *serve[CALLERS];     /* NULL: none such */
  _Atomic bool waits[CALLERS];
  void (*entered) (tg_Host *h, lua_State *co);   /* NULL: nobody asks */
  tg_Died *died;                /* NULL: nobody asks */
  _Atomic int depth;            /* of the running one in: */
  Level levels[LEVELS];         /* the first is the main coroutine */
  tg_UserHook heirs;            /* what a coroutine would have that was made by
                                   one that is armed, and has ours... */
  _Atomic bool heirless;        /* ...but nothing where another thread has armed
                                   its maker */
  _Atomic bool inside;          /* the state's thread changes hooks... */
  _Atomic bool outside;         /* ...or another one does: never both */
  _Atomic bool late;            /* a handler has come while 'inside' was set */
  bool fields;                  /* hooks can be set by their fields in memory */
  tg_UserHook muted;            /* else what is away (tg_running_mute) */
} tg_Running;

static void interrupt_hook (lua_State *L, lua_Debug *ar);

static void arm_all (tg_Running *r);

/*
** {==================================================================
** One at a time
** ===================================================================
*/

/* Each thread sets its flag before it reads the other's (Dekker). The thread
   outside gives way, so the state's thread waits for a few stores at most. This
   is the one store here that must be in order with a load behind it: each such
   costs as much as a call, and coroutines may do little else than switch. */
static void seize (tg_Running *r) {
  tg_assert(!r->inside);
  atomic_store(&r->inside, true);
  while (atomic_load(&r->outside))
    sched_yield();
}

/* A bit for each caller that waits. */
static unsigned waiting (const tg_Running *r) {
  unsigned set = 0;
  for (int i = 0; i < CALLERS; i++)
    set |= (unsigned)r->waits[i] << i;
  return set;
}

/* Arms again if somebody called, or a hook of ours was removed, meanwhile. A
   handler that comes after that look sets 'late' and leaves arming to this
   thread. Once for each caller: ticks may come faster than hooks can be set
   (set_hook). */
static void release (tg_Running *r) {
  for (unsigned armed = 0;;) {
    unsigned set = waiting(r);
    if (set & ~armed)
      arm_all(r);
    armed |= set;
    atomic_store_explicit(&r->inside, false, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&r->late, memory_order_relaxed))
      return;
    r->late = false;
    seize(r);
  }
}

void tg_running_hold (const tg_Host *h) {
  if (h != NULL && h->running != NULL)
    seize(h->running);
}

void tg_running_let (const tg_Host *h) {
  if (h != NULL && h->running != NULL)
    release(h->running);
}

bool tg_running_held (const tg_Host *h) {
  return h->running != NULL && h->running->inside;
}

/* }================================================================== */

/*
** {==================================================================
** Hooks
** ===================================================================
*/

static tg_UserHook read_hook (lua_State *L) {
  lua_Hook hook = lua_gethook(L);
  if (hook == NULL)
    return (tg_UserHook){NULL, 0, 0};
  return (tg_UserHook){hook, lua_gethookmask(L), lua_gethookcount(L)};
}

/* lua_sethook is the one function that Lua allows a signal handler to call
   (ldebug.c says so); but it goes through all frames, and with many of them
   takes longer than a signal takes to come again. */
static void set_hook (const tg_Running *r, lua_State *L, tg_UserHook to) {
  if (r->fields)
    tg_hookfield_put(L, to.hook, to.mask, to.count);
  else
    lua_sethook(L, to.hook, to.mask, to.count);
}

/* Without memory the hook itself is away, and its count begins anew: one that
   counts is armed for nobody who calls functions between instructions. */
int tg_running_mute (const tg_Host *h, lua_State *L) {
  tg_Running *r = h->running;
  seize(r);
  if (r->fields)
    return tg_hookfield_mask(L, 0);
  r->muted = read_hook(L);
  lua_sethook(L, NULL, 0, 0);
  return r->muted.mask;
}

void tg_running_unmute (const tg_Host *h, lua_State *L, int mask) {
  tg_Running *r = h->running;
  if (r->fields)
    tg_hookfield_mask(L, mask);
  else
    lua_sethook(L, r->muted.hook, mask, r->muted.count);
  release(r);
}

/* What a coroutine would have that has our hook from its maker. */
static tg_UserHook inherited (const tg_Running *r) {
  return r->heirless ? (tg_UserHook){NULL, 0, 0} : r->heirs;
}

/* Between seize and release, in a handler or not. What the program has is read
   before, and given back by 'lower'; of a coroutine that has inherited ours
   from its maker that is the maker's. A program that counts instructions would
   have its count begin anew each time (resethookcount), and might never come to
   its end: it is not armed for a sample. */
static void arm (const tg_Running *r, Level *v, bool instructions,
                 bool calls) {
  bool there = lua_gethook(v->L) == interrupt_hook;
  if (!there)
    v->user = read_hook(v->L);
  else if (!v->armed)
    v->user = inherited(r);
  if (v->user.mask & LUA_MASKCOUNT) {
    if (!calls)
      return;
    instructions = false;
  }
  v->armed = true;
  if (instructions)
    set_hook(r, v->L, (tg_UserHook){
      interrupt_hook, EVERY | v->user.mask | LUA_MASKCOUNT, 1
    });
  else if (!there)
    set_hook(r, v->L, (tg_UserHook){
      interrupt_hook, EVERY | v->user.mask, v->user.count
    });
}

/* The innermost coroutine first, since it runs: it alone makes others. */
static void arm_all (tg_Running *r) {
  bool instructions = r->waits[TG_CALLER_SAMPLER]
                      || r->waits[TG_CALLER_INSPECTOR];
  for (int i = r->depth; i >= 0; i--)
    arm(r, &r->levels[i], instructions, r->waits[TG_CALLER_SERVER]);
  r->heirs = r->levels[r->depth].user;
  r->heirless = false;
}

/* A hook that the program has set meanwhile stays. */
static void lower (const tg_Running *r, Level *v) {
  if (!v->armed)
    return;
  if (lua_gethook(v->L) == interrupt_hook)
    set_hook(r, v->L, v->user);
  v->armed = false;
}

/* All coroutines get their own hooks back. 'L', if it is not NULL, too: it may
   be on no level and have inherited ours. */
static void lower_all (tg_Running *r, lua_State *L) {
  seize(r);
  for (int i = r->depth; i >= 0; i--)
    lower(r, &r->levels[i]);
  if (L != NULL && lua_gethook(L) == interrupt_hook) {
    tg_UserHook user = inherited(r);
    lua_sethook(L, user.hook, user.mask, user.count);
  }
  release(r);
}

/* What is under ours on 'L'. A coroutine that was made while its maker was
   armed has our hook and no level, or is not armed there: what it would have
   inherited is its maker's, which was the innermost level. The search begins
   there, since it is mostly that of 'L'. */
static tg_UserHook below (const tg_Host *h, lua_State *L) {
  const tg_Running *r = h->running;
  for (int i = r->depth; i >= 0; i--) {
    if (r->levels[i].L == L && r->levels[i].armed)
      return r->levels[i].user;
  }
  return inherited(r);
}

static void serve_one (tg_Host *h, lua_State *L, lua_Debug *ar,
                       tg_Caller who, bool due) {
  tg_Running *r = h->running;
  if (due && r->serve[who] != NULL)
    r->serve[who](h, L, ar);
}

/* Those that wait are served, and the hook is gone, unless somebody calls
   again meanwhile. The server is not, between two lines: there a call of ours
   would be taken for a new line. Then the hook stays for the next call or
   return: set anew, since the inspector may have left one of its own. */
static void answer (tg_Host *h, lua_State *L, lua_Debug *ar) {
  tg_Running *r = h->running;
  bool rest = ar->event != LUA_HOOKLINE && ar->event != LUA_HOOKCOUNT;
  bool due[CALLERS];
  for (int i = 0; i < CALLERS; i++)
    due[i] = atomic_exchange(&r->waits[i], false);
  lower_all(r, L);
  serve_one(h, L, ar, TG_CALLER_SAMPLER, due[TG_CALLER_SAMPLER]);
  serve_one(h, L, ar, TG_CALLER_INSPECTOR, due[TG_CALLER_INSPECTOR]);
  if (due[TG_CALLER_SERVER] && !rest)
    tg_running_call(h, TG_CALLER_SERVER);
  else
    serve_one(h, L, ar, TG_CALLER_SERVER, due[TG_CALLER_SERVER]);
}

/* What tracing begins with is this event: the tracer's hook may be there by
   now, and sees to the program's. That may raise: it comes last. Without a
   host the state is closing. */
static void interrupt_hook (lua_State *L, lua_Debug *ar) {
  tg_Host *h = tg_host_find(L);
  if (h == NULL || h->running == NULL) {
    lua_sethook(L, NULL, 0, 0);
    return;
  }
  tg_UserHook was = below(h, L);
  answer(h, L, ar);
  if (tg_hooks_has(h, L, TG_HOOK_TRACER)
      && tg_hooks_level(h, was.hook) != TG_HOOK_TRACER)
    was = (tg_UserHook){lua_gethook(L), EVERY, 0};
  if (was.hook != NULL && (was.mask & lx_event_mask(ar->event)))
    was.hook(L, ar);
}

/* A handler that comes while its thread changes hooks leaves arming to the
   thread: it would read a hook that is half set. */
void tg_running_call (tg_Host *h, tg_Caller who) {
  tg_Running *r = h->running;
  r->waits[who] = true;
  if (r->inside) {
    r->late = true;
    return;
  }
  seize(r);
  release(r);
}

/* A program's own hook is left alone: to put ours above it and keep it is more
   than one store. What is below ours is there before ours is seen. */
static bool arm_from_outside (Level *v) {
  if (v->armed)
    return false;
  v->user = (tg_UserHook){NULL, 0, 0};
  v->armed = true;
  atomic_thread_fence(memory_order_seq_cst);
  bool set = tg_hookfield_set(v->L, interrupt_hook, EVERY);
  if (!set)
    v->armed = false;
  return set;
}

/* Coroutines on the list live: they are on the stacks of those that have
   resumed them, and none leaves the list meanwhile (tg_running_leave). */
void tg_running_catch (tg_Host *h, tg_Caller who) {
  tg_Running *r = h->running;
  atomic_store(&r->outside, true);
  if (!atomic_load(&r->inside)) {
    int depth = r->depth;
    r->waits[who] = true;
    for (int i = depth; i >= 0; i--) {
      if (arm_from_outside(&r->levels[i]) && i == depth)
        r->heirless = true;
    }
  }
  atomic_store(&r->outside, false);
}

bool tg_running_catches (lua_State *L) {
  return tg_proof_holds(L) && tg_hookfield_known();
}

/* Where the program has a hook that would have to be kept, nothing is set: that
   is known of coroutines on the list alone. What this one makes has none. */
void tg_running_reach (tg_Host *h, lua_State *L, tg_Caller who) {
  tg_running_call(h, who);
  tg_running_hold(h);
  bool none = lua_gethook(L) == NULL;
  if (none)
    lua_sethook(L, interrupt_hook, EVERY, 0);
  tg_running_let(h);
  if (none)
    h->running->heirless = true;
}

void tg_running_lower (tg_Host *h) {
  tg_Running *r = h->running;
  if (r == NULL)
    return;
  for (int i = 0; i < CALLERS; i++)
    r->waits[i] = false;
  lower_all(r, NULL);
}

void tg_running_forked (tg_Host *h) {
  if (h->running != NULL)
    atomic_store(&h->running->outside, false);
}

/* }================================================================== */

/*
** {==================================================================
** Which coroutines run
** ===================================================================
*/

/* The order is for the handler, which may come between any two of these.
   False: deeper than Lua itself goes, so it cannot be (LUAI_MAXCCALLS is 200).
   Then the coroutine is not reached by a signal. */
bool tg_running_enter (tg_Host *h, lua_State *co) {
  tg_Running *r = h->running;
  if (r == NULL || r->depth + 1 == LEVELS)
    return false;
  int d = r->depth + 1;
  if (r->entered != NULL)
    r->entered(h, co);
  r->levels[d].L = co;
  atomic_store_explicit(&r->levels[d].armed, false, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
  atomic_store_explicit(&r->depth, d, memory_order_release);
  return true;
}

/* The level goes before its hook does: what is left is armed again, if somebody
   calls. */
void tg_running_leave (const tg_Host *h) {
  tg_Running *r = h->running;
  tg_assert(r != NULL && r->depth > 0);
  int d = r->depth;
  seize(r);
  atomic_store_explicit(&r->depth, d - 1, memory_order_release);
  lower(r, &r->levels[d]);
  release(r);
}

void tg_running_watch (tg_Host *h,
                       void (*entered) (tg_Host *h, lua_State *co)) {
  if (h->running != NULL)
    h->running->entered = entered;
}

void tg_running_show (tg_Host *h, lua_State *co) {
  if (h->running != NULL && h->running->entered != NULL)
    h->running->entered(h, co);
}

void tg_running_report_deaths (tg_Host *h, tg_Died *died) {
  if (h->running != NULL)
    h->running->died = died;
}

void tg_running_died (tg_Host *h, lua_State *L, lua_State *co, bool passes) {
  if (h->running != NULL && h->running->died != NULL)
    h->running->died(h, L, co, passes);
}

lua_State *tg_running_at (const tg_Host *h, int i) {
  const tg_Running *r = h->running;
  return (r != NULL && i <= r->depth) ? r->levels[i].L : NULL;
}

lua_State *tg_running_top (const tg_Host *h) {
  const tg_Running *r = h->running;
  return (r != NULL && !r->inside) ? r->levels[r->depth].L : NULL;
}

/* }================================================================== */

/*
** {==================================================================
** Callers come and go
** ===================================================================
*/

static const tg_HookLayer layer = {.hook = interrupt_hook, .below = below};

bool tg_running_setup (tg_Host *h, lua_State *L) {
  if (h->running != NULL)
    return true;
  h->running = tg_calloc(1, sizeof *h->running);
  if (h->running == NULL)
    return false;
  tg_hooks_know(h, TG_HOOK_INTERRUPT, &layer);
  h->running->levels[0].L = h->main;
  h->running->fields = tg_proof_holds(L) && tg_hookfield_counts();
  return true;
}

void tg_running_free (tg_Host *h) {
  tg_free(h->running);
  h->running = NULL;
}

static bool has_callers (const tg_Running *r) {
  for (int i = 0; i < CALLERS; i++) {
    if (r->serve[i] != NULL)
      return true;
  }
  return false;
}

bool tg_running_open (const tg_Host *h) {
  return h->running != NULL && has_callers(h->running);
}

bool tg_running_add (tg_Host *h, tg_Caller who, tg_Serve *serve) {
  tg_assert(h->running != NULL && h->running->serve[who] == NULL);
  bool first = !has_callers(h->running);
  h->running->serve[who] = serve;
  return first;
}

/* What is still due is not served any more. */
bool tg_running_remove (tg_Host *h, tg_Caller who) {
  tg_Running *r = h->running;
  if (r == NULL || r->serve[who] == NULL)
    return false;
  r->serve[who] = NULL;
  r->waits[who] = false;
  if (has_callers(r))
    return false;
  lower_all(r, NULL);
  return true;
}

/* }================================================================== */
