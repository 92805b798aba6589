/*
** actorfeed.c - the object Feed, which an actor in the program itself reads
** (lua/tracegrip/actor.lua): its traces come and go (feedtraces.h), its
** listener is told, packets are read. On the thread that runs the state.
** Without memory a trace does not join, and its start fails; a feed that is
** there reads on as it did.
*/
#include "trace/actorfeed.h"

#include <string.h>

#include "binding/losslist.h"
#include "binding/luasink.h"
#include "binding/readoptions.h"
#include "binding/typelist.h"
#include "packet/packet.h"
#include "session/traceinfo.h"
#include "session/tracer.h"
#include "state/observer.h"
#include "trace/feedtraces.h"
#include "trace/trace.h"

#define LISTENER 1              /* user value: the function to tell */

typedef struct tg_Feed {
  tg_Observer observer;         /* registered while the feed is open */
  tg_FeedTraces traces;         /* owns */
  tg_Scratch scratch;           /* owns */
} tg_Feed;

/* Also a closed one: its methods do nothing, or say so. */
static tg_Feed *check_feed (lua_State *L) {
  return luaL_checkudata(L, 1, TG_FEED);
}

/*
** ---- what an open feed is told (observer.h) ----
**
** A listener is the program's: it may do anything and raise an error. So may
** finalizers, wherever Lua may collect garbage. Therefore the feed is on the
** stack while its listener is called, and whether it still is open, and has the
** trace, is asked when all that allocates is done.
*/

/* From the observer that is told to the feed that it is a part of: observers
   need no field for their owner. By way of an integer, since 'o' may be const
   and the feed is not. */
static tg_Feed *feed_of (const tg_Observer *o) {
  return (tg_Feed *)(void *)((char *)(uintptr_t)o
                             - offsetof(tg_Feed, observer));
}

/* Registered is open: the list of observers is the only place that knows. */
static bool is_open (const tg_Feed *f) {
  return f->observer.session != NULL;
}

/* Pushes the feed, which is open, with room for what 'tell' needs; where it
   is. It is on the stack before anything is allocated: what is allocated may
   collect garbage, and a finalizer may close the feed, which is then held by
   nothing else. */
static int push_feed (lua_State *L, const tg_Feed *f) {
  luaL_checkstack(L, 12, NULL);
  lua_rawgetp(L, LUA_REGISTRYINDEX, f);
  tg_assert(lua_touserdata(L, -1) == f);
  return lua_gettop(L);
}

/* What 't' has lost and neither its packets nor the reason of its end tell, by
   cause; nil: nothing. */
static void push_lost (lua_State *L, const tg_Trace *t) {
  uint64_t all[TG_NLOSSES], lost[TG_NLOSSES] = {0};
  tg_traceinfo_losses(t, all);
  for (tg_Lack i = 0; i < TG_NLACKS; i++)
    lost[tg_endreason_lack(i)] = all[tg_endreason_lack(i)];
  tg_losslist_push(L, lost);
}

/* Calls the listener of the feed at 'at' with the values above it. An error is
   not the program's that starts or stops a trace just now. */
static void tell (lua_State *L, int at) {
  int top = lua_gettop(L);
  tg_assert(lua_isuserdata(L, at) && top > at);
  lua_getiuservalue(L, at, LISTENER);
  for (int i = at + 1; i <= top; i++)
    lua_pushvalue(L, i);
  if (lua_pcall(L, top - at, 0, 0) != LUA_OK)
    lua_pop(L, 1);
}

/* Asked before a trace stops: who reads it is to flush. */
static bool feed_watches (const tg_Observer *o, const tg_Trace *t) {
  return tg_feedtraces_has(&feed_of(o)->traces, t);
}

/* The listener is to read while the traces still are what they were. */
static void feed_flush (tg_Observer *o, lua_State *L) {
  const tg_Feed *f = feed_of(o);
  int at = push_feed(L, f);
  lua_pushliteral(L, "flush");
  if (is_open(f))
    tell(L, at);
  lua_settop(L, at - 1);
}

/* A feed that was to have it in the place of another one, and now does without
   either, has less to read. */
static void feed_started (tg_Observer *o, lua_State *L, tg_Trace *t) {
  tg_Feed *f = feed_of(o);
  int at = push_feed(L, f);
  lua_pushliteral(L, "started");
  lua_pushstring(L, t->name);
  tg_typelist_push(L, tg_feedtraces_types(t));
  if (is_open(f) && t->session != NULL && tg_feedtraces_join(&f->traces, t))
    tell(L, at);
  else
    tg_feedtraces_rework(&f->traces);
  lua_settop(L, at - 1);
}

/* The trace leaves the feed before the listener is told: packets that the
   listener reads are those of the other traces. */
