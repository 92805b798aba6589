/*
** sampling.h - what a sampler has, and how it writes what it has found.
**
** The private part of sampler.c, which makes it, begins and ends it and takes
** samples in hooks, and of tickhandler.c, which takes them in the handler of
** ticks. Both run on the thread that runs the state: while a hook uses
** 'writer' it has begun 'work', and until that ends a handler only counts.
*/
#ifndef TG_SAMPLING_H
#define TG_SAMPLING_H

#include <signal.h>
#include <stdatomic.h>

#include "host/part.h"
#include "sample/glance.h"
#include "sample/leaf.h"
#include "sample/sampler.h"
#include "sample/samplewriter.h"
#include "sample/tickwork.h"
#include "sample/windowing.h"
#include "tick/standstill.h"
#include "tick/ticker.h"

typedef struct tg_Sampler {
  tg_Part part;
  tg_Session *session;          /* borrows */
  tg_Ticker *ticker;            /* owns; NULL: none are taken */
  tg_Standstill *watch;         /* owns; NULL: not by the clock */
  tg_SampleRate rate;
  volatile sig_atomic_t ticks;  /* since the sample before */
  _Atomic uint32_t waits_seen;  /* ticks of the clock while it waited */
  tg_SampleWriter writer;
  tg_Strangers strangers;
  bool opens;                   /* what ran before the first call is not told */
  bool apart;                   /* ticks are told apart beside calls */
  bool knows;                   /* functions that may run for long */
  bool unwatched;               /* since a fork: the next hook goes on */
  bool asked;                   /* the last ticks were left to a hook, */
  uint64_t asked_ns;            /* since then: processor time */
  tg_Glancer glancer;
  tg_Leaf leaf;                 /* of the last tick that was left to a hook */
  tg_TickWork work;
  tg_Windowing windowing;
} tg_Sampler;

TG_INLINE tg_Stream *tg_sampling_stream (const tg_Sampler *m) {
  return m->session->writer.stream;
}

/* Whether ticks in the hook are told apart from the program's. */
bool tg_sampling_apart (const tg_Sampler *m);

/* Writes what 'm->writer.now' has, for all ticks that have come. */
void tg_sampling_write (tg_Sampler *m, tg_TickMoment now);

#endif
