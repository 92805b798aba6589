/*
** windowing.h - when ticks open and shut windows (chain/window.h), and what a
** tick finds in one.
**
** In a tick's handler, on the thread that runs the state; where a window opens,
** the handler has seen to it that neither a hook nor a function of ours runs.
*/
#ifndef TG_WINDOWING_H
#define TG_WINDOWING_H

#include "sample/samplewriter.h"
#include "tick/windowpace.h"

typedef struct tg_Windowing {
  uint32_t percent;             /* of the time; 0: there are none */
  uint64_t each_ns;             /* of each percent in turn */
  tg_WindowPace pace;
  uint32_t samples;             /* in the window that is open */
} tg_Windowing;

TG_INLINE bool tg_windowing_open (const tg_Session *s) {
  return s->window.state == TG_WINDOW_OPEN;
}

/* Whether the tracer's hook is about to come. */
TG_INLINE bool tg_windowing_hears (const tg_Session *s) {
  return s->hooked && !tg_windowing_open(s);
}

/* From now on so many percent; not in a handler. */
void tg_windowing_set (tg_Windowing *w, uint32_t percent);

/* From now on, by ticks at that rate; it begins without a window. */
void tg_windowing_begin (tg_Windowing *w, uint32_t hz, uint64_t used_ns);

/* A tick has been served, and all that runs is 'known'. */
void tg_windowing_turn (tg_Windowing *w, tg_Session *s, tg_TickMoment now,
                        bool known);

/* In a window, where 'm' has what runs: frames that are gone exit in the
   stream, and those that are there are marked. False: there is no room for
   that, or other coroutines run. */
bool tg_windowing_settle (tg_SampleWriter *m, uint64_t now);

#endif
