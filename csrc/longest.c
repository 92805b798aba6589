/*
** longest.c - a binary heap whose root is the call to go next.
*/
#include "longest.h"

#include <string.h>

#include "alloc.h"

#define FIRST_CALLS 1024u

void tg_longest_init (tg_Longest *l, uint32_t most) {
  memset(l, 0, sizeof *l);
  l->most = most;
}

void tg_longest_free (tg_Longest *l) {
  tg_free(l->heap);
  memset(l, 0, sizeof *l);
}

/* Whether 'a' goes before 'b'. */
static bool goes (tg_LongCall a, tg_LongCall b) {
  return a.ns < b.ns || (a.ns == b.ns && a.serial > b.serial);
}

static void sink_down (tg_Longest *l, tg_LongCall call) {
  uint32_t at = 0;
  for (;;) {
    uint32_t child = 2 * at + 1;
    if (child >= l->count)
      break;
    if (child + 1 < l->count && goes(l->heap[child + 1], l->heap[child]))
      child++;
    if (!goes(l->heap[child], call))
      break;
    l->heap[at] = l->heap[child];
    at = child;
  }
  l->heap[at] = call;
}

static void rise (tg_Longest *l, uint32_t at) {
  tg_LongCall call = l->heap[at];
  while (at > 0 && goes(call, l->heap[(at - 1) / 2])) {
    l->heap[at] = l->heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  l->heap[at] = call;
}

static bool room (tg_Longest *l) {
  if (l->count < l->capacity)
    return true;
  uint32_t more = l->capacity > 0 ? l->capacity * 2 : FIRST_CALLS;
  if (more > l->most)
    more = l->most;
  tg_LongCall *heap = tg_realloc(l->heap, more * sizeof *heap);
  if (heap == NULL)
    return false;
  l->heap = heap;
  l->capacity = more;
  return true;
}

bool tg_longest_admit (tg_Longest *l, uint64_t ns, uint64_t *serial) {
  tg_LongCall call = {ns, l->seen++};
  *serial = call.serial;
  if (l->count < l->most) {
    if (!room(l))
      return false;
    l->heap[l->count] = call;
    rise(l, l->count++);
    return true;
  }
  if (l->count == 0 || !goes(l->heap[0], call))
    return false;
  sink_down(l, call);
  return true;
}

bool tg_longest_kept (const tg_Longest *l, uint64_t ns, uint64_t serial) {
  return l->count > 0 && !goes((tg_LongCall){ns, serial}, l->heap[0]);
}
