/*
** tracks.c - see tracks.h. Used by processed.c and gecko.c, each with functions
** of its own for what ends and begins.
**
** Packets nest across coroutines, so where control is now is the innermost open
** frame of all, and the frames of the first track are all that are open. When
** control goes from one other track to another, the one that is left gets a
** frame for that, or the one that is come back to loses it.
**
** Memory that was refused is in 'status', and no more packets are taken; what
** the spool's file refused is in the spool.
*/
#include "formats/firefox/tracklist.h"

#include <errno.h>

#include "base/grow.h"
#include "export/ticks.h"
#include "profile/linetimes.h"
#include "stream/marks.h"

/* False, so that callers can return it. */
static bool refuse (tg_Tracks *t) {
  t->status = TG_ERR_MEMORY;
  return false;
}

/*
** {==================================================================
** Spans
** ===================================================================
*/

/* The stack of a track as it is now: asked for when a span ends, since the line
   of the innermost frame is known only then. */
static uint32_t stack_of (tg_Track *track) {
  if (track->nframes == 0)
    return TG_STACK_NONE;
  const tg_TrackFrame *f = &track->frames[track->nframes - 1];
  uint32_t frame = tg_stacktables_frame(track->stacks, f->func, f->line);
  if (frame == TG_STACK_NONE)
    return TG_STACK_NONE;
  return tg_stacktables_push(track->stacks, f->prefix, frame);
}

/* Between two ticks: a coroutine comes or goes, and since the last one it was
   not there, or the program slept. Stacks and lines are the next tick's. */
static uint32_t cut_between (tg_Tracks *t, tg_Track *track, uint64_t ns) {
  if (ns > track->span_ns)
    t->span(t, track, track->span_ns, ns, TG_STACK_NONE);
  track->span_ns = ns;
  return TG_STACK_NONE;
}

/* A span is over, and its stack is known. */
static void end_span (tg_Tracks *t, tg_Track *track, uint64_t ns,
                      uint32_t stack) {
  if (track == t->list[0]) {
    t->whole = stack;
    if (!tg_stackweights_span(&t->weights, stack, ns - track->span_ns))
      refuse(t);
  }
  t->span(t, track, track->span_ns, ns, stack);
}

/* The open span ends, another begins. Returns the stack of the span that ends,
   which is known only now: its frames' lines come from calls inside of it. */
static uint32_t cut_span (tg_Tracks *t, tg_Track *track, uint64_t ns,
                          uint32_t tag) {
  tg_assert(ns >= track->span_ns);
  if (t->ticks && !t->ticking)
    return cut_between(t, track, ns);
  uint32_t stack = stack_of(track);
  if (stack == TG_STACK_NONE && track->nframes > 0)
    refuse(t);
  else
    end_span(t, track, ns, stack);
  track->span_ns = ns;
  track->tag = tag;
  return stack;
}

/* A func that could not be made is want of memory, told here once for all who
   push. */
static bool push (tg_Tracks *t, tg_Track *track, tg_TrackFrame f) {
  if (f.func == TG_STACK_NONE
      || !tg_grow(&track->frames, &track->cframes, track->nframes + 1,
                  sizeof *track->frames))
    return refuse(t);
  track->frames[track->nframes++] = f;
  return true;
}

/* Control goes from one track to another. Until it comes back, a frame "(in
   coroutine ...)" stands for the other track on the one that is left: samples
   there must not look as if the caller had been busy. The frame's function is
   0, which come_back checks. */
static void leave_for (tg_Tracks *t, tg_Track *from, const tg_Track *to,
                       uint64_t ns) {
  uint32_t stack = cut_span(t, from, ns, TG_TAG_NONE);
  push(t, from, (tg_TrackFrame){
    .func = tg_stacktables_func(from->stacks, t->x->stream->functions,
                                to->first, true),
    .prefix = stack
  });
}

/* Control comes back: the frame on top is the one that stands for the other
   track. */
static void come_back (tg_Tracks *t, tg_Track *track, uint64_t ns) {
  cut_span(t, track, ns, TG_TAG_NONE);
  tg_assert(track->nframes > 0
            && track->frames[track->nframes - 1].function == 0);
  track->nframes--;
}

/* The track that control is in, or was in before the frame counted in 'above'
   was opened: that of the innermost open frame. NULL if no frame is open, or if
   the track is the first, which is never left, or that of 'thread'. */
