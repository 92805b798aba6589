/*
** readahead.c - see readahead.h. Whoever asks is the thread that exports; the
** threads made here read and work for it.
**
** One mutex guards the numbers of batches; a batch's contents belong to who has
** it: the reading thread until it is filled, a worker from the claim until it
** is done, the asker until it asks again. If no thread can be had, whoever asks
** reads and works; if memory is refused, 'failed' is set and there are no more
** batches.
*/
#include "export/readahead.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "signal/signals.h"

#define ENOUGH ((size_t)64 << 10)   /* bytes of values in a batch */

/*
** {==================================================================
** One batch
** ===================================================================
*/

static void clear_batch (tg_Batch *b) {
  b->count = b->worked = 0;
  b->done = false;
  tg_buf_clear(&b->values);
  tg_buf_clear(&b->text);
}

static bool has_room (tg_Batch *b) {
  if (b->packets == NULL)
    b->packets = tg_malloc(TG_BATCH_PACKETS * sizeof *b->packets);
  if (b->ends == NULL)
    b->ends = tg_malloc(TG_BATCH_PACKETS * sizeof *b->ends);
  return b->packets != NULL && b->ends != NULL;
}

/* Says that values are in the batch's own bytes: 'data' is their offset until
   all are there. */
static const uint8_t own_bytes;

/* The chunk of the latest packet stays as long as the batch: called before the
   next packet is read, while the reader itself still holds the chunk. Of a
   recording it has to be each one: a batch goes over many where calls are left
   out, and their blocks would be unloaded. Values cannot be copied instead,
   since their strings may stand elsewhere in the chunk (values.h). */
static void keep_chunk (tg_Batch *b, const tg_Reader *r) {
  if (b->npins > 0 && tg_reader_within(r, &b->pins[b->npins - 1]))
    return;
  tg_assert(b->npins < TG_BATCH_CHUNKS);
  tg_reader_pin(r, &b->pins[b->npins++]);
}

/* What was put together elsewhere is copied. All of it is in one buffer, which
   may move while it grows: so offsets first, addresses later. */
static void keep_values (tg_Batch *b, const tg_Reader *r, tg_Packet *p) {
  if (p->values.size == 0)
    return;
  if (tg_reader_lasts(r, p->values)) {
    keep_chunk(b, r);
    return;
  }
  tg_Slice own = {
    .data = (const uint8_t *)b->values.size, .size = p->values.size,
    .origin = &own_bytes
  };
  tg_buf_add(&b->values, p->values.data, p->values.size);
  p->values = own;
}

/* If memory was refused not all are there, and the batch is never given. */
static void place_values (tg_Batch *b) {
  if (b->values.failed)
    return;
  for (uint32_t i = 0; b->values.size > 0 && i < b->count; i++) {
    tg_Slice *v = &b->packets[i].values;
    if (v->origin != &own_bytes)
      continue;
    tg_assert((uintptr_t)v->data + v->size <= b->values.size);
    v->data = (const uint8_t *)b->values.data + (uintptr_t)v->data;
    v->origin = NULL;
  }
}

/* Whether no packet more is to be read into the batch. */
static bool is_full (const tg_Batch *b, size_t bytes) {
  return b->count == TG_BATCH_PACKETS || bytes >= ENOUGH
         || b->npins == TG_BATCH_CHUNKS;
}

/* Reads packets; whether there may be more. Without memory 'failed'. */
static bool read_packets (tg_ReadAhead *a, tg_Batch *b, bool *failed) {
  const tg_Reader *r = a->minduration->reader;
  size_t bytes = 0;
  if (!has_room(b)) {
    *failed = true;
    return false;
  }
  while (!is_full(b, bytes)) {
    tg_Packet *p = &b->packets[b->count];
    if (!tg_minduration_next(a->minduration, a->stop, p))
      break;
    b->count++;
    keep_values(b, r, p);
    bytes += p->values.size;
  }
  place_values(b);
  *failed = b->values.failed;
  return is_full(b, bytes);
}

/* Whether there may be more. */
static bool fill (tg_ReadAhead *a, tg_Batch *b, bool *failed) {
  clear_batch(b);
  if (a->minduration != NULL)
    return read_packets(a, b, failed);
  b->count = 1;
  return b->number + 1 < a->parts;
}

static void drop_pins (tg_Batch *b) {
  while (b->npins > 0)
    tg_cursor_drop(&b->pins[--b->npins]);
}

static void free_batch (tg_Batch *b) {
  drop_pins(b);
  tg_free(b->packets);
  tg_free(b->ends);
  tg_buf_free(&b->values);
  tg_buf_free(&b->text);
  tg_scratch_free(&b->scratch);
  if (b->own != NULL)
    b->free_own(b->own);
}

/* }================================================================== */

/*
** {==================================================================
** What threads do (with the mutex, but for the work itself)
** ===================================================================
*/

/* Numbers never stop growing, places are used again: a batch is somebody's as
   long as its number is between 'given' and 'filled' (readahead.h). */
static tg_Batch *batch_at (tg_ReadAhead *a, uint64_t number) {
  return &a->ring[number % TG_AHEAD_BATCHES];
}

/* Only one thread fills, so the batch is nobody else's while the mutex is
   free. */
static void fill_next (tg_ReadAhead *a) {
  tg_Batch *b = batch_at(a, a->filled);
  bool failed = false;
  tg_assert(a->filled - a->given < TG_AHEAD_BATCHES);
  b->number = a->filled;
  pthread_mutex_unlock(&a->mutex);
  bool more = fill(a, b, &failed);
  pthread_mutex_lock(&a->mutex);
  a->failed = a->failed || failed;
  a->ended = !more || failed;
  b->done = a->work == NULL;
  a->filled += b->count > 0 && !failed;
  pthread_cond_broadcast(&a->changed);
}

