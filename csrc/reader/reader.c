/*
** reader.c - one selection's view of a stream.
**
** An event is decoded, time goes on, and the event becomes a job: close so
** many frames, enter one, suspend or re-enter a coroutine. A job gives at most
** one packet a turn, and no event is read before the job of the last is done;
** so whatever a packet borrows stays where it is until the next call.
**
**     bytes --decode--> event --apply--> job --turn--> packet
**
** Every event moves the shadow stacks, also those of frames that are not
** shown. What the selection's members want is 'inside'; 'shown' is what its
** filter leaves of that, so that a filter hides frames and changes no others.
*/
#include "reader/reader.h"

#include <string.h>

#include "base/alloc.h"
#include "reader/functioncache.h"
#include "reader/stacks.h"
#include "stream/eventreader.h"
#include "stream/values.h"

typedef enum JobKind {
  JOB_NONE,
  JOB_CLOSE,            /* 'left' innermost frames of the running coroutine */
  JOB_TAIL,             /* one frame, then JOB_ENTER */
  JOB_ENTER,            /* the frame that 'call' describes */
  JOB_LEAVE,            /* all frames there are left, then the coroutine */
  JOB_TERMINATE,        /* the same for the whole chain */
  JOB_SUSPEND,          /* 'left' frames, which stay for the next resume */
  JOB_REENTER           /* frames from 'next' on */
} JobKind;

typedef struct Job {
  JobKind kind;
  tg_Why why;           /* of the frames that it closes */
  uint32_t left;
  uint32_t next;
  bool tail;            /* they exit by a tail call */
  tg_Slice values;      /* of the frames that it closes; borrows */
  tg_Event call;        /* TAIL, ENTER */
} Job;

struct tg_Reader {
  tg_Stream *stream;    /* pins */
  tg_Clock clock;       /* the stream's, perhaps with a time 0 of its own */
  tg_Selection selection; /* owns */
  tg_Cursor cursor;     /* pins the chunks from here on, once placed */
  tg_Pos from;
  tg_Pos latest;        /* of the event read last */
  tg_Status status;
  bool started;         /* the stacks are those of the stream */
  uint64_t lost;
  uint64_t sequence;    /* of the next packet */
  uint64_t passed;      /* packets so far without the filter */
  uint64_t ticks;       /* of the last event */
  uint64_t now_ns;
  uint64_t before_ns;   /* of the event before it */
  uint64_t begun_ns;    /* of the first; UINT64_MAX before it */
  uint64_t to_ns;       /* no event after this time is read */
  tg_Stacks stacks;     /* owns */
  tg_Stack *running;    /* borrows; innermost of the chain, NULL if none */
  uint32_t inside;      /* frames of the whole chain that are so */
  uint32_t open;        /* the same of those shown */
  tg_FunctionCache known; /* owns */
  Job job;
  void (*gone) (void *ud, tg_ThreadId thread);
  void *gone_ud;
  void (*pace) (void *ud);
  void *pace_ud;
};

/*
** {==================================================================
** Birth, death, selection
** ===================================================================
*/

/* At 'from', or where a ring now begins; later, if nothing is there yet. */
static bool place (tg_Reader *r) {
  if (r->cursor.store != NULL)
    return true;
  if (tg_cursor_place(&r->cursor, &r->stream->store, r->from))
    return true;
  if (!tg_cursor_first(&r->cursor, &r->stream->store))
    return false;
  if (tg_cursor_pos(&r->cursor) <= r->from) {   /* 'from' is yet to come */
    tg_cursor_drop(&r->cursor);
    return false;
  }
  r->lost = r->cursor.chunk->packets;
  return true;
}

static void set_end (tg_Reader *r) {
  const tg_Filter *filter = r->selection.filter;
  r->to_ns = filter != NULL ? filter->to_ns : UINT64_MAX;
}

