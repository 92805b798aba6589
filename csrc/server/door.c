#include <string.h>

#include "server/door.h"
#include "base/alloc.h"
#include "server/reach.h"
#include "session/bounds.h"
#include "server/kept.h"
#include "session/session.h"
#include "trace/trace.h"

/* A trace that a client reads, or that is kept for one. */
typedef struct Remote {
  struct Remote *next;
  uint64_t id;
  tg_Trace *trace;            /* anchored while it is active */
  const tg_Trace *mirrored;   /* the program's, or NULL */
  tg_Kept *kept;              /* pins; NULL: it is read as it goes */
} Remote;

typedef struct tg_Door {
  tg_Line *line;              /* pins */
  tg_Tap *tap;                /* pins: what the client reads */
  Remote *remotes;            /* owns */
  uint64_t session;           /* of the ATTACH in force; 0: none */
  uint64_t own;               /* ids given to the program's traces */
  bool turning;               /* a command is being carried out */
} tg_Door;

/* ---- telling ---- */

/* Without memory for it the client does not hear of something: then it is told
   that all is over, which needs none. */
static void tell_at (tg_Session *s, tg_NoticeKind kind, uint64_t id,
                     tg_End why, tg_Pos pos) {
  const tg_Door *d = s->door;
  tg_Notice *n = tg_notice_new(kind, id);
  if (n == NULL)
    return;
  n->why = why;
  n->session = d->session;
  n->pos = pos;
  if (!tg_line_notify(d->line, n))
    tg_notice_free(n);
}

static void tell (tg_Session *s, tg_NoticeKind kind, uint64_t id, tg_End why) {
  tell_at(s, kind, id, why, s->tracing ? tg_rec_pos(&s->recorder) : 0);
}

void tg_door_publish (const tg_Session *s) {
  const char *names[256];
  size_t n = 0;
  if (s->door == NULL)
    return;
  for (const tg_Trace *t = s->traces; t != NULL && n < 256; t = t->next) {
    if (!tg_trace_hidden(t))
      names[n++] = t->name;
  }
  tg_line_publish(s->line, names, n);
}

/* ---- remotes ---- */

static Remote *find (const tg_Door *d, const tg_Trace *t) {
  Remote *r = d->remotes;
  while (r != NULL && r->trace != t && r->mirrored != t)
    r = r->next;
  return r;
}

static Remote *find_id (const tg_Door *d, uint64_t id) {
  Remote *r = d->remotes;
  while (r != NULL && r->id != id)
    r = r->next;
  return r;
}

/* Takes it from the list; its trace. */
static tg_Trace *forget (tg_Door *d, Remote *r) {
  tg_Trace *t = r->trace;
  Remote **p = &d->remotes;
  while (*p != r)
    p = &(*p)->next;
  *p = r->next;
  tg_kept_unpin(r->kept);
  tg_free(r);
  return t;
}

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
static Remote *first_read (const tg_Door *d) {
  Remote *r = d->remotes;
  while (r != NULL && r->kept != NULL)
    r = r->next;
  return r;
}

static void stop_read (tg_Session *s, lua_State *L) {
  tg_Door *d = s->door;
  Remote *r;
  while ((r = first_read(d)) != NULL)
    stop(L, forget(d, r));
  tg_tap_unpin(d->tap);
  d->tap = NULL;
}

static void stop_all (tg_Session *s, lua_State *L) {
  tg_Door *d = s->door;
  stop_read(s, L);
  while (d->remotes != NULL)
    stop(L, forget(d, d->remotes));
}

/* ---- joining ---- */

/* A tap that begins with 't'. */
static tg_Tap *new_tap (const tg_Door *d, const tg_Trace *t) {
  tg_Demand demand = {0};
  tg_Tap *tap = NULL;
  if (tg_demand_add(&demand, &t->options))
    tap = tg_tap_new(t->stream, t->start, &demand, d->line->stall_ns);
  tg_demand_clear(&demand);
  return tap;
}

/* Sends 'n' with a tap: the one there is, or a new one if the client begins a
   new sequence or has left that. */
