/*
** tracks.c - see tracks.h.
**
** Packets nest across coroutines, so where control is now is the innermost open
** frame of all. When it goes from one track to another, the one that is left
** gets a frame for that, or the one that is come back to loses it.
*/
#include "formats/firefox/tracks.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "stream/values.h"

#define MARKS_MAX 200000u
#define TEXT_MAX ((size_t)2000)   /* bytes of arguments or results */
#define TEXTS_MAX ((size_t)128 << 20)   /* of all together */

bool tg_tracks_init (tg_Tracks *t, tg_Export *x, tg_StackTables *all) {
  memset(t, 0, sizeof *t);
  t->x = x;
  t->stacks = all;
  tg_spool_init(&t->spool);
  return tg_longestcalls_init(&t->longest, MARKS_MAX);
}

static void free_track (tg_Tracks *t, tg_Track *track) {
  tg_column_free(&track->samples);
  tg_column_free(&track->values);
  tg_column_free(&track->marks);
  tg_intern_free(&track->shapes);
  tg_free(track->frames);
  if (t->stacks == NULL && track->stacks != NULL) {
    tg_stacktables_free(track->stacks);
    tg_free(track->stacks);
  }
  tg_free(track);
}

void tg_tracks_free (tg_Tracks *t) {
  for (uint32_t i = 0; i < t->count; i++)
    free_track(t, t->list[i]);
  tg_free(t->list);
  tg_free(t->calls);
  tg_intmap_free(&t->by_thread);
  tg_longestcalls_free(&t->longest);
  tg_buf_free(&t->arguments);
  tg_buf_free(&t->raw);
  tg_buf_free(&t->text);
  tg_buf_free(&t->members);
  tg_spool_free(&t->spool);
}

static bool refuse (tg_Tracks *t) {
  t->status = TG_ERR_MEMORY;
  return false;
}

/*
** {==================================================================
** Tracks
** ===================================================================
*/

static tg_Track *new_track (tg_Tracks *t, tg_ThreadId thread, uint64_t ns) {
  if (t->count == t->capacity) {
    uint32_t more = t->capacity > 0 ? t->capacity * 2 : 16;
    tg_Track **list = tg_realloc(t->list, more * sizeof *list);
    if (list == NULL)
      return NULL;
    t->list = list;
    t->capacity = more;
  }
  tg_Track *track = tg_calloc(1, sizeof *track);
  if (track == NULL)
    return NULL;
  track->thread = thread;
  track->from_ns = track->to_ns = track->span_ns = ns;
  track->tag = TG_TAG_NONE;
  track->stacks = t->stacks != NULL ? t->stacks
                                    : tg_calloc(1, sizeof *track->stacks);
  if (track->stacks == NULL) {
    tg_free(track);
    return NULL;
  }
  return t->list[t->count++] = track;
}

/* The track of a thread that has none yet. */
static tg_Track *add_track (tg_Tracks *t, tg_ThreadId thread, uint64_t ns) {
  uint32_t place = t->count;
  if (place >= TG_TRACKS_MAX) {
    place = TG_TRACKS_MAX - 1;
    t->list[place]->shared = true;
  }
  else if (new_track(t, thread, ns) == NULL)
    return NULL;
  return tg_intmap_set(&t->by_thread, thread, place) ? t->list[place] : NULL;
}

static TG_NOINLINE tg_Track *find_track (tg_Tracks *t, tg_ThreadId thread,
                                         uint64_t ns) {
  uint32_t place = tg_intmap_find(&t->by_thread, thread);
  tg_Track *track = place != TG_INTMAP_NONE ? t->list[place]
                                           : add_track(t, thread, ns);
  if (track == NULL) {
    refuse(t);
    return NULL;
  }
  t->latest_thread = thread;
  return t->latest = track;
}

TG_INLINE tg_Track *track_of (tg_Tracks *t, tg_ThreadId thread, uint64_t ns) {
  if (tg_likely(t->latest != NULL && t->latest_thread == thread))
    return t->latest;
  return find_track(t, thread, ns);
}

