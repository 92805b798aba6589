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
#include <unistd.h>

#include "client/replay.h"
#include "base/alloc.h"
#include "binding/logstyle.h"
#include "binding/readoptions.h"
#include "client/packetevents.h"
#include "packet/log.h"
#include "recording/filewriter.h"

#define TG_REPLAY "tracegrip.Replay"

enum {SELF = 1, PACKET = TG_PACKETEVENTS_PACKET};    /* a method's arguments */

typedef struct Replay {
  tg_PacketEvents events;   /* owns, with the stream */
  tg_Options options;       /* owns */
  tg_Pos start;             /* of the trace in it */
  tg_Log *log;              /* owns; or NULL */
  tg_FilePlan plan;         /* owns */
  tg_FileWriter *file;      /* owns; or NULL */
  uint32_t noted;           /* number of the trace there */
  bool finished;
} Replay;                   /* its user value: the ids of functions */

static Replay *check_replay (lua_State *L) {
  Replay *r = luaL_checkudata(L, SELF, TG_REPLAY);
  if (r->events.writer.stream == NULL)
    luaL_error(L, "this replay has been collected");
  return r;
}

/*
** {==================================================================
** Where it goes
** ===================================================================
*/

/* The errno of what went wrong so far, or 0. Memory comes first: without an
   event all that follows is in doubt. A log that has lost something is a
   failure too. */
