/*
** replayobject.c - see replayobject.h. On the thread that runs the state. The
** userdata pins the reading that it was made of, and by that the Trace.
*/
#include <errno.h>
#include <string.h>

#include "trace/replayobject.h"
#include "binding/luasink.h"
#include "packet/packet.h"
#include "replay/search.h"
#include "trace/readtrace.h"

#define REPLAY "tracegrip.replay"

typedef struct Replay {
  tg_Replay *replay;        /* owns */
  tg_ReadTrace *reading;    /* pins, by its user value */
  tg_Selection shown;       /* owns; what packets are written with */
  tg_Stops stops;           /* owns */
  tg_Search search;
  bool searching;
} Replay;

/* What is known of every packet, whatever the trace has asked for. */
#define ALWAYS (TG_TYPE_NAME | TG_TYPE_CALLSITE | TG_TYPE_TIME \
                | TG_TYPE_PARAMETERS | TG_TYPE_LOCATION | TG_TYPE_DEPTH \
                | TG_TYPE_THREAD)

static int replay__gc (lua_State *L) {
  Replay *u = lua_touserdata(L, 1);
  tg_replay_free(u->replay);
  tg_selection_clear(&u->shown);
  tg_stops_free(&u->stops);
  memset(u, 0, sizeof *u);
  return 0;
}

static Replay *check_at (lua_State *L, int i) {
  Replay *u = luaL_checkudata(L, i, REPLAY);
  if (u->replay == NULL)
    luaL_error(L, "this replay has been collected");
  return u;
}

static Replay *check_replay (lua_State *L) {
  return check_at(L, 1);
}

tg_Replay *tg_replayobject_check (lua_State *L, int i) {
  return check_at(L, i)->replay;
}

static int no_memory (lua_State *L) {
  return luaL_error(L, "not enough memory");
}

/* ---- making one ---- */

static lua_Integer option (lua_State *L, const char *key) {
  if (!lua_istable(L, 2))
    return 0;
  lua_getfield(L, 2, key);
  lua_Integer n = luaL_optinteger(L, -1, 0);
  luaL_argcheck(L, n >= 0, 2, key);
  lua_pop(L, 1);
  return n;
}

static bool choose_fields (Replay *u) {
  if (!tg_selection_copy(&u->shown, &u->reading->selection))
    return false;
  u->shown.types = (u->shown.types & ~(uint32_t)TG_TYPE_HITCOUNT) | ALWAYS;
  return true;
}

static void set_metatable (lua_State *L);

/* The userdata is empty, and has its finalizer, before anything in it is
   made. */
int replayobject_new (lua_State *L) {
  static const char *const extra[] = {"every", "most", NULL};
  lua_settop(L, 2);
  lua_Integer every = option(L, "every"), most = option(L, "most");
  tg_ReadTrace *reading = tg_readtrace_new(L, 2, extra, TG_TYPES_ALL);
  Replay *u = lua_newuserdatauv(L, sizeof *u, 1);
  memset(u, 0, sizeof *u);
  set_metatable(L);
  lua_pushvalue(L, -2);
  lua_setiuservalue(L, -2, 1);
  u->reading = reading;
  const tg_ReplaySource source = {
    .stream = reading->trace->stream, .from = reading->trace->start,
    .stop = reading->stop, .selection = &reading->selection,
    .every = (uint64_t)every, .most = (size_t)most
  };
  u->replay = tg_replay_new(&source);
  if (u->replay == NULL || !choose_fields(u))
    return no_memory(L);
  return 1;
}

/* ---- where it is ---- */

static void check_status (lua_State *L, Replay *u) {
  const tg_Replay *r = u->replay;
  if (r->status == TG_OK)
    return;
  int error = tg_readtrace_ended(u->reading->trace, r->status, r->damage);
  if (error == ENOMEM)
    no_memory(L);
  if (error != 0)
    luaL_error(L, "%s", strerror(error));
}

void tg_replayobject_check_status (lua_State *L, int i) {
  check_status(L, check_at(L, i));
}

static int replay_go (lua_State *L) {
  Replay *u = check_replay(L);
  lua_Integer number = luaL_checkinteger(L, 2);
  lua_Integer budget = luaL_optinteger(L, 3, LUA_MAXINTEGER);
  luaL_argcheck(L, number >= 0, 2, "a moment's number expected");
  u->searching = false;
  bool there = tg_replay_go(u->replay, (uint64_t)number, (uint64_t)budget);
  check_status(L, u);
  lua_pushboolean(L, there);
  return 1;
}

static int replay_records (lua_State *L) {
  const tg_Replay *r = check_replay(L)->replay;
  uint32_t type = tg_tracetype_bit(luaL_checkstring(L, 2));
  lua_pushboolean(L, (r->selection.types & type) != 0);
  return 1;
}

