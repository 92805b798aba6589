/*
** sampler.c - see sampler.h. All on the thread that runs the state, but
** 'on_wait', on the thread that watches it. What a tick does in its signal
** handler is in tickhandler.c. Without memory a sample is left out, and the
** next one stands for its ticks as well.
*/
#include "sample/sampler.h"

#include <errno.h>

#include "base/alloc.h"
#include "chain/lastrun.h"
#include "chain/resumechain.h"
#include "chain/window.h"
#include "direct/hookfield.h"
#include "host/running.h"
#include "host/standins.h"
#include "sample/apart.h"
#include "sample/catchup.h"
#include "sample/longcalls.h"
#include "sample/newmakers.h"
#include "sample/sampling.h"
#include "sample/tickhandler.h"
#include "sample/ticknotes.h"

#define LONGEST_NS 50000        /* that a sample takes by itself */
#define ENTRIES (TG_STACKWALK_FRAMES + 64)      /* that a handler has room
                                   for */

static const tg_PartKind part_kind;

/* NULL: there were no samples yet. */
static tg_Sampler *sampler_of (const tg_Session *s) {
  return (tg_Sampler *)(void *)tg_part_find(&s->host, &part_kind);
}

/* On the watch's thread: the state's own stands still, or did a moment ago. */
static void on_wait (void *ud) {
  tg_Sampler *m = ud;
  tg_Session *s = m->session;
  atomic_fetch_add(&m->waits_seen, 1);
  if (s->hooked) {
    s->sampled = true;
    tg_lastrun_invalidate_all();
  }
  else
    tg_running_catch(&s->host, TG_CALLER_SAMPLER);
}

/*
** {==================================================================
** Samples
** ===================================================================
*/

/* At a call the callee is there already, and has not run yet. */
static int not_yet (const lua_Debug *ar) {
  return ar->event == LUA_HOOKCALL;
}

/* A hook may be set for a tick that another hook has told of before: then no
   sample is due. */
static bool has_come (const tg_Sampler *m) {
  return m->ticks > 0 || atomic_load(&m->waits_seen) > 0;
}

static bool is_due (const tg_Sampler *m) {
  return m->opens || has_come(m);
}

/* Where calls are traced, a first sample shows the frames below the first call,
   that it need not wait for a tick to have its place. None of the program's may
   be there yet; and what has begun the trace may be about to return. */
static bool opens (const tg_Sampler *m, const lua_Debug *ar) {
  const tg_StackWalk *w = &m->writer.now;
  return m->opens && ar->event == LUA_HOOKCALL && w->n > 0
         && w->list[w->n - 1].function != 0;
}

/* Where the interpreter's memory is read: whether the tick has met what is only
   now said to be called. */
static bool has_met_callee (const tg_Leaf *leaf, const lua_Debug *ar) {
  bool begins = ar->event == LUA_HOOKCALL || ar->event == LUA_HOOKTAILCALL;
  return begins && (leaf->L != NULL || leaf->moves) && leaf->ci == ar->i_ci
         && leaf->function.u.p == tg_frame_function(ar->i_ci).u.p;
}

/* What runs now. After an error the shadow stack has more than what returns: it
   is put right now, and not by the event only, or the sample would be the next
   one's. */
static bool walk_traced (tg_Sampler *m, lua_State *L, lua_Debug *ar,
                         uint64_t now) {
  tg_Session *s = m->session;
  tg_Coroutine *t = s->current;
  const tg_Frame *top = t != NULL ? tg_coroutine_top(t) : NULL;
  if (ar->event == LUA_HOOKRET && top != NULL && t->L == L && !t->blind
      && top->ci != ar->i_ci)
    tg_resumechain_align(t, L, ar, 0, now);
  return tg_stackwalk_chain(&m->writer.now, s, L, not_yet(ar));
}

/* With the next event. */
static void put_off (tg_Session *s) {
  s->sampled = true;
  tg_lastrun_invalidate();
}

/* A tick that has met the callee waits for the event after, when the stream has
   the call. */
static void take (tg_Sampler *m, lua_State *L, lua_Debug *ar,
                  tg_TickMoment now) {
  tg_Session *s = m->session;
  s->sampled = false;
  if (!is_due(m))
    return;
  if (!m->opens && has_met_callee(&m->leaf, ar)) {
    m->leaf = (tg_Leaf){.L = NULL};
    put_off(s);
    return;
  }
  bool found = walk_traced(m, L, ar, now.ticks);
  bool first = found && opens(m, ar);
  if (found && (first || has_come(m))) {
    tg_leaf_mend(&m->writer.now, s, L, ar, &m->leaf, m->strangers.collector);
    tg_sampling_write(m, now);
  }
  m->opens = m->opens && !first;
  if (!found || m->opens)
    put_off(s);
}

