/*
** pattern.h - Lua's string patterns (manual, 6.4.1) for plain C.
**
** Filters and redaction are decided where Lua cannot be called: in the hook
** and by readers on other threads. Patterns are checked with string.find when
** an option is read, so a malformed one never gets here; should one arrive
** all the same, it does not match.
*/
#ifndef TG_PATTERN_H
#define TG_PATTERN_H

#include "base/base.h"

/* A list of patterns, any of which may match. */
typedef struct tg_Patterns {
  char **list;          /* owns; each owned too, zero-terminated */
  size_t count;
  bool bounded;         /* they are a stranger's, from a file or a client: a
                           short pattern can take for ever, so steps are
                           counted. One thread at a time, then. */
  uint64_t each;        /* steps that every search may take... */
  uint64_t steps;       /* ...and what all of them together may take beyond
                           that; at 0 the list is spent */
} tg_Patterns;

#define TG_PATTERNS_STEPS (UINT64_C(1) << 26)   /* half a second */
#define TG_PATTERNS_EACH (UINT64_C(1) << 15)    /* a quarter of a millisecond:
                                                   more than a sane one takes */

/* Whether 'pattern' is found anywhere in 'text', as string.find would. */
bool tg_pattern_find (const char *text, size_t size, const char *pattern);

/* From now on its steps are counted: 'each' of a search are free. */
void tg_patterns_bound (tg_Patterns *list, uint64_t each);

/* Whether the list has used up its steps: then it matches nothing any more. */
bool tg_patterns_spent (const tg_Patterns *list);

/* Whether any of 'list' is found in 'text'; false for an empty list. */
bool tg_patterns_match (const tg_Patterns *list, const char *text);

/* The same for text that may hold zeros. */
bool tg_patterns_find (const tg_Patterns *list, const char *text, size_t size);

/* Appends a copy of 'pattern'; false when memory is refused. */
bool tg_patterns_add (tg_Patterns *list, const char *pattern);

/* 'to' becomes a copy of 'from'; false (and 'to' empty) without memory. */
bool tg_patterns_copy (tg_Patterns *to, const tg_Patterns *from);

/* Whether both have the same patterns, in the same order. */
bool tg_patterns_equal (const tg_Patterns *a, const tg_Patterns *b);

void tg_patterns_free (tg_Patterns *list);

#endif
