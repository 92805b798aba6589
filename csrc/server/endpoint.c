/*
** endpoint.c - carries out what a client asks for, and tells it what the
** program does. Called in the hook, at a safe point after a signal, and where
** traces start and stop, always on the traced thread. A client whose trace
** cannot be had is refused; the program notices nothing.
*/
#include <string.h>

#include "server/endpoint.h"
#include "base/alloc.h"
#include "channel/handover.h"
#include "server/interrupt.h"
#include "server/standins.h"
#include "session/traceinfo.h"
#include "session/tracelimits.h"
#include "session/tracing.h"
#include "state/observer.h"
#include "trace/trace.h"

/* A trace that a client reads, or that is kept for one. */
typedef struct Remote {
  struct Remote *next;
  uint64_t id;
  tg_Trace *trace;            /* anchored while it is active */
  const tg_Trace *mirrored;   /* the program's, or NULL */
  tg_Handover *handover;      /* pins; NULL: it is read as it goes */
} Remote;

typedef struct tg_Endpoint {
  tg_Observer observer;       /* registered from its opening to its end */
  tg_Channel *channel;        /* pins */
  tg_Follower *follower;      /* pins: what the client reads */
  Remote *remotes;            /* owns */
  uint64_t session;           /* of the ATTACH in force; 0: none */
  uint64_t own;               /* ids given to the program's traces */
  bool turning;               /* a command is being carried out */
} tg_Endpoint;

/* ---- telling ---- */

/* Without memory for it the client does not hear of something: then it is told
   that all is over, which needs none. */
static void tell_at (tg_Session *s, tg_NoticeKind kind, uint64_t id,
                     tg_End why, tg_Pos pos) {
  const tg_Endpoint *d = s->endpoint;
  tg_Notice *n = tg_notice_new(kind, id);
  if (n == NULL)
    return;
  n->why = why;
  n->session = d->session;
  n->pos = pos;
  if (!tg_channel_notify(d->channel, n))
    tg_notice_free(n);
}

static void tell (tg_Session *s, tg_NoticeKind kind, uint64_t id, tg_End why) {
  tell_at(s, kind, id, why, s->tracing ? tg_writer_pos(&s->writer) : 0);
}

/* Copied by the channel: the server may ask while the state is busy. More than
   256 traces of one program nobody reads. */
static void publish (tg_Observer *o) {
  const tg_Session *s = o->session;
  const char *names[256];
  size_t n = 0;
  for (const tg_Trace *t = s->traces; t != NULL && n < 256; t = t->next) {
    if (!tg_trace_hidden(t))
      names[n++] = t->name;
  }
  tg_channel_publish(s->endpoint->channel, names, n);
}

/* ---- remotes ---- */

/* The client's trace that is 't', or mirrors it. */
static Remote *find (const tg_Endpoint *d, const tg_Trace *t) {
  Remote *r = d->remotes;
  while (r != NULL && r->trace != t && r->mirrored != t)
    r = r->next;
  return r;
}

static Remote *find_id (const tg_Endpoint *d, uint64_t id) {
  Remote *r = d->remotes;
  while (r != NULL && r->id != id)
    r = r->next;
  return r;
}

/* Takes it from the list; its trace. The remote goes first, then the trace:
   what its end does may come back here, and must not find it. */
static tg_Trace *forget (tg_Endpoint *d, Remote *r) {
  tg_Trace *t = r->trace;
  Remote **p = &d->remotes;
  while (*p != r) {
    tg_assert(*p != NULL);
    p = &(*p)->next;
  }
  *p = r->next;
  tg_handover_unpin(r->handover);
  tg_free(r);
  return t;
}

/* Called by lx_quietly: a Lua error must not leave the hook. */
static int drop (lua_State *L) {
  tg_trace_forget(L, lua_touserdata(L, 1));
  return 0;
}

/* Nobody but the client has it: its memory is not to wait for the program's
   collector. */
static void stop (lua_State *L, tg_Trace *t) {
  lx_quietly(L, drop, t);
}

/* The first one of the client's that is attached. */
static Remote *first_read (const tg_Endpoint *d) {
  Remote *r = d->remotes;
  while (r != NULL && r->handover != NULL)
    r = r->next;
  return r;
}

/* Looked up anew each time: stopping one trace may carry out commands that
   take others away. The follower goes too, so that the next client begins a
   new sequence. */
static void stop_read (tg_Session *s, lua_State *L) {
  tg_Endpoint *d = s->endpoint;
  Remote *r;
  while ((r = first_read(d)) != NULL)
    stop(L, forget(d, r));
  tg_follower_unpin(d->follower);
  d->follower = NULL;
}

/* The state listens no more: kept traces go as well, and the server has had
   its part of them or never will. */