/* A moment's time is that of what happened last, or of what comes first. */
static int replay_moment (lua_State *L) {
  const tg_Replay *r = check_replay(L)->replay;
  const tg_ReplayPacket *p = r->first ? &r->coming : &r->last;
  lua_createtable(L, 0, 6);
  lx_set_integer(L, "number", (lua_Integer)r->number);
  lx_set_integer(L, "running", tg_replay_running(r));
  lua_pushboolean(L, tg_replay_stands(r));
  lua_setfield(L, -2, "stands");
  if (!r->first || !r->over)
    lx_set_number(L, "time_ms", (double)p->packet.time_ns / 1e6);
  if (r->total != TG_REPLAY_UNKNOWN)
    lx_set_integer(L, "total", (lua_Integer)r->total);
  lx_set_integer(L, "unkept", (lua_Integer)r->unkept);
  return 1;
}

/* ---- packets ---- */

/* As packets have the place of a main chunk. */
static uint32_t line_of (const tg_Function *f) {
  return f->line > 0 ? f->line : 1;
}

/* What a frame is known by: exits do not name it. */
static void set_frame (lua_State *L, const Replay *u, tg_FunctionId id,
                       uint64_t entry) {
  const tg_Function *f = tg_functions_find(u->replay->stream->functions, id);
  if (f != NULL) {
    lx_set_string(L, "name", f->name);
    lx_set_string(L, "url", f->url);
    if (!f->is_c)
      lx_set_integer(L, "line", line_of(f));
  }
  lx_set_integer(L, "function", id);
  lx_set_integer(L, "entry", (lua_Integer)entry);
}

static int push_packet (lua_State *L, Replay *u, const tg_Packet *p,
                        uint64_t entry) {
  tg_LuaSink sink;
  tg_luasink_init(&sink, L);
  tg_packet_write(&sink.sink, p, u->replay->stream, &u->shown,
                  &u->reading->scratch);
  if (!tg_packet_is_moment(p))
    set_frame(L, u, p->function, entry);
  return 1;
}

void tg_replayobject_push (lua_State *L, int i, const tg_Packet *p) {
  push_packet(L, check_at(L, i), p, 0);
}

static int replay_last (lua_State *L) {
  Replay *u = check_replay(L);
  tg_Replay *r = u->replay;
  if (r->first)
    return 0;
  tg_Packet p = r->last.packet;
  if (!tg_replay_recall(r, r->last.at, &p))
    p.values = (tg_Slice){.data = NULL};
  return push_packet(L, u, &p, r->last.frame.entry);
}

/* Its entry is known if the packet is one. */
static int replay_coming (lua_State *L) {
  Replay *u = check_replay(L);
  const tg_Replay *r = u->replay;
  if (r->over)
    return 0;
  const tg_Packet *p = &r->coming.packet;
  const tg_CallStack *s = tg_callstacks_find(&r->stacks, p->thread);
  const tg_CallFrame *f = s != NULL && s->open > 0 ? &s->frames[s->open - 1]
                                                   : NULL;
  bool enters = p->why == TG_WHY_ENTER || f == NULL;
  push_packet(L, u, p, enters ? r->number : f->entry);
  uint32_t unwinds = tg_replay_unwinds(u->replay);
  if (unwinds > 0)
    lx_set_integer(L, "unwinds", unwinds);
  return 1;
}

static int replay_call (lua_State *L) {
  Replay *u = check_replay(L);
  tg_Replay *r = u->replay;
  tg_Packet p;
  if (r->first || !tg_replay_entry(r, r->last.packet.thread, &r->last.frame,
                                   &p))
    return 0;
  return push_packet(L, u, &p, r->last.frame.entry);
}

/* The first 'most' after moment 'from', up to 'to', and how many more. */
static int replay_markers (lua_State *L) {
  Replay *u = check_replay(L);
  tg_Replay *r = u->replay;
  uint64_t from = (uint64_t)luaL_checkinteger(L, 2);
  uint64_t to = (uint64_t)luaL_checkinteger(L, 3);
  uint32_t i = tg_replay_marker_from(r, from);
  uint32_t end = tg_replay_marker_from(r, to);
  lua_Integer most = luaL_checkinteger(L, 4), n = 0;
  lua_newtable(L);
  for (; i < end && n < most; i++) {
    tg_Packet p;
    if (tg_replay_marker(r, &r->markers[i], &p)) {
      push_packet(L, u, &p, 0);
      lua_rawseti(L, -2, ++n);
    }
  }
  lua_pushinteger(L, i < end ? (lua_Integer)(end - i) : 0);
  return 2;
}

