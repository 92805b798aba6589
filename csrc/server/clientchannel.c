#include <stdio.h>
#include <string.h>

#include "server/clientchannel.h"
#include "base/alloc.h"
#include "binding/readoptions.h"
#include "packet/packet.h"
#include "server/handovers.h"
#include "text/jsonwriter.h"

#define LINE "tracegrip.line"

/* A trace that the client has, or has asked for. */
typedef struct Member {
  struct Member *next;
  uint64_t id;
  tg_Options options;         /* owns */
  bool counts;                /* it runs */
} Member;

typedef struct Reception {
  tg_Channel *channel;        /* pins; NULL once closed */
  Member *members;            /* owns */
  tg_Handovers keeps;         /* owns: nothing to do with the client's */
  tg_Selection selection;     /* owns: of those that count */
  tg_Follower *follower;      /* pins; NULL: nothing to be read */
  tg_Notice *next;            /* owns: the next notice, not due yet */
  tg_Pos mark;                /* or TG_FOLLOWER_NONE */
  uint64_t session;           /* ATTACHes so far */
  bool attached;
  bool broken;                /* it cannot be read on */
  tg_Scratch scratch;         /* owns, as the following */
  tg_Buf body, out;
} Reception;

/* ---- members ---- */

static Member *find (const Reception *c, uint64_t id) {
  Member *m = c->members;
  while (m != NULL && m->id != id)
    m = m->next;
  return m;
}

static void free_member (Reception *c, Member *m) {
  Member **p = &c->members;
  while (*p != m)
    p = &(*p)->next;
  *p = m->next;
  tg_options_free(&m->options);
  tg_free(m);
}

static bool work_out_demand (Reception *c) {
  tg_Selection fresh = {0};
  bool ok = true;
  for (const Member *m = c->members; m != NULL && ok; m = m->next)
    ok = !m->counts || tg_selection_add(&fresh, &m->options);
  if (!ok) {
    tg_selection_clear(&fresh);
    return false;
  }
  tg_selection_clear(&c->selection);
  c->selection = fresh;
  return true;
}

static void reselect (Reception *c) {
  if (!work_out_demand(c)
      || (c->follower != NULL
          && !tg_reader_reselect(c->follower->reader, &c->selection)))
    c->broken = true;
}

/* ---- the follower ---- */

static void leave_tap (Reception *c, tg_Follower *follower) {
  tg_channel_leave(c->channel, follower);
  tg_follower_unpin(follower);
}

static void leave (Reception *c) {
  if (c->follower != NULL)
    leave_tap(c, c->follower);
  c->follower = NULL;
  c->mark = TG_FOLLOWER_NONE;
}

/* A member has begun: the one follower of all, or that of a new sequence. */
static void adopt (Reception *c, tg_Notice *n) {
  if (c->follower == n->follower) {
    reselect(c);
    return;
  }
  leave(c);
  c->follower = n->follower;
  n->follower = NULL;
  if (!work_out_demand(c)
      || !tg_follower_begin(c->follower, n->pos, n->ticks, &c->selection))
    c->broken = true;
}

static void part (Reception *c, uint64_t id) {
  Member *m = find(c, id);
  if (m == NULL)
    return;
  free_member(c, m);
  if (c->members == NULL)
    leave(c);
  reselect(c);
}

static void part_all (Reception *c) {
  while (c->members != NULL)
    free_member(c, c->members);
  leave(c);
}

/* ---- notices ---- */

/* Of a client that has gone, or of a trace that it has given up. */
static bool stale (const Reception *c, const tg_Notice *n) {
  if (n->kind == TG_NOTICE_GONE)
    return false;
  if (!c->attached || n->session != c->session)
    return true;
  return n->kind != TG_NOTICE_STARTED && find(c, n->id) == NULL;
}

static void discard (Reception *c, tg_Notice *n) {
  if (n->follower != NULL && n->follower != c->follower) {
    leave_tap(c, n->follower);
    n->follower = NULL;
  }
  tg_notice_free(n);
}

/* What follows the end is nothing: all that there is comes before it. */
static void place (const Reception *c, tg_Notice *n) {
  if (n->kind == TG_NOTICE_GONE)
    n->pos =
        (c->follower != NULL) ? tg_reader_committed(c->follower->reader) : 0;
}

static const tg_Notice *peek (Reception *c) {
  while (c->next == NULL || stale(c, c->next)) {
    if (c->next != NULL)
      discard(c, c->next);
    c->next = tg_channel_next(c->channel);
    if (c->next == NULL)
      return NULL;
    place(c, c->next);
  }
  return c->next;
}

static bool due (const Reception *c, const tg_Notice *n) {
  if (c->follower == NULL || c->broken
      || (n->follower != NULL && n->follower != c->follower))
    return true;
  return n->pos <= tg_follower_done(c->follower);
}

