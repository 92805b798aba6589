/*
** serverhost.c - the object 'host', through which the server's Lua modules hear
** of traced states and answer them. On the server's thread alone; what is
** shared is behind serverthread.c's mutex, which is never held while Lua may
** raise.
*/
#include <string.h>

#include "server/serverhost.h"
#include "server/clientchannel.h"
#include "server/serverstate.h"
#include "server/serverthread.h"

/* fd(): what the loop waits for. Readable as soon as there is something to
   take. */
static int host_fd (lua_State *L) {
  lua_pushinteger(L, tg_serverthread_bell());
  return 1;
}

/* Strings of the order are borrowed until it is answered, so they are copied
   here. All options are in a table of their own, which is what server.lua
   hands on. */
static void push_order (lua_State *L, const tg_Order *o) {
  lua_createtable(L, 0, 6);
  lx_set_string(L, "kind", o->kind);
  lx_set_integer(L, "id", (lua_Integer)o->id);
  lx_set_integer(L, "endpoint", (lua_Integer)o->endpoint);
  lx_set_string(L, "title", o->title);
  lx_set_string(L, "address", o->address);
  lua_createtable(L, 0, 5);
  lx_set_string(L, "host", o->host);
  lx_set_string(L, "path", o->path);
  lx_set_string(L, "token", o->token);
  lx_set_string(L, "defaults", o->defaults);
  if (o->port >= 0)
    lx_set_integer(L, "port", o->port);
  lua_setfield(L, -2, "options");
}

/* One event a call: the modules take until there is none, and between two of
   them anything may happen. */
static int host_take (lua_State *L) {
  tg_ServerEvent event;
  if (!tg_serverthread_take(&event))
    return 0;
  if (event.order != NULL) {
    push_order(L, event.order);
    return 1;
  }
  lua_createtable(L, 0, 2);
  lx_set_string(L, "kind", event.kind);
  if (strcmp(event.kind, "stop") == 0)
    lx_set_integer(L, "ms", TG_SERVER_PARTING_NS / 1000000);
  else
    lx_set_integer(L, "endpoint", (lua_Integer)event.endpoint);
  return 1;
}

/* answer(id, true, address); answer(id, nil, message, code). */
static int host_answer (lua_State *L) {
  uint64_t id = (uint64_t)luaL_checkinteger(L, 2);
  const char *first = luaL_optstring(L, 4, NULL);
  const char *second = luaL_optstring(L, 5, NULL);
  tg_serverthread_answer(id, lua_toboolean(L, 3), first, second);
  return 0;
}

/* channel(endpoint): the server's end of its channel; nothing, if the state is
   gone. */
static int host_channel (lua_State *L) {
  uint64_t endpoint = (uint64_t)luaL_checkinteger(L, 2);
  tg_Channel *channel = tg_serverthread_channel(endpoint);
  if (channel == NULL)
    return 0;
  tg_clientchannel_push(L, channel); /* without memory one pin is lost */
  tg_channel_unpin(channel);
  return 1;
}

/* keep(fd), drop(fd): a descriptor that a forked child must close, while the
   server has it. */
static int host_keep (lua_State *L) {
  tg_serverthread_keep((int)luaL_checkinteger(L, 2));
  return 0;
}

/* The server has closed it; its number may be another descriptor's by now. */
static int host_drop (lua_State *L) {
  tg_serverthread_drop((int)luaL_checkinteger(L, 2));
  return 0;
}

void tg_serverhost_setup (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"fd", host_fd},
    {"take", host_take},
    {"answer", host_answer},
    {"channel", host_channel},
    {"keep", host_keep},
    {"drop", host_drop},
    {NULL, NULL}
  };
  lx_class(L, TG_SERVERHOST, methods);
}
