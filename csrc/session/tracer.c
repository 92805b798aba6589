/*
** tracer.c - see tracer.h. A part of each host, and the first of its parts: so
** traces end before what they are read by.
*/
#include "session/tracer.h"

#include <string.h>

#include "host/life.h"
#include "packet/log.h"
#include "session/tellloss.h"
#include "session/tracefile.h"
#include "session/traceinfo.h"
#include "session/tracelimits.h"
#include "session/tracing.h"
#include "state/loadedname.h"

static tg_Session *session_of (tg_Part *p) {
  return tg_session_of(p->host);
}

/* What is open exits "terminated" before the traces stop: else their frames
   would seem to be open still, in a state that is gone. */
static void closing (tg_Part *p, lua_State *L) {
  tg_Session *s = session_of(p);
  if (tg_session_traces(s))
    tg_tracing_terminate(s);
  while (s->traces != NULL)
    tg_tracing_stop(s, L, s->traces);
  tg_part_remove(p);
}

/* A log is the parent's: two processes would write into each other's lines. A
   client's traces are not read on either. Traces of other threads end too:
   their threads are not there. */
static void forked (tg_Part *p) {
  tg_Session *s = session_of(p);
  tg_tracefile_forked(s);
  for (tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t->log != NULL) {
      tg_log_mute(t->log);
      if (t->end == TG_END_NOT)
        tg_tracelimits_end(s, t, TG_END_STOPPED);
    }
    if (t->follower != NULL)
      tg_follower_leave(t->follower);
  }
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

static void exiting (tg_Part *p) {
  tg_Session *s = session_of(p);
  tg_tracing_terminate(s);
  finish_logs(s);
  tg_tracelimits_finish(s);
}

static const tg_PartKind part_kind = {
  .forked = forked, .exiting = exiting, .closing = closing
};

static int session__gc (lua_State *L) {
  tg_Session *s = lua_touserdata(L, 1);
  if (tg_session_find(L) == s)
    tg_life_end(&s->host, L);
  return 0;
}

/* The finalizer is there before the state can be used. */
static tg_Session *push_session (lua_State *L) {
  tg_Session *s = lua_newuserdatauv(L, sizeof *s, 0);
  memset(s, 0, sizeof *s);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, session__gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  return s;
}

/* What is made here may collect garbage, and a finalizer of the program's may
   start a trace then: the session is the one that came first. */
tg_Session *tg_tracer_get (lua_State *L) {
  tg_Session *s = tg_session_find(L);
  if (s != NULL)
    return s;
  if (tg_life_ended(L))
    luaL_error(L, "the state closes: no trace can begin any more");
  s = push_session(L);
  tg_loadedname_setup(L);
  tg_Host *h = tg_life_begin(&s->host, L);
  if (h != &s->host)
    return tg_session_of(h);
  s->attend = tg_tracing_attend;
  tg_part_add(h, &s->part, &part_kind);
  return s;
}
