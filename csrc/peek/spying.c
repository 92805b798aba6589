/* spying.c - see spying.h. A Spy owns what it has, so an error of Lua's lets go
   of it; nothing stands still between two calls. */
#include "peek/spying.h"

#include <errno.h>
#include <string.h>

#include "binding/readoptions.h"
#include "client/destination.h"
#include "client/liveprofile.h"
#include "outside/process.h"
#include "spy/spy.h"

#define SPYING "tracegrip.Spy"

enum {SELF = 1, FILE_PLAN = 3};         /* arguments */

typedef struct Spying {
  tg_Spy spy;           /* owns, as all here */
  tg_Stream *stream;    /* pins */
  tg_Destination to;
  tg_LiveProfile profile;
  bool profiled, finished;
} Spying;

static Spying *check_spying (lua_State *L) {
  return luaL_checkudata(L, SELF, SPYING);
}

static int spying__gc (lua_State *L) {
  Spying *p = lua_touserdata(L, 1);
  tg_destination_free(&p->to);
  tg_liveprofile_free(&p->profile);
  tg_spy_close(&p->spy);
  tg_stream_unpin(p->stream);
  memset(p, 0, sizeof *p);
  p->finished = true;
  return 0;
}

/*
** {==================================================================
** The beginning
** ===================================================================
*/

static const char *const own_keys[] = {"stop", "native", NULL};

static tg_SpyPlan plan_of (lua_State *L, const tg_Options *o) {
  lua_getfield(L, 2, "stop");
  lua_getfield(L, 2, "native");
  tg_SpyPlan plan = {.hz = o->sample, .wall = o->wall,
                     .stop = lua_toboolean(L, -2),
                     .native = lua_toboolean(L, -1)};
  lua_pop(L, 2);
  return plan;
}

/* What the file is to say of the process. */
static void describe (lua_State *L, const Spying *p, int pid) {
  char lua[TG_TARGET_LUA], directory[4200];
  int task = p->spy.target.memory.task;
  if (!lua_istable(L, FILE_PLAN))
    return;
  tg_target_lua(&p->spy.target, lua);
  lua_pushfstring(L, "%s%s", p->spy.target.sight.jit != NULL ? "" : "Lua ",
                  lua);
  lua_setfield(L, FILE_PLAN, "lua");
  lua_pushinteger(L, pid);
  lua_setfield(L, FILE_PLAN, "pid");
  if (tg_process_link(task, "cwd", directory, sizeof directory)) {
    lua_pushstring(L, directory);
    lua_setfield(L, FILE_PLAN, "directory");
  }
}

/* The file first, so that all that follows goes there. False with errno. */
static bool begin (lua_State *L, Spying *p, int pid) {
  tg_TraceEntry entry = {.ticks = tg_clock_ticks()};
  errno = ENOMEM;
  p->stream = tg_stream_new();
  if (p->stream == NULL)
    return false;
  p->stream->pid = (uint32_t)pid;
  describe(L, p, pid);
  if (!tg_destination_record(&p->to, L, FILE_PLAN, p->stream)
      || !tg_destination_note(&p->to, L, FILE_PLAN, &entry))
    return false;
  errno = ENOMEM;
  if (!tg_spy_begin(&p->spy, p->stream))
    return false;
  if (!p->profiled)
    return true;
  return tg_liveprofile_begin(&p->profile, p->stream, &p->to.options)
         && tg_liveprofile_pump(&p->profile,
                                tg_writer_pos(&p->spy.writing.writer));
}

static int refuse (lua_State *L, tg_Refusal refusal, const tg_Buf *words) {
  lua_pushnil(L);
  lua_pushlstring(L, words->data, words->size);
  lua_pushstring(L, tg_target_code(refusal));
  return 3;
}

/* Its words are kept until they are Lua's. */
static int words__gc (lua_State *L) {
  tg_buf_free(lua_touserdata(L, 1));
  return 0;
}

int spying_new (lua_State *L) {
  int pid = (int)luaL_checkinteger(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 4);
  Spying *p = lua_newuserdatauv(L, sizeof *p, 0);
  memset(p, 0, sizeof *p);      /* before __gc can see it */
  tg_options_init(&p->to.options);
  luaL_setmetatable(L, SPYING);
  tg_readoptions(L, 2, own_keys, &p->to.options);
  luaL_argcheck(L, p->to.options.sample > 0 && !p->to.options.with_calls, 2,
                "another process is looked at by samples");
  p->profiled = lua_toboolean(L, 4);
  tg_SpyPlan plan = plan_of(L, &p->to.options);
  tg_Buf *words = lx_owner(L, sizeof *words, 0, "tracegrip.words", words__gc);
  tg_Refusal refusal = tg_spy_open(&p->spy, pid, &plan, words);
  if (refusal != TG_REFUSED_NOT)
    return refuse(L, refusal, words);
  if (!begin(L, p, pid))
    return lx_failure(L, NULL);
  lua_pop(L, 1);
  return 1;
}

