/*
** ticker.c - see ticker.h. Opened and closed on the thread that is to tick,
** which the handler runs on too. The list of tickers is the process's: changed
** under a mutex that no handler takes, read by handlers.
*/
#include "tick/ticker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "base/alloc.h"
#include "base/atfork.h"

#define TICKERS 64              /* in one process */
#define SIGNALS 8               /* that are tried */
#define VARIED_HZ 1000          /* changes of the period a second, at most */
#define AHEAD 256               /* signals that may be on their way, */
#define REFILL (AHEAD / 2)      /* and after how many more are allowed */
#define LATE_NS 250000000       /* between two ticks of a timer */
#define SECOND_NS UINT64_C(1000000000)

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Which ticks came late: in the thread's processor time. */
typedef struct tg_Lateness {
  uint64_t last_ns;             /* the last tick */
  uint64_t gap_ns;              /* before the first of several at once */
  uint32_t at_once;             /* how many */
} tg_Lateness;

struct tg_Ticker {
  tg_Tick *tick;
  void *ud;
  int fd;                       /* of the performance event, or -1 */
  timer_t timer;                /* if there is none */
  bool timed;
  uint32_t place;               /* in the list */
  uint64_t period_ns;
  uint32_t varied;              /* ticks with the same period */
  uint32_t ticks;               /* so far */
  uint32_t random;              /* of the next period (xorshift) */
  tg_Lateness late;
};

/* Those that tick. A signal names its ticker by the place in the list, or by
   the event's descriptor, and never by an address that may be gone. */
static struct {
  pthread_mutex_t mutex;        /* for changes */
  int signal;                   /* ours; 0: none yet */
  tg_Ticker *_Atomic list[TICKERS];
  _Atomic int events[TICKERS];  /* their descriptors and 1; 0: none */
} all = {.mutex = PTHREAD_MUTEX_INITIALIZER};

uint64_t tg_ticker_used_ns (void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

/* Without RUSAGE_THREAD it is as if it had never waited. */
uint64_t tg_ticker_waits (void) {
  struct rusage r;
  return (getrusage(RUSAGE_THREAD, &r) == 0) ? (uint64_t)r.ru_nvcsw : 0;
}

/* ---- the signal ---- */

/* Which ticker it is: a timer says so by its value, an event by its
   descriptor (si_fd of fcntl(2), F_SETSIG). Other threads' tickers are not
   looked at, which may go at any moment. */
static tg_Ticker *ticker_of (const siginfo_t *info) {
  if (info->si_code == SI_TIMER) {
    uint32_t place = (uint32_t)info->si_value.sival_int;
    return (place < TICKERS) ? atomic_load(&all.list[place]) : NULL;
  }
  for (int i = 0; i < TICKERS; i++) {
    if (atomic_load(&all.events[i]) == info->si_fd + 1)
      return atomic_load(&all.list[i]);
  }
  return NULL;
}

/* From half a period to one and a half, so that the mean stays. Where it
   cannot be set, the period is the one before. Ticks of one period tell less
   than others: a program with a rhythm of its own is met at the same places.
   But to set it costs the kernel as much as a tick. */
static void vary_period (tg_Ticker *t) {
  if (t->fd < 0 || t->ticks % t->varied != 0)
    return;
  t->random ^= t->random << 13;
  t->random ^= t->random >> 17;
  t->random ^= t->random << 5;
  uint64_t period = t->period_ns / 2 + t->period_ns * (t->random >> 16) / 65536;
  ioctl(t->fd, PERF_EVENT_IOC_PERIOD, &period);
}

/*
** A real-time signal waits its turn while it is blocked, one for each tick, and
** the kernel keeps only so many for all of a user's processes (setrlimit(2),
** RLIMIT_SIGPENDING). Beyond that it sends SIGIO instead (fcntl(2), F_SETSIG),
** which ends a program that does not expect it. So an event may send no more
** than a few that are not answered: then it rests until they are.
*/
static bool allow (const tg_Ticker *t, int signals) {
  return ioctl(t->fd, PERF_EVENT_IOC_REFRESH, signals) == 0;
}

static void refill (const tg_Ticker *t) {
  if (t->fd >= 0 && t->ticks % REFILL == 0)
    allow(t, REFILL);
}

/* What comes from elsewhere, or late, is nobody's. */
static void on_signal (int signal, siginfo_t *info, void *context) {
  int error = errno;
  (void)signal;
  if (info->si_code == SI_TIMER || info->si_code == POLL_IN
      || info->si_code == POLL_HUP) {
    tg_Ticker *t = ticker_of(info);
    if (t != NULL) {
      t->ticks++;
      vary_period(t);
      refill(t);
      t->tick(t->ud, t, context);
    }
  }
  errno = error;
}

static bool install (int signal) {
  struct sigaction now, ours = {
    .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART
  };
  sigemptyset(&ours.sa_mask);
  return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_DFL
         && sigaction(signal, &ours, NULL) == 0;
}

/* Whether timers may send a signal: emulators keep some for themselves. */
static bool can_be_sent (int signal) {
  timer_t timer;
  struct sigevent e;
  memset(&e, 0, sizeof e);
  e.sigev_notify = SIGEV_THREAD_ID;
  e.sigev_signo = signal;
  e.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &e, &timer) != 0)
    return errno != EINVAL;
  timer_delete(timer);
  return true;
}

