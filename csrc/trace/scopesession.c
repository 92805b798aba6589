/*
** scopesession.c - sessions of the profiler service as Lua objects: a trace's
** events indexed (scope.h), questions from tables, answers to tables. On the
** thread that runs the state. Wrong questions raise, as does want of memory; a
** recording that cannot be read is nil, message, errno while the session is
** made, and raises later.
**
** Used by lua/tracegrip/scope.lua, mostly on the server's thread, whose clients
** send the questions: what is in them is checked here and not before. Numbers
** and names of fields are those of the service (docs/scope.md).
*/
#include <errno.h>
#include <math.h>
#include <string.h>

#include "trace/scopesession.h"
#include "binding/luasink.h"
#include "scope/making.h"
#include "scope/messages.h"
#include "session/traceinfo.h"
#include "trace/readtrace.h"

#define SESSION "tracegrip.scope"
#define CURSOR "tracegrip.scope.cursor"

#define TRACE 1             /* user value of a session: of what it is */

/* What Lua holds of a session. The index is C's memory, and mostly large. */
typedef struct Session {
  tg_Scope *scope;          /* owns; NULL: collected, or it has failed */
  uint64_t portion;         /* packets */
} Session;

/* An answer that is being made: a userdata that pins its session. */
typedef struct Answer {
  tg_ScopeCursor cursor;    /* owns */
  tg_Buf room;              /* owns */
} Answer;

/* ---- making one ---- */

/* The index goes at once: it may be the larger part of the process's memory,
   and the userdata may stay for long. */
static void drop (Session *u) {
  tg_scope_free(u->scope);
  u->scope = NULL;
}

static int session__gc (lua_State *L) {
  drop(luaL_checkudata(L, 1, SESSION));
  return 0;
}

/* A session, whole or begun; empty after its finalizer, or when its recording
   could not be read. */
static Session *check_any (lua_State *L) {
  Session *u = luaL_checkudata(L, 1, SESSION);
  if (u->scope == NULL)
    luaL_error(L, "this session has been collected");
  return u;
}

/* One that is whole. An index that is half made would answer as if the rest had
   not been. */
static tg_Scope *check_session (lua_State *L) {
  tg_Scope *s = check_any(L)->scope;
  if (s->making != NULL)
    luaL_error(L, "this session is only begun");
  return s;
}

/* Its session is still there: finalizers run in the reverse order of creation
   (manual, 2.5.3), and the user value holds it. */
static int answer__gc (lua_State *L) {
  Answer *a = luaL_checkudata(L, 1, CURSOR);
  tg_scopequery_close(&a->cursor);
  tg_buf_free(&a->room);
  memset(a, 0, sizeof *a);
  return 0;
}

/* The packets of a portion; all of them if nothing is said. 'stride' is for
   tests: short segments make every question cross some. */
static uint64_t read_how (lua_State *L, int i, tg_ScopeSource *from) {
  if (!lua_istable(L, i))
    return UINT64_MAX;
  lua_getfield(L, i, "fromChunk");
  from->from_chunk = lua_toboolean(L, -1);
  lua_getfield(L, i, "stride");
  lua_Integer stride = luaL_optinteger(L, -1, 0);
  luaL_argcheck(L, stride >= 0 && stride < INT32_MAX, i, "bad stride");
  from->stride = (uint32_t)stride;
  lua_getfield(L, i, "portion");
  lua_Integer portion = luaL_optinteger(L, -1, LUA_MAXINTEGER);
  luaL_argcheck(L, portion > 0, i, "bad portion");
  lua_pop(L, 3);
  return (uint64_t)portion;
}

/* Since the stream's time 0, as packets tell time. */
static uint64_t ns_at (const tg_Trace *t, uint64_t ticks) {
  return tg_clock_ns(&t->stream->clock, ticks);
}

/* Times are those of the trace, not of its first packet: a program that does
   nothing at first has been profiled from its beginning. */
static void describe (const tg_Trace *t, tg_ScopeSource *from) {
  from->stream = t->stream;
  from->start = t->start;
  from->stop = tg_traceinfo_stop_pos(t);
  from->start_ns = ns_at(t, t->ticks_start);
  from->end_ns = ns_at(t, t->ticks_end);
  from->arguments = (t->options.types & TG_TYPE_ARGUMENTS) != 0;
}

