/*
** pattern.h - Lua's string patterns (manual, 6.4.1) for plain C.
**
** Filters and redaction are decided where Lua cannot be called: in the hook
** and by readers on other threads. Patterns are checked with string.find when
** an option is read, so a malformed one never gets here; should one arrive
** all the same, what it finds is not known.
*/
#ifndef TG_PATTERN_H
#define TG_PATTERN_H

#include "base/base.h"

/* What becomes of a search. */
typedef enum tg_Found {
  TG_FOUND_NOT,
  TG_FOUND,
  TG_FOUND_UNKNOWN      /* it took too long, or a pattern is malformed */
} tg_Found;

/* Whether 'pattern' is found anywhere in 'text', as string.find would. */
bool tg_pattern_find (const char *text, size_t size, const char *pattern);

/* The same in at most '*steps' steps, which becomes the number left. */
tg_Found tg_pattern_search (const char *text, size_t size, const char *pattern,
                            uint64_t *steps);

#endif
