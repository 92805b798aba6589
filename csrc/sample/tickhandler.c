/*
** tickhandler.c - see tickhandler.h.
*/
#include "sample/tickhandler.h"

#include "chain/lastrun.h"
#include "host/running.h"
#include "sample/apart.h"
#include "sample/sampling.h"
#include "sample/ticknotes.h"

#define LONG_NS 50000000        /* without an answer of a hook: C runs */

/* To give the program's own hook back takes as long as to set ours: it counts
   twice. */
static void arm (tg_Sampler *m, tg_TickMoment begun) {
  if (!m->asked)
    m->asked_ns = begun.used_ns;
  m->asked = true;
  tg_running_call(m->part.host, TG_CALLER_SAMPLER);
  tg_tickwork_note(&m->work, begun, 2);
}

/* Whether nothing but room is needed for a sample. */
static bool has_room (const tg_Sampler *m, uint64_t now) {
  const tg_Session *s = m->session;
  return tg_session_traces(s) && !s->after.attention
         && s->memory.meter == NULL && atomic_load(&m->waits_seen) == 0
         && tg_samplewriter_has_room(&m->writer, 0, now);
}

/* Whether a C function still runs that the last sample has shown. */
static bool is_still (const tg_Sampler *m) {
  return m->leaf.line == 0 && tg_samplewriter_is_same(&m->writer);
}

/* What unknown functions are to be shown as. */
static tg_Strangers strangers_of (const tg_Sampler *m, uint64_t used_ns) {
  bool shown = m->asked && used_ns - m->asked_ns > LONG_NS;
  return (tg_Strangers){m->strangers.collector,
                        shown ? m->strangers.function : 0};
}

/* What runs, if all of it is known. Where calls are traced it is what the
   session has, or an event is about to come. */
static bool look_now (tg_Sampler *m, tg_TickMoment now, const void *context) {
  const tg_Session *s = m->session;
  tg_StackWalk *w = &m->writer.now;
  tg_Strangers strangers = strangers_of(m, now.used_ns);
  return tg_glance_leaf(&m->glancer, s, context, &m->leaf) && !m->unwatched
         && !(s->hooked && m->watch != NULL)
         && tg_glance_frames(&m->glancer, w, s, &m->leaf, strangers)
         && (!tg_windowing_hears(s)
             || tg_stackwalk_mark(w, s, m->leaf.traced));
}

/* The sample at once. */
static bool take_now (tg_Sampler *m, tg_TickMoment now, const void *context) {
  tg_Strangers strangers = strangers_of(m, now.used_ns);
  if (!look_now(m, now, context) || !has_room(m, now.ticks)
      || (tg_windowing_open(m->session)
          && !tg_windowing_settle(&m->writer, now.ticks)))
    return false;
  m->asked = strangers.function != 0;
  m->leaf.L = NULL;
  if (!tg_sampletime_can_wait(&m->writer.time, is_still(m), now.used_ns))
    tg_sampling_write(m, now);
  else if (m->watch == NULL)
    tg_sampletime_hold(&m->writer.time, now.ticks, now.used_ns,
                       (uint32_t)m->ticks);
  if (tg_windowing_hears(m->session))
    tg_session_overhead(m->session, now.ticks);
  tg_tickwork_note(&m->work, now, 1);
  return true;
}

/* The sample, or whoever can take one is asked for it. To have looked in vain
   is work as well: with 200,000 frames it takes longer than the next tick, and
   the program would not come to its next event. */
static void serve_tick (tg_Sampler *m, tg_TickMoment now,
                        const void *context) {
  tg_Session *s = m->session;
  if (take_now(m, now, context)) {
    tg_ticknotes_waiting(tg_sampling_stream(m), 0);
    tg_windowing_turn(&m->windowing, s, now, true);
    return;
  }
  if (tg_windowing_hears(s)) {
    tg_tickwork_note(&m->work, now, 1);
    s->sampled = true;
    tg_lastrun_invalidate();
  }
  else
    arm(m, now);
  tg_ticknotes_waiting(tg_sampling_stream(m), (uint64_t)m->ticks);
  tg_windowing_turn(&m->windowing, s, now, false);
}

/* Whether the tick is the hook's, or that of other code of ours. While the hook
   writes a sample the times are its. */
static bool is_apart (tg_Sampler *m, uint64_t used_ns, const void *context) {
  if (!tg_sampling_apart(m))
    return false;
  bool hook = tg_apart_is_ours(context)
              || (!tg_windowing_open(m->session)
                  && tg_apart_is_hook(m->session, context));
  if (!m->work.works)
    tg_sampletime_apart(&m->writer.time, used_ns, hook);
  return hook;
}

/* The tick's time goes to the next sample. By the clock that may be of what
   waits, so there it goes to the next tick's. */
static void drop_tick (tg_Sampler *m, tg_TickMoment now) {
  if (m->watch != NULL)
    m->ticks--;
  tg_lacks_count(&tg_sampling_stream(m)->lacks, TG_LACK_SAMPLES);
  tg_windowing_turn(&m->windowing, m->session, now, false);
}

/* Of several ticks that come at once the first is served. */
void tg_tickhandler_tick (void *sampler, tg_Ticker *ticker,
                          const void *context) {
  tg_Sampler *m = sampler;
  tg_TickMoment now = tg_tickmoment_now();
  bool hook = is_apart(m, now.used_ns, context);
  m->ticks += !hook;
  if (tg_ticknotes_come(tg_sampling_stream(m), ticker, now.used_ns))
    return;
  if (hook)
    return;
  if (tg_tickwork_is_soon(&m->work, now.used_ns))
    drop_tick(m, now);
  else
    serve_tick(m, now, context);
}
