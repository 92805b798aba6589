/*
** packetevents.c - see packetevents.h. Used by replay.c, on the thread of the
** Lua state whose tables the packets are.
**
** Packets may come from anywhere, so nothing of them is taken for granted:
** numbers are bounded where they are read, an exit of a frame that nobody has
** entered is passed over. Without memory 'failed' is set and the event is
** missing; readers of the stream bear that. Lua's own errors (memory) go
** through: all that is owned is in the userdata.
*/
#include "client/packetevents.h"

#include <string.h>

#include "base/alloc.h"
#include "client/replayfunctions.h"
#include "client/replayvalues.h"
#include "reader/stacks.h"
#include "stream/event.h"
#include "stream/marks.h"
#include "stream/stream.h"

#define EVENT_ROOM 64u                  /* beside values */
#define VALUES_MOST ((size_t)64 << 20)  /* more than any packet of ours has */
#define MAIN 1u                         /* thread */

enum {PACKET = TG_PACKETEVENTS_PACKET, IDS = TG_PACKETEVENTS_IDS};

/*
** {==================================================================
** Events
** ===================================================================
*/

/* The writer's 'turn': nothing is limited here. */
static void turn (tg_Writer *rec, size_t need, uint64_t now) {
  tg_writer_open(rec, need, now, UINT64_MAX);
}

/* The writer's 'context': the chain of coroutines where a chunk begins,
   innermost last. */
static uint8_t *put_context (tg_Writer *rec, uint8_t *p, bool *listed) {
  (void)listed;               /* nothing is ever missing from these */
  const tg_PacketEvents *r = (const tg_PacketEvents *)(const void *)rec;
  uint32_t n = 0;
  for (const tg_Stack *s = r->running; s != NULL; s = s->resumer)
    n += n < TG_CONTEXT_THREADS;
  uint8_t *at = tg_put32(p, n) + 8 * (size_t)n, *end = at;
  for (const tg_Stack *s = r->running; n > 0; s = s->resumer, n--) {
    at -= 8;
    tg_put32(tg_put32(at, s->thread), s->count);
  }
  return end;
}

/* The event's head, with room for 'more' bytes; NULL without memory. An event
   is whole in one chunk, so the room is asked for before anything is put. */
static uint8_t *begin (tg_PacketEvents *r, uint32_t kind, size_t more,
                       uint64_t now) {
  uint8_t *p = tg_writer_begin(&r->writer, EVENT_ROOM + more, now);
  r->failed = r->failed || p == NULL;
  return p != NULL ? tg_writer_head(&r->writer, p, kind, now) : NULL;
}

/* The event is whole, and stands for so many packets. */
static void end (tg_PacketEvents *r, uint8_t *p, uint32_t packets) {
  tg_writer_end(&r->writer, p);
  r->writer.packets += packets;
}

/* The values read last, if any, are the event's. */
static uint32_t with_values (const tg_PacketEvents *r, uint32_t kind) {
  return kind | (r->values.size > 0 ? TG_EVF_VALUES : 0u);
}

/* There is room for them: 'begin' was told their size. */
static uint8_t *put_values (const tg_PacketEvents *r, uint8_t *p) {
  if (r->values.size == 0)
    return p;
  p = tg_put32(p, (uint32_t)r->values.size);
  memcpy(p, r->values.data, r->values.size);
  return p + r->values.size;
}

/* An event that has nothing but its head. 'packets' is what a reader makes of
   it again: the counts of the stream are those of the packets that came. */
static void emit_plain (tg_PacketEvents *r, uint32_t kind, uint32_t packets) {
  uint8_t *p = begin(r, kind, 0, r->now);
  if (p != NULL)
    end(r, p, packets);
}

/* }================================================================== */

/*
** {==================================================================
** What a packet says
** ===================================================================
*/

/* Fields that are not there are false, 0 and nil: each packet has those that
   its trace asked for. */
static bool flag_field (lua_State *L, const char *key) {
  lua_getfield(L, PACKET, key);
  bool b = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return b;
}

/* 0 if there is none: the trace did not ask for it, and all is on one
   thread. */
static tg_ThreadId thread_field (lua_State *L) {
  lua_getfield(L, PACKET, "thread");
  lua_Integer n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n > 0 && n <= INT32_MAX ? (tg_ThreadId)n : 0;
}

/* Milliseconds become nanoseconds; without them time stands still. It never
   goes back: an event's head has the time since the event before, which has no
   sign. */