static void feed_stopped (tg_Observer *o, lua_State *L, tg_Trace *t) {
  tg_Feed *f = feed_of(o);
  int at = push_feed(L, f);
  lua_pushliteral(L, "stopped");
  lua_pushstring(L, t->name);
  push_lost(L, t);
  if (t->session != NULL && tg_feedtraces_take(&f->traces, t)) {
    tg_feedtraces_rework(&f->traces);
    tell(L, at);
  }
  lua_settop(L, at - 1);
}

/* A feed that gets the new trace goes on with its sequence. */
static void feed_replaced (tg_Observer *o, lua_State *L, tg_Trace *t,
                           bool heir) {
  (void)L;
  if (heir)
    tg_feedtraces_take(&feed_of(o)->traces, t);
  else
    tg_feedtraces_part(&feed_of(o)->traces, t);
}

static const tg_ObserverMethods observer_methods = {
  .watches = feed_watches, .flush = feed_flush, .started = feed_started,
  .stopped = feed_stopped, .replaced = feed_replaced
};

/* ---- the object ---- */

/* It is closed at first, and held by its actor alone. */
int feed_new (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  tg_Feed *f = lua_newuserdatauv(L, sizeof *f, 1);
  memset(f, 0, sizeof *f);
  luaL_setmetatable(L, TG_FEED);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, LISTENER);
  return 1;
}

/* An open feed is kept alive by the registry, under its address. */
static int feed_open (lua_State *L) {
  tg_Feed *f = check_feed(L);
  if (!is_open(f)) {
    tg_Session *s = tg_tracer_get(L);
    lua_pushvalue(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, f);
    f->observer.methods = &observer_methods;
    if (!is_open(f))    /* else a finalizer has opened it meanwhile */
      tg_observers_add(s, &f->observer);
  }
  return 0;
}

/* It leaves the feed, whose own it may be; or the feed is the last to have
   known of one that has ended by itself. */
static void let_go (lua_State *L, tg_Feed *f, tg_Trace *t) {
  tg_feedtraces_part(&f->traces, t);
  if (t->origin == TG_ORIGIN_FEED
      || (t->session == NULL && !tg_observers_watch(f->observer.session, t)))
    tg_trace_halt(L, t);
}

/* A table of what is told of a trace that goes: {name=, lost=}. */
static void push_going (lua_State *L, const tg_Trace *t) {
  lua_createtable(L, 0, 3);
  lx_set_string(L, "name", t->name);
  push_lost(L, t);
  lua_setfield(L, -2, "lost");
}

/* Its traces, most recent first: {name=, lost=}; its own are stopped. One after
   the other from the end, looking anew each time: stopping one may bring the
   program back here. */
static int feed_close (lua_State *L) {
  tg_Feed *f = check_feed(L);
  lua_Integer n = 0;
  lua_settop(L, 1);
  lua_newtable(L);
  while (f->traces.count > 0) {
    tg_Trace *t = f->traces.list[f->traces.count - 1];
    tg_trace_push(L, t);
    push_going(L, t);
    lua_rawseti(L, 2, ++n);
    let_go(L, f, t);
    lua_settop(L, 2);
  }
  if (!is_open(f))
    return 1;
  tg_observers_remove(&f->observer);
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, f);
  return 1;
}

/* The trace is consumed, so the feed must read it from its beginning: if the
   feed cannot take the trace, it is stopped again. */
static int feed_start (lua_State *L) {
  static const char *const extra[] = {"name", NULL};
  tg_Feed *f = check_feed(L);
  const char *name = NULL;
  if (!is_open(f))
    return luaL_error(L, "this feed is not open");
  luaL_checktype(L, 2, LUA_TTABLE);
  if (lua_getfield(L, 2, "name") == LUA_TSTRING && *lua_tostring(L, -1))
    name = lua_tostring(L, -1);
  tg_Trace *t = tg_trace_new(L);
  tg_readoptions(L, 2, extra, &t->options);
  if (lua_getfield(L, 2, "trace") == LUA_TNIL)
    t->options.types = TG_TYPES_PROTOCOL;
  lua_pop(L, 1);
  tg_trace_begin(L, t, name, TG_ORIGIN_FEED, &f->observer);
  tg_trace_anchor(L, t);
  if (!is_open(f) || !tg_feedtraces_join(&f->traces, t)) {
    tg_trace_halt(L, t);
    return luaL_error(L, "not enough memory");
  }
  lua_pushstring(L, t->name);
  return 1;
}

/* stop(name) -> its name, what it has lost | nil, message, code. The client
   that asks is answered and need not be told, so the trace leaves without a
   word. */
