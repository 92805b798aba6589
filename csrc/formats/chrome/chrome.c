/*
** chrome.c - trace events, for the Performance panel of Chrome DevTools,
** Perfetto and whatever else reads them.
**
** Each call is a complete event ("X"), with arguments and results in 'args'; a
** call that yields has one for each stretch. The first track has the whole
** program as one stack: a coroutine's calls stand above the call that resumed
** it. What coroutines do is also on tracks of their own; while one waits there
** for another, an event "(in ...)" has that time, so that the call which
** resumes does not seem to have taken it.
**
** An event is written when its frame exits, so memory is that of open frames.
**
** Viewers take an event that begins or ends with another for its neighbour, or
** drop it. So on a track every begin and end is at least a nanosecond later
** than the one before: where many frames open or close at one moment, some are
** off by a few nanoseconds, until time has caught up.
**
** DevTools reads a file as one string, of 512 MiB at most. Calls are limited by
** the number of their events; values are left out when the document has become
** so long that they could keep it from being opened, unless the user has set
** the limit.
**
** One thread writes; values are written on others too (values.h). Without
** memory the export's status says so, and the document is not whole.
*/
#include <inttypes.h>
#include <string.h>

#include "formats/chrome/chrome.h"
#include "base/alloc.h"
#include "base/grow.h"
#include "export/boxnames.h"
#include "export/threadlist.h"
#include "export/ticks.h"
#include "formats/chrome/about.h"
#include "formats/chrome/marks.h"
#include "formats/chrome/names.h"
#include "formats/chrome/samples.h"
#include "formats/chrome/values.h"
#include "stream/marks.h"

#define VALUES_END (UINT64_C(256) << 20)
#define VALUES_TWICE (VALUES_END / 4)

/* An open frame. Times are those of the document. */
typedef struct Box {
  uint64_t whole_ns;          /* when it begins on the first track */
  uint32_t track;             /* its coroutine's own; 0: only the first */
  uint64_t own_ns;            /* when it begins on 'track' */
  uint32_t waiting;           /* the track of a coroutine that waits for this
                                 frame's; 0: none */
  uint64_t waits_ns;          /* since when */
  size_t args;                /* what is known at its entry: in 'args' */
  uint64_t folded;            /* of the export, at its entry */
} Box;

typedef struct Document {
  tg_Export *x;
  tg_Buf *out;                /* borrows; of x->out */
  tg_ChromeEvents events;
  tg_ThreadList threads;      /* owns; coroutines */
  uint64_t *last;             /* owns; by track, its last boundary. Track 0 is
                                 the first, n + 1 that of coroutine number n */
  uint32_t clast;
  Box *boxes;                 /* owns; by level */
  uint32_t cboxes;
  tg_Buf args;                /* owns; of the open boxes */
  tg_ChromeNames words;       /* owns */
  tg_ChromeValues values;     /* owns */
  tg_Buf begin;               /* owns; of every call's event: up to the tid */
  tg_Buf room;                /* owns */
  uint64_t bare_ns;           /* when the values' end was */
  bool whole;                 /* coroutines are on the first track too */
  bool sampled;               /* the user has asked for samples, or the
                                 recording has them */
  tg_ChromeSamples samples;   /* owns; if so */
  tg_ChromeMarks marks;       /* owns; the program's markers */
} Document;

static bool fail (Document *d) {
  if (d->x->status == TG_OK)
    d->x->status = TG_ERR_MEMORY;
  return false;
}

/* 'room', empty; what was in it was whole. */
static tg_Buf *clear_room (Document *d) {
  if (d->room.failed)
    fail(d);
  tg_buf_clear(&d->room);
  return &d->room;
}

/* Makes room for item number 'i'; new items are zero. 'array' is the address of
   a pointer of any type, which C lets nobody but memcpy look at. */
static bool room (Document *d, void *array, uint32_t *capacity, uint32_t i,
                  size_t size) {
  return i < *capacity || tg_grow_zeroed(array, capacity, i + 1, size)
         || fail(d);
}

/*
** {==================================================================
** Events
** ===================================================================
*/

/* Also what each call's event begins with, put together once: most of the
   document is these lines. Viewers show the process's name above its tracks. */
static void put_process (Document *d) {
  tg_buf_addfmt(&d->begin, ",\n{\"ph\":\"X\",\"pid\":%" PRIu32 ",\"tid\":",
                d->events.pid);
  const char *program = d->x->program->name;
  clear_room(d);
  tg_buf_addstr(&d->room, "lua ");
  tg_buf_addstr(&d->room, program != NULL ? program : d->x->name);
  tg_chromeevents_name(&d->events, "process_name", 1, &d->room);
}

/* The track of a packet's coroutine, 0 of main, which is the first one's;
   TG_INTMAP_NONE without memory. */
