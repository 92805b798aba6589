/*
** clientchannel.c - the server's end of a channel as its Lua sees it: requests
** become commands, notices become tables, frames become strings. On the
** server's thread. Wrong options of a client raise, as does want of memory, and
** then nothing has been asked for.
*/
#include <string.h>

#include "server/clientchannel.h"
#include "binding/losslist.h"
#include "binding/readoptions.h"
#include "binding/typelist.h"
#include "channel/clientstream.h"
#include "server/handovers.h"

#define CHANNEL "tracegrip.channel"

typedef struct ClientChannel {
  tg_Channel *channel;        /* pins; NULL once closed */
  tg_ClientStream stream;     /* owns */
  tg_Handovers handovers;     /* owns: nothing to do with the client's */
  tg_Buf names;               /* owns: a copy while they are pushed */
} ClientChannel;

/* By tg_NoticeKind: what the modules compare with. */
static const char *const kind_names[] = {
  [TG_NOTICE_TAKEN] = "taken", [TG_NOTICE_REFUSED] = "refused",
  [TG_NOTICE_STARTED] = "started", [TG_NOTICE_STOPPED] = "stopped",
  [TG_NOTICE_ENDED] = "ended", [TG_NOTICE_GONE] = "gone"
};

/* A client that makes the program wait too long is another matter than a
   buffer that was to be filled once. REFUSED has no reason of its own: there
   was no memory. */
static const char *why (const tg_Options *o, const tg_Notice *n) {
  if (n->kind == TG_NOTICE_REFUSED)
    return tg_endreason_name(TG_END_MEMORY);
  if (n->why == TG_END_OVERFLOW && o->overflow == TG_OVERFLOW_WAIT)
    return "stall";
  return tg_endreason_name(n->why);
}

/* What the member 'id' has lost so far and no packet tells, by cause; nil:
   nothing. */
static void push_lost (lua_State *L, const ClientChannel *c, uint64_t id) {
  uint64_t lacks[TG_NLACKS], lost[TG_NLOSSES] = {0};
  if (tg_clientstream_lost(&c->stream, id, lacks))
    for (tg_Lack i = 0; i < TG_NLACKS; i++)
      lost[tg_endreason_lack(i)] = lacks[i];
  tg_losslist_push(L, lost);
}

/* What the modules need of each kind and no more: names are known to them but
   for traces of the program. */
static void push_notice (lua_State *L, const ClientChannel *c,
                         const tg_Notice *n) {
  const tg_Options *o = tg_clientstream_options(&c->stream, n->id);
  lua_createtable(L, 0, 5);
  lx_set_string(L, "kind", kind_names[n->kind]);
  lx_set_integer(L, "id", (lua_Integer)n->id);
  if (n->kind == TG_NOTICE_STARTED) {
    lx_set_string(L, "name", n->name);
    tg_typelist_push(L, n->options.types);
    lua_setfield(L, -2, "types");
  }
  if (o == NULL || n->kind == TG_NOTICE_TAKEN)
    return;
  push_lost(L, c, n->id);
  lua_setfield(L, -2, "lost");
  if (n->kind == TG_NOTICE_ENDED || n->kind == TG_NOTICE_REFUSED)
    lx_set_string(L, "why", why(o, n));
}

/* ---- the object ---- */

/* Also a closed one: closing twice is fine, and the finalizer comes after
   it. */
static ClientChannel *check_any (lua_State *L) {
  return luaL_checkudata(L, 1, CHANNEL);
}

static ClientChannel *check (lua_State *L) {
  ClientChannel *c = check_any(L);
  luaL_argcheck(L, c->channel != NULL, 1, "a channel that is open expected");
  return c;
}

tg_Channel *tg_clientchannel_check (lua_State *L, int arg) {
  ClientChannel *c = luaL_checkudata(L, arg, CHANNEL);
  luaL_argcheck(L, c->channel != NULL, arg, "a channel that is open expected");
  return c->channel;
}

/* The modules give numbers to traces; the program's own have theirs from the
   endpoint, from TG_CHANNEL_OWN on. */
static uint64_t check_id (lua_State *L) {
  return (uint64_t)luaL_checkinteger(L, 2);
}

/* Raises before the command is anybody's: there is nothing to free. */
static tg_Command *new_command (lua_State *L, tg_CommandKind kind,
                                uint64_t id) {
  tg_Command *k = tg_command_new(kind, id);
  if (k == NULL)
    luaL_error(L, "not enough memory");
  return k;
}

/* Whatever the client had before is over, also when it attaches again without
   having left. */
static int channel_attach (lua_State *L) {
  ClientChannel *c = check(L);
  if (!tg_clientstream_attach(&c->stream, lua_toboolean(L, 2)))
    return luaL_error(L, "not enough memory");
  return 0;
}

/* A client's options, at index 3. A client is not the program: it may not have
   patterns that take for ever, nor more than the host allows. */