static int feed_stop (lua_State *L) {
  tg_Feed *f = check_feed(L);
  const char *name = luaL_optstring(L, 2, NULL);
  if (f->traces.count == 0)
    return tg_trace_failure(L, "wrongState", "no active traces");
  tg_Trace *t = tg_feedtraces_find(&f->traces, name);
  if (t == NULL) {
    lua_pushfstring(L, "no active trace with name: %s", name);
    return tg_trace_failure(L, "noSuchTrace", lua_tostring(L, -1));
  }
  tg_trace_push(L, t);
  lua_pushstring(L, t->name);
  push_lost(L, t);
  tg_observers_replaced(f->observer.session, L, t, false, NULL);
  tg_trace_halt(L, t);
  return 2;
}

/* The argument of write_packet, which runs in a protected call with a single
   pointer. */
typedef struct Writing {
  tg_Feed *feed;
  const tg_Packet *packet;      /* borrows from the reader */
} Writing;

/* In a protected call, so that 'busy' is taken back whatever raises. */
static int write_packet (lua_State *L) {
  const Writing *w = lua_touserdata(L, 1);
  tg_Feed *f = w->feed;
  tg_LuaSink sink;
  tg_luasink_init(&sink, L);
  tg_packet_write(&sink.sink, w->packet, tg_reader_stream(f->traces.reader),
                  &f->traces.selection, &f->scratch);
  return 1;
}

/* A finalizer that runs meanwhile may come back here, or change what the feed
   has: the former finds nothing, the latter comes after the packet. The end is
   fixed when the iterator is made: what the reading itself records, in a
   program that traces its own actor, would never end. */
static int next_packet (lua_State *L) {
  tg_Feed *f = lua_touserdata(L, lua_upvalueindex(1));
  tg_Pos end = (tg_Pos)lua_tointeger(L, lua_upvalueindex(2));
  tg_Packet packet;
  Writing w = {f, &packet};
  if (f->traces.busy || f->traces.reader == NULL
      || !tg_reader_next(f->traces.reader, end, &packet))
    return 0;
  tg_assert(!f->traces.late);
  f->traces.busy = true;
  lua_pushcfunction(L, write_packet);
  lua_pushlightuserdata(L, &w);
  int status = lua_pcall(L, 1, 1, 0);
  f->traces.busy = false;
  if (f->traces.late)
    tg_feedtraces_rework(&f->traces);
  return (status == LUA_OK) ? 1 : lua_error(L);
}

/* An iterator over what there is now. It holds the feed by its upvalue: it may
   be used after the program has forgotten the feed. */
static int feed_packets (lua_State *L) {
  tg_Feed *f = check_feed(L);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, (lua_Integer)tg_feedtraces_end(&f->traces));
  lua_pushcclosure(L, next_packet, 2);
  return 1;
}

/* Traces that ended by themselves leave the feed: list of {name=, why=,
   lost=}. Told once: it is taken from the list as it is told. */
static int feed_ended (lua_State *L) {
  tg_Feed *f = check_feed(L);
  lua_Integer n = 0;
  lua_settop(L, 1);
  lua_newtable(L);
  for (size_t i = 0; i < f->traces.count; ) {
    tg_Trace *t = f->traces.list[i];
    const char *why = tg_endreason_name(t->end);
    if (why == NULL) {
      i++;
      continue;
    }
    tg_trace_push(L, t);
    push_going(L, t);
    lx_set_string(L, "why", why);
    lua_rawseti(L, 2, ++n);
    let_go(L, f, t);
    lua_settop(L, 2);
  }
  return 1;
}

/* The state closes, or the feed was never open: an open one is in the
   registry. */
static int feed__gc (lua_State *L) {
  tg_Feed *f = check_feed(L);
  if (is_open(f))
    tg_observers_remove(&f->observer);
  tg_feedtraces_free(&f->traces);
  tg_scratch_free(&f->scratch);
  memset(f, 0, sizeof *f);
  return 0;
}

/* 'count' is a field that is worked out; all else are methods, by raw
   access. */
static int feed__index (lua_State *L) {
  const tg_Feed *f = check_feed(L);
  const char *key = (lua_type(L, 2) == LUA_TSTRING) ? lua_tostring(L, 2) : "";
  if (strcmp(key, "count") == 0)
    lua_pushinteger(L, (lua_Integer)f->traces.count);
  else {
    luaL_getmetatable(L, TG_FEED);
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
  }
  return 1;
}

void tg_actorfeed_setup (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"open", feed_open},
    {"close", feed_close},
    {"start", feed_start},
    {"stop", feed_stop},
    {"packets", feed_packets},
    {"ended", feed_ended},
    {"__index", feed__index},
    {"__gc", feed__gc},
    {NULL, NULL}
  };
  lx_class(L, TG_FEED, methods);
}
