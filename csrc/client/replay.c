#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client/replay.h"
#include "base/alloc.h"
#include "binding/logstyle.h"
#include "binding/readoptions.h"
#include "client/replayfunctions.h"
#include "client/replayvalues.h"
#include "packet/log.h"
#include "reader/stacks.h"
#include "recording/filewriter.h"
#include "stream/event.h"
#include "stream/writer.h"

#define TG_REPLAY "tracegrip.Replay"

#define EVENT_ROOM 64u                  /* beside values */
#define VALUES_MOST ((size_t)64 << 20)  /* more than any packet of ours has */
#define MAIN 1u                         /* thread */

/* Where things are on Lua's stack while a packet is taken. */
enum {SELF = 1, PACKET = 2, IDS = 3};

typedef struct Replay {
  tg_Writer writer;         /* first member: found by its address */
  tg_Options options;       /* owns */
  tg_Stacks stacks;         /* owns */
  tg_Stack *running;        /* borrows; innermost of the chain, never NULL */
  tg_Pos start;
  uint64_t now;             /* ns, of the packet that came last */
  tg_Buf values;            /* owns; of a packet */
  tg_Buf types;             /* owns; for tg_replay_value */
  tg_Buf resumed;           /* owns; ids of frames entered again, held back
                               until it is known that these are all */
  tg_ThreadId resuming;     /* whose they are */
  uint64_t resumed_ns;
  uint32_t yielded;         /* exits yet to come that a YIELD has told */
  bool over;                /* the program has ended */
  bool failed;              /* memory was refused */
  bool finished;
  tg_Log *log;              /* owns; or NULL */
  tg_FilePlan plan;         /* owns */
  tg_FileWriter *file;      /* owns; or NULL */
  uint32_t noted;           /* number of the trace there */
} Replay;                   /* its user value: the ids of functions */

static Replay *check_replay (lua_State *L) {
  Replay *r = luaL_checkudata(L, SELF, TG_REPLAY);
  if (r->writer.stream == NULL)
    luaL_error(L, "this replay has been collected");
  return r;
}

/*
** {==================================================================
** Events
** ===================================================================
*/

/* The writer's 'turn': nothing is limited here. */
static void turn (tg_Writer *rec, size_t need, uint64_t now) {
  tg_writer_open(rec, need, now, UINT64_MAX);
}

/* The writer's 'context'. */
static uint8_t *put_context (tg_Writer *rec, uint8_t *p) {
  const Replay *r = (const Replay *)(const void *)rec;
  uint32_t n = 0;
  for (const tg_Stack *s = r->running; s != NULL; s = s->resumer)
    n += n < TG_CONTEXT_THREADS;
  uint8_t *at = tg_put32(p, n) + 8 * (size_t)n, *end = at;
  for (const tg_Stack *s = r->running; n > 0; s = s->resumer, n--) {
    at -= 8;
    tg_put32(tg_put32(at, s->thread), s->count);
  }
  return end;
}

/* The event's head, with room for 'more' bytes; NULL without memory. */
static uint8_t *begin (Replay *r, uint32_t kind, size_t more, uint64_t now) {
  uint8_t *p = tg_writer_begin(&r->writer, EVENT_ROOM + more, now);
  r->failed = r->failed || p == NULL;
  return p != NULL ? tg_writer_head(&r->writer, p, kind, now) : NULL;
}

static void end (Replay *r, uint8_t *p, uint32_t packets) {
  tg_writer_end(&r->writer, p);
  r->writer.packets += packets;
}

/* The values read last, if any, are the event's. */
static uint32_t with_values (const Replay *r, uint32_t kind) {
  return kind | (r->values.size > 0 ? TG_EVF_VALUES : 0u);
}

static uint8_t *put_values (const Replay *r, uint8_t *p) {
  if (r->values.size == 0)
    return p;
  p = tg_put32(p, (uint32_t)r->values.size);
  memcpy(p, r->values.data, r->values.size);
  return p + r->values.size;
}

static void emit_plain (Replay *r, uint32_t kind, uint32_t packets) {
  uint8_t *p = begin(r, kind, 0, r->now);
  if (p != NULL)
    end(r, p, packets);
}

/* }================================================================== */

/*
** {==================================================================
** What a packet says
** ===================================================================
*/

