/*
** store.c - chunks of a stream: appended by one writer, freed by whoever lets
** go of them last.
**
** 'last' belongs to the writer and is written by no one else; everything else
** in the list is under the mutex. The last chunk is never freed while the
** store lives: the writer is in it.
**
** Called by the writer on the traced thread when a chunk is full, and by
** cursors on any. A chunk that cannot be had is NULL, and the stream is as it
** was; a block of a recording that cannot be loaded is told by 'status'.
*/
#include "stream/store.h"

#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "stream/region.h"

#define PAGE ((size_t)4096)

/* Whose block it is gets it back; a block without a supply is of pages. */
static void release_block (tg_Chunk *c) {
  if (c->block != NULL && c->supply != NULL)
    c->supply->release(c->supply, c->block, c->size);
  else if (c->block != NULL)
    tg_pages_free(c->block, c->size);
  c->block = NULL;
}

/* The supply last: its file may go with it, which the block is a part of. */
static void free_chunk (tg_Chunk *c) {
  release_block(c);
  tg_supply_unpin(c->supply);
  tg_free(c);
}

/* ---- a store's life ---- */

/* A store without chunks: the first one comes with the first event. */
void tg_store_init (tg_Store *s) {
  pthread_mutex_init(&s->mutex, NULL);
  tg_clock_condition(&s->moved);
  s->first = s->last = s->spare = NULL;
  s->supply = s->region = NULL;
  s->bytes = 0;
  s->kept = false;
  s->status = TG_OK;
}

/* The next chunk, by whoever holds the mutex. */
static tg_Chunk *next_of (tg_Chunk *c) {
  return atomic_load_explicit(&c->next, memory_order_relaxed);
}

/* Nobody has it any more, so there is no mutex to take. */
void tg_store_free (tg_Store *s) {
  while (s->first != NULL) {
    tg_Chunk *c = s->first;
    tg_assert(c->pins == 0);
    s->first = next_of(c);
    free_chunk(c);
  }
  if (s->spare != NULL)
    free_chunk(s->spare);
  tg_supply_unpin(s->supply);
  tg_supply_unpin(s->region);
  pthread_cond_destroy(&s->moved);
  pthread_mutex_destroy(&s->mutex);
}

/*
** {==================================================================
** Chunks come and go (mutex held)
** ===================================================================
*/

/* One chunk is kept for the next: with a ring, or a reader that keeps up, as
   many go as come, and fresh pages cost a fault each. */
static void release_chunk (tg_Store *s, tg_Chunk *c) {
  tg_assert(c->pins == 0 && s->bytes >= c->size);
  s->bytes -= c->size;
  bool memory = c->supply == NULL || c->supply->memory;
  if (s->spare == NULL && memory && c->size == TG_CHUNK_SIZE)
    s->spare = c;
  else
    free_chunk(c);
}

/* Takes 'c' out of the list, behind 'before' (NULL: it is the first). A reader
   in 'before' finds what comes now, and how much is missing. */
static void drop_chunk (tg_Store *s, tg_Chunk *before, tg_Chunk *c) {
  tg_Chunk *next = next_of(c);
  tg_assert(c != s->last && c->packets <= next->packets);
  if (before == NULL)
    s->first = next;
  else {
    before->missed += next->packets - c->packets;
    atomic_store_explicit(&before->next, next, memory_order_release);
  }
  release_chunk(s, c);
}

/* Frees what comes before the first pinned chunk: pins keep all that is later
   (store.h), but for loose ones, which keep their own. A recording's chunks
   stay, they are only places in a file. */
static void trim (tg_Store *s) {
  tg_Chunk *before = NULL, *c = s->first;
  while (!s->kept && c != s->last && c->pins == 0) {
    tg_Chunk *next = next_of(c);
    if (c->loose > 0)
      before = c;
    else
      drop_chunk(s, before, c);
    c = next;
  }
}

