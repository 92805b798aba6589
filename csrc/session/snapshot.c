#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/snapshot.h"
#include "base/alloc.h"
#include "session/tracesave.h"

static tg_Session *_Atomic answering;
static struct sigaction before;

/* The next event asks the writer's 'turn' (tracelimits.c), which looks at
   'button'. The limit may be overwritten if 'turn' is at work just now: it
   looks once more when it is done. */
static void button (int signal) {
  (void)signal;
  tg_Session *s = atomic_load(&answering);
  if (s != NULL) {
    atomic_store(&s->button, true);
    s->writer.packets_stop = 0;
  }
}

void tg_snapshot_on (tg_Session *s) {
  struct sigaction ours = {.sa_handler = button, .sa_flags = SA_RESTART};
  sigemptyset(&ours.sa_mask);
  if (atomic_load(&answering) != NULL || sigaction(SIGUSR1, NULL, &before) != 0
      || before.sa_handler != SIG_DFL)
    return;
  atomic_store(&answering, s);
  sigaction(SIGUSR1, &ours, NULL);
}

void tg_snapshot_off (tg_Session *s) {
  struct sigaction now;
  if (atomic_load(&answering) != s)
    return;
  if (sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_handler == button)
    sigaction(SIGUSR1, &before, NULL);
  atomic_store(&answering, NULL);
}

/* PATH.1, PATH.2, ...: the first one that is not there; false if it does not
   fit. */
static bool free_path (const char *path, char *to, size_t size) {
  for (unsigned i = 1; i != 0; i++) {
    int n = snprintf(to, size, "%s.%u", path, i);
    if (n < 0 || (size_t)n >= size)
      return false;
    if (access(to, F_OK) != 0)
      return true;
  }
  return false;
}

static void complain (const char *path, int error) {
  char line[512];
  int n = snprintf(line, sizeof line, "tracegrip: cannot save %s: %s\n", path,
                   strerror(error));
  if (n > 0 && write(STDERR_FILENO, line, (size_t)n < sizeof line
                                          ? (size_t)n : sizeof line - 1) < 0)
    return;               /* nobody to tell */
}

void tg_snapshot_take (tg_Session *s) {
  char path[4096];
  int error = errno;
  tg_Trace *t = s->on_file;
  if (t != NULL && free_path(tg_filewriter_path(t->file), path, sizeof path)
      && tg_tracesave(t, &t->plan->program, path) != TG_OK)
    complain(path, errno);
  errno = error;
}
