/*
** export.c - what all formats share: packets that a viewer can bear, and words.
** See export.h.
**
** Called by trace/exporttrace.c, which opens the output and closes it; a format
** runs inside tg_export_write, on the caller's thread. Packets come from
** readahead.h, whose threads are gone when tg_export_write returns. Failures
** are kept in 'status' and in the output; a format that notices none writes on
** for nothing and returns.
*/
#include "export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "export/ticks.h"
#include "stream/marks.h"

/*
** {==================================================================
** Packets that a viewer can bear
** ===================================================================
*/

/* Open frames are one list for all coroutines, as packets nest: a coroutine's
   frames exit when it yields, so those that are open are always a chain. */
static bool push (tg_Export *x, const tg_Packet *p) {
  if (!tg_grow(&x->frames, &x->cframes, x->nframes + 1, sizeof *x->frames)) {
    x->status = TG_ERR_MEMORY;
    return false;
  }
  x->frames[x->nframes++] = (tg_ExportFrame){
    .function = p->function, .thread = p->thread, .sampled = p->sampled,
    .opened_ns = p->time_ns
  };
  x->sampled += p->sampled;
  x->calls += !p->sampled && p->function != TG_FUNCTION_LEFT;
  return true;
}

/* Whether the frame is given. Frames inside of one that is not given are left
   out too, or they would hang below a caller that is not theirs. */
static bool enter (tg_Export *x, const tg_Packet *p) {
  bool deep = x->depth > 0 && x->nframes >= x->depth;
  if (!deep && x->hidden == 0)
    return push(x, p);
  x->hidden++;
  x->folded += p->function != TG_FUNCTION_LEFT;
  return false;
}

/* Whether its exit is. Those that are not given are the innermost, since all
   inside one of them is hidden too: a count will do. */
static bool leave (tg_Export *x) {
  if (x->hidden > 0) {
    x->hidden--;
    return false;
  }
  tg_assert(x->nframes > 0);
  x->nframes--;
  return true;
}

/* The exit of a frame that is still open where the trace ends, innermost first:
   a format need not care about what was left open. */
static bool close_open (tg_Export *x, tg_Packet *p) {
  if (x->nframes == 0 || x->status != TG_OK)
    return false;
  const tg_ExportFrame *f = &x->frames[--x->nframes];
  memset(p, 0, sizeof *p);
  p->why = TG_WHY_TERMINATED;
  p->time_ns = x->end_ns > f->opened_ns ? x->end_ns : f->opened_ns;
  p->function = f->function;
  p->thread = f->thread;
  p->sampled = f->sampled;
  p->opened_ns = p->entered_ns = f->opened_ns;
  x->unfinished = true;
  return true;
}

/* By time: how many packets there will be nobody knows beforehand. 0 of a trace
   without length, which has no parts. */
static double part_until (const tg_Export *x, uint64_t reached_ns) {
  if (reached_ns <= x->start_ns || x->end_ns <= x->start_ns)
    return 0;
  double all = (double)(x->end_ns - x->start_ns);
  double done = (double)(reached_ns - x->start_ns) / all;
  return done < 1 ? done : 1;
}

/* Whether to go on. A user who stops the export is a failure of the output,
   with an errno that says so. Told every 32768 packets: often enough for a
   meter that moves, and seldom enough that a Lua function does not show in the
   time that an export takes. */
static bool tell (tg_Export *x, uint64_t reached_ns) {
  const uint64_t every = 32768 / TG_BATCH_PACKETS;
  if (x->progress == NULL || ++x->batches % every != 0)
    return true;
  double rest = (1 - x->counted) * part_until(x, reached_ns);
  if (x->progress(x->progress_ud, x->counted + rest))
    return true;
  x->out->error = ECANCELED;
  x->status = TG_ERR_IO;
  return false;
}

/* A damaged recording may say that a trace ended before it began, or end before
   the last packet. Formats take the differences. */
static void keep_order (tg_Export *x) {
  uint64_t least = x->last_ns > x->start_ns ? x->last_ns : x->start_ns;
  if (x->end_ns < least)
    x->end_ns = least;
}