tg_Reader *tg_reader_new (tg_Stream *stream, tg_Pos from,
                          const tg_Selection *selection) {
  tg_Reader *r = tg_calloc(1, sizeof *r);
  if (r == NULL)
    return NULL;
  if (!tg_selection_copy(&r->selection, selection)) {
    tg_free(r);
    return NULL;
  }
  set_end(r);
  r->begun_ns = UINT64_MAX;
  r->stream = tg_stream_pin(stream);
  r->clock = stream->clock;
  r->from = from;
  place(r);
  return r;
}

void tg_reader_free (tg_Reader *r) {
  if (r == NULL)
    return;
  tg_cursor_drop(&r->cursor);
  tg_stream_unpin(r->stream);
  tg_selection_clear(&r->selection);
  tg_stacks_free(&r->stacks);
  tg_functioncache_free(&r->known);
  tg_free(r);
}

bool tg_reader_between (const tg_Reader *r) {
  return r->job.kind == JOB_NONE;
}

/* The chain of 'c' is that of 'r', in stacks of its own. */
static void copy_chain (tg_Reader *c, const tg_Reader *r) {
  tg_Stack **link = &c->running;
  for (const tg_Stack *s = r->running; s != NULL; s = s->resumer) {
    *link = tg_stacks_find(&c->stacks, s->thread);
    (*link)->running = true;
    link = &(*link)->resumer;
  }
  *link = NULL;
}

tg_Reader *tg_reader_copy (const tg_Reader *r) {
  tg_check(tg_reader_between(r) && r->selection.types == 0);
  tg_Reader *c = tg_reader_new(r->stream, tg_reader_pos(r), &r->selection);
  if (c == NULL)
    return NULL;
  tg_cursor_drop(&c->cursor);
  if (!tg_stacks_copy(&c->stacks, &r->stacks)) {
    tg_reader_free(c);
    return NULL;
  }
  copy_chain(c, r);
  c->clock = r->clock;
  c->status = r->status;
  c->started = r->started;
  c->lost = r->lost;
  c->sequence = r->sequence;
  c->passed = r->passed;
  c->ticks = r->ticks;
  c->now_ns = r->now_ns;
  c->before_ns = r->before_ns;
  c->begun_ns = r->begun_ns;
  c->inside = r->inside;
  c->open = r->open;
  return c;
}

tg_Reader *tg_reader_again (const tg_Reader *r) {
  tg_Selection bare;
  if (!tg_selection_copy(&bare, &r->selection))
    return NULL;
  tg_selection_bare(&bare);
  tg_Reader *again = tg_reader_new(r->stream, tg_reader_pos(r), &bare);
  tg_selection_clear(&bare);
  if (again != NULL)
    again->clock = r->clock;
  return again;
}

/* Hits are counted from the moment that somebody asks for them. */
bool tg_reader_reselect (tg_Reader *r, const tg_Selection *selection) {
  tg_Selection copy;
  if (!tg_selection_copy(&copy, selection))
    return false;
  tg_selection_clear(&r->selection);
  r->selection = copy;
  set_end(r);
  tg_functioncache_reset(&r->known, (copy.types & TG_TYPE_HITCOUNT) != 0);
  return true;
}

tg_Status tg_reader_status (const tg_Reader *r) {
  return r->status;
}

void tg_reader_watch (tg_Reader *r, void (*gone) (void *ud, tg_ThreadId thread),
                      void *ud) {
  r->gone = gone;
  r->gone_ud = ud;
}

void tg_reader_pace (tg_Reader *r, void (*pace) (void *ud), void *ud) {
  r->pace = pace;
  r->pace_ud = ud;
}

void tg_reader_time_from (tg_Reader *r, uint64_t ticks) {
  r->clock.origin = ticks;
}

tg_Pos tg_reader_pos (const tg_Reader *r) {
  return r->cursor.store != NULL ? tg_cursor_pos(&r->cursor) : r->from;
}

tg_Pos tg_reader_committed (const tg_Reader *r) {
  return r->cursor.store != NULL ? tg_cursor_committed(&r->cursor) : r->from;
}

