/* ownheap.c - see ownheap.h. */
#include "peek/ownheap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/apart.h"
#include "base/clock.h"
#include "heap/capture.h"
#include "peek/ourselves.h"
#include "text/newfile.h"

#define PICTURE "tracegrip.picture"

/* What the child says at its end, in one write. */
typedef struct Said {
  tg_CaptureSums sums;
  int error;            /* errno of what failed; 0: nothing */
} Said;

/* A child that is asked, or was. */
typedef struct Picture {
  pid_t child;          /* 0: none any more */
  int pipe;             /* owns; -1 */
  double stopped_ms;
} Picture;

typedef struct Self {
  tg_Ourselves ours;    /* owns */
  const char *path;
} Self;

/* ---- the child ---- */

/* Nothing of the program's stays open: who waits for the end of a pipe does not
   wait for us. */
static void keep_only (int fd) {
  int last = (int)sysconf(_SC_OPEN_MAX);
  dup2(fd, 0);
#ifdef SYS_close_range
  if (syscall(SYS_close_range, 1u, ~0u, 0u) == 0)
    return;
#endif
  for (int i = 1; i < last; i++)
    close(i);
}

static bool write_picture (const Self *self, const tg_Graph *g,
                           const tg_Image *image, const tg_CaptureSums *sums) {
  char release[TG_RELEASE_TEXT];
  tg_OutFile out;
  tg_sight_release(self->ours.release, release);
  tg_SnapshotHead head = {
    .lua = release, .pid = self->ours.memory.pid, .objects = sums->objects,
    .state_bytes = sums->state_bytes, .low = image->low, .high = image->high};
  if (!tg_outfile_open(&out, self->path))
    return false;
  tg_snapshot_write(g, &head, &out);
  return tg_outfile_close(&out);
}

static int take_picture (const Self *self, tg_CaptureSums *sums) {
  const tg_Ourselves *ours = &self->ours;
  tg_Image image;
  tg_Graph graph;
  if (!tg_image_own(&image, &ours->memory)
      || !tg_capture(&graph, &image, ours->layout, ours->release, ours->main,
                     sums))
    return ENOMEM;
  return write_picture(self, &graph, &image, sums) ? 0 : errno;
}

static _Noreturn void be_child (const Self *self, int fd) {
  Said said = {0};
  tg_apart_begin();
  keep_only(fd);
  said.error = take_picture(self, &said.sums);
  ssize_t got = write(0, &said, sizeof said);
  _exit(got == (ssize_t)sizeof said ? 0 : 1);
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

/* False with errno. */
static bool begin (Picture *p, const Self *self) {
  int ends[2];
  sigset_t all, before;
  uint64_t took_ns = 0;
  if (pipe2(ends, O_CLOEXEC) != 0)
    return false;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  p->child = copy_process(&took_ns);
  if (p->child == 0)
    be_child(self, ends[1]);
  int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(ends[1]);
  p->pipe = ends[0];
  p->stopped_ms = (double)took_ns / 1e6;
  errno = error;
  if (p->child > 0)
    return true;
  close(ends[0]);
  p->pipe = -1;
  p->child = 0;
  return false;
}

/* What the child has said; it is then over. */
static bool hear (Picture *p, Said *said) {
  size_t got = 0;
  while (got < sizeof *said) {
    ssize_t n = read(p->pipe, (char *)said + got, sizeof *said - got);
    if (n > 0)
      got += (size_t)n;
    else if (n == 0 || errno != EINTR)
      break;
  }
  close(p->pipe);
  p->pipe = -1;
  while (waitpid(p->child, NULL, __WALL) < 0 && errno == EINTR)
    continue;
  p->child = 0;
  return got == sizeof *said;
}

static int push_failure (lua_State *L, const char *path, int error) {
  lua_pushnil(L);
  lua_pushfstring(L, "%s: %s", path, tg_newfile_words(error));
  lua_pushinteger(L, error);
  return 3;
}

static int push_result (lua_State *L, Picture *p, const char *path) {
  Said said = {0};
  if (!hear(p, &said)) {
    lua_pushnil(L);
    lua_pushliteral(L, "the process that wrote the snapshot has ended");
    lua_pushliteral(L, "failed");
    return 3;
  }
  if (said.error != 0)
    return push_failure(L, path, said.error);
  lua_newtable(L);
  lx_set_integer(L, "objects", (lua_Integer)said.sums.objects);
  lx_set_integer(L, "bytes", (lua_Integer)said.sums.bytes);
  lx_set_integer(L, "state_bytes", (lua_Integer)said.sums.state_bytes);
  lx_set_integer(L, "garbage", (lua_Integer)said.sums.garbage);
  lx_set_number(L, "stopped_ms", p->stopped_ms);
  return 1;
}

/* ---- a picture that is not waited for ---- */

static int picture__gc (lua_State *L) {
  Picture *p = lua_touserdata(L, 1);
  Said said;
  if (p->child > 0)
    hear(p, &said);
  return 0;
}

static int picture__call (lua_State *L) {
  Picture *p = luaL_checkudata(L, 1, PICTURE);
  lua_getiuservalue(L, 1, 1);
  if (p->child > 0) {
    int n = push_result(L, p, lua_tostring(L, -1));
    if (n == 1) {
      lua_pushvalue(L, -1);
      lua_setiuservalue(L, 1, 2);
    }
    return n;
  }
  lua_getiuservalue(L, 1, 2);
  if (!lua_isnil(L, -1))
    return 1;
  lua_pushliteral(L, "the snapshot has failed");
  lua_pushliteral(L, "failed");
  return 3;
}

static int picture__index (lua_State *L) {
  const Picture *p = luaL_checkudata(L, 1, PICTURE);
  if (strcmp(luaL_checkstring(L, 2), "stopped_ms") == 0)
    lua_pushnumber(L, p->stopped_ms);
  else
    lua_pushnil(L);
  return 1;
}

static const luaL_Reg methods[] = {
  {"__gc", picture__gc},
  {"__call", picture__call},
  {"__index", picture__index},
  {NULL, NULL}
};

void tg_ownheap_setup (lua_State *L) {
  lx_class(L, PICTURE, methods);
}

static int push_picture (lua_State *L, Picture *from) {
  Picture *p = lua_newuserdatauv(L, sizeof *p, 2);
  *p = *from;
  luaL_setmetatable(L, PICTURE);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  return 1;
}

/* Nothing is made in the state before the copy has been. */
int ownheap_snapshot (lua_State *L) {
  Self self = {.path = luaL_checkstring(L, 1)};
  Picture p = {.pipe = -1};
  bool wait = lua_toboolean(L, 2);
  size_t n = strlen(self.path);
  luaL_argcheck(L, n < 3 || strcmp(self.path + n - 3, ".gz") != 0, 1,
                "a snapshot is not compressed");
  const char *objection = tg_ourselves_open(&self.ours, L);
  bool begun = objection == NULL && begin(&p, &self);
  int error = errno;
  tg_ourselves_close(&self.ours);
  if (objection != NULL) {
    lua_pushnil(L);
    lua_pushstring(L, objection);
    lua_pushliteral(L, "unknown");
    return 3;
  }
  if (!begun)
    return push_failure(L, self.path, error);
  return wait ? push_result(L, &p, self.path) : push_picture(L, &p);
}
