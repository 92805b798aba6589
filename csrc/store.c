/*
** store.c - chunks of a stream: appended by one writer, freed by whoever lets
** go of them last.
**
** 'last' belongs to the writer and is written by no one else; everything else
** in the list is under the mutex. The last chunk is never freed while the
** store lives: the writer is in it.
*/
#include "store.h"

#include <time.h>

#include "alloc.h"

#define PAGE ((size_t)4096)

static void init_condition (tg_Store *s) {
  pthread_condattr_t attr;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&s->moved, &attr);
  pthread_condattr_destroy(&attr);
}

void tg_store_init (tg_Store *s) {
  pthread_mutex_init(&s->mutex, NULL);
  init_condition(s);
  s->first = s->last = s->spare = NULL;
  s->bytes = 0;
}

/* The next chunk, by whoever holds the mutex. */
static tg_Chunk *next_of (tg_Chunk *c) {
  return atomic_load_explicit(&c->next, memory_order_relaxed);
}

void tg_store_free (tg_Store *s) {
  while (s->first != NULL) {
    tg_Chunk *c = s->first;
    tg_assert(c->pins == 0);
    s->first = next_of(c);
    tg_pages_free(c, c->size);
  }
  if (s->spare != NULL)
    tg_pages_free(s->spare, s->spare->size);
  pthread_cond_destroy(&s->moved);
  pthread_mutex_destroy(&s->mutex);
}

/*
** {==================================================================
** Chunks come and go (mutex held)
** ===================================================================
*/

static void release_chunk (tg_Store *s, tg_Chunk *c) {
  s->bytes -= c->size;
  if (s->spare == NULL && c->size == TG_CHUNK_SIZE)
    s->spare = c;
  else
    tg_pages_free(c, c->size);
}

/* Frees what comes before the first pinned chunk. */
static void trim (tg_Store *s) {
  while (s->first != s->last && s->first->pins == 0) {
    tg_Chunk *c = s->first;
    s->first = next_of(c);
    release_chunk(s, c);
  }
}

/* A chunk with 'size' bytes in all, from the spare if it fits. */
static tg_Chunk *obtain_chunk (tg_Store *s, size_t size) {
  tg_Chunk *c = s->spare;
  if (c != NULL && size == TG_CHUNK_SIZE)
    s->spare = NULL;
  else
    c = tg_pages_new(size);
  if (c == NULL)
    return NULL;
  atomic_init(&c->next, NULL);
  atomic_init(&c->used, 0);
  c->size = size;
  c->pins = 0;
  return c;
}

static void append (tg_Store *s, tg_Chunk *c) {
  tg_Chunk *last = s->last;
  s->bytes += c->size;
  if (last == NULL) {
    c->base = 0;
    s->first = s->last = c;
    return;
  }
  c->base = last->base
            + atomic_load_explicit(&last->used, memory_order_relaxed);
  atomic_store_explicit(&last->next, c, memory_order_release);
  s->last = c;
  trim(s);
}

/* }================================================================== */

/* Bytes of a chunk that takes 'need' bytes of data; 0 if there can be none. */
static size_t chunk_size (size_t need) {
  if (need > UINT32_MAX - sizeof(tg_Chunk) - PAGE)   /* 'used' has 32 bits */
    return 0;
  size_t size = sizeof(tg_Chunk) + need;
  if (size <= TG_CHUNK_SIZE)
    return TG_CHUNK_SIZE;
  return (size + PAGE - 1) / PAGE * PAGE;
}

tg_Chunk *tg_store_grow (tg_Store *s, size_t need, uint64_t packets) {
  size_t size = chunk_size(need);
  if (size == 0)
    return NULL;
  pthread_mutex_lock(&s->mutex);
  tg_Chunk *c = obtain_chunk(s, size);
  if (c != NULL) {
    c->packets = packets;
    append(s, c);
  }
  pthread_mutex_unlock(&s->mutex);
  return c;
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
  if (found != NULL && pos - found->base
      > atomic_load_explicit(&found->used, memory_order_acquire))
    return NULL;
  return found;
}

static void pin (tg_Cursor *c, tg_Store *s, tg_Chunk *chunk, tg_Pos pos) {
  chunk->pins++;
  c->store = s;
  c->chunk = chunk;
  c->offset = (uint32_t)(pos - chunk->base);
}

bool tg_cursor_place (tg_Cursor *c, tg_Store *s, tg_Pos pos) {
  pthread_mutex_lock(&s->mutex);
  tg_Chunk *chunk = find_chunk(s, pos);
  if (chunk != NULL)
    pin(c, s, chunk, pos);
  pthread_mutex_unlock(&s->mutex);
  return chunk != NULL;
}

bool tg_cursor_first (tg_Cursor *c, tg_Store *s) {
  pthread_mutex_lock(&s->mutex);
  tg_Chunk *chunk = s->first;
  if (chunk != NULL)
    pin(c, s, chunk, chunk->base);
  pthread_mutex_unlock(&s->mutex);
  return chunk != NULL;
}

void tg_cursor_copy (tg_Cursor *to, const tg_Cursor *from) {
  *to = *from;
  if (from->store == NULL)
    return;
  pthread_mutex_lock(&from->store->mutex);
  to->chunk->pins++;
  pthread_mutex_unlock(&from->store->mutex);
}

/* Called with the mutex held. */
static void unpin (tg_Store *s, tg_Chunk *chunk) {
  tg_assert(chunk->pins > 0);
  chunk->pins--;
  trim(s);
  pthread_cond_broadcast(&s->moved);
}

void tg_cursor_drop (tg_Cursor *c) {
  tg_Store *s = c->store;
  if (s == NULL)
    return;
  pthread_mutex_lock(&s->mutex);
  unpin(s, c->chunk);
  pthread_mutex_unlock(&s->mutex);
  c->store = NULL;
  c->chunk = NULL;
}

/* Chunks after a pinned one stay, so no mutex. */
tg_Pos tg_cursor_committed (const tg_Cursor *c) {
  tg_Chunk *last = c->chunk, *next;
  while ((next = atomic_load_explicit(&last->next, memory_order_acquire))
         != NULL)
    last = next;
  return last->base + atomic_load_explicit(&last->used, memory_order_acquire);
}

bool tg_cursor_advance (tg_Cursor *c) {
  tg_Store *s = c->store;
  pthread_mutex_lock(&s->mutex);
  tg_Chunk *from = c->chunk, *to = next_of(from);
  if (to != NULL) {
    pin(c, s, to, to->base);
    unpin(s, from);
  }
  pthread_mutex_unlock(&s->mutex);
  return to != NULL;
}

/* }================================================================== */

static struct timespec deadline_after (uint64_t ns) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  ns += (uint64_t)t.tv_nsec;
  t.tv_sec += (time_t)(ns / UINT64_C(1000000000));
  t.tv_nsec = (long)(ns % UINT64_C(1000000000));
  return t;
}

bool tg_store_wait (tg_Store *s, uint64_t ns) {
  struct timespec until = deadline_after(ns);
  pthread_mutex_lock(&s->mutex);
  int error = pthread_cond_timedwait(&s->moved, &s->mutex, &until);
  pthread_mutex_unlock(&s->mutex);
  return error == 0;
}

void tg_store_wake (tg_Store *s) {
  pthread_mutex_lock(&s->mutex);
  pthread_cond_broadcast(&s->moved);
  pthread_mutex_unlock(&s->mutex);
}

void tg_store_fork (tg_Store *s, tg_Fork side) {
  tg_fork_mutex(&s->mutex, side);
  if (side == TG_FORK_CHILD)
    init_condition(s);    /* whoever waited is not there any more */
}
