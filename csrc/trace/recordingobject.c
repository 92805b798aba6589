/*
** recordingobject.c - the object of an opened recording: it owns the recording,
** and has a Trace for each trace in it. On the thread that runs the state. A
** file that cannot be read is nil, message, code; wrong use raises.
**
** A recording mostly has one trace, and most programs want that: so a Recording
** has the methods and fields of its first trace, beside its own. Nothing that
** the file says is trusted: a place beyond its end is taken for the end, a
** number that goes backwards for no time at all.
*/
#include <errno.h>
#include <string.h>

#include "trace/recordingobject.h"
#include "base/alloc.h"
#include "recording/open.h"
#include "recording/program.h"
#include "trace/recordinginfo.h"
#include "trace/trace.h"

#define TG_RECORDING "tracegrip.Recording"

typedef struct Recording {
  tg_Recording *r;          /* owns */
  char *path;               /* owns */
} Recording;                /* its user value: a list of its Traces */

/* ---- opening ---- */

/* What of the trace is lost: as it was noted, but of a ring what is not in the
   file any more, which may be more by the time the file ends, and which of one
   that was cut off nobody has noted. A file that ended without a word (kill
   -9) has the losses as of its last note. */
static void fill_losses (tg_Trace *t, const tg_TraceEntry *e,
                         const tg_Recording *r) {
  const tg_Chunk *first = t->stream->store.first;
  memcpy(t->lost, e->end.lost, sizeof t->lost);
  if (first == NULL || first->base <= e->start)
    return;
  t->start = first->base < t->stop ? first->base : t->stop;
  uint64_t gone = first->packets;
  if (e->end.why != TG_END_NOT && e->end.packets < gone)
    gone = e->end.packets;
  if (r->header.ring != 0 && gone > e->packets)
    t->lost[TG_LOSS_RING] = gone - e->packets;
}

/* A note may name a place beyond what is there, if the file lost its end: then
   the end is where the file is good. */
static void fill_end (tg_Trace *t, const tg_TraceEntry *e,
                      const tg_Recording *r) {
  bool cut = e->end.why == TG_END_NOT || e->end.stop > r->end;
  t->end = e->end.why == TG_END_NOT ? TG_END_STOPPED : (tg_End)e->end.why;
  t->stop = cut ? r->end : e->end.stop;
  t->ticks_end = cut ? r->ticks : e->end.ticks;
  t->packets_end = TG_PACKETS_UNKNOWN;  /* the note counts for all traces */
  if (t->ticks_end < t->ticks_start)
    t->ticks_end = t->ticks_start;
}

/* Pushes the Trace of an entry; its program is that of 'first', NULL for the
   first Trace. After an error the Trace frees what it has by then. It is like a
   trace that has ended in this state: every function that reads a Trace works
   with it. */
static tg_Trace *push_trace (lua_State *L, const tg_Recording *r,
                             const tg_TraceEntry *e, const tg_Trace *first) {
  tg_Trace *t = tg_trace_new(L);
  t->stream = tg_stream_pin(r->stream);
  t->origin = TG_ORIGIN_FILE;
  t->start = e->start;
  t->ticks_start = e->ticks;
  t->packets_start = e->packets;
  t->name = tg_strcopy(e->name);
  t->recorded.program = first != NULL ? tg_program_pin(first->recorded.program)
                             : tg_program_new(&r->program);
  if (t->name == NULL || t->recorded.program == NULL
      || !tg_options_copy(&t->options, &e->options))
    luaL_error(L, "not enough memory");
  fill_end(t, e, r);
  fill_losses(t, e, r);
  return t;
}

int tg_recordingobject_failure (lua_State *L, const char *path,
                                tg_Status status, const char *reason) {
  if (status == TG_ERR_MEMORY)
    errno = ENOMEM;
  if (status != TG_ERR_FORMAT)
    return luaL_fileresult(L, 0, path);
  lua_pushfstring(L, "%s: %s", path, reason);
  return tg_trace_failure(L, "notARecording", lua_tostring(L, -1));
}

/* The userdata comes first, so that an error frees what was opened after it.
   The Traces are in its user value, and hold the stream themselves: they may
   outlive the userdata. */