static tg_Track *other_track (tg_Tracks *t, tg_ThreadId thread,
                              uint32_t above, uint64_t ns) {
  uint32_t n;
  const tg_ExportFrame *open = tg_export_frames(t->x, &n);
  if (n <= above || open[n - 1 - above].thread == thread
      || open[n - 1 - above].thread == TG_TRACKS_WHOLE)
    return NULL;
  return tg_tracklist_of(t, open[n - 1 - above].thread, ns);
}

/* Where the caller is, if the frame below is its. Functions that are left out
   by a filter are callers without a frame. */
static void note_line (tg_Track *track, const tg_Packet *p) {
  if (track->nframes == 0 || p->caller == 0 || p->line == 0)
    return;
  tg_TrackFrame *f = &track->frames[track->nframes - 1];
  if (f->function == p->caller)
    f->line = p->line;
}

/* Until a call from it tells better, a frame is where its function is
   defined. */
static uint32_t first_line (const tg_Tracks *t, tg_FunctionId function) {
  const tg_Function *f = tg_functions_find(t->x->stream->functions, function);
  return f != NULL && !f->is_c ? f->line : 0;
}

/* The span before belongs to the caller, and is cut only when the line is known
   that the call is made from: so 'note_line' comes before it. */
static void enter_on (tg_Tracks *t, tg_Track *track, const tg_Packet *p) {
  note_line(track, p);
  uint32_t tag = t->call != NULL ? t->call(t, track, p) : TG_TAG_NONE;
  uint32_t prefix = cut_span(t, track, p->time_ns, tag);
  push(t, track, (tg_TrackFrame){
    .function = p->function, .line = first_line(t, p->function),
    .func = tg_stacktables_func(track->stacks, t->x->stream->functions,
                                p->function, false),
    .prefix = prefix
  });
  track->ended = false;
  track->to_ns = p->time_ns;
}

/* 'ended': the coroutine is over as far as is known, and its track with it. A
   yield is no end, nor is a frame that the trace's end has cut off. */
static void leave_on (tg_Tracks *t, tg_Track *track, const tg_Packet *p) {
  cut_span(t, track, p->time_ns, TG_TAG_NONE);
  tg_assert(track->nframes > 0);
  track->nframes--;
  track->ended = p->why != TG_WHY_YIELD && !t->x->unfinished;
  track->to_ns = p->time_ns;
}

/* On the first track, whose stacks ticks may weigh. */
static void enter_whole (tg_Tracks *t, tg_Track *track, const tg_Packet *p) {
  const tg_Functions *fs = t->x->stream->functions;
  enter_on(t, track, p);
  if (t->status == TG_OK
      && !tg_stackweights_enter(&t->weights, p,
                                track->frames[track->nframes - 1].func,
                                tg_functions_shown(fs, p->function)))
    refuse(t);
}

static void leave_whole (tg_Tracks *t, tg_Track *track, const tg_Packet *p) {
  leave_on(t, track, p);
  tg_stackweights_leave(&t->weights);
}

/* On its coroutine's own track. */
static void enter_own (tg_Tracks *t, tg_Track *track, const tg_Packet *p) {
  tg_Track *below = other_track(t, p->thread, 1, p->time_ns);
  if (track->first == 0)
    track->first = p->body != 0 ? p->body : p->function;
  if (below != NULL && below != track)
    leave_for(t, below, track, p->time_ns);
  enter_on(t, track, p);
}

/* The other way round: this track's span ends first, then the one below goes
   on. */
static void leave_own (tg_Tracks *t, tg_Track *track, const tg_Packet *p) {
  tg_Track *below = other_track(t, p->thread, 0, p->time_ns);
  leave_on(t, track, p);
  if (below != NULL && below != track)
    come_back(t, below, p->time_ns);
}

/* }================================================================== */

/* The tracks that a packet is on: the first one, and its coroutine's own. Their
   number; 0 without memory. */
static uint32_t tracks_of (tg_Tracks *t, const tg_Packet *p,
                           tg_Track *tracks[TG_MARKS_TRACKS]) {
  if (t->count == 0
      && tg_tracklist_add(t, TG_TRACKS_WHOLE, p->time_ns) == NULL) {
    refuse(t);
    return 0;
  }
  tracks[0] = t->list[0];
  if (p->thread == TG_TRACKS_WHOLE)
    return 1;
  tracks[1] = tg_tracklist_of(t, p->thread, p->time_ns);
  return tracks[1] != NULL ? 2 : 0;
}

/* On the tracks of frames that are open: what is allocated outside of all is on
   none. */
