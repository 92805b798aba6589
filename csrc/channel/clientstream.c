/*
** clientstream.c - a client's members, the follower that they share, and the
** notices between what is read from it. Called by clientchannel.c, on the
** server's thread. Without memory the stream is 'broken' from then on: what has
** been written may lack something, so nothing of it is sent.
*/
#include <string.h>

#include "channel/clientstream.h"
#include "base/alloc.h"
#include "base/clock.h"

/* A trace that the client has, or has asked for. */
typedef struct tg_ClientTrace {
  struct tg_ClientTrace *next;
  uint64_t id;
  tg_Options options;         /* owns */
  tg_LacksFrom lacks;         /* from where its losses count */
  bool runs;                  /* its beginning has been told */
} tg_ClientTrace;

/* ---- members ---- */

/* By number: names may be the same. A client has few traces: from the start. */
static tg_ClientTrace *find (const tg_ClientStream *c, uint64_t id) {
  tg_ClientTrace *m = c->members;
  while (m != NULL && m->id != id)
    m = m->next;
  return m;
}

/* What comes of its trace from now on is stale; nobody waits for it. */
static void free_member (tg_ClientStream *c, tg_ClientTrace *m) {
  tg_ClientTrace **p = &c->members;
  while (*p != m) {
    tg_assert(*p != NULL);
    p = &(*p)->next;
  }
  *p = m->next;
  tg_options_free(&m->options);
  tg_free(m);
}

/* Of those whose beginning has been told: frames of one that has been asked
   for only may be in the stream before the client knows of it. */
static bool work_out_selection (tg_ClientStream *c) {
  tg_Selection fresh = {0};
  bool ok = true;
  for (const tg_ClientTrace *m = c->members; m != NULL && ok; m = m->next)
    ok = !m->runs || tg_selection_add(&fresh, &m->options);
  if (!ok) {
    tg_selection_clear(&fresh);
    return false;
  }
  tg_selection_clear(&c->selection);
  c->selection = fresh;
  return true;
}

/* The reader goes on with what it has read already: what comes is narrowed or
   widened from here on. */
static void reselect (tg_ClientStream *c) {
  bool frames = c->follower != NULL && !tg_follower_is_bytes(c->follower);
  if (!work_out_selection(c)
      || (frames
          && !tg_reader_reselect(c->follower->reader, &c->selection)))
    c->broken = true;
}

/* ---- the follower ---- */

/* tg_channel_leave says no if a notice is on its way that says to read it:
   then it is left when that comes (discard). */
static void leave_follower (tg_ClientStream *c, tg_Follower *follower) {
  tg_channel_leave(c->channel, follower);
  tg_follower_unpin(follower);
}

/* Its traces end when they next ask for room: nobody waits for a reader that
   has left. */
static void leave (tg_ClientStream *c) {
  if (c->follower != NULL)
    leave_follower(c, c->follower);
  c->follower = NULL;
  c->mark = TG_FOLLOWER_NONE;
}

/* A member has begun: the one follower of all, or that of a new sequence. The
   reader of a follower begins where that was made; a new sequence begins with
   this trace, at its place and its time. */
static void adopt (tg_ClientStream *c, tg_Notice *n) {
  if (c->follower == n->follower) {
    reselect(c);
    return;
  }
  tg_assert(n->follower != NULL);
  leave(c);
  c->follower = n->follower;
  n->follower = NULL;
  if (!work_out_selection(c)
      || !tg_follower_begin(c->follower, n->pos, n->ticks, &c->selection))
    c->broken = true;
  tg_blockstream_begin(&c->wire.blocks, n->ticks, n->packets, &n->lacks);
}

/* With the last member the follower goes: a sequence is over when nobody has a
   trace. */
void tg_clientstream_part (tg_ClientStream *c, uint64_t id) {
  tg_ClientTrace *m = find(c, id);
  if (m == NULL)
    return;
  free_member(c, m);
  if (c->members == NULL)
    leave(c);
  reselect(c);
}

/* The follower is left even if nobody had a trace: a notice may have brought
   it. */
static void part_all (tg_ClientStream *c) {
  while (c->members != NULL)
    free_member(c, c->members);
  leave(c);
}

/* ---- notices ---- */

/* Whether a notice is for a client that has gone, or tells of a trace that the
   client has given up. An earlier client's notice names a session that is not
   in force; only STARTED may name a trace that is not known here yet. */
