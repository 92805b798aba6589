/*
** recordtrace.c - a trace onto a file, from Lua: as it runs (tracefile.h), or
** afterwards (tracesave.h). On the thread that runs the state. Raises what is
** wrong with the arguments; a file that cannot be had is nil, message, errno.
*/
#include <errno.h>
#include <string.h>

#include "trace/recordtrace.h"
#include "base/alloc.h"
#include "binding/luatext.h"
#include "binding/readoptions.h"
#include "direct/proof.h"
#include "recording/program.h"
#include "session/snapshot.h"
#include "session/tracesave.h"
#include "text/fileio.h"
#include "trace/readtrace.h"
#include "trace/trace.h"

/* ---- who is recorded ---- */

/* NULL without memory, and of a value that is no string. */
static char *copy_string (lua_State *L, int i) {
  size_t size;
  const char *s = lua_tolstring(L, i, &size);
  return s != NULL ? tg_strdup(s, size) : NULL;
}

/* The strings of the list on top of the stack, which is popped. A value that
   is no string is shown as "?": what a program puts into its "arg" is its own
   business, and no reason not to record. What has been copied when memory ends
   is freed with the program. */
static bool read_arguments (lua_State *L, tg_Program *p) {
  size_t n = lua_istable(L, -1) ? (size_t)lua_rawlen(L, -1) : 0;
  p->arguments = tg_calloc(n + 1, sizeof *p->arguments);
  for (size_t i = 1; p->arguments != NULL && i <= n; i++) {
    bool string = lua_rawgeti(L, -1, (lua_Integer)i) == LUA_TSTRING;
    char *copy = string ? copy_string(L, -1) : tg_strdup("?", 1);
    lua_pop(L, 1);
    if (copy == NULL)
      break;
    p->arguments[p->count++] = copy;
  }
  lua_pop(L, 1);
  return p->arguments != NULL && p->count == n;
}

/* Name and arguments as the two values on top of the stack say; pops them. The
   versions are those of this library and of the Lua it was built for: a
   recording may be read by others. */
static bool fill_program (lua_State *L, tg_Program *p) {
  bool named = lua_type(L, -2) == LUA_TSTRING;
  p->name = named ? copy_string(L, -2) : NULL;
  p->tracegrip = tg_strcopy(TG_VERSION);
  p->lua = tg_strcopy(LUA_RELEASE);
  const char *objection = tg_proof_objection();
  if (objection == NULL)
    objection = "";
  p->asked = tg_strcopy(objection);
  bool ok = read_arguments(L, p);
  lua_pop(L, 1);
  return ok && p->tracegrip != NULL && p->lua != NULL && p->asked != NULL
         && (p->name != NULL || !named);
}

/* The running program, as the standard interpreter's "arg" has it. By raw
   access: "arg" is a global of the program's and may have any metatable.
   'directory' is that in which tracing began: the program may have changed its
   own since. */
static bool running_program (lua_State *L, tg_Program *p,
                             const char *directory) {
  p->directory = directory != NULL ? tg_strcopy(directory) : NULL;
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_pushliteral(L, "arg");
  if (lua_rawget(L, -2) == LUA_TTABLE)
    lua_rawgeti(L, -1, 0);
  else
    lua_pushnil(L);
  lua_replace(L, -3);       /* name, arg */
  return fill_program(L, p);
}

/* ---- recording ---- */

/* Any value that is true will do: these come from our own modules. */
static bool flag (lua_State *L, int i, const char *name) {
  lua_getfield(L, i, name);
  bool b = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return b;
}

/* The plan belongs to the trace at once, so that whatever raises from here on
   is freed with it. */
static void read_plan (lua_State *L, int i, tg_Trace *t) {
  tg_FilePlan *plan = tg_calloc(1, sizeof *plan);
  t->plan = plan;
  if (plan == NULL)
    luaL_error(L, "not enough memory");
  if (lua_getfield(L, i, "path") != LUA_TSTRING)
    luaL_error(L, "field 'path': a string expected, got %s",
               luaL_typename(L, -1));
  plan->path = copy_string(L, -1);
  plan->exclusive = flag(L, i, "exclusive");
  plan->force = flag(L, i, "force");
  lua_getfield(L, i, "run");
  plan->run = (uint32_t)lua_tointeger(L, -1);
  plan->sources = flag(L, i, "sources") ? tg_luatext_is : NULL;
  plan->tells = flag(L, i, "tells");
  plan->single = flag(L, i, "single");
  plan->ring = t->options.overflow == TG_OVERFLOW_RING;
  plan->max_size = t->options.max_size;
  plan->packs = t->options.compressed;
  lua_getfield(L, i, "program");
  lua_getfield(L, i, "arguments");
  plan->program.directory = tg_fileio_directory();
  if (!fill_program(L, &plan->program) || plan->path == NULL)
    luaL_error(L, "not enough memory");
}

/* A file may grow as long as the disk allows, if nothing else is said. A
   quarter of the range, so that a position added to it does not overflow. A
   ring of a file that may have so many bytes overwrites when it has them. */
static void unbounded (lua_State *L, int i, tg_Options *o) {
  if (lua_istable(L, i)) {
    lua_pushliteral(L, "buffer");
    bool given = lua_rawget(L, i) != LUA_TNIL;
    lua_pop(L, 1);
    if (given)
      return;
  }
  if (o->overflow != TG_OVERFLOW_RING)
    o->buffer = UINT64_MAX / 4;
  else if (o->max_size != 0)
    o->buffer = o->max_size;
}

/* The Trace is anchored since most who record let it run until the program
   ends. SIGUSR1 is for a ring that somebody watches; one of which no other
   files may come ('single') does not answer to it.
   To anchor may collect garbage, and a finalizer of the program's may end the
   trace: so what is needed of its session and its file is taken before. The
   path is copied before lua_pushstring collects (luaS_new). */
int record_start (lua_State *L) {
  lua_settop(L, 2);
  luaL_checktype(L, 2, LUA_TTABLE);
  tg_Trace *t = tg_trace_new(L);
  tg_readoptions_file(L, 1, &t->options);
  unbounded(L, 1, &t->options);
  read_plan(L, 2, t);
  lua_getfield(L, 2, "name");
  if (!tg_trace_begin(L, t, luaL_optstring(L, -1, "program"), TG_ORIGIN_FILE,
                      NULL))
    return lx_failure(L, t->plan->path);
  tg_assert(t->session != NULL && t->file != NULL);
  if (t->plan->ring && !t->plan->single)
    tg_snapshot_on(t->session);
  lua_pushstring(L, tg_filewriter_path(t->file));
  lua_pushvalue(L, 3);
  tg_trace_anchor(L, t);
  return 2;
}

/* ---- saving ---- */

/* Who recorded is asked when it is needed first; of an opened recording it is
   in the file. A trace that is read as it comes holds nothing that could be
   saved. */
int trace_save (lua_State *L) {
  tg_Trace *t = tg_readtrace_check(L);
  const char *path = lx_checkword(L, 2);
  tg_Program *p = t->recorded.program;
  if (t->consumed)
    return luaL_error(L, "the packets of this trace are read as they come");
  if (p == NULL) {
    p = t->recorded.program = tg_program_new(NULL);
    if (p == NULL || !running_program(L, p, t->stream->directory))
      return luaL_error(L, "not enough memory");
  }
  tg_Status status = tg_tracesave(t, p, path);
  return status == TG_OK ? luaL_fileresult(L, 1, path) : lx_failure(L, path);
}