static void stop_all (tg_Session *s, lua_State *L) {
  tg_Endpoint *d = s->endpoint;
  stop_read(s, L);
  while (d->remotes != NULL)
    stop(L, forget(d, d->remotes));
}

/* ---- joining ---- */

/* A follower that begins with 't'. */
static tg_Follower *new_follower (const tg_Endpoint *d, const tg_Trace *t) {
  tg_Selection selection = {0};
  tg_Follower *follower = NULL;
  if (tg_selection_add(&selection, &t->options))
    follower =
        tg_follower_new(t->stream, t->start, &selection, d->channel->stall_ns);
  tg_selection_clear(&selection);
  return follower;
}

/* Sends 'n' with a follower: the one there is, or a new one if the client
   begins a new sequence or has left that. The client may leave a follower at
   any moment (tg_channel_leave); what says to read it is then refused, and the
   second try has a new one, which nobody can have left. */
static bool send_follower (tg_Endpoint *d, const tg_Trace *t, tg_Notice *n,
                      bool fresh) {
  if (d->follower != NULL && (fresh || d->follower->stream != t->stream)) {
    tg_follower_unpin(d->follower);
    d->follower = NULL;
  }
  for (;;) {
    if (d->follower == NULL)
      d->follower = new_follower(d, t);
    if (d->follower == NULL)
      return false;
    tg_assert(d->follower->stream == t->stream);
    n->follower = tg_follower_pin(d->follower);
    if (tg_channel_notify(d->channel, n))
      return true;
    tg_follower_unpin(n->follower);
    tg_follower_unpin(d->follower);
    n->follower = d->follower = NULL;
  }
}

/* The name and the options of a trace that the client has asked for are known
   to it. NULL without memory. */
static tg_Notice *notice_of (const tg_Endpoint *d, const tg_Trace *t,
                             tg_NoticeKind kind, uint64_t id) {
  tg_Notice *n = tg_notice_new(kind, id);
  if (n == NULL)
    return NULL;
  n->session = d->session;
  n->pos = t->start;
  n->ticks = t->ticks_start;
  if (kind == TG_NOTICE_STARTED) {
    n->name = tg_strdup(t->name, strlen(t->name));
    if (n->name == NULL || !tg_options_copy(&n->options, &t->options)) {
      tg_notice_free(n);
      return NULL;
    }
  }
  return n;
}

/* The client reads 't' from here on. False without memory. The notice is sent
   before the follower is joined to the trace: both are done before an event
   can come. */
static bool join (tg_Session *s, tg_Trace *t, tg_NoticeKind kind, uint64_t id,
                  const tg_Trace *mirrored, bool fresh) {
  tg_Endpoint *d = s->endpoint;
  tg_Notice *n = notice_of(d, t, kind, id);
  Remote *r = tg_calloc(1, sizeof *r);
  if (n == NULL || r == NULL || !send_follower(d, t, n, fresh)) {
    tg_notice_free(n);
    tg_free(r);
    return false;
  }
  tg_assert(t->session == s && find_id(d, id) == NULL);
  *r = (Remote){d->remotes, id, t, mirrored, NULL};
  d->remotes = r;
  tg_tracing_tap(s, t, d->follower);
  return true;
}

/* ---- commands ---- */

typedef struct Order {
  tg_Session *session;
  tg_Command *command;
} Order;

/* Pushes a trace with the command's options. The options move, so that nothing
   can fail after the trace has been made. */
static tg_Trace *push_trace (lua_State *L, tg_Command *c) {
  tg_Trace *t = tg_trace_new(L);
  tg_options_free(&t->options);
  t->options = c->options;
  memset(&c->options, 0, sizeof c->options);
  return t;
}

/* Another trace has, or had, its name. A trace of the program with that name
   is replaced, as it would be by one of the program's own. Raises what is
   wrong; called by lx_quietly. */
static int start (lua_State *L) {
  const Order *o = lua_touserdata(L, 1);
  tg_Command *c = o->command;
  tg_Trace *t = push_trace(L, c);
  tg_trace_begin(L, t, c->name, TG_ORIGIN_FEED, NULL);
  tg_trace_anchor(L, t);
  if (!join(o->session, t, TG_NOTICE_TAKEN, c->id, NULL, c->first)) {
    tg_trace_forget(L, t);
    luaL_error(L, "not enough memory");
  }
  return 0;
}

/* What is kept of 't', which has just begun, by a cursor of its own. By a
   cursor of its own, since the trace's goes with the trace. False: who asked
   has given up. */
static bool hand_over (tg_Endpoint *d, const tg_Trace *t, tg_Handover *k) {
  tg_Part part = {
    .stream = tg_stream_pin(t->stream), .start = t->start,
    .packets_start = t->packets_start, .ticks_start = t->ticks_start
  };
  tg_cursor_copy(&part.hold, &t->hold);
  bool wanted = tg_handover_begin(d->channel, k, &part);
  if (!wanted)
    tg_part_free(&part);
  return wanted;
}