static uint32_t track_of (Document *d, const tg_Packet *p) {
  uint32_t number = tg_threadlist_of(&d->threads, p);
  if (number == TG_INTMAP_NONE) {
    fail(d);
    return number;
  }
  if (!room(d, &d->last, &d->clast, number + 1, sizeof *d->last))
    return TG_INTMAP_NONE;
  return p->thread == TG_EXPORT_MAIN ? 0 : number + 1;
}

static uint32_t tid_of (const Document *d, uint32_t track) {
  if (track == 0)
    return TG_EXPORT_MAIN;
  tg_ThreadId thread = d->threads.list[track - 1].thread;
  return thread != TG_THREADLIST_OTHERS ? tg_chromeevents_tid(thread)
                                        : TG_CHROME_OTHERS;
}

/* The next boundary of a track: later than all before it there. */
static uint64_t boundary (Document *d, uint32_t track, uint64_t time_ns) {
  uint64_t ns = tg_chromeevents_ns(&d->events, time_ns);
  if (ns <= d->last[track])
    ns = d->last[track] + 1;
  d->last[track] = ns;
  return ns;
}

/* }================================================================== */

/*
** {==================================================================
** Calls
** ===================================================================
*/

static bool wants (const tg_Export *x, uint32_t type) {
  return (x->selection->types & type) != 0;
}

/* Whether the document still has room for values. */
static bool has_room (const Document *d) {
  return d->x->out->bytes < VALUES_END || d->x->options.limit > 0;
}

/* If the trace has them. */
static void put_values (Document *d, tg_Buf *out, const char *key,
                        const tg_Packet *p) {
  if (has_room(d) && tg_chromevalues_has(d->x, p))
    tg_chromevalues_put(&d->values, out, key, p);
}

static void put_callsite (Document *d, const tg_Packet *p) {
  tg_buf_addstr(&d->args, ",\"called\":\"");
  if (!tg_chromenames_place(&d->words, p->caller, p->line, &d->args))
    fail(d);
}

/* If the frame below belongs to another coroutine, that coroutine waits from
   now on. The wait is shown on its own track, if the two do not share one. */
static void begin_wait (Document *d, Box *box, uint64_t time_ns) {
  uint32_t below = box > d->boxes ? box[-1].track : 0;
  if (below == 0 || below == box->track)
    return;
  box->waiting = below;
  box->waits_ns = boundary(d, below, time_ns);
}

/* What is known of a call at its entry waits for its exit: an event that is
   complete is one line, while a pair of "B" and "E" would be two that Perfetto
   matches by order and DevTools drops if one is missing. */
static bool enter (Document *d, const tg_Packet *p) {
  uint32_t level = tg_export_level(d->x, p);
  uint32_t track = track_of(d, p);
  if (track == TG_INTMAP_NONE
      || !room(d, &d->boxes, &d->cboxes, level, sizeof *d->boxes))
    return false;
  Box *box = &d->boxes[level];
  *box = (Box){.track = track, .args = d->args.size, .folded = d->x->folded};
  begin_wait(d, box, p->time_ns);
  if (track == 0 || d->whole)
    box->whole_ns = boundary(d, 0, p->time_ns);
  if (track != 0)
    box->own_ns = boundary(d, track, p->time_ns);
  if (wants(d->x, TG_TYPE_CALLSITE) && p->caller != 0)
    put_callsite(d, p);
  if (p->resumed)
    tg_buf_addstr(&d->args, ",\"resumed\":true");
  else if (p->sampled)
    tg_buf_addstr(&d->args, ",\"sampled\":true");
  else
    put_values(d, &d->args, ",\"arguments\":", p);
  return true;
}

/* How it ended. An error and a yield are said also if their values are not: a
   reader of the document must not take them for returns. */
static void put_completion (Document *d, const tg_Packet *p, tg_Buf *out) {
  switch (p->why) {
    case TG_WHY_RETURN:
      put_values(d, out, ",\"returns\":", p);
      tg_buf_addstr(out, p->tail ? ",\"tailCall\":true" : "");
      break;
    case TG_WHY_EXCEPTION:
      if (!tg_chromevalues_has(d->x, p) || !has_room(d))
        tg_buf_addstr(out, ",\"throw\":\"?\"");
      put_values(d, out, ",\"throw\":", p);
      break;
    case TG_WHY_YIELD:
      if (!tg_chromevalues_has(d->x, p) || !has_room(d))
        tg_buf_addstr(out, ",\"yield\":\"?\"");
      put_values(d, out, ",\"yield\":", p);
      break;
    case TG_WHY_TERMINATED:
      tg_buf_addstr(out, d->x->unfinished ? ",\"unfinished\":true"
                                          : ",\"terminated\":true");
      break;
    case TG_WHY_ENTER: case TG_WHY_MARK: case TG_WHY_TICK: default: break;
  }
}

