/*
** wanted.c - the union of what the traces of a session ask for. Called where
** traces come and go, on the traced thread. Without memory all is as before.
*/
#include <string.h>

#include "session/wanted.h"
#include "session/allocations.h"
#include "session/heap.h"
#include "session/identity.h"
#include "state/awaited.h"

/* Whether the session must still see events for this trace: to record them, or
   to count what it loses. One that ended for want of room is told how much it
   lacks, and only the hook knows; one that was stopped, or had all that it
   wanted, lacks nothing. */
bool tg_wanted_counts (const tg_Trace *t) {
  return t->end == TG_END_NOT || t->end == TG_END_OVERFLOW
         || t->end == TG_END_MEMORY || t->end == TG_END_DISK;
}

/* Whether a trace goes out of the program: onto a file or to a client with all
   that is recorded, or as a log. A client of packets gets what any of its
   traces asks for. */
static bool goes_out (const tg_Trace *t) {
  return t->plan != NULL || t->origin == TG_ORIGIN_LOG
         || (t->follower != NULL && tg_follower_is_bytes(t->follower));
}

/* What such a one is to hide is not recorded for others either. False without
   memory. */
static bool hide_outside (const tg_Session *s, tg_Selection *d) {
  bool ok = true;
  tg_Filter f;
  tg_filter_init(&f);
  for (const tg_Trace *t = s->traces; t != NULL && ok; t = t->next) {
    const tg_Patterns *redact = &t->options.redact;
    size_t n = goes_out(t) ? redact->count : 0;
    for (size_t i = 0; ok && i < n; i++)
      ok = tg_patterns_add(&f.options.redact, redact->list[i]);
  }
  tg_options_bound(&f.options, TG_BOUND_STRANGER); /* some may be a client's */
  if (ok && f.options.redact.count > 0)
    ok = tg_selection_narrow(d, &f);
  tg_filter_free(&f);
  return ok;
}

/* The hook counts the frames that any trace sees, and a trace its own: so no
   limit holds for one that has others beside it, nor later on, since frames of
   theirs may be open yet. Its reader knows which are too deep. */
static void note_company (tg_Session *s) {
  unsigned n = 0;
  for (const tg_Trace *t = s->traces; t != NULL; t = t->next)
    n += tg_wanted_counts(t);
  for (tg_Trace *t = s->traces; t != NULL && n > 1; t = t->next)
    t->accompanied = true;
}

/* How deep 't' sees. A trace that finds frames open which others have told of
   counts none of them. */
static uint32_t limit_of (const tg_Trace *t) {
  return (t->accompanied || t->packets_start > 0) ? TG_NOLIMIT
                                                  : t->options.max_depth;
}

/* The union of the traces' options; without 'all', of those without 'on'. Where
   that is nothing, no function is wanted at any depth. False without memory,
   and then it is empty. */
static bool gather (tg_Session *s, bool all, tg_Wanted *w) {
  memset(w, 0, sizeof *w);
  w->selection.undecided = &s->writer.stream->lacks.n[TG_LACK_NAMES];
  bool ok = true;
  for (const tg_Trace *t = s->traces; t != NULL && ok; t = t->next) {
    if (!tg_wanted_counts(t) || (!all && t->options.on.count > 0))
      continue;
    ok = tg_selection_add(&w->selection, &t->options);
    uint32_t limit = limit_of(t);
    if (limit > w->depth_limit)
      w->depth_limit = limit;
  }
  if (w->selection.count == 0)
    w->depth_limit = TG_NOLIMIT;
  if (ok && hide_outside(s, &w->selection))
    return true;
  tg_selection_clear(&w->selection);
  return false;
}

static bool awaits (const tg_Session *s) {
  const tg_Trace *t = s->traces;
  while (t != NULL && (!tg_wanted_counts(t) || t->options.on.count == 0))
    t = t->next;
  return t != NULL;
}

bool tg_wanted_work_out (tg_Session *s) {
  tg_Wanted all, outer;
  note_company(s);
  if (!gather(s, true, &all))
    return false;
  if (!gather(s, false, &outer)) {
    tg_selection_clear(&all.selection);
    return false;
  }
  bool ok = tg_awaited_install(s, awaits(s), &all, &outer);
  tg_selection_clear(&all.selection);
  tg_selection_clear(&outer.selection);
  if (ok)
    tg_heap_review(s);
  return ok && tg_identity_review(s) && tg_allocations_review(s);
}
