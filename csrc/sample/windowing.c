/*
** windowing.c - see windowing.h.
*/
#include "sample/windowing.h"

#include <stdlib.h>

#include "chain/resumechain.h"
#include "chain/window.h"
#include "host/running.h"

/* For tests: of many short windows each may begin or end anywhere. */
static uint64_t each_ns (void) {
  const char *wish = getenv("TRACEGRIP_WINDOW");
  long ns = wish != NULL ? strtol(wish, NULL, 10) : 0;
  return ns > 0 && ns <= (long)TG_WINDOWPACE_NS ? (uint64_t)ns
                                                : TG_WINDOWPACE_NS;
}

void tg_windowing_set (tg_Windowing *w, uint32_t percent) {
  w->percent = percent;
  w->each_ns = each_ns();
}

void tg_windowing_begin (tg_Windowing *w, uint32_t hz, uint64_t used_ns) {
  tg_windowpace_begin(&w->pace, w->percent, w->each_ns, hz, used_ns);
}

static void open (tg_Windowing *w, tg_Session *s, tg_TickMoment now) {
  w->samples = 0;
  tg_window_open(s, now.ticks);
  tg_windowpace_turn(&w->pace, true, now.used_ns);
}

/* It is shut wherever its time is over; but while a function of ours is called
   between two instructions, Lua must see no hook (tg_running_mute). Then the
   next tick shuts it. */
void tg_windowing_turn (tg_Windowing *w, tg_Session *s, tg_TickMoment now,
                        bool known) {
  if (tg_running_held(&s->host))
    return;
  bool due = tg_windowpace_due(&w->pace, now.used_ns);
  if (tg_windowing_open(s)) {
    if (!due)
      return;
    tg_window_shut(s, now.ticks);
    tg_windowpace_turn(&w->pace, false, now.used_ns);
    return;
  }
  tg_window_heed(s);
  if (due && known && s->hooked && s->window.state == TG_WINDOW_SHUT)
    open(w, s, now);
}

bool tg_windowing_settle (tg_SampleWriter *m, uint64_t now) {
  tg_Session *s = m->session;
  const tg_Writer *r = &s->writer;
  uint32_t standing;
  if (!tg_stackwalk_match(&m->now, s, &standing))
    return false;
  size_t gone = s->current->n - standing;
  if (!tg_samplewriter_has_room(m, gone, now)
      || r->packets_stop - r->packets <= gone)
    return false;
  if (gone > 0)
    tg_resumechain_miss(s->current, standing);
  return true;
}
