/*
** snapshot.c - the button of a ring's file: a signal handler, and what the next
** event does about it. The handler runs on any thread and touches two words
** that are atomic or only ever lowered; all else is on the traced thread. A
** file that cannot be saved is told on standard error, since nobody asked who
** could be answered.
*/
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session/snapshot.h"
#include "base/alloc.h"
#include "session/tracesave.h"

/* The handler gets no argument of ours, so there is one session for the
   process: the first that wants it. */
static tg_Session *_Atomic answering;
static struct sigaction before;

/* The next event asks the writer's 'turn' (tracelimits.c), which looks at
   'button'. The limit may be overwritten if 'turn' is at work just now: it
   looks once more when it is done. */
static void button (int signal) {
  (void)signal;
  tg_Session *s = atomic_load(&answering);
  if (s != NULL) {
    atomic_store(&s->after.button, true);
    s->writer.packets_stop = 0;
  }
}

/* A program that uses the signal itself keeps it: then there is no button. */
void tg_snapshot_on (tg_Session *s) {
  struct sigaction ours = {.sa_handler = button, .sa_flags = SA_RESTART};
  sigemptyset(&ours.sa_mask);
  if (atomic_load(&answering) != NULL || sigaction(SIGUSR1, NULL, &before) != 0
      || before.sa_handler != SIG_DFL)
    return;
  atomic_store(&answering, s);
  sigaction(SIGUSR1, &ours, NULL);
}

/* The program may have put a handler of its own in the place of ours
   meanwhile: that one stays. */
void tg_snapshot_off (tg_Session *s) {
  struct sigaction now;
  if (atomic_load(&answering) != s)
    return;
  if (sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_handler == button)
    sigaction(SIGUSR1, &before, NULL);
  atomic_store(&answering, NULL);
}

/* PATH.1, PATH.2, ...: the first one that is not there; false if it does not
   fit. Another process may take the name between this and the saving: then it
   is written over, as with any file of that name. */
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

/* With write and not stdio: the program may be inside of a call of stdio. */
static void complain (const char *path, int error) {
  char line[512];
  int n = snprintf(line, sizeof line, "tracegrip: cannot save %s: %s\n", path,
                   strerror(error));
  if (n > 0 && write(STDERR_FILENO, line, (size_t)n < sizeof line
                                          ? (size_t)n : sizeof line - 1) < 0)
    return;               /* nobody to tell */
}

/* The trace may have ended between the signal and this event: then there is
   nothing to be saved. errno is the program's. */
void tg_snapshot_save (tg_Session *s) {
  char path[4096];
  int error = errno;
  tg_Trace *t = s->file.trace;
  if (t != NULL && free_path(tg_filewriter_path(t->file), path, sizeof path)
      && tg_tracesave(t, &t->plan->program, path) != TG_OK)
    complain(path, errno);
  errno = error;
}