/* A supply may give more than is usual, or less. */
static tg_Chunk *new_chunk (tg_Supply *y, size_t least, size_t size) {
  tg_Chunk *c = tg_calloc(1, sizeof *c);
  if (c == NULL)
    return NULL;
  c->size = size;
  c->block = (y != NULL) ? y->obtain(y, least, &c->size)
                         : tg_pages_new(size);
  if (c->block == NULL) {
    tg_free(c);
    return NULL;
  }
  tg_assert(c->size >= least);
  c->supply = tg_supply_pin(y);
  return c;
}

/* Whose the next chunk's block is to be. A short stream takes no more than it
   needs, and a chunk of another size has pages of its own. */
static tg_Supply *supply_for (tg_Store *s, size_t size) {
  if (s->supply != NULL)
    return s->supply;
  if (size != TG_CHUNK_SIZE || s->bytes < TG_REGION_FROM)
    return NULL;
  if (tg_region_full(s->region)) {
    tg_supply_unpin(s->region);
    s->region = tg_region_new();
  }
  return s->region;
}

/* A chunk with 'size' bytes in all, the spare one if it fits; of a supply with
   'least' of them. */
static tg_Chunk *obtain_chunk (tg_Store *s, size_t least, size_t size) {
  tg_Chunk *c = s->spare;
  if (c == NULL || s->supply != NULL || size != TG_CHUNK_SIZE)
    return new_chunk(supply_for(s, size), least, size);
  s->spare = NULL;
  atomic_store_explicit(&c->next, NULL, memory_order_relaxed);
  c->pins = c->loose = 0;
  c->missed = 0;
  return c;
}

/* Committed bytes; of a chunk that is not loaded, those that are good. */
static uint32_t used_of (const tg_Chunk *c) {
  return (c->block != NULL) ? tg_block_used(c->block) : c->used;
}

/* 'next' is published last, by a release store: a cursor that finds the chunk
   finds all of it. */
static void append (tg_Store *s, tg_Chunk *c) {
  tg_Chunk *last = s->last;
  tg_assert((last == NULL) == (s->first == NULL));
  tg_assert(last == NULL || (next_of(last) == NULL && c->base >= last->base));
  s->bytes += c->size;
  s->last = c;
  if (last == NULL)
    s->first = c;
  else
    atomic_store_explicit(&last->next, c, memory_order_release);
}

/* }================================================================== */

/* Bytes of a chunk that takes 'need' bytes of data; 0 if there can be none. */
static size_t chunk_size (size_t need) {
  if (need > UINT32_MAX - sizeof(tg_Block) - PAGE)   /* 'used' has 32 bits */
    return 0;
  size_t size = sizeof(tg_Block) + need;
  if (size <= TG_CHUNK_SIZE)
    return TG_CHUNK_SIZE;
  return (size + PAGE - 1) / PAGE * PAGE;
}

/* The stream goes on where the last chunk's committed bytes end. */
tg_Chunk *tg_store_grow (tg_Store *s, size_t need, uint64_t packets) {
  size_t size = chunk_size(need);
  if (size == 0)
    return NULL;
  pthread_mutex_lock(&s->mutex);
  tg_Chunk *c = obtain_chunk(s, sizeof(tg_Block) + need, size);
  if (c != NULL) {
    c->base = (s->last != NULL) ? s->last->base + used_of(s->last) : 0;
    c->packets = packets;
    tg_block_begin(c->block, TG_BLOCK_EVENTS, c->size, c->base, packets);
    append(s, c);
    trim(s);
  }
  pthread_mutex_unlock(&s->mutex);
  return c;
}

/* Told under the mutex that it is left, so that no block comes back meanwhile;
   but let go of after it: the last pin frees it, which may take a while. */
void tg_store_supply (tg_Store *s, tg_Supply *y) {
  pthread_mutex_lock(&s->mutex);
  tg_Supply *before = s->supply;
  s->supply = tg_supply_pin(y);
  if (before != NULL && before->left != NULL)
    before->left(before);
  pthread_mutex_unlock(&s->mutex);
  tg_supply_unpin(before);
}

