/*
** remotes.c - traces of a state that a client reads or has kept: how they begin
** and how they go. Called by endpoint.c on the traced thread, in the hook too.
** Without memory a client does not get a trace, or misses a notice.
**
** Traces of an attached client share one follower: so the client gets the
** packets of all its traces as one sequence. Kept traces have no follower, and
** are read when they are over (handover.h).
*/
#include <string.h>

#include "server/remotes.h"
#include "base/alloc.h"
#include "session/tracelimits.h"
#include "session/tracing.h"
#include "trace/trace.h"

/* A client that does not hear of an end for want of memory has its frames
   nevertheless, and learns by GONE, at the latest, that all is over. */
void tg_remotes_tell (const tg_Remotes *d, tg_NoticeKind kind, uint64_t id,
                      tg_End why, tg_Pos pos) {
  tg_Notice *n = tg_notice_new(kind, id);
  if (n == NULL)
    return;
  n->why = why;
  n->session = d->session;
  n->pos = pos;
  if (!tg_channel_notify(d->channel, n))
    tg_notice_free(n);
}

/* The client's trace that is 't', or mirrors it. */
tg_Remote *tg_remotes_find (const tg_Remotes *d, const tg_Trace *t) {
  tg_Remote *r = d->first;
  while (r != NULL && r->trace != t && r->mirrored != t)
    r = r->next;
  return r;
}

/* NULL for a number that is gone: a client may stop what has ended by
   itself. */
tg_Remote *tg_remotes_find_id (const tg_Remotes *d, uint64_t id) {
  tg_Remote *r = d->first;
  while (r != NULL && r->id != id)
    r = r->next;
  return r;
}

/* Takes it from the list; its trace. The remote goes first, then the trace:
   what its end does may come back here, and must not find it. */
tg_Trace *tg_remotes_forget (tg_Remotes *d, tg_Remote *r) {
  tg_Trace *t = r->trace;
  tg_Remote **p = &d->first;
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
void tg_remotes_stop (lua_State *L, tg_Trace *t) {
  lx_quietly(L, drop, t);
}

/* The first one of the client's that is attached. */
static tg_Remote *first_read (const tg_Remotes *d) {
  tg_Remote *r = d->first;
  while (r != NULL && r->handover != NULL)
    r = r->next;
  return r;
}

/* Looked up anew each time: stopping one trace may carry out commands that
   take others away. The follower goes too, so that the next client begins a
   new sequence. */
void tg_remotes_stop_read (tg_Remotes *d, lua_State *L) {
  tg_Remote *r;
  while ((r = first_read(d)) != NULL)
    tg_remotes_stop(L, tg_remotes_forget(d, r));
  tg_follower_unpin(d->follower);
  d->follower = NULL;
}

/* The state listens no more: kept traces go as well, and the server has had
   its part of them or never will. */
void tg_remotes_stop_all (tg_Remotes *d, lua_State *L) {
  tg_remotes_stop_read(d, L);
  while (d->first != NULL)
    tg_remotes_stop(L, tg_remotes_forget(d, d->first));
}

/* ---- joining ---- */

/* One of bytes is loose where the trace is a ring: what the client does not
   read in time is lost to it. */
static tg_Follower *new_bytes (const tg_Remotes *d, const tg_Trace *t) {
  return tg_follower_new_bytes(t->stream, t->start,
                               t->options.overflow == TG_OVERFLOW_RING,
                               d->channel->stall_ns);
}

/* A follower that begins with 't'. */
static tg_Follower *new_follower (const tg_Remotes *d, const tg_Trace *t,
                                  bool bytes) {
  if (bytes)
    return new_bytes(d, t);
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
static bool send_follower (tg_Remotes *d, const tg_Trace *t, tg_Notice *n,
                           const tg_Joining *how) {
  if (d->follower != NULL
      && (how->fresh || d->follower->stream != t->stream)) {
    tg_follower_unpin(d->follower);
    d->follower = NULL;
  }
  for (;;) {
    if (d->follower == NULL)
      d->follower = new_follower(d, t, how->bytes);
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
static tg_Notice *notice_of (const tg_Remotes *d, const tg_Trace *t,
                             const tg_Joining *how) {
  tg_Notice *n = tg_notice_new(how->kind, how->id);
  if (n == NULL)
    return NULL;
  n->session = d->session;
  n->pos = t->start;
  n->ticks = t->ticks_start;
  n->packets = t->packets_start;
  n->lacks = t->before;
  if (how->kind == TG_NOTICE_STARTED) {
    n->name = tg_strcopy(t->name);
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
bool tg_remotes_join (tg_Remotes *d, tg_Trace *t, const tg_Joining *how) {
  tg_Notice *n = notice_of(d, t, how);
  tg_Remote *r = tg_calloc(1, sizeof *r);
  if (n == NULL || r == NULL || !send_follower(d, t, n, how)) {
    tg_notice_free(n);
    tg_free(r);
    return false;
  }
  tg_assert(t->session != NULL && tg_remotes_find_id(d, how->id) == NULL);
  *r = (tg_Remote){d->first, how->id, t, how->mirrored, NULL};
  d->first = r;
  if (how->makers)
    tg_tracelimits_keep_makers(t);
  tg_tracing_tap(t->session, t, d->follower);
  return true;
}

/* The follower stays after its last trace, until a client begins a new
   sequence or goes: so it is asked whether somebody reads. */
bool tg_remotes_has_bytes (const tg_Remotes *d) {
  return d->follower != NULL && tg_follower_is_bytes(d->follower)
         && first_read(d) != NULL;
}

/* ---- keeping ---- */

/* What is kept of 't', which has just begun. By a cursor of its own, since the
   trace's goes with the trace. False: who asked has given up. */
static bool hand_over (const tg_Remotes *d, const tg_Trace *t, tg_Handover *k) {
  tg_Excerpt part = {
    .stream = tg_stream_pin(t->stream), .start = t->start,
    .packets_start = t->packets_start, .ticks_start = t->ticks_start
  };
  tg_cursor_copy(&part.hold, &t->hold);
  bool wanted = tg_handover_begin(d->channel, k, &part);
  if (!wanted)
    tg_excerpt_free(&part);
  return wanted;
}

/* The remote has the handover from here on, so that its end can be told there.
   Without memory, or nobody to take it, the caller drops the trace. */
bool tg_remotes_keep (tg_Remotes *d, tg_Trace *t, uint64_t id,
                      tg_Handover *k) {
  tg_Remote *r = tg_calloc(1, sizeof *r);
  if (r == NULL || !hand_over(d, t, k)) {
    tg_free(r);
    return false;
  }
  tg_assert(tg_remotes_find_id(d, id) == NULL);
  *r = (tg_Remote){d->first, id, t, NULL, k};
  d->first = r;
  return true;
}