/* The time that a sample takes is tracing's. In its system calls other threads
   may get the processor: so time beyond that of the longest sample is
   theirs. */
void tg_sampler_sample (tg_Session *s, lua_State *L, lua_Debug *ar,
                        uint64_t now) {
  tg_Sampler *m = sampler_of(s);
  uint64_t most = (uint64_t)(LONGEST_NS / m->writer.time.ns_per_tick);
  tg_TickMoment begun = tg_tickmoment_now();
  tg_tickwork_begin(&m->work);
  take(m, L, ar, (tg_TickMoment){now, begun.used_ns});
  tg_tickwork_end(&m->work, begun);
  uint64_t end = tg_clock_ticks();
  tg_session_overhead(s, (end - now < most) ? now : end - most);
}

/* With the first sample: when a trace begins, all that was known of functions
   is forgotten. */
static void know_long_calls (tg_Sampler *m, lua_State *L) {
  if (m->knows || m->glancer.stack_end == 0)
    return;
  m->knows = true;
  int mask = tg_running_mute(m->part.host, L);
  tg_longcalls_know(m->session, L);
  tg_running_unmute(m->part.host, L, mask);
}

/* No tick comes meanwhile. */
static void end_window (tg_Session *s, lua_State *L, int skip, uint64_t now) {
  tg_Sampler *m = sampler_of(s);
  tg_TickMoment begun = tg_tickmoment_now();
  tg_tickwork_begin(&m->work);
  if (tg_windowing_open(s))
    tg_windowpace_turn(&m->windowing.pace, false, begun.used_ns);
  tg_catchup_end(s, &m->writer.now, L, skip, now);
  tg_tickwork_end(&m->work, begun);
}

/* In a window: what runs, as the session does not know it. */
static bool walk_untraced (tg_Sampler *m, lua_State *L, int skip,
                           uint64_t now) {
  tg_catchup_look(m->session, &m->writer.now, L, skip, now);
  return tg_stackwalk_chain(&m->writer.now, m->session, L, skip);
}

static bool walk (tg_Sampler *m, lua_State *L, int skip, uint64_t now) {
  return m->session->hooked
         ? walk_untraced(m, L, skip, now)
         : tg_stackwalk_running(&m->writer.now, m->session, L, skip);
}

/* For ticks, and for functions that are not known yet. */
static void look (tg_Sampler *m, lua_State *L, lua_Debug *ar,
                  tg_TickMoment begun) {
  tg_Session *s = m->session;
  bool wanted = is_due(m) || s->memory.strangers.waits;
  if (!wanted || !walk(m, L, not_yet(ar), begun.ticks))
    return;
  tg_newmakers_know(s, &m->writer.now);
  if (!is_due(m))
    return;
  tg_leaf_mend(&m->writer.now, s, L, ar, &m->leaf, m->strangers.collector);
  tg_sampling_write(m, begun);
}

/* Called in the hook that a tick has set, where no calls are traced. */
static void on_interrupt (tg_Host *h, lua_State *L, lua_Debug *ar) {
  tg_Session *s = tg_session_of(h);
  tg_Sampler *m = sampler_of(s);
  if (!tg_session_traces(s) || tg_windowing_hears(s) || m->ticker == NULL)
    return;
  if (m->unwatched)
    tg_standstill_continue(m->watch);
  m->unwatched = false;
  tg_TickMoment begun = tg_tickmoment_now();
  tg_tickwork_begin(&m->work);
  m->asked = false;
  bool own = tg_session_own(s, true);
  know_long_calls(m, L);
  look(m, L, ar, begun);
  tg_session_own(s, own);
  tg_tickwork_end(&m->work, begun);
  if (s->after.attention) {
    tg_session_end_window(s, L);        /* no other hook is told of 'ar' */
    s->attend(s, L);
  }
}


void tg_sampler_finish (tg_Session *s, lua_State *L) {
  tg_Sampler *m = sampler_of(s);
  if (m == NULL || m->ticker == NULL || s->phase == TG_PHASE_TERMINATED)
    return;
  tg_session_end_window(s, L);
  tg_TickMoment begun = tg_tickmoment_now();
  _Atomic uint64_t *dropped = &tg_sampling_stream(m)->lacks.n[TG_LACK_SAMPLES];
  uint64_t before = atomic_load(dropped);
  tg_ticknotes_outstanding(tg_sampling_stream(m), m->ticker, begun.used_ns);
  tg_tickwork_begin(&m->work);
  if (s->hooked ? tg_stackwalk_chain(&m->writer.now, s, L, 0)
                : tg_stackwalk_running(&m->writer.now, s, L, 0))
    tg_sampling_write(m, tg_tickmoment_now());
  atomic_store(dropped, before);  /* a tick that came meanwhile is no loss */
  tg_ticknotes_waiting(tg_sampling_stream(m), 0);
  tg_tickwork_end(&m->work, begun);
}

