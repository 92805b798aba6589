/*
** ticker.h - ticks of a thread's processor time: a signal to that thread,
** whenever it has run for so long.
**
** Two clocks can do that. A performance event of the kernel (perf_event_open,
** the software task clock) is exact to a few microseconds and counts in user
** mode alone, so its signal never comes into a system call: no call of the
** program ends with EINTR. Where the kernel forbids it, a POSIX timer of the
** thread's processor time: that is looked at by the kernel's own tick only
** (250 times a second, mostly), and what ran meanwhile is said by the next
** signal. Since Linux 5.11 it too is sent on the way back to user mode
** (CONFIG_POSIX_CPU_TIMERS_TASK_WORK).
**
** Ticks are not evenly spaced, but for those of a timer: what a program does in
** a rhythm of its own would always be met at the same place.
**
** A thread that waits has no ticks, and is not woken.
*/
#ifndef TG_TICKER_H
#define TG_TICKER_H

#include "base/base.h"

typedef struct tg_Ticker tg_Ticker;

/* In a signal handler: 'context' is what the signal has met (struck.h). May be
   called before tg_ticker_open returns. */
typedef void tg_Tick (void *ud, tg_Ticker *t, const void *context);

/*
** 'hz' times per second of this thread's processor time 'tick' is called, in a
** signal handler on this thread. NULL with errno if there is no such clock, no
** signal that the program leaves free, or no memory.
*/
tg_Ticker *tg_ticker_open (uint32_t hz, tg_Tick *tick, void *ud);

/* On the same thread no tick comes after this; NULL is fine. */
void tg_ticker_close (tg_Ticker *t);

/* In a forked child, while mutexes are still held (atfork.h): the ticks so far
   are the parent's, and the child's only thread has its own from now on; none
   without a clock. */
void tg_ticker_forked (tg_Ticker *t);

/*
** In 'tick', when the thread's processor time was 'used_ns'. How many ticks are
** known now to have come while the signal was blocked: the kernel gives them
** one after the other when that is over. '*queued': this one has waited so.
** Of a timer, which gives one signal for all, that they were late is all that
** is known.
*/
uint64_t tg_ticker_note (tg_Ticker *t, uint64_t used_ns, bool *queued);

/* On its thread: how many ticks there were since the last one, if the signal is
   blocked now. They are not counted again. */
uint64_t tg_ticker_outstanding (tg_Ticker *t, uint64_t used_ns);

/* The signal by which it comes. */
int tg_ticker_signal (const tg_Ticker *t);

/* How often a timer ticks at most; 0: it is an event, which is exact. */
uint64_t tg_ticker_timer_ns (const tg_Ticker *t);

/* The processor time of the calling thread, in nanoseconds; and how often it
   has waited for something, and not for the processor alone. */
uint64_t tg_ticker_used_ns (void);
uint64_t tg_ticker_waits (void);

#endif
