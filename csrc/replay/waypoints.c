/*
** waypoints.c - see waypoints.h.
**
** Called by a replay as it reads what nobody has read before, and when it goes
** somewhere else. A state that memory is refused for is left out: then the way
** from the one before is longer, and nothing else is wrong.
*/
#include "replay/waypoints.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

#define EVERY 32768u              /* packets, some two milliseconds */
#define MOST ((size_t)64 << 20)   /* bytes */
#define READER_BYTES 2048u        /* a reader without its stacks, about */
#define COPIES 8u                 /* packets that are read in the time that a
                                     frame is copied, and much more */

void tg_waypoints_init (tg_Waypoints *w, uint64_t every, size_t most) {
  memset(w, 0, sizeof *w);
  w->every = every > 0 ? every : EVERY;
  w->most = most > 0 ? most : MOST;
}

static void drop (tg_Waypoints *w, tg_Waypoint *one) {
  w->bytes -= one->bytes;
  tg_reader_free(one->reader);
  tg_callstacks_free(&one->stacks);
}

void tg_waypoints_free (tg_Waypoints *w) {
  for (uint32_t i = 0; i < w->count; i++)
    drop(w, &w->list[i]);
  tg_free(w->list);
  memset(w, 0, sizeof *w);
}

/* Every second one goes, never the first. */
static void thin (tg_Waypoints *w) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < w->count; i++) {
    if (i % 2 == 0)
      w->list[kept++] = w->list[i];
    else
      drop(w, &w->list[i]);
  }
  w->count = kept;
  w->every *= 2;
}

static bool fill (tg_Waypoint *one, uint64_t number, const tg_Reader *reader,
                  const tg_CallStacks *stacks) {
  *one = (tg_Waypoint){.number = number, .reader = tg_reader_copy(reader)};
  if (one->reader != NULL && tg_callstacks_copy(&one->stacks, stacks)) {
    one->bytes = READER_BYTES + 3 * tg_callstacks_bytes(stacks);
    return true;                  /* the reader has stacks as well, larger */
  }
  tg_reader_free(one->reader);
  tg_callstacks_free(&one->stacks);
  return false;
}

/* The first one stands for all that there would be before the second. */
bool tg_waypoints_add (tg_Waypoints *w, uint64_t number,
                       const tg_Reader *reader, const tg_CallStacks *stacks) {
  tg_check(w->count == 0 || w->list[w->count - 1].number < number);
  uint64_t apart = COPIES * (uint64_t)stacks->frames;
  w->due = number + (apart > w->every ? apart : w->every);
  if (!tg_grow(&w->list, &w->capacity, w->count + 1, sizeof *w->list)
      || !fill(&w->list[w->count], number, reader, stacks))
    return false;
  w->bytes += w->list[w->count++].bytes;
  while (w->bytes > w->most && w->count > 2)
    thin(w);
  return true;
}

const tg_Waypoint *tg_waypoints_before (const tg_Waypoints *w,
                                        uint64_t number) {
  uint32_t low = 0, high = w->count;
  tg_check(w->count > 0 && w->list[0].number <= number);
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (w->list[middle].number <= number)
      low = middle;
    else
      high = middle;
  }
  return &w->list[low];
}
