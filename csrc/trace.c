#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace.h"
#include "alloc.h"
#include "feed.h"
#include "json.h"
#include "log.h"
#include "luasink.h"
#include "optread.h"
#include "packet.h"
#include "session.h"
#include "sieve.h"

static const char key_anchors = 0;    /* registry: table tg_Trace* -> Trace */

/* ---- anchors ---- */

static void push_anchors (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key_anchors) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &key_anchors);
  }
}

void tg_trace_anchor (lua_State *L, tg_Trace *t) {
  push_anchors(L);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, t);
  lua_pop(L, 1);
  t->anchored = true;
}

void tg_trace_push (lua_State *L, const tg_Trace *t) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &tg_key_traces);
  lua_rawgetp(L, -1, t);
  lua_remove(L, -2);
}

static void release_anchor (lua_State *L, tg_Trace *t) {
  if (t->anchored) {
    push_anchors(L);
    lua_pushnil(L);
    lua_rawsetp(L, -2, t);
    lua_pop(L, 1);
    t->anchored = false;
  }
}

void tg_trace_halt (lua_State *L, tg_Trace *t) {
  if (t->session != NULL)
    tg_session_stop(t->session, L, t);
  release_anchor(L, t);
}

/* ---- starting ---- */

/* "Trace 1", "Trace 2", ...: one that is not in use. */
static char *make_name (tg_Session *s, const char *name) {
  char generated[32];
  if (name != NULL)
    return tg_strdup(name, strlen(name));
  do
    snprintf(generated, sizeof generated, "Trace %u", ++s->names);
  while (tg_session_trace(s, generated) != NULL);
  return tg_strdup(generated, strlen(generated));
}

tg_Trace *tg_trace_new (lua_State *L) {
  tg_Trace *t = lua_newuserdatauv(L, sizeof *t, 0);
  memset(t, 0, sizeof *t);
  t->end = TG_END_STOPPED;
  tg_options_init(&t->options);
  luaL_setmetatable(L, TG_TRACE);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &tg_key_traces);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, t);
  lua_pop(L, 1);
  return t;
}

void tg_trace_begin (lua_State *L, tg_Trace *t, const char *name,
                     tg_Origin origin, const struct tg_Feed *feed) {
  tg_Session *s = tg_session_get(L);
  t->origin = origin;
  t->consumed = origin == TG_ORIGIN_FEED || origin == TG_ORIGIN_LOG;
  t->name = make_name(s, name);
  if (t->name == NULL)
    luaL_error(L, "not enough memory");
  tg_Trace *old = tg_session_trace(s, t->name);
  if (old != NULL && origin == TG_ORIGIN_API && tg_feeds_watch(old)) {
    tg_feeds_flush(L);          /* a client loses its trace: tell it */
    tg_feeds_stopped(L, old);
  }
  if (tg_session_start(s, L, t) != TG_OK)
    luaL_error(L, "not enough memory");
  if (old != NULL) {
    tg_feeds_replaced(s, old, origin, feed);
    tg_trace_halt(L, old);
  }
}

/* A name given by the program: "" is none. */
static const char *check_name (lua_State *L, int i) {
  if (lua_isnoneornil(L, i))
    return NULL;
  if (lua_type(L, i) != LUA_TSTRING)
    luaL_typeerror(L, i, "string");
  const char *name = lua_tostring(L, i);
  return (*name != '\0') ? name : NULL;
}

int trace_start (lua_State *L) {
  static const char *const extra[] = {"name", NULL};
  const char *name = NULL;
  lua_settop(L, 1);
  if (lua_istable(L, 1)) {
    lua_pushliteral(L, "name");
    lua_rawget(L, 1);
    if (!lua_isnil(L, 2) && lua_type(L, 2) != LUA_TSTRING)
      return luaL_error(L, "option 'name': a string expected, got %s",
                        luaL_typename(L, 2));
    name = check_name(L, 2);
  }
  tg_Trace *t = tg_trace_new(L);
  tg_options_read(L, 1, extra, &t->options);
  tg_trace_begin(L, t, name, TG_ORIGIN_API, NULL);
  return 1;
}

int console_start (lua_State *L) {
  lua_settop(L, 2);
  const char *name = check_name(L, 1);
  tg_Trace *t = tg_trace_new(L);
  tg_options_read(L, 2, NULL, &t->options);
  tg_feeds_flush(L);
  tg_trace_begin(L, t, name, TG_ORIGIN_CONSOLE, NULL);
  tg_trace_anchor(L, t);
  lua_pushstring(L, t->name);
  tg_feeds_started(L, t);
  return 1;
}

int tg_trace_failure (lua_State *L, const char *code, const char *message) {
  luaL_pushfail(L);
  lua_pushstring(L, message);
  lua_pushstring(L, code);
  return 3;
}