/* }================================================================== */

/* A profile reads what there is by now, so that memory does not grow. */
static bool pump (Spying *p) {
  return !p->profiled
         || tg_liveprofile_pump(&p->profile,
                                tg_writer_pos(&p->spy.writing.writer));
}

static int spying_run (lua_State *L) {
  static const char *const ends[] = {"running", "ended", "changed", "full"};
  Spying *p = check_spying(L);
  lua_Number ms = luaL_checknumber(L, 2);
  luaL_argcheck(L, !p->finished, SELF, "it is over");
  tg_SpyEnd end = tg_spy_run(&p->spy, (uint64_t)(ms * 1e6));
  tg_destination_misses(&p->to, &p->spy.misses);
  if (!pump(p) || tg_destination_trouble(&p->to) != 0) {
    int error = tg_destination_trouble(&p->to);
    return tg_destination_result(L, error != 0 ? error : ENOMEM);
  }
  lua_pushstring(L, ends[end]);
  return 1;
}

/* release(): also when it is over, while the process goes on. */
static int spying_release (lua_State *L) {
  tg_spy_release(&check_spying(L)->spy);
  return 0;
}

static int spying_profile (lua_State *L) {
  Spying *p = check_spying(L);
  bool lines = lua_toboolean(L, 2);
  luaL_argcheck(L, p->profiled, SELF, "no profile was asked for");
  lua_settop(L, SELF);
  pump(p);
  tg_liveprofile_push(L, &p->profile,
                      tg_clock_ns(&p->stream->clock, tg_clock_ticks()),
                      lines);
  return 1;
}

static int spying_counts (lua_State *L) {
  const Spying *p = check_spying(L);
  const tg_Misses *m = &p->spy.misses;
  char release[TG_TARGET_LUA];
  tg_target_lua(&p->spy.target, release);
  lua_createtable(L, 0, 6);
  lx_set_integer(L, "taken", (lua_Integer)p->spy.writing.taken);
  lx_set_integer(L, "retried", (lua_Integer)m->retried);
  lx_set_string(L, "clock", p->spy.plan.wall ? "wall" : "cpu");
  lx_set_string(L, "lua", release);
  lx_set_number(L, "stopped_ms", (double)p->spy.stopped_ns / 1e6);
  lua_newtable(L);
  for (uint32_t i = 0; i < m->n; i++) {
    if (m->counts[i] > 0)
      lx_set_integer(L, m->reasons[i], (lua_Integer)m->counts[i]);
  }
  lua_setfield(L, -2, "dropped");
  return 1;
}

/* forked() -> numbers of processes that it has started since the last call, as
   far as the kernel's events tell; a list. */
static int spying_forked (lua_State *L) {
  tg_SpyTicks *t = &check_spying(L)->spy.ticks;
  lua_createtable(L, (int)t->nforked, 0);
  for (uint32_t i = 0; i < t->nforked; i++) {
    lua_pushinteger(L, t->forked[i]);
    lua_rawseti(L, -2, (int)i + 1);
  }
  t->nforked = 0;
  return 1;
}

/* What was given up has its time in other samples, so it is no loss. */
static tg_TraceEnd end_of (const Spying *p) {
  const tg_Writer *w = &p->spy.writing.writer;
  return (tg_TraceEnd){.why = TG_END_STOPPED, .stop = tg_writer_pos(w),
                       .ticks = tg_clock_ticks(), .packets = w->packets};
}

/* A second call reports no failure, since the first has reported it. */
static int spying_finish (lua_State *L) {
  Spying *p = check_spying(L);
  if (p->finished)
    return tg_destination_result(L, 0);
  p->finished = true;
  tg_TraceEnd end = end_of(p);
  return tg_destination_result(L, tg_destination_finish(&p->to, &end));
}

void tg_spying_setup (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"run", spying_run},
    {"release", spying_release},
    {"forked", spying_forked},
    {"profile", spying_profile},
    {"counts", spying_counts},
    {"finish", spying_finish},
    {"__gc", spying__gc},
    {"__close", spying__gc},
    {"__metatable", NULL},
    {NULL, NULL}
  };
  lx_class(L, SPYING, methods);
}
