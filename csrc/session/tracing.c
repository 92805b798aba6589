/*
** tracing.c - traces begin and end, and with them the session and what it
** traces by (machinery.h); what is recorded is worked out when traces come and
** go. Called by trace/ and server/ and, as the session's 'attend', by the hook;
** on the thread that runs the state. Where it fails, nothing has changed:
** TG_ERR_MEMORY, or TG_ERR_IO with errno.
*/
#include "session/tracing.h"

#include <errno.h>
#include <string.h>

#include "chain/emit.h"
#include "chain/unseen.h"
#include "chain/window.h"
#include "hook/hook.h"
#include "packet/log.h"
#include "sample/sampler.h"
#include "session/allocations.h"
#include "session/anchor.h"
#include "session/machinery.h"
#include "session/snapshot.h"
#include "session/tellloss.h"
#include "session/tracefile.h"
#include "session/traceinfo.h"
#include "session/tracelimits.h"
#include "session/wanted.h"
#include "state/awaited.h"
#include "state/observer.h"

/* ---- finding ---- */

/* The most recent one of that name, or of all for NULL. Those that the program
   does not know are passed over. */
tg_Trace *tg_tracing_trace (const tg_Session *s, const char *name) {
  tg_Trace *t = s->traces;
  while (t != NULL && (tg_trace_hidden(t)
                       || (name != NULL && strcmp(t->name, name) != 0)))
    t = t->next;
  return t;
}

/* ---- traces begin and end ---- */

/* The traces are few and come and go seldom: a list with one link will do. */
static void unlink_trace (tg_Session *s, tg_Trace *t) {
  tg_Trace **p = &s->traces;
  while (*p != t) {
    tg_assert(*p != NULL);
    p = &(*p)->next;
  }
  *p = t->next;
}

/* Its facts are final, and it is not active any more. A live log gets what is
   left of it before the trace is unlinked, since it reads from the session's
   stream. */
static void take_out (tg_Session *s, tg_Trace *t) {
  tg_assert(t->session == s && t->end != TG_END_NOT);
  if (t->log != NULL)
    tg_tellloss_log(t);
  tg_tracelimits_close(t);
  if (t->log != NULL) {
    tg_log_pump(t->log, t->stop);
    tg_log_finish(t->log);
  }
  unlink_trace(s, t);
  tg_awaited_free(t);
  t->session = NULL;
}

/* 'attention' makes the hook call 'attend' after every event: a live log needs
   that, all other things once. */
static void work_out_logging (tg_Session *s) {
  s->after.logging = false;
  for (const tg_Trace *t = s->traces; t != NULL; t = t->next)
    s->after.logging = s->after.logging || t->log != NULL;
  s->after.attention = s->after.logging || s->after.stale || s->after.snapshot
                       || s->after.waited > 0;
  tg_session_review(s);
}

/* The writer's limits are worked out anew. Without memory the writer is closed
   then, and the next event asks 'turn'. */
static void reopen (tg_Session *s) {
  tg_writer_open(&s->writer, 0, tg_clock_ticks(),
                 tg_tracelimits_next(s, 0));
}

static tg_SampleRate rate_of (const tg_Trace *t) {
  return (tg_SampleRate){t->options.sample, t->options.wall};
}

/* From the traces, not from the selection, which may be that of a wait. */
static tg_SampleRate wanted_rate (const tg_Session *s) {
  tg_SampleRate rate = {0, false};
  for (const tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t->end == TG_END_NOT)
      rate = tg_sampler_both(rate, rate_of(t));
  }
  return rate;
}

/* What all traces bear: a trace that asks for none has none. */
static uint32_t wanted_windows (const tg_Session *s) {
  uint32_t percent = TG_WINDOWS_MAX;
  bool any = false;
  for (const tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t->end == TG_END_NOT && t->options.windows < percent)
      percent = t->options.windows;
    any = any || t->end == TG_END_NOT;
  }
  return any ? percent : 0;
}

/* Gives the trace its place in the stream, which goes onto the trace's file if
   it has one. The file comes first, since the CONTEXT with which the trace
   begins must be in it; the note in the file comes last, since it names the
   place of the CONTEXT. */
