/*
** marks.c - the names of the console's methods, from the one list of them.
** Any thread; nothing is kept. A sort that a damaged file made up has the name
** of the plainest one.
*/
#include "stream/marks.h"

static const char *const names[TG_NMARKS] = {
#define X(id, name) name,
  TG_MARKS(X)
#undef X
};

const char *tg_mark_name (uint32_t sort) {
  if (sort == TG_MARK_COLLECTION)
    return "collection";
  if (sort == TG_MARK_UNTRACED)
    return "untraced";
  return names[sort < TG_NMARKS ? sort : TG_MARK_LOG];
}