static const char *const kind_names[] = {
  [TG_NOTICE_TAKEN] = "taken", [TG_NOTICE_REFUSED] = "refused",
  [TG_NOTICE_STARTED] = "started", [TG_NOTICE_STOPPED] = "stopped",
  [TG_NOTICE_ENDED] = "ended", [TG_NOTICE_GONE] = "gone"
};

static void set_string (lua_State *L, const char *key, const char *value) {
  lua_pushstring(L, value);
  lua_setfield(L, -2, key);
}

/* A client that makes the program wait too long is another matter than a
   buffer that was to be filled once. */
static const char *why (const Member *m, const tg_Notice *n) {
  if (n->kind == TG_NOTICE_REFUSED)
    return tg_endreason_name(TG_END_MEMORY);
  if (n->why == TG_END_OVERFLOW && m->options.overflow == TG_OVERFLOW_WAIT)
    return "stall";
  return tg_endreason_name(n->why);
}

static void push_notice (lua_State *L, const Reception *c,
                         const tg_Notice *n) {
  const Member *m = find(c, n->id);
  lua_createtable(L, 0, 4);
  set_string(L, "kind", kind_names[n->kind]);
  lua_pushinteger(L, (lua_Integer)n->id);
  lua_setfield(L, -2, "id");
  if (n->kind == TG_NOTICE_STARTED) {
    set_string(L, "name", n->name);
    tg_types_push(L, n->options.types);
    lua_setfield(L, -2, "types");
  }
  if (m != NULL && (n->kind == TG_NOTICE_ENDED
                    || n->kind == TG_NOTICE_REFUSED))
    set_string(L, "why", why(m, n));
}

/* The program's trace becomes a member. */
static bool enlist (Reception *c, tg_Notice *n) {
  Member *m = tg_calloc(1, sizeof *m);
  if (m == NULL)
    return false;
  *m = (Member){c->members, n->id, n->options, true};
  memset(&n->options, 0, sizeof n->options);
  c->members = m;
  return true;
}

static void apply (Reception *c, tg_Notice *n) {
  switch (n->kind) {
    case TG_NOTICE_TAKEN:
      find(c, n->id)->counts = true;
      adopt(c, n);
      break;
    case TG_NOTICE_STARTED:
      if (enlist(c, n))
        adopt(c, n);
      else
        c->broken = true;
      break;
    case TG_NOTICE_REFUSED: case TG_NOTICE_STOPPED: case TG_NOTICE_ENDED:
      part(c, n->id);
      break;
    case TG_NOTICE_GONE:
    default:
      break;
  }
}

/* ---- packets ---- */

/* The body as a packet on the wire: its length in bytes before it. */
static void frame (Reception *c) {
  char head[24];
  int n = snprintf(head, sizeof head, "%zu:", c->body.size);
  tg_buf_add(&c->out, head, (size_t)n);
  tg_buf_add(&c->out, c->body.data, c->body.size);
  tg_buf_clear(&c->body);
}

static void put_packet (Reception *c, const tg_Packet *p) {
  tg_JsonWriter json;
  tg_jsonwriter_init(&json, &c->body);
  tg_packet_write(&json.sink, p, tg_reader_stream(c->follower->reader),
                  &c->selection, &c->scratch);
}

/* {"from":..., and then what the packet has after its own brace. */
static void put_single (Reception *c, const tg_Packet *p, const tg_Buf *from) {
  tg_buf_add(&c->body, from->data, from->size);
  size_t brace = c->body.size;
  put_packet(c, p);
  if (!c->body.failed)
    c->body.data[brace] = ',';
  frame(c);
}

static bool read_packet (const Reception *c, tg_Packet *p) {
  return tg_follower_next(c->follower, p);
}

static void read_singles (Reception *c, const tg_Buf *from, size_t bytes) {
  tg_Packet p;
  while (c->out.size < bytes && read_packet(c, &p))
    put_single(c, &p, from);
}

static bool read_batch (Reception *c, const tg_Buf *from, lua_Integer batch,
                        size_t bytes) {
  tg_Packet p;
  lua_Integer n = 0;
  while (n < batch && c->out.size + c->body.size < bytes
         && read_packet(c, &p)) {
    if (n++ == 0) {
      tg_buf_add(&c->body, from->data, from->size);
      tg_buf_addstr(&c->body, ",\"type\":\"traces\",\"traces\":[");
    }
    else
      tg_buf_addchar(&c->body, ',');
    put_packet(c, &p);
  }
  if (n > 0) {
    tg_buf_addstr(&c->body, "]}");
    frame(c);
  }
  return n == batch;
}