static bool flag_field (lua_State *L, const char *key) {
  lua_getfield(L, PACKET, key);
  bool b = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return b;
}

static tg_ThreadId thread_field (lua_State *L) {
  lua_getfield(L, PACKET, "thread");
  lua_Integer n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n > 0 && n <= INT32_MAX ? (tg_ThreadId)n : 0;
}

/* Milliseconds become nanoseconds; without them time stands still. */
static void read_time (lua_State *L, Replay *r) {
  lua_getfield(L, PACKET, "time");
  double ns = lua_tonumber(L, -1) * 1e6 + 0.5;
  lua_pop(L, 1);
  if (ns > (double)r->now && ns < TG_TIME_MAX)
    r->now = (uint64_t)ns;
}

static tg_FunctionId function_at (lua_State *L, Replay *r, int at, int place) {
  tg_FunctionId id = tg_replay_function(L, IDS, at, place,
                                        r->writer.stream->functions);
  r->failed = r->failed || id == 0;
  return id;
}

/* For descriptors, which have url and line themselves. */
static tg_FunctionId function_of_value (lua_State *L, int at, void *ud) {
  return function_at(L, ud, at, at);
}

static tg_FunctionId function_of_packet (lua_State *L, Replay *r) {
  bool known = lua_getfield(L, PACKET, "location") == LUA_TTABLE;
  tg_FunctionId id = function_at(L, r, PACKET, known ? lua_gettop(L) : 0);
  lua_getfield(L, PACKET, "hitCount");
  lua_Integer hits = lua_tointeger(L, -1);
  if (id != 0 && hits > 0 && !flag_field(L, "resumed"))
    id = tg_replay_hit(L, IDS, id, hits, r->writer.stream->functions);
  lua_pop(L, 2);
  return id;
}

/* Whether the completion on top of the stack says that it has no value. */
static bool is_unknown (lua_State *L) {
  bool unknown = lua_getfield(L, -1, "unknown") == LUA_TBOOLEAN
                 && lua_toboolean(L, -1);
  lua_pop(L, 1);
  return unknown;
}

/* The values of the packet's field into 'values'. */
static void read_values (lua_State *L, Replay *r, const char *key) {
  tg_ReplayValues g = {&r->values, &r->types, function_of_value, r};
  tg_buf_clear(&r->values);
  if (lua_getfield(L, PACKET, key) == LUA_TTABLE && !is_unknown(L))
    tg_replay_value(L, &g);
  lua_pop(L, 1);
  r->failed = r->failed || r->values.failed;
  if (r->values.failed || r->values.size > VALUES_MOST)
    tg_buf_clear(&r->values);
}

/* }================================================================== */

/*
** {==================================================================
** Coroutines
** ===================================================================
*/

static void unchain (Replay *r) {
  r->running->running = false;
  r->running = r->running->resumer;
}

/* Those without a frame have ended, if another one runs now. */
static void settle (Replay *r, tg_ThreadId thread) {
  while (r->running->count == 0 && r->running->resumer != NULL
         && r->running->thread != thread) {
    tg_Stack *s = r->running;
    emit_plain(r, TG_EV_LEAVE, 0);
    unchain(r);
    tg_stacks_drop(&r->stacks, s);
  }
}

static bool same_frames (const tg_Stack *s, const uint32_t *ids, uint32_t n) {
  if (s->count != n)
    return false;
  for (uint32_t i = 0; i < n; i++) {
    if (s->frames[i].function != ids[i])
      return false;
  }
  return true;
}

static void emit_resume (Replay *r, const tg_Stack *s, const uint32_t *ids,
                         uint32_t n, uint64_t now) {
  bool list = !same_frames(s, ids, n);
  size_t size = list ? n * sizeof *ids : 0;
  uint8_t *p = begin(r, TG_EV_RESUME | (list ? TG_EVF_LIST : 0u), size, now);
  if (p == NULL)
    return;
  p = tg_put32(p, s->thread);
  if (list) {
    p = tg_put32(p, n);
    if (size > 0)
      memcpy(p, ids, size);
    p += size;
  }
  end(r, p, n);
}

/* The coroutine runs, with these frames; one that is on the chain already is
   left where it is. */
