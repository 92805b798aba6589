/*
** callmarks.c - see callmarks.h. tracks.c opens and closes calls here; the two
** writers read the markers back, through meta.c.
**
** Without memory everything here returns false, and nothing is undone: the
** export as a whole has failed then. What the spool's file refuses is kept by
** the spool.
*/
#include "formats/firefox/callmarks.h"

#include <string.h>

#include "base/alloc.h"
#include "stream/values.h"

#define MARKS_MAX 200000u
#define TEXT_MAX ((size_t)2000)   /* bytes of arguments or results */
#define TEXTS_MAX ((size_t)128 << 20)   /* of all together */

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
  tg_buf_free(&m->raw);
  tg_buf_free(&m->text);
  tg_buf_free(&m->members);
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
    c->put_in = tg_values_copy(&m->arguments, p->values,
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
    m.part += begins && tm->begins && m.part < last;
  }
  tm->moment = m;
  tm->begins = begins;
  return m;
}

static bool grow_calls (tg_CallMarks *m) {
  uint32_t more = m->ccalls > 0 ? m->ccalls * 2 : 64;
  tg_OpenCall *calls = tg_realloc(m->calls, more * sizeof *calls);
  if (calls == NULL)
    return false;
  m->calls = calls;
  m->ccalls = more;
  return true;
}

bool tg_callmarks_open (tg_CallMarks *m, tg_TrackMarks *tm,
                        const tg_Packet *p) {
  uint32_t level = tg_export_level(m->x, p);
  tg_assert(p->why == TG_WHY_ENTER && level <= m->ccalls);
  if (level >= m->ccalls && !grow_calls(m))
    return false;
  m->calls[level].opened = moment_of(tm, p);
  m->calls[level].resumed = p->resumed;
  return keep_arguments(m, &m->calls[level], p);
}

/* Puts what came of the call behind its arguments; how many bytes that is. */
static uint32_t add_results (tg_CallMarks *m, const tg_Packet *p) {
  size_t at = m->arguments.size;
  if (p->values.data == NULL || p->why == TG_WHY_TERMINATED)
    return TG_ABSENT;
  tg_values_copy(&m->arguments, p->values, TG_COPIES_MAX);
  return (uint32_t)(m->arguments.size - at);
}

static bool put_aside (tg_CallMarks *m, tg_TrackMarks *tm,
                       const tg_OpenCall *c, const tg_Packet *p, tg_Moment to,
                       uint32_t rank) {
  tg_Buf *out = &tm->column.text;
  tg_CallMark mark = {
    .from = c->opened, .to = to, .rank = rank, .function = p->function,
    .arguments = c->has ? (uint32_t)c->size : TG_ABSENT,
    .results = add_results(m, p), .why = p->why, .tail = p->tail,
    .resumed = c->resumed, .unfinished = m->x->unfinished
  };
  size_t size = m->arguments.size - c->at;
  if (m->arguments.failed || !tg_buf_reserve(out, TG_CALLMARK_MAX + size))
    return false;
  uint8_t *end = tg_markerbytes_put((uint8_t *)out->data + out->size, &mark,
                                    tm->end_ns);
  tm->end_ns = to.ns;
  out->size = (size_t)(end - (uint8_t *)out->data);
  if (size > 0)
    tg_buf_add(out, m->arguments.data + c->at, size);
  tg_column_turn(m->spool, &tm->column);
  return true;
}

bool tg_callmarks_close (tg_CallMarks *m, tg_TrackMarks *tm,
                         const tg_Packet *p) {
  const tg_OpenCall *c = &m->calls[tg_export_level(m->x, p)];
  tg_Moment to = moment_of(tm, p);
  uint32_t rank;
  bool ok = true;
  tg_assert(to.ns >= c->opened.ns && c->at + c->size <= m->arguments.size);
  if (tg_longestcalls_admit(&m->longest, to.ns - c->opened.ns, &rank))
    ok = put_aside(m, tm, c, p, to, rank);
  m->arguments.size = c->at;
  m->put_in -= c->put_in;
  return ok;
}

/* }================================================================== */

/*
** {==================================================================
** Markers, read back
** ===================================================================
*/