uint64_t tg_reader_damage (const tg_Reader *r) {
  const tg_Chunk *c = r->cursor.chunk;
  if (r->status != TG_ERR_FORMAT || c == NULL || c->place == 0)
    return 0;
  return c->place + sizeof(tg_Block) + (r->latest - c->base);
}

uint64_t tg_reader_time (const tg_Reader *r) {
  return r->now_ns;
}

uint64_t tg_reader_lost (const tg_Reader *r) {
  return r->lost;
}

bool tg_reader_begun (const tg_Reader *r, uint64_t *ns) {
  *ns = r->begun_ns;
  return r->begun_ns != UINT64_MAX;
}

bool tg_reader_lasts (const tg_Reader *r, tg_Slice values) {
  const tg_Chunk *c = r->cursor.chunk;
  return c != NULL && values.data >= c->block->data
         && values.data <= c->block->data + tg_block_used(c->block);
}

void tg_reader_pin (const tg_Reader *r, tg_Cursor *to) {
  tg_cursor_copy(to, &r->cursor);
}

const tg_Stream *tg_reader_stream (const tg_Reader *r) {
  return r->stream;
}

/* }================================================================== */

/*
** {==================================================================
** Packets
** ===================================================================
*/

/* The event cannot be what it says it is, nor can its time. */
static void fail (tg_Reader *r, tg_Status status) {
  r->status = status;
  r->now_ns = r->before_ns;
}

/* NULL without memory, or if nobody defined that function, of which one cannot
   say whether it is wanted: either ends the reading. */
static tg_CachedFunction *known (tg_Reader *r, tg_FunctionId id) {
  const tg_Functions *fs = r->stream->functions;
  tg_CachedFunction *k = tg_functioncache_get(&r->known, id, fs, &r->selection);
  if (k == NULL)
    fail(r, tg_functions_find(fs, id) == NULL ? TG_ERR_FORMAT
                                              : TG_ERR_MEMORY);
  return k;
}

static bool yields (tg_Reader *r, const tg_StackFrame *f) {
  const tg_CachedFunction *k = known(r, f->function);
  return k != NULL && k->yields;
}

static void fill (tg_Reader *r, const tg_StackFrame *f, tg_ThreadId thread,
                  tg_Why why, tg_Packet *out) {
  memset(out, 0, sizeof *out);
  out->why = why;
  out->sequence = r->sequence++;
  out->time_ns = r->now_ns;
  out->function = f->function;
  out->thread = thread;
  out->depth = f->depth;
}

static uint64_t count_hit (const tg_Reader *r, tg_CachedFunction *k,
                           bool resumed) {
  if ((r->selection.types & TG_TYPE_HITCOUNT) == 0)
    return 0;
  k->hits += !resumed;
  return k->hits;
}

/* Whether the filter, if any, lets a frame through that is entered now. */
static bool passes (const tg_Reader *r, const tg_Stack *s,
                    const tg_CachedFunction *k) {
  const tg_Filter *filter = r->selection.filter;
  return filter == NULL
         || (k->passes && r->open < filter->options.max_depth
             && (filter->thread == 0 || filter->thread == s->thread)
             && r->now_ns >= filter->from_ns);
}

/* The frame is entered; whether that gives a packet. */
static bool enter (tg_Reader *r, const tg_Stack *s, tg_StackFrame *f, bool
resumed, tg_Packet *out) {
  tg_CachedFunction *k = known(r, f->function);
  f->inside = k != NULL && k->wanted && r->inside < r->selection.max_depth;
  if (!f->inside)
    return false;
  r->inside++;
  r->passed++;
  uint64_t hits = count_hit(r, k, resumed);
  f->shown = passes(r, s, k);
  if (!f->shown)
    return false;
  f->depth = r->open++;
  f->opened_ns = r->now_ns;
  fill(r, f, s->thread, TG_WHY_ENTER, out);
  out->resumed = resumed;
  out->hits = hits;
  return true;
}

/* The frame is not open any more; whether it was shown. */
static bool hide (tg_Reader *r, tg_StackFrame *f) {
  bool shown = f->shown;
  r->inside--;
  r->open -= shown;
  f->inside = f->shown = false;
  return shown;
}