/* A real-time signal that the program does not use. Once chosen it stays, since
   a signal that is still on its way must find the handler. */
static bool have_signal (void) {
  for (int i = 1; i <= SIGNALS && all.signal == 0; i++) {
    if (can_be_sent(SIGRTMAX - i) && install(SIGRTMAX - i))
      all.signal = SIGRTMAX - i;
  }
  if (all.signal == 0)
    errno = EBUSY;
  return all.signal != 0;
}

/* ---- the clocks ---- */

/* The kernel counts this thread alone, in user mode alone, and sends the signal
   to it alone. */
static bool open_event (tg_Ticker *t) {
  struct perf_event_attr a;
  struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
  memset(&a, 0, sizeof a);
  a.size = sizeof a;
  a.type = PERF_TYPE_SOFTWARE;
  a.config = PERF_COUNT_SW_TASK_CLOCK;
  a.sample_period = t->period_ns;
  a.wakeup_events = 1;
  a.exclude_kernel = a.exclude_hv = a.disabled = 1;
  t->fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1,
                       PERF_FLAG_FD_CLOEXEC);
  atomic_store(&all.events[t->place], t->fd + 1);
  return t->fd >= 0 && fcntl(t->fd, F_SETFL, O_ASYNC) == 0
         && fcntl(t->fd, F_SETSIG, all.signal) == 0
         && fcntl(t->fd, F_SETOWN_EX, &owner) == 0
         && allow(t, AHEAD);
}

static bool open_timer (tg_Ticker *t) {
  struct sigevent e;
  struct timespec each = {
    (time_t)(t->period_ns / SECOND_NS), (long)(t->period_ns % SECOND_NS)
  };
  struct itimerspec times = {each, each};
  memset(&e, 0, sizeof e);
  e.sigev_notify = SIGEV_THREAD_ID;
  e.sigev_signo = all.signal;
  e.sigev_value.sival_int = (int)t->place;
  e.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
  t->timed = timer_create(CLOCK_THREAD_CPUTIME_ID, &e, &t->timer) == 0;
  return t->timed && timer_settime(t->timer, 0, &times, NULL) == 0;
}

static void close_clocks (tg_Ticker *t) {
  atomic_store(&all.events[t->place], 0);
  if (t->fd >= 0)
    close(t->fd);
  if (t->timed)
    timer_delete(t->timer);
  t->fd = -1;
  t->timed = false;
}

static bool open_clock (tg_Ticker *t) {
  t->ticks = 0;
  t->late = (tg_Lateness){.last_ns = tg_ticker_used_ns()};
  if (open_event(t))
    return true;
  close_clocks(t);
  return open_timer(t);
}

/* ---- open, close ---- */

