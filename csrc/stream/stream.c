/*
** stream.c - a tracing state's life: made with its first trace, freed by the
** last trace, reader or session to let go of it.
**
** Any thread; the list of all streams is for fork alone, under its mutex, which
** comes before those of the stores. Without memory there is no stream, and the
** trace does not begin.
*/
#include "stream/stream.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/atfork.h"
#include "base/refs.h"

static struct {
  pthread_mutex_t mutex;
  tg_Stream *first;
} all = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void enlist (tg_Stream *s) {
  pthread_mutex_lock(&all.mutex);
  s->next = all.first;
  all.first = s;
  pthread_mutex_unlock(&all.mutex);
}

/* Called when the last pin is gone, before the store is freed: a fork after
   this does not find the stream. */
static void delist (tg_Stream *s) {
  pthread_mutex_lock(&all.mutex);
  tg_Stream **p = &all.first;
  while (*p != s) {
    tg_assert(*p != NULL);
    p = &(*p)->next;
  }
  *p = s->next;
  pthread_mutex_unlock(&all.mutex);
}

/* Takes the list's mutex before those of the stores: no thread takes the list's
   while it has a store's. */
void tg_stream_fork (tg_AtFork side) {
  if (side == TG_ATFORK_BEFORE)
    tg_atfork_mutex(&all.mutex, side);
  for (tg_Stream *s = all.first; s != NULL; s = s->next)
    tg_store_fork(&s->store, side);
  if (side != TG_ATFORK_BEFORE)
    tg_atfork_mutex(&all.mutex, side);
}

/* A new stream is listed when it is whole: another thread may fork at any
   moment. */
tg_Stream *tg_stream_new (void) {
  tg_Stream *s = tg_calloc(1, sizeof *s);
  if (s == NULL)
    return NULL;
  tg_atfork_register(TG_ATFORK_STREAMS, tg_stream_fork, NULL);
  s->functions = tg_functions_new();
  if (s->functions == NULL) {
    tg_free(s);
    return NULL;
  }
  atomic_init(&s->refs, 1);
  tg_store_init(&s->store);
  tg_clock_start(&s->clock);
  s->wall_ns = tg_clock_wall_ns(&s->clock);
  s->pid = (uint32_t)getpid();
  enlist(s);
  return s;
}

tg_Stream *tg_stream_pin (tg_Stream *s) {
  tg_refs_pin(&s->refs);
  return s;
}

void tg_stream_unpin (tg_Stream *s) {
  if (s == NULL || !tg_refs_unpin(&s->refs))
    return;
  delist(s);
  tg_store_free(&s->store);
  tg_functions_free(s->functions);
  tg_sources_free(s->sources);
  tg_free(s->directory);
  tg_free(s);
}

void tg_stream_note_ticking (tg_Stream *s) {
  uint64_t figures[TG_TICKING_FIGURES];
  if (s->noted == NULL)
    return;
  tg_ticking_get(&s->ticking, figures);
  tg_ticking_set(s->noted, figures);
}

/* As exports ask for it (export.h): with an untyped first argument. */
bool tg_stream_source (void *stream, const char *url, tg_Buf *text) {
  const tg_Stream *s = stream;
  return tg_sources_text(s->sources, s->functions, s->wall_ns, url, text);
}
