/* moment.c - see moment.h. */
#include "heap/moment.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "outside/twin.h"

#define THREADS 4096u
#define TRIES 12u               /* copies, until sums agree */
#define GENTLE 3u               /* of these, without stopping who waits */

typedef struct Standing {
  tg_Halt list[THREADS];
  uint32_t count;
} Standing;

static bool stop_one (tg_Halt *h, int pid, int tid, bool gentle) {
  return gentle ? tg_halt_begin(h, pid, tid) : tg_halt_stop(h, pid, tid);
}

static void stop (Standing *s, int pid, bool gentle) {
  int list[THREADS];
  uint32_t n = tg_halt_threads(pid, list, THREADS);
  s->count = 0;
  for (uint32_t i = 0; i < n; i++)
    s->count += stop_one(&s->list[s->count], pid, list[i], gentle);
}

/* Whether nobody has run meanwhile; '*took_ns' grows to the longest stop. */
static bool let_go (Standing *s, uint64_t *took_ns) {
  bool rested = s->count > 0;
  for (uint32_t i = 0; i < s->count; i++)
    rested = tg_halt_rests(&s->list[i]) && rested;
  for (uint32_t i = 0; i < s->count; i++) {
    tg_halt_end(&s->list[i]);
    if (s->list[i].took_ns > *took_ns)
      *took_ns = s->list[i].took_ns;
  }
  return rested;
}

static bool agrees (tg_Moment *m, const tg_Target *t, uint32_t n) {
  return tg_heap_take(&m->heap, &m->image, t->sight.layout, t->sight.release,
                      t->found.mains[n])
         && tg_heap_agrees(&m->heap);
}

static void nap (void) {
  struct timespec time = {0, 2000000};
  nanosleep(&time, NULL);
}

/* Maps may have grown since they were read, so each try reads them anew. */
static bool try_once (tg_Moment *m, tg_Target *t, Standing *s, bool gentle) {
  tg_maps_free(&t->memory.maps);
  tg_heap_free(&m->heap);
  tg_image_free(&m->image);
  if (!tg_maps_read(&t->memory.maps, t->memory.task)
      || !tg_image_prepare(&m->image, &t->memory))
    return false;
  int usual = tg_halt_hurry();
  stop(s, t->memory.pid, gentle);
  tg_image_copy(&m->image, &t->memory);
  m->agrees = let_go(s, &m->stopped_ns);
  tg_halt_relax(usual);
  m->tries++;
  return true;
}

/* Of a fork: the copy stands still, so it may take as long as it takes. */
static bool copy_twin (tg_Moment *m, tg_Target *t, int child) {
  int pid = t->memory.pid, task = t->memory.task;
  t->memory.pid = t->memory.task = child;
  tg_maps_free(&t->memory.maps);
  bool done = tg_maps_read(&t->memory.maps, child)
              && tg_image_prepare(&m->image, &t->memory);
  if (done)
    tg_image_copy(&m->image, &t->memory);
  t->memory.pid = pid;
  t->memory.task = task;
  return done;
}

/* Where no thread can be made to fork at this moment there is no copy, and
   another try. */
static bool try_fork (tg_Moment *m, tg_Target *t, Standing *s, bool gentle,
                      tg_Buf *words) {
  tg_Twin twin;
  tg_heap_free(&m->heap);
  tg_image_free(&m->image);
  if (!tg_twin_begin(&twin, &t->memory, words))
    return false;
  int usual = tg_halt_hurry();
  stop(s, t->memory.pid, gentle);
  bool made = tg_twin_make(&twin, tg_twin_thread(s->list, s->count));
  int error = errno;
  m->agrees = let_go(s, &m->stopped_ns) && made;
  tg_halt_relax(usual);
  m->tries++;
  bool done = made ? copy_twin(m, t, twin.child) : error == EAGAIN;
  m->left = tg_twin_end(&twin, &m->stopped_ns) ? 0 : twin.child;
  if (!made && error != EAGAIN)
    tg_buf_addfmt(words, "process %d cannot be forked: %s", t->memory.pid,
                  strerror(error));
  return done;
}

static bool try (tg_Moment *m, tg_Target *t, Standing *s, uint32_t i,
                 bool forked, tg_Buf *words) {
  bool gentle = i < GENTLE;
  if (i > 0)
    nap();
  return forked ? try_fork(m, t, s, gentle, words) : try_once(m, t, s, gentle);
}

static bool take_process (tg_Moment *m, tg_Target *t, uint32_t n, bool forked,
                          tg_Buf *words) {
  Standing *s = tg_calloc(1, sizeof *s);
  bool done = s != NULL;
  for (uint32_t i = 0; done && i < TRIES && !m->agrees && m->left == 0; i++) {
    done = try(m, t, s, i, forked, words);
    m->agrees = done && agrees(m, t, n) && m->agrees;
  }
  tg_free(s);
  if (done && m->image.count == 0)
    tg_buf_addfmt(words, "process %d cannot be forked now: its threads are "
                  "stopped, or stand where they cannot be", t->memory.pid);
  if (words->size > 0)
    return false;
  if (!done || !tg_target_lives(t)) {
    tg_target_title(t, words);
    tg_buf_addstr(words, " has ended, or there is not enough memory");
    return false;
  }
  return true;
}

bool tg_moment_take (tg_Moment *m, tg_Target *t, uint32_t n, bool forked,
                     tg_Buf *words) {
  *m = (tg_Moment){0};
  if (t->memory.core == NULL)
    return take_process(m, t, n, forked, words);
  if (!tg_image_prepare(&m->image, &t->memory)) {
    tg_buf_addstr(words, "not enough memory");
    return false;
  }
  tg_image_copy(&m->image, &t->memory);
  m->tries = 1;
  m->agrees = agrees(m, t, n);
  return true;
}

void tg_moment_free (tg_Moment *m) {
  tg_heap_free(&m->heap);
  tg_image_free(&m->image);
  *m = (tg_Moment){0};
}