/* Works on the next batch that nobody has. Only the thread that waits for this
   very batch is woken. */
static void work_next (tg_ReadAhead *a) {
  uint64_t number = a->claimed++;
  tg_assert(number >= a->given && number < a->filled);
  tg_Batch *b = batch_at(a, number);
  pthread_mutex_unlock(&a->mutex);
  a->work(a->ud, b);
  pthread_mutex_lock(&a->mutex);
  b->done = true;
  if (number == a->given)
    pthread_cond_broadcast(&a->changed);
}

/* All batches are full: until half of them are not, since a thread that sleeps
   seldom is woken seldom. */
static void wait_for_room (tg_ReadAhead *a) {
  while (!a->cancelled && a->filled - a->given > TG_AHEAD_BATCHES / 2)
    pthread_cond_wait(&a->changed, &a->mutex);
}

/* The reading thread, from its start to the end of the trace or of the
   export. */
static void *read_all (void *ud) {
  tg_ReadAhead *a = ud;
  pthread_mutex_lock(&a->mutex);
  while (!a->cancelled && !a->ended) {
    if (a->filled - a->given < TG_AHEAD_BATCHES)
      fill_next(a);
    else
      wait_for_room(a);
  }
  pthread_mutex_unlock(&a->mutex);
  return NULL;
}

/* A worker. It ends when all batches are claimed and no more will come. */
static void *work_all (void *ud) {
  tg_ReadAhead *a = ud;
  pthread_mutex_lock(&a->mutex);
  while (!a->cancelled && (a->claimed < a->filled || !a->ended)) {
    if (a->claimed < a->filled)
      work_next(a);
    else
      pthread_cond_wait(&a->changed, &a->mutex);
  }
  pthread_mutex_unlock(&a->mutex);
  return NULL;
}

/* }================================================================== */

/*
** {==================================================================
** Whoever asks
** ===================================================================
*/

static void begin (tg_ReadAhead *a, tg_BatchWork *work, void *ud) {
  memset(a, 0, sizeof *a);
  a->work = work;
  a->ud = ud;
  pthread_mutex_init(&a->mutex, NULL);
  pthread_cond_init(&a->changed, NULL);
}

void tg_readahead_begin (tg_ReadAhead *a, tg_MinDuration *s, tg_Pos stop,
                         tg_BatchWork *work, void *ud) {
  tg_check(s != NULL);
  begin(a, work, ud);
  a->minduration = s;
  a->stop = stop;
}

void tg_readahead_parts (tg_ReadAhead *a, uint64_t parts, tg_BatchWork *work,
                         void *ud) {
  tg_check(parts > 0 && work != NULL);
  begin(a, work, ud);
  a->parts = parts;
}

/* Without signals: the program's handlers run on the program's threads. */
static bool start_thread (tg_ReadAhead *a, void *(*run) (void *)) {
  if (!tg_signals_thread(&a->threads[a->nthreads], run, a))
    return false;
  a->nthreads++;
  return true;
}

/* Starts the reading thread and workers: with the caller's thread, one worker
   for each processor. The thread that numbers the parts has next to nothing to
   do. */
static void start_threads (tg_ReadAhead *a) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (processors < 2 || !start_thread(a, read_all) || a->work == NULL)
    return;
  while (a->nthreads < TG_AHEAD_THREADS && (long)a->nthreads < processors
         && start_thread(a, work_all))
    continue;
}

/* What was given is not used any more. */
static void give_back (tg_ReadAhead *a) {
  if (!a->holding)
    return;
  drop_pins(batch_at(a, a->given));
  a->holding = false;
  a->given++;
  if (a->filled - a->given == TG_AHEAD_BATCHES / 2)
    pthread_cond_broadcast(&a->changed);
}

/* Comes nearer to the next batch: does what nobody else does, or waits. */
static void advance (tg_ReadAhead *a) {
  if (a->work != NULL && a->claimed < a->filled)
    work_next(a);
  else if (a->nthreads > 0)
    pthread_cond_wait(&a->changed, &a->mutex);
  else
    fill_next(a);
}

/* The place of the next batch is known before the mutex is held: only whoever
   asks changes 'given' and 'holding'. Threads are started when the first batch
   has been read and is not all there is. */
tg_Batch *tg_readahead_next (tg_ReadAhead *a) {
  tg_Batch *b = batch_at(a, a->given + a->holding);
  bool first = a->given == 0 && !a->holding;
  pthread_mutex_lock(&a->mutex);
  give_back(a);
  while (a->given < a->filled ? !b->done : !a->ended)
    advance(a);
  a->holding = a->given < a->filled;
  tg_assert(!a->holding || b->done);
  if (first && !a->ended)
    start_threads(a);
  pthread_mutex_unlock(&a->mutex);
  return a->holding ? b : NULL;
}

/* A thread looks at 'cancelled' between two batches, so it may finish the one
   it has: that is waited for, since what it borrows is about to go. */
void tg_readahead_end (tg_ReadAhead *a) {
  pthread_mutex_lock(&a->mutex);
  a->cancelled = true;
  pthread_cond_broadcast(&a->changed);
  pthread_mutex_unlock(&a->mutex);
  for (uint32_t i = 0; i < a->nthreads; i++)
    pthread_join(a->threads[i], NULL);
  for (uint32_t i = 0; i < TG_AHEAD_BATCHES; i++)
    free_batch(&a->ring[i]);
  pthread_cond_destroy(&a->changed);
  pthread_mutex_destroy(&a->mutex);
}

/* }================================================================== */
