/* picture.c - see picture.h. */
#include "peek/picture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/apart.h"
#include "base/clock.h"
#include "heap/links.h"
#include "text/newfile.h"
#include "text/outfile.h"

/* ---- the child ---- */

/* Nothing of the program's stays open: who waits for the end of a pipe does not
   wait for us. The pipe is 0 from here on, and 1 if the snapshot goes there. */
static void keep_only (int fd, bool piped) {
  int last = (int)sysconf(_SC_OPEN_MAX);
  int first = piped ? 2 : 1;
  dup2(fd, 0);
  if (piped)
    dup2(fd, 1);
#ifdef SYS_close_range
  if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0)
    return;
#endif
  for (int i = first; i < last; i++)
    close(i);
}

static bool say (const tg_PictureSaid *said) {
  return write(0, said, sizeof *said) == (ssize_t)sizeof *said;
}

/* The state has not changed since its objects were numbered. */
static void number_objects (const tg_Births *b, tg_Graph *g) {
  for (uint32_t i = 0; i < b->count && i + TG_FIRST_OBJECT < g->count; i++)
    g->ids[i + TG_FIRST_OBJECT] = tg_births_id(b, b->numbers[i]);
}

/* Pairs of time and id; NULL without memory, or marks. */
static uint64_t *samples_of (const tg_Births *b) {
  uint64_t *list = tg_calloc(2 * (size_t)b->nmarks + 1, sizeof *list);
  for (uint32_t i = 0; list != NULL && i < b->nmarks; i++) {
    list[2 * i] = b->marks[i].time_us;
    list[2 * i + 1] = tg_births_last(b, &b->marks[i]);
  }
  return list;
}

/* Into the pipe goes first what there is to say: the snapshot has no end that
   could be told by looking at it. */
static bool write_picture (const tg_PictureOrder *o, const tg_Graph *g,
                           const tg_Image *image, const tg_PictureSaid *said) {
  char release[TG_RELEASE_TEXT];
  tg_OutFile out;
  tg_sight_release(o->ours->release, release);
  tg_SnapshotHead head = {
    .lua = release, .pid = o->ours->memory.pid,
    .objects = said->sums.objects, .state_bytes = said->sums.state_bytes,
    .low = image->low, .high = image->high};
  if (o->births != NULL && (head.samples = samples_of(o->births)) != NULL)
    head.nsamples = o->births->nmarks;
  if ((o->path == NULL && !say(said))
      || !tg_outfile_open(&out, o->path != NULL ? o->path : "-"))
    return false;
  tg_snapshot_write(g, &head, &out);
  bool whole = tg_outfile_close(&out);
  if (!whole && o->path != NULL)
    tg_newfile_drop(o->path);
  return whole;
}

/* The maps are read here: while the parent read its own another thread may have
   made new ones. */
static int take_picture (tg_PictureOrder *o, tg_PictureSaid *said) {
  const tg_Ourselves *ours = o->ours;
  tg_Maps maps = {0};
  tg_Image image;
  tg_Heap heap;
  tg_Graph graph;
  if (!tg_maps_read(&maps, getpid()) || !tg_image_own(&image, &maps))
    return ENOMEM;
  bool taken = tg_heap_take(&heap, &image, ours->layout, ours->release,
                            ours->main);
  if (o->strict && !(taken && tg_heap_agrees(&heap)))
    return EAGAIN;
  if (!taken || !tg_capture(&graph, &heap, &said->sums))
    return ENOMEM;
  if (o->births != NULL)
    number_objects(o->births, &graph);
  tg_TracedHeap traced = tg_tracedheap_add(&o->tracer, &heap, &graph);
  if (traced == TG_TRACEDHEAP_BUSY && o->strict)
    return EAGAIN;
  if (traced == TG_TRACEDHEAP_MEMORY)
    return ENOMEM;
  said->made = tg_makers_known(&graph.makers);
  return write_picture(o, &graph, &image, said) ? 0 : errno;
}

