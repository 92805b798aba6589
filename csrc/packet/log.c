/*
** log.c - see log.h.
**
**     packets -> calls held back (heldrows.h) -> rows (logrow.h) -> 'out'
**
** Rows gather in 'out', which each pump writes. Of a recording all is known
** beforehand: the minimum-duration filter leaves out what is short, and nothing
** is held back.
**
** Owned by a trace; called by its session, inside the hook when a chunk is
** full, and at the trace's end. A write that fails is latched in 'fdwriter' and
** told once, by tg_log_finish.
*/
#include "packet/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "packet/heldrows.h"
#include "packet/logrow.h"
#include "packet/packetrow.h"
#include "packet/screen.h"
#include "reader/minduration.h"
#include "stream/marks.h"
#include "text/fdwriter.h"

#define WIDTH_DEFAULT 100
#define WIDTH_MIN 40
#define WIDTH_MAX 160     /* keeps call and caller within one glance */
#define WIDTH_EVERY 256   /* rows after which the terminal is asked again */
#define OUT_MAX ((size_t)1 << 20)     /* bytes, then they are written */

struct tg_Log {
  tg_Stream *stream;    /* pins */
  tg_Reader *reader;    /* owns */
  tg_MinDuration minduration; /* owns; on the reader */
  tg_Selection selection; /* owns */
  tg_LogStyle style;
  tg_FdWriter fdwriter; /* owns */
  tg_LogRow row;        /* owns */
  tg_HeldRows held;     /* owns */
  tg_Buf out;           /* owns */
  uint64_t measured;    /* rows when the terminal was last asked */
  uint64_t pending;     /* rows in 'out' */
  uint64_t missing;     /* events that the stream lacks, told so far */
  tg_Screen screen;     /* if it is live */
  bool skipping;        /* then: there is no room for what comes now */
  uint64_t unshown;     /* calls left out, not told yet */
  uint64_t events;      /* shown, up to the style's limit... */
  uint64_t more;        /* ...and those after them */
  uint64_t begun_ns, now_ns;  /* of the first and latest packet */
  tg_ThreadId thread;   /* of the latest row */
  tg_Buf met;           /* owns; a bit for each coroutine that was shown... */
  uint32_t threads;     /* ...and how many there were */
  uint64_t resumed;     /* calls that were shown to go on */
  uint64_t throws;      /* calls ended by an error, shown */
  tg_LogState state;
  bool finished;
};

/*
** {==================================================================
** Rows on their way out
** ===================================================================
*/

/* The terminal may have another width by now. Where there is none the width is
   only where the right side goes, see logrow.h. */
static void measure (tg_Log *l) {
  size_t width = l->style.width;
  if (width == 0)
    width = tg_fdwriter_width(&l->fdwriter);
  if (width == 0)
    width = WIDTH_DEFAULT;
  l->row.width = width < WIDTH_MIN ? WIDTH_MIN
                : width > WIDTH_MAX ? WIDTH_MAX : width;
  l->measured = l->state.rows;
}

/* Rows so far, also those that are not written yet. */
static uint64_t rows (const tg_Log *l) {
  return l->state.rows + l->pending;
}

static void count_row (tg_Log *l) {
  l->pending++;
  tg_screen_spend(&l->screen);
}

/* As many events have been shown as were asked for. */
static bool is_over (const tg_Log *l) {
  return l->style.limit > 0 && l->events >= l->style.limit;
}

/* A row is ready, of a call in this coroutine at this depth. That the main
   coroutine is the first to be logged goes without saying. */
static void emit (tg_Log *l, tg_ThreadId thread, uint32_t depth,
                  const char *s, size_t size) {
  if (thread != l->thread && (l->thread != 0 || thread != 1)) {
    tg_logrow_switch(&l->row, &l->out, thread, depth);
    count_row(l);
  }
  l->thread = thread;
  tg_buf_add(&l->out, s, size);
  tg_buf_addchar(&l->out, '\n');
  count_row(l);
  l->events++;
}