/* The rest of 'args', behind what its entry has put there. */
static void put_args (Document *d, const tg_Packet *p, const Box *box) {
  tg_Buf *out = &d->args;
  tg_assert(out->failed || out->size >= box->args);
  put_completion(d, p, out);
  if (d->x->folded > box->folded
      && tg_export_level(d->x, p) + 1 == d->x->depth) {
    tg_buf_addstr(out, ",\"folded\":");
    tg_buf_addu64(out, d->x->folded - box->folded);
  }
  tg_buf_addstr(out, "}}");
}

/* From here on calls have no values: those who work ahead need not make any. */
static void note_bare (Document *d, const tg_Packet *p) {
  if (p->values.data == NULL || has_room(d))
    return;
  if (d->x->bare++ == 0) {
    d->bare_ns = p->time_ns;
    atomic_store(&d->x->idle, true);
  }
}

/* An event up to its name, from the time that its begin was given to the end
   that it gets here. The end is a boundary of its own, so an event is a
   nanosecond long at least. */
static void put_span (Document *d, uint32_t track, uint64_t begin_ns,
                      uint64_t time_ns) {
  uint64_t end_ns = boundary(d, track, time_ns);
  tg_assert(end_ns > begin_ns);
  tg_buf_add(d->out, d->begin.data, d->begin.size);
  tg_buf_addu64(d->out, tid_of(d, track));
  tg_chromeevents_time(&d->events, ",\"ts\":", begin_ns);
  tg_chromeevents_time(&d->events, ",\"dur\":", end_ns - begin_ns);
  tg_buf_addchar(d->out, ',');
}

/* The event of a call on one of its tracks. On the second one without what is
   on the first already, once that is so much that some calls would have no
   values at all. */
static bool put_call (Document *d, const tg_Packet *p, const Box *box,
                      uint32_t track) {
  put_span(d, track, track != 0 ? box->own_ns : box->whole_ns, p->time_ns);
  if (!tg_chromenames_put(&d->words, p->function, d->out))
    return fail(d);
  bool again = track != 0 && d->whole && d->x->options.limit == 0
               && d->x->out->bytes > VALUES_TWICE;
  if (again)
    tg_buf_addstr(d->out, "}}");
  else if (!d->args.failed)
    tg_buf_add(d->out, d->args.data + box->args, d->args.size - box->args);
  return true;
}

/* From the call that resumes a coroutine, on its own track, comes an arrow:
   false if the box is not the first one of a stretch. */
static bool put_arrow (Document *d, const Box *box) {
  if (box == d->boxes || box->track == 0 || box[-1].track == box->track)
    return false;
  if (box->waiting != 0)
    tg_chromeevents_from(&d->events, tid_of(d, box->waiting), box->waits_ns);
  else
    tg_chromeevents_from(&d->events, TG_EXPORT_MAIN, box->whole_ns);
  return true;
}

/* The coroutine that has waited goes on; or the coroutine that it waited for
   goes on in another frame. */
static void end_wait (Document *d, const tg_Packet *p, const Box *box) {
  if (box->waiting == 0)
    return;
  const tg_ThreadEntry *other = &d->threads.list[box->track > 0
                                                 ? box->track - 1 : 0];
  tg_Buf *name = clear_room(d);
  tg_buf_addstr(name, "(in ");
  tg_boxname_thread(d->x, p->thread, other->first, name);
  tg_buf_addchar(name, ')');
  put_span(d, box->waiting, box->waits_ns, p->time_ns);
  tg_buf_addstr(d->out, "\"cat\":\"Coroutine\",\"name\":");
  tg_v8profile_put_string(d->out, name->data, name->size);
  tg_buf_addstr(d->out, ",\"args\":{}}");
}

/* Inner events come before those around them, since each is written at its
   exit; viewers sort by time themselves. What the frame's entry has put into
   'args' is on top of it, and goes. */
static bool leave (Document *d, const tg_Packet *p) {
  const Box *box = &d->boxes[tg_export_level(d->x, p)];
  put_args(d, p, box);
  bool arrow = put_arrow(d, box);
  bool ok = (box->whole_ns == 0 || put_call(d, p, box, 0))
            && (box->track == 0 || put_call(d, p, box, box->track));
  if (arrow)
    tg_chromeevents_to(&d->events, tid_of(d, box->track), box->own_ns);
  end_wait(d, p, box);
  if (!d->args.failed)
    d->args.size = box->args;
  note_bare(d, p);
  return ok;
}

/* }================================================================== */

/*
** {==================================================================
** The program's markers
** ===================================================================
*/