/* {"from":"name" */
static void put_from (tg_Buf *b, const char *name) {
  tg_JsonWriter json;
  tg_jsonwriter_init(&json, b);
  json.sink.object(&json.sink);
  json.sink.key(&json.sink, "from", 4);
  json.sink.string(&json.sink, name, strlen(name));
}

/* What is committed is looked at first: a notice of a place before that has
   been sent by then. */
static void set_limit (Reception *c) {
  tg_Pos upto = tg_reader_committed(c->follower->reader);
  const tg_Notice *n = peek(c);
  if (c->mark < upto)
    upto = c->mark;
  if (n != NULL && n->pos < upto
      && (n->follower == NULL || n->follower == c->follower))
    upto = n->pos;
  tg_follower_upto(c->follower, upto);
}

static void read_all (Reception *c, const char *name, lua_Integer batch,
                      size_t bytes) {
  tg_Buf from = {0};
  put_from(&from, name);
  tg_buf_clear(&c->out);
  tg_buf_clear(&c->body);
  if (batch > 0)
    while (read_batch(c, &from, batch, bytes) && c->out.size < bytes)
      continue;
  else
    read_singles(c, &from, bytes);
  if (from.failed || c->body.failed || c->out.failed
      || tg_reader_status(c->follower->reader) != TG_OK)
    c->broken = true;
  tg_buf_free(&from);
}

/* ---- the object ---- */

static Reception *check_any (lua_State *L) {
  return luaL_checkudata(L, 1, LINE);
}

static Reception *check (lua_State *L) {
  Reception *c = check_any(L);
  luaL_argcheck(L, c->channel != NULL, 1, "a line that is open expected");
  return c;
}

static uint64_t check_id (lua_State *L) {
  return (uint64_t)luaL_checkinteger(L, 2);
}

static tg_Command *new_command (lua_State *L, tg_CommandKind kind,
                                uint64_t id) {
  tg_Command *k = tg_command_new(kind, id);
  if (k == NULL)
    luaL_error(L, "not enough memory");
  return k;
}

static int line_attach (lua_State *L) {
  Reception *c = check(L);
  bool yes = lua_toboolean(L, 2);
  tg_CommandKind kind = yes ? TG_COMMAND_ATTACH : TG_COMMAND_LEAVE;
  tg_Command *k = new_command(L, kind, c->session + yes);
  k->patient = c->members == NULL;
  part_all(c);
  c->session += yes;
  c->attached = yes;
  c->broken = false;
  reselect(c);
  tg_channel_post(c->channel, k);
  return 0;
}

/* A client's options, at index 3. */
static tg_Options *read_options (lua_State *L, const Reception *c,
                                 const char *const *extra) {
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 3);
  tg_Options *o = tg_options_push(L);
  tg_options_read(L, 3, extra, o);
  tg_options_distrust(o);
  if (!tg_options_confine(o, &c->channel->host))
    luaL_error(L, "not enough memory");
  return o;
}

/* What a client leaves open: that it is waited for, in a buffer of its own. */
static void set_defaults (lua_State *L, tg_Options *o) {
  if (lua_getfield(L, 3, "overflow") == LUA_TNIL)
    o->overflow = TG_OVERFLOW_WAIT;
  if (lua_getfield(L, 3, "buffer") == LUA_TNIL
      && o->buffer > TG_BUFFER_REMOTE)
    o->buffer = TG_BUFFER_REMOTE;
  lua_pop(L, 2);
}

int clientchannel_check_options (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  tg_options_read(L, 1, NULL, tg_options_push(L));
  return 0;
}

static void ask_start (lua_State *L, Reception *c, uint64_t id,
                       const tg_Options *o, const char *name) {
  tg_Command *k = new_command(L, TG_COMMAND_START, id);
  Member *m = tg_calloc(1, sizeof *m);
  k->first = c->members == NULL;
  k->name = tg_strdup(name, strlen(name));
  if (m == NULL || k->name == NULL || !tg_options_copy(&k->options, o)
      || !tg_options_copy(&m->options, o)) {
    tg_command_free(k);
    tg_free(m);
    luaL_error(L, "not enough memory");
  }
  m->id = id;
  m->next = c->members;
  c->members = m;
  tg_channel_post(c->channel, k);
}

/* The time that it may take, in ms; nil: as long as it likes. */
static int line_start (lua_State *L) {
  static const char *const extra[] = {"name", NULL};
  Reception *c = check(L);
  uint64_t id = check_id(L);
  tg_Options *o = read_options(L, c, extra);
  set_defaults(L, o);
  lua_getfield(L, 3, "name");
  ask_start(L, c, id, o, luaL_checkstring(L, -1));
  if (o->duration_ns == 0)
    return 0;
  lua_pushnumber(L, (lua_Number)o->duration_ns / 1e6);
  return 1;
}

