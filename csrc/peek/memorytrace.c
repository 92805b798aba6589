/* memorytrace.c - see memorytrace.h. */
#include "peek/memorytrace.h"

#include "session/allocations.h"
#include "session/traceinfo.h"

/* They are listed with the latest first. */
static const tg_Trace *first_trace (const tg_Session *s) {
  const tg_Trace *found = NULL;
  for (const tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t->end == TG_END_NOT && !t->consumed
        && (t->options.types & TG_TYPE_ALLOCATIONS) != 0)
      found = t;
  }
  return found;
}

/* What was made since the last event is of no origin that the stream knows,
   until it is told. */
tg_MemoryTrace tg_memorytrace_find (lua_State *L) {
  tg_MemoryTrace none = {.options = NULL};
  tg_Session *s = tg_session_find(L);
  if (s == NULL || !tg_session_traces(s) || s->memory.meter == NULL)
    return none;
  tg_allocations_settle(s);
  const tg_Trace *t = first_trace(s);
  if (t == NULL || s->memory.meter == NULL)
    return none;
  return (tg_MemoryTrace){
    .options = &t->options, .stream = t->stream, .start = t->start,
    .stop = tg_traceinfo_stop_pos(t), .origins = &s->memory.meter->origins};
}