/* Without memory nothing is told: whoever asks for it finds that it has not
   begun (handover.h). */
static int keep (lua_State *L) {
  const Order *o = lua_touserdata(L, 1);
  tg_Command *c = o->command;
  tg_Endpoint *d = o->session->endpoint;
  tg_Trace *t = push_trace(L, c);
  tg_trace_begin(L, t, "profiler", TG_ORIGIN_WATCH, NULL);
  tg_trace_anchor(L, t);
  Remote *r = tg_calloc(1, sizeof *r);
  if (r == NULL || !hand_over(d, t, c->handover)) {
    tg_free(r);
    tg_trace_forget(L, t);
    return 0;
  }
  *r = (Remote){d->remotes, c->id, t, NULL, c->handover};
  c->handover = NULL;
  d->remotes = r;
  return 0;
}

/* STOP of a number that is not there is late: the trace has ended by itself,
   and its notice is on the way. */
static void carry_out (tg_Session *s, lua_State *L, tg_Command *c) {
  tg_Endpoint *d = s->endpoint;
  Order order = {s, c};
  Remote *r;
  switch (c->kind) {
    case TG_COMMAND_ATTACH:
      d->session = c->id;
      break;
    case TG_COMMAND_LEAVE:
      d->session = 0;
      stop_read(s, L);
      break;
    case TG_COMMAND_START:
      if (!lx_quietly(L, start, &order))
        tell(s, TG_NOTICE_REFUSED, c->id, TG_END_MEMORY);
      break;
    case TG_COMMAND_KEEP:
      lx_quietly(L, keep, &order);
      break;
    case TG_COMMAND_STOP:
      r = find_id(d, c->id);
      if (r != NULL)
        stop(L, forget(d, r));
      break;
    default:
      tg_unreachable();
  }
}

/* One after the other: what a command stops or starts may come back here, with
   the command half done. The endpoint itself may be closed by one: a finalizer
   that closes the listener. So it is looked up anew after each. */
void tg_endpoint_turn (tg_Session *s, lua_State *L) {
  tg_Command *c;
  TG_STACK_GUARD(L);
  if (s->endpoint == NULL || s->endpoint->turning)
    return;
  s->endpoint->turning = true;
  while (s->endpoint != NULL
         && (c = tg_channel_take(s->endpoint->channel)) != NULL) {
    carry_out(s, L, c);
    tg_command_free(c);
  }
  if (s->endpoint != NULL)
    s->endpoint->turning = false;
  TG_STACK_CHECK(L);
}

/* ---- traces that end by themselves ---- */

/* A mirror ends with what it mirrors. */
static tg_End ended (const Remote *r) {
  if (r->trace->end != TG_END_NOT)
    return r->trace->end;
  return (r->mirrored != NULL) ? r->mirrored->end : TG_END_NOT;
}

/* The place is the trace's end, not that of the notice: the client must not
   see frames that come after it. */
static void tell_ended (tg_Session *s, const Remote *r, tg_End why) {
  const tg_Trace *t = r->trace;
  if (r->handover == NULL) {
    /* others may record on: its client does not see that */
    tell_at(s, TG_NOTICE_ENDED, r->id, why, tg_traceinfo_stop_pos(t));
    return;
  }
  tg_Part facts = {.end = why, .stop = t->stop, .ticks_end = t->ticks_end};
  tg_traceinfo_losses(t, facts.lost);
  tg_handover_end(s->endpoint->channel, r->handover, &facts);
}

/* Ends are told before commands are carried out: what has ended may be what a
   command would stop. */
static void attend (tg_Observer *o, lua_State *L) {
  tg_Session *s = o->session;
  tg_Endpoint *d = s->endpoint;
  Remote *r = d->remotes;
  while (r != NULL) {
    tg_End why = ended(r);
    if (why == TG_END_NOT)
      r = r->next;
    else {
      tell_ended(s, r, why);
      stop(L, forget(d, r));
      r = d->remotes;   /* stopping may have come back here */
    }
  }
  tg_endpoint_turn(s, L);
}

/* ---- what the program does ---- */

/* The client waits for no buffer of the program's: the mirror has overflow
   "wait" and a buffer of its own, within what the host allows. Without memory
   the client does not hear of the trace. */