static tg_Options *read_options (lua_State *L, const ClientChannel *c,
                                 const char *const *extra) {
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 3);
  tg_Options *o = tg_readoptions_new(L);
  tg_readoptions(L, 3, extra, o);
  tg_options_bound(o, TG_BOUND_STRANGER);
  if (!tg_options_confine(o, &c->channel->host))
    luaL_error(L, "not enough memory");
  return o;
}

/* Sets options that a client leaves open. The program waits for a client that
   reads packets; a client that reads bytes loses those that it does not read in
   time. Without a word from the client its buffer is small, since 1 to 64
   clients may come. */
static void set_defaults (lua_State *L, tg_Options *o, bool bytes) {
  uint64_t most = bytes ? TG_BUFFER_BYTES : TG_BUFFER_REMOTE;
  if (lua_getfield(L, 3, "overflow") == LUA_TNIL)
    o->overflow = bytes ? TG_OVERFLOW_RING : TG_OVERFLOW_WAIT;
  if (lua_getfield(L, 3, "buffer") == LUA_TNIL && o->buffer > most)
    o->buffer = most;
  lua_pop(L, 2);
}

/* Raises what is wrong with options, and does nothing else: what is to be the
   limit of all clients is looked at before anything listens. */
int clientchannel_check_options (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  tg_readoptions(L, 1, NULL, tg_readoptions_new(L));
  return 0;
}

/* The time that it may take, in ms; nil: as long as it likes. The server ends
   a trace itself when its time is over and the program has not looked. */
static int channel_start (lua_State *L) {
  static const char *const extra[] = {"name", "blocks", "compress", "makers",
                                      NULL};
  ClientChannel *c = check(L);
  uint64_t id = check_id(L);
  tg_Options *o = read_options(L, c, extra);
  lua_getfield(L, 3, "blocks");
  lua_getfield(L, 3, "makers");
  tg_ClientStart how = {.bytes = lua_toboolean(L, -2),
                        .makers = lua_toboolean(L, -1)};
  set_defaults(L, o, how.bytes);
  lua_getfield(L, 3, "name");
  how.name = luaL_checkstring(L, -1);
  if (!tg_clientstream_start(&c->stream, id, o, &how))
    return luaL_error(L, "not enough memory");
  if (o->duration_ns == 0)
    return 0;
  lua_pushnumber(L, (lua_Number)o->duration_ns / 1e6);
  return 1;
}

/* Nothing is known of it until its end is told, and what was recorded by then
   still comes. */
static int channel_stop (lua_State *L) {
  ClientChannel *c = check(L);
  tg_channel_post(c->channel, new_command(L, TG_COMMAND_STOP, check_id(L)));
  return 0;
}

/* The client gives the trace up. Both lists are looked through, since the
   caller need not know which of them has it. */
static int channel_drop (lua_State *L) {
  ClientChannel *c = check(L);
  uint64_t id = check_id(L);
  tg_clientstream_part(&c->stream, id);
  tg_handovers_drop(&c->handovers, c->channel, id);
  return 0;
}

/* lost(id) -> how much of the client's trace was lost, by cause; nil: nothing
   that packets do not tell. */
static int channel_lost (lua_State *L) {
  push_lost(L, check(L), check_id(L));
  return 1;
}

/* Nobody reads it as it goes, so nothing is ever free again: it stops when its
   buffer is full. */
static int channel_keep (lua_State *L) {
  ClientChannel *c = check(L);
  uint64_t id = check_id(L);
  tg_Options *o = read_options(L, c, NULL);
  o->overflow = TG_OVERFLOW_STOP;
  tg_handovers_ask(L, &c->handovers, c->channel, id, o);
  return 0;
}

/* kept(id) -> Trace; nil if it had not begun. It is the program's memory until
   then, and the server's from here on: a Trace of this state. */
static int channel_kept (lua_State *L) {
  ClientChannel *c = check(L);
  tg_handovers_take(L, &c->handovers, c->channel, check_id(L));
  return 1;
}

/* mark(duration) -> whether there is something before it. What is committed by
   now is to be read before the client is answered. */
static int channel_mark (lua_State *L) {
  ClientChannel *c = check(L);
  uint64_t duration_ns = (uint64_t)(luaL_optnumber(L, 2, 0) * 1e6);
  lua_pushboolean(L, tg_clientstream_mark(&c->stream, duration_ns));
  return 1;
}

/* Bytes go to Lua once, whole: no value is made of a packet on the way. */
static int channel_read (lua_State *L) {
  ClientChannel *c = check(L);
  const char *from = luaL_checkstring(L, 2);
  lua_Integer batch = luaL_optinteger(L, 3, 0);
  size_t bytes = (size_t)luaL_checkinteger(L, 4);
  const tg_Buf *out = tg_clientstream_read(&c->stream, from, batch, bytes,
                                           lua_toboolean(L, 5));
  if (out == NULL)
    return 0;
  lua_pushlstring(L, out->data, out->size);
  return 1;
}

/* 'broken' is told as often as it is asked, for there is nothing that the
   client could still be given; without a client there is nobody to be sent
   away. */
