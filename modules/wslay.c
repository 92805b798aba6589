/*
** wslay.c - the module "tracegrip.wslay": the frames of WebSocket (RFC 6455) by
** the library of that name, without a socket. It is a module of its own, which
** only debuggers need: tracegrip.core is built and loaded without it.
**
**   wslay.new(role, limit)  "server" or "client", which masks what it sends;
**                           a message of more than 'limit' bytes ends it
**   socket:feed(bytes)      list of the messages that are complete by now, each
**                           a string; nil when the other side breaks the rules,
**                           and the end is queued, which says so (1002)
**   socket:send(text)       queues a message
**   socket:close(code)      queues the end
**   socket:pending()        bytes for the other side, "" if there are none
**   socket:open()           false once the end was sent or has come
**
** Pings are answered, fragments joined, control frames checked by the library.
** Messages are text: one of bytes ends it (1003), as one that is too long does
** (1009).
** Used by one Lua state on one thread. Failure: want of memory raises; all that
** the other side may do wrong is told by feed.
*/
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <lua.h>
#include <lauxlib.h>

#include <wslay/wslay.h>

#define SOCKET "tracegrip.wslay"

typedef struct Socket {
  wslay_event_context_ptr context;  /* owns; NULL once collected */
  const uint8_t *in;                /* borrows: what is being fed... */
  size_t in_size;                   /* ...and not read yet */
  char *out;                        /* owns: what is to be sent */
  size_t out_size, out_room;
  int client;                       /* else the server */
  int refused;                      /* the end is queued: nothing is heard */
  lua_State *L;                     /* while feeding: the list is on top */
  int messages;
} Socket;

/* ---- what the library calls ---- */

static ssize_t on_recv (wslay_event_context_ptr context, uint8_t *to,
                        size_t room, int flags, void *data) {
  Socket *s = data;
  size_t n = (s->in_size < room) ? s->in_size : room;
  (void)flags;
  if (n == 0) {
    wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK);
    return -1;
  }
  memcpy(to, s->in, n);
  s->in += n;
  s->in_size -= n;
  return (ssize_t)n;
}

static int make_room (Socket *s, size_t more) {
  size_t need = s->out_size + more;
  if (need <= s->out_room)
    return 1;
  size_t room = (need < 4096) ? 4096 : 2 * need;
  char *out = realloc(s->out, room);
  if (out == NULL)
    return 0;
  s->out = out;
  s->out_room = room;
  return 1;
}

