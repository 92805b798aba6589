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
#include "inspect/inspector.h"
#include "server/interrupt.h"
#include "server/remotes.h"
#include "session/traceinfo.h"
#include "session/tracelimits.h"
#include "session/tracing.h"
#include "state/observer.h"
#include "trace/trace.h"

/* Whose it is and what is done with it just now do not depend on each other: a
   command may fork. */
typedef struct tg_Endpoint {
  tg_Part part;               /* on its host from its opening to its end, */
  tg_Observer observer;       /* and registered */
  tg_Remotes remotes;         /* owns */
  uint64_t own;               /* ids given to the program's traces */
  tg_Orphaned *orphaned;
  bool inherited;             /* it is that of the parent, from a fork on */
  bool turning;               /* commands are being carried out, and are not
                                 begun again meanwhile */
} tg_Endpoint;

static const tg_PartKind part_kind;

/* NULL: the state listens nowhere. */
static tg_Endpoint *endpoint_of (const tg_Session *s) {
  return (tg_Endpoint *)(void *)tg_part_find(&s->host, &part_kind);
}

/* ---- telling ---- */

/* The notice's place is the stream's end: so the client has all earlier frames
   when it gets the notice. */
static void tell (tg_Session *s, tg_NoticeKind kind, uint64_t id, tg_End why) {
  tg_remotes_tell(&endpoint_of(s)->remotes, kind, id, why,
                  tg_session_traces(s) ? tg_writer_pos(&s->writer) : 0);
}

/* The channel copies the names, since the server may ask while the state is
   busy. Nobody reads a list of more than 256 traces. */
static void publish (tg_Observer *o) {
  const tg_Session *s = o->session;
  const char *names[256];
  size_t n = 0;
  for (const tg_Trace *t = s->traces; t != NULL && n < 256; t = t->next) {
    if (!tg_trace_hidden(t))
      names[n++] = t->name;
  }
  tg_channel_publish(endpoint_of(s)->remotes.channel, names, n);
}

/* ---- commands ---- */

/* What a command is carried out with: lx_quietly takes one pointer. */
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
  tg_Remotes *d = &endpoint_of(o->session)->remotes;
  tg_Joining how = {.kind = TG_NOTICE_TAKEN, .id = c->id, .fresh = c->first,
                    .bytes = c->bytes, .makers = c->makers};
  if (!tg_remotes_join(d, t, &how)) {
    tg_trace_forget(L, t);
    luaL_error(L, "not enough memory");
  }
  return 0;
}

/* Without memory nothing is told: whoever asks for it finds that it has not
   begun (handover.h). */
static int keep (lua_State *L) {
  const Order *o = lua_touserdata(L, 1);
  tg_Command *c = o->command;
  tg_Endpoint *d = endpoint_of(o->session);
  tg_Trace *t = push_trace(L, c);
  tg_trace_begin(L, t, "profiler", TG_ORIGIN_WATCH, NULL);
  tg_trace_anchor(L, t);
  if (tg_remotes_keep(&d->remotes, t, c->id, c->handover))
    c->handover = NULL;
  else
    tg_trace_forget(L, t);
  return 0;
}

/* STOP of a number that is not there is late: the trace has ended by itself,
   and its notice is on the way. */
static void carry_out (tg_Session *s, lua_State *L, tg_Command *c) {
  tg_Endpoint *d = endpoint_of(s);
  Order order = {s, c};
  tg_Remote *r;
  switch (c->kind) {
    case TG_COMMAND_ATTACH:
      d->remotes.session = c->id;
      break;
    case TG_COMMAND_LEAVE:
      d->remotes.session = 0;
      tg_remotes_stop_read(&d->remotes, L);
      break;
    case TG_COMMAND_START:
      if (!lx_quietly(L, start, &order))
        tell(s, TG_NOTICE_REFUSED, c->id, TG_END_MEMORY);
      break;
    case TG_COMMAND_KEEP:
      lx_quietly(L, keep, &order);
      break;
    case TG_COMMAND_STOP:
      r = tg_remotes_find_id(&d->remotes, c->id);
      if (r != NULL)
        tg_remotes_stop(L, tg_remotes_forget(&d->remotes, r));
      break;
    default:
      tg_unreachable();
  }
}

/* The parent has ended, which the interrupt found out, and takes this endpoint
   with it. */
static bool is_orphan (const tg_Endpoint *d) {
  return d->inherited && atomic_load(&d->remotes.channel->wanted);
}

/* One command after the other: a trace that a command stops or starts may call
   this function again, with the command half done. A command may even close the
   endpoint, by a finalizer that closes the listener. So the endpoint is looked
   up anew after each. */
