/*
** speedscope.c - speedscope's own format: lists of events, open and close.
** The first profile is the whole program as one stack, in which a coroutine's
** frames are above the call that resumed it; each coroutine has one besides.
**
** Times are nanoseconds since the first call, in all profiles, so that they
** can be compared; a suspended coroutine has no open frames, and one that waits
** for another has a frame "(in ...)", whose time that is. What a frame cannot
** say of itself is a frame of no length inside it: "[error]" where an error
** left it, "[unfinished]" where the trace ended, "[deeper calls]" where there
** were more than a viewer can bear.
**
** Packets of all coroutines are mixed, profiles are not: events go through a
** spool, a column for each.
**
** Memory that was refused is in the export's status, what the spool's file
** refused in the spool; the first of them ends the export.
*/
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "export/boxnames.h"
#include "export/threadlist.h"
#include "formats/formats.h"
#include "reader/funclabels.h"
#include "text/spool.h"

/* Frames that are no functions come first in the table. */
enum { NOTE_ERROR, NOTE_UNFINISHED, NOTE_DEEPER, NNOTES };

/* Frames of the table, in order of appearance. */
typedef struct Frames {
  uint32_t *list;             /* owns; label or coroutine's number, times two;
                                 plus 1 for a coroutine that is waited for */
  uint32_t count, capacity;
  uint32_t *of[2];            /* own; by label, by number: 0, or place in the
                                 list + 1 */
  uint32_t cof[2];
} Frames;

/* An open frame: whose profile it is in, and which one waits for it. */
typedef struct Level {
  uint32_t column;
  uint32_t waiting;           /* 0: none */
} Level;

typedef struct Document {
  tg_Export *x;
  tg_FuncLabels labels;       /* owns */
  Frames frames;              /* owns */
  tg_ThreadList threads;      /* owns; coroutines as profiles */
  Level *levels;              /* owns; of open frames */
  uint32_t clevels;
  tg_Spool spool;             /* owns */
  tg_Column *columns;         /* owns; 0 is the whole program's, and so main's,
                                 n + 1 that of coroutine number n */
  uint32_t ccolumns;
  bool whole;                 /* coroutines are in the first one too */
  size_t waiting;             /* bytes added to columns since they were put
                                 aside */
  uint64_t folded;            /* of x, as last seen */
  bool throwing;              /* the last packet was an exit by error */
} Document;

/*
** {==================================================================
** Events
** ===================================================================
*/

/* What all columns may hold together; there may be many coroutines. */
#define MOST ((size_t)16 << 20)

static bool fail (Document *d) {
  if (d->x->status == TG_OK)
    d->x->status = TG_ERR_MEMORY;
  return false;
}

static bool grow_columns (Document *d) {
  return tg_grow_zeroed(&d->columns, &d->ccolumns, d->threads.count + 1,
                        sizeof *d->columns)
         || fail(d);
}

/* The column of a packet's coroutine; TG_INTMAP_NONE without memory. Columns
   may be more than coroutines: both arrays grow by themselves. */
static uint32_t column_of (Document *d, const tg_Packet *p) {
  uint32_t number = tg_threadlist_of(&d->threads, p);
  if (number != TG_INTMAP_NONE
      && (number + 1 < d->ccolumns || grow_columns(d)))
    return p->thread == TG_EXPORT_MAIN ? 0 : number + 1;
  fail(d);
  return TG_INTMAP_NONE;
}

/* Two kinds of frames, each with its own numbers: functions by their label,
   since definitions that read the same are one frame to a person; coroutines
   that are waited for by their place in the list. */
enum { A_FUNCTION, A_WAIT };

/* The kind is kept in the lowest bit of the list's number. */
static TG_NOINLINE uint32_t new_frame (Frames *f, int kind, uint32_t number) {
  if (!tg_grow_zeroed(&f->of[kind], &f->cof[kind], number + 1,
                      sizeof *f->of[kind])
      || !tg_grow(&f->list, &f->capacity, f->count + 1, sizeof *f->list))
    return TG_INTMAP_NONE;
  f->list[f->count] = number * 2 + (kind == A_WAIT);
  f->of[kind][number] = ++f->count;
  return NNOTES + f->count - 1;
}