/* After the last packet: the calls beyond the limit are those that were counted
   before (longest.h) and have not come. */
static void count_left_out (tg_Export *x) {
  uint64_t given = x->calls + x->sampled + x->folded;
  if (x->longest.sure_ns == 0)
    return;
  x->left_out = x->longest.entries > given ? x->longest.entries - given : 0;
  x->shortest_ns = x->longest.sure_ns;
  x->hidden_ns = x->minduration->hidden_ns;
}

/* The last moment that is read, on the packets' scale: a filter's end is a time
   of that, the trace's is by the recording's own clock. What is damaged ends
   there. */
static uint64_t find_end (const tg_Export *x, const tg_MinDuration *m) {
  const tg_Filter *filter = x->selection->filter;
  uint64_t end = tg_minduration_status(m) == TG_ERR_FORMAT
                 ? tg_reader_time(m->reader)
                 : tg_reader_until(m->reader, x->ended_ns);
  return filter != NULL && filter->to_ns < end ? filter->to_ns : end;
}

/* Whoever asked for the export knows that something is damaged. */
static void end_reading (tg_Export *x) {
  count_left_out(x);
  x->end_ns = find_end(x, x->minduration);
  keep_order(x);
  x->status = x->ahead.failed ? TG_ERR_MEMORY
                              : tg_minduration_status(x->minduration);
  if (x->status == TG_ERR_FORMAT)
    x->status = TG_OK;
}

/* The first call is time 0 of the document, or the first marker, also where
   the format has no place for it: all documents of a recording have one clock.
   Between a trace's start and that the program was loaded, which may be most of
   a short trace: viewers would open on nothing. */
static void find_start (tg_Export *x, const tg_Packet *first) {
  x->begun = true;
  x->start_ns = first->time_ns;
  keep_order(x);
}

/* How far the export has come is told by the batch's last packet. Its text is
   made on another thread, which cannot set 'status': memory that was refused
   there shows here. */
tg_Batch *tg_export_batch (tg_Export *x) {
  tg_Batch *b = tg_readahead_next(&x->ahead);
  if (b == NULL) {
    end_reading(x);
    return NULL;
  }
  uint64_t reached_ns = b->packets[b->count - 1].time_ns;
  if (!x->begun)
    find_start(x, &b->packets[0]);
  if (b->text.failed)
    x->status = TG_ERR_MEMORY;
  return x->status == TG_OK && tell(x, reached_ns) ? b : NULL;
}

static bool next_batch (tg_Export *x) {
  x->batch = tg_export_batch(x);
  x->place = 0;
  x->ended = x->batch == NULL;
  return !x->ended;
}

/* The next packet, as it is. */
TG_INLINE bool read_packet (tg_Export *x, tg_Packet *p) {
  if (x->batch == NULL || x->place == x->batch->count) {
    if (x->ended || !next_batch(x))
      return false;
  }
  tg_assert(x->place < x->batch->count);
  *p = x->batch->packets[x->place++];
  x->last_ns = p->time_ns;
  if (tg_unlikely(p->time_ns > x->end_ns))
    x->end_ns = p->time_ns;
  return true;
}

void tg_export_mark (tg_Export *x) {
  tg_check(!x->begun);
  x->marked = true;
}

void tg_export_hold (tg_Export *x) {
  tg_export_mark(x);
  tg_reader_hold(x->minduration->reader);
}

/* Whether the format has asked for such moments. */
TG_INLINE bool is_wanted (tg_Export *x, const tg_Packet *p) {
  if (p->why != TG_WHY_MARK)
    return true;
  x->said += x->marked && tg_mark_said(p->mark);
  return x->marked;
}

/* After a failure nothing is closed any more (close_open): the document will be
   thrown away. */
bool tg_export_next (tg_Export *x, tg_Packet *p) {
  while (x->status == TG_OK && read_packet(x, p)) {
    if (tg_packet_is_moment(p) ? is_wanted(x, p)
        : p->why == TG_WHY_ENTER ? enter(x, p) : leave(x))
      return true;
  }
  return close_open(x, p);
}

