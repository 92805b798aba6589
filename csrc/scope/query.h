/*
** query.h - questions to a session: which events, and added up how.
**
** An event is selected if it passes all that the question says, in this order:
** it is inside the event 'root' (not that one itself), or on the timeline; at
** most 'max_depth' below the root; of one of the types; and its interval and
** the question's have a moment in common. Then it counts as a whole.
**
** What is selected is given one by one, in the order in which it began; or
** reduced: added up by type, by kind, or all into one, the one that began first
** first.
**
** Plain C, one thread. Memory: the kinds selected, if it is reduced.
*/
#ifndef TG_QUERY_H
#define TG_QUERY_H

#include "scope/index.h"

typedef struct tg_ScopeQuery {
  uint32_t timeline;    /* from 0; there is one */
  tg_ScopeMode mode;
  uint64_t root;        /* an event's id; 0 = the timeline itself */
  uint32_t max_depth;   /* TG_NOLIMIT: any */
  uint64_t types;       /* bits by number; 0 = every one */
  uint64_t from_ns, to_ns;    /* since profiling began */
} tg_ScopeQuery;

/* A question being answered. */
typedef struct tg_ScopeCursor {
  tg_Scope *scope;      /* borrows */
  tg_ScopeQuery query;
  tg_Status status;
  uint64_t above, last; /* ids of what is selected: past 'above', to 'last' */
  uint32_t depth;       /* of the deepest */
  uint32_t segment, end_segment;
  bool loaded;          /* the segment has been asked for... */
  bool whole;           /* ...all of it, not the long ones only */
  size_t next;          /* the event of it to look at */
  tg_ScopeEvent *groups;      /* owns; of a reduction */
  uint32_t ngroups, given;
} tg_ScopeCursor;

/* False: there is no such event on the timeline, or 'status' is not TG_OK. To
   be closed in any case. */
bool tg_scopequery_open (tg_ScopeCursor *c, tg_Scope *s,
                         const tg_ScopeQuery *q);

/* The next event of the answer; it stays until the next call of anything with
   this session. NULL: there is none, or 'status' says why. */
const tg_ScopeEvent *tg_scopequery_next (tg_ScopeCursor *c);

void tg_scopequery_close (tg_ScopeCursor *c);     /* zeroed memory is fine */

#endif
