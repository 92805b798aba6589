/*
** framesample.c - see framesample.h. Called by the framer, on its thread. What
** a file says may be anything: what cannot be changes nothing, or ends the
** reading.
*/
#include "reader/framesample.h"

#include <string.h>

#include "base/alloc.h"
#include "reader/openframe.h"

void tg_framesample_free (tg_FrameSample *m) {
  tg_free(m->list);
  tg_free(m->lines);
  memset(m, 0, sizeof *m);
}

/* Between two events, so nothing is left to be done for it. */
bool tg_framesample_copy (tg_FrameSample *to, const tg_FrameSample *from) {
  if (!tg_grow(&to->list, &to->capacity, from->n, sizeof *to->list))
    return false;
  if (from->n > 0)
    memcpy(to->list, from->list, from->n * sizeof *to->list);
  to->n = from->n;
  to->since_ns = from->since_ns;
  to->taken = from->taken;
  to->others_ns = from->others_ns;
  return true;
}

/* TIME and CONTEXT are no doing of the program's; in a trace of samples
   nothing but these is. */
void tg_framesample_note (tg_Framer *fr) {
  tg_Kind kind = fr->event.kind;
  if (fr->sample.since_ns == 0 && fr->started)
    fr->sample.since_ns = fr->begun_ns;
  if (kind != TG_EV_TIME && kind != TG_EV_CONTEXT && kind != TG_EV_SAMPLE
      && !tg_framer_samples_only(fr))
    fr->sample.since_ns = fr->now_ns;
}

/* Whole, from what is kept of the sample before and what the event has. */
static bool read_entries (tg_Framer *fr, const tg_Event *e) {
  tg_FrameSample *m = &fr->sample;
  if (e->kept > m->n || e->n > UINT32_MAX - e->kept) {
    tg_framer_fail(fr, TG_ERR_FORMAT);
    return false;
  }
  if (!tg_grow(&m->list, &m->capacity, e->kept + e->n, sizeof *m->list)) {
    tg_framer_fail(fr, TG_ERR_MEMORY);
    return false;
  }
  m->n = e->kept + e->n;
  for (uint32_t i = 0; i < e->n; i++) {
    uint32_t function = tg_get32(e->list + 8 * (size_t)i);
    m->list[e->kept + i] = (tg_SampleEntry){
      .function = function & ~TG_SAMPLE_FLAGS,
      .traced = (function & TG_SAMPLE_TRACED) != 0,
      .passing = (function & TG_SAMPLE_PASSING) != 0,
      .line = tg_get32(e->list + 8 * (size_t)i + 4)
    };
  }
  return true;
}

/* A place among the frames that are open. */
typedef struct Place {
  tg_Stack *s;          /* NULL: there are none */
  uint32_t i;           /* the frame after it */
} Place;

/* Behind the innermost frame that a CALL tells of; '*above' are the frames
   from there on. */
static Place find_base (const tg_Framer *fr, uint32_t *above) {
  Place at = {NULL, 0};
  *above = 0;
  for (tg_Stack *s = fr->running; s != NULL; s = s->resumer) {
    at = (Place){s, s->count};
    while (at.i > 0 && s->frames[at.i - 1].sampled)
      at.i--;
    *above += s->count - at.i;
    if (at.i > 0)
      break;
  }
  return at;
}

/* The coroutine that 's' has resumed. */
static tg_Stack *resumed_by (const tg_Framer *fr, const tg_Stack *s) {
  tg_Stack *inner = fr->running;
  while (inner != NULL && inner->resumer != s)
    inner = inner->resumer;
  return inner;
}

/* Whether the entry is what comes next; then the place is behind it. */
static bool step (const tg_Framer *fr, Place *at, const tg_SampleEntry *e) {
  if (at->s == NULL)
    return false;
  if (e->function != 0) {
    bool same = at->i < at->s->count
                && at->s->frames[at->i].function == e->function;
    at->i += same;
    return same;
  }
  if (at->i == 0 && at->s->thread == e->line)
    return true;
  tg_Stack *inner = resumed_by(fr, at->s);
  if (at->i < at->s->count || inner == NULL || inner->thread != e->line)
    return false;
  *at = (Place){inner, 0};
  return true;
}

