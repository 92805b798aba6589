/*
** spots.c - see spots.h. Called by profiles and exports, on the thread that
** reads; without memory its caller gives up.
*/
#include "profile/spots.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

uint32_t tg_spots_number (tg_Spots *s, uint32_t of, uint32_t line) {
  uint64_t key = (uint64_t)of << 32 | line;
  uint32_t n = tg_intmap_find(&s->numbers, key);
  if (n != TG_INTMAP_NONE)
    return n;
  if (!tg_grow(&s->list, &s->capacity, s->count + 1, sizeof *s->list)
      || !tg_intmap_set(&s->numbers, key, s->count))
    return TG_INTMAP_NONE;
  s->list[s->count] = (tg_Spot){of, line};
  return s->count++;
}

void tg_spots_free (tg_Spots *s) {
  tg_free(s->list);
  tg_intmap_free(&s->numbers);
  memset(s, 0, sizeof *s);
}