static ssize_t on_send (wslay_event_context_ptr context, const uint8_t *from,
                        size_t size, int flags, void *data) {
  Socket *s = data;
  (void)flags;
  if (!make_room(s, size)) {
    wslay_event_set_error(context, WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
  }
  memcpy(s->out + s->out_size, from, size);
  s->out_size += size;
  return (ssize_t)size;
}

/* Lua may raise for want of memory, which must not go through the library: so
   the message is pushed by a protected call. */
static int push_message (lua_State *L) {
  const struct wslay_event_on_msg_recv_arg *m = lua_touserdata(L, 2);
  lua_pushlstring(L, (const char *)m->msg, m->msg_length);
  lua_rawseti(L, 1, (lua_Integer)lua_tointeger(L, 3));
  return 0;
}

static void on_message (wslay_event_context_ptr context,
                        const struct wslay_event_on_msg_recv_arg *m,
                        void *data) {
  Socket *s = data;
  lua_State *L = s->L;
  if (m->opcode == WSLAY_BINARY_FRAME && !s->refused) {
    s->refused = 1;
    wslay_event_queue_close(context, WSLAY_CODE_UNSUPPORTED_DATA, NULL, 0);
  }
  if (m->opcode != WSLAY_TEXT_FRAME || s->refused)
    return;
  lua_pushcfunction(L, push_message);
  lua_pushvalue(L, -2);
  lua_pushlightuserdata(L, (void *)(uintptr_t)m);
  lua_pushinteger(L, ++s->messages);
  if (lua_pcall(L, 3, 0, 0) != LUA_OK) {
    lua_pop(L, 1);
    wslay_event_set_error(context, WSLAY_ERR_CALLBACK_FAILURE);
  }
}

static int on_mask (wslay_event_context_ptr context, uint8_t *to, size_t size,
                    void *data) {
  (void)context;
  (void)data;
  return (getrandom(to, size, 0) == (ssize_t)size) ? 0 : -1;
}

/* ---- the object ---- */

static Socket *check (lua_State *L) {
  Socket *s = luaL_checkudata(L, 1, SOCKET);
  luaL_argcheck(L, s->context != NULL, 1, "a socket that is open expected");
  return s;
}

static void check_code (lua_State *L, int code) {
  if (code == WSLAY_ERR_NOMEM)
    luaL_error(L, "not enough memory");
}

static int socket_new (lua_State *L) {
  static const char *const roles[] = {"server", "client", NULL};
  static const struct wslay_event_callbacks callbacks = {
    .recv_callback = on_recv, .send_callback = on_send,
    .genmask_callback = on_mask, .on_msg_recv_callback = on_message
  };
  int client = luaL_checkoption(L, 1, NULL, roles);
  lua_Integer limit = luaL_checkinteger(L, 2);
  luaL_argcheck(L, limit > 0, 2, "a number of bytes expected");
  Socket *s = lua_newuserdatauv(L, sizeof *s, 0);
  memset(s, 0, sizeof *s);
  luaL_setmetatable(L, SOCKET);
  int code = client
    ? wslay_event_context_client_init(&s->context, &callbacks, s)
    : wslay_event_context_server_init(&s->context, &callbacks, s);
  check_code(L, code);
  s->client = client;
  wslay_event_config_set_max_recv_msg_length(s->context, (uint64_t)limit);
  return 1;
}

/* The library has queued an end without a reason. A server's frame of one is
   these bytes; a client's would be masked, and goes without. */
static void say_broken (lua_State *L, Socket *s) {
  static const char frame[] = "\x88\x02\x03\xea";
  if (s->client || s->refused)
    return;
  s->refused = 1;
  check_code(L, wslay_event_send(s->context));
  if (!make_room(s, sizeof frame))
    luaL_error(L, "not enough memory");
  s->out_size = (s->out_size >= 2) ? s->out_size - 2 : 0;   /* 88 00 */
  memcpy(s->out + s->out_size, frame, sizeof frame - 1);
  s->out_size += sizeof frame - 1;
}

static int socket_feed (lua_State *L) {
  Socket *s = check(L);
  s->in = (const uint8_t *)luaL_checklstring(L, 2, &s->in_size);
  luaL_checkstack(L, 8, NULL);
  lua_newtable(L);
  s->L = L;
  s->messages = 0;
  int code = wslay_event_recv(s->context);
  s->L = NULL;
  s->in = NULL;
  s->in_size = 0;
  check_code(L, code);
  if (code != 0) {
    say_broken(L, s);
    luaL_pushfail(L);
  }
  return 1;
}

static int socket_send (lua_State *L) {
  Socket *s = check(L);
  size_t size;
  const char *text = luaL_checklstring(L, 2, &size);
  struct wslay_event_msg m = {WSLAY_TEXT_FRAME, (const uint8_t *)text, size};
  int code = wslay_event_queue_msg(s->context, &m);
  check_code(L, code);
  lua_pushboolean(L, code == 0);
  return 1;
}

static int socket_close (lua_State *L) {
  Socket *s = check(L);
  uint16_t status = (uint16_t)luaL_optinteger(L, 2, 1000);
  check_code(L, wslay_event_queue_close(s->context, status, NULL, 0));
  return 0;
}

static int socket_pending (lua_State *L) {
  Socket *s = check(L);
  check_code(L, wslay_event_send(s->context));
  lua_pushlstring(L, (s->out != NULL) ? s->out : "", s->out_size);
  s->out_size = 0;
  return 1;
}

static int socket_open (lua_State *L) {
  Socket *s = check(L);
  lua_pushboolean(L, !s->refused && !wslay_event_get_close_sent(s->context)
                     && !wslay_event_get_close_received(s->context)
                     && wslay_event_get_read_enabled(s->context));
  return 1;
}

static int socket__gc (lua_State *L) {
  Socket *s = luaL_checkudata(L, 1, SOCKET);
  if (s->context != NULL)
    wslay_event_context_free(s->context);
  free(s->out);
  s->context = NULL;
  s->out = NULL;
  return 0;
}

__attribute__((visibility("default")))
int luaopen_tracegrip_wslay (lua_State *L);

int luaopen_tracegrip_wslay (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"feed", socket_feed},
    {"send", socket_send},
    {"close", socket_close},
    {"pending", socket_pending},
    {"open", socket_open},
    {"__gc", socket__gc},
    {NULL, NULL}
  };
  luaL_checkversion(L);
  luaL_newmetatable(L, SOCKET);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  luaL_setfuncs(L, methods, 0);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, socket_new);
  lua_setfield(L, -2, "new");
  return 1;
}
