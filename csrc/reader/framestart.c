/*
** framestart.c - see framestart.h. Called by the framer, seldom: reading begins
** once, and again behind each LOST. What a file says may be anything: what
** cannot be ends the reading.
**
** A CONTEXT is written where a chunk or a trace begins, which may be in the
** middle of writing an event: then the chain that it tells is the one after the
** event (TG_EVF_AHEAD), which must not be applied a second time.
*/
#include "reader/framestart.h"

/* After a LOST, when all frames have exited: no coroutine is known. */
static void forget_stacks (tg_Framer *fr) {
  while (fr->stacks.count > 0) {
    tg_Stack *s = fr->stacks.list[fr->stacks.count - 1];
    tg_ThreadId thread = s->thread;
    tg_stacks_drop(&fr->stacks, s);
    if (fr->gone != NULL)
      fr->gone(fr->gone_ud, thread);
  }
}

/* The frames of a coroutine that was not seen for a while: those that are
   listed, or none but silent ones. False if that cannot be. */
static bool find_frames (tg_Framer *fr, tg_Stack *s, uint32_t frames,
                         const uint8_t *list, uint32_t listed) {
  while (s->count > 0)
    tg_stack_pop(s);
  s->silent = (list == NULL) ? frames : 0;
  if (list == NULL)
    return true;
  if (frames > listed)
    tg_framer_fail(fr, TG_ERR_FORMAT);
  else if (!tg_stack_adopt(s, list, frames, false, false, fr->now_ns))
    tg_framer_fail(fr, TG_ERR_MEMORY);
  return fr->status == TG_OK;
}

/* Where reading begins, which coroutines there are. How many frames they had
   open then is all that is known of those: they are silent (stacks.h). After a
   LOST those that are listed are entered again. */
void tg_framestart_context (tg_Framer *fr, const tg_Event *e) {
  if (fr->started)    /* met on the way: nothing new */
    return;
  fr->started = true;
  if (fr->begun_ns == UINT64_MAX)
    fr->begun_ns = fr->now_ns;
  if (fr->lacks)
    forget_stacks(fr);
  if (tg_framer_samples_only(fr))
    return;             /* each sample tells the whole chain */
  const uint8_t *list = fr->lacks ? e->frames : NULL;
  uint32_t listed = e->nframes;
  for (uint32_t i = 0; i < e->n; i++) {
    const uint8_t *entry = e->list + 8 * (size_t)i;
    uint32_t frames = tg_get32(entry + 4);
    tg_Stack *s = tg_stacks_get(&fr->stacks, tg_get32(entry));
    if (!tg_framer_chain(fr, s) || !find_frames(fr, s, frames, list, listed))
      return;
    if (list != NULL) {
      list += 4 * (size_t)frames;
      listed -= frames;
    }
  }
  fr->lacks = false;
  if ((e->flags & TG_EVF_AHEAD) == 0)
    fr->ahead = TG_AHEAD_UNSAID;
  else
    fr->ahead = (list != NULL) ? TG_AHEAD_OPEN : TG_AHEAD_SILENT;
  fr->adrift = fr->adrift || fr->ahead == TG_AHEAD_SILENT;
  if (list != NULL && e->n > 0)
    tg_framer_job(fr, TG_JOB_REOPEN, TG_WHY_ENTER, e->n - 1, tg_no_values);
}

/* Whatever comes next begins with a CONTEXT. */
void tg_framestart_terminate (tg_Framer *fr) {
  tg_framer_job(fr, TG_JOB_TERMINATE, TG_WHY_TERMINATED, UINT32_MAX,
                tg_no_values);
  fr->started = false;
}

/* Of coroutines that are suspended nothing is known any more: those that come
   back are resumed with a list (the hook's epoch has changed by then). */
void tg_framestart_lost (tg_Framer *fr, const tg_Event *e) {
  fr->missing += e->number;
  fr->lacks = fr->gap = true;
  tg_framestart_terminate(fr);
}

/* The silent frames are as they were before the event: how many there are shows
   when a RESUME lists them. */
static void step_back (tg_Stack *s, const tg_Event *e) {
  if (e->kind == TG_EV_CALL && (e->flags & TG_EVF_TAIL) == 0)
    s->silent -= s->silent > 0;
  else if (e->kind == TG_EV_RETURN)
    s->silent++;
  else if (e->kind == TG_EV_THROW && e->n <= UINT32_MAX - s->silent)
    s->silent += e->n;
}

/* Whether the stacks say already what the event says; it is the first one after
   a beginning. A RESUME of what runs can be nothing else. */
bool tg_framestart_is_done (tg_Framer *fr, const tg_Event *e) {
  if (e->kind == TG_EV_TIME || e->kind == TG_EV_CONTEXT
      || e->kind == TG_EV_MARK || e->kind == TG_EV_ALLOCATIONS)
    return false;
  tg_Ahead ahead = fr->ahead;
  tg_Stack *s = fr->running;
  fr->ahead = TG_AHEAD_NOT;
  if (ahead == TG_AHEAD_OPEN || s == NULL)
    return ahead == TG_AHEAD_OPEN;
  if (e->kind == TG_EV_RESUME)
    return s->thread == e->thread;
  if (ahead == TG_AHEAD_SILENT)
    step_back(s, e);
  return false;
}
