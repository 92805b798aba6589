/*
** process.c - what sessions do when the process forks or exits (atfork.h).
** Called on the thread that forks or exits, with the list of sessions held.
** Other threads may be at work in sessions of theirs: those are left alone.
*/
#include "session/process.h"
#include "base/atfork.h"
#include "chain/lastrun.h"
#include "packet/log.h"
#include "session/tellloss.h"
#include "session/traceinfo.h"
#include "session/tracelimits.h"
#include "session/tracing.h"
#include "state/observer.h"

/* In the child the traces that cannot go on end. Other threads' sessions too:
   their threads are not there. */
static void at_fork (tg_AtFork side) {
  if (side == TG_ATFORK_BEFORE) {
    tg_sessions_hold();
    return;
  }
  if (side == TG_ATFORK_CHILD) {
    for (tg_Session *s = tg_sessions_first(); s != NULL; s = s->next)
      tg_tracing_forked(s);
  }
  tg_sessions_release();
}

/* A live log's last line tells how many events it had: without it a log that
   was cut off would look whole. */
static void finish_logs (tg_Session *s) {
  for (tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t->log != NULL) {
      tg_log_pump(t->log, tg_traceinfo_stop_pos(t));
      tg_log_finish(t->log);
      tg_tellloss_log(t);
    }
  }
}

/* Only plain memory is touched: no state is looked at, since the program may
   have been in the middle of anything when it called exit. */
static void at_exit (void) {
  tg_sessions_hold();
  for (tg_Session *s = tg_sessions_first(); s != NULL; s = s->next) {
    if (tg_lastrun_home(s)) {
      tg_tracing_terminate(s);
      finish_logs(s);
      tg_tracelimits_finish(s);
      tg_observers_exiting(s);
    }
  }
  tg_sessions_forget();
  tg_sessions_release();
}

/* Sessions come first of all places (atfork.h): what they write last goes
   through channels and stores. */
void tg_process_setup (void) {
  tg_atfork_register(TG_ATFORK_SESSIONS, at_fork, at_exit);
}
