/*
** readtrace.c - a reading of a trace, which packets, reports and exports begin
** with; trace:packets and trace:log. On the thread that runs the state. Wrong
** filters raise; events that cannot be read are an errno, and damage of a
** recording is the end of what it has.
*/
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "trace/readtrace.h"
#include "binding/logstyle.h"
#include "binding/luasink.h"
#include "binding/readoptions.h"
#include "packet/log.h"
#include "packet/packet.h"
#include "session/traceinfo.h"

/* Zeroed, so that a program that calls it by hand (debug.getmetatable) finds
   nothing the second time. The Trace is in the user value and is not ours to
   release. */
static int reading__gc (lua_State *L) {
  tg_ReadTrace *r = lua_touserdata(L, 1);
  tg_minduration_free(&r->minduration);
  tg_reader_free(r->reader);
  tg_selection_clear(&r->selection);
  tg_filter_free(&r->filter);
  tg_scratch_free(&r->scratch);
  memset(r, 0, sizeof *r);
  return 0;
}

tg_Trace *tg_readtrace_check (lua_State *L) {
  tg_Trace *t = luaL_checkudata(L, 1, TG_TRACE);
  if (t->stream == NULL)        /* met while its state closes */
    luaL_error(L, "this trace has been collected");
  return t;
}

/* What the trace recorded is the most that can be asked for: a filter narrows,
   never widens. */
static bool work_out_demand (tg_ReadTrace *r, const tg_Trace *t, bool narrow,
                             uint32_t types) {
  r->selection.undecided = &r->trace->undecided;
  if (!tg_selection_add(&r->selection, &t->options)
      || (narrow && !tg_selection_narrow(&r->selection, &r->filter)))
    return false;
  r->selection.types &= types;
  return true;
}

/* 'stop' is fixed here: of a trace that runs it is what there is now. A reading
   of a program that traces itself would never end otherwise. False without
   memory. */
static bool open_reader (tg_ReadTrace *r, const tg_Trace *t) {
  tg_assert(r->reader == NULL);
  r->stop = tg_traceinfo_stop_pos(t);
  r->reader = tg_reader_new(t->stream, t->start, &r->selection);
  tg_minduration_init(&r->minduration, r->reader, r->selection.min_duration_ns);
  return r->reader != NULL;
}

/* The userdata has its finalizer, and the Trace as its user value, before
   anything in it is made: so an error frees the parts made so far. */
tg_ReadTrace *tg_readtrace_new (lua_State *L, int filter,
                                const char *const *extra, uint32_t types) {
  tg_Trace *t = tg_readtrace_check(L);
  lua_settop(L, filter);                /* nil, if there is none */
  bool narrow = !lua_isnoneornil(L, filter);
  tg_ReadTrace *r =
      lx_owner(L, sizeof *r, 1, "tracegrip.reading", reading__gc);
  tg_assert(lua_touserdata(L, 1) == t);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  r->trace = t;
  tg_readoptions_filter(L, filter, extra, &r->filter);
  if (t->consumed)
    luaL_error(L, "the packets of this trace are read as they come");
  if (!work_out_demand(r, t, narrow, types) || !open_reader(r, t))
    luaL_error(L, "not enough memory");
  return r;
}

/* Copies of a reader take its clock: so this has to come before them. */
void tg_readtrace_times (tg_ReadTrace *r, tg_Times usual) {
  tg_Times times = r->filter.times != TG_TIMES_USUAL ? r->filter.times : usual;
  if (times == TG_TIMES_TRUE)
    tg_reader_correct(r->reader);
}

/* The errno that the system has for such a failure: EBADMSG, "Bad message". */
static int errno_of (tg_Status status) {
  switch (status) {
    case TG_ERR_MEMORY: return ENOMEM;
    case TG_ERR_FORMAT: return EBADMSG;
    case TG_ERR_IO: return EIO;
    case TG_OK: default: return 0;
  }
}

/* Damage is no error: the packets before it are good, and more than nothing.
   The Trace notes the damage in its field. */
int tg_readtrace_ended (tg_Trace *t, tg_Status status, uint64_t damage) {
  if (status != TG_ERR_FORMAT || damage == 0)
    return errno_of(status);
  if (t->recorded.damage == 0)
    t->packets_end = TG_PACKETS_UNKNOWN;    /* there are less than that */
  t->recorded.damage = damage;
  return 0;
}

/* To be called when no more packets come: 0 if the trace ended there. */
int tg_readtrace_error (const tg_ReadTrace *r) {
  return tg_readtrace_ended(r->trace, tg_minduration_status(&r->minduration),
                            tg_reader_damage(r->reader));
}

/* Called by the reader in the middle of its work, so nothing may be raised
   through it: the error stays on the stack, and the reading goes on to its
   end, which its user cuts short. */
static void tell (void *ud) {
  tg_Pace *p = ud;
  if (p->raised)
    return;
  tg_assert(lua_isfunction(p->L, p->function));
  tg_Pos pos = tg_minduration_pos(&p->reading->minduration);
  double done = (double)(pos - p->from);
  double part = (p->before + done) / p->whole;
  lua_pushvalue(p->L, p->function);
  lua_pushnumber(p->L, part < 1 ? part : 1);
  p->raised = lua_pcall(p->L, 1, 0, 0) != LUA_OK;
}

