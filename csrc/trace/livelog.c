/*
** livelog.c - a trace whose log is written by the hook (tracing.c pumps it
** after each event). Here it is started, on the thread that runs the state; a
** file that cannot be opened is nil, message, errno.
**
** After each event and not now and then: a person who watches a program that
** hangs, or dies, wants to see its last call.
*/
#include <errno.h>
#include <unistd.h>

#include "trace/livelog.h"
#include "binding/logstyle.h"
#include "binding/readoptions.h"
#include "packet/log.h"
#include "trace/trace.h"

/* The log has a selection of its own: it is merged from the same options, and
   copied, so that the Trace may change or go. False without memory. */
static bool attach (tg_Trace *t, const tg_LogStyle *style, int fd) {
  tg_Selection d = {0};
  if (tg_selection_add(&d, &t->options))
    t->log = tg_log_new(t->stream, t->start, &d, style, fd);
  tg_selection_clear(&d);
  return t->log != NULL;
}

/* The trace begins before the log is attached, since the log reads the stream
   that begins with it. A descriptor that was opened for a path is closed,
   since the log has a duplicate; any other is the program's. The Trace is
   anchored last: to do so may run a finalizer, which may end the trace. */
int livelog_start (lua_State *L) {
  tg_LogStyle style;
  lua_settop(L, 2);
  luaL_checktype(L, 2, LUA_TTABLE);
  tg_Trace *t = tg_trace_new(L);
  tg_readoptions(L, 1, NULL, &t->options);
  int fd = tg_logstyle_open(L, 2);
  if (fd < 0) {
    lua_getfield(L, 2, "path");
    return lx_failure(L, lua_tostring(L, -1));
  }
  tg_logstyle_read(L, 2, fd, &style);
  tg_trace_begin(L, t, "log", TG_ORIGIN_LOG, NULL);
  tg_assert(t->session != NULL && t->consumed);
  bool attached = attach(t, &style, fd);
  if (attached) {
    t->session->after.logging = true;
    tg_session_request_attention(t->session);
  }
  if (lua_getfield(L, 2, "path") == LUA_TSTRING)
    close(fd);            /* the log has a duplicate */
  lua_pop(L, 1);
  if (!attached) {
    tg_trace_halt(L, t);
    return luaL_error(L, "not enough memory");
  }
  tg_trace_anchor(L, t);
  return 1;
}