/* The first entry that is not settled by a CALL: the one behind the innermost
   that has one. */
static uint32_t first_free (const tg_Framer *fr) {
  const tg_FrameSample *m = &fr->sample;
  uint32_t i = tg_framer_samples_only(fr) ? 0 : m->end;
  while (i > 0 && !m->list[i - 1].traced)
    i--;
  return i;
}

/* How much of the time that has passed is left out before a sample, which keeps
   half of its own at least. Where calls are seen, 'passed_ns' is not the time
   for which the sample stands. */
static uint64_t left_out (tg_Framer *fr, uint64_t passed_ns,
                          uint64_t used_ns) {
  int64_t *others = &fr->sample.others_ns;
  if (!tg_framer_samples_only(fr))
    return passed_ns > 2 * used_ns ? passed_ns - used_ns : 0;
  *others += (int64_t)(passed_ns - used_ns);
  if (*others < (int64_t)used_ns || passed_ns <= used_ns / 2)
    return 0;
  uint64_t most = passed_ns - used_ns / 2, out = (uint64_t)*others;
  out = out < most ? out : most;
  *others -= (int64_t)out;
  return out;
}

/* The times of the two sides; whether time between them is left out. */
static bool set_times (tg_Framer *fr, const tg_Event *e) {
  tg_FrameSample *m = &fr->sample;
  uint64_t out = left_out(fr, fr->now_ns - m->since_ns, e->used_ns);
  m->used_ns = e->used_ns;
  m->hook_ns = e->hook_ns;
  m->preempted_ns = e->others_ns;
  m->apart = (e->flags & TG_EVF_APART) != 0;
  m->untraced = (e->flags & TG_EVF_UNTRACED) != 0;
  m->now_ns = fr->now_ns;
  m->open_ns = m->since_ns + out;
  fr->now_ns = m->since_ns;
  return out > 0;
}

/* Whether it comes before the time from which a reader wants to see what there
   was. Of samples alone nothing begins but with a sample: frames that such ones
   opened would be silent for as long as all that follow have them. */
static bool is_early (tg_Framer *fr) {
  const tg_Filter *filter = fr->selection.filter;
  if (filter == NULL || !tg_framer_samples_only(fr))
    return false;
  tg_FrameSample *m = &fr->sample;
  if (m->now_ns >= filter->from_ns && m->open_ns < filter->from_ns)
    m->open_ns = filter->from_ns;
  return m->now_ns < filter->from_ns;
}

/* What waited is nothing to who looks at what runs: all frames close that
   samples have shown. */
static void close_all (tg_Framer *fr, uint32_t above) {
  tg_FrameSample *m = &fr->sample;
  m->next = m->end = m->n;
  m->close = above;
  m->into = NULL;
  tg_framer_job(fr, TG_JOB_SAMPLE, TG_WHY_RETURN, 0, tg_no_values);
}

void tg_framesample_begin (tg_Framer *fr, const tg_Event *e) {
  tg_FrameSample *m = &fr->sample;
  uint32_t above, same = 0;
  if (fr->selection.sample == 0 || !read_entries(fr, e)
      || fr->now_ns < m->since_ns)
    return;
  Place at = find_base(fr, &above);
  bool slept = set_times(fr, e);
  m->idle = (e->flags & TG_EVF_WAITED) && !fr->selection.wall;
  if (is_early(fr) || m->idle) {
    close_all(fr, above);
    return;
  }
  m->taken++;
  m->passing = m->n > 0 && m->list[m->n - 1].passing
               ? m->list[m->n - 1].function : 0;
  m->end = m->n - (m->passing != 0);
  m->next = first_free(fr);
  while (!slept && m->next < m->end && step(fr, &at, &m->list[m->next]))
    same += m->list[m->next++].function != 0;
  m->close = above - same;
  m->into = (slept && tg_framer_samples_only(fr)) ? NULL : at.s;
  tg_framer_job(fr, TG_JOB_SAMPLE, TG_WHY_RETURN, 0, tg_no_values);
}