static void add_allocations (tg_Tracks *t, const tg_Packet *p) {
  uint32_t n;
  const tg_ExportFrame *open = tg_export_frames(t->x, &n);
  if (t->allocate == NULL || n == 0)
    return;
  tg_Track *tracks[TG_MARKS_TRACKS];
  tg_Packet inner = {.thread = open[n - 1].thread, .time_ns = p->time_ns};
  uint32_t count = tracks_of(t, &inner, tracks);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t stack = stack_of(tracks[i]);
    if (stack == TG_STACK_NONE)
      refuse(t);
    else
      t->allocate(t, tracks[i], p, stack);
  }
}

/* On the first track, and on its coroutine's own if it has called anything
   yet. */
static void add_marker (tg_Tracks *t, const tg_Packet *p) {
  if (p->mark == TG_MARK_HEAP) {
    if (!tg_heapcounter_add(&t->heap, p->time_ns, p->hits))
      refuse(t);
    return;
  }
  if (p->mark == TG_MARK_ALLOCATIONS) {
    add_allocations(t, p);
    return;
  }
  tg_Track *tracks[TG_MARKS_TRACKS];
  bool known = p->thread == TG_TRACKS_WHOLE
               || tg_intmap_find(&t->by_thread, p->thread) != TG_INTMAP_NONE;
  tg_Packet whole = {.thread = TG_TRACKS_WHOLE, .time_ns = p->time_ns};
  uint32_t n = tracks_of(t, known ? p : &whole, tracks);
  t->console = true;
  for (uint32_t i = 0; i < n; i++) {
    if (!tg_notes_add_marker(&tracks[i]->notes, t->x, p))
      refuse(t);
  }
}

/* Notes the lines of the open frames of a coroutine, from number 'from' on, in
   a track that has no other frames; and the stack below each frame, which its
   callers' lines may have changed. The top frame may stand for another
   coroutine. */
static void note_lines (tg_Tracks *t, tg_Track *track, const tg_Packet *tick,
                        uint32_t from) {
  uint32_t below = TG_STACK_NONE;
  for (uint32_t i = 0; i < track->nframes; i++) {
    tg_TrackFrame *f = &track->frames[i];
    uint32_t line = f->function != 0 ? tg_linetimes_line(tick, from + i) : 0;
    if (line != 0)
      f->line = line;
    f->prefix = below;
    uint32_t frame = tg_stacktables_frame(track->stacks, f->func, f->line);
    if (frame != TG_STACK_NONE)
      below = tg_stacktables_push(track->stacks, below, frame);
    if (frame == TG_STACK_NONE || below == TG_STACK_NONE) {
      refuse(t);
      return;
    }
  }
}

/* The span of a track that runs ends with the tick. Of coroutines that share a
   track, which may be in it anyhow, lines are not told. */
static void tick_on (tg_Tracks *t, tg_Track *track, const tg_Packet *tick,
                     uint32_t from) {
  if (!track->shared)
    note_lines(t, track, tick, from);
  if (t->status == TG_OK)
    cut_span(t, track, tick->time_ns, TG_TAG_NONE);
  track->to_ns = tick->time_ns;
}

/* On the first track, and on those of all coroutines that have frames open:
   each has them in a row. */
static void cut_by_tick (tg_Tracks *t, const tg_Packet *p,
                         const tg_ExportFrame *open, uint32_t n) {
  t->ticking = true;
  tick_on(t, t->list[0], p, 0);
  for (uint32_t i = 0; i < n && t->status == TG_OK; i++) {
    tg_ThreadId thread = open[i].thread;
    tg_Track *track = tg_tracklist_of(t, thread, p->time_ns);
    if (track != NULL && thread != TG_TRACKS_WHOLE
        && (i == 0 || open[i - 1].thread != thread))
      tick_on(t, track, p, i);
  }
  t->ticking = false;
}

/* What ran in no frame that is open has a func all the same. */
static void weigh_tick (tg_Tracks *t, const tg_Packet *p, uint32_t n) {
  uint32_t func = TG_STACK_NONE;
  tg_Track *tracks[TG_MARKS_TRACKS];
  tg_Packet whole = {.thread = TG_TRACKS_WHOLE, .time_ns = p->time_ns};
  if (!t->weights.on || tracks_of(t, &whole, tracks) == 0)
    return;
  if (p->function != 0) {
    func = tg_stacktables_func(tracks[0]->stacks, t->x->stream->functions,
                               p->function, false);
    if (func == TG_STACK_NONE)
      refuse(t);
  }
  if (t->status == TG_OK
      && !tg_stackweights_tick(&t->weights, p,
                               n > 0 ? t->whole : TG_STACK_NONE, func))
    refuse(t);
}