/* Memory that went away ends it, of which no core is to be left: it would be
   the program's. */
static _Noreturn void be_child (tg_PictureOrder *o, int fd) {
  tg_PictureSaid said = {0};
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  tg_apart_begin();
  tg_tracedheap_fork(&o->tracer, TG_ATFORK_CHILD);
  keep_only(fd, o->path == NULL);
  said.error = take_picture(o, &said);
  bool told = o->path == NULL && said.error == 0;
  _exit(told || say(&said) ? said.error != 0 : 1);
}

/* ---- the parent ---- */

/* Without a signal at its end, and without handlers of pthread_atfork: a plain
   copy. All signals are blocked in the child, so none of the program's handlers
   runs there. */
static pid_t copy_process (uint64_t *took_ns) {
  uint64_t from = tg_clock_monotonic_ns();
  pid_t child = (pid_t)syscall(SYS_clone, 0ul, NULL, NULL, NULL, 0ul);
  if (child != 0)
    *took_ns = tg_clock_monotonic_ns() - from;
  return child;
}

bool tg_picture_begin (tg_Picture *p, tg_PictureOrder *o) {
  int ends[2];
  sigset_t all, before;
  uint64_t took_ns = 0;
  if (pipe2(ends, O_CLOEXEC) != 0)
    return false;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  tg_tracedheap_fork(&o->tracer, TG_ATFORK_BEFORE);
  p->child = copy_process(&took_ns);
  if (p->child == 0)
    be_child(o, ends[1]);
  int error = errno;
  tg_tracedheap_fork(&o->tracer, TG_ATFORK_PARENT);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(ends[1]);
  p->pipe = ends[0];
  p->owner = getpid();
  p->stopped_ms = (double)took_ns / 1e6;
  errno = error;
  if (p->child > 0)
    return true;
  close(ends[0]);
  p->pipe = -1;
  p->child = 0;
  return false;
}

bool tg_picture_is_ours (const tg_Picture *p) {
  return p->owner == getpid();
}

/* In a child of the program's, which has a copy: what the pipe says is for its
   parent, and so is who writes. */
static void let_go (tg_Picture *p) {
  if (p->pipe >= 0)
    close(p->pipe);
  p->pipe = -1;
  p->child = 0;
}

static int await_child (tg_Picture *p) {
  int status = 1;
  while (waitpid(p->child, &status, __WALL) < 0 && errno == EINTR)
    continue;
  p->child = 0;
  return status;
}

bool tg_picture_hear (tg_Picture *p, tg_PictureSaid *said) {
  size_t got = 0;
  if (!tg_picture_is_ours(p)) {
    let_go(p);
    return false;
  }
  while (got < sizeof *said) {
    ssize_t n = read(p->pipe, (char *)said + got, sizeof *said - got);
    if (n > 0)
      got += (size_t)n;
    else if (n == 0 || errno != EINTR)
      break;
  }
  close(p->pipe);
  p->pipe = -1;
  await_child(p);
  return got == sizeof *said;
}

bool tg_picture_await (tg_Picture *p) {
  return p->child > 0 && await_child(p) == 0;
}

void tg_picture_drop (tg_Picture *p) {
  if (p->child > 0 && tg_picture_is_ours(p)) {
    kill(p->child, SIGKILL);
    await_child(p);
  }
  let_go(p);
}

void tg_picture_push (lua_State *L, const tg_PictureSaid *said,
                      double stopped_ms) {
  lua_newtable(L);
  lx_set_integer(L, "objects", (lua_Integer)said->sums.objects);
  lx_set_integer(L, "bytes", (lua_Integer)said->sums.bytes);
  lx_set_integer(L, "state_bytes", (lua_Integer)said->sums.state_bytes);
  lx_set_integer(L, "garbage", (lua_Integer)said->sums.garbage);
  lx_set_integer(L, "distant", (lua_Integer)said->sums.distant);
  lx_set_integer(L, "made", (lua_Integer)said->made);
  lx_set_number(L, "stopped_ms", stopped_ms);
}
