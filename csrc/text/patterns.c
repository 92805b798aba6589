/*
** patterns.c - see patterns.h. Copies fail without memory, and then nothing is
** left of them; nothing else does.
*/
#include "text/patterns.h"

#include <string.h>

#include "base/alloc.h"

/* For all of the time that the list is in use. */
void tg_patterns_bound (tg_Patterns *list, tg_PatternBound bound) {
  list->bound = bound;
  list->steps = bound == TG_BOUND_OWN ? TG_PATTERNS_OWN_STEPS
                                      : TG_PATTERNS_STEPS;
}

/* What a search of one pattern may take. A stranger's may take all that is left
   for the list. The user's has a share of its own, of which many can be used up
   in vain: others are still decided. */
static uint64_t share (const tg_Patterns *list) {
  switch (list->bound) {
    case TG_BOUND_OWN: return TG_PATTERNS_OWN_EACH;
    case TG_BOUND_STRANGER: return TG_PATTERNS_EACH + list->steps;
    case TG_BOUND_NOT: default: return UINT64_MAX;
  }
}

/* What of the steps that a search took is not free. */
static uint64_t price (const tg_Patterns *list, bool vain, uint64_t taken) {
  if (vain)
    return taken;
  return list->bound == TG_BOUND_STRANGER && taken > TG_PATTERNS_EACH
         ? taken - TG_PATTERNS_EACH : 0;
}

/* The count of a list that is const to its readers is written to: of a bounded
   one there is one reader at a time (patterns.h). */
static void pay (const tg_Patterns *list, uint64_t steps) {
  uint64_t *left = &((tg_Patterns *)(uintptr_t)list)->steps;
  *left -= steps < *left ? steps : *left;
}

/* A pattern of which it is not known does not keep the others from being
   found. */
tg_Found tg_patterns_find (const tg_Patterns *list, const char *text,
                           size_t size) {
  bool bound = list->bound != TG_BOUND_NOT, vain = false;
  uint64_t left = share(list), taken = 0;
  tg_Found found = TG_FOUND_NOT;
  if (bound && list->steps == 0 && list->count > 0)
    return TG_FOUND_UNKNOWN;
  for (size_t i = 0; i < list->count && found != TG_FOUND; i++) {
    if (list->bound == TG_BOUND_OWN)
      left = share(list);
    uint64_t before = left;
    found = tg_pattern_search(text, size, list->list[i], &left);
    vain = vain || found == TG_FOUND_UNKNOWN;
    taken += before - left;
  }
  if (bound)
    pay(list, price(list, vain, taken));
  return (vain && found != TG_FOUND) ? TG_FOUND_UNKNOWN : found;
}

/* One by one: a list has a few, and is made once. */
bool tg_patterns_add (tg_Patterns *list, const char *pattern) {
  char **bigger = tg_realloc(list->list, (list->count + 1) * sizeof *bigger);
  if (bigger == NULL)
    return false;
  list->list = bigger;
  char *copy = tg_strcopy(pattern);
  if (copy == NULL)
    return false;
  list->list[list->count++] = copy;
  return true;
}

/* False without memory, and then nothing is in it. */
bool tg_patterns_copy (tg_Patterns *to, const tg_Patterns *from) {
  memset(to, 0, sizeof *to);
  to->bound = from->bound;
  to->steps = from->steps;
  for (size_t i = 0; i < from->count; i++) {
    if (!tg_patterns_add(to, from->list[i])) {
      tg_patterns_free(to);
      return false;
    }
  }
  return true;
}

/* In the same order: who writes a list anew mostly copies it. */
bool tg_patterns_equal (const tg_Patterns *a, const tg_Patterns *b) {
  size_t i = 0;
  if (a->count != b->count)
    return false;
  while (i < a->count && strcmp(a->list[i], b->list[i]) == 0)
    i++;
  return i == a->count;
}

void tg_patterns_free (tg_Patterns *list) {
  for (size_t i = 0; i < list->count; i++)
    tg_free(list->list[i]);
  tg_free(list->list);
  memset(list, 0, sizeof *list);
}