void tg_tracks_name (const tg_Tracks *t, const tg_Track *track, tg_Buf *out) {
  if (track->shared)
    tg_buf_addfmt(out, "coroutines %u and later", (unsigned)track->thread);
  else
    tg_export_thread_name(t->x, track->thread, track->first, out);
}

/* }================================================================== */

/*
** {==================================================================
** Spans
** ===================================================================
*/

/* The stack of a track as it is now. */
static uint32_t stack_of (tg_Track *track) {
  if (track->nframes == 0)
    return TG_STACK_NONE;
  const tg_TrackFrame *f = &track->frames[track->nframes - 1];
  uint32_t frame = tg_stacktables_frame(track->stacks, f->func, f->line);
  if (frame == TG_STACK_NONE)
    return TG_STACK_NONE;
  return tg_stacktables_push(track->stacks, f->prefix, frame);
}

/* The open span ends, another begins. Its stack, which is returned, is known
   only now: what it leads to tells the line. */
static uint32_t cut_span (tg_Tracks *t, tg_Track *track, uint64_t ns,
                          uint32_t tag) {
  uint32_t stack = stack_of(track);
  if (stack == TG_STACK_NONE && track->nframes > 0)
    refuse(t);
  else
    t->span(t, track, track->span_ns, ns, stack);
  track->span_ns = ns;
  track->tag = tag;
  return stack;
}

static bool push (tg_Tracks *t, tg_Track *track, tg_TrackFrame f) {
  if (f.func == TG_STACK_NONE)
    return refuse(t);
  if (track->nframes == track->cframes) {
    uint32_t more = track->cframes > 0 ? track->cframes * 2 : 16;
    tg_TrackFrame *frames = tg_realloc(track->frames, more * sizeof *frames);
    if (frames == NULL)
      return refuse(t);
    track->frames = frames;
    track->cframes = more;
  }
  track->frames[track->nframes++] = f;
  return true;
}

/* Control goes from one track to another. */
static void leave_for (tg_Tracks *t, tg_Track *from, const tg_Track *to,
                       uint64_t ns) {
  uint32_t stack = cut_span(t, from, ns, TG_TAG_NONE);
  push(t, from, (tg_TrackFrame){
    .func = tg_stacktables_func(from->stacks, t->x->stream->functions,
                                to->first, true),
    .prefix = stack
  });
}

/* Control comes back. */
static void come_back (tg_Tracks *t, tg_Track *track, uint64_t ns) {
  cut_span(t, track, ns, TG_TAG_NONE);
  tg_assert(track->nframes > 0);
  track->nframes--;
}

/* The track that control is in, or was in before the frame was opened that is
   one of 'above': the one of the innermost open frame. NULL if there is none,
   or if it is that of 'thread'. */
static tg_Track *other_track (tg_Tracks *t, tg_ThreadId thread,
                              uint32_t above, uint64_t ns) {
  uint32_t n;
  const tg_ExportFrame *open = tg_export_frames(t->x, &n);
  if (n <= above || open[n - 1 - above].thread == thread)
    return NULL;
  return track_of(t, open[n - 1 - above].thread, ns);
}

/* Where the caller is, if the frame below is its. */
static void note_line (tg_Track *track, const tg_Packet *p) {
  if (track->nframes == 0 || p->caller == 0 || p->line == 0)
    return;
  tg_TrackFrame *f = &track->frames[track->nframes - 1];
  if (f->function == p->caller)
    f->line = p->line;
}

static uint32_t first_line (const tg_Tracks *t, tg_FunctionId function) {
  const tg_Function *f = tg_functions_find(t->x->stream->functions, function);
  return f != NULL && !f->is_c ? f->line : 0;
}

