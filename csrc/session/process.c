#include <pthread.h>

#include "session/process.h"
#include "base/clock.h"
#include "hook/hook.h"
#include "packet/log.h"
#include "server/endpoint.h"
#include "server/serverthread.h"
#include "session/tracefile.h"
#include "session/tracing.h"
#include "state/ownfunctions.h"

static struct {
  pthread_mutex_t mutex;
  tg_Session *first;
} all = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/*
** {==================================================================
** Fork: no mutex of ours may stay with a thread that the child has not
** ===================================================================
*/

static void before_fork (void) {
  pthread_mutex_lock(&all.mutex);
  tg_ownfunctions_fork(TG_ATFORK_BEFORE);
  tg_clock_fork(TG_ATFORK_BEFORE);
  tg_serverthread_fork(TG_ATFORK_BEFORE);
  tg_streams_fork(TG_ATFORK_BEFORE);
}

static void after_fork (tg_AtFork side) {
  tg_streams_fork(side);
  tg_serverthread_fork(side);
  tg_clock_fork(side);
  tg_ownfunctions_fork(side);
  pthread_mutex_unlock(&all.mutex);
}

static void in_parent (void) {
  after_fork(TG_ATFORK_PARENT);
}

static void in_child (void) {
  after_fork(TG_ATFORK_CHILD);
  for (tg_Session *s = all.first; s != NULL; s = s->next)
    tg_tracing_forked(s);
}

/* Without memory for it: then a fork may find a mutex taken. */
static void watch_forks (void) {
  pthread_atfork(before_fork, in_parent, in_child);
}

/* }================================================================== */

void tg_process_add (tg_Session *s) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  pthread_mutex_lock(&all.mutex);
  s->next = all.first;
  all.first = s;
  pthread_mutex_unlock(&all.mutex);
}

void tg_process_remove (tg_Session *s) {
  pthread_mutex_lock(&all.mutex);
  tg_Session **p = &all.first;
  while (*p != NULL && *p != s)
    p = &(*p)->next;
  if (*p != NULL)
    *p = s->next;
  pthread_mutex_unlock(&all.mutex);
}

static void finish_logs (tg_Session *s) {
  for (tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t->log != NULL) {
      tg_log_pump(t->log, tg_trace_stop_pos(t));
      tg_log_finish(t->log);
    }
  }
}

/* Only plain memory is touched: no state is looked at. */
__attribute__((destructor))
static void at_exit (void) {
  pthread_mutex_lock(&all.mutex);
  for (tg_Session *s = all.first; s != NULL; s = s->next) {
    if (tg_hook_home(s)) {
      tg_tracing_terminate(s);
      finish_logs(s);
      tg_tracefile_finish(s);
      tg_endpoint_leave(s);
    }
  }
  all.first = NULL;
  pthread_mutex_unlock(&all.mutex);
  tg_serverthread_finish();
}
