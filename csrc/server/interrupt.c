/*
** interrupt.c - the signal that reaches a state which does not trace, and the
** sentinel for coroutines that no handler reaches. All on the thread that runs
** the state, the handler too; the list of who is to be reached is shared, and
** changed under a mutex that no handler takes.
*/
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "server/interrupt.h"
#include "base/alloc.h"
#include "chain/lastrun.h"
#include "direct/cstack.h"
#include "direct/proof.h"
#include "host/standins.h"
#include "inspect/inspector.h"
#include "server/lifeline.h"
#include "signal/asleep.h"
#include "signal/stackend.h"
#include "state/session.h"

#define STATES 64               /* that listen in one process */
#define SIGNALS 65

static const char key_sentinel = 0;   /* registry: the sentinel's metatable */

typedef struct tg_Interrupt {
  tg_Part part;                 /* on its host from its making on */
  tg_Session *session;          /* borrows */
  void (*turn) (tg_Session *s, lua_State *L);
  tg_Channel *channel;          /* borrows; NULL while closed */
  uintptr_t stack_end;          /* of its thread; 0: not known */
  int signal;
  bool blocked;                 /* tracing begins: the signal is blocked... */
  sigset_t before;              /* ...and this is what was before */
} tg_Interrupt;

/* Who is to be reached by a signal. Each entry is its thread's: a handler looks
   no further into those of others than at 'owner'. */
static struct {
  pthread_mutex_t mutex;        /* for changes */
  struct {
    _Atomic uintptr_t owner;    /* the thread; 0: a free entry */
    tg_Interrupt *_Atomic interrupt;
  } entries[STATES];
  struct {
    int users;
    struct sigaction before;
  } signals[SIGNALS];
} all = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static const tg_PartKind part_kind;

/* NULL: the state has never listened. */
static tg_Interrupt *interrupt_of (const tg_Host *h) {
  return (tg_Interrupt *)(void *)tg_part_find(h, &part_kind);
}

/* The commands are carried out at a call or a return, where Lua itself is at a
   rest. What tracing begins with is this event. */
static void answer (tg_Host *h, lua_State *L, lua_Debug *ar) {
  const tg_Interrupt *r = interrupt_of(h);
  (void)ar;
  if (r->channel != NULL)
    r->turn(r->session, L);
}

/*
** {==================================================================
** The signal
** ===================================================================
*/

/* Whether the program waits in a system call that a C function of this state
   makes: then nothing of the state or of an allocator is half done (asleep.h).
   A state may have gone to another thread; it runs on the one whose stack its
   protected calls are on. */
static bool is_resting (const tg_Interrupt *r, const lua_State *L,
                        const void *context) {
  const tg_Asleep *a = &r->channel->asleep;
  return L != NULL && r->stack_end != 0 && tg_asleep_there(a, context)
         && tg_cstack_runs(L, tg_asleep_stack(a), r->stack_end);
}

/* Debuggers are answered there, as far as that needs nothing to be run. */
static void visit (const tg_Interrupt *r, const void *context) {
  lua_State *L = tg_running_top(r->part.host);
  if (atomic_load(&r->channel->messages) && is_resting(r, L, context))
    tg_inspector_visit(r->part.host, L);
}

/* A signal for nothing (another process sends one as well) does nothing. A
   debugger reaches a loop that calls nothing, too; it comes first, as it has
   the hook fire sooner. What a debugger is told may close the state to others:
   then there is no channel any more. */
static void call_upon (tg_Interrupt *r, const void *context) {
  if (r->channel == NULL || !atomic_load(&r->channel->wanted))
    return;
  visit(r, context);
  if (r->channel == NULL || !atomic_load(&r->channel->wanted))
    return;
  if (atomic_load(&r->channel->messages))
    tg_running_call(r->part.host, TG_CALLER_INSPECTOR);
  if (r->session->hooked)
    tg_lastrun_invalidate();
  else
    tg_running_call(r->part.host, TG_CALLER_SERVER);
}

/* Our signals come from tgkill of our own process, and from the pipe of a
   process that listened. */
static bool is_ours (const siginfo_t *info) {
  return (info->si_code == SI_TKILL && info->si_pid == getpid())
         || tg_lifeline_sent(info);
}

/* A signal that was not ours goes to the handler that was there before. */
static void pass_on (int signal, siginfo_t *info, void *context) {
  const struct sigaction *a = &all.signals[signal].before;
  if (is_ours(info))
    return;
  if (a->sa_flags & SA_SIGINFO)
    a->sa_sigaction(signal, info, context);
  else if (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN)
    a->sa_handler(signal);
}

