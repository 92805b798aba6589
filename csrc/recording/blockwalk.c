/*
** blockwalk.c - see blockwalk.h. Called by whoever opens a recording, never in
** the hook.
*/
#include "recording/blockwalk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "stream/supply.h"
#include "text/fileio.h"

#define TRIES 100           /* of a block that is being written over */

/*
** {==================================================================
** One block
** ===================================================================
*/

/* Kinds that are not known are passed over by their size, as in entries. */
bool tg_blockwalk_plausible (const tg_Block *head) {
  return head->kind != 0 && head->size >= sizeof *head
         && head->size <= UINT32_MAX
         && tg_block_used(head) <= head->size - sizeof *head
         && head->base <= INT64_MAX
         && (head->kind != TG_BLOCK_PACKED
             || tg_block_packs(head->unpacked, tg_block_used(head)));
}

static bool fail (tg_BlockWalk *w, tg_Status status) {
  if (w->status == TG_OK)
    w->status = status;
  return false;
}

/* How many of a block's bytes are there: the file may end before them. Whoever
   calls has read the head, so the file has that. */
static uint32_t bytes_there (const tg_BlockWalk *w, const tg_Block *head,
                             uint64_t place) {
  tg_assert(place + sizeof *head <= w->bytes);
  uint64_t left = w->bytes - place - sizeof *head;
  uint32_t used = tg_block_used(head);
  return used > left ? (uint32_t)left : used;
}

/* False: the file has no such bytes, which is a failure where nobody may have
   cut it just now. */
static bool read_bytes (tg_BlockWalk *w, void *to, size_t size,
                        uint64_t place) {
  bool read = tg_fileio_read(w->fd, to, size, place);
  if (!read && !(w->moving && errno == EIO))
    fail(w, TG_ERR_IO);
  return read;
}

/* The head there. Where somebody writes, it is read until it is the same twice:
   one reading may have a part of what was and a part of what is. */
static bool read_head (tg_BlockWalk *w, uint64_t place, tg_Block *head) {
  tg_Block again;
  int tries = 0;
  if (!read_bytes(w, head, sizeof *head, place))
    return false;
  while (w->moving && tries++ < TRIES) {
    if (!read_bytes(w, &again, sizeof again, place))
      return false;
    if (memcmp((void *)head, (void *)&again, sizeof again) == 0)
      break;
    memcpy((void *)head, (void *)&again, sizeof again);
  }
  return true;
}

/* A block that may be another one a moment later. Those that touch are one
   hole: what is packed may begin in one and end in the next. */
static bool add_hole (tg_BlockWalk *w, uint64_t place, uint64_t size) {
  if (w->nholes > 0 && w->holes[w->nholes - 1].end == place) {
    w->holes[w->nholes - 1].end += size;
    return true;
  }
  if (!tg_grow(&w->holes, &w->choles, w->nholes + 1, sizeof *w->holes))
    return fail(w, TG_ERR_MEMORY);
  w->holes[w->nholes++] = (tg_Hole){place, place + size};
  return true;
}

static bool add_found (tg_BlockWalk *w, const tg_FoundBlock *found) {
  if (!tg_grow(&w->list, &w->capacity, w->count + 1, sizeof *w->list))
    return fail(w, TG_ERR_MEMORY);
  w->list[w->count++] = *found;
  return true;
}

/* What is found at a place may be the second or third that was there. */
static uint32_t take_turn (tg_BlockWalk *w) {
  return w->moving ? w->turns++ % TG_BLOCKWALK_TURNS : 0;
}

/* The bytes of a block that may be gone a moment later, with its head as it was
   before; false: it is gone. */
static bool copy_block (tg_BlockWalk *w, const tg_Block *head,
                        tg_FoundBlock *f) {
  tg_Block now;
  f->copy = tg_malloc(sizeof *head + f->used);
  if (f->copy == NULL)
    return fail(w, TG_ERR_MEMORY);
  bool same = read_bytes(w, f->copy, sizeof *head + f->used, f->place)
              && read_head(w, f->place, &now)
              && now.kind == head->kind && now.base == head->base
              && tg_block_used(&now) >= f->used;
  f->turn = take_turn(w);
  memcpy((void *)f->copy, (const void *)head, sizeof *head);
  tg_block_commit(f->copy, f->copy->data + f->used);
  if (!same) {
    tg_free(f->copy);
    f->copy = NULL;
  }
  return same;
}

/* An empty block is one that is about to be used again, or that was never
   begun. False: what was read of it is not there any more. */
