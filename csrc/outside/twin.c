/* twin.c - see twin.h. */
#include "outside/twin.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define THREADS 256u            /* that are tried */
#define TRIES 50u               /* until what is left of the copy is taken */

static bool is_usable (const tg_Halt *h) {
  return h->kind == TG_HALT_STOPPED && h->signal == 0;
}

tg_Halt *tg_twin_thread (tg_Halt *list, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (is_usable(&list[i]))
      return &list[i];
  }
  for (uint32_t i = 0; i < count; i++) {
    if (list[i].kind != TG_HALT_WAITS)
      continue;
    tg_halt_stop(&list[i], list[i].pid, list[i].tid);
    if (is_usable(&list[i]))
      return &list[i];
  }
  return NULL;
}

bool tg_twin_begin (tg_Twin *t, tg_Memory *m, tg_Buf *words) {
  sigset_t all;
  *t = (tg_Twin){.pid = m->pid};
  if (!tg_inject_allowed(m->pid, words))
    return false;
  t->place = tg_inject_place(m);
  if (t->place == 0) {
    tg_buf_addfmt(words, "process %d has no code to fork by", m->pid);
    return false;
  }
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &t->usual);
  return true;
}

/* Without flags, and no signal at its end: a copy of memory, seen by nobody. */
bool tg_twin_make (tg_Twin *t, tg_Halt *h) {
  static const uint64_t plain[4] = {0};
  tg_Injected done = {0};
  bool made = h != NULL && tg_inject_call(h, t->place, SYS_clone, plain, &done);
  t->child = done.child;
  errno = (made && done.result < 0) ? (int)-done.result : EAGAIN;
  return made && t->child != 0;
}

/* ---- the end ---- */

static void kill_child (int child) {
  int status;
  kill(child, SIGKILL);
  while (waitpid(child, &status, __WALL) == child && !WIFSIGNALED(status)
         && !WIFEXITED(status))
    continue;
}

/* By whatever thread is there: each finds the children of all (wait(2)). */
static bool reap_once (tg_Twin *t, bool gentle, uint64_t *stopped_ns) {
  int list[THREADS];
  uint64_t arguments[4] = {(uint64_t)t->child, 0, WNOHANG | __WALL, 0};
  tg_Injected done = {0};
  bool made = false;
  uint32_t n = tg_halt_threads(t->pid, list, THREADS);
  for (uint32_t i = 0; i < n && !made; i++) {
    tg_Halt h;
    bool stands = gentle ? tg_halt_begin(&h, t->pid, list[i])
                         : tg_halt_stop(&h, t->pid, list[i]);
    if (!stands)
      continue;
    made = tg_inject_call(&h, t->place, SYS_wait4, arguments, &done);
    tg_halt_end(&h);
    if (h.took_ns > *stopped_ns)
      *stopped_ns = h.took_ns;
  }
  return made && (done.result == t->child || done.result == -ECHILD);
}

/* A thread that runs is asked first: a stop ends some calls early. */
static bool reap (tg_Twin *t, uint64_t *stopped_ns) {
  struct timespec nap = {0, 1000000};
  for (uint32_t i = 0; i < TRIES; i++) {
    if (reap_once(t, i < 3, stopped_ns))
      return true;
    nanosleep(&nap, NULL);
  }
  return false;
}

bool tg_twin_end (tg_Twin *t, uint64_t *stopped_ns) {
  bool clean = true;
  if (t->child != 0) {
    kill_child(t->child);
    clean = reap(t, stopped_ns);
  }
  if (clean)
    t->child = 0;
  pthread_sigmask(SIG_SETMASK, &t->usual, NULL);
  return clean;
}