/* The frame of a label, or of waiting for a coroutine; TG_INTMAP_NONE without
   memory. */
static uint32_t frame_of (Frames *f, int kind, uint32_t number) {
  if (tg_likely(number < f->cof[kind] && f->of[kind][number] != 0))
    return NNOTES + f->of[kind][number] - 1;
  return number < UINT32_MAX / 2 ? new_frame(f, kind, number) : TG_INTMAP_NONE;
}

/* One line for each event, so that a document can be read and compared by a
   person. */
static void put_event (Document *d, tg_Column *c, char type, uint32_t frame,
                       uint64_t time_ns) {
  tg_assert(time_ns >= d->x->start_ns);
  tg_buf_addstr(&c->text, c->values++ > 0 ? ",\n{\"type\":\"" : "{\"type\":\"");
  tg_buf_addchar(&c->text, type);
  tg_buf_addstr(&c->text, "\",\"frame\":");
  tg_buf_addu64(&c->text, frame);
  tg_buf_addstr(&c->text, ",\"at\":");
  tg_buf_addu64(&c->text, time_ns - d->x->start_ns);
  tg_buf_addchar(&c->text, '}');
}

/* Opened and closed at the same moment: speedscope shows it where one zooms in,
   and it takes no time from what it is in. */
static void put_note (Document *d, tg_Column *c, uint32_t note,
                      const tg_Packet *p) {
  put_event(d, c, 'O', note, p->time_ns);
  put_event(d, c, 'C', note, p->time_ns);
}

/* What is to be said of the frame that exits; an error and the trace's end are
   said of the innermost. */
static void put_notes (Document *d, tg_Column *c, const tg_Packet *p) {
  if (d->x->folded > d->folded)
    put_note(d, c, NOTE_DEEPER, p);
  if (p->why == TG_WHY_EXCEPTION && !d->throwing)
    put_note(d, c, NOTE_ERROR, p);
}

/* One that waits for the packet's frame does so from now on, or until now;
   false without memory. */
static bool put_wait (Document *d, const tg_Packet *p, char type,
                      const Level *l) {
  if (l->waiting == 0)
    return true;
  uint32_t other = l->column > 0 ? l->column - 1 : 0;
  uint32_t frame = frame_of(&d->frames, A_WAIT, other);
  tg_Column *c = &d->columns[l->waiting];
  size_t before = c->text.size;
  if (frame == TG_INTMAP_NONE)
    return fail(d);
  put_event(d, c, type, frame, p->time_ns);
  d->waiting += c->text.size - before;
  return tg_column_turn(&d->spool, c);
}

/* The frame that a packet opens or closes; NULL without memory. */
static const Level *level_of (Document *d, const tg_Packet *p) {
  uint32_t i = tg_export_level(d->x, p);
  if (p->why != TG_WHY_ENTER)
    return &d->levels[i];
  uint32_t column = column_of(d, p);
  if (column == TG_INTMAP_NONE
      || !tg_grow(&d->levels, &d->clevels, i + 1, sizeof *d->levels))
    return NULL;
  uint32_t below = i > 0 ? d->levels[i - 1].column : 0;
  d->levels[i] = (Level){column, below != column ? below : 0};
  return &d->levels[i];
}

/* The event of a call in one profile. Notes come before its close, so that they
   are in it. */
static bool put_call (Document *d, const tg_Packet *p, uint32_t column,
                      bool first_open) {
  tg_Column *c = &d->columns[column];
  uint32_t label = tg_funclabels_of(&d->labels, p->function);
  uint32_t frame = label == TG_INTMAP_NONE
                   ? label : frame_of(&d->frames, A_FUNCTION, label);
  if (frame == TG_INTMAP_NONE)
    return fail(d);
  size_t before = c->text.size;
  bool enter = p->why == TG_WHY_ENTER;
  if (!enter)
    put_notes(d, c, p);
  if (first_open)
    put_note(d, c, NOTE_UNFINISHED, p);
  put_event(d, c, enter ? 'O' : 'C', frame, p->time_ns);
  d->waiting += c->text.size - before;
  return tg_column_turn(&d->spool, c);
}