static tg_Status begin_trace (tg_Session *s, tg_Trace *t) {
  if (t->plan != NULL && !tg_tracefile_begin(s, t))
    return TG_ERR_IO;
  if (!tg_tracelimits_begin(s, t, tg_clock_ticks()) || !tg_wanted_work_out(s))
    return tg_tracefile_undo(s, t);
  tg_tracefile_started(s, t);
  return TG_OK;
}

/* The trace is in the list before it has begun: the limits of the session are
   worked out from the list. But not while the sampler is set up, which calls
   functions of Lua: the hook of the other traces sees those, and a tick, and
   would ask a trace without a stream what it has. On failure it is taken out
   again, and if it was the first one nothing is left of tracing; errno survives
   what that does. */
tg_Status tg_tracing_start (tg_Session *s, lua_State *L, tg_Trace *t) {
  bool first = !tg_session_traces(s);
  tg_assert(t->session == NULL && first == (s->traces == NULL));
  tg_session_end_window(s, L);
  tg_allocations_settle(s);
  if (!tg_machinery_begin(s, L, t->options.with_calls))
    return TG_ERR_MEMORY;
  t->clockless = !tg_sampler_add(s, L, rate_of(t))
                 || !tg_sampler_can_window(s, t->options.windows);
  t->session = s;
  t->end = TG_END_NOT;
  t->next = s->traces;
  s->traces = t;
  tg_Status status = t->clockless ? TG_ERR_IO : begin_trace(s, t);
  if (status != TG_OK) {
    int error = errno;
    unlink_trace(s, t);
    tg_cursor_drop(&t->hold);
    t->session = NULL;
    if (first)
      tg_machinery_end(s, L);
    else
      tg_sampler_set(s, L, wanted_rate(s));
    errno = error;
    return status;
  }
  t->stream = tg_stream_pin(s->writer.stream);
  tg_unseen_reveal(s);
  tg_sampler_set_windows(s, wanted_windows(s));
  tg_tracelimits_set(s);
  reopen(s);
  tg_observers_publish(s);
  return TG_OK;
}

/* The list of what is recorded cannot have changed, but its memory may be
   gone: 'attend' tries again later. A stream that has had its last event, or
   that its file does not take any more, begins nowhere again. */
bool tg_tracing_restart (tg_Session *s, tg_Trace *t) {
  tg_assert(t->session == s && !t->consumed);
  tg_allocations_settle(s);
  if (t->end != TG_END_NOT || s->phase == TG_PHASE_TERMINATED || s->file.torn
      || !tg_tracelimits_again(s, t, tg_clock_ticks()))
    return false;
  if (!tg_wanted_work_out(s)) {
    s->after.stale = true;            /* later */
    tg_session_request_attention(s);
  }
  tg_unseen_reveal(s);
  tg_tracelimits_set(s);
  reopen(s);
  return true;
}

/* Until now the trace held the stream at its beginning; from now on the
   follower does, at the place up to which it has been read, so the session
   forgets what has been sent. Where the follower holds nothing, the trace does,
   as a ring of what has not been read; the trace has just begun, so the
   follower's place is still in it. */
void tg_tracing_tap (tg_Session *s, tg_Trace *t, tg_Follower *follower) {
  tg_assert(t->session == s && t->end == TG_END_NOT && t->follower == NULL);
  t->follower = tg_follower_pin(follower);
  tg_follower_join(follower);
  tg_cursor_drop(&t->hold);
  t->consumed = !tg_follower_is_loose(follower)
                || !tg_cursor_place(&t->hold, &s->writer.stream->store,
                                    t->start);
  s->writer.lists = s->writer.lists || !t->consumed;
  if (tg_follower_is_bytes(follower) && !tg_wanted_work_out(s)) {
    s->after.stale = true;        /* what is hidden from it, later */
    tg_session_request_attention(s);
  }
  reopen(s);
}

/* What the last event had to wait for is no time of the trace's that ends. To
   ask for room is enough: 'turn' tells of it. */
static void settle_overhead (tg_Session *s) {
  if (s->rare.ticks == 0)
    return;
  s->writer.behind = true;
  (void)tg_writer_begin(&s->writer, TG_OVERHEAD_SIZE, tg_clock_ticks());
  s->writer.behind = false;
}

