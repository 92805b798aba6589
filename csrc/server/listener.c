/*
** listener.c - tracegrip.listen: a state gets an endpoint with its first
** address, and loses it with its last. On the thread that runs the state. Wrong
** options raise before anything is opened; a server or a socket that cannot be
** had is nil, message, code.
**
** The socket itself is the server's (lua/tracegrip/server): here it is ordered,
** and the answer waited for. So a program learns at once that a port is taken,
** and not from a client that finds nobody.
*/
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "server/listener.h"
#include "binding/readoptions.h"
#include "inspect/inspector.h"
#include "server/address.h"
#include "server/endpoint.h"
#include "server/heir.h"
#include "session/tracer.h"
#include "session/tracing.h"
#include "trace/trace.h"

#define STALL_S 5.0

/* nil, message, code: the system's error, and the step that has failed. */
static int fail (lua_State *L, int error, const char *what) {
  lua_pushfstring(L, "%s: %s", what, strerror(error));
  return tg_trace_failure(L, "noServer", lua_tostring(L, -1));
}

/* ---- endpoints ---- */

/* A channel with the program's options for clients: how long it waits for a
   client, by which signal it is called, and the most that a client may ask for.
   Raises for wrong options. */
static tg_Channel *new_channel (lua_State *L) {
  lua_getfield(L, 1, "stallTimeout");
  lua_Number stall = luaL_optnumber(L, -1, STALL_S);
  lua_getfield(L, 1, "signal");
  lua_Integer signal = luaL_optinteger(L, -1, SIGURG);
  tg_Options *host = tg_readoptions_new(L);
  lua_getfield(L, 1, "options");
  tg_readoptions(L, -1, NULL, host);
  tg_Channel *channel = tg_channel_new(lx_mainthread(L), (int)signal,
                                       (uint64_t)(stall * 1e9), host,
                                       tg_serverthread_bell());
  if (channel == NULL)
    luaL_error(L, "not enough memory");
  return channel;
}

/* False with errno. Of a state that listens at another address already, what
   is asked for here is not looked at: an endpoint has one signal, one patience
   and one set of limits. */
static bool open_endpoint (lua_State *L, tg_Session *s) {
  if (tg_endpoint_channel(s) != NULL)
    return true;
  tg_Channel *channel = new_channel(L);
  bool ok = tg_address_admit(L, s, channel, tg_heir_succeed);
  tg_channel_unpin(channel);
  return ok;
}

/* ---- listening ---- */

/* Without memory for the words there are none: then that is what is told. */
static int refused (lua_State *L, tg_Order *o) {
  luaL_pushfail(L);
  lua_pushstring(L, o->text[0] != NULL ? o->text[0] : "not enough memory");
  lua_pushstring(L, o->text[1] != NULL ? o->text[1] : "noServer");
  tg_address_free_answer(o);
  return 3;
}

/* The thread and the endpoint, again where another state has ended the thread
   in between. 0: both are there; else how many values are pushed that say why
   not. */
static int prepare (lua_State *L, tg_Session *s, const char *path,
                    const char *cpath) {
  int error, top = lua_gettop(L);
  do {
    lua_settop(L, top);
    if (!tg_serverthread_begin(path, cpath))
      return fail(L, errno, "the server cannot be started");
    if (open_endpoint(L, s))
      return 0;
    error = errno;
  } while (error == ECANCELED);
  tg_serverthread_end_idle();
  return fail(L, error, "the program cannot be reached");
}

/* Step by step, each undone if a later one fails: the thread, the endpoint,
   the address. The object is there before, but closed, so its finalizer finds
   nothing to do. */