/* The wait begins before the call in the other profile and ends after it: so a
   profile that waits never shows the coroutine's time as its own. A coroutine's
   call is in its own profile, and in the whole program's if that is asked
   for. */
static bool put_packet (Document *d, const tg_Packet *p, bool first_open) {
  const Level *l = level_of(d, p);
  bool enter = p->why == TG_WHY_ENTER;
  if (l == NULL)
    return fail(d);
  bool ok = (!enter || put_wait(d, p, 'O', l))
            && (l->column == 0 || put_call(d, p, l->column, first_open))
            && ((l->column != 0 && !d->whole)
                || put_call(d, p, 0, first_open))
            && (enter || put_wait(d, p, 'C', l));
  d->folded = d->x->folded;
  d->throwing = p->why == TG_WHY_EXCEPTION;
  return ok;
}

/* With many coroutines none has much, but all have a lot. */
static bool put_aside (Document *d) {
  for (uint32_t i = 0; i < d->ccolumns; i++) {
    if (!tg_column_put(&d->spool, &d->columns[i]))
      return false;
  }
  d->waiting = 0;
  return true;
}

/* 'first_open' is the innermost of those frames that the trace's end has cut
   off: it alone gets the note. */
static bool put_events (Document *d) {
  tg_Packet p;
  bool unfinished = false;
  while (tg_export_next(d->x, &p)) {
    bool first_open = d->x->unfinished && !unfinished;
    unfinished = d->x->unfinished;
    if (!put_packet(d, &p, first_open)
        || (d->waiting > MOST && !put_aside(d)))
      return false;
  }
  return d->x->status == TG_OK;
}

/* }================================================================== */

/*
** {==================================================================
** The document
** ===================================================================
*/

static void put_text (tg_Buf *out, const char *key, const char *text) {
  tg_buf_addstr(out, key);
  tg_export_string(out, text, strlen(text));
}

/* "whole program", or "main" if there is no other coroutine. */
static void name_profile (const Document *d, uint32_t column, bool others,
                          tg_Buf *name) {
  if (column == 0)
    tg_buf_addstr(name, others ? "whole program" : "main");
  else {
    const tg_ThreadEntry *t = &d->threads.list[column - 1];
    tg_boxname_thread(d->x, t->thread, t->first, name);
  }
  tg_export_remarks(d->x, name);
}

/* All profiles begin at 0 and end together: speedscope shows each by itself,
   and a person who goes from one to another finds the same moment in the same
   place. */
static void put_profile_head (Document *d, uint32_t column, bool others) {
  tg_Export *x = d->x;
  tg_Buf *out = &x->out->text;
  tg_Buf name = {0};
  name_profile(d, column, others, &name);
  tg_buf_addstr(out, "{\"type\":\"evented\",\"name\":");
  tg_export_string(out, name.data, name.size);
  if (name.failed)
    fail(d);
  tg_buf_free(&name);
  tg_buf_addstr(out, ",\"unit\":\"nanoseconds\",\"startValue\":0,"
                     "\"endValue\":");
  tg_buf_addu64(out, x->end_ns - x->start_ns);
  tg_buf_addstr(out, ",\"events\":[\n");
}

/* A column is freed when it is written: all of them together may be as large as
   the document. */
static bool put_profile (Document *d, uint32_t column, bool others) {
  tg_OutFile *out = d->x->out;
  put_profile_head(d, column, others);
  if (column < d->ccolumns) {
    if (!tg_column_write(&d->spool, &d->columns[column], out))
      return false;
    tg_column_free(&d->columns[column]);
  }
  tg_buf_addstr(&out->text, "]}");
  return true;
}

static bool is_main (const Document *d, uint32_t number) {
  return d->threads.list[number].thread == TG_EXPORT_MAIN;
}

/* A document without a profile is none: speedscope says that it is no file of
   its kind. */
