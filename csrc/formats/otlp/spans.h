/*
** spans.h - from packets to spans of OpenTelemetry: each call is one, from
** its entry to its end.
**
** What a coroutine waits between a yield and the resume is part of the calls
** that are open in it. A span's parent is the call around it; that of a
** coroutine's first call is the one that resumed it first, and each later
** resume is a link. A span is given when it ends, so callees come before their
** callers.
**
** Whose trace it is: that of the call around it, so the program's own is one
** trace, unless it hangs below a span of somebody else's ('parent'). A marker
** "traceparent" says so of the calls that begin after it in the call that is
** innermost there, and of theirs, until it says something else or that call
** ends.
**
** Calls of functions that 'requests' find are requests: the outermost of them
** begins a trace of its own, and is of kind SERVER; a header among its
** arguments says below whose span (values.h). One that ends in a tail call
** goes on until what took its place has ended, which is a call of it.
**
** Names of attributes are those of the semantic conventions (code.*, thread.*,
** exception.*) where there are any, "lua.*" elsewhere. Ids are made of the
** stream's start and process, so that two exports of a recording are the same.
**
** Plain C, one thread. Memory: the calls that are open or wait; refused, it
** shows in 'status'.
*/
#ifndef TG_OTLPSPANS_H
#define TG_OTLPSPANS_H

#include "base/intmap.h"
#include "formats/otlp/batch.h"
#include "formats/otlp/values.h"
#include "options/selection.h"
#include "packet/lualiteral.h"
#include "reader/framer.h"

typedef struct tg_OtlpSpans {
  tg_OtlpBatch *batch;        /* borrows, as the following */
  const tg_Functions *functions;
  tg_LuaLiteral *literal;
  uint64_t wall_ns;           /* time 0 of packets since 1970 */
  uint64_t min_ns;            /* calls that ran less are left out */
  const tg_Patterns *requests;  /* NULL or empty: nothing is a request */
  bool silent;                /* arguments and results are not told */
  uint64_t given;             /* spans so far */
  tg_Status status;           /* sticky */
  /* private */
  tg_SpanContext root;        /* around all: its id may be none */
  uint64_t seed, made;        /* of ids, and how many */
  struct tg_OpenSpan **open;  /* owns; innermost last */
  uint32_t nopen, copen;
  struct tg_OpenSpan **waiting; /* owns; of suspended coroutines, any order */
  uint32_t nwaiting, cwaiting;
  tg_IntMap places;           /* owns; numbers in 'waiting' by coroutine and
                                 level in it */
  uint64_t left;              /* calls that have begun to wait so far */
  struct tg_OpenSpan *handed; /* owns; a request that has just made a tail call;
                                 NULL: there is none */
  tg_IntMap asked;            /* owns; functions: 1 = are requests, 0 = not */
  tg_OtlpError error;         /* owns; the latest that was thrown... */
  tg_Buf stack;               /* owns; ...where... */
  bool thrown;                /* ...and it unwinds frames yet */
  tg_Buf text;                /* owns; values of a packet */
  tg_Buf name;                /* owns */
} tg_OtlpSpans;

/* The rest was zeroed, or is set by the caller. 'parent' may be NULL. */
void tg_otlpspans_begin (tg_OtlpSpans *s, uint32_t pid,
                         const tg_SpanContext *parent);

/* Adds the next packet of a reader that gives all frames, and perhaps markers;
   other moments are passed over. 'unfinished': the call ends only because the
   trace does. False without memory. */
bool tg_otlpspans_add (tg_OtlpSpans *s, const tg_Packet *p, bool unfinished);

/* A suspended coroutine will not come back: gives its call at that level (0 =
   outermost) as a suspended call; false: it has no call there. */
bool tg_otlpspans_drop (tg_OtlpSpans *s, tg_ThreadId thread, uint32_t level);

/* After the last packet: gives one more of the calls that have not ended;
   false, there is none. */
bool tg_otlpspans_close (tg_OtlpSpans *s, uint64_t now_ns);

void tg_otlpspans_free (tg_OtlpSpans *s);     /* zeroed memory is fine */

/* Adds the resource attributes that all traces have; attributes that are there
   stay. */
void tg_otlpspans_about (tg_OtlpAttributes *resource, uint32_t pid,
                         const char *lua);

#endif