/* The frame is left; whether that gives a packet. */
static bool leave (tg_Reader *r, const tg_Stack *s, tg_StackFrame *f,
                   tg_Packet *out) {
  if (!f->inside)
    return false;
  bool shown = hide(r, f);
  if (r->selection.count == 0) /* nobody is there to be told */
    return false;
  r->passed++;
  if (!shown)
    return false;
  fill(r, f, s->thread, r->job.why, out);
  out->tail = r->job.tail;
  out->values = r->job.values;
  out->entered_ns = f->entered_ns;
  out->opened_ns = f->opened_ns;
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Jobs: each turn gives a packet or comes nearer to the end
** ===================================================================
*/

static void done (tg_Reader *r) {
  r->job.kind = JOB_NONE;
}

/* The running coroutine gives way to its resumer. */
static void unchain (tg_Reader *r) {
  r->running->running = false;
  r->running = r->running->resumer;
}

/* Closes the innermost frame; all silent ones of the job are one turn. */
static bool close_one (tg_Reader *r, tg_Packet *out) {
  tg_Stack *s = r->running;
  tg_StackFrame *f = tg_stack_top(s);
  if (f == NULL) {
    s->silent -= r->job.left < s->silent ? r->job.left : s->silent;
    r->job.left = 0;
    return false;
  }
  bool given = leave(r, s, f, out);
  tg_stack_pop(s);
  r->job.left--;
  return given;
}

/* Without FAR the caller is the frame that is innermost now. */
static tg_FunctionId caller_of (const tg_Event *call, const tg_Stack *s) {
  if ((call->flags & TG_EVF_SITE) == 0)
    return 0;
  if (call->flags & TG_EVF_FAR)
    return call->caller;
  const tg_StackFrame *f = tg_stack_top(s);
  return f != NULL ? f->function : 0;
}

/* Bytes that a later event may mean: see the YIELD event. */
static void keep_arguments (tg_Reader *r, tg_Stack *s, tg_StackFrame *f,
                            tg_Slice values) {
  if (values.data != NULL && r->selection.types != 0 && yields(r, f))
    tg_stack_keep(s, values);
}

static bool turn_enter (tg_Reader *r, tg_Packet *out) {
  const tg_Event *call = &r->job.call;
  tg_Stack *s = r->running;
  done(r);
  tg_FunctionId caller = caller_of(call, s);
  tg_StackFrame *f = tg_stack_push(s);
  if (f == NULL) {
    r->status = TG_ERR_MEMORY;
    return false;
  }
  f->function = call->function;
  f->entered_ns = r->now_ns;
  keep_arguments(r, s, f, call->values);
  if (!enter(r, s, f, false, out))
    return false;
  out->caller = caller;
  out->line = call->line;
  out->values = call->values;
  return true;
}

static bool turn_close (tg_Reader *r, tg_Packet *out) {
  if (r->job.left > 0)
    return close_one(r, out);
  done(r);
  return false;
}

static bool turn_tail (tg_Reader *r, tg_Packet *out) {
  if (r->job.left > 0)
    return close_one(r, out);
  r->job.kind = JOB_ENTER;
  return false;
}

static bool turn_leave (tg_Reader *r, tg_Packet *out) {
  tg_Stack *s = r->running;
  if (s->count > 0)
    return close_one(r, out);
  unchain(r);
  tg_stacks_drop(&r->stacks, s);
  done(r);
  return false;
}

static bool turn_terminate (tg_Reader *r, tg_Packet *out) {
  tg_Stack *s = r->running;
  if (s == NULL)
    done(r);
  else if (s->count > 0)
    return close_one(r, out);
  else
    unchain(r);
  return false;
}

static bool turn_suspend (tg_Reader *r, tg_Packet *out) {
  if (r->job.left == 0) {
    unchain(r);
    done(r);
    return false;
  }
  return leave(r, r->running, &r->running->frames[--r->job.left], out);
}

static bool turn_reenter (tg_Reader *r, tg_Packet *out) {
  if (r->job.next == r->running->count) {
    done(r);
    return false;
  }
  tg_StackFrame *f = &r->running->frames[r->job.next++];
  return enter(r, r->running, f, true, out);
}

static bool turn (tg_Reader *r, tg_Packet *out) {
  switch (r->job.kind) {
    case JOB_CLOSE: return turn_close(r, out);
    case JOB_TAIL: return turn_tail(r, out);
    case JOB_ENTER: return turn_enter(r, out);
    case JOB_LEAVE: return turn_leave(r, out);
    case JOB_TERMINATE: return turn_terminate(r, out);
    case JOB_SUSPEND: return turn_suspend(r, out);
    case JOB_REENTER: return turn_reenter(r, out);
    case JOB_NONE: default: tg_unreachable(); return false;
  }
}

/* }================================================================== */

/*
** {==================================================================
** Events become jobs
** ===================================================================
*/

static void set_job (tg_Reader *r, JobKind kind, tg_Why why, uint32_t left,
                     tg_Slice values) {
  r->job.kind = kind;
  r->job.why = why;
  r->job.left = left;
  r->job.next = 0;
  r->job.tail = false;
  r->job.values = values;
}

static const tg_Slice nothing;

/* A coroutine goes above the running one; false if it is on the chain. */
static bool chain (tg_Reader *r, tg_Stack *s) {
  if (s == NULL || s->running) {
    fail(r, s == NULL ? TG_ERR_MEMORY : TG_ERR_FORMAT);
    return false;
  }
  s->running = true;
  s->resumer = r->running;
  r->running = s;
  return true;
}

static void apply_context (tg_Reader *r, const tg_Event *e) {
  if (r->started)   /* met on the way: nothing new */
    return;
  r->started = true;
  if (r->begun_ns == UINT64_MAX)
    r->begun_ns = r->now_ns;
  for (uint32_t i = 0; i < e->n; i++) {
    const uint8_t *entry = e->list + 8 * (size_t)i;
    tg_Stack *s = tg_stacks_get(&r->stacks, tg_get32(entry));
    if (!chain(r, s))
      return;
    s->silent = tg_get32(entry + 4);
    while (s->count > 0)
      tg_stack_pop(s);
  }
}

static void apply_call (tg_Reader *r, const tg_Event *e) {
  bool tail = (e->flags & TG_EVF_TAIL) != 0;
  set_job(r, tail ? JOB_TAIL : JOB_ENTER, TG_WHY_RETURN, tail, nothing);
  r->job.tail = tail;
  r->job.call = *e;
}

static void apply_return (tg_Reader *r, const tg_Event *e) {
  set_job(r, JOB_CLOSE, TG_WHY_RETURN, 1, e->values);
  r->job.tail = (e->flags & TG_EVF_TAIL) != 0;
}

static void apply_yield (tg_Reader *r, const tg_Event *e) {
  const tg_Stack *s = r->running;
  const tg_StackFrame *f = tg_stack_top(s);
  tg_Slice values = e->values;
  if (values.data == NULL && f != NULL && yields(r, f))
    values = tg_stack_kept(s, f);
  set_job(r, JOB_SUSPEND, TG_WHY_YIELD, s->count, values);
}

static void apply_resume (tg_Reader *r, const tg_Event *e) {
  tg_Stack *s = tg_stacks_get(&r->stacks, e->thread);
  if (!chain(r, s))
    return;
  if (e->list != NULL && !tg_stack_adopt(s, e->list, e->n, r->now_ns))
    r->status = TG_ERR_MEMORY;
  set_job(r, JOB_REENTER, TG_WHY_ENTER, 0, nothing);
}

static void apply_gone (tg_Reader *r, const tg_Event *e) {
  tg_Stack *s = tg_stacks_find(&r->stacks, e->thread);
  if (s == NULL || s->running)
    return;
  tg_stacks_drop(&r->stacks, s);
  if (r->gone != NULL)
    r->gone(r->gone_ud, e->thread);
}

static void apply_terminate (tg_Reader *r) {
  set_job(r, JOB_TERMINATE, TG_WHY_TERMINATED, UINT32_MAX, nothing);
  r->started = false;
}

/* An event of the running coroutine. */
static void apply_running (tg_Reader *r, const tg_Event *e) {
  if (e->kind == TG_EV_CALL)
    apply_call(r, e);
  else if (e->kind == TG_EV_RETURN)
    apply_return(r, e);
  else if (e->kind == TG_EV_THROW)
    set_job(r, JOB_CLOSE, TG_WHY_EXCEPTION, e->n, e->values);
  else if (e->kind == TG_EV_YIELD)
    apply_yield(r, e);
  else
    set_job(r, JOB_LEAVE, TG_WHY_TERMINATED, UINT32_MAX, nothing);
}

static void apply (tg_Reader *r, const tg_Event *e) {
  if (e->kind == TG_EV_CONTEXT)
    apply_context(r, e);
  else if (e->kind == TG_EV_TIME || !r->started)
    return;
  else if (e->kind == TG_EV_RESUME)
    apply_resume(r, e);
  else if (e->kind == TG_EV_GONE)
    apply_gone(r, e);
  else if (e->kind == TG_EV_TERMINATE)
    apply_terminate(r);
  else if (r->running != NULL)
    apply_running(r, e);
}

/* }================================================================== */

/*
** Committed bytes at the cursor, in whichever chunk they begin; 0 if none. A
** chunk that has a successor is full, but its last bytes may have come after
** the first look.
*/
static size_t look (tg_Reader *r, const uint8_t **data) {
  size_t size;
  while ((size = tg_cursor_peek(&r->cursor, data)) == 0) {
    if (atomic_load_explicit(&r->cursor.chunk->next, memory_order_acquire)
        == NULL)
      return 0;
    if (tg_cursor_peek(&r->cursor, data) == 0
        && !tg_cursor_advance(&r->cursor)) {
      r->status = r->stream->store.status;
      return 0;
    }
    if (r->pace != NULL)
      r->pace(r->pace_ud);
  }
  return size;
}

/* Ticks at an event; time never goes back, nor beyond what can be counted. */
static uint64_t ticks_at (const tg_Reader *r, const tg_Event *e) {
  uint64_t ticks = e->ticks;
  if (e->kind != TG_EV_CONTEXT && e->kind != TG_EV_TIME)
    ticks += r->ticks;
  return ticks > r->ticks ? ticks : r->ticks;
}

/* Reads an event; false if there is none before 'end', and none in time. */
static bool read_event (tg_Reader *r, tg_Pos end) {
  const uint8_t *data;
  if (!place(r)) {
    r->status = r->stream->store.status;
    return false;
  }
  if (tg_cursor_pos(&r->cursor) >= end)
    return false;
  size_t size = look(r, &data);
  if (size == 0)
    return false;
  tg_Event e;
  size_t used = tg_event_decode(r->cursor.chunk->block->data, data, size, &e);
  if (used == 0) {
    r->latest = tg_cursor_pos(&r->cursor);
    r->status = TG_ERR_FORMAT;
    return false;
  }
  uint64_t ticks = ticks_at(r, &e);
  uint64_t now_ns = tg_clock_ns(&r->clock, ticks);
  if (now_ns > r->to_ns)
    return false;
  r->latest = tg_cursor_pos(&r->cursor);
  r->cursor.offset += (uint32_t)used;
  r->ticks = ticks;
  r->before_ns = r->now_ns;
  r->now_ns = now_ns;
  apply(r, &e);
  return true;
}

/* Whether the selection has all the packets it asked for. */
static bool full (const tg_Reader *r) {
  return r->selection.max_events > 0 && r->passed >= r->selection.max_events;
}

bool tg_reader_next (tg_Reader *r, tg_Pos end, tg_Packet *out) {
  while (r->status == TG_OK && !full(r)) {
    if (r->job.kind != JOB_NONE) {
      if (turn(r, out))
        return true;
    }
    else if (!read_event(r, end))
      return false;
  }
  return false;
}
