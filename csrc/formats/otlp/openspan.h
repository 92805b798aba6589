/*
** openspan.h - a call that goes on, as a span: what is known of it before it
** ends.
**
** Owned by spans.c, which has a stack of those that run and a list of those
** that wait in suspended coroutines. Plain C, one thread at a time.
*/
#ifndef TG_OPENSPAN_H
#define TG_OPENSPAN_H

#include "formats/otlp/batch.h"
#include "packet/packet.h"
#include "stream/functions.h"

/* A call that goes on. */
typedef struct tg_OpenSpan {
  tg_SpanContext at;
  uint64_t parent;              /* 0: none */
  tg_SpanContext below;         /* of calls that begin in it: 'at', or what a
                                   marker has said */
  uint64_t start_ns;
  uint64_t entered_ns;          /* the same, or when it was resumed */
  uint64_t ran_ns;              /* before that */
  uint64_t left_ns;             /* of one that waits, and... */
  uint64_t order;               /* ...how many waited before it */
  uint64_t place;               /* its key while it waits */
  tg_FunctionId function;
  tg_ThreadId thread;
  uint32_t level;               /* calls of its coroutine that are open below
                                   it, while it runs */
  tg_FunctionId caller;         /* called in this function... */
  uint32_t line;                /* ...at this line; 0: not known */
  bool server;                  /* a request */
  bool within;                  /* one, or in one */
  struct tg_OpenSpan *request;  /* owns; whose place this call has taken: it
                                   ends with the call; or NULL */
  char *arguments;              /* owns; NULL: none */
  tg_SpanContext *links;        /* owns; spans that resumed it again */
  uint32_t nlinks, clinks;
  uint32_t dropped;             /* links beyond the limit */
} tg_OpenSpan;

/* NULL is none. */
void tg_openspan_free (tg_OpenSpan *o);

/* Another span has resumed it. Beyond OpenTelemetry's limit links are counted
   alone. False without memory. */
bool tg_openspan_link (tg_OpenSpan *o, const tg_SpanContext *to);

/* The traceback of 'count' open calls, the innermost last, in Lua's words; in
   place of what 'out' had. Memory that is refused is the buffer's error. */
void tg_openspan_stack (tg_OpenSpan *const *open, uint32_t count,
                        const tg_Functions *functions, tg_Buf *out);

#endif