static int line_stop (lua_State *L) {
  Reception *c = check(L);
  tg_channel_post(c->channel, new_command(L, TG_COMMAND_STOP, check_id(L)));
  return 0;
}

static int line_drop (lua_State *L) {
  Reception *c = check(L);
  uint64_t id = check_id(L);
  part(c, id);
  tg_handovers_drop(&c->keeps, c->channel, id);
  return 0;
}

static int line_keep (lua_State *L) {
  Reception *c = check(L);
  uint64_t id = check_id(L);
  tg_Options *o = read_options(L, c, NULL);
  o->overflow = TG_OVERFLOW_STOP;
  tg_handovers_ask(L, &c->keeps, c->channel, id, o);
  return 0;
}

static int line_kept (lua_State *L) {
  Reception *c = check(L);
  tg_handovers_take(L, &c->keeps, c->channel, check_id(L));
  return 1;
}

static int line_mark (lua_State *L) {
  Reception *c = check(L);
  tg_Pos committed = 0;
  if (c->follower != NULL)
    committed = tg_reader_committed(c->follower->reader);
  bool some =
      c->follower != NULL && tg_reader_pos(c->follower->reader) < committed;
  c->mark = some ? committed : TG_FOLLOWER_NONE;
  lua_pushboolean(L, some);
  return 1;
}

static int line_read (lua_State *L) {
  Reception *c = check(L);
  const char *from = luaL_checkstring(L, 2);
  lua_Integer batch = luaL_optinteger(L, 3, 0);
  lua_Integer bytes = luaL_checkinteger(L, 4);
  if (c->follower == NULL || c->broken)
    return 0;
  set_limit(c);
  read_all(c, from, batch, (size_t)bytes);
  if (c->out.size == 0) {
    if (tg_follower_done(c->follower) >= c->mark)
      c->mark = TG_FOLLOWER_NONE;
    return 0;
  }
  lua_pushlstring(L, c->out.data, c->out.size);
  return 1;
}

static int line_notice (lua_State *L) {
  Reception *c = check(L);
  const tg_Notice *n = peek(c);
  if (c->broken && c->attached) {
    lua_createtable(L, 0, 1);
    set_string(L, "kind", "broken");
    return 1;
  }
  if (n == NULL || !due(c, n))
    return 0;
  push_notice(L, c, n);
  tg_Notice *mine = c->next;
  c->next = NULL;
  apply(c, mine);
  tg_notice_free(mine);
  return 1;
}

/* Copied first: nothing may be raised while others wait for the mutex. */
static int line_names (lua_State *L) {
  Reception *c = check(L);
  tg_Channel *l = c->channel;
  lua_Integer i = 0;
  tg_buf_clear(&c->body);
  pthread_mutex_lock(&l->mutex);
  for (size_t k = 0; k < l->nnames; k++)
    tg_buf_add(&c->body, l->names[k], strlen(l->names[k]) + 1);
  pthread_mutex_unlock(&l->mutex);
  lua_newtable(L);
  for (size_t at = 0; at < c->body.size;
       at += strlen(c->body.data + at) + 1) {
    lua_pushstring(L, c->body.data + at);
    lua_rawseti(L, -2, ++i);
  }
  return 1;
}

static int line_nudge (lua_State *L) {
  lua_pushboolean(L, tg_channel_nudge(check(L)->channel));
  return 1;
}

static int line_close (lua_State *L) {
  Reception *c = check_any(L);
  if (c->channel == NULL)
    return 0;
  part_all(c);
  tg_handovers_clear(&c->keeps, c->channel);
  tg_selection_clear(&c->selection);
  if (c->next != NULL)
    discard(c, c->next);
  c->next = NULL;
  tg_scratch_free(&c->scratch);
  tg_buf_free(&c->body);
  tg_buf_free(&c->out);
  tg_channel_hang_up(c->channel);
  tg_channel_unpin(c->channel);
  c->channel = NULL;
  return 0;
}

void tg_clientchannel_push (lua_State *L, tg_Channel *channel) {
  Reception *c = lua_newuserdatauv(L, sizeof *c, 0);
  memset(c, 0, sizeof *c);
  c->mark = TG_FOLLOWER_NONE;
  luaL_setmetatable(L, LINE);
  c->channel = tg_channel_pin(channel);
}

void tg_clientchannel_setup (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"attach", line_attach},
    {"start", line_start},
    {"stop", line_stop},
    {"drop", line_drop},
    {"keep", line_keep},
    {"kept", line_kept},
    {"mark", line_mark},
    {"read", line_read},
    {"notice", line_notice},
    {"names", line_names},
    {"nudge", line_nudge},
    {"close", line_close},
    {"__gc", line_close},
    {NULL, NULL}
  };
  if (luaL_newmetatable(L, LINE)) {
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
  }
  lua_pop(L, 1);
}