/* Where calls are traced, their events tell which coroutines run: a coroutine
   that no event has told of is left out, with its frames. */
static bool enter_coroutine (tg_Framer *fr, tg_ThreadId thread) {
  tg_FrameSample *m = &fr->sample;
  if (!tg_framer_samples_only(fr)) {
    if (m->into != NULL && m->into->thread != thread)
      m->into = resumed_by(fr, m->into);
    return m->into != NULL && m->into->thread == thread;
  }
  m->into = tg_stacks_get(&fr->stacks, thread);
  return tg_framer_chain(fr, m->into);
}

/* The line at which its caller is. A C function has none, nor has a
   coroutine's first frame. */
static void put_site (const tg_FrameSample *m, tg_Packet *out) {
  tg_assert(m->next > 0);
  if (m->next < 2)
    return;
  const tg_SampleEntry *caller = &m->list[m->next - 2];
  if (caller->function != 0 && caller->line != 0) {
    out->caller = caller->function;
    out->line = caller->line;
  }
}

/* The line of a frame, of the entries up to 'i', which becomes that of what is
   outside of it. A frame that samples have shown need not be among them: below
   a call it stays open until the call is over. */
static uint32_t line_of (const tg_Framer *fr, const tg_StackFrame *f,
                         uint32_t *i) {
  bool only = tg_framer_samples_only(fr);
  for (; *i > 0; --*i) {
    const tg_SampleEntry *e = &fr->sample.list[*i - 1];
    bool alike = e->function != 0 && (only || e->traced != f->sampled);
    if (alike && e->function == f->function)
      return fr->sample.list[--*i].line;
    if (alike || (f->sampled && e->function != 0))
      return 0;
  }
  return 0;
}

/* The lines of all frames that are shown. Innermost first, since there the
   frames are those of the sample one by one. */
static bool find_lines (tg_Framer *fr) {
  tg_FrameSample *m = &fr->sample;
  if (!tg_grow(&m->lines, &m->clines, fr->open, sizeof *m->lines)) {
    fr->status = TG_ERR_MEMORY;
    return false;
  }
  uint32_t entries = m->next;
  for (const tg_Stack *s = fr->running; s != NULL; s = s->resumer) {
    for (uint32_t i = s->count; i > 0; i--) {
      const tg_StackFrame *f = &s->frames[i - 1];
      uint32_t line = line_of(fr, f, &entries);
      tg_assert(!f->shown || f->depth < fr->open);
      if (f->shown)
        m->lines[f->depth] = line;
    }
  }
  return true;
}

/* Whether what the sample has met is a function, or a coroutine, that the
   filter hides; frames that are too deep are part of those around them. */
static bool is_hidden (tg_Framer *fr) {
  const tg_Filter *filter = fr->selection.filter;
  const tg_Stack *s = fr->running;
  while (s != NULL && s->count == 0)
    s = s->resumer;
  if (filter == NULL || s == NULL || s->frames[s->count - 1].shown)
    return false;
  tg_FunctionId id = s->frames[s->count - 1].function;
  const tg_CachedFunction *k = tg_openframe_known(fr, id);
  bool other = filter->thread != 0 && filter->thread != s->thread;
  return k != NULL && k->sampled && (other || !k->passes);
}

/* Whether a function of which no frame is open would be seen if one were called
   there. */
static bool is_shown (tg_Framer *fr, uint32_t function) {
  const tg_CachedFunction *k
      = function != 0 ? tg_openframe_known(fr, function) : NULL;
  return k != NULL && k->wanted
         && (fr->selection.filter == NULL || k->passes);
}

/* One that nobody defined is no reason to end the reading: lines name it, and
   they may be left out. */