/* Rows that cannot be written count as lost, also rows for which there was no
   memory. */
static void flush (tg_Log *l) {
  uint64_t n = l->pending;
  l->pending = 0;
  if (!l->out.failed
      && tg_fdwriter_write(&l->fdwriter, l->out.data, l->out.size))
    l->state.rows += n;
  else
    l->state.lost += n;
  tg_buf_clear(&l->out);
  if (l->state.rows - l->measured >= WIDTH_EVERY)
    measure(l);
}

/* }================================================================== */

/*
** {==================================================================
** Packets
** ===================================================================
*/

/* Of a live view calls are told of, since the view goes on with others; of the
   first events of a log, how many there are more. */
static void leave_out (tg_Log *l, bool call) {
  if (is_over(l))
    l->more++;
  else if (call)
    l->unshown++;
}

/* Without memory a coroutine that is high is not counted. */
static void meet (tg_Log *l, tg_ThreadId thread) {
  size_t place = thread / 8;
  char bit = (char)(1 << thread % 8);
  while (l->met.size <= place && !l->met.failed)
    tg_buf_addchar(&l->met, 0);
  if (l->met.size <= place || (l->met.data[place] & bit))
    return;
  l->met.data[place] |= bit;
  l->threads++;
}

/* A call has lasted long enough (heldrows.h). Of one that is left out the end
   is not that of the row before, whichever that will be. */
static void show_call (void *ud, tg_HeldCall *call, const char *s,
                       size_t size) {
  tg_Log *l = ud;
  l->state.calls += !call->resumed;
  l->resumed += call->resumed;
  meet(l, call->thread);
  if (l->skipping) {
    call->noted = UINT64_MAX;
    leave_out(l, true);
    return;
  }
  emit(l, call->thread, call->depth, s, size);
  call->noted = rows(l);
}

/* The row of a call that is entered. A call that is left out needs no row,
   unless it is held back and may be shown later. */
static void make_row (tg_Log *l, const tg_Packet *p) {
  if (l->skipping && l->held.min_ns == 0)
    tg_buf_clear(&l->row.text);
  else if (!p->resumed || !tg_heldrows_resume(&l->held, p, &l->row.text))
    tg_packetrow_call(&l->row, p);
}

/* A call's row is made at once, while its values can be read, and held back
   until the call has lasted long enough. One that goes on after a yield, and
   was held back by then, takes its row up again. */
static void enter (tg_Log *l, const tg_Packet *p) {
  if (!tg_heldrows_enter(&l->held, p)) {
    l->fdwriter.error = ENOMEM;  /* nesting is lost: no more rows */
    return;
  }
  make_row(l, p);
  tg_heldrows_add(&l->held, &l->row.text);
}

/* Of an end without its call nothing is said: there was no memory for it. */
static void leave (tg_Log *l, const tg_Packet *p) {
  tg_HeldCall call;
  if (l->held.count == 0 || !tg_heldrows_leave(&l->held, p, &call))
    return;
  l->throws += p->why == TG_WHY_EXCEPTION;
  if (l->skipping) {
    leave_out(l, false);
    return;
  }
  tg_packetrow_result(&l->row, p, call.opened_ns, rows(l) != call.noted);
  emit(l, p->thread, p->depth, l->row.text.data, l->row.text.size);
}

/* What was open has exited by now, and what is open is not entered yet. */
static void tell_missing (tg_Log *l) {
  uint64_t missing = tg_reader_missing(l->reader);
  if (missing == l->missing || l->skipping)
    return;
  tg_logrow_missing(&l->row, &l->out, missing - l->missing);
  l->missing = missing;
  count_row(l);
}

/* What can be read is written before the rest is counted, which takes time. */
static void begin_counting (tg_Log *l) {
  if (l->pending > 0)
    flush(l);
}

