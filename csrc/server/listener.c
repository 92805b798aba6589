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

#include <lualib.h>

#include "server/listener.h"
#include "base/alloc.h"
#include "binding/readoptions.h"
#include "inspect/inspector.h"
#include "server/endpoint.h"
#include "server/serverthread.h"
#include "session/tracing.h"
#include "trace/trace.h"

#define LISTENING "tracegrip.listening"
#define ADDRESS 1               /* user value */
#define STALL_S 5.0

/* An address at which a state listens. In the registry until it is closed. */
typedef struct Listening {
  tg_Session *session;          /* borrows; NULL once closed */
  unsigned child;               /* of the process that made it */
} Listening;

/* Also a closed one: its address may still be asked for. */
static Listening *check (lua_State *L) {
  return luaL_checkudata(L, 1, LISTENING);
}

/* ---- what is asked for ---- */

/* Borrowed from the table of options, which is argument 1 until the end. */
static const char *option (lua_State *L, const char *name) {
  lua_getfield(L, 1, name);
  return luaL_optstring(L, -1, NULL);   /* the options keep it */
}

/* What it is about, the endpoint, is filled in when there is one. */
static tg_Order read_order (lua_State *L) {
  tg_Order o = {.kind = "listen"};
  o.title = option(L, "title");
  o.host = option(L, "host");
  o.path = option(L, "path");
  o.token = option(L, "token");
  o.defaults = option(L, "defaults");
  lua_getfield(L, 1, "port");
  o.port = luaL_optinteger(L, -1, -1);
  lua_getfield(L, 1, "inspect");
  if (lua_toboolean(L, -1))
    o.kind = "inspect";
  return o;
}

/* By raw access, and of the registry's "package": the program may have put
   anything into the global of that name. */
static const char *package_field (lua_State *L, const char *name) {
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_pushliteral(L, LUA_LOADLIBNAME);
  lua_rawget(L, -2);
  if (lua_istable(L, -1)) {
    lua_pushstring(L, name);
    lua_rawget(L, -2);
    if (lua_type(L, -1) == LUA_TSTRING)
      return lua_tostring(L, -1);
  }
  return "";
}

/* Where the server's modules are looked for: as the caller says, else as this
   state would look. */
static const char *search_path (lua_State *L, const char *given,
                                const char *field) {
  const char *path = option(L, given);
  return (path != NULL) ? path : package_field(L, field);
}

/* nil, message, code: the system's error, and the step that has failed. */
static int fail (lua_State *L, int error, const char *what) {
  lua_pushfstring(L, "%s: %s", what, strerror(error));
  return tg_trace_failure(L, "noServer", lua_tostring(L, -1));
}

/* ---- endpoints ---- */

/* In a child of the process that listened: what it inherited is nobody's. A
   child's channel was hung up by the fork ('bell' -1). Only now may Lua be
   used to let go of the rest. */
static void shut_inherited (lua_State *L, tg_Session *s) {
  const tg_Channel *channel = tg_endpoint_channel(s);
  if (channel != NULL && channel->bell < 0)
    tg_endpoint_close(L, s);
}

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
  tg_Channel *channel = tg_channel_new((int)signal, (uint64_t)(stall * 1e9),
                                       host, tg_serverthread_bell());
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
  bool ok = tg_endpoint_open(L, s, channel);
  if (ok && !tg_serverthread_enter(channel)) {
    tg_endpoint_close(L, s);
    errno = ENOMEM;
    ok = false;
  }
  tg_channel_unpin(channel);
  return ok;
}

/* The endpoint first: its last notice must be there before the server is told
   that the state is closing. The number is read before, as the channel may go
   with the endpoint. */
static void close_endpoint (lua_State *L, tg_Session *s) {
  uint64_t number = tg_endpoint_channel(s)->endpoint;
  tg_endpoint_close(L, s);
  tg_serverthread_leave(number);
}

/* ---- listening ---- */

/* So that a program need not keep the object: it listens until it is closed,
   or the state is. */
static void anchor (lua_State *L, const Listening *g) {
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, g);
}

/* To set a key that is there to nil allocates nothing: this may be called by a
   finalizer. */
static void release (lua_State *L, const Listening *g) {
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, g);
}

/* The words are the traced thread's as soon as it is answered. */
static void free_answer (tg_Order *o) {
  tg_free(o->text[0]);
  tg_free(o->text[1]);
}

/* The address is what the server says: a port may have been given by the
   system. The object is on top then. */
static void note_address (lua_State *L, int handle, tg_Order *o) {
  lua_pushstring(L, o->text[0]);
  free_answer(o);
  lua_setiuservalue(L, handle, ADDRESS);
  lua_settop(L, handle);
}