/* What else has come up, another trace's end, is seen to at once: no event may
   follow for long. */
void tg_tracing_stop (tg_Session *s, lua_State *L, tg_Trace *t) {
  tg_assert(t->session == s && tg_session_traces(s));
  tg_session_end_window(s, L);
  tg_allocations_settle(s);
  settle_overhead(s);
  if (t->end == TG_END_NOT) {
    if (t->options.sample > 0)
      tg_sampler_finish(s, L);
    tg_tracelimits_end(s, t, TG_END_STOPPED);
  }
  take_out(s, t);
  tg_observers_publish(s);
  if (s->traces == NULL)
    tg_machinery_end(s, L);
  else
    tg_tracing_attend(s, L);
}

/* Traces that ended by a limit of their own are not active any more. One that
   an observer still has to tell of stays anchored: the observer lets it go. */
static void retire (tg_Session *s, lua_State *L) {
  TG_STACK_GUARD(L);
  for (tg_Trace *t = s->traces, *next; t != NULL; t = next) {
    next = t->next;
    if (tg_wanted_counts(t))
      continue;
    take_out(s, t);
    tg_assert(t->follower == NULL && t->file == NULL);
    if (!tg_observers_watch(s, t))
      tg_anchor_release(L, t);
  }
  TG_STACK_CHECK(L);
}

/* Each after every event: a log is to show what happens while it happens. */
static void pump_logs (tg_Session *s) {
  for (tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t->log != NULL)
      tg_log_pump(t->log, tg_traceinfo_stop_pos(t));
  }
}

/* Ends traces with 'on' whose last awaited call is over. After the event, since
   the exit of the last one is the trace's too. */
static void end_fulfilled (tg_Session *s) {
  bool any = s->await.any && s->phase != TG_PHASE_TERMINATED;
  tg_Trace *t = any ? s->traces : NULL;
  for (; t != NULL; t = t->next) {
    if (t->end == TG_END_NOT && tg_awaited_all(t))
      tg_tracelimits_end(s, t, TG_END_CALLS);
  }
}

/* In this order: what was waited is told of; os.exit ends everything; then
   traces end that have all they waited for; observers come before traces are
   retired, since they still have to tell of those (endpoint.c reads why one
   ended); then what needs the stream as it is; last what changes it. Any of
   these may end tracing: then nothing of the session's machinery is there any
   more. */
void tg_tracing_attend (tg_Session *s, lua_State *L) {
  if (s->after.waited > 0)
    tg_emit_wait(s);
  if (s->phase == TG_PHASE_EXITING)
    tg_tracing_terminate(s);
  end_fulfilled(s);
  tg_observers_attend(s, L);
  if (!tg_session_traces(s))
    return;
  if (s->after.logging)
    pump_logs(s);
  if (s->after.snapshot) {
    s->after.snapshot = false;
    tg_snapshot_save(s);
  }
  if (s->after.stale) {
    retire(s, L);
    tg_observers_publish(s);
    if (s->traces == NULL) {
      tg_machinery_end(s, L);
      return;
    }
    s->after.stale = !tg_wanted_work_out(s);     /* without memory: later */
    tg_sampler_set(s, L, wanted_rate(s));
    tg_sampler_set_windows(s, wanted_windows(s));
    tg_tracelimits_set(s);
    if (s->recording && s->phase != TG_PHASE_TERMINATED)
      reopen(s);
    else
      tg_writer_close(&s->writer);
  }
  work_out_logging(s);
}

/* Only once: a second TERMINATE would tell of frames that are gone. The traces
   themselves stay active, so that their owners may stop them. */
void tg_tracing_terminate (tg_Session *s) {
  if (tg_session_traces(s) && s->phase != TG_PHASE_TERMINATED) {
    tg_window_tell(s, tg_clock_ticks());
    tg_allocations_settle(s);
    if (!s->hooked)
      tg_sampler_terminate(s);
    tg_hook_terminate(s);
    tg_writer_close(&s->writer);
    s->phase = TG_PHASE_TERMINATED;
  }
}