void tg_endpoint_turn (tg_Session *s, lua_State *L) {
  tg_Endpoint *d = endpoint_of(s);
  tg_Command *c;
  TG_STACK_GUARD(L);
  if (d == NULL || d->turning)
    return;
  if (is_orphan(d)) {
    atomic_store(&d->remotes.channel->wanted, false);
    d->orphaned(s, L);
  }
  if ((d = endpoint_of(s)) == NULL)
    return;
  d->turning = true;
  while ((d = endpoint_of(s)) != NULL
         && (c = tg_channel_take(d->remotes.channel)) != NULL) {
    carry_out(s, L, c);
    tg_command_free(c);
  }
  if (d != NULL)
    d->turning = false;
  tg_inspector_attend(&s->host, L);
  TG_STACK_CHECK(L);
}

/* ---- traces that end by themselves ---- */

/* A mirror ends with the trace that it mirrors. */
static tg_End ended (const tg_Remote *r) {
  if (r->trace->end != TG_END_NOT)
    return r->trace->end;
  return (r->mirrored != NULL) ? r->mirrored->end : TG_END_NOT;
}

/* The notice's place is the trace's end, not the stream's: the client must not
   see later frames. */
static void tell_ended (tg_Session *s, const tg_Remote *r, tg_End why) {
  const tg_Trace *t = r->trace;
  if (r->handover == NULL) {
    /* other traces may record on, unseen by this client */
    tg_remotes_tell(&endpoint_of(s)->remotes, TG_NOTICE_ENDED, r->id, why,
                    tg_traceinfo_stop_pos(t));
    return;
  }
  tg_Excerpt facts = {.end = why, .stop = t->stop, .ticks_end = t->ticks_end};
  tg_traceinfo_losses(t, facts.lost);
  tg_handover_end(endpoint_of(s)->remotes.channel, r->handover, &facts);
}

/* Ends are told before commands are carried out: a command may want to stop a
   trace that has just ended. */
static void attend (tg_Observer *o, lua_State *L) {
  tg_Session *s = o->session;
  tg_Endpoint *d = endpoint_of(s);
  tg_Remote *r = d->remotes.first;
  while (r != NULL) {
    tg_End why = ended(r);
    if (why == TG_END_NOT)
      r = r->next;
    else {
      tell_ended(s, r, why);
      tg_remotes_stop(L, tg_remotes_forget(&d->remotes, r));
      r = d->remotes.first;   /* stopping may have come back here */
    }
  }
  tg_endpoint_turn(s, L);
}

/* ---- what the program does ---- */

/* The client waits for no buffer of the program's: the mirror has overflow
   "wait" and a buffer of its own, within what the host allows. A client gets
   markers if it has asked for them itself. Without memory it does not hear of
   the trace. */
static int mirror (lua_State *L) {
  tg_Trace *t = lua_touserdata(L, 1);
  tg_Session *s = t->session;
  tg_Trace *m = tg_trace_new(L);
  if (!tg_options_copy(&m->options, &t->options))
    return 0;
  m->options.types &= ~(uint32_t)TG_TYPE_MARKERS;
  m->options.overflow = TG_OVERFLOW_WAIT;
  if (m->options.buffer > TG_BUFFER_REMOTE)
    m->options.buffer = TG_BUFFER_REMOTE;
  if (!tg_options_confine(&m->options, &endpoint_of(s)->remotes.channel->host))
    return 0;
  tg_trace_begin(L, m, t->name, TG_ORIGIN_WATCH, NULL);
  tg_trace_anchor(L, m);
  tg_Joining how = {.kind = TG_NOTICE_STARTED, .mirrored = t,
                    .id = TG_CHANNEL_OWN + ++endpoint_of(s)->own};
  if (!tg_remotes_join(&endpoint_of(s)->remotes, m, &how))
    tg_trace_forget(L, m);
  return 0;
}

/* A console trace of the program, which a client that is attached is to see
   too; unless it records bytes, in which there is one trace. */
static void started (tg_Observer *o, lua_State *L, tg_Trace *t) {
  const tg_Remotes *d = &endpoint_of(o->session)->remotes;
  if (t->session != NULL && d->session != 0 && !tg_remotes_has_bytes(d))
    lx_quietly(L, mirror, t);
}

/* Of the client's own trace ('own' is 't') the caller stops it; a mirror is
   stopped here. */
static void part (tg_Session *s, lua_State *L, tg_Trace *t, bool told) {
  tg_Remotes *d = &endpoint_of(s)->remotes;
  tg_Remote *r = (t->session != NULL) ? tg_remotes_find(d, t) : NULL;
  if (r == NULL)
    return;
  if (told)
    tell(s, TG_NOTICE_STOPPED, r->id, TG_END_STOPPED);
  tg_Trace *own = tg_remotes_forget(d, r);
  if (own != t)
    tg_remotes_stop(L, own);
}