/* A block of a recording, which is loaded when a cursor comes to it. In order,
   before any reader is there: no mutex. */
bool tg_store_add (tg_Store *s, tg_Supply *y, tg_Pos base, uint64_t packets,
                   uint64_t place, uint32_t used) {
  tg_Chunk *c = tg_calloc(1, sizeof *c);
  if (c == NULL)
    return false;
  c->supply = tg_supply_pin(y);
  c->size = sizeof(tg_Block) + used;
  c->base = base;
  c->packets = packets;
  c->place = place;
  c->used = used;
  s->kept = true;
  append(s, c);
  return true;
}

/*
** {==================================================================
** Cursors
** ===================================================================
*/

/* The chunk that holds 'pos'; the later one where two meet. */
static tg_Chunk *find_chunk (tg_Store *s, tg_Pos pos) {
  tg_Chunk *found = NULL;
  for (tg_Chunk *c = s->first; c != NULL && c->base <= pos; c = next_of(c))
    found = c;
  if (found != NULL && pos - found->base > used_of(found))
    return NULL;
  return found;
}

/* Sees to the block of a chunk; false if it cannot be had. */
static bool load (tg_Store *s, tg_Chunk *c) {
  if (c->block != NULL)
    return true;
  c->block = c->supply->load(c->supply, c->place, c->size);
  if (c->block == NULL)
    s->status = TG_ERR_IO;
  return c->block != NULL;
}

/* With the mutex. The chunk stays, and all after it, until the cursor moves on
   or is dropped. */
static bool pin (tg_Cursor *c, tg_Store *s, tg_Chunk *chunk, tg_Pos pos) {
  if (chunk == NULL || !load(s, chunk))
    return false;
  tg_assert(pos >= chunk->base && pos - chunk->base <= used_of(chunk));
  *(c->loose ? &chunk->loose : &chunk->pins) += 1;
  c->store = s;
  c->chunk = chunk;
  c->offset = (uint32_t)(pos - chunk->base);
  return true;
}

/* False: that place has gone, or is not written yet, or cannot be loaded. */
bool tg_cursor_place (tg_Cursor *c, tg_Store *s, tg_Pos pos) {
  *c = (tg_Cursor){0};
  pthread_mutex_lock(&s->mutex);
  bool placed = pin(c, s, find_chunk(s, pos), pos);
  pthread_mutex_unlock(&s->mutex);
  return placed;
}

/* Of memory, and of a file being written, nobody counts them. */
tg_Prices tg_cursor_prices (const tg_Cursor *c) {
  tg_Supply *y = c->chunk->supply;
  return y != NULL && y->prices != NULL ? y->prices(y, c->chunk->block)
                                        : (tg_Prices){.count = 0};
}

/* Where the stream begins now: of a ring, later than it once did. */
bool tg_cursor_first (tg_Cursor *c, tg_Store *s) {
  *c = (tg_Cursor){0};
  pthread_mutex_lock(&s->mutex);
  tg_Chunk *first = s->first;
  bool placed = first != NULL && pin(c, s, first, first->base);
  pthread_mutex_unlock(&s->mutex);
  return placed;
}

/* By the count and not by a list of cursors: a copy is one more pin. */
void tg_cursor_copy (tg_Cursor *to, const tg_Cursor *from) {
  *to = *from;
  if (from->store == NULL)
    return;
  pthread_mutex_lock(&from->store->mutex);
  *(to->loose ? &to->chunk->loose : &to->chunk->pins) += 1;
  pthread_mutex_unlock(&from->store->mutex);
}

/* Called with the mutex held. Wakes writers that wait for their readers
   (follower.h). */
static void unpin (tg_Store *s, tg_Chunk *chunk, bool loose) {
  uint32_t *pins = loose ? &chunk->loose : &chunk->pins;
  tg_assert(*pins > 0);
  *pins -= 1;
  if (s->kept && chunk->pins == 0)
    release_block(chunk);
  trim(s);
  pthread_cond_broadcast(&s->moved);
}