/* The process that listened has ended: those of its states that go on in this
   one have to see to that (endpoint.h). All of them at once: when the first has
   done so, the others could not find it out any more. In a handler, too. */
static void look_for_orphans (void) {
  uintptr_t self = (uintptr_t)pthread_self();
  if (!tg_lifeline_due())
    return;
  for (int i = 0; i < STATES; i++) {
    tg_Interrupt *r = (atomic_load(&all.entries[i].owner) == self)
                      ? atomic_load(&all.entries[i].interrupt) : NULL;
    if (r != NULL && r->channel != NULL)
      atomic_store(&r->channel->wanted, true);
  }
}

/* Several states may run on one thread, one inside of another: each looks for
   itself whether it is wanted. */
static void on_signal (int signal, siginfo_t *info, void *context) {
  int error = errno;
  uintptr_t self = (uintptr_t)pthread_self();
  look_for_orphans();
  for (int i = 0; i < STATES; i++) {
    if (atomic_load(&all.entries[i].owner) == self) {
      tg_Interrupt *r = atomic_load(&all.entries[i].interrupt);
      if (r != NULL)
        call_upon(r, context);
    }
  }
  pass_on(signal, info, context);
  errno = error;
}

static bool handled_by_us (int signal) {
  struct sigaction now;
  return sigaction(signal, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO)
         && now.sa_sigaction == on_signal;
}

/* The first state that wants the signal installs the handler. If the program
   has installed another handler since, ours replaces and calls it. */
static bool watch_signal (int signal) {
  struct sigaction ours = {
    .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART
  };
  sigemptyset(&ours.sa_mask);
  if (signal <= 0 || signal >= SIGNALS) {
    errno = EINVAL;
    return false;
  }
  if (!handled_by_us(signal)
      && (sigaction(signal, NULL, &all.signals[signal].before) != 0
          || sigaction(signal, &ours, NULL) != 0))
    return false;
  all.signals[signal].users++;
  return true;
}

/* The last one gives back what was there, unless the program has put its own
   in the place of ours. */
static void unwatch_signal (int signal) {
  tg_assert(all.signals[signal].users > 0);
  if (--all.signals[signal].users == 0 && handled_by_us(signal))
    sigaction(signal, &all.signals[signal].before, NULL);
}

/* 'owner' last: it is what a handler looks for, and the interrupt must be
   there when it finds it. */
static bool enter_list (tg_Interrupt *r) {
  for (int i = 0; i < STATES; i++) {
    if (atomic_load(&all.entries[i].owner) == 0) {
      atomic_store(&all.entries[i].interrupt, r);
      atomic_store(&all.entries[i].owner, (uintptr_t)pthread_self());
      return true;
    }
  }
  errno = EMFILE;
  return false;
}

/* 'owner' last here too: an entry that is free has no interrupt. */
static void leave_list (const tg_Interrupt *r) {
  for (int i = 0; i < STATES; i++) {
    if (atomic_load(&all.entries[i].interrupt) == r) {
      atomic_store(&all.entries[i].interrupt, NULL);
      atomic_store(&all.entries[i].owner, 0);
    }
  }
}

/* No signal until 'resume': the hooks of the state are about to be read, and
   ours must not be taken for the program's. The mask is this thread's, and the
   signal is sent to it alone. */
static void block (tg_Part *p) {
  tg_Interrupt *r = (tg_Interrupt *)(void *)p;
  sigset_t set;
  tg_assert(!r->blocked);
  if (r->channel == NULL)
    return;
  sigemptyset(&set);
  sigaddset(&set, r->signal);
  r->blocked = pthread_sigmask(SIG_BLOCK, &set, &r->before) == 0;
  tg_running_lower(p->host);
}

static void unblock (tg_Part *p) {
  tg_Interrupt *r = (tg_Interrupt *)(void *)p;
  if (r->blocked)
    pthread_sigmask(SIG_SETMASK, &r->before, NULL);
  r->blocked = false;
}

/* }================================================================== */

/*
** {==================================================================
** The sentinel
** ===================================================================
*/

/* It is garbage at once, so the next collection finds it. */
static int post_sentinel (lua_State *L) {
  lua_newuserdatauv(L, 1, 0);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &key_sentinel);
  lua_setmetatable(L, -2);
  return 0;
}

