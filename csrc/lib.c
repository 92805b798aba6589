/*
** lib.c - the door: the module "tracegrip.core".
*/
#include "binding/lx.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "trace/exporting.h"
#include "trace/feed.h"
#include "server/host.h"
#include "binding/jsontable.h"
#include "server/lines.h"
#include "server/listening.h"
#include "trace/livelog.h"
#include "binding/optread.h"
#include "state/own.h"
#include "binding/process.h"
#include "hook/proghook.h"
#include "trace/recordings.h"
#include "client/replay.h"
#include "state/roles.h"
#include "trace/scoping.h"
#include "trace/trace.h"
#ifdef TG_TEST
#include "../spec/support/drain.h"
#endif

/* own([beside]): the source of the calling function is tracegrip's own; with
   true, all sources in its directory are: they are before they have said so. */
static int core_own (lua_State *L) {
  lua_Debug ar;
  if (lua_getstack(L, 1, &ar)) {
    lua_getinfo(L, "S", &ar);
    if (!tg_own_add(ar.source, ar.srclen)
        || (lua_toboolean(L, 1) && !tg_own_add_beside(ar.source)))
      return luaL_error(L, "not enough memory");
  }
  return 0;
}

#ifdef TG_TEST
/* refuse(n): the n-th allocation from now on fails, 0 = none; returns how many
   there were since the last call. */
static int core_refuse (lua_State *L) {
  uint64_t nth = (uint64_t)luaL_optinteger(L, 1, 0);
  lua_pushinteger(L, (lua_Integer)tg_alloc_fail(nth));
  return 1;
}
#endif

static const luaL_Reg core[] = {
#ifdef TG_TEST
  {"refuse", core_refuse},
  {"drain", drain_start},
#endif
  {"start", trace_start},
  {"watch", trace_watch},
  {"restart", trace_restart},
  {"forget", trace_forget},
  {"startTrace", console_start},
  {"stopTrace", console_stop},
  {"feed", feed_new},
  {"log", livelog_start},
  {"record", record_start},
  {"open", recording_open},
  {"exportFormats", export_formats},
  {"scope", scoping_new},
  {"decode", jsontable_decode},
  {"replay", replay_new},
  {"listen", listening_start},
  {"waited", listening_waited},
  {"checkoptions", lines_check_options},
  {"own", core_own},
  {"exec", process_exec},
  {"interpreter", process_interpreter},
  {"setenv", process_setenv},
  {"isatty", process_isatty},
  {"columns", process_columns},
  {"pid", process_pid},
  {"directory", process_directory},
  {"filetype", process_filetype},
  {"samefile", process_samefile},
  {"occupy", process_occupy},
  {"interruptible", process_interruptible},
  {"spawn", process_spawn},
  {"die", process_die},
  {"family", process_family},
  {"claimable", process_claimable},
  {NULL, NULL}
};

/* By what events are lost: name -> words. */
static void push_losses (lua_State *L) {
  lua_createtable(L, 0, TG_NLOSSES);
  for (int i = 0; i < TG_NLOSSES; i++) {
    lua_pushstring(L, tg_loss_words(i));
    lua_setfield(L, -2, tg_loss_name(i));
  }
}

__attribute__((visibility("default")))
int luaopen_tracegrip_core (lua_State *L);

int luaopen_tracegrip_core (lua_State *L) {
  luaL_checkversion(L);
  if (!tg_roles_setup())
    return luaL_error(L, "not enough memory");
  tg_clock_setup();
  tg_trace_setup(L);
  tg_recordings_setup(L);
  tg_replay_setup(L);
  tg_feed_setup(L);
  tg_host_setup(L);
  tg_lines_setup(L);
  tg_listening_setup(L);
  luaL_newlib(L, core);
  tg_types_push(L, TG_TYPES_ALL);
  lua_setfield(L, -2, "traceTypes");
  push_losses(L);
  lua_setfield(L, -2, "losses");
  lua_pushliteral(L, TG_VERSION);
  lua_setfield(L, -2, "version");
  return 1;
}
