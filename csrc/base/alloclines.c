/*
** alloclines.c - see alloclines.h. Called in the place of Lua's allocator.
*/
#include "base/alloclines.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

void tg_alloclines_free (tg_AllocLines *l) {
  tg_free(l->list);
  memset(l, 0, sizeof *l);
}

tg_AllocLine *tg_alloclines_find (tg_AllocLines *l, const void *pc,
                                  uint32_t function) {
  uint32_t at = l->last;
  for (uint32_t n = l->count; n > 0; n--) {
    tg_AllocLine *line = &l->list[at];
    if (line->pc == pc && line->function == function) {
      l->last = at;
      return line;
    }
    at = at + 1 < l->count ? at + 1 : 0;
  }
  return NULL;
}

/* That of the first instruction of the same line; of a new one its own. */
static uint32_t place_of (const tg_AllocLines *l, const tg_AllocLine *line) {
  for (uint32_t i = 0; i < l->count; i++) {
    if (l->list[i].line == line->line
        && l->list[i].function == line->function
        && l->list[i].stranger == line->stranger)
      return l->list[i].place;
  }
  return l->count + 1;
}

tg_AllocLine *tg_alloclines_add (tg_AllocLines *l, tg_AllocLine line) {
  int error = errno;
  bool room = l->count < TG_ALLOCLINES_MOST
              && tg_grow(&l->list, &l->capacity, l->count + 1,
                         sizeof *l->list);
  errno = error;
  if (!room)
    return NULL;
  line.place = place_of(l, &line);
  l->last = l->count++;
  l->list[l->last] = line;
  return &l->list[l->last];
}