static tg_Scope *new_scope (lua_State *L, tg_ScopeSource from,
                            const tg_Trace *t, tg_Status *status) {
  tg_Selection selection = {0};
  tg_Scope *s = NULL;
  *status = TG_ERR_MEMORY;
  from.selection = &selection;
  if (tg_selection_add(&selection, &t->options))
    s = tg_scope_begin(&from, status);
  tg_selection_clear(&selection);
  if (*status == TG_ERR_MEMORY)
    luaL_error(L, "not enough memory");
  return s;
}

/* Takes a portion; whether there are more. What fails leaves no session: half
   an index is no answer. Damage is the end of the events, as everywhere. */
static bool advance (lua_State *L, Session *u, tg_Trace *t,
                     tg_Status *status) {
  if (tg_scope_more(u->scope, u->portion, status))
    return true;
  if (*status == TG_OK)
    tg_readtrace_ended(t, u->scope->damage != 0 ? TG_ERR_FORMAT : TG_OK,
                       u->scope->damage);
  else
    drop(u);
  if (*status == TG_ERR_MEMORY)
    luaL_error(L, "not enough memory");
  return false;
}

/* EBADMSG is what a damaged file is for the system: "Bad message". */
static int fail (lua_State *L, tg_Status status) {
  errno = status == TG_ERR_IO ? EIO : EBADMSG;
  return luaL_fileresult(L, 0, NULL);
}

/* advance() -> whether there are more portions. The server's loop calls it
   between other work, so that a long trace does not keep it from its
   clients. */
static int session_advance (lua_State *L) {
  tg_Status status;
  Session *u = check_any(L);
  lua_getiuservalue(L, 1, TRACE);
  bool more = advance(L, u, lua_touserdata(L, -1), &status);
  if (status != TG_OK)
    return fail(L, status);
  lua_pushboolean(L, more);
  return 1;
}

static void set_metatable (lua_State *L);

/* A trace that runs would change under the index, and one that is read as it
   comes has nothing to be read again. */
int scopesession_new (lua_State *L) {
  tg_ScopeSource from = {0};
  tg_Status status;
  tg_Trace *t = tg_readtrace_check(L);
  lua_settop(L, 2);
  if (t->end == TG_END_NOT)
    return luaL_error(L, "this trace is still running");
  if (t->consumed)
    return luaL_error(L, "the packets of this trace are read as they come");
  uint64_t portion = read_how(L, 2, &from);
  describe(t, &from);
  Session *u = lua_newuserdatauv(L, sizeof *u, 1);
  *u = (Session){NULL, portion};
  set_metatable(L);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, TRACE);
  u->scope = new_scope(L, from, t, &status);
  if (portion >= LUA_MAXINTEGER)
    advance(L, u, t, &status);
  return status == TG_OK ? 1 : fail(L, status);
}

/* ---- questions ---- */

/* The first nanosecond that is not before so many milliseconds, as those are
   told: exactly. Times are told as doubles of milliseconds: an event that is
   told to begin at x must be found by a question that begins at x. The product
   is near, the two loops make it exact; they run once or twice. */
static uint64_t first_ns (double ms) {
  if (!(ms > 0))
    return 0;
  if (ms >= TG_TIME_MAX / 1e6)
    return UINT64_MAX;
  uint64_t ns = (uint64_t)(ms * 1e6);
  while (ns > 0 && (double)(ns - 1) / 1e6 >= ms)
    ns--;
  while ((double)ns / 1e6 < ms)
    ns++;
  return ns;
}

/* The largest ns >= 0 with ns / 1e6 <= ms; 0 if there is none. */
static uint64_t last_ns (double ms) {
  if (ms >= TG_TIME_MAX / 1e6)
    return UINT64_MAX;
  uint64_t ns = (uint64_t)(ms * 1e6);
  while ((double)(ns + 1) / 1e6 <= ms)
    ns++;
  while (ns > 0 && (double)ns / 1e6 > ms)
    ns--;
  return ns;
}