static bool note_events (tg_BlockWalk *w, const tg_Block *head,
                         uint64_t place, bool again) {
  tg_FoundBlock f = {
    .base = head->base, .packets = head->packets, .place = place,
    .used = bytes_there(w, head, place)
  };
  bool moves = w->moving && head->unpacked != TG_BLOCK_STAYS;
  if (moves && !again && !add_hole(w, place, head->size))
    return false;
  if (f.used == 0)
    return true;
  if (moves && !copy_block(w, head, &f))
    return false;
  if (add_found(w, &f))
    return true;
  tg_free(f.copy);
  return true;
}

/* Of one that is not all there nothing can be had. */
static void note_packed (tg_BlockWalk *w, const tg_Block *head,
                         uint64_t place) {
  uint32_t packed = tg_block_used(head);
  w->packed = true;
  if (packed > 0 && head->unpacked > 0
      && bytes_there(w, head, place) == packed)
    add_found(w, &(tg_FoundBlock){
      .base = head->base, .packets = head->packets, .place = place,
      .used = head->unpacked, .packed = packed, .turn = take_turn(w)
    });
}

/* }================================================================== */

/*
** {==================================================================
** The walk
** ===================================================================
*/

static uint64_t end_walk (tg_BlockWalk *w, const char *damage,
                          uint64_t place) {
  if (w->damage == NULL && damage != NULL) {
    w->damage = damage;
    w->damaged = place;
  }
  return 0;
}

/* Reads the block at 'place'; its size, or 0 if the walk ends here. 'again':
   the file has been gone through. */
static uint64_t read_block (tg_BlockWalk *w, uint64_t place, bool again) {
  tg_Block head;
  int tries = 0;
  do {
    if (!read_head(w, place, &head))
      return 0;
    if (head.magic != TG_BLOCK_MAGIC)   /* zeros: room that was reserved */
      return end_walk(w, head.magic != 0 ? "no block" : NULL, place);
    if (!tg_blockwalk_plausible(&head))
      return end_walk(w, "an impossible block", place);
  } while (head.kind == TG_BLOCK_EVENTS
           && !note_events(w, &head, place, again || tries > 0)
           && w->status == TG_OK && ++tries < TRIES);
  uint32_t used = bytes_there(w, &head, place);
  if (head.kind == TG_BLOCK_ENTRIES && place > w->entered) {
    w->entries(w->ud, &head, place, used, used < tg_block_used(&head));
    w->entered = place;
  }
  else if (head.kind == TG_BLOCK_PACKED)
    note_packed(w, &head, place);
  return head.size;
}

/* Sizes are larger than 0 ('plausible'), so the walk ends. */
static void walk (tg_BlockWalk *w, tg_Hole part, bool again) {
  uint64_t place = part.place, size;
  while (w->status == TG_OK && place < part.end && place <= TG_SUPPLY_PLACE
         && place + sizeof(tg_Block) <= w->bytes
         && (size = read_block(w, place, again)) > 0)
    place += size;
}

/* A block that has become longer since its size was read hides the next one's
   head: from the last that may have done so the walk goes on. Then all of those
   are gone through again. */
static void walk_again (tg_BlockWalk *w) {
  for (int tries = 0; w->damage != NULL && w->nholes > 0 && tries < TRIES;
       tries++) {
    w->damage = NULL;
    walk(w, (tg_Hole){w->holes[w->nholes - 1].place, UINT64_MAX}, false);
  }
  const char *damage = w->damage;
  for (uint32_t i = 0; i < w->nholes && w->status == TG_OK; i++)
    walk(w, w->holes[i], true);
  w->damage = damage;
}

/* Of the same place in the stream what was packed comes first: it stays. */
static int by_base (const void *a, const void *b) {
  const tg_FoundBlock *x = a, *y = b;
  if (x->base != y->base)
    return x->base < y->base ? -1 : 1;
  if ((x->packed > 0) != (y->packed > 0))
    return x->packed > 0 ? -1 : 1;
  return (x->used < y->used) - (x->used > y->used);
}

static void drop_doubles (tg_BlockWalk *w) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < w->count; i++) {
    if (n > 0 && w->list[n - 1].base == w->list[i].base)
      tg_free(w->list[i].copy);
    else
      w->list[n++] = w->list[i];
  }
  w->count = n;
}

void tg_blockwalk (tg_BlockWalk *w, uint64_t place) {
  walk(w, (tg_Hole){place, UINT64_MAX}, false);
  if (w->moving)
    walk_again(w);
  if (w->count > 1)
    qsort(w->list, w->count, sizeof *w->list, by_base);
  if (w->packed || w->moving)
    drop_doubles(w);
}

void tg_blockwalk_free (tg_BlockWalk *w) {
  for (uint32_t i = 0; i < w->count; i++)
    tg_free(w->list[i].copy);
  tg_free(w->list);
  tg_free(w->holes);
}

/* }================================================================== */
