/*
** openframe.h - a frame opens or closes: whether the selection has it, whether
** its filter shows it, and the packet then.
**
** For the framer, on whose quick way all of it is, and for the frames that
** samples show (framesample.c).
*/
#ifndef TG_OPENFRAME_H
#define TG_OPENFRAME_H

#include "base/clear.h"
#include "reader/framer.h"

/* NULL without memory, or if nobody defined that function, of which one cannot
   say whether it is wanted: either ends the reading. */
TG_INLINE tg_CachedFunction *tg_openframe_known (tg_Framer *fr,
                                                 tg_FunctionId id) {
  const tg_Functions *fs = fr->functions;
  tg_CachedFunction *k
      = tg_functioncache_get(&fr->known, id, fs, &fr->selection);
  if (k == NULL)
    tg_framer_fail(fr, tg_functions_find(fs, id) == NULL ? TG_ERR_FORMAT
                                              : TG_ERR_MEMORY);
  return k;
}

/* Fills in the fields that all packets have. The sequence counts the packets
   given, so that a client sees if one is missing. */
TG_INLINE void tg_openframe_fill (tg_Framer *fr, const tg_StackFrame *f,
                                  tg_ThreadId thread, tg_Why why,
                                  tg_Packet *out) {
  tg_clear(out, sizeof *out);
  out->why = why;
  out->sequence = fr->sequence++;
  out->time_ns = fr->now_ns;
  out->function = f->function;
  out->thread = thread;
  out->depth = f->depth;
  out->sampled = f->sampled;
}

/* Whether entries of the frame are counted. */
TG_INLINE bool tg_openframe_counts (const tg_Framer *fr,
                                    const tg_StackFrame *f) {
  return (fr->selection.types & TG_TYPE_HITCOUNT) != 0 && !f->sampled;
}

/* Whether the filter, if any, lets a frame through that is entered now. */
TG_INLINE bool tg_openframe_passes (const tg_Framer *fr, const tg_Stack *s,
                                    const tg_CachedFunction *k) {
  const tg_Filter *filter = fr->selection.filter;
  return filter == NULL
         || (k->passes && fr->open < filter->options.max_depth
             && (filter->thread == 0 || filter->thread == s->thread)
             && fr->now_ns >= filter->from_ns);
}

/* Whether a frame that is entered now begins a call that the selection waits
   for: as the hook decides it (state/awaited.c), which records the same frames
   if no other trace wants more. One that is met open for the first time, after
   a LOST, is not counted. */
TG_INLINE bool tg_openframe_begins (tg_Framer *fr, const tg_StackFrame *f,
                                    const tg_CachedFunction *k,
                                    bool resumed) {
  if (fr->heir)
    return true;
  if (!k->awaited || fr->roots > 0 || f->outer || f->nested)
    return false;
  uint64_t most = fr->selection.calls;
  bool begins = resumed || most == 0 || fr->calls < most;
  fr->calls += begins && !resumed;
  return begins;
}

/* The same, and whether the frame is within such a call. A frame that was
   entered outside of all such calls stays hidden when it is resumed within
   one. */
static TG_NOINLINE bool tg_openframe_within (tg_Framer *fr, tg_StackFrame *f,
                                             const tg_CachedFunction *k,
                                             bool resumed) {
  f->root = f->root || tg_openframe_begins(fr, f, k, resumed);
  fr->heir = false;
  fr->roots += f->root;
  f->outer = f->outer || (fr->roots == 0 && !resumed);
  f->nested = !f->root && !f->outer && (f->nested || !resumed);
  return f->root || (fr->roots > 0 && !f->outer && k->wanted);
}

/* Whether the selection has any use for a frame that is entered now. */
TG_INLINE bool tg_openframe_wanted (tg_Framer *fr, tg_StackFrame *f,
                                    const tg_CachedFunction *k,
                                    bool resumed) {
  if (tg_unlikely(k == NULL))
    return false;
  if (tg_unlikely(f->sampled))
    return k->sampled && (!fr->selection.awaits || fr->inside > 0);
  if (tg_unlikely(fr->selection.awaits) && !fr->adrift)
    return tg_openframe_within(fr, f, k, resumed);
  return k->wanted;
}

/* The frame is entered, of a function of which 'k' is known; whether that is
   shown. */
TG_INLINE bool tg_openframe_show (tg_Framer *fr, const tg_Stack *s,
                                  tg_StackFrame *f, tg_CachedFunction *k,
                                  bool resumed) {
  f->inside = tg_openframe_wanted(fr, f, k, resumed)
              && fr->inside < fr->selection.max_depth;
  if (!f->inside)
    return false;
  fr->inside++;
  fr->passed++;
  k->hits += !resumed && tg_openframe_counts(fr, f);
  f->shown = tg_openframe_passes(fr, s, k);
  if (!f->shown)
    return false;
  f->depth = fr->open++;
  f->opened_ns = fr->now_ns;
  return true;
}

/* The same; whether that gives a packet. A frame that is entered again is no
   new hit, but tells the count. */
TG_INLINE bool tg_openframe_enter (tg_Framer *fr, const tg_Stack *s,
                                   tg_StackFrame *f, tg_CachedFunction *k,
                                   bool resumed, tg_Packet *out) {
  if (!tg_openframe_show(fr, s, f, k, resumed))
    return false;
  tg_openframe_fill(fr, f, s->thread, TG_WHY_ENTER, out);
  out->body = tg_stack_body(s);
  out->resumed = resumed;
  out->hits = tg_openframe_counts(fr, f) ? k->hits : 0;
  return true;
}

/* The frame is not open any more; whether it was shown. */
TG_INLINE bool tg_openframe_hide (tg_Framer *fr, tg_StackFrame *f) {
  bool shown = f->shown;
  tg_assert(f->inside && fr->inside > 0 && (!shown || fr->open > 0));
  fr->inside--;
  fr->open -= shown;
  fr->roots -= f->root;
  f->inside = f->shown = false;
  return shown;
}

/* The frame is left; whether somebody is to be told. */
TG_INLINE bool tg_openframe_close (tg_Framer *fr, tg_StackFrame *f) {
  if (!f->inside)
    return false;
  bool shown = tg_openframe_hide(fr, f);
  if (fr->selection.count == 0) /* nobody is there */
    return false;
  fr->passed++;
  return shown;
}

/* The same; whether that gives a packet. */
TG_INLINE bool tg_openframe_leave (tg_Framer *fr, const tg_Stack *s,
                                   tg_StackFrame *f, tg_Packet *out) {
  if (!tg_openframe_close(fr, f))
    return false;
  tg_openframe_fill(fr, f, s->thread, fr->job.why, out);
  if (!f->sampled) {
    out->tail = fr->job.tail;
    out->values = fr->job.values;
  }
  else if (out->why != TG_WHY_TERMINATED)
    out->why = TG_WHY_RETURN;   /* how it was left is not known */
  out->entered_ns = f->entered_ns;
  out->opened_ns = f->opened_ns;
  return true;
}

#endif