bool tg_framesample_shows (tg_Framer *fr, tg_FunctionId function) {
  if (tg_functions_find(fr->functions, function) == NULL)
    return false;
  const tg_CachedFunction *k = tg_openframe_known(fr, function);
  return k != NULL && k->sampled
         && (fr->selection.filter == NULL || k->passes);
}

/* What ran in no frame that is open. */
static tg_FunctionId inside (tg_Framer *fr) {
  uint32_t passing = fr->sample.passing;
  if (is_hidden(fr))
    return TG_FUNCTION_HIDDEN;
  return is_shown(fr, passing) ? passing : 0;
}

/* Nothing before the first frame, shown or hidden by a filter, is told: a
   document begins with that. */
static bool put_tick (tg_Framer *fr, tg_Packet *out) {
  const tg_Filter *filter = fr->selection.filter;
  if (!fr->ticks || fr->passed == 0 || fr->sample.idle
      || (filter != NULL && fr->now_ns < filter->from_ns) || !find_lines(fr))
    return false;
  memset(out, 0, sizeof *out);
  out->why = TG_WHY_TICK;
  out->sequence = fr->sequence;
  out->time_ns = fr->now_ns;
  out->depth = fr->open;
  out->function = inside(fr);
  out->hits = fr->sample.used_ns;
  out->hook_ns = fr->sample.hook_ns;
  out->others_ns = fr->sample.preempted_ns;
  out->apart = fr->sample.apart;
  out->untraced = fr->sample.untraced;
  out->opened_ns = fr->sample.open_ns;
  out->values = (tg_Slice){
    .data = (const uint8_t *)fr->sample.lines,
    .size = fr->open * sizeof *fr->sample.lines
  };
  return true;
}

/* The sample is done; from here on time is that at which it was taken. */
static bool end_sample (tg_Framer *fr, tg_Packet *out) {
  fr->now_ns = fr->sample.since_ns = fr->sample.now_ns;
  fr->job.kind = TG_JOB_NONE;
  return put_tick(fr, out);
}

/* The next frame, or coroutine, that the sample shows and that is not there.
   */
static bool open_seen (tg_Framer *fr, tg_Packet *out) {
  tg_FrameSample *m = &fr->sample;
  if (m->next == m->end)
    return end_sample(fr, out);
  fr->now_ns = m->open_ns;
  const tg_SampleEntry *e = &m->list[m->next++];
  if (e->function == 0)
    return enter_coroutine(fr, e->line) ? false : end_sample(fr, out);
  if (m->into == NULL)          /* a frame of no coroutine: a damaged file */
    return end_sample(fr, out);
  tg_StackFrame *f = tg_stack_push(m->into);
  if (f == NULL) {
    fr->status = TG_ERR_MEMORY;
    return false;
  }
  f->function = e->function;
  f->sampled = true;
  f->entered_ns = fr->now_ns;
  tg_CachedFunction *k = tg_openframe_known(fr, f->function);
  bool given = tg_openframe_enter(fr, m->into, f, k, false, out);
  if (given)
    put_site(m, out);
  return given;
}

/* The innermost frame of the chain, which is one that samples have shown. */
static bool close_seen (tg_Framer *fr, tg_Packet *out) {
  tg_Stack *s = fr->running;
  while (s->count == 0)
    s = s->resumer;
  tg_assert(tg_stack_top(s)->sampled);
  fr->sample.close--;
  bool given = tg_openframe_leave(fr, s, tg_stack_top(s), out);
  tg_stack_pop(s);
  return given;
}

/* Down to what is still so, then up to what the sample shows. Coroutines that
   are not there any more are left where nothing else tells of that. */
bool tg_framesample_turn (tg_Framer *fr, tg_Packet *out) {
  tg_Stack *s = fr->running;
  if (fr->sample.close > 0)
    return close_seen(fr, out);
  if (tg_framer_samples_only(fr) && s != fr->sample.into) {
    tg_framer_unchain(fr);
    tg_stacks_drop(&fr->stacks, s);
    return false;
  }
  return open_seen(fr, out);
}