/* What ran when the last sample was taken has run up to now. */
void tg_sampler_terminate (tg_Session *s) {
  tg_Sampler *m = sampler_of(s);
  if (m == NULL || m->ticker == NULL)
    return;
  tg_tickwork_begin(&m->work);  /* for good */
  tg_ticknotes_outstanding(tg_sampling_stream(m), m->ticker,
                           tg_ticker_used_ns());
  if (m->writer.epoch == s->writer.epoch
      && tg_stackwalk_copy(&m->writer.now, &m->writer.before))
    tg_sampling_write(m, tg_tickmoment_now());
}

/* }================================================================== */

/*
** {==================================================================
** Beginning and end
** ===================================================================
*/

/* All that was before is nobody's. */
static void start_anew (tg_Sampler *m) {
  m->work.ns_per_tick = tg_sampling_stream(m)->clock.ns_per_tick;
  m->writer.time.ns_per_tick = m->work.ns_per_tick;
  m->writer.time.by_clock = m->watch != NULL;
  tg_TickMoment now = tg_tickmoment_now();
  tg_sampletime_begin(&m->writer.time, now.ticks, now.used_ns);
  m->asked = false;
  m->work.worked_ns = 0;
  tg_windowing_begin(&m->windowing, m->rate.hz, now.used_ns);
}

static void begin_glances (tg_Sampler *m, tg_Session *s, lua_State *L) {
  tg_glance_begin(&m->glancer, L);
  if (m->glancer.stack_end == 0)
    return;
  m->knows = false;
  if (m->ticker == NULL) {      /* else they are in this stream */
    m->strangers = (tg_Strangers){
      tg_definitions_stranger(s, TG_COLLECTOR_NAME),
      tg_definitions_stranger(s, "(C function)")
    };
    m->writer.preempted = 0;
  }
}

/* NULL without memory. */
static tg_Sampler *make_sampler (tg_Session *s, lua_State *L) {
  tg_Sampler *m = sampler_of(s);
  errno = ENOMEM;
  if (!tg_running_setup(&s->host, L)
      || (m == NULL && (m = tg_calloc(1, sizeof *m)) == NULL))
    return NULL;
  if (m->part.host == NULL) {
    m->session = m->writer.session = s;
    m->writer.time.delays.fd = -1;
    s->end_window = end_window;
    tg_part_add(&s->host, &m->part, &part_kind);
  }
  begin_glances(m, s, L);
  m->apart = m->glancer.stack_end != 0 && tg_apart_known();
  return tg_samplewriter_reserve(&m->writer, ENTRIES) ? m : NULL;
}

/* The record of the last sample is of no use to the next trace. The stand-ins
   last: to take them away is a call, and if calls are traced an event, after
   which anything may happen. */
static void stop (tg_Session *s, lua_State *L) {
  tg_Sampler *m = sampler_of(s);
  if (m == NULL || m->ticker == NULL)
    return;
  tg_standstill_close(m->watch);
  tg_ticker_close(m->ticker);
  tg_delays_close(&m->writer.time.delays);
  m->watch = NULL;
  m->ticker = NULL;
  tg_ticknotes_end(tg_sampling_stream(m));
  m->rate = (tg_SampleRate){0, false};
  m->writer.before.n = 0;
  m->unwatched = false;
  s->sampled = false;
  tg_standins_close(&s->host, L, TG_CALLER_SAMPLER);
}

/* By the clock there are two clocks: the processor's ticks for running time,
   and the watch for waits. New clocks are opened beside the old ones, which go
   on if this fails. */
static bool open_clocks (tg_Sampler *m, lua_State *L, tg_SampleRate rate,
                         tg_Ticker **ticker, tg_Standstill **watch) {
  *watch = NULL;
  if (rate.wall && !tg_running_catches(L)) {
    errno = ENOTSUP;
    return false;
  }
  *ticker = tg_ticker_open(rate.hz, tg_tickhandler_tick, m);
  if (*ticker == NULL)
    return false;
  if (!rate.wall)
    return true;
  *watch = tg_standstill_open(rate.hz, on_wait, m);
  if (*watch != NULL)
    return true;
  int error = errno;
  tg_ticker_close(*ticker);
  errno = error;
  return false;
}

