/*
** demand.h - what several traces want together, and what of it is to be read.
**
** The hook records the union of what the active traces ask for; an actor's
** client sees the union of what its traces ask for; a single trace is a demand
** of one. A thing is wanted if any member wants it; a limit is the widest; a
** name is redacted only if every member redacts it.
**
** Whoever reads a trace may look at a part of it only: a filter narrows the
** demand. It never adds anything: what is given is what would have been given
** without it, less what the filter hides. So a limit is the smaller of both,
** and what either redacts is redacted.
*/
#ifndef TG_DEMAND_H
#define TG_DEMAND_H

#include "base/base.h"
#include "stream/function.h"
#include "options/options.h"

/* A part of a trace. */
typedef struct tg_Filter {
  tg_Options options;   /* owns; without what only recording knows: buffer,
                           overflow, max_events, duration */
  tg_ThreadId thread;   /* 0 = every one */
  uint64_t from_ns;     /* frames entered before are hidden... */
  uint64_t to_ns;       /* ...and nothing is after it; UINT64_MAX = the end */
} tg_Filter;

typedef struct tg_Demand {
  tg_Options *list;     /* owns, with all inside */
  size_t count;
  tg_Filter *filter;    /* owns; NULL = none */
  /* merged, kept up by tg_demand_add and tg_demand_narrow */
  uint32_t types;
  tg_Limits limits;
  uint32_t max_depth;        /* TG_NOLIMIT if any member has none; the filter
                                has its own */
  uint64_t min_duration_ns;  /* the smallest, unless the filter's is larger */
  uint64_t max_events;       /* the largest; 0 if any member has no limit */
  bool redacts;              /* every member redacts something, or the filter */
} tg_Demand;

/* Everything, in full. */
void tg_filter_init (tg_Filter *f);
void tg_filter_free (tg_Filter *f);           /* zeroed memory is fine */

/* Zeroed memory is an empty demand: it wants nothing. */
bool tg_demand_add (tg_Demand *d, const tg_Options *o);   /* copies; false
                                                       without memory */
bool tg_demand_copy (tg_Demand *to, const tg_Demand *from);
void tg_demand_clear (tg_Demand *d);

/* Nothing of a call but what every packet has. */
void tg_demand_bare (tg_Demand *d);

/* Only this part of it, once all members are there. Copies; false without
   memory. */
bool tg_demand_narrow (tg_Demand *d, const tg_Filter *f);

/* Whether both want the same functions and hide the same names. Not all that do
   are found out: it compares member by member. */
bool tg_demand_alike (const tg_Demand *a, const tg_Demand *b);

/* Whether calls of this function are to be seen by some member... */
bool tg_demand_wants (const tg_Demand *d, const tg_Function *f);

/* ...and by whoever reads. */
bool tg_demand_passes (const tg_Demand *d, const tg_Function *f);

/* Whether the value of a parameter or key of this name is to be kept secret. */
bool tg_demand_secret (const tg_Demand *d, const char *name);

/* The same for a name that may hold zeros. */
bool tg_demand_hides (const tg_Demand *d, const char *name, size_t size);

#endif