static bool stale (const tg_ClientStream *c, const tg_Notice *n) {
  if (n->kind == TG_NOTICE_GONE)
    return false;
  if (!c->attached || n->session != c->session)
    return true;
  return n->kind != TG_NOTICE_STARTED && find(c, n->id) == NULL;
}

/* Nobody will read the follower that the notice brings, so it is left: the
   program need not wait for it. */
static void discard (tg_ClientStream *c, tg_Notice *n) {
  if (n->follower != NULL && n->follower != c->follower) {
    leave_follower(c, n->follower);
    n->follower = NULL;
  }
  tg_notice_free(n);
}

/* GONE has no place of its own, since the state that sent it was closing: it
   comes after all that has been recorded. */
static void place (const tg_ClientStream *c, tg_Notice *n) {
  if (n->kind == TG_NOTICE_GONE)
    n->pos =
        (c->follower != NULL) ? tg_follower_committed(c->follower) : 0;
}

/* The next notice to tell, which stays 'next' until it is told. Stale notices
   are dropped. */
static const tg_Notice *peek (tg_ClientStream *c) {
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

/* Without a follower, or if it cannot be read, no frames come before the
   notice. */
static bool due (const tg_ClientStream *c, const tg_Notice *n) {
  if (c->follower == NULL || c->broken
      || (n->follower != NULL && n->follower != c->follower))
    return true;
  return n->pos <= tg_follower_done(c->follower);
}

/* The program's trace becomes a member. Its options move into the member. */
static bool enlist (tg_ClientStream *c, tg_Notice *n) {
  tg_ClientTrace *m = tg_calloc(1, sizeof *m);
  if (m == NULL)
    return false;
  *m = (tg_ClientTrace){c->members, n->id, n->options, n->lacks, true};
  memset(&n->options, 0, sizeof n->options);
  c->members = m;
  return true;
}

static void begin_member (tg_ClientTrace *m, const tg_Notice *n) {
  tg_assert(m != NULL);
  m->lacks = n->lacks;
  m->runs = true;
}

/* TAKEN of a trace that has been dropped is stale and does not come here. */
static void apply (tg_ClientStream *c, tg_Notice *n) {
  switch (n->kind) {
    case TG_NOTICE_TAKEN:
      begin_member(find(c, n->id), n);
      adopt(c, n);
      break;
    case TG_NOTICE_STARTED:
      if (enlist(c, n))
        adopt(c, n);
      else
        c->broken = true;
      break;
    case TG_NOTICE_REFUSED: case TG_NOTICE_STOPPED: case TG_NOTICE_ENDED:
      tg_clientstream_part(c, n->id);
      break;
    case TG_NOTICE_GONE:
    default:
      break;
  }
}

/* What is committed is looked at first: a notice of a place before that has
   been sent by then. Never beyond the mark, nor beyond the place of a notice
   of this sequence. */
static void set_limit (tg_ClientStream *c) {
  tg_Pos upto = tg_follower_committed(c->follower);
  const tg_Notice *n = peek(c);
  if (c->mark < upto)
    upto = c->mark;
  if (n != NULL && n->pos < upto
      && (n->follower == NULL || n->follower == c->follower))
    upto = n->pos;
  tg_follower_upto(c->follower, upto);
}

/* ---- what the client asks for ---- */

void tg_clientstream_init (tg_ClientStream *c, tg_Channel *channel) {
  memset(c, 0, sizeof *c);
  c->channel = channel;
  c->mark = TG_FOLLOWER_NONE;
  c->until = UINT64_MAX;
}

/* The notice that was next is discarded like any other: it may bring a
   follower, which has to be left. */
void tg_clientstream_free (tg_ClientStream *c) {
  part_all(c);
  tg_selection_clear(&c->selection);
  if (c->next != NULL)
    discard(c, c->next);
  c->next = NULL;
  tg_wirepackets_free(&c->wire);
}

/* Nobody waits for a client that had no traces to come or go: the program need
   not be disturbed for that. */
bool tg_clientstream_attach (tg_ClientStream *c, bool yes) {
  tg_CommandKind kind = yes ? TG_COMMAND_ATTACH : TG_COMMAND_LEAVE;
  tg_Command *k = tg_command_new(kind, c->session + yes);
  if (k == NULL)
    return false;
  k->patient = c->members == NULL;
  part_all(c);
  c->session += yes;
  c->attached = yes;
  c->broken = false;
  reselect(c);
  tg_channel_post(c->channel, k);
  return true;
}

/* The member is there before the command is sent: its notice may come at once.
   Both have options of their own, since the command's move into the trace. */
bool tg_clientstream_start (tg_ClientStream *c, uint64_t id,
                            const tg_Options *o, const tg_ClientStart *how) {
  tg_Command *k = tg_command_new(TG_COMMAND_START, id);
  tg_ClientTrace *m = tg_calloc(1, sizeof *m);
  if (k != NULL) {
    k->first = c->members == NULL;
    k->bytes = how->bytes;
    k->makers = how->makers;
    k->name = tg_strcopy(how->name);
  }
  if (m == NULL || k == NULL || k->name == NULL
      || !tg_options_copy(&k->options, o)
      || !tg_options_copy(&m->options, o)) {
    tg_command_free(k);
    tg_free(m);
    return false;
  }
  m->id = id;
  m->next = c->members;
  c->members = m;
  tg_channel_post(c->channel, k);
  return true;
}

/* The options that the client gave, or those of the program's trace; NULL for a
   number that is gone. */
const tg_Options *tg_clientstream_options (const tg_ClientStream *c,
                                           uint64_t id) {
  const tg_ClientTrace *m = find(c, id);
  return (m != NULL) ? &m->options : NULL;
}

bool tg_clientstream_lost (const tg_ClientStream *c, uint64_t id,
                           uint64_t lost[TG_NLACKS]) {
  const tg_ClientTrace *m = find(c, id);
  if (m == NULL || !m->runs || c->follower == NULL)
    return false;
  for (tg_Lack i = 0; i < TG_NLACKS; i++)
    lost[i] = tg_lacks_since(&c->follower->stream->lacks, &m->lacks, i);
  return true;
}

/* ---- what it gets ----
   In the order of the stream: frames, then the notice whose place they have
   reached, then frames again. Never both at once, since a notice may change
   what is selected. */

/* When the client's time is over: now, or so many nanoseconds after its trace
   began, if that was before. */
static uint64_t over_at (const tg_ClientStream *c, uint64_t duration_ns) {
  uint64_t now = tg_clock_ticks();
  double ticks = (double)duration_ns
                 / c->follower->stream->clock.ns_per_tick;
  if (duration_ns == 0 || ticks > (double)(now - c->wire.blocks.ticks))
    return now;
  return c->wire.blocks.ticks + (uint64_t)ticks;
}

/* Nothing beyond the mark is read until all before it has been: who stops a
   trace gets its frames first, and not those of others that record on. Of bytes
   the last word is when that was: the program may sleep. */
bool tg_clientstream_mark (tg_ClientStream *c, uint64_t duration_ns) {
  tg_Pos committed = 0;
  if (c->follower != NULL && tg_follower_is_bytes(c->follower)) {
    uint64_t over = over_at(c, duration_ns);
    c->until = (over < c->until) ? over : c->until;
    tg_blockstream_owe(&c->wire.blocks);
  }
  if (c->follower != NULL)
    committed = tg_follower_committed(c->follower);
  bool some =
      c->follower != NULL && tg_follower_place(c->follower) < committed;
  c->mark = some ? committed : TG_FOLLOWER_NONE;
  return some;
}

/* NULL: there is nothing to read now. The mark has done its work when all
   before it was read. */
const tg_Buf *tg_clientstream_read (tg_ClientStream *c, const char *from,
                                    int64_t batch, size_t bytes, bool packs) {
  if (c->follower == NULL || c->broken)
    return NULL;
  set_limit(c);
  c->broken = !tg_wirepackets_read(&c->wire, &(tg_WireReading){
    .follower = c->follower, .selection = &c->selection, .until = c->until,
    .from = from, .batch = batch, .bytes = bytes, .packs = packs});
  if (c->broken)
    return NULL;
  if (c->wire.out.size > 0)
    return &c->wire.out;
  if (tg_follower_done(c->follower) >= c->mark)
    c->mark = TG_FOLLOWER_NONE;
  c->until = UINT64_MAX;
  return NULL;
}

const tg_Notice *tg_clientstream_notice (tg_ClientStream *c) {
  const tg_Notice *n = peek(c);
  return (n != NULL && due(c, n)) ? n : NULL;
}

/* The notice comes into force when the client has been told of it, not before:
   then the frames after it are another selection's. */
void tg_clientstream_told (tg_ClientStream *c) {
  tg_Notice *n = c->next;
  tg_assert(n != NULL && due(c, n));
  c->next = NULL;
  apply(c, n);
  tg_notice_free(n);
}
