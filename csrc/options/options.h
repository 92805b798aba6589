/*
** options.h - what one trace asks for.
**
** An options record is filled by the skin (readoptions.c) and never changes
** afterwards. What is recorded is the union of the active traces' options (a
** tg_Selection); what a trace shows is the stream narrowed by its own.
*/
#ifndef TG_OPTIONS_H
#define TG_OPTIONS_H

#include "base/base.h"
#include "options/tracetypes.h"
#include "text/patterns.h"
#include "text/traceparent.h"

/* How much of a value is looked at. TG_NOLIMIT = "all". */
typedef struct tg_Limits {
  uint32_t depth;       /* levels of tables whose properties are listed */
  uint32_t properties;  /* per table */
  uint32_t string;      /* bytes per string */
  uint32_t objects;     /* pool entries per packet */
} tg_Limits;

typedef enum tg_Overflow {
  TG_OVERFLOW_STOP,     /* keep the beginning */
  TG_OVERFLOW_RING,     /* keep the end */
  TG_OVERFLOW_WAIT     /* wait for the reader on another thread (follower.h); as
                           STOP if there is none */
} tg_Overflow;

typedef struct tg_Options {
  uint32_t types;       /* TG_TYPE_* bits */
  tg_Limits limits;
  tg_Patterns include;  /* owns; empty = everything */
  tg_Patterns exclude;  /* owns */
  tg_Patterns redact;   /* owns; on parameter and key names */
  bool with_calls;      /* else nothing but samples */
  uint32_t sample;      /* samples per second of processor time; 0: none */
  bool wall;            /* of the clock's seconds */
  uint32_t windows;     /* percent of the time in which calls are not seen */
  bool c;               /* C functions too */
  uint32_t max_depth;   /* frames at this depth and below are hidden */
  uint64_t min_duration_ns;  /* calls shorter than this are left out on export
                                and in the log */
  uint64_t buffer;      /* bytes of events kept */
  uint64_t memory_every;  /* about one block in so many bytes is counted, for
                             all that are like it; 0: all are */
  tg_Overflow overflow;
  uint64_t max_events;  /* packets, then the trace stops; 0 = no limit */
  uint64_t duration_ns; /* then the trace stops; 0 = no limit */
  uint64_t max_size;    /* bytes of the file that it is recorded on: it stops,
                           or overwrites as a ring; 0 = no limit */
  bool compressed;      /* its file, where that can be */
  tg_Patterns on;       /* owns; what is outside of calls of these functions is
                           hidden; empty = nothing is */
  uint64_t calls;       /* of these so many, then the trace stops; 0 = no
                           limit */
  tg_SpanContext parent;  /* another program's span, the parent of this trace's
                             outermost spans; may have no span id */
} tg_Options;

#define TG_SAMPLE_DEFAULT 1000u
#define TG_SAMPLE_MAX     10000u
#define TG_WINDOWS_MAX    50u
#define TG_SAMPLE_WINDOWS 10000u    /* where windows are asked for */

#define TG_EVERY_MAX      (UINT64_C(1) << 30)     /* of memory_every */

#define TG_SIZE_MIN       (UINT64_C(1) << 20)     /* of max_size */

#define TG_BUFFER_DEFAULT (UINT64_C(256) << 20)
#define TG_BUFFER_MIN     (UINT64_C(4) << 10)
#define TG_BUFFER_REMOTE  (UINT64_C(4) << 20)   /* a client reads it */
#define TG_BUFFER_BYTES   (UINT64_C(32) << 20)  /* the same, as bytes */

/* The defaults that the manual promises. */
void tg_options_init (tg_Options *o);

/* 'to' becomes a copy of 'from'; false (and 'to' freed) without memory. */
bool tg_options_copy (tg_Options *to, const tg_Options *from);

/*
** 'o' goes no further than 'host' allows: what that redacts is redacted, and
** its buffer, max_events and duration_ns are not exceeded. False without
** memory.
*/
bool tg_options_confine (tg_Options *o, const tg_Options *host);

/* Bounds the cost of the patterns of 'o', each list by itself, by whose they
   are (patterns.h). */
void tg_options_bound (tg_Options *o, tg_PatternBound bound);

void tg_options_free (tg_Options *o);

#endif