int console_stop (lua_State *L) {
  tg_Session *s = tg_session_find(L);
  const char *name = check_name(L, 1);
  if (s == NULL || s->traces == NULL)
    return tg_trace_failure(L, "wrongState", "no trace is running");
  tg_Trace *t = tg_session_trace(s, name);
  if (t == NULL) {
    lua_pushfstring(L, "no trace named '%s' is running", name);
    return tg_trace_failure(L, "noSuchTrace", lua_tostring(L, -1));
  }
  tg_trace_push(L, t);
  tg_feeds_flush(L);
  if (t->session != NULL)
    tg_feeds_stopped(L, t);
  tg_trace_halt(L, t);
  return 1;
}

/* ---- reading ---- */

/* The packets of a trace, one by one: upvalue of the iterator. */
typedef struct Packets {
  tg_Reader *reader;    /* owns */
  tg_Sieve sieve;       /* owns; on the reader */
  tg_Demand demand;     /* owns */
  tg_Scratch scratch;   /* owns */
  tg_Pos stop;
} Packets;

static int packets__gc (lua_State *L) {
  Packets *p = lua_touserdata(L, 1);
  tg_sieve_free(&p->sieve);
  tg_reader_free(p->reader);
  p->reader = NULL;
  tg_demand_clear(&p->demand);
  tg_scratch_free(&p->scratch);
  return 0;
}

static bool open_packets (Packets *p, const tg_Trace *t) {
  p->stop = tg_trace_stop_pos(t);
  if (!tg_demand_add(&p->demand, &t->options))
    return false;
  p->reader = tg_reader_new(t->stream, t->start, &p->demand);
  tg_sieve_init(&p->sieve, p->reader, p->demand.min_duration_ns);
  return p->reader != NULL;
}

/* The errno that says why there are no more packets, 0 at the end of them. */
static int read_error (const Packets *p) {
  switch (tg_sieve_status(&p->sieve)) {
    case TG_ERR_MEMORY: return ENOMEM;
    case TG_ERR_FORMAT: return EBADMSG;
    case TG_ERR_IO: return EIO;
    case TG_OK: default: return 0;
  }
}

static int next_packet (lua_State *L) {
  Packets *p = lua_touserdata(L, lua_upvalueindex(1));
  tg_Packet packet;
  tg_LuaSink sink;
  if (p->reader == NULL)
    return 0;
  if (!tg_sieve_next(&p->sieve, p->stop, &packet)) {
    int error = read_error(p);
    return error == 0 ? 0 : luaL_error(L, "%s", strerror(error));
  }
  tg_luasink_init(&sink, L);
  tg_packet_write(&sink.sink, &packet, tg_reader_stream(p->reader),
                  &p->demand, &p->scratch);
  return 1;
}

static tg_Trace *check_trace (lua_State *L) {
  return luaL_checkudata(L, 1, TG_TRACE);
}

/* The same for what needs its events, which a collected one has no more (it
   can be met while its state closes). */
static tg_Trace *check_readable (lua_State *L) {
  tg_Trace *t = check_trace(L);
  if (t->stream == NULL)
    luaL_error(L, "this trace has been collected");
  return t;
}