/* In the list before it ticks, so that the first signal finds it. */
static bool enter_list (tg_Ticker *t) {
  for (uint32_t i = 0; i < TICKERS; i++) {
    if (atomic_load(&all.list[i]) == NULL) {
      t->place = i;
      atomic_store(&all.list[i], t);
      return true;
    }
  }
  errno = EMFILE;
  return false;
}

static void leave_list (const tg_Ticker *t) {
  tg_assert(atomic_load(&all.list[t->place]) == t);
  atomic_store(&all.list[t->place], NULL);
}

static bool begin (tg_Ticker *t) {
  if (!have_signal() || !enter_list(t))
    return false;
  if (open_clock(t))
    return true;
  int error = errno;
  close_clocks(t);
  leave_list(t);
  errno = error;
  return false;
}

static void at_fork (tg_AtFork side) {
  tg_atfork_mutex(&all.mutex, side);
}

tg_Ticker *tg_ticker_open (uint32_t hz, tg_Tick *tick, void *ud) {
  tg_assert(hz > 0 && tick != NULL);
  tg_Ticker *t = tg_calloc(1, sizeof *t);
  if (t == NULL) {
    errno = ENOMEM;
    return NULL;
  }
  t->tick = tick;
  t->ud = ud;
  t->fd = -1;
  t->period_ns = SECOND_NS / hz;
  t->varied = hz / VARIED_HZ > 1 ? hz / VARIED_HZ : 1;
  t->random = 2463534242u;      /* Marsaglia's: any but 0 */
  tg_atfork_register(TG_ATFORK_TICKERS, at_fork, NULL);
  pthread_mutex_lock(&all.mutex);
  bool ok = begin(t);
  pthread_mutex_unlock(&all.mutex);
  if (!ok) {
    tg_free(t);
    return NULL;
  }
  return t;
}

void tg_ticker_close (tg_Ticker *t) {
  if (t == NULL)
    return;
  pthread_mutex_lock(&all.mutex);
  close_clocks(t);
  leave_list(t);
  pthread_mutex_unlock(&all.mutex);
  tg_free(t);
}

/* ---- ticks that are late ---- */

/* Ticks of an event are half a period apart at least, however busy the machine
   is, but for one that follows upon a late one. Several at once have waited for
   their turn. */
static uint64_t count_queued (tg_Ticker *t, uint64_t gap_ns, bool *queued) {
  tg_Lateness *l = &t->late;
  *queued = gap_ns < t->period_ns / 4;
  if (!*queued) {
    l->gap_ns = gap_ns;
    l->at_once = 0;
    return 0;
  }
  return (++l->at_once == 2) ? l->gap_ns / t->period_ns : 0;
}

uint64_t tg_ticker_note (tg_Ticker *t, uint64_t used_ns, bool *queued) {
  uint64_t gap_ns = used_ns - t->late.last_ns;
  t->late.last_ns = used_ns;
  if (t->fd >= 0)
    return count_queued(t, gap_ns, queued);
  *queued = false;
  return (gap_ns > LATE_NS) ? gap_ns / t->period_ns : 0;
}

uint64_t tg_ticker_outstanding (tg_Ticker *t, uint64_t used_ns) {
  sigset_t blocked;
  uint64_t gap_ns = used_ns - t->late.last_ns;
  if (pthread_sigmask(SIG_BLOCK, NULL, &blocked) != 0
      || !sigismember(&blocked, all.signal))
    return 0;
  t->late.last_ns = used_ns;
  return gap_ns / t->period_ns;
}

int tg_ticker_signal (const tg_Ticker *t) {
  (void)t;
  return all.signal;            /* one for all */
}

/* The kernel looks at timers of processor time with its own tick, which is what
   its coarse clock goes by. */
uint64_t tg_ticker_timer_ns (const tg_Ticker *t) {
  struct timespec tick;
  if (t->fd >= 0)
    return 0;
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0
      || (uint64_t)tick.tv_nsec < t->period_ns)
    return t->period_ns;
  return (uint64_t)tick.tv_nsec;
}

/* A child has no timers (timer_create(2)); of the event it has a descriptor. */
void tg_ticker_forked (tg_Ticker *t) {
  t->timed = false;
  close_clocks(t);
  if (!open_clock(t))
    close_clocks(t);
}