/* 'absent' is allowed too, whatever the limits are. */
static lua_Integer integer (lua_State *L, int q, const char *key,
                            lua_Integer least, lua_Integer most,
                            lua_Integer absent) {
  int ok = 1;
  lua_getfield(L, q, key);
  lua_Integer n = lua_isnil(L, -1) ? absent : lua_tointegerx(L, -1, &ok);
  if (!ok || (n != absent && (n < least || n > most)))
    luaL_error(L, "bad '%s'", key);
  lua_pop(L, 1);
  return n;
}

/* An end before the beginning of time, which clients send, selects nothing;
   to_ns cannot say so. */
static void read_interval (lua_State *L, int i, tg_ScopeQuery *q) {
  lua_getfield(L, i, "start");
  lua_getfield(L, i, "end");
  double start = luaL_optnumber(L, -2, -HUGE_VAL);
  double end = luaL_optnumber(L, -1, HUGE_VAL);
  lua_pop(L, 2);
  q->from_ns = first_ns(start);
  if (end >= 0)
    q->to_ns = last_ns(end);
  else                      /* nothing is before the beginning */
    q->from_ns = UINT64_MAX;
}

/* Types are bits, and any set of them may be asked for; 0 means all. */
static void read_question (lua_State *L, int i, const tg_Scope *s,
                           tg_ScopeQuery *q) {
  luaL_checktype(L, i, LUA_TTABLE);
  memset(q, 0, sizeof *q);
  q->timeline = (uint32_t)integer(L, i, "timeline", 1, s->timelines.count, 0);
  if (q->timeline-- == 0)
    luaL_error(L, "bad 'timeline'");
  q->mode = (tg_ScopeMode)integer(L, i, "mode", TG_SCOPE_ALL,
                                  TG_SCOPE_REDUCE_ALL, TG_SCOPE_ALL);
  q->root = (uint64_t)integer(L, i, "eventID", 1, LUA_MAXINTEGER, 0);
  q->max_depth = (uint32_t)integer(L, i, "maxDepth", 1, TG_NOLIMIT,
                                   TG_NOLIMIT);
  q->types = (uint64_t)integer(L, i, "types", LUA_MININTEGER, LUA_MAXINTEGER,
                               0);
  read_interval(L, i, q);
}

/* In the middle of an answer there is nobody to give nil and a message to. */
static void check_status (lua_State *L, tg_Status status) {
  if (status == TG_ERR_MEMORY)
    luaL_error(L, "not enough memory");
  if (status != TG_OK)
    luaL_error(L, "%s", strerror(status == TG_ERR_IO ? EIO : EBADMSG));
}

/* Pushes the answer to the question at 2; NULL, and nothing, if it is about an
   event that there is not. The session is pinned by the answer: a client may
   ask and let go of the session while it reads. */
static Answer *ask (lua_State *L) {
  tg_ScopeQuery q;
  tg_Scope *s = check_session(L);
  read_question(L, 2, s, &q);
  tg_assert(s->making == NULL);
  Answer *a = lx_owner(L, sizeof *a, 1, CURSOR, answer__gc);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  bool opened = tg_scopequery_open(&a->cursor, s, &q);
  check_status(L, a->cursor.status);
  if (opened)
    return a;
  lua_pop(L, 1);
  return NULL;
}

/* Pushes the next event; NULL, and nothing, if there is none. The event is the
   cursor's, and good until the next one. What is in the message depends on the
   mode that was asked for. */
static const tg_ScopeEvent *push_next (lua_State *L, Answer *a) {
  tg_LuaSink sink;
  tg_assert(a->cursor.scope != NULL);
  const tg_ScopeEvent *e = tg_scopequery_next(&a->cursor);
  check_status(L, a->cursor.status);
  if (e == NULL)
    return NULL;
  tg_luasink_init(&sink, L);
  tg_messages_event(&sink.sink, &a->room, a->cursor.scope, a->cursor.query.mode,
                    e);
  return e;
}

/* By the writer of messages (scope/messages.h), so that times are rounded in
   one place. */
static void push_interval (lua_State *L, uint64_t start_ns, uint64_t end_ns) {
  tg_LuaSink sink;
  tg_luasink_init(&sink, L);
  tg_messages_interval(&sink.sink, start_ns, end_ns);
}