static void read_time (lua_State *L, tg_PacketEvents *r) {
  lua_getfield(L, PACKET, "time");
  double ns = lua_tonumber(L, -1) * 1e6 + 0.5;
  lua_pop(L, 1);
  if (ns > (double)r->now && ns < TG_TIME_MAX)
    r->now = (uint64_t)ns;
}

/* The function that the table at 'at' describes, whose place is in the one at
   'place'; 0 without memory. */
static tg_FunctionId function_at (lua_State *L, tg_PacketEvents *r, int at,
                                  int place) {
  tg_FunctionId id = tg_replayfunctions_id(L, IDS, at, place,
                                           r->writer.stream->functions);
  r->failed = r->failed || id == 0;
  return id;
}

/* For descriptors, which have url and line themselves. */
static tg_FunctionId function_of_value (lua_State *L, int at, void *ud) {
  return function_at(L, ud, at, at);
}

/* A frame that is entered again has been counted before. */
static tg_FunctionId function_of_packet (lua_State *L, tg_PacketEvents *r) {
  bool known = lua_getfield(L, PACKET, "location") == LUA_TTABLE;
  tg_FunctionId id = function_at(L, r, PACKET, known ? lua_gettop(L) : 0);
  lua_getfield(L, PACKET, "hitCount");
  lua_Integer hits = lua_tointeger(L, -1);
  if (id != 0 && hits > 0 && !flag_field(L, "resumed"))
    id = tg_replayfunctions_hit(L, IDS, id, hits, r->writer.stream->functions);
  lua_pop(L, 2);
  return id;
}

/* Whether the completion on top of the stack says that it has no value: what an
   error threw is not always known, and then it is not nil. */
static bool is_unknown (lua_State *L) {
  bool unknown = lua_getfield(L, -1, "unknown") == LUA_TBOOLEAN
                 && lua_toboolean(L, -1);
  lua_pop(L, 1);
  return unknown;
}

/* The values of the packet's field into 'values', before the event begins: its
   head is written when its size is known. Values that are too large are left
   out, as if the trace had not asked for them; a buffer that was refused is
   cleared, so that the next packet may have better luck. */
static void read_values (lua_State *L, tg_PacketEvents *r, const char *key) {
  tg_ReplayValues g = {&r->values, &r->types, function_of_value, r};
  tg_buf_clear(&r->values);
  if (lua_getfield(L, PACKET, key) == LUA_TTABLE && !is_unknown(L))
    tg_replayvalues_list(L, &g);
  lua_pop(L, 1);
  r->failed = r->failed || r->values.failed;
  if (r->values.failed || r->values.size > VALUES_MOST)
    tg_buf_clear(&r->values);
}

/* }================================================================== */

/*
** {==================================================================
** Coroutines
** ===================================================================
*/

/* The main coroutine is never left: it has no resumer. */
static void unchain (tg_PacketEvents *r) {
  tg_assert(r->running->resumer != NULL);
  r->running->running = false;
  r->running = r->running->resumer;
}

/* Coroutines without a frame have ended, if another one runs now. That is the
   only way to know: a coroutine's end has no packet of its own, and a moment
   without frames is usual between two calls of the main one. */
static void settle (tg_PacketEvents *r, tg_ThreadId thread) {
  while (r->running->count == 0 && r->running->resumer != NULL
         && r->running->thread != thread) {
    tg_Stack *s = r->running;
    emit_plain(r, TG_EV_LEAVE, 0);
    unchain(r);
    tg_stacks_drop(&r->stacks, s);
  }
}

/* Whether a coroutine goes on with the frames it was left with, which readers
   know: then a RESUME need not list them. */
static bool same_frames (const tg_Stack *s, const uint32_t *ids, uint32_t n) {
  if (s->count != n)
    return false;
  for (uint32_t i = 0; i < n; i++) {
    if (s->frames[i].function != ids[i])
      return false;
  }
  return true;
}

/* The coroutine is resumed, now or when its frames were entered again. One that
   goes on with the frames it had need not list them. */
static void emit_resume (tg_PacketEvents *r, const tg_Stack *s,
                         const uint32_t *ids, uint32_t n, uint64_t now) {
  bool list = !same_frames(s, ids, n);
  size_t size = list ? n * sizeof *ids : 0;
  uint8_t *p = begin(r, TG_EV_RESUME | (list ? TG_EVF_LIST : 0u), size, now);
  if (p == NULL)
    return;
  p = tg_put32(p, s->thread);
  if (list) {
    p = tg_put32(p, n);
    if (size > 0)
      memcpy(p, ids, size);
    p += size;
  }
  end(r, p, n);
}