/* The program stops the trace: its client is told at once, and not by its
   end. */
static void stopped (tg_Observer *o, lua_State *L, tg_Trace *t) {
  part(o->session, L, t, true);
}

/* The client hears of the trace that takes its place. */
static void replaced (tg_Observer *o, lua_State *L, tg_Trace *t, bool heir) {
  (void)heir;
  part(o->session, L, t, false);
}

/* ---- opening and closing ---- */

/* The program is about to start or stop a trace: what clients asked for before
   comes first. */
static void turn (tg_Observer *o, lua_State *L) {
  tg_endpoint_turn(o->session, L);
}

/* What the server's thread held when the process forked is lost with it; the
   channel itself is whole. It hears no more ('bell' -1), and nothing is
   wanted. Traces end rather than go on into a stream that nobody reads. */
static void forked (tg_Part *p) {
  tg_Endpoint *d = (tg_Endpoint *)(void *)p;
  for (tg_Remote *r = d->remotes.first; r != NULL; r = r->next) {
    if (r->trace->end == TG_END_NOT)
      tg_tracelimits_end(tg_session_of(p->host), r->trace, TG_END_STOPPED);
  }
  d->inherited = true;
  d->remotes.channel->bell = -1;
  atomic_store(&d->remotes.channel->wanted, false);
  atomic_store(&d->remotes.channel->messages, false);
  tg_interrupt_forked(p->host);
}

/* The last thing that the state does: its sockets close with its listeners. */
static void closing (tg_Part *p, lua_State *L) {
  tg_endpoint_close(L, tg_session_of(p->host));
}

/* The process ends and no Lua may be used: that it is gone is all that can
   still be said. */
static void exiting (tg_Part *p) {
  tell(tg_session_of(p->host), TG_NOTICE_GONE, 0, TG_END_STOPPED);
}

static const tg_PartKind part_kind = {
  .forked = forked, .exiting = exiting, .closing = closing
};

static const tg_ObserverMethods observer_methods = {
  .turn = turn, .started = started, .stopped = stopped, .replaced = replaced,
  .attend = attend, .publish = publish
};

/* What may raise comes before anything that would have to be undone. The
   session learns of the endpoint when it can be reached. */
bool tg_endpoint_open (lua_State *L, tg_Session *s, tg_Channel *channel,
                       tg_Orphaned *orphaned) {
  tg_assert(endpoint_of(s) == NULL && s->host.wanted == NULL);
  tg_interrupt_setup(L, s, tg_endpoint_turn);
  tg_Endpoint *d = tg_calloc(1, sizeof *d);
  if (d == NULL)
    luaL_error(L, "not enough memory");
  if (!tg_interrupt_open(L, s, channel)) {
    tg_free(d);
    return false;
  }
  d->remotes.channel = tg_channel_pin(channel);
  d->orphaned = orphaned;
  d->observer.methods = &observer_methods;
  tg_part_add(&s->host, &d->part, &part_kind);
  s->host.wanted = &channel->wanted;
  tg_observers_add_last(s, &d->observer);
  publish(&d->observer);
  return true;
}

/* The server may still have the channel, and finds that nobody is at the other
   end. */
static void free_endpoint (tg_Session *s) {
  tg_Endpoint *d = endpoint_of(s);
  tg_assert(d->observer.session == s
            && s->host.wanted == &d->remotes.channel->wanted);
  tg_observers_remove(&d->observer);
  while (d->remotes.first != NULL)
    tg_remotes_forget(&d->remotes, d->remotes.first);
  tg_follower_unpin(d->remotes.follower);
  tg_channel_part(d->remotes.channel);
  s->host.wanted = NULL;
  tg_part_remove(&d->part);
  tg_channel_unpin(d->remotes.channel);
  tg_free(d);
}

/* The signal first: from here on nobody can be called. GONE comes last, after
   the ends of all traces. */
void tg_endpoint_close (lua_State *L, tg_Session *s) {
  if (endpoint_of(s) == NULL)
    return;
  tg_inspector_close(&s->host, L);
  tg_interrupt_close(&s->host, L);
  tg_remotes_stop_all(&endpoint_of(s)->remotes, L);
  tell(s, TG_NOTICE_GONE, 0, TG_END_STOPPED);
  free_endpoint(s);
}

tg_Channel *tg_endpoint_channel (const tg_Session *s) {
  const tg_Endpoint *d = endpoint_of(s);
  return (d != NULL) ? d->remotes.channel : NULL;
}
