/*
** replay.c - the Lua object: a stream made of packets, and where it goes, a log
** or a file. See replay.h; packetevents.c makes the events.
**
** Used by lua/tracegrip/client.lua, on the thread of its state. The world
** failing is told as nil, message, code, by each call from then on; a recording
** whose beginning has no room leaves no file. Half-built objects are fine for
** __gc: all is zeroed first, and what owns comes after its metatable.
*/
#include <errno.h>
#include <string.h>

#include "client/replay.h"
#include "binding/readoptions.h"
#include "client/destination.h"
#include "client/packetevents.h"

#define TG_REPLAY "tracegrip.Replay"

enum {SELF = 1, PACKET = TG_PACKETEVENTS_PACKET};    /* a method's arguments */

typedef struct Replay {
  tg_PacketEvents events;   /* owns, with the stream */
  tg_Destination to;        /* owns */
  bool finished;
} Replay;                   /* its user value: the ids of functions */

static Replay *check_replay (lua_State *L) {
  Replay *r = luaL_checkudata(L, SELF, TG_REPLAY);
  if (r->events.writer.stream == NULL)
    luaL_error(L, "this replay has been collected");
  return r;
}

/* The errno of what went wrong so far, or 0. Memory comes first: without an
   event all that follows is in doubt. */
static int trouble (const Replay *r) {
  return r->events.failed ? ENOMEM : tg_destination_trouble(&r->to);
}

/* Once the trace is over nothing is added: the file has its end by then, or
   will get it as it is. */
static int replay_put (lua_State *L) {
  Replay *r = check_replay(L);
  luaL_checktype(L, PACKET, LUA_TTABLE);
  lua_settop(L, PACKET);
  lua_getiuservalue(L, SELF, 1);
  tg_assert(lua_gettop(L) == TG_PACKETEVENTS_IDS);
  if (!r->finished && !r->events.over)
    tg_packetevents_take(L, &r->events);
  return 0;
}

static int replay_pump (lua_State *L) {
  Replay *r = check_replay(L);
  tg_destination_pump(&r->to, tg_writer_pos(&r->events.writer));
  return tg_destination_result(L, trouble(r));
}

static tg_TraceEnd end_of (const Replay *r, tg_End why) {
  return (tg_TraceEnd){
    .why = (uint32_t)why, .stop = tg_writer_pos(&r->events.writer),
    .ticks = r->events.now, .packets = r->events.writer.packets
  };
}

/* The second time there is nothing left to finish, and nothing that could have
   failed. */
static int replay_finish (lua_State *L) {
  Replay *r = check_replay(L);
  const char *why = luaL_optstring(L, 2, "requested");
  int error = 0;
  tg_assert(!r->finished || r->to.file == NULL);
  if (!r->finished) {
    tg_packetevents_end(&r->events);
    r->finished = true;
    tg_TraceEnd end = end_of(r, tg_destination_end(why));
    error = tg_destination_finish(&r->to, &end);
    if (r->events.failed)
      error = ENOMEM;
  }
  return tg_destination_result(L, error);
}

/* A state that closes without 'finish' leaves a file that has its end. */
static int replay__gc (lua_State *L) {
  Replay *r = lua_touserdata(L, 1);
  if (r->to.file != NULL) {
    tg_TraceEnd end = end_of(r, TG_END_STOPPED);
    tg_destination_finish(&r->to, &end);
  }
  tg_destination_free(&r->to);
  tg_packetevents_free(&r->events);
  memset(r, 0, sizeof *r);
  return 0;
}

/* Everything that a packet has is shown: the other side has applied the
   limits. */
static void read_options (lua_State *L, int i, tg_Options *o) {
  tg_readoptions(L, i, NULL, o);
  o->limits = (tg_Limits){TG_NOLIMIT, TG_NOLIMIT, TG_NOLIMIT, TG_NOLIMIT};
}

/* The file before the trace's beginning, so that this is in the file; the log
   last, which reads from that beginning on. */
static bool open_all (lua_State *L, Replay *r) {
  tg_TraceEntry entry = {.start = 0};
  tg_Writer *w = &r->events.writer;
  errno = ENOMEM;
  if (!tg_packetevents_open(&r->events)
      || !tg_destination_record(&r->to, L, 3, w->stream))
    return false;
  if (!tg_writer_mark(w, 0, UINT64_MAX, &entry.start))
    return tg_destination_undo(&r->to);
  return tg_destination_note(&r->to, L, 3, &entry)
         && tg_destination_show(&r->to, L, 2, w->stream, entry.start);
}

/* replay(options, style, plan). The userdata is whole for its finalizer before
   anything is opened, so that what fails half way leaves nothing behind. */
int replay_new (lua_State *L) {
  lua_settop(L, 3);
  tg_destination_check(L, 1);
  Replay *r = lua_newuserdatauv(L, sizeof *r, 1);
  memset(r, 0, sizeof *r);      /* before __gc can see it */
  tg_options_init(&r->to.options);
  luaL_setmetatable(L, TG_REPLAY);
  lua_newtable(L);
  lua_setiuservalue(L, -2, 1);
  read_options(L, 1, &r->to.options);
  if (!open_all(L, r))
    return luaL_fileresult(L, 0, r->to.plan.path);
  lua_settop(L, 4);
  return 1;
}

void tg_replay_setup (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"put", replay_put},
    {"pump", replay_pump},
    {"finish", replay_finish},
    {"__gc", replay__gc},
    {"__close", replay__gc},
    {"__metatable", NULL},
    {NULL, NULL}
  };
  lx_class(L, TG_REPLAY, methods);
}
