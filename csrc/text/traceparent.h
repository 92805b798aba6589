/*
** traceparent.h - where a span is, and how a request's header says it (W3C
** Trace Context, version 00).
*/
#ifndef TG_TRACEPARENT_H
#define TG_TRACEPARENT_H

#include "base/base.h"

/* The number of its trace, of 128 bits, and its own. An id of 0 is none. */
typedef struct tg_SpanContext {
  uint64_t high, low;
  uint64_t id;
} tg_SpanContext;

#define TG_TRACEPARENT_SIZE 55u

/* "00-<32 hex>-<16 hex>-<2 hex>", in lower case, ids not all zeros. False for
   anything else, and '*out' is what it was. */
bool tg_traceparent_read (const char *s, size_t size, tg_SpanContext *out);

#endif
