/*
** feedtraces.c - see feedtraces.h. For actorfeed.c, on the thread that runs the
** state. Nothing here calls Lua.
*/
#include "trace/feedtraces.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "session/traceinfo.h"

/* A client has few traces at once: looked through from the start. */
bool tg_feedtraces_has (const tg_FeedTraces *f, const tg_Trace *t) {
  for (size_t i = 0; i < f->count; i++) {
    if (f->list[i] == t)
      return true;
  }
  return false;
}

/* The buffer of a trace is what its feed has not read yet (tracelimits.c). */
static void set_consumers (tg_FeedTraces *f) {
  for (size_t i = 0; i < f->count; i++) {
    if (f->list[i]->consumed)
      f->list[i]->consumer = f->reader;
  }
}

/* Markers are for clients that ask for them. */
uint32_t tg_feedtraces_types (const tg_Trace *t) {
  bool asked = t->origin == TG_ORIGIN_FEED;
  return t->options.types & ~(asked ? 0u : (uint32_t)TG_TYPE_MARKERS);
}

/* What all of the traces ask for together. False without memory, and then
   nothing is in it. */
static bool union_of_all (const tg_FeedTraces *f, tg_Selection *d) {
  for (size_t i = 0; i < f->count; i++) {
    tg_Options o = f->list[i]->options;   /* borrowed: copied by the union */
    o.types = tg_feedtraces_types(f->list[i]);
    if (!tg_selection_add(d, &o)) {
      tg_selection_clear(d);
      return false;
    }
  }
  return true;
}

/* A reader that nobody needs, or of a stream that is over. When all traces of
   the state have stopped and new ones started, there is another stream, while
   a feed's own list was never empty: a trace that has ended by itself stays in
   it until it is told. */
static void drop_reader (tg_FeedTraces *f) {
  if (f->reader != NULL
      && (f->count == 0
          || tg_reader_stream(f->reader) != f->list[0]->stream)) {
    tg_reader_free(f->reader);
    f->reader = NULL;
  }
}

/* The client's time begins with its first trace. So two actors that began at
   different moments count from different zeros. */
static bool new_reader (tg_FeedTraces *f) {
  tg_assert(f->reader == NULL && f->count > 0);
  const tg_Trace *first = f->list[0];
  f->reader = tg_reader_new(first->stream, first->start, &f->selection);
  if (f->reader == NULL)
    return false;
  tg_reader_mark(f->reader);
  tg_reader_time_from(f->reader, first->ticks_start);
  return true;
}

bool tg_feedtraces_rework (tg_FeedTraces *f) {
  tg_Selection fresh = {0};
  bool ok = true;
  f->late = f->busy;
  if (f->busy)
    return true;
  if (!union_of_all(f, &fresh))
    return false;
  tg_selection_clear(&f->selection);
  f->selection = fresh;
  drop_reader(f);
  if (f->reader != NULL)
    ok = tg_reader_reselect(f->reader, &f->selection);
  else if (f->count > 0)
    ok = new_reader(f);
  set_consumers(f);
  return ok;
}

/* On failure an empty feed also loses what was made for its one trace. */
bool tg_feedtraces_join (tg_FeedTraces *f, tg_Trace *t) {
  tg_assert(!tg_feedtraces_has(f, t));
  if (!tg_grow(&f->list, &f->capacity, f->count + 1, sizeof *f->list))
    return false;
  f->list[f->count++] = t;
  if (tg_feedtraces_rework(f))
    return true;
  f->count--;
  if (f->count == 0)
    tg_feedtraces_rework(f);
  return false;
}

/* The order of the others stays: the most recent one is the one that "stop"
   without a name means. */
bool tg_feedtraces_take (tg_FeedTraces *f, tg_Trace *t) {
  size_t i = 0;
  while (i < f->count && f->list[i] != t)
    i++;
  if (i == f->count)
    return false;
  memmove(&f->list[i], &f->list[i + 1], (f->count - i - 1) * sizeof *f->list);
  f->count--;
  tg_assert(!tg_feedtraces_has(f, t));
  t->consumer = NULL;
  return true;
}

void tg_feedtraces_part (tg_FeedTraces *f, tg_Trace *t) {
  if (tg_feedtraces_take(f, t))
    tg_feedtraces_rework(f);
}

tg_Trace *tg_feedtraces_find (const tg_FeedTraces *f, const char *name) {
  for (size_t i = f->count; i > 0; i--) {
    if (name == NULL || strcmp(f->list[i - 1]->name, name) == 0)
      return f->list[i - 1];
  }
  return NULL;
}

/* Where one has ended, others may go on. */
tg_Pos tg_feedtraces_end (const tg_FeedTraces *f) {
  tg_Pos end = 0;
  for (size_t i = 0; i < f->count; i++) {
    tg_Pos p = tg_traceinfo_stop_pos(f->list[i]);
    if (p > end)
      end = p;
  }
  return end;
}

void tg_feedtraces_free (tg_FeedTraces *f) {
  tg_reader_free(f->reader);
  tg_selection_clear(&f->selection);
  tg_free(f->list);
  memset(f, 0, sizeof *f);
}