static int channel_notice (lua_State *L) {
  ClientChannel *c = check(L);
  const tg_Notice *n = tg_clientstream_notice(&c->stream);
  if (c->stream.broken && c->stream.attached) {
    lua_createtable(L, 0, 1);
    lx_set_string(L, "kind", "broken");
    return 1;
  }
  if (n == NULL)
    return 0;
  push_notice(L, c, n);
  tg_clientstream_told(&c->stream);
  return 1;
}

/* Copied first: nothing may be raised while others wait for the mutex. */
static int channel_names (lua_State *L) {
  ClientChannel *c = check(L);
  tg_Channel *l = c->channel;
  lua_Integer i = 0;
  tg_buf_clear(&c->names);
  pthread_mutex_lock(&l->mutex);
  for (size_t k = 0; k < l->nnames; k++)
    tg_buf_add(&c->names, l->names[k], strlen(l->names[k]) + 1);
  pthread_mutex_unlock(&l->mutex);
  lua_newtable(L);
  for (size_t at = 0; at < c->names.size;
       at += strlen(c->names.data + at) + 1) {
    lua_pushstring(L, c->names.data + at);
    lua_rawseti(L, -2, ++i);
  }
  return 1;
}

/* nudge() -> whether the program is called: a signal makes it look at its
   commands (interrupt.h). */
static int channel_nudge (lua_State *L) {
  lua_pushboolean(L, tg_channel_nudge(check(L)->channel));
  return 1;
}

/* heard() -> whether it has read messages since the last one came. */
static int channel_heard (lua_State *L) {
  lua_pushboolean(L, tg_channel_heard(check(L)->channel));
  return 1;
}

/* deliver(client, text, ends): what a debugger says, and whether that ends code
   that the program runs for one; without a text, that it is gone; a boolean:
   whether it is behind. False: more waits for the program than it should. */
static int channel_deliver (lua_State *L) {
  ClientChannel *c = check(L);
  size_t size = 0;
  uint64_t client = (uint64_t)luaL_checkinteger(L, 2);
  bool paced = lua_isboolean(L, 3);
  const char *text = paced ? NULL : luaL_optlstring(L, 3, NULL, &size);
  tg_Message *x = paced ? tg_message_pace(client, lua_toboolean(L, 3))
                       : tg_message_new(client, text, size);
  if (x == NULL)
    return luaL_error(L, "not enough memory");
  x->ends = x->ends || lua_toboolean(L, 4);
  lua_pushboolean(L, tg_channel_deliver(c->channel, x));
  return 1;
}

/* lingers() -> the name of the last C function that a debugger's code has
   called, "" without one, if the code runs although a message has come that
   ends it; nil: there is no such code. */
static int channel_lingers (lua_State *L) {
  char within[TG_WITHIN];
  if (!tg_channel_lingers(check(L)->channel, within))
    return 0;
  lua_pushstring(L, within);
  return 1;
}

/* collect() -> client, text: what the program says to it; nothing if it has
   said all. Without memory for the text one message is lost. */
static int channel_collect (lua_State *L) {
  tg_Message *x = tg_channel_collect(check(L)->channel);
  if (x == NULL)
    return 0;
  lua_pushinteger(L, (lua_Integer)x->client);
  lua_pushlstring(L, x->text, x->size);
  tg_message_free(x);
  return 2;
}

/* Also the finalizer. Hanging up comes last: a state that is closing waits for
   it. */
static int channel_close (lua_State *L) {
  ClientChannel *c = check_any(L);
  if (c->channel == NULL)
    return 0;
  tg_clientstream_free(&c->stream);
  tg_handovers_clear(&c->handovers, c->channel);
  tg_buf_free(&c->names);
  tg_channel_hang_up(c->channel);
  tg_channel_unpin(c->channel);
  c->channel = NULL;
  return 0;
}

/* The pin comes after all that may raise. Closed until then: the finalizer has
   nothing to do for it. */
void tg_clientchannel_push (lua_State *L, tg_Channel *channel) {
  ClientChannel *c = lua_newuserdatauv(L, sizeof *c, 0);
  memset(c, 0, sizeof *c);
  luaL_setmetatable(L, CHANNEL);
  c->channel = tg_channel_pin(channel);
  tg_clientstream_init(&c->stream, channel);
}

/* No "__close" and no hidden metatable: these objects are in the server's own
   state, which runs nobody else's code. */
void tg_clientchannel_setup (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"attach", channel_attach},
    {"start", channel_start},
    {"stop", channel_stop},
    {"drop", channel_drop},
    {"lost", channel_lost},
    {"keep", channel_keep},
    {"kept", channel_kept},
    {"mark", channel_mark},
    {"read", channel_read},
    {"notice", channel_notice},
    {"names", channel_names},
    {"nudge", channel_nudge},
    {"heard", channel_heard},
    {"deliver", channel_deliver},
    {"lingers", channel_lingers},
    {"collect", channel_collect},
    {"close", channel_close},
    {"__gc", channel_close},
    {NULL, NULL}
  };
  lx_class(L, CHANNEL, methods);
}