static void enter (tg_Tracks *t, const tg_Packet *p) {
  tg_Track *below = other_track(t, p->thread, 1, p->time_ns);
  tg_Track *track = track_of(t, p->thread, p->time_ns);
  if (track == NULL)
    return;
  if (track->first == 0)
    track->first = p->function;
  if (below != NULL && below != track)
    leave_for(t, below, track, p->time_ns);
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

static void leave (tg_Tracks *t, const tg_Packet *p) {
  tg_Track *below = other_track(t, p->thread, 0, p->time_ns);
  tg_Track *track = track_of(t, p->thread, p->time_ns);
  if (track == NULL || t->status != TG_OK)
    return;
  cut_span(t, track, p->time_ns, TG_TAG_NONE);
  tg_assert(track->nframes > 0);
  track->nframes--;
  track->ended = p->why != TG_WHY_YIELD && !t->x->unfinished;
  track->to_ns = p->time_ns;
  if (below != NULL && below != track)
    come_back(t, below, p->time_ns);
}

/* }================================================================== */

/*
** {==================================================================
** Calls that become markers
** ===================================================================
*/

static void keep_arguments (tg_Tracks *t, tg_TrackCall *c,
                            const tg_Packet *p) {
  c->at = t->arguments.size;
  c->has = p->values.data != NULL;
  c->put_in = 0;
  if (c->has)
    c->put_in = tg_values_copy(&t->arguments, p->values,
                               TG_COPIES_MAX - t->put_in);
  t->put_in += c->put_in;
  c->size = t->arguments.size - c->at;
  if (t->arguments.failed)
    refuse(t);
}

/* The packet's moment on its track. Viewers draw what begins together in the
   order in which it is written, and that is the order of the ends, where inner
   calls come first: so a call begins later than the one before, if only by a
   thousandth of a nanosecond, and does not end before that. */
static tg_Moment moment_of (tg_Tracks *t, const tg_Packet *p) {
  const uint32_t last = 999;
  bool begins = p->why == TG_WHY_ENTER;
  tg_Track *track = track_of(t, p->thread, p->time_ns);
  tg_Moment m = {p->time_ns, 0};
  if (track == NULL)
    return m;
  if (m.ns <= track->moment.ns) {
    m = track->moment;
    m.part += begins && track->began && m.part < last;
  }
  track->moment = m;
  track->began = begins;
  return m;
}

static void open_call (tg_Tracks *t, const tg_Packet *p) {
  uint32_t level = tg_export_level(t->x, p);
  if (level >= t->ccalls) {
    uint32_t more = t->ccalls > 0 ? t->ccalls * 2 : 64;
    tg_TrackCall *calls = tg_realloc(t->calls, more * sizeof *calls);
    if (calls == NULL) {
      refuse(t);
      return;
    }
    t->calls = calls;
    t->ccalls = more;
  }
  t->calls[level].opened = moment_of(t, p);
  t->calls[level].resumed = p->resumed;
  keep_arguments(t, &t->calls[level], p);
}

/* Puts what came of the call behind its arguments; how many bytes that is. */
static uint32_t add_results (tg_Tracks *t, const tg_Packet *p) {
  size_t at = t->arguments.size;
  if (p->values.data == NULL || p->why == TG_WHY_TERMINATED)
    return TG_ABSENT;
  tg_values_copy(&t->arguments, p->values, TG_COPIES_MAX);
  return (uint32_t)(t->arguments.size - at);
}

static void put_aside (tg_Tracks *t, tg_Track *track, const tg_TrackCall *c,
                       const tg_Packet *p, tg_Moment to, uint32_t rank) {
  tg_Buf *out = &track->marks.text;
  tg_CallMark mark = {
    .from = c->opened, .to = to, .rank = rank, .function = p->function,
    .arguments = c->has ? (uint32_t)c->size : TG_ABSENT,
    .results = add_results(t, p), .why = p->why, .tail = p->tail,
    .resumed = c->resumed, .unfinished = t->x->unfinished
  };
  size_t size = t->arguments.size - c->at;
  if (t->arguments.failed || !tg_buf_reserve(out, TG_CALLMARK_MAX + size)) {
    refuse(t);
    return;
  }
  uint8_t *end = tg_markerbytes_put((uint8_t *)out->data + out->size, &mark,
                                    track->mark_ns);
  track->mark_ns = to.ns;
  out->size = (size_t)(end - (uint8_t *)out->data);
  if (size > 0)
    tg_buf_add(out, t->arguments.data + c->at, size);
  tg_column_turn(&t->spool, &track->marks);
}

static void close_call (tg_Tracks *t, const tg_Packet *p) {
  const tg_TrackCall *c = &t->calls[tg_export_level(t->x, p)];
  tg_Moment to = moment_of(t, p);
  uint32_t rank;
  if (tg_longestcalls_admit(&t->longest, to.ns - c->opened.ns, &rank)) {
    tg_Track *track = track_of(t, p->thread, p->time_ns);
    if (track != NULL)
      put_aside(t, track, c, p, to, rank);
  }
  t->arguments.size = c->at;
  t->put_in -= c->put_in;
}

/* }================================================================== */

/*
** {==================================================================
** Markers, read back
** ===================================================================
*/

/* A text as a JSON string, cut at a character. */
static void add_text (tg_Buf *out, const tg_Buf *text) {
  size_t size = text->size;
  if (size <= TEXT_MAX) {
    tg_export_string(out, text->data, size);
    return;
  }
  size = TEXT_MAX;
  while (size > 0 && ((unsigned char)text->data[size] & 0xc0) == 0x80)
    size--;
  tg_export_string(out, text->data, size);
  out->size--;
  tg_buf_addstr(out, "\xE2\x80\xA6\"");     /* an ellipsis */
}

/* The values of a packet as a JSON string: 'text'. */
static void write_values (tg_Tracks *t, const tg_Packet *p) {
  tg_buf_clear(&t->text);
  if (tg_textcache_put(&t->x->brief, p->values, &t->text))
    return;
  tg_buf_clear(&t->raw);
  tg_export_values(t->x, p, &t->raw);
  add_text(&t->text, &t->raw);
  t->text.failed = t->text.failed || t->raw.failed;
  tg_textcache_keep(&t->x->brief, p->values, &t->text, 0);
}

/* A member of the marker's object. An empty text is none: it would be shown as
   "(empty)". */
static void add_values (tg_Tracks *t, const char *key, const tg_Packet *p) {
  write_values(t, p);
  t->members.failed = t->members.failed || t->text.failed;
  if (t->text.size <= sizeof "\"\"" - 1 || t->texts > TEXTS_MAX)
    return;
  t->texts += t->text.size;
  tg_buf_addstr(&t->members, ",\"");
  tg_buf_addstr(&t->members, key);
  tg_buf_addstr(&t->members, "\":");
  tg_buf_add(&t->members, t->text.data, t->text.size);
}

static const char *end_of (const tg_CallMark *mark) {
  if (mark->unfinished)
    return ",\"ends\":\"still open where the trace ends\"";
  if (mark->tail)
    return ",\"ends\":\"by a tail call\"";
  switch (mark->why) {
    case TG_WHY_TERMINATED: return ",\"ends\":\"terminated\"";
    case TG_WHY_YIELD: return ",\"ends\":\"yielded\"";
    case TG_WHY_EXCEPTION: return ",\"ends\":\"by an error\"";
    case TG_WHY_RETURN: case TG_WHY_ENTER: default: return "";
  }
}

/* The members that tell of a call, from its values at 'p'. */
static void write_members (tg_Tracks *t, const tg_CallMark *mark,
                           const uint8_t *p) {
  static const char *const keys[] = {
    [TG_WHY_RETURN] = "returns", [TG_WHY_EXCEPTION] = "throws",
    [TG_WHY_YIELD] = "yields"
  };
  tg_Packet packet = {.why = TG_WHY_ENTER, .function = mark->function};
  tg_buf_clear(&t->members);
  if (mark->arguments != TG_ABSENT) {
    packet.values = (tg_Slice){p, mark->arguments, NULL};
    add_values(t, "args", &packet);
    p += mark->arguments;
  }
  if (mark->results != TG_ABSENT) {
    packet.why = mark->why;
    packet.values = (tg_Slice){p, mark->results, NULL};
    add_values(t, keys[mark->why], &packet);
  }
  tg_buf_addstr(&t->members, end_of(mark));
  if (mark->resumed)
    tg_buf_addstr(&t->members, ",\"begins\":\"resumed\"");
}

static bool use_call (tg_Tracks *t, const tg_Track *track,
                      const tg_CallMark *mark, const uint8_t *p,
                      tg_MarkUse *use, void *ud) {
  write_members(t, mark, p);
  tg_Mark m = {
    .from = mark->from, .to = mark->to,
    .func = tg_stacktables_func(track->stacks, t->x->stream->functions,
                                mark->function, false),
    .text = {(const uint8_t *)t->members.data, t->members.size, NULL}
  };
  if (t->members.failed || t->text.failed || m.func == TG_STACK_NONE)
    return refuse(t);
  return use(ud, &m);
}

static uint32_t bytes_of (uint32_t size) {
  return size != TG_ABSENT ? size : 0;
}

/* The markers in a piece of the column; '*before_ns' is when the one before
   ended. */
static bool use_piece (tg_Tracks *t, const tg_Track *track,
                       const tg_Buf *piece, uint64_t *before_ns,
                       tg_MarkUse *use, void *ud) {
  const uint8_t *p = (const uint8_t *)piece->data;
  if (piece->size == 0)         /* 'p' may be NULL */
    return true;
  const uint8_t *end = p + piece->size;
  while (p < end) {
    tg_CallMark mark;
    p = tg_markerbytes_get(p, &mark, *before_ns);
    *before_ns = mark.to.ns;
    if (tg_longestcalls_kept(&t->longest, mark.to.ns - mark.from.ns, mark.rank)
        && !use_call(t, track, &mark, p, use, ud))
      return false;
    p += bytes_of(mark.arguments) + bytes_of(mark.results);
  }
  return true;
}

bool tg_tracks_marks (tg_Tracks *t, const tg_Track *track, tg_MarkUse *use,
                      void *ud) {
  tg_Buf piece = {0};
  uint64_t before_ns = 0;
  bool ok = true;
  for (uint32_t i = 0; ok && i <= track->marks.count; i++)
    ok = tg_column_read(&t->spool, &track->marks, i, &piece)
         && use_piece(t, track, &piece, &before_ns, use, ud);
  tg_buf_free(&piece);
  return ok;
}

/* }================================================================== */

static void note_cut (tg_Tracks *t, const tg_Packet *p) {
  if (!t->cut && t->x->left_out > 0) {
    t->cut = true;
    t->cut_ns = p->time_ns;
  }
}

static void take (tg_Tracks *t, const tg_Packet *p) {
  note_cut(t, p);
  if (p->why == TG_WHY_ENTER) {
    enter(t, p);
    if (t->marked && t->status == TG_OK)
      open_call(t, p);
  }
  else {
    if (t->marked)
      close_call(t, p);
    leave(t, p);
  }
}

static tg_Status finish (tg_Tracks *t) {
  if (t->x->status != TG_OK || t->status != TG_OK)
    return t->x->status != TG_OK ? t->x->status : t->status;
  if (t->count == 0 && add_track(t, 1, t->x->start_ns) == NULL)
    return TG_ERR_MEMORY;
  for (uint32_t i = 0; i < t->count; i++)
    cut_span(t, t->list[i], t->list[i]->span_ns, TG_TAG_NONE);
  if (t->spool.error != 0) {
    errno = t->spool.error;
    return t->spool.error == ENOMEM ? TG_ERR_MEMORY : TG_ERR_IO;
  }
  return t->status;
}

tg_Status tg_tracks_run (tg_Tracks *t) {
  tg_Packet p;
  while (t->status == TG_OK && t->spool.error == 0
         && tg_export_next(t->x, &p))
    take(t, &p);
  return finish(t);
}
