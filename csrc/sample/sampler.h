/*
** sampler.h - what runs, looked at every so often: the running coroutine's
** stack with the line of each frame, and the stacks of those that resumed it.
**
**     ticker ──signal──> handler ──reads──────────────> SAMPLE (event.h)
**                           └─ cannot ──arms──> hook ──> SAMPLE
**
** Where calls are not traced and the interpreter's memory can be read, the
** handler itself looks at what runs, and writes the sample (glance.h). What is
** not known yet, or cannot be read, it leaves to a hook, which is there from
** that tick to the next instruction, call or return (running.h): so a tick in a
** C function is seen while that function is still on the stack. Where calls are
** traced the tracer's hook is there already, and its next event is looked at in
** full. Ticks that come before their hook has fired are one sample, which says
** how many they were; the innermost frame is as the last of them has met it
** (leaf.h).
**
** A C function that does not return is answered by no hook. After a while it is
** shown without one, whatever is not known of it; and the longer it runs, the
** fewer samples show it, each with the time of all ticks, since a chunk has
** only so much room and a handler makes no new one.
**
** To set the hook and to look at the stack may take longer than a tick, with
** 200,000 frames and no way to the interpreter's memory: then ticks come as
** fast as they can be served, and the program does not get on. So a tick is
** dropped, and counted, until the program has run for as long as the sample
** before took; the next sample has its time, by the clock the next tick's.
**
** Time is the processor time of the thread that began to sample; a state that
** goes on on another one is not seen from there.
**
** By the clock, what the thread waits for is seen as well. No signal comes
** then: another thread finds that it stands still, and has the hook set from
** outside (running.h), which fires when what waits returns. The processor's
** ticks go on beside that. Each of them stands for the time that ran since the
** one before, and what was found to wait for all the rest: for that, a sample
** of what waited stands earlier in the stream than it was taken, by as much as
** has run since the last tick (docs/samples.md).
*/
#ifndef TG_SAMPLER_H
#define TG_SAMPLER_H

#include "state/session.h"

/* So many samples a second: of processor time, or of the clock's. */
typedef struct tg_SampleRate {
  uint32_t hz;                  /* 0: none */
  bool wall;
} tg_SampleRate;

/* What both ask for. */
TG_INLINE tg_SampleRate tg_sampler_both (tg_SampleRate a, tg_SampleRate b) {
  return (tg_SampleRate){a.hz > b.hz ? a.hz : b.hz, a.wall || b.wall};
}

TG_INLINE bool tg_sampler_same (tg_SampleRate a, tg_SampleRate b) {
  return a.hz == b.hz && a.wall == b.wall;
}

/*
** From now on samples at this rate. False (errno) if there is no clock for it,
** or no memory; ENOTSUP: none by the clock, since a thread that waits cannot be
** reached. Then the rate is as before.
*/
bool tg_sampler_set (tg_Session *s, lua_State *L, tg_SampleRate rate);

/* At least this rate. */
bool tg_sampler_add (tg_Session *s, lua_State *L, tg_SampleRate rate);

/* Whether there can be windows (chain/window.h) for so many percent of the
   time: not so, with errno, where a handler cannot find what runs, or samples
   are by the clock. */
bool tg_sampler_can_window (const tg_Session *s, uint32_t percent);

/* From now on there are. */
void tg_sampler_set_windows (tg_Session *s, uint32_t percent);

/* In the tracer's hook, at event 'ar' of what runs, when the session says that
   a sample is due. It stays due where the shadow stacks are not in step. */
void tg_sampler_sample (tg_Session *s, lua_State *L, lua_Debug *ar,
                        uint64_t now);

/* One more before a trace ends, from one of our own functions: what has run
   since the one before would be nobody's. */
void tg_sampler_finish (tg_Session *s, lua_State *L);

/* The same when nobody may be looked at: the process ends. */
void tg_sampler_terminate (tg_Session *s);

#endif
