/*
** patterns.h - lists of Lua's patterns, and how long they may take.
*/
#ifndef TG_PATTERNS_H
#define TG_PATTERNS_H

#include "text/pattern.h"

/* Whose patterns a list has. A short pattern can take for ever, so the steps of
   a search are counted, but for TG_BOUND_NOT. */
typedef enum tg_PatternBound {
  TG_BOUND_NOT,         /* not counted */
  TG_BOUND_OWN,         /* the user's: more than any sane pattern takes */
  TG_BOUND_STRANGER     /* of a file or a client */
} tg_PatternBound;

/* A list of patterns, any of which may match. */
typedef struct tg_Patterns {
  char **list;          /* owns; each owned too, zero-terminated */
  size_t count;
  tg_PatternBound bound; /* unless not: one thread at a time */
  uint64_t steps;       /* left for all searches, beyond what each one has;
                           at 0 the list is spent: nothing is decided */
} tg_Patterns;

/* Steps of one search, and what all of a list may take together: of a stranger
   what goes beyond that, of the user what was in vain. A step takes 8 ns. */
#define TG_PATTERNS_EACH (UINT64_C(1) << 15)
#define TG_PATTERNS_STEPS (UINT64_C(1) << 26)
#define TG_PATTERNS_OWN_EACH (UINT64_C(1) << 23)
#define TG_PATTERNS_OWN_STEPS (UINT64_C(1) << 27)

/* From now on the steps of the list are counted. */
void tg_patterns_bound (tg_Patterns *list, tg_PatternBound bound);

/* Whether any of 'list' is found in 'text', which may hold zeros; not, for an
   empty list. */
tg_Found tg_patterns_find (const tg_Patterns *list, const char *text,
                           size_t size);

/* Appends a copy of 'pattern'; false when memory is refused. */
bool tg_patterns_add (tg_Patterns *list, const char *pattern);

/* 'to' becomes a copy of 'from'; false (and 'to' empty) without memory. */
bool tg_patterns_copy (tg_Patterns *to, const tg_Patterns *from);

/* Whether both have the same patterns, in the same order. */
bool tg_patterns_equal (const tg_Patterns *a, const tg_Patterns *b);

void tg_patterns_free (tg_Patterns *list);

#endif