static int mirror (lua_State *L) {
  tg_Trace *t = lua_touserdata(L, 1);
  tg_Session *s = t->session;
  tg_Trace *m = tg_trace_new(L);
  if (!tg_options_copy(&m->options, &t->options))
    return 0;
  m->options.overflow = TG_OVERFLOW_WAIT;
  if (m->options.buffer > TG_BUFFER_REMOTE)
    m->options.buffer = TG_BUFFER_REMOTE;
  if (!tg_options_confine(&m->options, &s->endpoint->channel->host))
    return 0;
  tg_trace_begin(L, m, t->name, TG_ORIGIN_WATCH, NULL);
  tg_trace_anchor(L, m);
  if (!join(s, m, TG_NOTICE_STARTED, TG_CHANNEL_OWN + ++s->endpoint->own, t,
            false))
    tg_trace_forget(L, m);
  return 0;
}

static void started (tg_Observer *o, lua_State *L, tg_Trace *t) {
  if (t->session != NULL && o->session->endpoint->session != 0)
    lx_quietly(L, mirror, t);
}

/* Of the client's own trace ('own' is 't') the caller stops it; a mirror is
   stopped here. */
static void part (tg_Session *s, lua_State *L, tg_Trace *t, bool told) {
  Remote *r = (t->session != NULL) ? find(s->endpoint, t) : NULL;
  if (r == NULL)
    return;
  if (told)
    tell(s, TG_NOTICE_STOPPED, r->id, TG_END_STOPPED);
  tg_Trace *own = forget(s->endpoint, r);
  if (own != t)
    stop(L, own);
}

static void stopped (tg_Observer *o, lua_State *L, tg_Trace *t) {
  part(o->session, L, t, true);
}

/* The client hears of the trace that takes its place. */
static void replaced (tg_Observer *o, lua_State *L, tg_Trace *t, bool heir) {
  (void)heir;
  part(o->session, L, t, false);
}

/* ---- opening and closing ---- */

static void turn (tg_Observer *o, lua_State *L) {
  tg_endpoint_turn(o->session, L);
}

/* What the server's thread held when the process forked is lost with it; the
   channel itself is whole. It hears no more ('bell' -1), and nothing is
   wanted. Traces end rather than go on into a stream that nobody reads. */
static void forked (tg_Observer *o) {
  tg_Session *s = o->session;
  for (Remote *r = s->endpoint->remotes; r != NULL; r = r->next) {
    if (r->trace->end == TG_END_NOT)
      tg_tracelimits_end(s, r->trace, TG_END_STOPPED);
  }
  s->endpoint->channel->bell = -1;
  atomic_store(&s->endpoint->channel->wanted, false);
}

static void closing (tg_Observer *o, lua_State *L) {
  tg_endpoint_close(L, o->session);
}

static void exiting (tg_Observer *o) {
  tell(o->session, TG_NOTICE_GONE, 0, TG_END_STOPPED);
}

static const tg_ObserverMethods observer_methods = {
  .turn = turn, .started = started, .stopped = stopped, .replaced = replaced,
  .attend = attend, .publish = publish, .forked = forked, .closing = closing,
  .exiting = exiting
};

/* What may raise comes before anything that would have to be undone. The
   session learns of the endpoint when it can be reached. */
bool tg_endpoint_open (lua_State *L, tg_Session *s, tg_Channel *channel) {
  tg_assert(s->endpoint == NULL && s->wanted == NULL);
  tg_interrupt_setup(L, s, tg_endpoint_turn);
  tg_Endpoint *d = tg_calloc(1, sizeof *d);
  if (d == NULL)
    luaL_error(L, "not enough memory");
  if (!tg_interrupt_open(L, s, channel)) {
    tg_free(d);
    return false;
  }
  tg_standins_enter(L);
  d->channel = tg_channel_pin(channel);
  d->observer.methods = &observer_methods;
  s->endpoint = d;
  s->wanted = &channel->wanted;
  tg_observers_add_last(s, &d->observer);
  publish(&d->observer);
  return true;
}

/* The server may still have the channel, and finds that nobody is at the other
   end. */
static void free_endpoint (tg_Session *s) {
  tg_Endpoint *d = s->endpoint;
  tg_assert(d->observer.session == s && s->wanted == &d->channel->wanted);
  tg_observers_remove(&d->observer);
  while (d->remotes != NULL)
    forget(d, d->remotes);
  tg_follower_unpin(d->follower);
  tg_channel_part(d->channel);
  s->wanted = NULL;
  s->endpoint = NULL;
  tg_channel_unpin(d->channel);
  tg_free(d);
}

/* The signal first: from here on nobody can be called. GONE comes last, after
   the ends of all traces. */
void tg_endpoint_close (lua_State *L, tg_Session *s) {
  if (s->endpoint == NULL)
    return;
  tg_interrupt_close(s);
  tg_standins_leave(L);
  stop_all(s, L);
  tell(s, TG_NOTICE_GONE, 0, TG_END_STOPPED);
  free_endpoint(s);
}

tg_Channel *tg_endpoint_channel (const tg_Session *s) {
  return (s->endpoint != NULL) ? s->endpoint->channel : NULL;
}