/* The collector has found the sentinel; a new one takes its place. The
   finalizer may run wherever Lua allocates, and nobody sees it called: so what
   it allocates is said to be ours, and it sets the hook too, where the program
   has none that would have to be kept. */
static int sentinel__gc (lua_State *L) {
  const tg_Interrupt *r = interrupt_of(tg_host_find(L));
  if (r == NULL || r->channel == NULL)
    return 0;
  bool own = tg_session_own(r->session, true);
  lx_quietly(L, post_sentinel, NULL);
  tg_session_own(r->session, own);
  look_for_orphans();
  if (!atomic_load(&r->channel->wanted))
    return 0;
  if (r->session->hooked)
    tg_lastrun_invalidate();
  else
    tg_running_reach(r->part.host, L, TG_CALLER_SERVER);
  return 0;
}

/* A sentinel's metatable, in the registry under its own key. */
static void setup_sentinel (lua_State *L) {
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, sentinel__gc);
  lua_setfield(L, -2, "__gc");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key_sentinel);
}

/* }================================================================== */

/*
** {==================================================================
** Opening and closing
** ===================================================================
*/

/* The state closes. Its endpoint may do so later and finds nothing here. */
static void closing (tg_Part *p, lua_State *L) {
  tg_interrupt_close(p->host, L);
  tg_part_remove(p);
  tg_free(p);
}

static const tg_PartKind part_kind = {
  .block = block, .unblock = unblock, .closing = closing
};

/* It stays until the state closes: a hook or a stand-in may be met long after
   the state has stopped listening. */
void tg_interrupt_setup (lua_State *L, tg_Session *s,
                         void (*turn) (tg_Session *s, lua_State *L)) {
  if (interrupt_of(&s->host) != NULL)
    return;
  setup_sentinel(L);
  bool made = tg_running_setup(&s->host, L);
  tg_Interrupt *r = made ? tg_calloc(1, sizeof *r) : NULL;
  if (r == NULL)
    luaL_error(L, "not enough memory");
  r->session = s;
  r->turn = turn;
  tg_part_add(&s->host, &r->part, &part_kind);
}

/* The end of the calling thread's stack; 0: it is not known, or is of no use,
   as the state's memory is not read. */
static uintptr_t find_stack_end (lua_State *L) {
  return tg_proof_holds(L) && tg_cstack_known() ? tg_stackend() : 0;
}

/* The sentinel needs memory, which may lack: then less is reached, which is no
   reason not to listen. */
bool tg_interrupt_open (lua_State *L, tg_Session *s, tg_Channel *channel) {
  tg_Interrupt *r = interrupt_of(&s->host);
  tg_assert(r != NULL && r->channel == NULL);
  pthread_mutex_lock(&all.mutex);
  bool ok = watch_signal(channel->signal);
  if (ok && !enter_list(r)) {
    unwatch_signal(channel->signal);
    ok = false;
  }
  pthread_mutex_unlock(&all.mutex);
  if (!ok)
    return false;
  r->signal = channel->signal;
  r->stack_end = find_stack_end(L);
  r->channel = channel;
  tg_standins_open(&s->host, L, TG_CALLER_SERVER, answer);
  lx_quietly(L, post_sentinel, NULL);
  return true;
}

/* By SIGURG and by no other, which may do more than nothing where the child has
   put its signals back to what they are by default. */
void tg_interrupt_forked (const tg_Host *h) {
  const tg_Interrupt *r = interrupt_of(h);
  uintptr_t self = (uintptr_t)pthread_self();
  for (int i = 0; i < STATES; i++) {
    if (r != NULL && r->signal == SIGURG && handled_by_us(SIGURG)
        && atomic_load(&all.entries[i].interrupt) == r
        && atomic_load(&all.entries[i].owner) == self)
      tg_lifeline_arm();
  }
}

/* The list first: after that no handler sets a hook, and what is set is taken
   away. */
void tg_interrupt_close (tg_Host *h, lua_State *L) {
  tg_Interrupt *r = interrupt_of(h);
  if (r == NULL || r->channel == NULL)
    return;
  pthread_mutex_lock(&all.mutex);
  leave_list(r);
  unwatch_signal(r->signal);
  pthread_mutex_unlock(&all.mutex);
  r->channel = NULL;
  tg_standins_close(h, L, TG_CALLER_SERVER);
}

/* }================================================================== */