/* A moment is shown where its coroutine's calls are. The beginning of a timer
   shows in the timer's box; a timer that the trace's end cuts off has none. */
static bool put_marker (Document *d, const tg_Packet *p) {
  if (p->mark == TG_MARK_GROUPEND || p->mark == TG_MARK_ALLOCATIONS)
    return true;
  if (p->mark == TG_MARK_HEAP) {
    tg_chromemarks_heap(&d->marks, p);
    return true;
  }
  if (tg_mark_spans(p->mark)) {
    tg_chromemarks_timer(&d->marks, p, has_room(d));
    return true;
  }
  uint32_t track = d->whole ? 0 : track_of(d, p);
  if (track == TG_INTMAP_NONE
      || !room(d, &d->last, &d->clast, track, sizeof *d->last))
    return false;
  tg_chromemarks_moment(&d->marks, p, tid_of(d, track),
                        boundary(d, track, p->time_ns), has_room(d));
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** The document
** ===================================================================
*/

static bool put_packet (Document *d, const tg_Packet *p) {
  if (p->why == TG_WHY_MARK)
    return put_marker(d, p) && tg_outfile_turn(d->x->out);
  bool ok = p->why == TG_WHY_TICK
            || (p->why == TG_WHY_ENTER ? enter(d, p) : leave(d, p));
  if (ok && d->sampled)
    tg_chromesamples_add(&d->samples, p);
  return ok && tg_outfile_turn(d->x->out);
}

static void put_events (Document *d) {
  tg_Packet p;
  bool more = tg_export_next(d->x, &p);
  if (d->sampled)
    tg_chromesamples_begin(&d->samples);
  while (more && put_packet(d, &p))
    more = tg_export_next(d->x, &p);
  if (d->sampled)
    tg_chromesamples_end(&d->samples);
}

/* The name of a track, and its place: coroutines stand below the whole program
   and its timers. */
static void put_track (Document *d, uint32_t track, const tg_Buf *name) {
  uint32_t place = track == 0 ? 0 : track + TG_CHROME_LANES;
  tg_chromeevents_name(&d->events, "thread_name", tid_of(d, track), name);
  tg_chromeevents_sort(&d->events, tid_of(d, track), place);
}

/* At the end: what a coroutine begins with may have become known only when it
   was resumed. */
static void put_tracks (Document *d) {
  bool any = false;             /* coroutines but main */
  for (uint32_t i = 0; i < d->threads.count; i++) {
    const tg_ThreadEntry *t = &d->threads.list[i];
    if (t->thread == TG_EXPORT_MAIN)
      continue;
    any = true;
    tg_boxname_thread(d->x, t->thread, t->first, clear_room(d));
    put_track(d, i + 1, &d->room);
  }
  if (any && !d->whole)
    return;
  tg_buf_addstr(clear_room(d), any ? "whole program" : "main");
  put_track(d, 0, &d->room);
}

/* In this order, though the format would take any: what is told of tracks and
   of what is missing is known only when all calls have been read, and nothing
   is kept to be written later. */
static void write (Document *d) {
  tg_buf_addstr(d->out, "{\"traceEvents\":[");
  put_process(d);
  d->whole = tg_export_whole(d->x);
  put_events(d);
  put_tracks(d);
  tg_chromemarks_lanes(&d->marks);
  bool alone = !d->whole && d->threads.count > 0;
  tg_chromemarks_missing(&d->marks, alone ? tid_of(d, 1) : TG_EXPORT_MAIN,
                         d->bare_ns);
  tg_chromeabout_put(&d->events);
  if (d->args.failed || d->begin.failed || d->room.failed
      || d->samples.failed || d->marks.failed)
    fail(d);
}

tg_Status tg_format_chrome (tg_Export *x) {
  Document d = {
    .x = x, .out = &x->out->text, .words.functions = x->stream->functions,
    .sampled = x->options.samples || tg_ticks_any(x)
  };
  tg_export_mark(x);
  d.events = (tg_ChromeEvents){
    .x = x, .out = d.out, .pid = x->pid != 0 ? x->pid : 1
  };
  d.values = tg_chromevalues_of(x);
  d.marks = (tg_ChromeMarks){.events = &d.events, .values = &d.values};
  if (d.sampled && !tg_chromesamples_init(&d.samples, &d.events))
    fail(&d);
  else
    write(&d);
  tg_chromesamples_free(&d.samples);
  tg_chromenames_free(&d.words);
  tg_chromevalues_free(&d.values);
  tg_chromemarks_free(&d.marks);
  tg_buf_free(&d.begin);
  tg_buf_free(&d.args);
  tg_buf_free(&d.room);
  tg_free(d.boxes);
  tg_free(d.last);
  tg_threadlist_free(&d.threads);
  return x->status;
}

/* }================================================================== */