static Packets *new_packets (lua_State *L, const tg_Trace *t) {
  Packets *p = lua_newuserdatauv(L, sizeof *p, 1);
  memset(p, 0, sizeof *p);
  if (luaL_newmetatable(L, "tracegrip.packets")) {
    lua_pushcfunction(L, packets__gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);          /* pins the trace */
  if (t->consumed)
    luaL_error(L, "the packets of this trace are read as they come");
  if (!open_packets(p, t))
    luaL_error(L, "not enough memory");
  return p;
}

static int trace_packets (lua_State *L) {
  new_packets(L, check_readable(L));
  lua_pushcclosure(L, next_packet, 1);
  return 1;
}

/* ---- export ---- */

static bool write_packets (Packets *p, FILE *f) {
  tg_Buf line = {0};
  tg_Json json;
  tg_Packet packet;
  bool ok = true;
  while (ok && tg_sieve_next(&p->sieve, p->stop, &packet)) {
    tg_json_init(&json, &line);
    tg_packet_write(&json.sink, &packet, tg_reader_stream(p->reader),
                    &p->demand, &p->scratch);
    tg_buf_addchar(&line, '\n');
    if (line.failed)
      errno = ENOMEM;
    ok = !line.failed && fwrite(line.data, 1, line.size, f) == line.size;
    tg_buf_clear(&line);
  }
  tg_buf_free(&line);
  if (ok && (errno = read_error(p)) != 0)
    ok = false;
  return ok;
}

/* JSON Lines, one packet each. */
static int export_packets (lua_State *L, const char *path) {
  Packets *p = new_packets(L, check_readable(L));
  bool standard = strcmp(path, "-") == 0;
  FILE *f = standard ? stdout : fopen(path, "wb");
  if (f == NULL)
    return luaL_fileresult(L, 0, path);
  bool ok = write_packets(p, f);
  int code = errno;
  if ((standard ? fflush(f) : fclose(f)) != 0 && ok) {
    ok = false;
    code = errno;
  }
  errno = code;
  return luaL_fileresult(L, ok, path);
}

static int trace_export (lua_State *L) {
  static const char *const formats[] = {"packets", NULL};
  static int (*const writers[]) (lua_State *, const char *) = {
    export_packets
  };
  check_trace(L);
  int format = luaL_checkoption(L, 2, NULL, formats);
  return writers[format](L, luaL_checkstring(L, 3));
}

/* ---- the object ---- */

static int trace_stop (lua_State *L) {
  tg_Trace *t = check_trace(L);
  if (t->session != NULL) {
    if (tg_feeds_watch(t)) {
      tg_feeds_flush(L);
      tg_feeds_stopped(L, t);
    }
    tg_trace_halt(L, t);
  }
  lua_settop(L, 1);
  return 1;
}

/* An anchored trace is only collected when its state closes. */
static int trace__gc (lua_State *L) {
  tg_Trace *t = check_trace(L);
  if (t->session != NULL) {
    if (t->anchored)
      tg_session_terminate(t->session);
    tg_session_stop(t->session, L, t);
  }
  tg_cursor_drop(&t->hold);
  tg_stream_unpin(t->stream);
  tg_options_free(&t->options);
  tg_free(t->name);
  tg_log_free(t->log);
  memset(t, 0, sizeof *t);
  t->end = TG_END_STOPPED;
  return 0;
}

static int trace__close (lua_State *L) {
  tg_Trace *t = check_trace(L);
  if (t->session != NULL)
    tg_trace_halt(L, t);
  return 0;
}

static int trace__tostring (lua_State *L) {
  const tg_Trace *t = check_trace(L);
  lua_pushfstring(L, "%s: %s (%s)", TG_TRACE, t->name ? t->name : "?",
                  t->session ? "active" : "stopped");
  return 1;
}

static uint64_t packet_count (const tg_Trace *t) {
  uint64_t end = t->packets_end;
  if (t->end == TG_END_NOT)
    end = t->session->recorder.packets;
  return end - t->packets_start;
}

static const char *const loss_names[] = {
#define X(id, name) name,
  TG_LOSSES(X)
#undef X
};

/* lost[cause] of a cause that has lost nothing. */
static int no_loss (lua_State *L) {
  const char *key = (lua_type(L, 2) == LUA_TSTRING) ? lua_tostring(L, 2) : "";
  for (int i = 0; i < TG_NLOSSES; i++) {
    if (strcmp(key, loss_names[i]) == 0) {
      lua_pushinteger(L, 0);
      return 1;
    }
  }
  return 0;
}

/* A table with the causes that have lost something; the others read as 0. */
static void push_lost (lua_State *L, const tg_Trace *t) {
  uint64_t lost[TG_NLOSSES];
  tg_trace_losses(t, lost);
  lua_newtable(L);
  for (int i = 0; i < TG_NLOSSES; i++) {
    if (lost[i] > 0) {
      lua_pushinteger(L, (lua_Integer)lost[i]);
      lua_setfield(L, -2, loss_names[i]);
    }
  }
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, no_loss);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
}

const char *tg_trace_end_name (tg_End end) {
  switch (end) {
    case TG_END_OVERFLOW: return "overflow";
    case TG_END_MEMORY: return "memory";
    case TG_END_EVENTS: return "maxEvents";
    case TG_END_DURATION: return "duration";
    case TG_END_NOT: case TG_END_STOPPED: break;
  }
  return NULL;
}

/* Fields that are worked out when asked for; methods. */
static int trace__index (lua_State *L) {
  const tg_Trace *t = check_trace(L);
  const char *key = (lua_type(L, 2) == LUA_TSTRING) ? lua_tostring(L, 2) : "";
  if (strcmp(key, "name") == 0)
    lua_pushstring(L, t->name);
  else if (strcmp(key, "active") == 0)
    lua_pushboolean(L, t->session != NULL);
  else if (strcmp(key, "lost") == 0)
    push_lost(L, t);
  else if (strcmp(key, "ended") == 0)
    lua_pushstring(L, tg_trace_end_name(t->end));
  else if (strcmp(key, "bytes") == 0)
    lua_pushinteger(L, (lua_Integer)(tg_trace_stop_pos(t) - t->start));
  else if (strcmp(key, "events") == 0)
    lua_pushinteger(L, (lua_Integer)packet_count(t));
  else {
    luaL_getmetatable(L, TG_TRACE);
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
    if (!lua_iscfunction(L, -1) || strncmp(key, "__", 2) == 0)
      lua_pushnil(L);
  }
  return 1;
}

/* Trace objects by address, as long as they live. */
static void setup_list (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &tg_key_traces) == LUA_TNIL) {
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &tg_key_traces);
  }
  lua_pop(L, 1);
}

void tg_trace_setup (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"stop", trace_stop},
    {"packets", trace_packets},
    {"export", trace_export},
    {"__index", trace__index},
    {"__gc", trace__gc},
    {"__close", trace__close},
    {"__tostring", trace__tostring},
    {NULL, NULL}
  };
  if (luaL_newmetatable(L, TG_TRACE)) {
    luaL_setfuncs(L, methods, 0);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
  }
  lua_pop(L, 1);
  setup_list(L);
}