/* ---- frames ---- */

static int replay_threads (lua_State *L) {
  const tg_CallStacks *all = &check_replay(L)->replay->stacks;
  lua_Integer n = 0;
  lua_createtable(L, (int)all->count, 0);
  for (uint32_t i = 0; i < all->count; i++) {
    const tg_CallStack *s = all->list[i];
    if (s->count == 0)
      continue;
    lua_createtable(L, 0, 4);
    lx_set_integer(L, "thread", s->thread);
    lx_set_integer(L, "frames", s->count);
    lx_set_integer(L, "open", s->open);
    lx_set_integer(L, "body", s->body);
    lua_rawseti(L, -2, ++n);
  }
  return 1;
}

static const tg_CallStack *stack_at (lua_State *L, const Replay *u, int i) {
  lua_Integer thread = luaL_checkinteger(L, i);
  if (thread < 0 || thread > UINT32_MAX)
    return NULL;
  return tg_callstacks_find(&u->replay->stacks, (tg_ThreadId)thread);
}

static void set_function (lua_State *L, const tg_Function *f) {
  lx_set_string(L, "name", f->name);
  lx_set_string(L, "url", f->url);
  if (!f->is_c) {
    lx_set_integer(L, "line", line_of(f));
    lx_set_integer(L, "last_line", f->last_line);
  }
  lua_pushboolean(L, f->is_c);
  lua_setfield(L, -2, "c");
}

static void push_frame (lua_State *L, const Replay *u, const tg_CallFrame *f) {
  const tg_Functions *all = u->replay->stream->functions;
  const tg_Function *function = tg_functions_find(all, f->function);
  lua_createtable(L, 0, 9);
  if (function != NULL)
    set_function(L, function);
  if (f->reached > 0)
    lx_set_integer(L, "reached", f->reached);
  lx_set_integer(L, "function", f->function);
  lx_set_integer(L, "entry", (lua_Integer)f->entry);
  lua_pushboolean(L, f->seen);
  lua_setfield(L, -2, "seen");
  lua_pushboolean(L, f->sampled);
  lua_setfield(L, -2, "sampled");
}

static int replay_frames (lua_State *L) {
  const Replay *u = check_replay(L);
  const tg_CallStack *s = stack_at(L, u, 2);
  lua_Integer first = luaL_checkinteger(L, 3), count = luaL_checkinteger(L, 4);
  lua_newtable(L);
  lua_Integer have = s != NULL ? s->count : 0;
  for (lua_Integer n = 0; n < count && first >= 1 && first + n <= have; n++) {
    push_frame(L, u, &s->frames[have - first - n]);
    lua_rawseti(L, -2, n + 1);
  }
  return 1;
}

/* The frame that the arguments of a method name, of the stack 's'; or NULL. */
static const tg_CallFrame *frame_at (lua_State *L, const tg_CallStack *s) {
  lua_Integer i = luaL_checkinteger(L, 3);
  if (s == NULL || i < 1 || i > (lua_Integer)s->count)
    return NULL;
  return &s->frames[s->count - (uint32_t)i];
}

static int replay_arguments (lua_State *L) {
  Replay *u = check_replay(L);
  const tg_CallStack *s = stack_at(L, u, 2);
  const tg_CallFrame *f = frame_at(L, s);
  tg_Packet p;
  if (f == NULL || !tg_replay_entry(u->replay, s->thread, f, &p))
    return 0;
  return push_packet(L, u, &p, f->entry);
}

static int replay_locals (lua_State *L) {
  Replay *u = check_replay(L);
  const tg_CallFrame *f = frame_at(L, stack_at(L, u, 2));
  tg_Packet p;
  if (f == NULL || !tg_replay_locals(u->replay, f, &p))
    return 0;
  push_packet(L, u, &p, f->entry);
  lua_getfield(L, -1, "locals");
  return 1;
}

/* Definitions come before the events that name them, so all of a recording are
   there from the beginning. */
static int replay_functions (lua_State *L) {
  const tg_Functions *all = check_replay(L)->replay->stream->functions;
  lua_Integer n = 0;
  const tg_Function *f;
  lua_newtable(L);
  for (uint32_t id = 1; (f = tg_functions_find(all, id)) != NULL; id++) {
    lua_createtable(L, 0, 6);
    lx_set_integer(L, "id", id);
    set_function(L, f);
    lua_rawseti(L, -2, ++n);
  }
  return 1;
}

/* ---- searches ---- */

static bool flag (lua_State *L, const char *key) {
  lua_getfield(L, -1, key);
  bool set = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return set;
}