static void resume (Replay *r, tg_ThreadId thread, const tg_Buf *frames,
                    uint64_t now) {
  static const uint32_t none[1];
  settle(r, thread);
  tg_Stack *s = tg_stacks_get(&r->stacks, thread);
  if (s == NULL || s->running) {
    r->failed = r->failed || s == NULL;
    return;
  }
  const uint32_t *ids = frames->size > 0
                        ? (const uint32_t *)(const void *)frames->data : none;
  uint32_t n = (uint32_t)(frames->size / sizeof *ids);
  emit_resume(r, s, ids, n, now);
  if (!tg_stack_adopt(s, (const uint8_t *)ids, n, now))
    r->failed = true;
  s->running = true;
  s->resumer = r->running;
  r->running = s;
}

/* The frames that were entered again are all now. */
static void release (Replay *r) {
  r->failed = r->failed || r->resumed.failed;
  if (r->resumed.size > 0)
    resume(r, r->resuming, &r->resumed, r->resumed_ns);
  tg_buf_clear(&r->resumed);
}

/* The function of the next frame that is entered again: the one that the frame
   was left with, if it has these words. */
static tg_FunctionId resumed_function (Replay *r, tg_ThreadId thread,
                                       tg_FunctionId id) {
  const tg_Stack *s = tg_stacks_get(&r->stacks, thread);
  size_t i = r->resumed.size / sizeof id;
  if (s == NULL || i >= s->count
      || !tg_replay_alike(r->writer.stream->functions,
                          s->frames[i].function, id))
    return id;
  return s->frames[i].function;
}

static void hold_back (Replay *r, tg_ThreadId thread, tg_FunctionId id) {
  if (thread != r->resuming)
    release(r);
  id = resumed_function(r, thread, id);
  if (r->resumed.size == 0) {
    r->resuming = thread;
    r->resumed_ns = r->now;
  }
  tg_buf_add(&r->resumed, &id, sizeof id);
}

/* }================================================================== */

/*
** {==================================================================
** Packets
** ===================================================================
*/

