#include "base/signals.h"

#include <errno.h>
#include <time.h>

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

bool tg_signals_thread (pthread_t *thread, void *(*run) (void *), void *ud) {
  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  int error = pthread_create(thread, NULL, run, ud);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return error == 0;
}