/* The coroutine runs, with these frames; one that is on the chain already is
   left where it is. */
static void resume (tg_PacketEvents *r, tg_ThreadId thread,
                    const tg_Buf *frames, uint64_t now) {
  static const uint32_t none[1];
  settle(r, thread);
  tg_Stack *s = tg_stacks_get(&r->stacks, thread);
  tg_assert(frames->size % sizeof *none == 0);
  if (s == NULL || s->running) {
    r->failed = r->failed || s == NULL;
    return;
  }
  const uint32_t *ids = frames->size > 0
                        ? (const uint32_t *)(const void *)frames->data : none;
  uint32_t n = (uint32_t)(frames->size / sizeof *ids);
  emit_resume(r, s, ids, n, now);
  if (!tg_stack_adopt(s, (const uint8_t *)ids, n, now))
    r->failed = true;
  s->running = true;
  s->resumer = r->running;
  r->running = s;
}

/* The frames that were entered again are all now. Called by whatever comes next
   and is not one of them: before the event itself, with the time at which they
   came. */
static void release (tg_PacketEvents *r) {
  r->failed = r->failed || r->resumed.failed;
  if (r->resumed.size > 0)
    resume(r, r->resuming, &r->resumed, r->resumed_ns);
  tg_buf_clear(&r->resumed);
}

/* The function of the next frame that is entered again: the one that the frame
   was left with, if it has these words. */
static tg_FunctionId resumed_function (tg_PacketEvents *r, tg_ThreadId thread,
                                       tg_FunctionId id) {
  const tg_Stack *s = tg_stacks_get(&r->stacks, thread);
  size_t i = r->resumed.size / sizeof id;
  if (s == NULL || i >= s->count
      || !tg_replayfunctions_alike(r->writer.stream->functions,
                                   s->frames[i].function, id))
    return id;
  return s->frames[i].function;
}

/* A frame that is entered again waits for those above it: they are one RESUME
   together, and only another packet tells that there are no more. */
static void hold_back (tg_PacketEvents *r, tg_ThreadId thread,
                       tg_FunctionId id) {
  if (thread != r->resuming)
    release(r);
  id = resumed_function(r, thread, id);
  if (r->resumed.size == 0) {
    r->resuming = thread;
    r->resumed_ns = r->now;
  }
  tg_buf_add(&r->resumed, &id, sizeof id);
}

/* }================================================================== */

/*
** {==================================================================
** Packets
** ===================================================================
*/