/* A call site: its line, and whose function it is in. 0: none is told. */
static uint32_t read_site (lua_State *L, Replay *r, tg_FunctionId *caller) {
  const tg_Functions *fs = r->writer.stream->functions;
  const tg_StackFrame *f = tg_stack_top(r->running);
  lua_Integer line = 0;
  if (lua_getfield(L, PACKET, "callsite") == LUA_TTABLE) {
    lua_getfield(L, -1, "line");
    line = lua_tointeger(L, -1);
    lua_pop(L, 1);
    const char *known = f != NULL ? tg_functions_get(fs, f->function)->url
                                  : NULL;
    if (lua_getfield(L, -1, "url") != LUA_TSTRING)
      line = 0;
    else if (known != NULL && strcmp(known, lua_tostring(L, -1)) == 0)
      *caller = f->function;
    else {
      lua_pushvalue(L, -1);
      *caller = tg_replay_source(L, IDS, r->writer.stream->functions);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

static void emit_call (lua_State *L, Replay *r, tg_FunctionId id) {
  tg_FunctionId caller = 0;
  const tg_StackFrame *f = tg_stack_top(r->running);
  uint32_t line = read_site(L, r, &caller);
  bool far = f == NULL || f->function != caller;
  uint32_t kind = with_values(r, TG_EV_CALL);
  if (line > 0)
    kind |= TG_EVF_SITE | (far ? TG_EVF_FAR : 0u);
  uint8_t *p = begin(r, kind, r->values.size, r->now);
  if (p == NULL)
    return;
  p = tg_put32(p, id);
  if (line > 0) {
    p = tg_put32(p, line);
    if (far)
      p = tg_put32(p, caller);
  }
  end(r, put_values(r, p), 1);
}

static void entered (lua_State *L, Replay *r) {
  tg_ThreadId thread = thread_field(L);
  tg_FunctionId id = function_of_packet(L, r);
  if (id == 0)
    return;
  if (thread != 0 && flag_field(L, "resumed")) {
    hold_back(r, thread, id);
    return;
  }
  static const tg_Buf none;
  release(r);
  if (thread != 0 && thread != r->running->thread)
    resume(r, thread, &none, r->now);
  read_values(L, r, "arguments");
  emit_call(L, r, id);
  tg_StackFrame *f = tg_stack_push(r->running);
  if (f == NULL)
    r->failed = true;
  else
    f->function = id;
}

static void returned (lua_State *L, Replay *r, const char *values) {
  bool tail = flag_field(L, "tailCall");
  read_values(L, r, values);
  uint32_t kind = with_values(r, TG_EV_RETURN) | (tail ? TG_EVF_TAIL : 0u);
  uint8_t *p = begin(r, kind, r->values.size, r->now);
  if (p != NULL)
    end(r, put_values(r, p), 1);
  tg_stack_pop(r->running);
}

static void thrown (lua_State *L, Replay *r) {
  read_values(L, r, "throw");
  uint8_t *p = begin(r, with_values(r, TG_EV_THROW), r->values.size, r->now);
  if (p != NULL)
    end(r, put_values(r, tg_put32(p, 1)), 1);
  tg_stack_pop(r->running);
}

/* One event for all frames of the coroutine; what was not one of another's
   resuming is told as a return. */
static void yielded (lua_State *L, Replay *r) {
  if (r->running->resumer == NULL || thread_field(L) == 0) {
    returned(L, r, "yield");
    return;
  }
  read_values(L, r, "yield");
  uint32_t n = r->running->count;
  uint8_t *p = begin(r, with_values(r, TG_EV_YIELD), r->values.size, r->now);
  if (p != NULL)
    end(r, put_values(r, p), n);
  r->yielded = n - 1;
  unchain(r);
}

static void exited (lua_State *L, Replay *r) {
  lua_getfield(L, PACKET, "why");
  const char *why = lua_tostring(L, -1) != NULL ? lua_tostring(L, -1) : "";
  bool yields = strcmp(why, "yield") == 0;
  release(r);
  if (yields && r->yielded > 0) {
    r->yielded--;
    return;
  }
  r->yielded = 0;
  settle(r, 0);
  if (r->running->count == 0)     /* of a frame that nobody has entered */
    return;
  if (yields)
    yielded(L, r);
  else if (strcmp(why, "exception") == 0)
    thrown(L, r);
  else if (strcmp(why, "terminated") == 0) {
    emit_plain(r, TG_EV_TERMINATE, 1);
    r->over = true;
  }
  else
    returned(L, r, "return");
}

static int replay_put (lua_State *L) {
  Replay *r = check_replay(L);
  luaL_checktype(L, PACKET, LUA_TTABLE);
  lua_settop(L, PACKET);
  lua_getiuservalue(L, SELF, 1);
  if (r->finished || r->over)
    return 0;
  lua_getfield(L, PACKET, "type");
  const char *type = lua_tostring(L, -1);
  read_time(L, r);
  if (type != NULL && strcmp(type, "enteredFrame") == 0)
    entered(L, r);
  else if (type != NULL && strcmp(type, "exitedFrame") == 0)
    exited(L, r);
  return 0;
}

/* }================================================================== */

/*
** {==================================================================
** Where it goes
** ===================================================================
*/

/* The errno of what went wrong so far, or 0. */
static int trouble (const Replay *r) {
  tg_LogState state = {0};
  if (r->failed)
    return ENOMEM;
  if (r->file != NULL && tg_filewriter_error(r->file) != 0)
    return tg_filewriter_error(r->file);
  if (r->log != NULL)
    tg_log_state(r->log, &state);
  if (state.error == 0 && (state.status != TG_OK || state.lost > 0))
    return (state.status == TG_ERR_FORMAT) ? EINVAL : ENOMEM;
  return state.error;
}

static int push_result (lua_State *L, int error) {
  errno = error;
  return luaL_fileresult(L, error == 0, NULL);
}

static int replay_pump (lua_State *L) {
  Replay *r = check_replay(L);
  if (r->log != NULL)
    tg_log_pump(r->log, tg_writer_pos(&r->writer));
  return push_result(L, trouble(r));
}

static tg_End end_of (const char *why) {
  for (int i = TG_END_OVERFLOW; i <= TG_END_DISK; i++) {
    if (strcmp(tg_endreason_name((tg_End)i), why) == 0)
      return (tg_End)i;
  }
  return TG_END_STOPPED;
}

static void close_tape (Replay *r, tg_End why) {
  if (r->file == NULL)
    return;
  tg_TraceEnd e = {
    .why = (uint32_t)why, .stop = tg_writer_pos(&r->writer), .ticks = r->now,
    .packets = r->writer.packets
  };
  tg_filewriter_ended(r->file, r->noted, &e);
  tg_filewriter_close(r->file);
  r->file = NULL;
}

static int replay_finish (lua_State *L) {
  Replay *r = check_replay(L);
  const char *why = luaL_optstring(L, 2, "requested");
  int error = 0;
  if (!r->finished) {
    release(r);
    r->finished = true;
    if (r->log != NULL) {
      tg_log_pump(r->log, tg_writer_pos(&r->writer));
      tg_log_finish(r->log);
    }
    error = trouble(r);
    close_tape(r, end_of(why));
  }
  return push_result(L, error);
}

static int replay__gc (lua_State *L) {
  Replay *r = lua_touserdata(L, 1);
  close_tape(r, TG_END_STOPPED);
  tg_log_free(r->log);
  tg_fileplan_free(&r->plan);
  tg_stacks_free(&r->stacks);
  tg_options_free(&r->options);
  tg_buf_free(&r->values);
  tg_buf_free(&r->types);
  tg_buf_free(&r->resumed);
  tg_stream_unpin(r->writer.stream);
  memset(r, 0, sizeof *r);
  return 0;
}

/* }================================================================== */

/*
** {==================================================================
** Birth
** ===================================================================
*/

/* A stream whose ticks are nanoseconds of the other side's time. */
static bool open_stream (Replay *r) {
  tg_Writer *rec = &r->writer;
  rec->stream = tg_stream_new();
  if (rec->stream == NULL)
    return false;
  rec->stream->clock = (tg_Clock){.origin = 0, .ns_per_tick = 1.0};
  rec->turn = turn;
  rec->context = put_context;
  rec->packets_stop = rec->ticks_stop = UINT64_MAX;
  r->running = tg_stacks_get(&r->stacks, MAIN);
  if (r->running != NULL)
    r->running->running = true;
  return r->running != NULL;
}

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

static bool read_plan (lua_State *L, int i, tg_FilePlan *plan) {
  plan->path = string_field(L, i, "path");
  plan->program.remote = true;
  plan->program.pid = pid_field(L, i, "pid");
  plan->program.name = string_field(L, i, "program");
  plan->program.tracegrip = tg_strdup(TG_VERSION, strlen(TG_VERSION));
  plan->program.lua = tg_strdup(LUA_RELEASE, strlen(LUA_RELEASE));
  return plan->path != NULL && plan->program.tracegrip != NULL
         && plan->program.lua != NULL && tg_fileplan_fix(plan);
}

static bool open_tape (lua_State *L, int i, Replay *r) {
  if (lua_isnoneornil(L, i))
    return true;
  if (!read_plan(L, i, &r->plan)) {
    errno = ENOMEM;
    return false;
  }
  errno = ENOMEM;
  r->file = tg_filewriter_new(&r->plan, r->writer.stream);
  if (r->file == NULL && errno == 0)
    errno = ENOMEM;
  return r->file != NULL;
}

/* The trace in the file; without a place there the recording is of nothing. */
static bool note_trace (lua_State *L, int i, Replay *r) {
  if (r->file == NULL)
    return true;
  tg_TraceEntry e = {
    .start = r->start, .name = string_field(L, i, "name"),
    .options = r->options
  };
  r->noted = e.name != NULL ? tg_filewriter_started(r->file, &e) : 0;
  tg_free(e.name);
  return r->noted != 0;
}

/* There is no room for the first event: no file is left of it. False. */
static bool undo_tape (Replay *r) {
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
    r->log = tg_log_new(r->writer.stream, r->start, &d, &style, fd);
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

static bool open_all (lua_State *L, Replay *r) {
  errno = ENOMEM;
  if (!open_stream(r) || !open_tape(L, 3, r))
    return false;
  if (!tg_writer_mark(&r->writer, 0, UINT64_MAX, &r->start)
      || !note_trace(L, 3, r))
    return undo_tape(r);
  return open_log(L, 2, r);
}

int replay_new (lua_State *L) {
  lua_settop(L, 3);
  if (!lua_isnil(L, 2)) {
    luaL_checktype(L, 2, LUA_TTABLE);
    tg_logstyle_check(L, 2);
  }
  Replay *r = lua_newuserdatauv(L, sizeof *r, 1);
  memset(r, 0, sizeof *r);
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
    {NULL, NULL}
  };
  if (luaL_newmetatable(L, TG_REPLAY)) {
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
  }
  lua_pop(L, 1);
}

/* }================================================================== */
