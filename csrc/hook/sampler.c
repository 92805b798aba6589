/*
** sampler.c - see sampler.h. All on the thread that runs the state; 'on_tick'
** in a signal handler there, and 'on_wait' on the thread that watches it.
** Without memory a sample is left out, and the next one stands for its ticks as
** well.
*/
#include "hook/sampler.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "base/standstill.h"
#include "base/ticker.h"
#include "hook/callee.h"
#include "hook/lastrun.h"
#include "hook/standins.h"

/* Of a deeper stack the innermost ones are seen: to walk 200,000 frames takes
   as long as the time between two samples. */
#define FRAMES_MAX 1024
#define LONGEST_NS 50000        /* that a sample takes by itself */
#define CHAIN_MAX 250           /* Lua nests 200 resumes at most */

/* A frame of a sample; or, with function 0, the coroutine whose frames
   follow, with its number in place of the line. */
typedef struct Seen {
  const void *ci;               /* identity; not in the stream */
  uint32_t function;            /* id and TG_SAMPLE_TRACED */
  uint32_t line;
} Seen;

typedef struct SeenList {
  Seen *list;                   /* owns */
  uint32_t n, capacity;
} SeenList;

typedef struct tg_Sampler {
  tg_Ticker *ticker;            /* owns; NULL: none are taken */
  tg_Standstill *watch;         /* owns; NULL: not by the clock */
  tg_SampleRate rate;
  volatile sig_atomic_t ticks;  /* since the sample before */
  _Atomic uint32_t waits_seen;  /* ticks of the clock while it waited */
  uint64_t used_ns;             /* at the sample before: processor time... */
  uint64_t waits;               /* ...how often the thread had waited... */
  uint64_t at;                  /* ...and ticks of the stream's clock */
  uint64_t told;                /* by the clock: up to where samples tell what
                                   there was, in the stream's ticks, */
  double owed_ns;               /* and how long it has run for which no tick of
                                   the processor's has come yet */
  SeenList now, before;         /* the sample that is made, and the last one */
  uint32_t epoch;               /* the writer's at that */
} tg_Sampler;

/* In a handler. */
static void on_tick (void *ud) {
  tg_Session *s = ud;
  s->sampler->ticks++;
  if (s->hooked) {
    s->sampled = true;
    tg_lastrun_doubt();
  }
  else
    tg_running_call(s, TG_CALLER_SAMPLER);
}

/* On the watch's thread: the state's own stands still, or did a moment ago. */
static void on_wait (void *ud) {
  tg_Session *s = ud;
  atomic_fetch_add(&s->sampler->waits_seen, 1);
  if (s->hooked) {
    s->sampled = true;
    tg_lastrun_doubt_all();
  }
  else
    tg_running_catch(s, TG_CALLER_SAMPLER);
}

/*
** {==================================================================
** Looking
** ===================================================================
*/

static bool add (SeenList *d, const void *ci, uint32_t function,
                 uint32_t line) {
  if (!tg_grow(&d->list, &d->capacity, d->n + 1, sizeof *d->list))
    return false;
  d->list[d->n++] = (Seen){ci, function, line};
  return true;
}

/* The record of a coroutine that runs, which gives it its number. One that has
   the address of another that is gone gets a new one. */
static tg_Coroutine *record_of (tg_Session *s, lua_State *co, lua_State *L) {
  tg_Coroutine *t = tg_coroutines_find(&s->threads, co);
  if (t != NULL && co != s->main && !tg_coroutine_alive(t, L)) {
    tg_coroutines_remove(&s->threads, t);
    t = NULL;
  }
  if (t != NULL)
    return t;
  t = tg_coroutines_add(&s->threads, s, co);
  if (t == NULL)
    return NULL;
  tg_session_enlist(s, t, L);
  t->id = (co == s->main) ? 1 : s->threads.next_id++;
  return t;
}

/* The line at which a frame is, 0 for a C function. */
static uint32_t line_of (lua_State *co, lua_Debug *ar, bool direct) {
  int line;
  if (direct)
    line = tg_frame_is_c(ar->i_ci) ? 0 : tg_frame_line(ar->i_ci);
  else {
    lua_getinfo(co, "l", ar);
    line = ar->currentline;
  }
  return line > 0 ? (uint32_t)line : 0;
}

/* What runs in the frame of 'ar'; our own functions are noted with function
   0 and taken out later, since what is above them has to be looked at first.
   False without memory. */
