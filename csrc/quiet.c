#include "quiet.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

tg_Quiet tg_quiet_begin (int signal) {
  tg_Quiet q;
  sigset_t pending;
  sigemptyset(&q.set);
  sigaddset(&q.set, signal);
  sigpending(&pending);
  q.pending = sigismember(&pending, signal) == 1;
  q.blocked = pthread_sigmask(SIG_BLOCK, &q.set, &q.before) == 0;
  return q;
}

void tg_quiet_end (tg_Quiet *q, bool came) {
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
