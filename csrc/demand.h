/*
** demand.h - what several traces want together.
**
** The hook records the union of what the active traces ask for; an actor's
** client sees the union of what its traces ask for; a single trace is a demand
** of one. A thing is wanted if any member wants it; a limit is the widest; a
** name is redacted only if every member redacts it.
*/
#ifndef TG_DEMAND_H
#define TG_DEMAND_H

#include "base.h"
#include "function.h"
#include "options.h"

typedef struct tg_Demand {
  tg_Options *list;     /* owns, with all inside */
  size_t count;
  /* merged, kept up by tg_demand_add */
  uint32_t types;
  tg_Limits limits;
  uint32_t max_depth;        /* TG_NOLIMIT if any member has none */
  uint64_t min_duration_ns;  /* the smallest */
  uint64_t max_events;       /* the largest; 0 if any member has no limit */
  bool redacts;              /* every member redacts something */
} tg_Demand;

/* Zeroed memory is an empty demand: it wants nothing. */
bool tg_demand_add (tg_Demand *d, const tg_Options *o);   /* copies; false
                                                       without memory */
bool tg_demand_copy (tg_Demand *to, const tg_Demand *from);
void tg_demand_clear (tg_Demand *d);

/* Whether calls of this function are to be seen. */
bool tg_demand_wants (const tg_Demand *d, const tg_Function *f);

/* Whether the value of a parameter or key of this name is to be kept secret. */
bool tg_demand_secret (const tg_Demand *d, const char *name);

/* The same for a name that may hold zeros. */
bool tg_demand_hides (const tg_Demand *d, const char *name, size_t size);

#endif
