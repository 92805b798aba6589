/* framenote.c - see framenote.h. Called by the framer, on its thread. */
#include "reader/framenote.h"

#include <string.h>

#include "stream/holdings.h"
#include "stream/marks.h"

/* Before the first sample no coroutine is known to run: it is the main one, as
   far as can be told. */
static tg_ThreadId running_thread (const tg_Framer *fr) {
  return fr->running != NULL ? fr->running->thread : 1;
}

/* What a filter hides of a thread or of a time it hides of its markers; 'own':
   it is a coroutine's. */
static bool shows_note (const tg_Framer *fr, bool own) {
  const tg_Filter *filter = fr->selection.filter;
  return filter == NULL
         || ((!own || filter->thread == 0
              || filter->thread == running_thread(fr))
             && fr->now_ns >= filter->from_ns);
}

/* A packet of no frame. */
static void note (tg_Framer *fr, uint32_t mark, tg_Packet *out) {
  memset(out, 0, sizeof *out);
  out->why = TG_WHY_MARK;
  out->sequence = fr->sequence;
  out->time_ns = fr->now_ns;
  out->thread = running_thread(fr);
  out->depth = fr->open;
  out->mark = (uint8_t)(mark & TG_MARK_SORT);
  out->values = fr->event.values;
}

bool tg_framenote_mark (tg_Framer *fr, tg_Packet *out) {
  const tg_Event *e = &fr->event;
  fr->job.kind = TG_JOB_NONE;
  if (!shows_note(fr, (e->mark & TG_MARK_SORT) != TG_MARK_HEAP))
    return false;
  note(fr, e->mark, out);
  out->groups = (uint8_t)(e->mark >> TG_MARK_GROUPSHIFT);
  out->numbered = (e->flags & TG_EVF_NUMBER) != 0;
  out->hits = e->number;
  out->caller = e->caller;
  out->line = e->line;
  return true;
}

/* Whether the event only tells which of the blocks that another one counts a
   line has (holdings.h): that is for who asks what is held. */
static bool is_part (const tg_Event *e) {
  tg_Allocations a = tg_event_allocations(e->values);
  tg_Holdings h;
  tg_AllocLine line;
  return a.count == 0 && a.allocated == 0 && a.freed == 0
         && tg_holdings_read(&h, a.held, a.above)
         && tg_holdings_line(&h, &line);
}

/* What is outside of the calls that the selection waits for is not its. */
bool tg_framenote_allocations (tg_Framer *fr, tg_Packet *out) {
  fr->job.kind = TG_JOB_NONE;
  if (!fr->holds && is_part(&fr->event))
    return false;
  bool outside = fr->selection.awaits && fr->roots == 0 && !fr->adrift;
  bool shown = !outside && shows_note(fr, true);
  if (!shown && !fr->holds)
    return false;
  note(fr, shown ? TG_MARK_ALLOCATIONS : TG_MARK_HELD, out);
  out->lacking = fr->gap;
  fr->gap = false;
  return true;
}
