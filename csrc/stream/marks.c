/*
** marks.c - the names of the console's methods, from the one list of them.
** Any thread; nothing is kept. A sort that a damaged file made up has the name
** of the plainest one.
*/
#include "stream/marks.h"

#include <string.h>

static const char *const names[TG_NMARKS] = {
#define X(id, name) name,
  TG_MARKS(X)
#undef X
};

#define COLLECTION "collection"

const char *tg_mark_name (uint32_t sort) {
  if (sort == TG_MARK_COLLECTION)
    return COLLECTION;
  return names[sort < TG_NMARKS ? sort : TG_MARK_LOG];
}

uint32_t tg_mark_sort (const char *name) {
  uint32_t sort = 0;
  if (strcmp(name, COLLECTION) == 0)
    return TG_MARK_COLLECTION;
  while (sort < TG_NMARKS && strcmp(names[sort], name) != 0)
    sort++;
  return sort;
}