static void add_tick (tg_Tracks *t, const tg_Packet *p) {
  uint32_t n;
  const tg_ExportFrame *open = tg_export_frames(t->x, &n);
  if (n > 0)
    cut_by_tick(t, p, open, n);
  weigh_tick(t, p, n);
}

/* A call's arguments are kept after its frame is there, and its marker is put
   aside before the frame goes. What samples have shown is no call, nor is the
   time of those that are left out. */
static void add_packet (tg_Tracks *t, const tg_Packet *p) {
  tg_Track *tracks[TG_MARKS_TRACKS];
  tg_TrackMarks *marks[TG_MARKS_TRACKS];
  uint32_t n = tracks_of(t, p, tracks);
  bool enters = p->why == TG_WHY_ENTER, ok = true;
  bool marked = t->marked && !p->sampled
                && p->function != TG_FUNCTION_LEFT;
  for (uint32_t i = 0; i < n; i++)
    marks[i] = &tracks[i]->marks;
  if (n > 0 && marked && !enters)
    ok = tg_callmarks_close(&t->marks, marks, n, p);
  for (uint32_t i = 0; ok && i < n && t->status == TG_OK; i++) {
    if (i > 0)
      (enters ? enter_own : leave_own)(t, tracks[i], p);
    else
      (enters ? enter_whole : leave_whole)(t, tracks[i], p);
  }
  if (n > 0 && marked && enters && t->status == TG_OK)
    ok = tg_callmarks_open(&t->marks, marks, n, p);
  if (!ok)
    refuse(t);
}

/* What has time and was in no span has one without a length, at the end. */
static bool settle (tg_Tracks *t) {
  tg_Track *whole = t->list[0];
  uint32_t idle = tg_stacktables_func(whole->stacks, t->x->stream->functions,
                                      TG_FUNCTION_IDLE, false);
  if (idle == TG_STACK_NONE
      || !tg_stackweights_settle(&t->weights, t->x->end_ns, idle))
    return false;
  uint32_t stack;
  for (uint32_t i = 0;
       (i = tg_stackweights_rest(&t->weights, whole->stacks, i, &stack)) != 0;
       i++) {
    if (stack == TG_STACK_NONE)
      return false;
    t->span(t, whole, whole->span_ns, whole->span_ns, stack);
  }
  return true;
}

/* A document has one track at least. The last span of each is without a length:
   it says that the track's stack is empty from there on. */
static tg_Status finish (tg_Tracks *t) {
  if (t->x->status != TG_OK || t->status != TG_OK)
    return t->x->status != TG_OK ? t->x->status : t->status;
  if (t->count == 0
      && tg_tracklist_add(t, TG_TRACKS_WHOLE, t->x->start_ns) == NULL)
    return TG_ERR_MEMORY;
  if (t->weights.on && !settle(t))
    return TG_ERR_MEMORY;
  t->ticking = true;
  for (uint32_t i = 0; i < t->count; i++)
    cut_span(t, t->list[i], t->list[i]->span_ns, TG_TAG_NONE);
  if (t->spool.error != 0) {
    errno = t->spool.error;
    return t->spool.error == ENOMEM ? TG_ERR_MEMORY : TG_ERR_IO;
  }
  return t->status;
}

/* Reads all packets: 'span' and 'call' are called for what they bring. */
tg_Status tg_tracks_run (tg_Tracks *t) {
  tg_Packet p;
  tg_export_mark(t->x);
  if (tg_ticks_any(t->x))
    tg_ticks_ask(t->x);
  while (t->status == TG_OK && t->spool.error == 0
         && tg_export_next(t->x, &p)) {
    tg_stackweights_pass(&t->weights, &p);
    (p.why == TG_WHY_TICK ? add_tick
     : p.why == TG_WHY_MARK ? add_marker : add_packet)(t, &p);
  }
  return finish(t);
}

uint32_t tg_tracks_whole (const tg_Tracks *t, const tg_Track *track,
                          uint32_t stack) {
  bool away = track->nframes > 0
              && track->frames[track->nframes - 1].function == 0;
  if (track == t->list[0])
    return stack;
  return away ? TG_STACK_NONE : t->whole;
}

/* The output's error first: a spool that was given up because of it has none of
   its own. */
tg_Status tg_tracks_outcome (const tg_Tracks *t, bool written) {
  if (written)
    return TG_OK;
  int error = t->x->out->error != 0 ? t->x->out->error : t->spool.error;
  if (error == 0 || error == ENOMEM)
    return TG_ERR_MEMORY;
  errno = error;
  return TG_ERR_IO;
}
