/*
** writing.h - what another process runs as samples of a stream: the same events
** as the hook's (stream/event.h), so whatever reads recordings reads these.
**
** Functions are defined when they are met first, with names as in traces
** (dump/definitions.h). Lines of instructions, and definitions, are asked for
** once, and anew after tg_spywriting_forget: code may have gone, and other code
** be in its place. Plain C, one thread.
*/
#ifndef TG_SPY_WRITING_H
#define TG_SPY_WRITING_H

#include "dump/definitions.h"
#include "spy/mixed.h"
#include "stream/writer.h"

typedef struct tg_SpyEntry {
  uint32_t function;    /* 0: a coroutine, with its number for a line */
  uint32_t line;
} tg_SpyEntry;

typedef struct tg_SpyEntries {
  tg_SpyEntry *list;    /* owns; outermost first */
  uint32_t n, capacity;
} tg_SpyEntries;

typedef struct tg_SpyWriting {
  tg_Writer writer;
  tg_Stream *stream;    /* pins */
  tg_Described described; /* owns */
  tg_IntMap threads;    /* owns; numbers of coroutines, by address */
  uint32_t nthreads;
  tg_IntMap lines;      /* owns; by an instruction's address */
  tg_IntMap called;     /* owns; C functions that Lua has called, by address */
  tg_IntMap natives;    /* owns; other C functions, by where they begin */
  tg_SpyEntries now, before;    /* own; this sample and the one before */
  uint32_t epoch;       /* the writer's at that */
  tg_FunctionId outside, preempted;     /* that stand for no function; 0: not
                                           met yet */
  uint64_t taken;       /* samples so far */
  uint64_t names_ns;    /* when package.loaded may be asked again */
} tg_SpyWriting;

/* What a sample stands for. */
typedef struct tg_SpyTime {
  uint64_t ticks;       /* when it was taken, on the stream's clock */
  uint64_t ns;          /* of the time that is counted */
  uint32_t count;       /* ticks */
  bool waited;          /* the process did not run */
} tg_SpyTime;

/* Whatever is answered, tg_spywriting_close. False without memory. */
bool tg_spywriting_open (tg_SpyWriting *w, tg_Target *t, tg_Stream *stream);
void tg_spywriting_close (tg_SpyWriting *w);

/* The first event: from here on there are samples. False without room. */
bool tg_spywriting_begin (tg_SpyWriting *w, uint64_t now);

/* The stack becomes what the next samples show: those of a state with that
   main thread. An empty one is time outside of Lua. False without memory. */
bool tg_spywriting_take (tg_SpyWriting *w, const tg_SpyStack *k,
                         uint64_t main);

/* The same with C frames between them, in that order. */
bool tg_spywriting_mix (tg_SpyWriting *w, const tg_SpyStack *k, uint64_t main,
                        const tg_SpyMix *m, const tg_CStack *c);

/* The number that a C function has which Lua calls; 0: Lua is not known to call
   what begins there. */
tg_FunctionId tg_spywriting_called (tg_SpyWriting *w, uint64_t start);

/* Files of the process have come or gone: others may be at these addresses. */
void tg_spywriting_forget_c (tg_SpyWriting *w);

/* One more frame above it for the time in which others had the processor. */
bool tg_spywriting_preempt (tg_SpyWriting *w);

/* A sample of what was taken. False: there was no room. */
bool tg_spywriting_put (tg_SpyWriting *w, const tg_SpyTime *t);

void tg_spywriting_forget (tg_SpyWriting *w);

#endif
