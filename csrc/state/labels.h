/*
** labels.h - the console's timers and counters, by their labels, and how many
** groups are open.
**
** One of a session, while it traces or somebody hears the console; on the
** traced thread. Outside of Lua's memory: what a program marks does not move
** its collections. A label is forgotten when it has neither a timer nor a
** counter, so labels that are made anew for each request take no room.
*/
#ifndef TG_LABELS_H
#define TG_LABELS_H

#include "base/base.h"

typedef struct tg_Label {
  struct tg_Label *next;  /* in its bucket */
  uint64_t hash;
  uint64_t since;         /* ticks; of its timer, if 'timed' */
  uint64_t count;         /* 0: no counter */
  bool timed;
  size_t size;
  char text[];
} tg_Label;

/* Zeroed memory is empty. */
typedef struct tg_Labels {
  tg_Label **buckets;     /* owns, with all labels */
  size_t nbuckets, count; /* a power of two, or 0 */
  uint32_t groups;
} tg_Labels;

/* The label, NULL if it has neither a timer nor a counter. */
tg_Label *tg_labels_find (const tg_Labels *ls, const char *text, size_t size);

/* The same, but it is made; NULL without memory. Give it a timer or a counter,
   or forget it. */
tg_Label *tg_labels_get (tg_Labels *ls, const char *text, size_t size);

/* Forgets it, if it has neither. */
void tg_labels_prune (tg_Labels *ls, tg_Label *label);

/* Empty again. */
void tg_labels_clear (tg_Labels *ls);

#endif