static tg_SampleRate rate_of (const tg_Session *s) {
  const tg_Sampler *m = sampler_of(s);
  return (m != NULL) ? m->rate : (tg_SampleRate){0, false};
}

/* Only traces by the clock show it, and those beside calls reckon with it. */
static void know_preemption (tg_Sampler *m, tg_SampleRate rate) {
  tg_Session *s = m->session;
  if (rate.wall || s->hooked)
    tg_delays_open(&m->writer.time.delays);
  if (rate.wall && m->writer.preempted == 0)
    m->writer.preempted = tg_definitions_stranger(s, TG_PREEMPTED_NAME);
}

bool tg_sampler_set (tg_Session *s, lua_State *L, tg_SampleRate rate) {
  tg_Ticker *ticker;
  tg_Standstill *watch;
  if (tg_sampler_same(rate, rate_of(s)))
    return true;
  if (rate.hz == 0) {
    stop(s, L);
    return true;
  }
  tg_Sampler *m = make_sampler(s, L);
  if (m == NULL || !open_clocks(m, L, rate, &ticker, &watch))
    return false;
  stop(s, L);
  know_preemption(m, rate);
  tg_standins_open(&s->host, L, TG_CALLER_SAMPLER, on_interrupt);
  m->ticker = ticker;
  m->watch = watch;
  m->rate = rate;
  m->ticks = 0;
  m->waits_seen = 0;
  tg_ticknotes_begin(tg_sampling_stream(m), m->ticker, m->rate.hz);
  start_anew(m);
  m->opens = s->hooked;
  s->sampled = m->opens;
  if (m->opens)
    tg_lastrun_invalidate();
  return true;
}

bool tg_sampler_add (tg_Session *s, lua_State *L, tg_SampleRate rate) {
  return tg_sampler_set(s, L, tg_sampler_both(rate, rate_of(s)));
}

bool tg_sampler_can_window (const tg_Session *s, uint32_t percent) {
  const tg_Sampler *m = sampler_of(s);
  bool can = m != NULL && m->glancer.stack_end != 0 && m->apart
             && tg_hookfield_counts() && m->watch == NULL;
  if (percent > 0 && !can)
    errno = ENOTSUP;
  return percent == 0 || can;
}

void tg_sampler_set_windows (tg_Session *s, uint32_t percent) {
  tg_Sampler *m = sampler_of(s);
  if (m == NULL || m->ticker == NULL || !tg_sampler_can_window(s, percent))
    percent = 0;
  if (m == NULL || m->windowing.percent == percent)
    return;
  tg_windowing_set(&m->windowing, percent);
  tg_windowing_begin(&m->windowing, m->rate.hz, tg_ticker_used_ns());
}

/* The stand-ins stay. Without a clock the child has no samples; what it waits
   for is seen from its first sample on. */
static void forked (tg_Part *p) {
  tg_Sampler *m = (tg_Sampler *)(void *)p;
  if (m->ticker == NULL || !tg_host_is_home(p->host))
    return;
  tg_tickwork_begin(&m->work);  /* no tick finds what is the parent's... */
  tg_ticknotes_forked(tg_sampling_stream(m));   /* ...or notes where the parent
                                                   does */
  tg_ticker_forked(m->ticker);
  m->unwatched = m->watch != NULL;
  if (m->unwatched)
    tg_standstill_forked(m->watch);
  tg_glance_forked(&m->glancer);
  tg_delays_close(&m->writer.time.delays);
  know_preemption(m, m->rate);
  if (tg_windowing_open(m->session))    /* there may be no tick that ends it */
    tg_window_shut(m->session, tg_clock_ticks());
  tg_ticknotes_begin(tg_sampling_stream(m), m->ticker, m->rate.hz);
  m->ticks = 0;
  m->waits_seen = 0;
  start_anew(m);
  m->work.works = false;
}

static void closing (tg_Part *p, lua_State *L) {
  tg_Sampler *m = (tg_Sampler *)(void *)p;
  (void)L;
  tg_part_remove(p);
  tg_standstill_close(m->watch);
  tg_ticker_close(m->ticker);
  tg_delays_close(&m->writer.time.delays);
  tg_stackwalk_free(&m->writer.now);
  tg_stackwalk_free(&m->writer.before);
  tg_free(m);
}

static const tg_PartKind part_kind = {.forked = forked, .closing = closing};

/* }================================================================== */
