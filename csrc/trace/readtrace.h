/*
** readtrace.h - what a trace offers to whoever reads it: its packets, its
** log; what reports and exports begin with.
**
** All work on a trace that runs (as far as it has come), on one that has
** stopped, and narrowed by a filter, a table of options (readoptions.h).
*/
#ifndef TG_READTRACE_H
#define TG_READTRACE_H

#include "packet/grips.h"
#include "reader/minduration.h"
#include "state/session.h"

/* A trace being read: a userdata that pins the Trace. */
typedef struct tg_ReadTrace {
  tg_Filter filter;     /* owns */
  tg_Selection selection; /* owns */
  tg_Reader *reader;    /* owns */
  tg_MinDuration minduration; /* owns; on the reader */
  tg_Scratch scratch;   /* owns */
  tg_Trace *trace;      /* pins, by its user value */
  tg_Pos stop;
} tg_ReadTrace;

/* The trace that is argument 1, if its events are still there; raises. */
tg_Trace *tg_readtrace_check (lua_State *L);                   /* [-0, +0, v] */

/* From now on times are those that the filter asks for; without a word of it
   these. Before anything is read. */
void tg_readtrace_times (tg_ReadTrace *r, tg_Times usual);

/*
** Pushes a reading of the trace that is argument 1, narrowed by the filter at
** 'filter', of these types at most. Keys of it that are 'extra' (may be NULL)
** the caller reads. Raises.
*/
tg_ReadTrace *tg_readtrace_new (lua_State *L, int filter,
                                const char *const *extra,
                                uint32_t types); /* [-0, +1, v] */

/*
** The errno that says why there are no more packets, 0 at the end of them. That
** is also where a recording's file is damaged: it is shorter than it was, and
** the Trace has the field 'damage'.
*/
int tg_readtrace_error (const tg_ReadTrace *r);

/* The same of any reader of 't', by its status and tg_reader_damage. */
int tg_readtrace_ended (tg_Trace *t, tg_Status status, uint64_t damage);

/* When the trace ended, or now, as packets would tell it with all that tracing
   has cost. */
uint64_t tg_readtrace_ends (const tg_Trace *t);

/* Where it begins and ends in time; after the last packet. */
void tg_readtrace_span (const tg_ReadTrace *r, const tg_Trace *t,
                        uint64_t *start_ns, uint64_t *end_ns);

/*
** Tells a Lua function, now and then, which part of a whole has been read, from
** 0 to 1. What it raises ends the telling and stays on top of the stack, for
** the caller to raise when nothing is in the way of that.
*/
typedef struct tg_Pace {
  lua_State *L;
  const tg_ReadTrace *reading;  /* borrows */
  int function;                 /* where it is on the stack */
  tg_Pos from;                  /* where this reading begins */
  double before, whole;         /* bytes read before it, and in all */
  bool raised;
} tg_Pace;

/* From now on the function at 'function' is told of all that is read by 'r',
   none if there is nil. Raises if it is something else. */
void tg_pace_begin (tg_Pace *p, lua_State *L, tg_ReadTrace *r,
                    int function);                             /* [-0, +0, v] */

/* Methods of a Trace: packets(filter), export(format, path, filter),
   log(style, filter). */
int trace_packets (lua_State *L);
int trace_log (lua_State *L);

#endif