int listener_start (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  tg_Order order = tg_address_read(L, 1);
  tg_Session *s = tg_tracer_get(L);
  const char *path = tg_address_search(L, 1, "packagePath", "path");
  const char *cpath = tg_address_search(L, 1, "packageCPath", "cpath");
  tg_address_push(L, 1);
  int handle = lua_gettop(L);
  tg_heir_renounce(L, s);
  int refusal = prepare(L, s, path, cpath);
  if (refusal > 0)
    return refusal;
  if (!tg_address_open(L, handle, &order, s)) {
    if (tg_endpoint_channel(s)->addresses == 0)
      tg_address_dismiss(L, s, true);
    return refused(L, &order);
  }
  lua_settop(L, handle);
  return 1;
}

/* The socket closes, and with the state's last one its endpoint. In a forked
   child the server that had the socket is the parent's: there is nobody to be
   told. */
static void stop_listening (lua_State *L, tg_Session *s, bool ours) {
  tg_Order order = {.kind = "unlisten", .port = -1};
  tg_Channel *channel = tg_endpoint_channel(s);
  if (!ours || channel == NULL) {
    tg_heir_waive(L, s);
    return;
  }
  tg_address_words(L, 1);
  order.address = lua_tostring(L, -1);
  order.endpoint = channel->endpoint;
  tg_serverthread_order(&order);
  tg_address_free_answer(&order);
  tg_assert(channel->addresses > 0);
  if (--channel->addresses == 0)
    tg_address_dismiss(L, s, true);
}

/* Closing twice is fine. It leaves the registry first: what stopping has to
   tell may run the program, which must not find it half closed. */
static int listening_close (lua_State *L) {
  tg_Address *g = tg_address_check(L, 1);
  tg_Session *s = g->session;
  if (s != NULL) {
    tg_address_release(L, g);
    stop_listening(L, s, g->child == tg_serverthread_child());
  }
  lua_pushboolean(L, true);
  return 1;
}

/* The state closes: its frames exit "terminated" and are sent before the
   sockets go. */
static int listening__gc (lua_State *L) {
  tg_Address *g = tg_address_check(L, 1);
  tg_Session *s = g->session;
  if (s == NULL)
    return 0;
  if (tg_session_traces(s))
    tg_tracing_terminate(s);
  if (g->child == tg_serverthread_child() && tg_endpoint_channel(s) != NULL)
    tg_address_dismiss(L, s, false);
  g->session = NULL;
  return 0;
}

/* Fields are worked out: an object without a table of its own cannot be
   changed by the program. */
static int listening__index (lua_State *L) {
  tg_address_check(L, 1);
  const char *key = (lua_type(L, 2) == LUA_TSTRING) ? lua_tostring(L, 2) : "";
  if (strcmp(key, "address") == 0)
    tg_address_words(L, 1);
  else if (strcmp(key, "close") == 0)
    lua_pushcfunction(L, listening_close);
  else
    lua_pushnil(L);
  return 1;
}

/* What the client has asked for is carried out here: a program that waits has
   no event at which it would be. */
int listener_waited (lua_State *L) {
  const tg_Address *g = tg_address_check(L, 1);
  lua_Number seconds = luaL_checknumber(L, 2);
  tg_Session *s = g->session;
  tg_Channel *channel = (s != NULL) ? tg_endpoint_channel(s) : NULL;
  bool there = channel == NULL
               || tg_channel_await(channel, true, (uint64_t)(seconds * 1e9));
  if (s != NULL)
    tg_endpoint_turn(s, L);
  lua_pushboolean(L, there);
  return 1;
}

int listener_debugger_waited (lua_State *L) {
  const tg_Address *g = tg_address_check(L, 1);
  lua_Number seconds = luaL_checknumber(L, 2);
  tg_Session *s = g->session;
  lua_pushboolean(L, s == NULL
                     || tg_inspector_wait(&s->host, L,
                                          (uint64_t)(seconds * 1e9)));
  return 1;
}

void tg_listener_setup (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"__index", listening__index},
    {"__gc", listening__gc},
    {NULL, NULL}
  };
  tg_address_setup(L, methods);
}
