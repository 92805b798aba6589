/*
** wanted.c - the union of what the traces of a session ask for. Called where
** traces come and go, on the traced thread. Without memory all is as before.
*/
#include "session/wanted.h"
#include "session/heap.h"

/* Whether the session must still see events for this trace: to record them, or
   to count what it loses. One that ended for want of room is told how much it
   lacks, and only the hook knows; one that was stopped, or had all that it
   wanted, lacks nothing. */
bool tg_wanted_counts (const tg_Trace *t) {
  return t->end == TG_END_NOT || t->end == TG_END_OVERFLOW
         || t->end == TG_END_MEMORY || t->end == TG_END_DISK;
}

/* Who gets the bytes as they are gets what other traces record too: so what is
   to be kept secret from him is not recorded for those either. False without
   memory. */
static bool hide_from_bytes (const tg_Session *s, tg_Selection *d) {
  bool ok = true;
  tg_Filter f;
  tg_filter_init(&f);
  for (const tg_Trace *t = s->traces; t != NULL && ok; t = t->next) {
    const tg_Patterns *redact = &t->options.redact;
    bool bytes = t->follower != NULL && tg_follower_is_bytes(t->follower);
    for (size_t i = 0; bytes && ok && i < redact->count; i++)
      ok = tg_patterns_add(&f.options.redact, redact->list[i]);
  }
  tg_options_distrust(&f.options);  /* some may be a client's */
  if (ok && f.options.redact.count > 0)
    ok = tg_selection_narrow(d, &f);
  tg_filter_free(&f);
  return ok;
}

/* Which functions are wanted is decided once for each (catalog.h), so all
   decisions are forgotten when the union has changed; when it has not, which
   is the common case of many traces alike, they stand. The depth limit counts
   from the bottom of the stack, a trace's own from where it began. False
   without memory: then all is as before. */
bool tg_wanted_work_out (tg_Session *s) {
  tg_Selection fresh = {0};
  uint32_t limit = 0;
  for (const tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (!tg_wanted_counts(t))
      continue;
    if (!tg_selection_add(&fresh, &t->options)) {
      tg_selection_clear(&fresh);
      return false;
    }
    uint32_t depth = t->options.max_depth;
    if (depth != TG_NOLIMIT && depth < TG_NOLIMIT - t->depth_start)
      depth += t->depth_start;
    if (depth > limit)
      limit = depth;
  }
  if (!hide_from_bytes(s, &fresh)) {
    tg_selection_clear(&fresh);
    return false;
  }
  bool alike = tg_selection_alike(&fresh, &s->selection);
  tg_selection_clear(&s->selection);
  s->selection = fresh;
  s->depth_limit = limit;
  tg_heap_review(s);
  tg_session_review(s);
  if (!alike)           /* else each function is still wanted or not */
    tg_catalog_refresh(&s->known);
  return true;
}