/* A call site: its line, and whose function it is in. 0: none is told. */
static uint32_t read_site (lua_State *L, tg_PacketEvents *r,
                           tg_FunctionId *caller) {
  const tg_Functions *fs = r->writer.stream->functions;
  const tg_StackFrame *f = tg_stack_top(r->running);
  lua_Integer line = 0;
  if (lua_getfield(L, PACKET, "callsite") == LUA_TTABLE) {
    lua_getfield(L, -1, "line");
    line = lua_tointeger(L, -1);
    lua_pop(L, 1);
    const char *known = f != NULL ? tg_functions_get(fs, f->function)->url
                                  : NULL;
    if (lua_getfield(L, -1, "url") != LUA_TSTRING)
      line = 0;
    else if (known != NULL && strcmp(known, lua_tostring(L, -1)) == 0)
      *caller = f->function;
    else {
      lua_pushvalue(L, -1);
      *caller = tg_replayfunctions_source(L, IDS, r->writer.stream->functions);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

/* The caller is told by its id if it is not the frame below (FAR): call sites
   in frames that nobody entered, or whose functions were left out. */
static void emit_call (lua_State *L, tg_PacketEvents *r, tg_FunctionId id) {
  tg_assert(id != 0 && lua_istable(L, PACKET));
  tg_FunctionId caller = 0;
  const tg_StackFrame *f = tg_stack_top(r->running);
  uint32_t line = read_site(L, r, &caller);
  bool far = f == NULL || f->function != caller;
  uint32_t kind = with_values(r, TG_EV_CALL);
  if (line > 0)
    kind |= TG_EVF_SITE | (far ? TG_EVF_FAR : 0u);
  uint8_t *p = begin(r, kind, r->values.size, r->now);
  if (p == NULL)
    return;
  p = tg_put32(p, id);
  if (line > 0) {
    p = tg_put32(p, line);
    if (far)
      p = tg_put32(p, caller);
  }
  end(r, put_values(r, p), 1);
}

/* A frame is entered. Its coroutine runs now: a packet tells of no switch but
   by the thread it names. */
static void entered (lua_State *L, tg_PacketEvents *r) {
  tg_assert(r->running != NULL);
  tg_ThreadId thread = thread_field(L);
  tg_FunctionId id = function_of_packet(L, r);
  if (id == 0)
    return;
  if (thread != 0 && flag_field(L, "resumed")) {
    hold_back(r, thread, id);
    return;
  }
  static const tg_Buf none;
  release(r);
  if (thread != 0 && thread != r->running->thread)
    resume(r, thread, &none, r->now);
  read_values(L, r, "arguments");
  emit_call(L, r, id);
  tg_StackFrame *f = tg_stack_push(r->running);
  if (f == NULL)
    r->failed = true;
  else
    f->function = id;
}

/* Also what has no better event: a yield of the main coroutine is a return with
   the values it yielded. */
static void returned (lua_State *L, tg_PacketEvents *r, const char *values) {
  bool tail = flag_field(L, "tailCall");
  read_values(L, r, values);
  uint32_t kind = with_values(r, TG_EV_RETURN) | (tail ? TG_EVF_TAIL : 0u);
  uint8_t *p = begin(r, kind, r->values.size, r->now);
  if (p != NULL)
    end(r, put_values(r, p), 1);
  tg_stack_pop(r->running);
}

/* A THROW for each frame, where the hook writes one for all: packets come one
   by one, and the next may never come. */
static void thrown (lua_State *L, tg_PacketEvents *r) {
  read_values(L, r, "throw");
  uint8_t *p = begin(r, with_values(r, TG_EV_THROW), r->values.size, r->now);
  if (p != NULL)
    end(r, put_values(r, tg_put32(p, 1)), 1);
  tg_stack_pop(r->running);
}

/* One event for all frames of the coroutine; what was not one of another's
   resuming is told as a return. */
static void yielded (lua_State *L, tg_PacketEvents *r) {
  if (r->running->resumer == NULL || thread_field(L) == 0) {
    returned(L, r, "yield");
    return;
  }
  read_values(L, r, "yield");
  uint32_t n = r->running->count;
  tg_assert(n > 0);               /* 'exited' has looked */
  uint8_t *p = begin(r, with_values(r, TG_EV_YIELD), r->values.size, r->now);
  if (p != NULL)
    end(r, put_values(r, p), n);
  r->yielded = n - 1;
  unchain(r);
}

/* A packet whose 'why' is unknown is a return: something has ended. The
   protocol has a packet for each frame that a yield leaves, the stream one
   event for all of them: so those after the first are counted off. */
static void exited (lua_State *L, tg_PacketEvents *r) {
  lua_getfield(L, PACKET, "why");
  const char *why = lua_tostring(L, -1) != NULL ? lua_tostring(L, -1) : "";
  bool yields = strcmp(why, "yield") == 0;
  release(r);
  if (yields && r->yielded > 0) {
    r->yielded--;
    return;
  }
  r->yielded = 0;
  settle(r, 0);
  if (r->running->count == 0)     /* of a frame that nobody has entered */
    return;
  if (yields)
    yielded(L, r);
  else if (strcmp(why, "exception") == 0)
    thrown(L, r);
  else if (strcmp(why, "terminated") == 0) {
    emit_plain(r, TG_EV_TERMINATE, 1);
    r->over = true;
  }
  else
    returned(L, r, "return");
}

/* The field, as so many times its unit; 0 if there is none that can be. */
static uint64_t number_field (lua_State *L, const char *key, double unit,
                              bool *there) {
  *there = lua_getfield(L, PACKET, key) == LUA_TNUMBER;
  double n = lua_tonumber(L, -1) * unit + 0.5;
  lua_pop(L, 1);
  *there = *there && n >= 0 && n < TG_TIME_MAX;
  return *there ? (uint64_t)n : 0;
}

/* Its sort and the groups that are open, as in event.h; a method that this
   library is too old for is a log. */
static uint32_t read_mark (lua_State *L) {
  bool there;
  lua_getfield(L, PACKET, "method");
  const char *method = lua_tostring(L, -1);
  uint32_t sort = tg_mark_sort(method != NULL ? method : "");
  lua_pop(L, 1);
  uint64_t groups = number_field(L, "groups", 1, &there);
  if (groups > UINT8_MAX)
    groups = UINT8_MAX;
  if (sort >= TG_NMARKS && sort != TG_MARK_COLLECTION)
    sort = TG_MARK_LOG;
  return sort
         | (uint32_t)groups << TG_MARK_GROUPSHIFT;
}

/* A marker of the coroutine that it names, which may have no frame. */
static void marked (lua_State *L, tg_PacketEvents *r) {
  static const tg_Buf none;
  tg_FunctionId caller = 0;
  bool numbered;
  tg_ThreadId thread = thread_field(L);
  release(r);
  if (thread != 0 && thread != r->running->thread)
    resume(r, thread, &none, r->now);
  uint32_t line = read_site(L, r, &caller), what = read_mark(L);
  uint64_t number = number_field(L, "duration", 1e6, &numbered);
  if (!numbered)
    number = number_field(L, "count", 1, &numbered);
  read_values(L, r, "arguments");
  uint32_t kind = with_values(r, TG_EV_MARK)
                  | (numbered ? TG_EVF_NUMBER : 0u)
                  | (caller != 0 ? TG_EVF_SITE : 0u);
  uint8_t *p = begin(r, kind, r->values.size, r->now);
  if (p == NULL)
    return;
  p = tg_put32(p, what);
  if (numbered)
    p = tg_put64(p, number);
  if (caller != 0)
    p = tg_put32(tg_put32(p, line), caller);
  end(r, put_values(r, p), 0);
}

/* The size of the heap, which is no coroutine's. */
static void measured (lua_State *L, tg_PacketEvents *r) {
  bool there;
  uint64_t bytes = number_field(L, "bytes", 1, &there);
  uint8_t *p = there ? begin(r, TG_EV_MARK | TG_EVF_NUMBER, 0, r->now) : NULL;
  if (p != NULL)
    end(r, tg_put64(tg_put32(p, TG_MARK_HEAP), bytes), 0);
}

/* What was allocated, of the coroutine that it names; 0 of what it does not
   say. */
static void allocated (lua_State *L, tg_PacketEvents *r) {
  static const char *const fields[] = {
    "allocations", "allocated", "freed", "bytes", "above"
  };
  static const tg_Buf none;
  bool there;
  tg_ThreadId thread = thread_field(L);
  release(r);
  if (thread != 0 && thread != r->running->thread)
    resume(r, thread, &none, r->now);
  uint8_t *p = begin(r, TG_EV_ALLOCATIONS, 0, r->now);
  for (int i = 0; p != NULL && i < 5; i++)
    p = tg_putvar(p, number_field(L, fields[i], 1, &there));
  if (p != NULL)
    end(r, p, 0);
}

/* A packet of another type is passed over: there may be some that this library
   is too old for. */
void tg_packetevents_take (lua_State *L, tg_PacketEvents *r) {
  int top = lua_gettop(L);
  lua_getfield(L, PACKET, "type");
  const char *type = lua_tostring(L, -1);
  read_time(L, r);
  if (type != NULL && strcmp(type, "enteredFrame") == 0)
    entered(L, r);
  else if (type != NULL && strcmp(type, "exitedFrame") == 0)
    exited(L, r);
  else if (type != NULL && strcmp(type, "marker") == 0)
    marked(L, r);
  else if (type != NULL && strcmp(type, "memory") == 0)
    measured(L, r);
  else if (type != NULL && strcmp(type, "allocations") == 0)
    allocated(L, r);
  lua_settop(L, top);
}

void tg_packetevents_end (tg_PacketEvents *r) {
  release(r);
}

/* }================================================================== */

/* A tick is a nanosecond, and time begins at 0: packets have times of the trace
   and not of this machine's clock. */
bool tg_packetevents_open (tg_PacketEvents *r) {
  tg_assert(r->writer.stream == NULL && r->running == NULL);
  tg_Writer *rec = &r->writer;
  rec->stream = tg_stream_new();
  if (rec->stream == NULL)
    return false;
  rec->stream->clock = (tg_Clock){.origin = 0, .ns_per_tick = 1.0};
  rec->turn = turn;
  rec->context = put_context;
  rec->packets_stop = rec->ticks_stop = UINT64_MAX;
  r->running = tg_stacks_get(&r->stacks, MAIN);
  if (r->running != NULL)
    r->running->running = true;
  return r->running != NULL;
}

void tg_packetevents_free (tg_PacketEvents *r) {
  tg_stacks_free(&r->stacks);
  tg_buf_free(&r->values);
  tg_buf_free(&r->types);
  tg_buf_free(&r->resumed);
  tg_stream_unpin(r->writer.stream);
  memset(r, 0, sizeof *r);
}
