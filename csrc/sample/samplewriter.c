/*
** samplewriter.c - see samplewriter.h. Without memory a sample is left out.
*/
#include "sample/samplewriter.h"

#define SAMPLE_SIZE(n) (48 + 8 * (size_t)(n))   /* at most: with n entries */

/* How many of the outermost frames are as in the sample before; none, if a
   reader may have begun since. */
static uint32_t count_kept (const tg_SampleWriter *w, const tg_StackWalk *k,
                            uint32_t epoch) {
  return w->epoch == epoch ? tg_stackwalk_shared(k, &w->before) : 0;
}

bool tg_samplewriter_is_same (const tg_SampleWriter *w) {
  return w->now.n == w->before.n
         && count_kept(w, &w->now, w->session->writer.epoch) == w->now.n;
}

bool tg_samplewriter_has_room (const tg_SampleWriter *w, size_t returns,
                               uint64_t now) {
  size_t size = SAMPLE_SIZE(w->now.n);
  if (returns > 0)
    size += TG_TIME_SIZE + 4 * returns;
  if (w->time.by_clock)
    size += TG_TIME_SIZE + SAMPLE_SIZE(w->now.n + 1);
  if (w->time.held_ns > 0)
    size += TG_TIME_SIZE + SAMPLE_SIZE(w->before.n);
  return tg_writer_has(&w->session->writer, size, now);
}

bool tg_samplewriter_reserve (tg_SampleWriter *w, uint32_t entries) {
  return tg_stackwalk_reserve(&w->now, entries)
         && tg_stackwalk_reserve(&w->before, entries);
}

/* Time since the sample before. */
typedef struct Used {
  uint64_t ns, hook_ns, others_ns;
} Used;

/* Room is asked for all frames: only afterwards it is known whether a chunk
   begins, in which all are written. */
static bool put (tg_SampleWriter *w, const tg_StackWalk *k, uint64_t now,
                 uint32_t flags, Used used, uint32_t ticks) {
  tg_Writer *r = &w->session->writer;
  uint8_t *p = tg_writer_begin(r, SAMPLE_SIZE(k->n), now);
  r->packets++;
  if (p == NULL)
    return false;
  uint32_t kept = count_kept(w, k, r->epoch);
  p = tg_writer_head(r, p, TG_EV_SAMPLE | flags, now);
  p = tg_put32(tg_put64(p, used.ns), ticks);
  p = tg_put32(tg_put32(p, kept), k->n - kept);
  for (uint32_t i = kept; i < k->n; i++)
    p = tg_put32(tg_put32(p, k->list[i].function), k->list[i].line);
  if (flags & TG_EVF_APART)
    p = tg_put64(p, used.hook_ns);
  if (flags & TG_EVF_OTHERS)
    p = tg_put64(p, used.others_ns);
  tg_writer_end(r, p);
  return true;
}

/* A sample for which no time is left is not written. */
static bool put_by_clock (tg_SampleWriter *w, tg_TickMoment now,
                          tg_Finding found, uint32_t ticks) {
  tg_SampleTime *t = &w->time;
  uint64_t until = tg_sampletime_until(t, now.ticks, now.used_ns, found,
                                       w->session->writer.last);
  if (until <= t->told)
    return false;
  double passed = (double)(until - t->told) * t->ns_per_tick;
  t->told = until;
  bool stood = found == TG_FINDING_WAITING || found == TG_FINDING_PREEMPTED;
  return put(w, &w->now, until, stood ? TG_EVF_WAITED : 0,
             (Used){.ns = (uint64_t)passed}, ticks);
}

/* What others had the processor for is above what ran. The list has room for
   some entries more than a stack has. */
static bool put_preempted (tg_SampleWriter *w, tg_TickMoment now) {
  tg_StackWalk *k = &w->now;
  if (w->preempted == 0 || k->n == 0 || k->n == k->capacity)
    return false;
  k->list[k->n++] = (tg_WalkedFrame){.function = w->preempted};
  bool told = put_by_clock(w, now, TG_FINDING_PREEMPTED, 0);
  k->n--;
  return told;
}

/* What ran in the last sample ran on for so long, and does not any more. Beside
   calls the stream says so by itself, and frames may be gone from it by now. */
static uint32_t put_held (tg_SampleWriter *w) {
  tg_SampleTime *t = &w->time;
  uint64_t last = w->session->writer.last;
  if (t->held_ns == 0 || w->session->hooked || tg_samplewriter_is_same(w))
    return 0;
  uint64_t at = t->held_at > last ? t->held_at : last;
  Used used = {.ns = tg_sampletime_release(t)};
  put(w, &w->before, at, 0, used, t->held_ticks);
  return t->held_ticks;
}

static bool put_by_ticks (tg_SampleWriter *w, tg_TickMoment now,
                          tg_TicksCome come) {
  come.ticks -= put_held(w);
  uint32_t flags = come.apart ? TG_EVF_APART : 0;
  Used used = {.hook_ns = w->time.hook_ns};
  if (come.apart)
    used.others_ns = tg_sampletime_others(&w->time, now.ticks, now.used_ns);
  used.ns = tg_sampletime_used(&w->time, now.ticks, now.used_ns);
  if (used.others_ns > 0)
    flags |= TG_EVF_OTHERS;
  if (come.untraced)
    flags |= TG_EVF_UNTRACED;
  return put(w, &w->now, now.ticks, flags, used, come.ticks);
}

static bool put_all (tg_SampleWriter *w, tg_TickMoment now,
                     tg_TicksCome come) {
  if (!come.by_clock)
    return put_by_ticks(w, now, come);
  bool told = come.waits > 0
              && put_by_clock(w, now, TG_FINDING_WAITING, come.waits);
  if (come.ticks > 0) {
    told |= put_by_clock(w, now, TG_FINDING_RUNNING, come.ticks);
    told |= put_preempted(w, now);
  }
  else if (come.waits == 0)
    told |= put_by_clock(w, now, TG_FINDING_LAST, come.ticks);
  return told;
}

/* The sample that was made becomes the one before. */
void tg_samplewriter_put (tg_SampleWriter *w, tg_TickMoment now,
                          tg_TicksCome come) {
  if (!put_all(w, now, come))
    return;
  tg_StackWalk before = w->before;
  w->before = w->now;
  w->now = before;
  w->epoch = w->session->writer.epoch;
}
