/*
** callmarks.c - see callmarks.h. tracks.c opens and closes calls here.
**
** Without memory everything here returns false, and nothing is undone: the
** export as a whole has failed then. What the spool's file refuses is kept by
** the spool.
*/
#include "formats/firefox/callmarks.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "stream/valuecopy.h"

/* Calls with markers: the viewer makes a row of its table for each, and looks
   at all of them for each picture of its chart. */
#define MARKS_MAX 200000u

bool tg_callmarks_init (tg_CallMarks *m, tg_Export *x, tg_Spool *spool) {
  memset(m, 0, sizeof *m);
  m->x = x;
  m->spool = spool;
  return tg_longestcalls_init(&m->longest, MARKS_MAX);
}

void tg_callmarks_free (tg_CallMarks *m) {
  tg_free(m->calls);
  tg_longestcalls_free(&m->longest);
  tg_buf_free(&m->arguments);
}

void tg_callmarks_free_track (tg_TrackMarks *tm) {
  tg_column_free(&tm->column);
}

/*
** {==================================================================
** Calls that become markers
** ===================================================================
*/

/* The arguments are those of the moment: a table may be another when the call
   returns, and the packet's bytes are gone by then. What a call's arguments
   refer to is copied with them, up to TG_COPIES_MAX of all open calls. */
static bool keep_arguments (tg_CallMarks *m, tg_OpenCall *c,
                            const tg_Packet *p) {
  c->at = m->arguments.size;
  c->has = p->values.data != NULL;
  c->put_in = 0;
  tg_assert(m->put_in <= TG_COPIES_MAX);
  if (c->has)
    c->put_in = tg_valuecopy(&m->arguments, p->values,
                             TG_COPIES_MAX - m->put_in);
  m->put_in += c->put_in;
  c->size = m->arguments.size - c->at;
  return !m->arguments.failed;
}

/* The packet's moment on its track. Viewers draw what begins together in the
   order in which it is written, and that is the order of the ends, where inner
   calls come first: so a call begins later than the one before, if only by a
   thousandth of a nanosecond, and does not end before that. */
static tg_Moment moment_of (tg_TrackMarks *tm, const tg_Packet *p) {
  const uint32_t last = 999;
  bool begins = p->why == TG_WHY_ENTER;
  tg_Moment m = {p->time_ns, 0};
  if (m.ns <= tm->moment.ns) {
    m = tm->moment;
    m.part = (uint16_t)(m.part + (begins && tm->begins && m.part < last));
  }
  tm->moment = m;
  tm->begins = begins;
  return m;
}



/* Called for each call, though few of them will get a marker: how long a call
   is nobody knows before it ends. A call on two tracks has a moment on each.
   Frames that samples have shown may be around it, of which nothing is kept. */
bool tg_callmarks_open (tg_CallMarks *m, tg_TrackMarks *const *tracks,
                        uint32_t n, const tg_Packet *p) {
  uint32_t level = tg_export_level(m->x, p);
  tg_assert(p->why == TG_WHY_ENTER && !p->sampled);
  tg_assert(n <= TG_MARKS_TRACKS);
  if (!tg_grow(&m->calls, &m->ccalls, level + 1, sizeof *m->calls))
    return false;
  for (uint32_t i = 0; i < n; i++)
    m->calls[level].opened[i] = moment_of(tracks[i], p);
  m->calls[level].resumed = p->resumed;
  m->calls[level].caller = p->caller;
  m->calls[level].line = p->line;
  return keep_arguments(m, &m->calls[level], p);
}

/* Puts what came of the call behind its arguments; how many bytes that is. */
static uint32_t add_results (tg_CallMarks *m, const tg_Packet *p) {
  size_t at = m->arguments.size;
  if (p->values.data == NULL || p->why == TG_WHY_TERMINATED)
    return TG_ABSENT;
  tg_valuecopy(&m->arguments, p->values, TG_COPIES_MAX);
  return (uint32_t)(m->arguments.size - at);
}

/* What is the same on all tracks. */
static tg_CallMark mark_of (tg_CallMarks *m, const tg_OpenCall *c,
                            const tg_Packet *p, uint32_t rank) {
  return (tg_CallMark){
    .rank = rank, .function = p->function,
    .arguments = c->has ? (uint32_t)c->size : TG_ABSENT,
    .results = add_results(m, p), .why = (uint8_t)p->why, .tail = p->tail,
    .resumed = c->resumed, .unfinished = m->x->unfinished,
    .caller = c->caller, .line = c->line
  };
}

/* The mark and its values behind it, as one piece of the column: what is read
   back later is whole (marktext.c). As bytes and not as text, since most of
   what is put aside is dropped in the end. */
static bool put_aside (tg_CallMarks *m, tg_TrackMarks *tm,
                       const tg_OpenCall *c, tg_CallMark *mark,
                       tg_Moment from, tg_Moment to) {
  tg_Buf *out = &tm->column.text;
  size_t size = m->arguments.size - c->at;
  tg_assert(to.ns >= from.ns);
  mark->from_ns = from.ns;
  mark->from_part = from.part;
  mark->to_ns = to.ns;
  mark->to_part = to.part;
  if (m->arguments.failed || !tg_buf_reserve(out, sizeof *mark + size))
    return false;
  tg_buf_add(out, mark, sizeof *mark);
  if (size > 0)
    tg_buf_add(out, m->arguments.data + c->at, size);
  tg_column_turn(m->spool, &tm->column);
  return true;
}

/* How long the call was is asked of its first track, so that it has markers on
   all of them or on none. */
bool tg_callmarks_close (tg_CallMarks *m, tg_TrackMarks *const *tracks,
                         uint32_t n, const tg_Packet *p) {
  const tg_OpenCall *c = &m->calls[tg_export_level(m->x, p)];
  tg_Moment to[TG_MARKS_TRACKS];
  uint32_t rank;
  bool ok = true;
  tg_assert(n > 0 && n <= TG_MARKS_TRACKS);
  tg_assert(c->at + c->size <= m->arguments.size);
  for (uint32_t i = 0; i < n; i++)
    to[i] = moment_of(tracks[i], p);
  if (tg_longestcalls_admit(&m->longest, to[0].ns - c->opened[0].ns, &rank)) {
    tg_CallMark mark = mark_of(m, c, p, rank);
    for (uint32_t i = 0; ok && i < n; i++)
      ok = put_aside(m, tracks[i], c, &mark, c->opened[i], to[i]);
  }
  m->arguments.size = c->at;
  m->put_in -= c->put_in;
  return ok;
}

/* }================================================================== */