static void tell_unshown (tg_Log *l) {
  if (l->unshown == 0)
    return;
  tg_logrow_unshown(&l->row, &l->out, l->unshown);
  l->unshown = 0;
  count_row(l);
}

static void tell_more (tg_Log *l) {
  if (l->more == 0)
    return;
  tg_logrow_more(&l->row, &l->out, l->more);
  count_row(l);
}

/* Whether there is room for what comes now; what was left out comes first. */
static void look_for_room (tg_Log *l) {
  if (is_over(l)) {
    if (l->more == 0)
      begin_counting(l);
    l->skipping = true;
    return;
  }
  l->skipping = l->style.live
                && !tg_screen_has_room(&l->screen, &l->fdwriter);
  if (!l->skipping)
    tell_unshown(l);
}

/* A marker is always shown, and with it all calls around it that have been held
   back. */
static void mark (tg_Log *l, const tg_Packet *p) {
  if (p->mark == TG_MARK_GROUPEND
      || !(tg_mark_said(p->mark) || p->mark == TG_MARK_COLLECTION))
    return;
  tg_heldrows_release(&l->held, UINT64_MAX);
  if (is_over(l)) {
    leave_out(l, false);
    return;
  }
  tg_packetrow_mark(&l->row, p);
  emit(l, p->thread, p->depth, l->row.text.data, l->row.text.size);
}

/* Before a packet, what has become old enough by its time; and a call at once,
   if none is held back. */
static void show (tg_Log *l, const tg_Packet *p) {
  if (l->begun_ns == 0)
    l->begun_ns = p->time_ns;
  l->now_ns = p->time_ns;
  look_for_room(l);
  tg_heldrows_release(&l->held, p->time_ns);
  if (p->why != TG_WHY_YIELD)
    tg_suspended_pass(&l->held.waiting);
  if (p->why == TG_WHY_MARK) {
    tell_missing(l);
    mark(l, p);
  }
  else if (p->why == TG_WHY_ENTER) {
    tell_missing(l);
    enter(l, p);
    tg_heldrows_release(&l->held, p->time_ns);
  }
  else
    leave(l, p);
}

/* Who has asked to be told of a failed write tells it: there is no point in
   reading on. */
static bool failed (const tg_Log *l) {
  return l->style.fails && l->fdwriter.error != 0;
}

/* Keeps the program's errno, since the log may be written inside its hook. */
void tg_log_pump (tg_Log *l, tg_Pos end) {
  int error = errno;
  tg_Packet p;
  if (l->style.live)
    tg_screen_refresh(&l->screen, &l->fdwriter);
  look_for_room(l);
  while (!failed(l) && tg_minduration_next(&l->minduration, end, &p)) {
    show(l, &p);
    if (l->out.size >= OUT_MAX)
      flush(l);
  }
  if (l->pending > 0)
    flush(l);
  errno = error;
}

/* }================================================================== */

/*
** {==================================================================
** Begin and end
** ===================================================================
*/

/* The last row, for a person who has seen a thousand of them go by. */
static void add_summary (tg_Log *l) {
  tg_LogTotals totals = {
    .calls = l->state.calls, .throws = l->throws, .threads = l->threads,
    .lost = tg_reader_lost(l->reader) + tg_reader_missing(l->reader),
    .ns = l->now_ns - l->begun_ns
  };
  tg_logrow_summary(&l->row, &totals);
  tg_buf_add(&l->out, l->row.text.data, l->row.text.size);
  tg_buf_addchar(&l->out, '\n');
  l->pending++;
}

/* Rows that could not be written are told of where errors are told; a reader
   that went away knows. */
static void tell_loss (const tg_Log *l) {
  tg_FdWriter errors;
  tg_Buf text = {0};
  if (l->fdwriter.error == 0 || l->fdwriter.error == EPIPE)
    return;
  tg_buf_addfmt(&text, "tracegrip: log: %s, ", strerror(l->fdwriter.error));
  tg_logrow_count(&text, l->state.lost, "line");
  tg_buf_addstr(&text, " lost\n");
  tg_fdwriter_open(&errors, STDERR_FILENO);
  if (!text.failed)
    tg_fdwriter_write(&errors, text.data, text.size);
  tg_fdwriter_close(&errors);
  tg_buf_free(&text);
}

