/*
** lib.c - the door of the library: the module "tracegrip.core", with its
** functions and the methods of Traces. Called by require, once for each Lua
** state, on whatever thread runs that. All that is set up here may be so often.
**
** "core" is not for programs: what they use is checked and documented in
** lua/tracegrip. So a function here may rely on being called as it is there,
** but never on values that came from the program or from a client.
**
** Opening raises what Lua raises; a state in which it failed has metatables and
** nothing that would have to be undone: no thread, no hook, no session.
*/
#include "base/alloc.h"
#include "base/clock.h"
#include "binding/display.h"
#include "binding/folder.h"
#include "binding/jsonquote.h"
#include "binding/jsonreader.h"
#include "binding/luapattern.h"
#include "binding/lx.h"
#include "binding/system.h"
#include "binding/typelist.h"
#include "client/filetail.h"
#include "client/receiver.h"
#include "coverage/covering.h"
#include "coverage/merge.h"
#include "direct/proof.h"
#include "host/builtins.h"
#include "host/life.h"
#include "host/ownfunctions.h"
#include "inspect/inspector.h"
#include "peek/birthmarks.h"
#include "peek/heapend.h"
#include "peek/heapexport.h"
#include "peek/heapshot.h"
#include "peek/heapview.h"
#include "peek/liveheap.h"
#include "peek/ownheap.h"
#include "peek/peek.h"
#include "peek/programheap.h"
#include "peek/spying.h"
#include "send/halve.h"
#include "server/clientchannel.h"
#include "server/listener.h"
#include "server/serverhost.h"
#include "server/serverthread.h"
#include "state/libraries.h"
#include "trace/actorfeed.h"
#include "trace/consolemarks.h"
#include "trace/exporttrace.h"
#include "trace/livelog.h"
#include "trace/historyobject.h"
#include "trace/partingobject.h"
#include "trace/readtrace.h"
#include "trace/recordingobject.h"
#include "trace/recordtrace.h"
#include "trace/replayobject.h"
#include "trace/report.h"
#include "trace/scopesession.h"
#include "trace/scrubrecording.h"
#include "trace/sourcetext.h"
#include "trace/trace.h"
#ifdef TG_TEST
#include "../spec/support/drain.h"
#endif

/* own([beside]): the source of the calling function is tracegrip's own; with
   true, all sources in its directory are: they are before they have said so.
   Called once by each module of ours, from its main chunk: level 1 is that. */
static int core_own (lua_State *L) {
  lua_Debug ar;
  if (lua_getstack(L, 1, &ar)) {
    lua_getinfo(L, "S", &ar);
    if (!tg_ownfunctions_add(ar.source, ar.srclen)
        || (lua_toboolean(L, 1) && !tg_ownfunctions_add_beside(ar.source)))
      return luaL_error(L, "not enough memory");
  }
  return 0;
}

/* objection(): why frames are asked of the public API; nil: they are read from
   memory. Tries it out if nobody has yet, which takes less than a
   millisecond. */