static int trouble (const Replay *r) {
  tg_LogState state = {0};
  if (r->events.failed)
    return ENOMEM;
  if (r->file != NULL && tg_filewriter_error(r->file) != 0)
    return tg_filewriter_error(r->file);
  if (r->log != NULL)
    tg_log_state(r->log, &state);
  if (state.error == 0 && (state.status != TG_OK || state.lost > 0))
    return (state.status == TG_ERR_FORMAT) ? EINVAL : ENOMEM;
  return state.error;
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

/* true, or nil, message and code: as Lua's own library says it
   (luaL_fileresult). */
static int push_result (lua_State *L, int error) {
  errno = error;
  return luaL_fileresult(L, error == 0, NULL);
}

/* Called when a burst of packets has been put, not after each: to write a line
   costs more than to read a packet. */
static int replay_pump (lua_State *L) {
  Replay *r = check_replay(L);
  if (r->log != NULL)
    tg_log_pump(r->log, tg_writer_pos(&r->events.writer));
  return push_result(L, trouble(r));
}

/* The protocol's words for why a trace ended are those of endreason.h; one that
   is unknown is an end as the client asked for. */
static tg_End end_of (const char *why) {
  for (int i = TG_END_OVERFLOW; i <= TG_END_DISK; i++) {
    if (strcmp(tg_endreason_name((tg_End)i), why) == 0)
      return (tg_End)i;
  }
  return TG_END_STOPPED;
}

/* The trace's end is an entry of the file; without it the file reads as one
   that was cut off. */
static void close_file (Replay *r, tg_End why) {
  if (r->file == NULL)
    return;
  tg_TraceEnd e = {
    .why = (uint32_t)why, .stop = tg_writer_pos(&r->events.writer),
    .ticks = r->events.now, .packets = r->events.writer.packets
  };
  tg_filewriter_ended(r->file, r->noted, &e);
  tg_filewriter_close(r->file);
  r->file = NULL;
}

/* The second time there is nothing left to finish, and nothing that could have
   failed. */
static int replay_finish (lua_State *L) {
  Replay *r = check_replay(L);
  const char *why = luaL_optstring(L, 2, "requested");
  int error = 0;
  tg_assert(!r->finished || r->file == NULL);
  if (!r->finished) {
    tg_packetevents_end(&r->events);
    r->finished = true;
    if (r->log != NULL) {
      tg_log_pump(r->log, tg_writer_pos(&r->events.writer));
      tg_log_finish(r->log);
    }
    error = trouble(r);
    close_file(r, end_of(why));
  }
  return push_result(L, error);
}

/* A state that closes without 'finish' leaves a file that has its end. */
static int replay__gc (lua_State *L) {
  Replay *r = lua_touserdata(L, 1);
  close_file(r, TG_END_STOPPED);
  tg_log_free(r->log);
  tg_fileplan_free(&r->plan);
  tg_options_free(&r->options);
  tg_packetevents_free(&r->events);
  memset(r, 0, sizeof *r);
  return 0;
}

/* }================================================================== */

/*
** {==================================================================
** Birth
** ===================================================================
*/

/* NULL if the field is no string, and without memory. */
static char *string_field (lua_State *L, int i, const char *key) {
  size_t size;
  lua_getfield(L, i, key);
  const char *s = lua_tolstring(L, -1, &size);
  char *copy = s != NULL ? tg_strdup(s, size) : NULL;
  lua_pop(L, 1);
  return copy;
}

/* A process's number; 0 for what is none. */
static uint32_t pid_field (lua_State *L, int i, const char *key) {
  lua_getfield(L, i, key);
  lua_Integer n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n > 0 && n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* Whose recording it will be: the program is elsewhere, but the versions are
   those of this library, which writes the file. */
static bool read_plan (lua_State *L, int i, tg_FilePlan *plan) {
  plan->path = string_field(L, i, "path");
  plan->program.remote = true;
  plan->program.pid = pid_field(L, i, "pid");
  plan->program.name = string_field(L, i, "program");
  plan->program.tracegrip = tg_strcopy(TG_VERSION);
  plan->program.lua = tg_strcopy(LUA_RELEASE);
  return plan->path != NULL && plan->program.tracegrip != NULL
         && plan->program.lua != NULL && tg_fileplan_fix(plan);
}

/* Without a plan there is only a log. errno tells what is wrong: the system's,
   else memory, which sets none. */
static bool open_file (lua_State *L, int i, Replay *r) {
  if (lua_isnoneornil(L, i))
    return true;
  if (!read_plan(L, i, &r->plan)) {
    errno = ENOMEM;
    return false;
  }
  errno = ENOMEM;
  r->file = tg_filewriter_new(&r->plan, r->events.writer.stream);
  if (r->file == NULL && errno == 0)
    errno = ENOMEM;
  return r->file != NULL;
}

/* The trace in the file; without a place there the recording is of nothing. */
static bool note_trace (lua_State *L, int i, Replay *r) {
  if (r->file == NULL)
    return true;
  tg_assert(r->noted == 0);
  tg_TraceEntry e = {
    .start = r->start, .name = string_field(L, i, "name"),
    .options = r->options
  };
  r->noted = e.name != NULL ? tg_filewriter_started(r->file, &e) : 0;
  tg_free(e.name);
  return r->noted != 0;
}

/* There is no room for the first event: no file is left of it. False. */
static bool undo_file (Replay *r) {
  int error = 0;
  if (r->file != NULL) {
    error = tg_filewriter_error(r->file);
    tg_filewriter_stop(r->file);
    tg_filewriter_discard(r->file);
    r->file = NULL;
  }
  errno = error != 0 ? error : ENOMEM;
  return false;
}

static bool open_log (lua_State *L, int i, Replay *r) {
  tg_LogStyle style;
  tg_Selection d = {0};
  if (lua_isnoneornil(L, i))
    return true;
  int fd = tg_logstyle_open(L, i);
  if (fd < 0)
    return false;
  tg_logstyle_read(L, i, fd, &style);
  if (tg_selection_add(&d, &r->options))
    r->log = tg_log_new(r->events.writer.stream, r->start, &d, &style, fd);
  tg_selection_clear(&d);
  bool named = lua_getfield(L, i, "path") == LUA_TSTRING;
  lua_pop(L, 1);
  if (named)
    close(fd);              /* the log has a duplicate */
  errno = ENOMEM;
  return r->log != NULL;
}

/* Everything that a packet has is shown: the other side has applied the
   limits. */
static void read_options (lua_State *L, int i, tg_Options *o) {
  tg_options_read(L, i, NULL, o);
  o->limits = (tg_Limits){TG_NOLIMIT, TG_NOLIMIT, TG_NOLIMIT, TG_NOLIMIT};
}

/* The file before the trace's beginning, so that this is in the file; the log
   last, which reads from that beginning on. */
static bool open_all (lua_State *L, Replay *r) {
  errno = ENOMEM;
  if (!tg_packetevents_open(&r->events) || !open_file(L, 3, r))
    return false;
  if (!tg_writer_mark(&r->events.writer, 0, UINT64_MAX, &r->start)
      || !note_trace(L, 3, r))
    return undo_file(r);
  return open_log(L, 2, r);
}

/* replay(options, style, plan). The userdata is whole for its finalizer before
   anything is opened, so that what fails half way leaves nothing behind. */
int replay_new (lua_State *L) {
  lua_settop(L, 3);
  if (!lua_isnil(L, 2)) {
    luaL_checktype(L, 2, LUA_TTABLE);
    tg_logstyle_check(L, 2);
  }
  Replay *r = lua_newuserdatauv(L, sizeof *r, 1);
  memset(r, 0, sizeof *r);      /* before __gc can see it */
  tg_options_init(&r->options);
  luaL_setmetatable(L, TG_REPLAY);
  lua_newtable(L);
  lua_setiuservalue(L, -2, 1);
  read_options(L, 1, &r->options);
  if (!open_all(L, r))
    return luaL_fileresult(L, 0, r->plan.path);
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

/* }================================================================== */