/* Zeroed memory is a cursor that is nowhere; so is one that was dropped. */
void tg_cursor_drop (tg_Cursor *c) {
  tg_Store *s = c->store;
  if (s == NULL)
    return;
  pthread_mutex_lock(&s->mutex);
  unpin(s, c->chunk, c->loose);
  pthread_mutex_unlock(&s->mutex);
  c->store = NULL;
  c->chunk = NULL;
}

/* Loose before it is not firm any more: its chunk is pinned all the time. */
void tg_cursor_loosen (tg_Cursor *c) {
  tg_assert(c->store != NULL && !c->loose && !c->store->kept);
  pthread_mutex_lock(&c->store->mutex);
  c->chunk->loose++;
  c->loose = true;
  unpin(c->store, c->chunk, false);
  pthread_mutex_unlock(&c->store->mutex);
}

/* Chunks after a pinned one stay, so no mutex; what a recording has does not
   change either. */
static tg_Pos committed (const tg_Cursor *c) {
  tg_Chunk *last = c->chunk, *next;
  while ((next = atomic_load_explicit(&last->next, memory_order_acquire))
         != NULL)
    last = next;
  return last->base + used_of(last);
}

/* With the mutex for a loose cursor: chunks after its own may go at any
   moment. */
tg_Pos tg_cursor_committed (const tg_Cursor *c) {
  if (!c->loose)
    return committed(c);
  pthread_mutex_lock(&c->store->mutex);
  tg_Pos pos = committed(c);
  pthread_mutex_unlock(&c->store->mutex);
  return pos;
}

/* Whether memory is kept for this cursor alone: its chunk is the first there
   is, and nobody else is in it. */
bool tg_cursor_keeps (const tg_Cursor *c) {
  tg_Store *s = c->store;
  if (s == NULL)
    return false;
  pthread_mutex_lock(&s->mutex);
  bool keeps = c->chunk == s->first && c->chunk->pins == 1;
  pthread_mutex_unlock(&s->mutex);
  return keeps;
}

/* With the mutex. Whoever comes to a chunk of a recording mostly goes on to the
   next one. */
static void foresee (const tg_Store *s, tg_Chunk *c) {
  const tg_Chunk *next = next_of(c);
  if (s->kept && next != NULL && next->block == NULL
      && next->supply->expect != NULL)
    next->supply->expect(next->supply, next->place, next->size);
}

/* The next chunk is pinned before this one is let go: what is between them
   cannot go away. */
bool tg_cursor_advance (tg_Cursor *c) {
  tg_Store *s = c->store;
  pthread_mutex_lock(&s->mutex);
  tg_Chunk *from = c->chunk, *to = next_of(from);
  bool advanced = to != NULL && pin(c, s, to, to->base);
  if (advanced) {
    c->missed = from->missed;
    unpin(s, from, c->loose);
    foresee(s, to);
  }
  pthread_mutex_unlock(&s->mutex);
  return advanced;
}

/* }================================================================== */

/* False: time is up. Any change wakes, so who waits looks again at what he
   waits for. */
bool tg_store_wait (tg_Store *s, uint64_t ns) {
  struct timespec until = tg_clock_after(ns);
  pthread_mutex_lock(&s->mutex);
  int error = pthread_cond_timedwait(&s->moved, &s->mutex, &until);
  pthread_mutex_unlock(&s->mutex);
  return error == 0;
}

/* For a change that others wait for and that is not a cursor's: a follower has
   left. */
void tg_store_wake (tg_Store *s) {
  pthread_mutex_lock(&s->mutex);
  pthread_cond_broadcast(&s->moved);
  pthread_mutex_unlock(&s->mutex);
}

/* The child's condition is made anew and not destroyed before: POSIX has no
   word for one whose waiters are gone. */
void tg_store_fork (tg_Store *s, tg_AtFork side) {
  tg_atfork_mutex(&s->mutex, side);
  if (side == TG_ATFORK_CHILD)
    tg_clock_condition(&s->moved);    /* whoever waited is not there any more */
}