static bool send_tap (tg_Door *d, const tg_Trace *t, tg_Notice *n, bool fresh) {
  if (d->tap != NULL && (fresh || d->tap->stream != t->stream)) {
    tg_tap_unpin(d->tap);
    d->tap = NULL;
  }
  for (;;) {
    if (d->tap == NULL)
      d->tap = new_tap(d, t);
    if (d->tap == NULL)
      return false;
    n->tap = tg_tap_pin(d->tap);
    if (tg_line_notify(d->line, n))
      return true;
    tg_tap_unpin(n->tap);
    tg_tap_unpin(d->tap);
    n->tap = d->tap = NULL;
  }
}

static tg_Notice *notice_of (const tg_Door *d, const tg_Trace *t,
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

/* The client reads 't' from here on. False without memory. */
static bool join (tg_Session *s, tg_Trace *t, tg_NoticeKind kind, uint64_t id,
                  const tg_Trace *mirrored, bool fresh) {
  tg_Door *d = s->door;
  tg_Notice *n = notice_of(d, t, kind, id);
  Remote *r = tg_calloc(1, sizeof *r);
  if (n == NULL || r == NULL || !send_tap(d, t, n, fresh)) {
    tg_notice_free(n);
    tg_free(r);
    return false;
  }
  *r = (Remote){d->remotes, id, t, mirrored, NULL};
  d->remotes = r;
  tg_session_tap(s, t, d->tap);
  return true;
}

/* ---- commands ---- */

typedef struct Order {
  tg_Session *session;
  tg_Command *command;
} Order;

/* Pushes a trace with the command's options. */
static tg_Trace *push_trace (lua_State *L, tg_Command *c) {
  tg_Trace *t = tg_trace_new(L);
  tg_options_free(&t->options);
  t->options = c->options;
  memset(&c->options, 0, sizeof c->options);
  return t;
}

/* Another trace has, or had, its name. */
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

/* What is kept of 't', which has just begun, by a cursor of its own. */
static bool hand_over (tg_Door *d, const tg_Trace *t, tg_Kept *k) {
  tg_Part part = {
    .stream = tg_stream_pin(t->stream), .start = t->start,
    .packets_start = t->packets_start, .ticks_start = t->ticks_start
  };
  tg_cursor_copy(&part.hold, &t->hold);
  bool wanted = tg_kept_begin(d->line, k, &part);
  if (!wanted)
    tg_part_free(&part);
  return wanted;
}

static int keep (lua_State *L) {
  const Order *o = lua_touserdata(L, 1);
  tg_Command *c = o->command;
  tg_Door *d = o->session->door;
  tg_Trace *t = push_trace(L, c);
  tg_trace_begin(L, t, "profiler", TG_ORIGIN_WATCH, NULL);
  tg_trace_anchor(L, t);
  Remote *r = tg_calloc(1, sizeof *r);
  if (r == NULL || !hand_over(d, t, c->kept)) {
    tg_free(r);
    tg_trace_forget(L, t);
    return 0;
  }
  *r = (Remote){d->remotes, c->id, t, NULL, c->kept};
  c->kept = NULL;
  d->remotes = r;
  return 0;
}

static void carry_out (tg_Session *s, lua_State *L, tg_Command *c) {
  tg_Door *d = s->door;
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
   the command half done. */
void tg_door_turn (tg_Session *s, lua_State *L) {
  tg_Command *c;
  if (s->door == NULL || s->door->turning)
    return;
  s->door->turning = true;
  while (s->door != NULL && (c = tg_line_take(s->line)) != NULL) {
    carry_out(s, L, c);
    tg_command_free(c);
  }
  if (s->door != NULL)
    s->door->turning = false;
}

/* ---- traces that end by themselves ---- */

/* A mirror ends with what it mirrors. */
static tg_End ended (const Remote *r) {
  if (r->trace->end != TG_END_NOT)
    return r->trace->end;
  return (r->mirrored != NULL) ? r->mirrored->end : TG_END_NOT;
}

static void tell_ended (tg_Session *s, const Remote *r, tg_End why) {
  const tg_Trace *t = r->trace;
  if (r->kept == NULL) {    /* others may record on: its client does not see */
    tell_at(s, TG_NOTICE_ENDED, r->id, why, tg_trace_stop_pos(t));
    return;
  }
  tg_Part facts = {.end = why, .stop = t->stop, .ticks_end = t->ticks_end};
  tg_trace_losses(t, facts.lost);
  tg_kept_end(s->door->line, r->kept, &facts);
}

void tg_door_attend (tg_Session *s, lua_State *L) {
  tg_Door *d = s->door;
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
  tg_door_turn(s, L);
}

/* ---- what the program does ---- */

static int mirror (lua_State *L) {
  tg_Trace *t = lua_touserdata(L, 1);
  tg_Session *s = t->session;
  tg_Trace *m = tg_trace_new(L);
  if (!tg_options_copy(&m->options, &t->options))
    return 0;
  m->options.overflow = TG_OVERFLOW_WAIT;
  if (m->options.buffer > TG_BUFFER_REMOTE)
    m->options.buffer = TG_BUFFER_REMOTE;
  if (!tg_options_confine(&m->options, &s->door->line->host))
    return 0;
  tg_trace_begin(L, m, t->name, TG_ORIGIN_WATCH, NULL);
  tg_trace_anchor(L, m);
  if (!join(s, m, TG_NOTICE_STARTED, TG_LINE_OWN + ++s->door->own, t, false))
    tg_trace_forget(L, m);
  return 0;
}

void tg_door_started (lua_State *L, tg_Trace *t) {
  const tg_Session *s = t->session;
  if (s != NULL && s->door != NULL && s->door->session != 0)
    lx_quietly(L, mirror, t);
}

static void part (lua_State *L, tg_Trace *t, bool told) {
  tg_Session *s = t->session;
  Remote *r = (s != NULL && s->door != NULL) ? find(s->door, t) : NULL;
  if (r == NULL)
    return;
  if (told)
    tell(s, TG_NOTICE_STOPPED, r->id, TG_END_STOPPED);
  tg_Trace *own = forget(s->door, r);
  if (own != t)
    stop(L, own);
}

void tg_door_stopped (lua_State *L, tg_Trace *t) {
  part(L, t, true);
}

void tg_door_replaced (lua_State *L, tg_Trace *t) {
  part(L, t, false);
}

/* ---- opening and closing ---- */

bool tg_door_open (lua_State *L, tg_Session *s, tg_Line *line) {
  tg_reach_setup(L, s, tg_door_turn);
  tg_Door *d = tg_calloc(1, sizeof *d);
  if (d == NULL)
    luaL_error(L, "not enough memory");
  d->line = s->line = tg_line_pin(line);
  if (!tg_reach_open(L, s)) {
    s->line = NULL;
    tg_line_unpin(line);
    tg_free(d);
    return false;
  }
  s->door = d;
  tg_door_publish(s);
  return true;
}

static void free_door (tg_Session *s) {
  tg_Door *d = s->door;
  while (d->remotes != NULL)
    forget(d, d->remotes);
  tg_tap_unpin(d->tap);
  tg_line_part(d->line);
  s->line = NULL;
  s->door = NULL;
  tg_line_unpin(d->line);
  tg_free(d);
}

void tg_door_close (lua_State *L, tg_Session *s) {
  if (s->door == NULL)
    return;
  tg_reach_close(L, s);
  stop_all(s, L);
  tell(s, TG_NOTICE_GONE, 0, TG_END_STOPPED);
  free_door(s);
}

void tg_door_leave (tg_Session *s) {
  if (s->door != NULL)
    tell(s, TG_NOTICE_GONE, 0, TG_END_STOPPED);
}

/* What the server's thread held when the process forked is lost with it; the
   line itself is whole. */
void tg_door_forked (tg_Session *s) {
  if (s->door == NULL)
    return;
  for (Remote *r = s->door->remotes; r != NULL; r = r->next) {
    if (r->trace->end == TG_END_NOT)
      tg_bounds_end(s, r->trace, TG_END_STOPPED);
  }
  s->line->bell = -1;
  atomic_store(&s->line->wanted, false);
}