uint32_t tg_export_level (const tg_Export *x, const tg_Packet *p) {
  tg_assert(p->why != TG_WHY_ENTER || x->nframes > 0);
  return p->why == TG_WHY_ENTER ? x->nframes - 1 : x->nframes;
}

const tg_ExportFrame *tg_export_frames (const tg_Export *x, uint32_t *n) {
  *n = x->nframes;
  return x->frames;
}

/* A ring begins later than its trace did; what is damaged ends sooner. */
void tg_export_span (const tg_Export *x, const tg_MinDuration *m,
                     uint64_t *start_ns, uint64_t *end_ns) {
  const tg_Filter *filter = x->selection->filter;
  if (!tg_reader_begun(m->reader, start_ns))
    *start_ns = x->start_ns;
  if (filter != NULL && *start_ns < filter->from_ns)
    *start_ns = filter->from_ns;
  *end_ns = find_end(x, m);
}

/* }================================================================== */

/* Of all that an export takes, where calls have to be counted first. A guess,
   on which nothing depends but the meter. */
#define COUNTING (1.0 / 3)

/* Now and then, before anything is written. */
static bool tell_counting (void *ud, uint64_t reached_ns) {
  const tg_Export *x = ud;
  double share = (1 - x->counted) * COUNTING;
  return x->progress == NULL
         || x->progress(x->progress_ud,
                        x->counted + share * part_until(x, reached_ns));
}

/* A user who stops the export is a failure of the output. */
bool tg_export_counting (tg_Export *x, uint64_t reached_ns) {
  tg_check(!x->begun);
  if (tell_counting(x, reached_ns))
    return true;
  x->out->error = ECANCELED;
  x->status = TG_ERR_IO;
  return false;
}

void tg_export_counted (tg_Export *x) {
  x->counted += (1 - x->counted) * COUNTING;
}

#define LEAST_BYTES 4u        /* of the stream for an entry: its function */

/* Whether there may be more entries than that. A short trace is not worth being
   read for it. */
static bool may_exceed (const tg_Export *x, uint64_t entries) {
  const tg_Reader *r = x->minduration->reader;
  tg_Pos from = tg_reader_pos(r), to = tg_reader_committed(r);
  if (to > x->stop || to <= from)
    to = x->stop;
  return to > from && (to - from) / LEAST_BYTES > entries;
}

/* Which calls there will be. */
static void find_longest (tg_Export *x, const tg_Format *format) {
  bool own = x->options.limit > 0;
  uint32_t others = format->twice && !own ? 2 : 1;
  x->limit = own ? x->options.limit : tg_ticks_limit(x, format);
  if (x->limit == 0 || !may_exceed(x, x->limit / others))
    return;
  x->minduration->left.wanted = format->left;
  x->status = tg_longest_find(&x->longest, x->minduration, x->stop, x->limit,
                              others, format->left && !own, tell_counting, x);
  tg_export_counted(x);
  if (x->status == TG_ERR_IO)
    x->out->error = ECANCELED;
}

/* The threads end before the format's own failure is looked at: they use 'x'
   and the minimum duration. */
static tg_Status write_all (tg_Export *x, const tg_Format *format) {
  tg_reader_mark(x->minduration->reader);   /* for find_start */
  if (format->left)
    tg_reader_show_windows(x->minduration->reader);
  tg_readahead_begin(&x->ahead, x->minduration, x->stop, format->work, x);
  tg_Status status = format->write(x);
  tg_readahead_end(&x->ahead);
  return status;
}

/* The user's number of levels counts only if it is smaller: the format's own is
   what its viewers can draw. Failures by rank: the format's own word, then
   what was latched while packets came, and above all the output's errno, which
   is the cause of the others. */
tg_Status tg_export_write (tg_Export *x, const tg_Format *format) {
  x->depth = format->depth;
  if (x->depth > 0 && x->options.levels > 0 && x->options.levels < x->depth)
    x->depth = (uint32_t)x->options.levels;
  x->literal = tg_export_literal(x);
  memset(&x->brief, 0, sizeof x->brief);
  x->brief.off = x->selection->redacts; /* what is secret has a name */
  keep_order(x);
  find_longest(x, format);
  tg_Status status = x->status == TG_OK ? write_all(x, format) : x->status;
  tg_lualiteral_free(&x->literal);
  tg_free(x->frames);
  x->frames = NULL;
  if (status == TG_OK)
    status = x->status;
  if (x->out->error != 0) {
    errno = x->out->error;
    status = TG_ERR_IO;
  }
  else
    x->aside = status == TG_ERR_IO;
  return status;
}