/* A text as a JSON string, cut at a character. The viewer lays out every
   marker's text in its table: long ones make it slow. */
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
static void write_values (tg_CallMarks *m, const tg_Packet *p) {
  tg_buf_clear(&m->text);
  if (tg_textcache_put(&m->x->brief, p->values, &m->text))
    return;
  tg_buf_clear(&m->raw);
  tg_export_values(m->x, p, &m->raw);
  add_text(&m->text, &m->raw);
  m->text.failed = m->text.failed || m->raw.failed;
  tg_textcache_keep(&m->x->brief, p->values, &m->text, 0);
}

/* A member of the marker's object. An empty text is none: it would be shown as
   "(empty)". */
static void add_values (tg_CallMarks *m, const char *key, const tg_Packet *p) {
  write_values(m, p);
  m->members.failed = m->members.failed || m->text.failed;
  if (m->text.size <= sizeof "\"\"" - 1 || m->texts > TEXTS_MAX)
    return;
  m->texts += m->text.size;
  tg_buf_addstr(&m->members, ",\"");
  tg_buf_addstr(&m->members, key);
  tg_buf_addstr(&m->members, "\":");
  tg_buf_add(&m->members, m->text.data, m->text.size);
}

/* How it ended, in words; a return is what everybody expects, and is not
   said. */
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
static void write_members (tg_CallMarks *m, const tg_CallMark *mark,
                           const uint8_t *p) {
  static const char *const keys[] = {
    [TG_WHY_RETURN] = "returns", [TG_WHY_EXCEPTION] = "throws",
    [TG_WHY_YIELD] = "yields"
  };
  tg_Packet packet = {.why = TG_WHY_ENTER, .function = mark->function};
  tg_buf_clear(&m->members);
  if (mark->arguments != TG_ABSENT) {
    packet.values = (tg_Slice){p, mark->arguments, NULL};
    add_values(m, "args", &packet);
    p += mark->arguments;
  }
  if (mark->results != TG_ABSENT) {
    packet.why = mark->why;
    packet.values = (tg_Slice){p, mark->results, NULL};
    add_values(m, keys[mark->why], &packet);
  }
  tg_buf_addstr(&m->members, end_of(mark));
  if (mark->resumed)
    tg_buf_addstr(&m->members, ",\"begins\":\"resumed\"");
}

static bool use_call (tg_CallMarks *m, const tg_CallMark *mark,
                      const uint8_t *p, tg_StackTables *stacks,
                      tg_MarkUse *use, void *ud) {
  write_members(m, mark, p);
  tg_Mark one = {
    .from = mark->from, .to = mark->to,
    .func = tg_stacktables_func(stacks, m->x->stream->functions,
                                mark->function, false),
    .text = {(const uint8_t *)m->members.data, m->members.size, NULL}
  };
  return !m->members.failed && !m->text.failed && one.func != TG_STACK_NONE
         && use(ud, &one);
}

static uint32_t bytes_of (uint32_t size) {
  return size != TG_ABSENT ? size : 0;
}

/* The markers in a piece of the column; '*before_ns' is when the one before
   ended. */
static bool use_piece (tg_CallMarks *m, const tg_Buf *piece,
                       uint64_t *before_ns, tg_StackTables *stacks,
                       tg_MarkUse *use, void *ud) {
  const uint8_t *p = (const uint8_t *)piece->data;
  if (piece->size == 0)         /* 'p' may be NULL */
    return true;
  const uint8_t *end = p + piece->size;
  while (p < end) {
    tg_CallMark mark;
    p = tg_markerbytes_get(p, &mark, *before_ns);
    *before_ns = mark.to.ns;
    if (tg_longestcalls_kept(&m->longest, mark.to.ns - mark.from.ns, mark.rank)
        && !use_call(m, &mark, p, stacks, use, ud))
      return false;
    p += bytes_of(mark.arguments) + bytes_of(mark.results);
  }
  tg_assert(p == end);          /* a marker is in one piece */
  return true;
}

bool tg_callmarks_each (tg_CallMarks *m, const tg_TrackMarks *tm,
                        tg_StackTables *stacks, tg_MarkUse *use, void *ud) {
  tg_Buf piece = {0};
  uint64_t before_ns = 0;
  bool ok = true;
  for (uint32_t i = 0; ok && i <= tm->column.count; i++)
    ok = tg_column_read(m->spool, &tm->column, i, &piece)
         && use_piece(m, &piece, &before_ns, stacks, use, ud);
  tg_buf_free(&piece);
  return ok;
}

/* }================================================================== */