/* Without memory for the words there are none: then that is what is told. */
static int refused (lua_State *L, tg_Order *o) {
  luaL_pushfail(L);
  lua_pushstring(L, o->text[0] != NULL ? o->text[0] : "not enough memory");
  lua_pushstring(L, o->text[1] != NULL ? o->text[1] : "noServer");
  free_answer(o);
  return 3;
}

/* The thread and the endpoint. 0: both are there; else how many values are
   pushed that say why not. */
static int prepare (lua_State *L, tg_Session *s, const char *path,
                    const char *cpath) {
  if (!tg_serverthread_begin(path, cpath))
    return fail(L, errno, "the server cannot be started");
  if (open_endpoint(L, s))
    return 0;
  int error = errno;
  tg_serverthread_end_idle();
  return fail(L, error, "the program cannot be reached");
}

/* Step by step, each undone if a later one fails: the thread, the endpoint,
   the address. The object is there before, but closed, so its finalizer finds
   nothing to do. */
int listener_start (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  tg_Order order = read_order(L);
  tg_Session *s = tg_tracing_get(L);
  const char *path = search_path(L, "packagePath", "path");
  const char *cpath = search_path(L, "packageCPath", "cpath");
  Listening *g = lua_newuserdatauv(L, sizeof *g, 1);
  *g = (Listening){NULL, tg_serverthread_child()};
  luaL_setmetatable(L, LISTENING);
  int handle = lua_gettop(L);
  shut_inherited(L, s);
  int refusal = prepare(L, s, path, cpath);
  if (refusal > 0)
    return refusal;
  tg_Channel *channel = tg_endpoint_channel(s);
  tg_assert(channel != NULL && channel->endpoint != 0);
  order.endpoint = channel->endpoint;
  tg_serverthread_order(&order);
  if (!order.good) {
    if (channel->addresses == 0)
      close_endpoint(L, s);
    return refused(L, &order);
  }
  channel->addresses++;
  g->session = s;
  if (strcmp(order.kind, "inspect") == 0)
    tg_inspector_open(L, s, channel, path);
  note_address(L, handle, &order);
  anchor(L, g);
  return 1;
}

/* The socket closes, and with the state's last one its endpoint. In a forked
   child the server that had the socket is the parent's: there is nobody to be
   told. */
static void stop_listening (lua_State *L, Listening *g) {
  tg_Session *s = g->session;
  tg_Order order = {.kind = "unlisten", .port = -1};
  tg_Channel *channel = tg_endpoint_channel(s);
  g->session = NULL;
  if (g->child != tg_serverthread_child() || channel == NULL) {
    shut_inherited(L, s);
    return;
  }
  lua_getiuservalue(L, 1, ADDRESS);
  order.address = lua_tostring(L, -1);
  order.endpoint = channel->endpoint;
  tg_serverthread_order(&order);
  free_answer(&order);
  tg_assert(channel->addresses > 0);
  if (--channel->addresses == 0)
    close_endpoint(L, s);
}

/* Closing twice is fine. It leaves the registry first: what stopping has to
   tell may run the program, which must not find it half closed. */
static int listening_close (lua_State *L) {
  Listening *g = check(L);
  if (g->session != NULL) {
    release(L, g);
    stop_listening(L, g);
  }
  lua_pushboolean(L, true);
  return 1;
}

/* The state closes: its frames exit "terminated" and are sent before the
   sockets go. */
static int listening__gc (lua_State *L) {
  Listening *g = check(L);
  tg_Session *s = g->session;
  if (s == NULL)
    return 0;
  if (s->tracing)
    tg_tracing_terminate(s);
  if (g->child == tg_serverthread_child() && tg_endpoint_channel(s) != NULL)
    close_endpoint(L, s);
  g->session = NULL;
  return 0;
}

/* Fields are worked out: an object without a table of its own cannot be
   changed by the program. */
static int listening__index (lua_State *L) {
  check(L);
  const char *key = (lua_type(L, 2) == LUA_TSTRING) ? lua_tostring(L, 2) : "";
  if (strcmp(key, "address") == 0)
    lua_getiuservalue(L, 1, ADDRESS);
  else if (strcmp(key, "close") == 0)
    lua_pushcfunction(L, listening_close);
  else
    lua_pushnil(L);
  return 1;
}

/* What the client has asked for is carried out here: a program that waits has
   no event at which it would be. */
int listener_waited (lua_State *L) {
  const Listening *g = check(L);
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
  const Listening *g = check(L);
  if (g->session != NULL)
    tg_inspector_wait(g->session, L);
  return 0;
}

void tg_listener_setup (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"__index", listening__index},
    {"__gc", listening__gc},
    {NULL, NULL}
  };
  lx_class(L, LISTENING, methods);
}