/* A stop is the table on top. */
static bool add_stop (lua_State *L, tg_Stops *s) {
  unsigned what = (flag(L, "call") ? TG_STOP_CALL : 0u)
                  | (flag(L, "result") ? TG_STOP_RETURN : 0u);
  lua_getfield(L, -1, "id");
  lua_getfield(L, -2, "line");
  tg_FunctionId id = (tg_FunctionId)luaL_checkinteger(L, -2);
  uint32_t line = (uint32_t)luaL_optinteger(L, -1, 0);
  lua_pop(L, 2);
  return tg_stops_function(s, id, what)
         && (line == 0 || tg_stops_line(s, id, line));
}

static bool add_moments (lua_State *L, tg_Stops *s) {
  for (lua_Integer i = 1; lua_rawgeti(L, 4, i) == LUA_TNUMBER; i++) {
    if (!tg_stops_moment(s, (uint64_t)luaL_checkinteger(L, -1)))
      return false;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return true;
}

static int replay_stop_at (lua_State *L) {
  Replay *u = check_replay(L);
  lua_settop(L, 4);
  luaL_checktype(L, 2, LUA_TTABLE);
  u->searching = false;         /* it borrows the stops */
  tg_stops_free(&u->stops);
  u->stops.errors = lua_toboolean(L, 3);
  u->stops.any = u->stops.errors;
  for (lua_Integer i = 1; lua_rawgeti(L, 2, i) == LUA_TTABLE; i++) {
    if (!add_stop(L, &u->stops))
      return no_memory(L);
    lua_pop(L, 1);
  }
  if (!lua_isnil(L, 4)) {
    luaL_checktype(L, 4, LUA_TTABLE);
    if (!add_moments(L, &u->stops))
      return no_memory(L);
  }
  return 0;
}

static int replay_search (lua_State *L) {
  static const char *const moves[] = {
    [TG_MOVE_IN] = "in", [TG_MOVE_OVER] = "over", [TG_MOVE_OUT] = "out",
    [TG_MOVE_ON] = "on", [TG_MOVE_BACK_IN] = "backIn",
    [TG_MOVE_BACK_OVER] = "backOver", [TG_MOVE_BACK_OUT] = "backOut",
    [TG_MOVE_BACK] = "back", [TG_NMOVES] = NULL
  };
  Replay *u = check_replay(L);
  tg_Move move = (tg_Move)luaL_checkoption(L, 2, NULL, moves);
  tg_ThreadId thread = (tg_ThreadId)luaL_checkinteger(L, 3);
  tg_search_begin(&u->search, u->replay, move, thread,
                  lua_toboolean(L, 4) ? &u->stops : NULL);
  u->searching = true;
  return 0;
}

static int push_why (lua_State *L, unsigned why) {
  static const char *const names[] = {"call", "line", "error", "result",
                                      "moment"};
  lua_newtable(L);
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    if ((why & 1u << i) != 0) {
      lua_pushboolean(L, true);
      lua_setfield(L, -2, names[i]);
    }
  }
  return 2;
}

static int replay_turn (lua_State *L) {
  static const char *const states[] = {
    [TG_SEARCH_GOING] = "going", [TG_SEARCH_CANDIDATE] = "candidate",
    [TG_SEARCH_FOUND] = "found", [TG_SEARCH_EDGE] = "edge",
    [TG_SEARCH_FAILED] = "failed"
  };
  Replay *u = check_replay(L);
  lua_Integer budget = luaL_checkinteger(L, 2);
  luaL_argcheck(L, budget > 0, 2, "a positive number expected");
  if (!u->searching)
    return luaL_error(L, "no search has begun");
  tg_SearchState state = tg_search_turn(&u->search, (uint64_t)budget);
  check_status(L, u);
  lua_pushstring(L, states[state]);
  return push_why(L, state == TG_SEARCH_CANDIDATE ? u->search.why : 0);
}

static int replay_accept (lua_State *L) {
  Replay *u = check_replay(L);
  if (u->searching)
    tg_search_accept(&u->search);
  return 0;
}

static void set_metatable (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"go", replay_go},
    {"moment", replay_moment},
    {"records", replay_records},
    {"last", replay_last},
    {"coming", replay_coming},
    {"call", replay_call},
    {"threads", replay_threads},
    {"frames", replay_frames},
    {"arguments", replay_arguments},
    {"locals", replay_locals},
    {"markers", replay_markers},
    {"functions", replay_functions},
    {"stop_at", replay_stop_at},
    {"search", replay_search},
    {"turn", replay_turn},
    {"accept", replay_accept},
    {"__gc", replay__gc},
    {NULL, NULL}
  };
  lx_class(L, REPLAY, methods);
  luaL_setmetatable(L, REPLAY);
}
