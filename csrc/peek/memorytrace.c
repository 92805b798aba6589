/* memorytrace.c - see memorytrace.h. */
#include "peek/memorytrace.h"

#include "host/life.h"
#include "session/allocations.h"
#include "session/traceinfo.h"

/* What is sent is gone, unless it is kept. A file's events stay in it. The
   blocks of a ring's file are used again, and what is mapped of them is the
   same memory in the child. */
static bool has_events (const tg_Trace *t, bool waits) {
  if (t->plan == NULL)
    return t->makers.store != NULL || (!t->consumed && t->follower == NULL);
  return t->file != NULL && (waits || !t->plan->ring);
}

/* They are listed with the latest first. */
static const tg_Trace *first_trace (const tg_Session *s, bool waits) {
  const tg_Trace *found = NULL;
  for (const tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t->end == TG_END_NOT && has_events(t, waits)
        && (t->options.types & TG_TYPE_ALLOCATIONS) != 0)
      found = t;
  }
  return found;
}

/* A ring has dropped what is before its hold. */
static tg_Pos start_of (const tg_Trace *t) {
  const tg_Cursor *first = t->makers.store != NULL ? &t->makers : &t->hold;
  return first->store != NULL ? tg_cursor_pos(first) : t->start;
}

static tg_MemoryTrace of_trace (const tg_Session *s, const tg_Trace *t) {
  bool on_file = t->file != NULL && !t->plan->ring;
  return (tg_MemoryTrace){
    .options = &t->options, .stream = t->stream,
    .path = on_file ? tg_filewriter_path(t->file) : NULL,
    .start = start_of(t),
    .stop = tg_traceinfo_stop_pos(t), .origins = &s->memory.meter->origins};
}

/* What was made since the last event is of no origin that the stream knows,
   until it is told. */
tg_MemoryTrace tg_memorytrace_find (lua_State *L, bool waits) {
  tg_MemoryTrace none = {.options = NULL};
  tg_Session *s = tg_session_find(L);
  if (s == NULL || !tg_session_traces(s) || s->memory.meter == NULL)
    return none;
  tg_allocations_settle(s);
  const tg_Trace *t = first_trace(s, waits);
  return t != NULL && s->memory.meter != NULL ? of_trace(s, t) : none;
}

bool tg_memorytrace_seek (const lua_State *main, tg_MemoryTrace *found) {
  const tg_Session *s = tg_session_of(tg_life_host(main));
  *found = (tg_MemoryTrace){.options = NULL};
  if (s == NULL || !tg_session_traces(s) || s->memory.meter == NULL)
    return true;
  if (atomic_load(&s->memory.meter->busy))
    return false;
  const tg_Trace *t = first_trace(s, false);
  if (t != NULL)
    *found = of_trace(s, t);
  return true;
}