/* Twice is fine: a trace ends, and its log is freed later. */
void tg_log_finish (tg_Log *l) {
  int error = errno;
  if (l->finished)
    return;
  l->finished = true;
  tell_unshown(l);
  tell_more(l);
  if (l->style.summary && l->state.calls + l->resumed > 0)
    add_summary(l);
  if (l->pending > 0)
    flush(l);
  if (!l->style.fails)
    tell_loss(l);
  errno = error;
}

/* In the child of a fork: the log goes on in the parent, and both would write
   the rows that were held back. */
void tg_log_mute (tg_Log *l) {
  tg_fdwriter_close(&l->fdwriter);
  l->fdwriter.error = EBADF;
  l->finished = true;
}

void tg_log_state (const tg_Log *l, tg_LogState *state) {
  *state = l->state;
  state->error = l->fdwriter.error;
  state->status = tg_minduration_status(&l->minduration);
  state->damage = tg_reader_damage(l->reader);
}

/* NO_COLOR is honoured by most tools (no-color.org): set to anything but
   nothing. A dumb terminal has no colours. */
bool tg_log_wants_color (int fd) {
  const char *no = getenv("NO_COLOR");
  const char *term = getenv("TERM");
  return isatty(fd) == 1 && (no == NULL || *no == '\0')
         && (term == NULL || strcmp(term, "dumb") != 0);
}

static void thread_gone (void *ud, tg_ThreadId thread) {
  tg_heldrows_gone(&((tg_Log *)ud)->held, thread);
}

/* Of a whole stream the filter knows what is short; else rows are held back,
   and suspended coroutines that are gone give their calls' rows up. */
static void start_reading (tg_Log *l) {
  uint64_t min_ns = l->selection.min_duration_ns;
  uint64_t held_ns = l->style.whole ? 0 : min_ns;
  tg_minduration_init(&l->minduration, l->reader, min_ns - held_ns);
  tg_heldrows_init(&l->held, held_ns, show_call, l);
  if (held_ns > 0)
    tg_minduration_watch(&l->minduration, thread_gone, l);
}

/* NULL without memory. The descriptor is duplicated, and stays the caller's. */
tg_Log *tg_log_new (tg_Stream *stream, tg_Pos from,
                    const tg_Selection *selection, const tg_LogStyle *style,
                    int fd) {
  tg_Log *l = tg_calloc(1, sizeof(*l));
  if (l == NULL)
    return NULL;
  l->stream = tg_stream_pin(stream);
  l->style = *style;
  tg_fdwriter_open(&l->fdwriter, fd);
  l->reader = tg_reader_new(stream, from, selection);
  if (l->reader == NULL || !tg_selection_copy(&l->selection, selection)) {
    tg_log_free(l);
    return NULL;
  }
  if (style->corrected)
    tg_reader_correct(l->reader);
  tg_reader_mark(l->reader);
  start_reading(l);
  tg_logrow_init(&l->row, stream->functions, &l->selection, style->color,
                 style->times);
  l->row.terminal = l->fdwriter.terminal;
  measure(l);
  return l;
}

/* Also a log of which only a part was made: missing parts are zeros. */
void tg_log_free (tg_Log *l) {
  if (l == NULL)
    return;
  tg_fdwriter_close(&l->fdwriter);
  tg_heldrows_free(&l->held);
  tg_minduration_free(&l->minduration);
  tg_reader_free(l->reader);
  tg_logrow_free(&l->row);
  tg_selection_clear(&l->selection);
  tg_buf_free(&l->out);
  tg_buf_free(&l->met);
  tg_stream_unpin(l->stream);
  tg_free(l);
}

/* }================================================================== */