static bool add_frame (tg_Session *s, tg_Coroutine *t, lua_Debug *ar) {
  tg_Call c = {.t = t, .L = t->L, .ar = ar};
  TG_STACK_GUARD(t->L);
  tg_callee_find(&c, s->direct);
  if (!s->direct)
    lua_pop(t->L, 1);
  TG_STACK_CHECK(t->L);
  if (c.callee == NULL)
    return false;
  uint32_t what = c.callee->what;
  uint32_t function = (what & TG_FR_OWN) ? 0 : what & TG_FR_ID;
  uint32_t c_bit = (what & TG_FR_C) ? TG_FR_C : 0;
  return add(&s->sampler->now, ar->i_ci, function | c_bit,
             line_of(t->L, ar, s->direct));
}

/* From the innermost out, 'skip' of them not. */
static bool add_frames (tg_Session *s, tg_Coroutine *t, int skip) {
  lua_Debug ar;
  if (!s->direct) {
    for (int i = skip; i < FRAMES_MAX && lua_getstack(t->L, i, &ar); i++) {
      if (!add_frame(s, t, &ar))
        return false;
    }
    return true;
  }
  const void *ci = tg_direct_running(t->L);
  if (tg_read_pointer(ci, TG_AT_FRAME_CALLER) == NULL)
    ci = NULL;                  /* the host's own: nothing runs */
  for (int i = 0; i < FRAMES_MAX && ci != NULL; i++) {
    ar.i_ci = (struct CallInfo *)(uintptr_t)ci;
    if (i >= skip && !add_frame(s, t, &ar))
      return false;
    ci = tg_frame_caller(ci);
  }
  return true;
}

static void reverse (Seen *list, uint32_t n) {
  for (uint32_t i = 0; i < n / 2; i++) {
    Seen x = list[i];
    list[i] = list[n - 1 - i];
    list[n - 1 - i] = x;
  }
}

/* Without our own functions and the C functions that they call to run the
   program (pcall, xpcall): what those call is the program's. On the main
   coroutine the host's come first, as that of lua.c does. Returns how many are
   left. */
static uint32_t strip (Seen *list, uint32_t n, bool ours) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t id = list[i].function & TG_FR_ID;
    ours = id == 0 || (ours && (list[i].function & TG_FR_C));
    list[i].function = id;
    if (!ours)
      list[left++] = list[i];
  }
  return left;
}

/* Where the shadow stack of a coroutine begins whose outermost frames were left
   out. */
static uint32_t first_seen (const tg_Coroutine *t, const Seen *list,
                            uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    int64_t k = tg_coroutine_frame(t, list[i].ci);
    if (k >= 0)
      return (uint32_t)k;
  }
  return 0;
}

/* Marks those that the stream has CALLs of. False: the shadow stack has frames
   that are not there any more. */
static bool mark_traced (const tg_Coroutine *t, Seen *list, uint32_t n) {
  uint32_t k = (n == FRAMES_MAX) ? first_seen(t, list, n) : 0;
  for (uint32_t i = 0; i < n; i++) {
    while (k < t->n && (t->frames[k].what & TG_FR_OWN))
      k++;
    if (k < t->n && t->frames[k].ci == list[i].ci) {
      if (!(t->frames[k].what & TG_FR_HIDDEN))
        list[i].function |= TG_SAMPLE_TRACED;
      k++;
    }
  }
  while (k < t->n && (t->frames[k].what & TG_FR_OWN))
    k++;
  return k == t->n;
}

/* One coroutine, outermost frame first. */
static bool add_coroutine (tg_Session *s, tg_Coroutine *t, int skip) {
  SeenList *d = &s->sampler->now;
  if (!lua_checkstack(t->L, LUA_MINSTACK) || !add(d, NULL, 0, t->id))
    return false;
  uint32_t first = d->n;
  if (!add_frames(s, t, skip))
    return false;
  reverse(d->list + first, d->n - first);
  d->n = first + strip(d->list + first, d->n - first, t->id == 1);
  return !s->hooked || mark_traced(t, d->list + first, d->n - first);
}