bool tg_export_whole (const tg_Export *x) {
  const tg_Filter *filter = x->selection->filter;
  return filter == NULL || filter->thread == 0;
}

/*
** {==================================================================
** Words
** ===================================================================
*/

/* Without limits of its own: what a trace's limits leave is what was captured,
   and a viewer can show it. */
tg_LuaLiteral tg_export_literal (const tg_Export *x) {
  return (tg_LuaLiteral){
    .functions = x->stream->functions, .selection = x->selection,
    .limits = {TG_NOLIMIT, TG_NOLIMIT, TG_NOLIMIT, TG_NOLIMIT}
  };
}

void tg_export_literals (const tg_Export *x, tg_LuaLiteral *w,
                         const tg_Packet *p, tg_Buf *out) {
  const tg_Functions *fs = x->stream->functions;
  bool arguments = p->why == TG_WHY_ENTER;
  tg_lualiteral_list(w, out, p->values,
                     arguments ? tg_functions_find(fs, p->function) : NULL);
  out->failed = out->failed || w->failed;
}

/* With the export's own writer, on the thread of the format; work on batches
   has one for each thread (tg_export_literal). */
void tg_export_values (tg_Export *x, const tg_Packet *p, tg_Buf *out) {
  tg_export_literals(x, &x->literal, p, out);
}

/* "full collection, 4711 to 815 bytes"; what a damaged file has instead is
   left out. */
static void add_collection (const tg_Packet *p, tg_Buf *out) {
  tg_ValueCursor c;
  tg_Grip kind = {.type = TG_NIL}, before = kind, after = kind;
  tg_values_open(&c, p->values);
  if (tg_values_var(&c) == 3) {
    tg_values_grip(&c, &kind);
    tg_values_grip(&c, &before);
    tg_values_grip(&c, &after);
  }
  if (kind.type == TG_STRING) {
    tg_buf_add(out, kind.u.s.data, kind.u.s.size);
    tg_buf_addchar(out, ' ');
  }
  tg_buf_addstr(out, "collection");
  if (before.type == TG_INT && after.type == TG_INT)
    tg_buf_addfmt(out, ", %" PRId64 " to %" PRId64 " bytes", before.u.i,
                  after.u.i);
}

void tg_export_label (tg_Export *x, const tg_Packet *p, tg_Buf *out) {
  tg_ValueCursor c;
  tg_Grip g = {.type = TG_NIL};
  if (p->mark == TG_MARK_COLLECTION) {
    add_collection(p, out);
    return;
  }
  if (p->mark == TG_MARK_UNTRACED) {
    tg_buf_addstr(out, "(not traced)");
    return;
  }
  tg_values_open(&c, p->values);
  if (tg_values_var(&c) > 0)
    tg_values_grip(&c, &g);
  if (g.type == TG_STRING)
    tg_buf_add(out, g.u.s.data, g.u.s.size);
  else
    tg_export_values(x, p, out);
}

uint64_t tg_export_began (const tg_Export *x, const tg_Packet *p) {
  uint64_t ran = p->numbered ? p->hits : 0;
  uint64_t most = p->time_ns - x->start_ns;
  return p->time_ns - (ran < most ? ran : most);
}

/* 'ends' are ends only: a packet's text begins where that of the one before
   ends, so packets without text cost nothing. */
tg_Slice tg_export_worked (const tg_Export *x) {
  const tg_Batch *b = x->batch;
  tg_assert(b != NULL && x->place > 0);
  uint32_t i = x->place - 1;
  tg_assert(i < b->worked);         /* the work was for all of the batch */
  uint32_t from = i > 0 ? b->ends[i - 1] : 0;
  return (tg_Slice){
    .data = (const uint8_t *)b->text.data + from, .size = b->ends[i] - from
  };
}

/* }================================================================== */