/* Bytes, not packets, are what is known of the whole beforehand. */
void tg_pace_begin (tg_Pace *p, lua_State *L, tg_ReadTrace *r, int function) {
  *p = (tg_Pace){.L = L, .reading = r, .function = function};
  if (lua_isnil(L, function))
    return;
  if (!lua_isfunction(L, function))
    luaL_error(L, "option 'progress': a function expected, got %s",
               luaL_typename(L, function));
  luaL_checkstack(L, LUA_MINSTACK, NULL);
  p->from = r->trace->start;
  p->whole = (double)(r->stop - p->from);
  tg_minduration_pace(&r->minduration, tell, p);
}

/* Nanoseconds since the stream's time 0, as packets tell time. */
static uint64_t ns_at (const tg_Trace *t, uint64_t ticks) {
  return tg_clock_ns(&t->stream->clock, ticks);
}

uint64_t tg_readtrace_ends (const tg_Trace *t) {
  return ns_at(t, t->end == TG_END_NOT ? tg_clock_ticks() : t->ticks_end);
}

/* A ring begins later than its trace did; what is damaged ends sooner. */
void tg_readtrace_span (const tg_ReadTrace *r, const tg_Trace *t,
                        uint64_t *start_ns, uint64_t *end_ns) {
  uint64_t end = tg_reader_until(r->reader, tg_readtrace_ends(t));
  if (tg_minduration_status(&r->minduration) == TG_ERR_FORMAT)
    end = tg_reader_time(r->reader);
  if (!tg_reader_begun(r->reader, start_ns))
    *start_ns = ns_at(t, t->ticks_start);
  if (*start_ns < r->filter.from_ns)
    *start_ns = r->filter.from_ns;
  *end_ns = end < r->filter.to_ns ? end : r->filter.to_ns;
}

/* ---- packets ---- */

/* A Lua iterator has nobody to give nil and a message to: what cannot be read
   raises. */
static int next_packet (lua_State *L) {
  tg_ReadTrace *r = lua_touserdata(L, lua_upvalueindex(1));
  tg_Packet packet;
  tg_LuaSink sink;
  if (r->reader == NULL)
    return 0;
  tg_assert(r->stop >= r->trace->start);
  if (!tg_minduration_next(&r->minduration, r->stop, &packet)) {
    int error = tg_readtrace_error(r);
    return error == 0 ? 0 : luaL_error(L, "%s", strerror(error));
  }
  tg_luasink_init(&sink, L);
  tg_packet_write(&sink.sink, &packet, tg_reader_stream(r->reader),
                  &r->selection, &r->scratch);
  return 1;
}

/* The iterator owns the reading by its upvalue, which pins the Trace in
   turn. */
int trace_packets (lua_State *L) {
  tg_ReadTrace *r = tg_readtrace_new(L, 2, NULL, TG_TYPES_ALL);
  tg_readtrace_times(r, TG_TIMES_RAW);
  tg_reader_mark(r->reader);
  lua_pushcclosure(L, next_packet, 1);
  return 1;
}

/* ---- log ---- */

/* Writes what there is; the errno of what went wrong, or 0. The log is made,
   pumped and closed here: nothing raises while it has its descriptor. */
static int write_log (const tg_ReadTrace *r, tg_Trace *t,
                      const tg_LogStyle *style, int fd) {
  tg_LogState state;
  tg_Log *log = tg_log_new(t->stream, t->start, &r->selection, style, fd);
  if (log == NULL)
    return ENOMEM;
  tg_log_pump(log, r->stop);
  tg_log_finish(log);
  tg_log_state(log, &state);
  tg_log_free(log);
  int error = tg_readtrace_ended(t, state.status, state.damage);
  return state.error != 0 ? state.error : error;
}

/* The style at 2: a table, nil for an empty one; 'style' gets all that does
   not depend on where it is to go. An empty style is what is asked for by
   none: colour and width as the place has them. */
static void check_style (lua_State *L, tg_LogStyle *style) {
  if (lua_isnil(L, 2)) {
    lua_newtable(L);
    lua_replace(L, 2);
  }
  luaL_checktype(L, 2, LUA_TTABLE);
  tg_logstyle_check(L, 2);
  tg_logstyle_read(L, 2, -1, style);
}

/* The style is checked before the file is opened: a mistake in it must not
   leave an empty file. */
int trace_log (lua_State *L) {
  tg_LogStyle style;
  tg_Trace *t = tg_readtrace_check(L);
  lua_settop(L, 3);
  check_style(L, &style);
  tg_ReadTrace *r = tg_readtrace_new(L, 3, NULL, TG_TYPES_ALL);
  bool named = lua_getfield(L, 2, "path") == LUA_TSTRING;
  const char *path = named ? lua_tostring(L, -1) : NULL;
  int fd = tg_logstyle_open(L, 2);
  if (fd < 0)
    return lx_failure(L, path);
  tg_logstyle_read(L, 2, fd, &style);
  style.fails = style.whole = true;
  style.corrected = r->filter.times == TG_TIMES_TRUE;
  int error = write_log(r, t, &style, fd);
  if (named)
    close(fd);
  errno = error;
  return luaL_fileresult(L, error == 0, path);
}