static int core_objection (lua_State *L) {
  lua_pushstring(L, tg_proof_objection());      /* NULL: nil */
  return 1;
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

/* Ordered by the module that uses the function. Where the protocol has a name
   for a function, that name is taken. */
static const luaL_Reg core[] = {
#ifdef TG_TEST
  {"refuse", core_refuse},
  {"drain", drain_start},
#endif
  /* traces of the program: init.lua, console.lua, auto.lua, busted.lua */
  {"start", trace_start},
  {"watch", trace_watch},
  {"restart", trace_restart},
  {"pause", trace_pause},
  {"resume", trace_resume},
  {"forget", trace_forget},
  {"startTrace", console_start},
  {"stopTrace", console_stop},
  /* actor.lua: one for each client that reads by itself */
  {"feed", feed_new},
  {"log", livelog_start},
  {"record", record_start},
  /* traces that are over: recordings, exports, the profiler service, their
     moments in a debugger (lua/tracegrip/replay) */
  {"open", recording_open},
  {"exportFormats", export_formats},
  {"scrub", recording_scrub},
  {"sourceText", trace_sourcetext},
  {"scope", scopesession_new},
  {"replay", replayobject_new},
  {"parting", partingobject_new},
  {"history", historyobject_new},
  {"decode", jsonreader_decode},
  {"quoted", jsonquote_text},
  /* the client's side, cli/attach.lua */
  {"receive", receiver_new},
  {"halve", halve_request},
  {"tail", filetail_new},
  /* the server's side: listen.lua, boot.lua */
  {"listen", listener_start},
  {"waited", listener_waited},
  {"halt", inspector_pause},
  {"debuggerWaited", listener_debugger_waited},
  {"checkoptions", clientchannel_check_options},
  {"objection", core_objection},
  {"own", core_own},
  /* coverage: cli/coverage.lua, boot.lua, busted.lua */
  {"cover", coverage_start},
  {"uncover", coverage_stop},
  {"merge", merge_counts},
  {"scratch", folder_scratch},
  {"entries", folder_entries},
  /* other processes: cli/ps.lua, cli/dump.lua */
  {"dump", peek_dump},
  {"glance", peek_glance},
  {"cputime", peek_cputime},
  {"livingthread", peek_livingthread},
  {"spy", spying_new},
  /* heap snapshots: cli/heap.lua, heap.lua */
  {"heap", heapshot_take},
  {"heapview", heapview_ask},
  {"heappage", heapexport_page},
  {"snapshot", ownheap_snapshot},
  {"snapshotAtEnd", heapend_start},
  {"heapgauge", programheap_gauge},
  {"picture", programheap_picture},
  {"birthmarks", birthmarks_new},
  {"heapid", liveheap_id},
  {"heapobject", liveheap_object},
  {"instances", liveheap_instances},
  /* what a command line needs of the system, and Lua's libraries do not have */
  {"exec", system_exec},
  {"interpreter", system_interpreter},
  {"commandline", system_commandline},
  {"setenv", system_setenv},
  {"isatty", system_isatty},
  {"columns", system_columns},
  {"escaped", display_escaped},
  {"textwidth", display_textwidth},
  {"found", luapattern_found},
  {"pid", system_pid},
  {"directory", system_directory},
  {"filetype", system_filetype},
  {"privileged", system_privileged},
  {"islink", system_islink},
  {"samefile", system_samefile},
  {"contents", system_contents},
  {"tell", system_tell},
  {"occupy", system_occupy},
  {"interruptible", system_interruptible},
  {"ignores", system_ignores},
  {"spawn", system_spawn},
  {"launch", system_launch},
  {"ended", system_ended},
  {"die", system_die},
  {"family", system_family},
  {"claimable", system_claimable},
  {"compresses", system_compresses},
  {NULL, NULL}
};

/* What can be done with a Trace beside stopping it. */
static const luaL_Reg trace_methods[] = {
  {"packets", trace_packets},
  {"export", trace_export},
  {"report", trace_report},
  {"tree", trace_tree},
  {"log", trace_log},
  {"save", trace_save},
  {NULL, NULL}
};

/* Here and not in trace.c: what reads a Trace uses it, so trace.c cannot know
   of them. */
static void setup_trace (lua_State *L) {
  tg_trace_setup(L);
  luaL_getmetatable(L, TG_TRACE);
  luaL_setfuncs(L, trace_methods, 0);
  lua_pop(L, 1);
}

/* By what events are lost: name -> words. For messages of the command line:
   one list of causes, in C (endreason.h). */
static void push_losses (lua_State *L) {
  lua_createtable(L, 0, TG_NLOSSES);
  for (int i = 0; i < TG_NLOSSES; i++) {
    lua_pushstring(L, tg_endreason_words(i));
    lua_setfield(L, -2, tg_endreason_loss(i));
  }
}

__attribute__((visibility("default")))
int luaopen_tracegrip_core (lua_State *L);

/*
** The server's thread runs this in its own state as well: it needs the
** metatables, and finds all that is of the process set up.
**
** The order matters in one place: what Lua's own functions are (builtins) is
** learned before any session can exist, since the hook asks without looking
** whether it is known. The version is compared first (luaL_checkversion): a
** library built for another Lua would misread even its arguments.
*/
int luaopen_tracegrip_core (lua_State *L) {
  luaL_checkversion(L);
  if (!tg_builtins_setup())
    return luaL_error(L, "not enough memory");
  tg_clock_setup();
  tg_ownfunctions_setup();
  tg_life_setup();
  setup_trace(L);
  tg_recordingobject_setup(L);
  tg_receiver_setup(L);
  tg_filetail_setup(L);
  tg_spying_setup(L);
  tg_actorfeed_setup(L);
  tg_serverthread_setup();
  tg_serverhost_setup(L);
  tg_clientchannel_setup(L);
  tg_listener_setup(L);
  tg_ownheap_setup(L);
  tg_birthmarks_setup(L);
  tg_programheap_setup(L);
  luaL_newlib(L, core);
  tg_consolemarks_push(L);
  lua_setfield(L, -2, "marks");
  tg_typelist_push(L, TG_TYPES_CALLS);
  lua_setfield(L, -2, "traceTypes");
  tg_typelist_push(L, TG_TYPES_ALL);
  lua_setfield(L, -2, "allTypes");
  tg_typelist_push(L, TG_TYPES_PROTOCOL);
  lua_setfield(L, -2, "protocolTypes");
  push_losses(L);
  lua_setfield(L, -2, "losses");
  tg_inspector_push(L);
  lua_setfield(L, -2, "inspector");
  tg_libraries_push(L);
  lua_setfield(L, -2, "lua");
  lua_pushliteral(L, TG_VERSION);
  lua_setfield(L, -2, "version");
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &tg_key_core);
  return 1;
}