int recording_open (lua_State *L) {
  const char *path = lx_checkword(L, 1);
  char reason[160];
  tg_Status status;
  Recording *u = lua_newuserdatauv(L, sizeof *u, 1);
  memset(u, 0, sizeof *u);
  luaL_setmetatable(L, TG_RECORDING);
  u->path = tg_strcopy(path);
  u->r = tg_recording_open(path, &status, reason, sizeof reason);
  if (u->r == NULL)
    return tg_recordingobject_failure(L, path, status, reason);
  lua_createtable(L, (int)u->r->count, 0);
  const tg_Trace *first = NULL;
  for (uint32_t i = 0; i < u->r->count; i++) {
    const tg_Trace *t = push_trace(L, u->r, &u->r->traces[i], first);
    first = first != NULL ? first : t;
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  tg_assert(lua_rawlen(L, -1) == u->r->count);
  lua_setiuservalue(L, -2, 1);
  return 1;
}

/* ---- the object ---- */

/* Finalizers of a closing state may meet it when it is empty. */
static Recording *check_recording (lua_State *L) {
  Recording *u = luaL_checkudata(L, 1, TG_RECORDING);
  if (u->r == NULL)
    luaL_error(L, "this recording has been collected");
  return u;
}

/* A new table each time, so that nobody changes ours. */
static int recording_traces (lua_State *L) {
  Recording *u = check_recording(L);
  lua_getiuservalue(L, 1, 1);
  lua_createtable(L, (int)u->r->count, 0);
  for (uint32_t i = 1; i <= u->r->count; i++) {
    lua_rawgeti(L, -2, i);
    lua_rawseti(L, -2, i);
  }
  return 1;
}

/* trace(name) -> Trace | nil, message, code; the first one without a name. Of
   several with one name, the last. */
static int recording_trace (lua_State *L) {
  const Recording *u = check_recording(L);
  const char *name = luaL_optstring(L, 2, NULL);
  uint32_t i = (name != NULL) ? u->r->count : (u->r->count > 0);
  while (i > 0 && name != NULL && strcmp(u->r->traces[i - 1].name, name) != 0)
    i--;
  if (i == 0) {
    if (name == NULL)
      return tg_trace_failure(L, "noSuchTrace", "no trace in this recording");
    lua_pushfstring(L, "no trace named '%s' in this recording", name);
    return tg_trace_failure(L, "noSuchTrace", lua_tostring(L, -1));
  }
  lua_getiuservalue(L, 1, 1);
  lua_rawgeti(L, -1, i);
  return 1;
}

/* info(brief, progress), as recordinginfo.h has it. The list of Traces is at 4,
   behind the arguments. */
static int recording_info (lua_State *L) {
  const Recording *u = check_recording(L);
  lua_settop(L, 3);
  lua_getiuservalue(L, 1, 1);
  tg_recordinginfo_push(L, u->r, u->path, 4, lua_toboolean(L, 2), 3);
  return 1;
}

/* What a Recording has not itself, its first trace has. The method is looked
   up in the trace by its name, as a caller would: no list of functions has to
   be kept in step. */
static int forward (lua_State *L) {
  check_recording(L);
  int n = lua_gettop(L);
  lua_getiuservalue(L, 1, 1);
  if (lua_rawgeti(L, -1, 1) == LUA_TNIL)
    return tg_trace_failure(L, "noSuchTrace", "no trace in this recording");
  lua_replace(L, 1);
  lua_settop(L, n);
  lua_getfield(L, 1, lua_tostring(L, lua_upvalueindex(1)));
  lua_insert(L, 1);
  lua_call(L, n, LUA_MULTRET);
  return lua_gettop(L);
}

/* Fields are those of the first trace. Methods of its own come first; after
   its finalizer only those are left. */
static int recording__index (lua_State *L) {
  Recording *u = luaL_checkudata(L, 1, TG_RECORDING);
  luaL_getmetatable(L, TG_RECORDING);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, -2) != LUA_TNIL || u->r == NULL || u->r->count == 0)
    return 1;
  lua_getiuservalue(L, 1, 1);
  lua_rawgeti(L, -1, 1);
  lua_pushvalue(L, 2);
  lua_gettable(L, -2);
  return 1;
}

/* Also __close. Its Traces pin the stream themselves, and may be read on. */
static int recording__gc (lua_State *L) {
  Recording *u = luaL_checkudata(L, 1, TG_RECORDING);
  tg_recording_close(u->r);
  tg_free(u->path);
  memset(u, 0, sizeof *u);
  return 0;
}

/* Also of a recording that was collected, which has no path any more. */
static int recording__tostring (lua_State *L) {
  const Recording *u = luaL_checkudata(L, 1, TG_RECORDING);
  lua_pushfstring(L, "%s: %s", TG_RECORDING, u->path ? u->path : "?");
  return 1;
}

/* Methods of a Trace that a Recording has too. The fields need no list: __index
   passes on all that it does not know. */
static void set_forwards (lua_State *L) {
  static const char *const methods[] = {
    "packets", "export", "report", "tree", "log", "save", "stop"
  };
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    lua_pushstring(L, methods[i]);
    lua_pushcclosure(L, forward, 1);
    lua_setfield(L, -2, methods[i]);
  }
}

/* The forwards come after the methods of its own: those would be replaced by
   the same names of a Trace, had they any in common. */
void tg_recordingobject_setup (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"traces", recording_traces},
    {"trace", recording_trace},
    {"info", recording_info},
    {"__index", recording__index},
    {"__gc", recording__gc},
    {"__close", recording__gc},
    {"__tostring", recording__tostring},
    {"__metatable", NULL},
    {NULL, NULL}
  };
  lx_class(L, TG_RECORDING, methods);
  luaL_getmetatable(L, TG_RECORDING);
  set_forwards(L);
  lua_pop(L, 1);
}