/* Where calls are traced the chain is known; outermost first. */
static bool add_chain (tg_Session *s, lua_State *L, int skip) {
  tg_Coroutine *chain[CHAIN_MAX];
  int n = 0;
  for (tg_Coroutine *t = s->current; t != NULL && n < CHAIN_MAX;
       t = t->resumer)
    chain[n++] = t;
  if (n == 0 || chain[0]->L != L)
    return false;
  while (n-- > 0) {
    if (!add_coroutine(s, chain[n], n == 0 ? skip : 0))
      return false;
  }
  return true;
}

/* Where they are not, the stand-ins know it; 'L' itself may be one that they do
   not know. */
static bool add_running (tg_Session *s, lua_State *L, int skip) {
  lua_State *co = NULL, *next;
  for (int i = 0; co != L; i++) {
    next = tg_running_at(s, i);
    co = (next != NULL) ? next : L;
    tg_Coroutine *t = record_of(s, co, L);
    if (t == NULL || !add_coroutine(s, t, co == L ? skip : 0))
      return false;
  }
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Writing
** ===================================================================
*/

/* How many of the outermost are as in the sample before. Where a reader may
   have begun since, none is. */
static uint32_t count_kept (const tg_Sampler *m, uint32_t epoch) {
  uint32_t k = 0;
  if (m->epoch != epoch)
    return 0;
  while (k < m->now.n && k < m->before.n
         && m->now.list[k].function == m->before.list[k].function
         && m->now.list[k].line == m->before.list[k].line)
    k++;
  return k;
}

/* Room is asked for all of them: whether a chunk begins, where all are written,
   is known afterwards. */
static bool put_sample (tg_Session *s, uint64_t now, uint32_t flags,
                        uint64_t used_ns, uint32_t ticks) {
  tg_Sampler *m = s->sampler;
  tg_Writer *r = &s->writer;
  uint8_t *p = tg_writer_begin(r, 24 + 8 * (size_t)m->now.n, now);
  r->packets++;
  if (p == NULL)
    return false;
  uint32_t kept = count_kept(m, r->epoch);
  p = tg_writer_head(r, p, TG_EV_SAMPLE | flags, now);
  p = tg_put32(tg_put64(p, used_ns), ticks);
  p = tg_put32(tg_put32(p, kept), m->now.n - kept);
  for (uint32_t i = kept; i < m->now.n; i++)
    p = tg_put32(tg_put32(p, m->now.list[i].function), m->now.list[i].line);
  tg_writer_end(r, p);
  return true;
}

/* From here on time runs for the next sample. */
static void start_time (tg_Sampler *m, uint64_t now) {
  m->used_ns = tg_ticker_used_ns();
  m->waits = tg_ticker_waits();
  m->at = now;
}

/* How long it has run since the sample before, in nanoseconds: the processor
   time, if it has waited meanwhile. If it has not, all of the time: that others
   had the processor is part of what its functions took, as it is in calls. */
static uint64_t time_run (tg_Session *s, uint64_t now) {
  tg_Sampler *m = s->sampler;
  uint64_t used_ns = m->used_ns, waits = m->waits, at = m->at;
  start_time(m, now);
  used_ns = (m->used_ns > used_ns) ? m->used_ns - used_ns : 0;
  double passed = (now > at) ? (double)(now - at)
                               * s->writer.stream->clock.ns_per_tick : 0;
  bool waited = m->waits != waits;
  return (waited || passed < (double)used_ns) ? used_ns : (uint64_t)passed;
}

/* What a sample by the clock tells of. */
typedef enum Found {
  FOUND_RUNNING,        /* by the processor's ticks */
  FOUND_WAITING,        /* by the clock's */
  FOUND_LAST            /* by none: all that is left is its own */
} Found;

/*
** By the clock: up to which moment the sample tells what there was. All time is
** either that of what ran, which the processor's ticks find, or of what waited,
** which the clock's do; neither is ever given to the other. So what waited is
** dated back by what has run since, for which a tick is still to come; and a
** tick is dated back by what waited and was not seen, for which the next one
** that is seen stands. The stream's time never goes back.
*/
static uint64_t told_until (tg_Session *s, uint64_t now, Found found) {
  tg_Sampler *m = s->sampler;
  uint64_t left = (now > m->told) ? now - m->told : 0;
  m->owed_ns += (double)time_run(s, now);
  uint64_t owed = (uint64_t)(m->owed_ns
                             / s->writer.stream->clock.ns_per_tick);
  if (owed > left)
    owed = left;
  if (found != FOUND_WAITING)
    m->owed_ns = 0;
  uint64_t until = m->told + (found == FOUND_LAST ? left
                              : found == FOUND_WAITING ? left - owed : owed);
  return (until > s->writer.last) ? until : s->writer.last;
}

/* One for which no time is left is none. */
static bool put_by_clock (tg_Session *s, uint64_t now, Found found,
                          uint32_t ticks) {
  tg_Sampler *m = s->sampler;
  uint64_t until = told_until(s, now, found);
  if (until <= m->told)
    return false;
  double passed = (double)(until - m->told)
                  * s->writer.stream->clock.ns_per_tick;
  m->told = until;
  return put_sample(s, until, found == FOUND_WAITING ? TG_EVF_WAITED : 0,
                    (uint64_t)passed, ticks);
}

/* A function that has waited and then runs is two samples. */
static bool put_all (tg_Session *s, uint64_t now, uint32_t ticks) {
  tg_Sampler *m = s->sampler;
  uint32_t waits = atomic_exchange(&m->waits_seen, 0);
  if (m->watch == NULL)
    return put_sample(s, now, 0, time_run(s, now), ticks);
  bool put = waits > 0 && put_by_clock(s, now, FOUND_WAITING, waits);
  if (ticks > 0 || waits == 0)
    put |= put_by_clock(s, now, ticks > 0 ? FOUND_RUNNING : FOUND_LAST, ticks);
  return put;
}

/* The sample that was made becomes the one before. */
static void write_sample (tg_Session *s, uint64_t now) {
  tg_Sampler *m = s->sampler;
  uint32_t ticks = (uint32_t)m->ticks;
  m->ticks = 0;
  if (!put_all(s, now, ticks))
    return;
  SeenList before = m->before;
  m->before = m->now;
  m->now = before;
  m->epoch = s->writer.epoch;
}

/* At a call the callee is there already, and has not run yet. */
static int not_yet (const lua_Debug *ar) {
  return ar->event == LUA_HOOKCALL;
}

/* A hook that was set after another one had told of its tick has none. */
static bool is_due (const tg_Sampler *m) {
  return m->ticks > 0 || atomic_load(&m->waits_seen) > 0;
}

static void take (tg_Session *s, lua_State *L, const lua_Debug *ar,
                  uint64_t now) {
  s->sampled = false;
  if (!is_due(s->sampler))
    return;
  s->sampler->now.n = 0;
  if (add_chain(s, L, not_yet(ar)))
    write_sample(s, now);
  else {
    s->sampled = true;
    tg_lastrun_doubt();         /* with the next event */
  }
}

/* What it took is tracing's. A system call is where a thread has to let others
   run, and there are some in it: so what is longer than any sample is
   theirs. */
void tg_sampler_take (tg_Session *s, lua_State *L, const lua_Debug *ar,
                      uint64_t now) {
  uint64_t most = (uint64_t)(LONGEST_NS
                             / s->writer.stream->clock.ns_per_tick);
  take(s, L, ar, now);
  uint64_t end = tg_clock_ticks();
  tg_session_toll(s, (end - now < most) ? now : end - most);
}

/* A tick has had its hook; no calls are traced. */
static void on_summons (tg_Session *s, lua_State *L, lua_Debug *ar) {
  s->sampler->now.n = 0;
  if (!s->tracing || s->hooked || s->sampler->ticker == NULL)
    return;
  if (s->sampler->watch != NULL)
    tg_standstill_continue(s->sampler->watch);
  if (is_due(s->sampler) && add_running(s, L, not_yet(ar)))
    write_sample(s, tg_clock_ticks());
  if (s->attention)
    s->attend(s, L);
}

void tg_sampler_finish (tg_Session *s, lua_State *L) {
  if (s->sampler == NULL || s->sampler->ticker == NULL || s->terminated)
    return;
  s->sampler->now.n = 0;
  if (s->hooked ? add_chain(s, L, 0) : add_running(s, L, 0))
    write_sample(s, tg_clock_ticks());
}

/* What ran when the last sample was taken has run up to now. */
void tg_sampler_terminate (tg_Session *s) {
  tg_Sampler *m = s->sampler;
  if (m == NULL || m->ticker == NULL || m->epoch != s->writer.epoch)
    return;
  m->now.n = 0;
  for (uint32_t i = 0; i < m->before.n; i++) {
    const Seen *x = &m->before.list[i];
    if (!add(&m->now, x->ci, x->function, x->line))
      return;
  }
  write_sample(s, tg_clock_ticks());
}

/* }================================================================== */

/*
** {==================================================================
** Beginning and end
** ===================================================================
*/

/* All that was before is nobody's. */
static void start_anew (tg_Sampler *m) {
  start_time(m, tg_clock_ticks());
  m->told = m->at;
  m->owed_ns = 0;
}

static bool make_sampler (tg_Session *s) {
  if (s->sampler == NULL)
    s->sampler = tg_calloc(1, sizeof *s->sampler);
  if (s->sampler != NULL && tg_running_setup(s))
    return true;
  errno = ENOMEM;
  return false;
}

/* The record of the last sample is of no use to the next trace. The stand-ins
   last: to take them away is a call, and if calls are traced an event, after
   which anything may happen. */
static void stop (tg_Session *s, lua_State *L) {
  tg_Sampler *m = s->sampler;
  if (m == NULL || m->ticker == NULL)
    return;
  tg_standstill_close(m->watch);
  tg_ticker_close(m->ticker);
  m->watch = NULL;
  m->ticker = NULL;
  m->rate = (tg_SampleRate){0, false};
  m->before.n = 0;
  s->sampled = false;
  tg_standins_close(s, L, TG_CALLER_SAMPLER);
}

/* By the clock there are two: the processor's ticks for what runs, and the
   watch for what waits. Opened once more beside those that are there, which go
   on if this fails. */
static bool open_clocks (tg_Session *s, lua_State *L, tg_SampleRate rate,
                         tg_Ticker **ticker, tg_Standstill **watch) {
  *watch = NULL;
  if (rate.wall && !tg_running_catches(L)) {
    errno = ENOTSUP;
    return false;
  }
  *ticker = tg_ticker_open(rate.hz, on_tick, s);
  if (*ticker == NULL)
    return false;
  if (!rate.wall)
    return true;
  *watch = tg_standstill_open(rate.hz, on_wait, s);
  if (*watch != NULL)
    return true;
  int error = errno;
  tg_ticker_close(*ticker);
  errno = error;
  return false;
}

static bool same_rate (tg_SampleRate a, tg_SampleRate b) {
  return a.hz == b.hz && a.wall == b.wall;
}

tg_SampleRate tg_sampler_both (tg_SampleRate a, tg_SampleRate b) {
  return (tg_SampleRate){a.hz > b.hz ? a.hz : b.hz, a.wall || b.wall};
}

static tg_SampleRate rate_of (const tg_Session *s) {
  return (s->sampler != NULL) ? s->sampler->rate : (tg_SampleRate){0, false};
}

bool tg_sampler_set (tg_Session *s, lua_State *L, tg_SampleRate rate) {
  tg_Ticker *ticker;
  tg_Standstill *watch;
  if (same_rate(rate, rate_of(s)))
    return true;
  if (rate.hz == 0) {
    stop(s, L);
    return true;
  }
  if (!make_sampler(s) || !open_clocks(s, L, rate, &ticker, &watch))
    return false;
  stop(s, L);
  tg_standins_open(s, L, TG_CALLER_SAMPLER, on_summons);
  s->sampler->ticker = ticker;
  s->sampler->watch = watch;
  s->sampler->rate = rate;
  s->sampler->ticks = 0;
  s->sampler->waits_seen = 0;
  start_anew(s->sampler);
  return true;
}

bool tg_sampler_add (tg_Session *s, lua_State *L, tg_SampleRate rate) {
  return tg_sampler_set(s, L, tg_sampler_both(rate, rate_of(s)));
}

/* The stand-ins stay. Without a clock the child has no samples; what it waits
   for is seen from its first sample on. */
void tg_sampler_forked (tg_Session *s) {
  tg_Sampler *m = s->sampler;
  if (m == NULL || m->ticker == NULL || !tg_lastrun_home(s))
    return;
  tg_ticker_forked(m->ticker);
  tg_running_forked(s);
  if (m->watch != NULL)
    tg_standstill_forked(m->watch);
  m->ticks = 0;
  m->waits_seen = 0;
  start_anew(m);
}

void tg_sampler_free (tg_Session *s) {
  tg_Sampler *m = s->sampler;
  if (m == NULL)
    return;
  tg_standstill_close(m->watch);
  tg_ticker_close(m->ticker);
  tg_free(m->now.list);
  tg_free(m->before.list);
  tg_free(m);
  s->sampler = NULL;
}

/* }================================================================== */