static bool put_profiles (Document *d) {
  tg_Buf *out = &d->x->out->text;
  uint32_t n = d->threads.count;
  bool others = n > 1 || (n == 1 && !is_main(d, 0));
  bool first = d->whole || !others;
  tg_buf_addstr(out, ",\"profiles\":[\n");
  if (first && !put_profile(d, 0, others))
    return false;
  for (uint32_t i = 0; i < n; i++) {
    if (is_main(d, i))
      continue;
    tg_buf_addstr(out, first || i > 0 ? ",\n" : "");
    if (!put_profile(d, i + 1, others))
      return false;
  }
  tg_buf_addstr(out, "]}\n");
  return true;
}

/* Of a C function there is no file: speedscope shows its name alone. */
static void put_function (tg_Buf *out, const tg_Function *f) {
  tg_Buf label = {0};
  tg_boxname_label(f, &label);
  tg_buf_addstr(out, ",\n{\"name\":");
  tg_export_string(out, label.data, label.size);
  out->failed = out->failed || label.failed;
  tg_buf_free(&label);
  if (!f->is_c && f->url != NULL) {
    put_text(out, ",\"file\":", f->url);
    tg_buf_addstr(out, ",\"line\":");
    tg_buf_addu64(out, tg_funclabels_line(f));
  }
  tg_buf_addchar(out, '}');
}

/* A frame for the time in which another coroutine runs: named by what that
   runs, and never taken for a function. */
static void put_waiting (Document *d, const tg_ThreadEntry *t) {
  tg_Buf *out = &d->x->out->text;
  tg_Buf name = {0};
  tg_buf_addstr(&name, "(in ");
  tg_boxname_thread(d->x, t->thread, t->first, &name);
  tg_buf_addchar(&name, ')');
  tg_buf_addstr(out, ",\n{\"name\":");
  tg_export_string(out, name.data, name.size);
  tg_buf_addchar(out, '}');
  if (name.failed)
    fail(d);
  tg_buf_free(&name);
}

/* After all events, when there are no more frames to come; profiles refer to
   them by their place. */
static void put_frames (Document *d) {
  tg_OutFile *out = d->x->out;
  const Frames *f = &d->frames;
  tg_buf_addstr(&out->text, ",\"shared\":{\"frames\":[\n{\"name\":\"[error]\"},"
                "{\"name\":\"[unfinished]\"},{\"name\":\"[deeper calls]\"}");
  for (uint32_t i = 0; i < f->count && tg_outfile_turn(out); i++) {
    uint32_t number = f->list[i] / 2;
    if (f->list[i] % 2 != 0)
      put_waiting(d, &d->threads.list[number]);
    else
      put_function(&out->text, tg_funclabels_function(&d->labels, number));
  }
  tg_buf_addstr(&out->text, "]}");
}

static void put_head (const Document *d) {
  const tg_Export *x = d->x;
  tg_Buf *out = &x->out->text;
  put_text(out, "{\"$schema\":",
           "https://www.speedscope.app/file-format-schema.json");
  put_text(out, ",\"exporter\":", "tracegrip " TG_VERSION);
  put_text(out, ",\"name\":", x->program->name != NULL ? x->program->name
                                                       : x->name);
  tg_buf_addstr(out, ",\"activeProfileIndex\":0");
}

static tg_Status write (Document *d) {
  d->whole = tg_export_whole(d->x);
  if (put_events(d)) {
    put_head(d);
    put_frames(d);
    put_profiles(d);
  }
  return d->x->status;
}

tg_Status tg_format_speedscope (tg_Export *x) {
  Document d = {.x = x};
  tg_funclabels_init(&d.labels, x->stream->functions);
  tg_spool_init(&d.spool);
  tg_Status status = write(&d);
  for (uint32_t i = 0; i < d.ccolumns; i++)
    tg_column_free(&d.columns[i]);
  tg_free(d.columns);
  int error = d.spool.error;
  tg_spool_free(&d.spool);
  tg_threadlist_free(&d.threads);
  tg_free(d.levels);
  tg_free(d.frames.list);
  tg_free(d.frames.of[A_FUNCTION]);
  tg_free(d.frames.of[A_WAIT]);
  tg_funclabels_free(&d.labels);
  if (error == 0)
    return status;
  errno = error;
  return error == ENOMEM ? TG_ERR_MEMORY : TG_ERR_IO;
}

/* }================================================================== */
