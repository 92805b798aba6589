/*
** signals.c - see signals.h.
**
** Called where a write may raise SIGPIPE or SIGXFSZ, on the traced thread
** mostly, and where a thread of ours is started. A mask that cannot be set is
** told by 'blocked'; then whoever asked does not do what may raise the signal.
**
** Not by ignoring the signal meanwhile: what is ignored is so for all threads
** of the program (signal(7)), a mask is one thread's.
*/
#include "signal/signals.h"

#include <errno.h>
#include <time.h>

/* Whether one is waiting already is asked before the mask is set: that one was
   not raised by what comes now. */
tg_Signals tg_signals_block (int signal) {
  tg_Signals q;
  sigset_t pending;
  sigemptyset(&q.set);
  sigaddset(&q.set, signal);
  sigpending(&pending);
  q.pending = sigismember(&pending, signal) == 1;
  q.blocked = pthread_sigmask(SIG_BLOCK, &q.set, &q.before) == 0;
  return q;
}

/* A signal raised by a write is for the thread that wrote (POSIX, write), so it
   waits here. Taken away is it only if none was waiting before: one signal of
   a kind can wait, and then it cannot be told whose it is. */
void tg_signals_unblock (tg_Signals *q, bool came) {
  int error = errno;
  if (!q->blocked)
    return;
  if (came && !q->pending) {
    struct timespec zero = {0, 0};
    while (sigtimedwait(&q->set, NULL, &zero) < 0 && errno == EINTR)
      continue;
  }
  pthread_sigmask(SIG_SETMASK, &q->before, NULL);
  errno = error;
}

/* The mask is inherited (pthread_create(3)), so it is set before and not by the
   thread itself, which a signal could find first. */
bool tg_signals_thread (pthread_t *thread, void *(*run) (void *), void *ud) {
  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  int error = pthread_create(thread, NULL, run, ud);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return error == 0;
}
