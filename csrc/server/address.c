/*
** address.c - see address.h. What is wrong with options raises, as memory that
** lacks does; what the server cannot open is its words.
*/
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lualib.h>

#include "server/address.h"
#include "base/alloc.h"
#include "inspect/inspector.h"

#define LISTENING "tracegrip.listening"

enum {WORDS = 1, PLAN};         /* user values */

static const char key_all = 0;  /* registry: objects by their memory */

/* ---- the state ---- */

bool tg_address_admit (lua_State *L, tg_Session *s, tg_Channel *channel,
                       tg_Orphaned *orphaned) {
  if (!tg_endpoint_open(L, s, channel, orphaned))
    return false;
  if (tg_serverthread_enter(channel))
    return true;
  int error = errno;
  tg_endpoint_close(L, s);
  errno = error;
  return false;
}

/* The endpoint first: its last notice must be there before the server is told
   that the state is closing. The number is read before, as the channel may go
   with the endpoint. */
void tg_address_dismiss (lua_State *L, tg_Session *s, bool meant) {
  uint64_t number = tg_endpoint_channel(s)->endpoint;
  tg_endpoint_close(L, s);
  tg_serverthread_leave(number, meant);
}

/* ---- the object ---- */

void tg_address_setup (lua_State *L, const luaL_Reg *methods) {
  lx_class(L, LISTENING, methods);
}

tg_Address *tg_address_check (lua_State *L, int arg) {
  return luaL_checkudata(L, arg, LISTENING);
}

tg_Address *tg_address_push (lua_State *L, int plan) {
  tg_Address *a = lua_newuserdatauv(L, sizeof *a, PLAN);
  *a = (tg_Address){NULL, tg_serverthread_child()};
  luaL_setmetatable(L, LISTENING);
  lua_pushvalue(L, plan);
  lua_setiuservalue(L, -2, PLAN);
  return a;
}

void tg_address_words (lua_State *L, int object) {
  lua_getiuservalue(L, object, WORDS);
}

void tg_address_plan (lua_State *L, int object) {
  lua_getiuservalue(L, object, PLAN);
}

/* ---- what is asked for ---- */

/* Borrowed from the table. */
static const char *option (lua_State *L, int plan, const char *name) {
  lua_getfield(L, plan, name);
  const char *value = luaL_optstring(L, -1, NULL);
  lua_pop(L, 1);                  /* the options keep it */
  return value;
}

/* What it is about, the endpoint, is filled in when there is one. */
tg_Order tg_address_read (lua_State *L, int plan) {
  tg_Order o = {.kind = "listen"};
  o.title = option(L, plan, "title");
  o.host = option(L, plan, "host");
  o.path = option(L, plan, "path");
  o.token = option(L, plan, "token");
  o.defaults = option(L, plan, "defaults");
  lua_getfield(L, plan, "port");
  o.port = luaL_optinteger(L, -1, -1);
  lua_getfield(L, plan, "inspect");
  if (lua_toboolean(L, -1))
    o.kind = "inspect";
  lua_pop(L, 2);
  return o;
}

/* By raw access, and of the registry's "package": the program may have put
   anything into the global of that name. */
static void push_package_field (lua_State *L, const char *name) {
  if (lx_loaded(L, LUA_LOADLIBNAME) != LUA_TTABLE)
    return;
  lua_pushstring(L, name);
  lua_rawget(L, -2);
  lua_remove(L, -2);
}

const char *tg_address_search (lua_State *L, int plan, const char *given,
                               const char *field) {
  lua_getfield(L, plan, given);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    push_package_field(L, field);
  }
  return (lua_type(L, -1) == LUA_TSTRING) ? lua_tostring(L, -1) : "";
}

/* Of "127.0.0.1:6006", "[::1]:6006" and a page with one of them in it. */
static lua_Integer port_of (const char *words) {
  const char *colon = (words != NULL) ? strrchr(words, ':') : NULL;
  return (colon != NULL) ? strtol(colon + 1, NULL, 10) : 0;
}

/* The table stays with the object. */
tg_Order tg_address_again (lua_State *L, int object) {
  tg_address_plan(L, object);
  tg_Order o = tg_address_read(L, lua_gettop(L));
  tg_address_words(L, object);
  if (o.path == NULL)
    o.port = port_of(lua_tostring(L, -1));
  lua_pop(L, 2);
  return o;
}

/* ---- open or not ---- */

void tg_address_all (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &key_all);
}

static void anchor (lua_State *L, int object, const tg_Address *a) {
  tg_address_all(L);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &key_all);
  }
  lua_pushvalue(L, object);
  lua_rawsetp(L, -2, a);
  lua_pop(L, 1);
}

/* To set a key that is there to nil allocates nothing. */
void tg_address_release (lua_State *L, tg_Address *a) {
  a->session = NULL;
  tg_address_all(L);
  if (lua_istable(L, -1)) {
    lua_pushnil(L);
    lua_rawsetp(L, -2, a);
  }
  lua_pop(L, 1);
}

/* The words are the traced thread's as soon as it is answered. */
void tg_address_free_answer (tg_Order *o) {
  tg_free(o->text[0]);
  tg_free(o->text[1]);
}

/* They are what the server says: a port may have been given by the system. */
static void note_words (lua_State *L, int object, tg_Order *o) {
  lua_pushstring(L, o->text[0]);
  tg_address_free_answer(o);
  lua_setiuservalue(L, object, WORDS);
}

/* It is open before anything can raise, so its finalizer knows of it. */
bool tg_address_open (lua_State *L, int object, tg_Order *o, tg_Session *s) {
  tg_Address *a = lua_touserdata(L, object);
  tg_Channel *channel = tg_endpoint_channel(s);
  tg_assert(channel != NULL && channel->endpoint != 0);
  o->endpoint = channel->endpoint;
  tg_serverthread_order(o);
  if (o->state != TG_ORDER_GRANTED)
    return false;
  channel->addresses++;
  a->session = s;
  a->child = tg_serverthread_child();
  if (strcmp(o->kind, "inspect") == 0) {
    tg_address_plan(L, object);
    tg_inspector_open(L, s, channel, tg_address_search(L, lua_gettop(L),
                                                       "packagePath", "path"));
    lua_pop(L, 2);
  }
  note_words(L, object, o);
  anchor(L, object, a);
  return true;
}
