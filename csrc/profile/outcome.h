/*
** outcome.h - what a profile comes to (profile.h) when all packets have been
** added: times of rows where ticks have measured them, how sure these are, and
** in which order they are shown.
**
** Plain C, one thread. Cannot fail.
*/
#ifndef TG_OUTCOME_H
#define TG_OUTCOME_H

#include "profile/profile.h"

/* Of ticks alone: what they do not stand for, nothing ran in. */
void tg_outcome_ticks (tg_Profile *p);

/* The tree's times are by ticks: rows have those of their nodes. 'idle' is the
   row of what nothing ran in. */
void tg_outcome_rows (tg_Profile *p, uint32_t idle);

/* What was taken out by estimates makes times unsure. */
void tg_outcome_doubt (tg_Profile *p);

/*
** The numbers of all rows, most self time first; of all nodes but the root,
** most total time first. 'list' has room for them.
*/
void tg_outcome_sort_rows (const tg_Profile *p, const tg_Row **list);
void tg_outcome_sort_nodes (const tg_Profile *p, const tg_Node **list);

#endif