/* Fills the list on top; whether there are more than 'limit'. The first event
   begins first, whichever ends last. One more than 'limit' is asked for: that
   is how it is known that there are more. */
static bool fill_list (lua_State *L, Answer *a, lua_Integer limit,
                       uint64_t *start_ns, uint64_t *end_ns) {
  const tg_ScopeEvent *e;
  lua_Integer n = 0;
  tg_assert(lua_istable(L, -1) && lua_rawlen(L, -1) == 0);
  *start_ns = *end_ns = 0;
  while ((e = push_next(L, a)) != NULL) {
    if (n == limit) {
      lua_pop(L, 1);
      return true;
    }
    if (n++ == 0)
      *start_ns = e->start_ns;
    if (*end_ns < e->end_ns)
      *end_ns = e->end_ns;
    lua_rawseti(L, -2, n);
  }
  return false;
}

/* events(question, limit) -> {interval, eventList}, whether there are more.
   Without events there is no interval either. */
static int session_events (lua_State *L) {
  uint64_t start_ns, end_ns;
  lua_Integer limit = luaL_optinteger(L, 3, LUA_MAXINTEGER);
  lua_settop(L, 2);
  Answer *a = ask(L);
  if (a == NULL)
    return 0;
  lua_createtable(L, 0, 2);
  lua_newtable(L);
  bool more = fill_list(L, a, limit, &start_ns, &end_ns);
  if (lua_rawlen(L, -1) > 0) {
    push_interval(L, start_ns, end_ns);
    lua_setfield(L, -3, "interval");
  }
  lua_setfield(L, -2, "eventList");
  lua_pushboolean(L, more);
  return 2;
}

/* An iterator: what it holds is pinned by the closure. */
static int next_event (lua_State *L) {
  Answer *a = lua_touserdata(L, lua_upvalueindex(1));
  if (a->cursor.scope == NULL)
    return 0;                 /* met while its state closes */
  return push_next(L, a) != NULL;
}

/* each(question) -> iterator. For answers that are too large for a list: the
   caller sends them as they come. */
static int session_each (lua_State *L) {
  lua_settop(L, 2);
  if (ask(L) == NULL)
    return 0;
  lua_pushcclosure(L, next_event, 1);
  return 1;
}

/* ---- the object ---- */

/* Milliseconds as doubles are the protocol's unit of time. */
static void set_ms (lua_State *L, const char *key, uint64_t ns) {
  lx_set_number(L, key, (double)ns / 1e6);
}

/* What tracing has taken for a plain event. */
static void set_cost (lua_State *L, const char *key, const tg_Scope *s,
                      tg_Cost cost) {
  const tg_Stream *stream = s->trace.stream;
  set_ms(L, key, (uint64_t)((double)stream->costs.ticks[cost]
                            * stream->clock.ns_per_tick));
}

/* Figures of the whole; the last two are what calls and returns of Lua
   functions have cost, as far as they have captured nothing. */
static int session_info (lua_State *L) {
  const tg_Scope *s = check_session(L);
  lua_createtable(L, 0, 6);
  lx_set_integer(L, "events", (lua_Integer)s->events);
  lx_set_integer(L, "segments", (lua_Integer)s->nsegments);
  set_ms(L, "start_ms", s->trace.start_ns);
  set_ms(L, "duration_ms", s->duration_ns);
  set_cost(L, "callOverhead", s, TG_COST_CALL);
  set_cost(L, "returnOverhead", s, TG_COST_RETURN);
  return 1;
}

/* Thread numbers in the order of timelines: a timeline is named by its place in
   this list. */
static int session_timelines (lua_State *L) {
  const tg_Timelines *t = &check_session(L)->timelines;
  lua_createtable(L, (int)t->count, 0);
  for (uint32_t i = 0; i < t->count; i++) {
    lua_pushinteger(L, t->list[i].thread);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* Made with the first session of a state: few programs have one. */
static void set_metatable (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"advance", session_advance},
    {"info", session_info},
    {"timelines", session_timelines},
    {"events", session_events},
    {"each", session_each},
    {"__gc", session__gc},
    {NULL, NULL}
  };
  lx_class(L, SESSION, methods);
  luaL_setmetatable(L, SESSION);
}
