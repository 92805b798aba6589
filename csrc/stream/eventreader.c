/*
** eventreader.c - events from bytes that may come from anywhere.
**
** Called by readers, once for every event, and when a recording is opened; on
** any thread. Nothing is kept. Bytes may be missing or be none of ours: what is
** taken beyond the end is zeros (bytereader.h), and one question at the end
** tells. What an event says is not checked here: a function that nobody defined
** or more frames than there are is the framer's to find.
*/
#include "stream/eventreader.h"

#include "base/bytereader.h"
#include "base/clear.h"
#include "stream/holdings.h"
#include "stream/values.h"

#define ALLOCATIONS_NUMBERS 5

/* What is left of an event; and where values may refer to, see values.h. */
typedef struct Rest {
  tg_ByteReader b;
  const uint8_t *origin;
} Rest;

/* The list of values behind an event; most events have none, or few bytes. It
   is borrowed from the chunk. */
TG_INLINE void read_values (Rest *r, tg_Event *e) {
  if ((e->flags & TG_EVF_VALUES) == 0)
    return;
  uint32_t count = tg_take32(&r->b), size = count & ~TG_VALUES_REFERS;
  e->counted = sizeof count;
  e->values = (tg_Slice){
    .data = tg_take(&r->b, size), .size = size,
    .origin = count & TG_VALUES_REFERS ? r->origin : NULL
  };
}

/* The same behind an event that is written shorter; mostly the count is one
   byte. */
TG_INLINE void read_short_values (Rest *r, tg_Event *e, bool sure) {
  if ((e->flags & TG_EVF_VALUES) == 0)
    return;
  const uint8_t *count = r->b.p;
  uint64_t size = sure && *count < 0x80 ? *r->b.p++ : tg_takevar(&r->b);
  e->counted = (uint32_t)(r->b.p - count);
  e->values = (tg_Slice){
    .data = tg_take(&r->b, size), .size = size,
    .origin = e->counted > 1 ? r->origin : NULL
  };
}

/* A list without values is one byte (values.h). */
static void set_nothing (tg_Event *e) {
  static const uint8_t nothing[] = {0};
  e->values = (tg_Slice){.data = nothing, .size = sizeof nothing};
}

static void read_results (Rest *r, tg_Event *e) {
  if (e->flags & TG_EVF_NOTHING)
    set_nothing(e);
  else
    read_values(r, e);
}

/* The product is of 64 bits, so a count from a file cannot wrap round. */
static void read_list (Rest *r, tg_Event *e, uint64_t entry) {
  e->n = tg_take32(&r->b);
  e->list = tg_take(&r->b, e->n * entry);
}

/* FAR without SITE does not come, and is not looked at. */
static void read_call (Rest *r, tg_Event *e) {
  e->function = tg_take32(&r->b);
  if (e->flags & TG_EVF_SITE) {
    e->line = tg_take32(&r->b);
    if (e->flags & TG_EVF_FAR)
      e->caller = tg_take32(&r->b);
  }
  read_values(r, e);
}

/*
** {==================================================================
** Calls and returns that are written shorter
** ===================================================================
**
** Each function here is made twice: mostly there are so many bytes behind the
** event's first one that all its numbers are there for 'sure', and none of them
** has to be asked for.
*/

/* Bytes of the longest: its head, three numbers and the first byte of the count
   of its values. */
#define SHORT_NUMBERS (TG_SHORT_HEAD + 3 * 2 + 1)

TG_INLINE uint32_t short16 (Rest *r, bool sure) {
  if (!sure)
    return tg_take16(&r->b);
  r->b.p += 2;
  return tg_get16(r->b.p - 2);
}

/* Whether the event with this first byte is one of them. */
TG_INLINE bool is_short (uint32_t first) {
  uint32_t kind = first & TG_EV_KINDMASK;
  return kind == TG_EV_NONE ? first != 0
         : kind == TG_EV_RETURN && (first & TG_EVF_SHORT) != 0;
}

/* FAR is no more than that one flag has to be set, where there is no line. */
TG_INLINE void read_short_call (Rest *r, tg_Event *e, bool sure) {
  e->kind = TG_EV_CALL;
  e->function = short16(r, sure);
  if ((e->flags & TG_EVF_SITE) == 0)
    e->flags &= ~(uint32_t)TG_EVF_FAR;
  else {
    e->line = short16(r, sure);
    if (e->flags & TG_EVF_FAR)
      e->caller = short16(r, sure);
  }
  read_short_values(r, e, sure);
}

TG_INLINE void read_short_return (Rest *r, tg_Event *e, bool sure) {
  e->flags &= ~(uint32_t)TG_EVF_SHORT;
  if (e->flags & TG_EVF_NOTHING)
    set_nothing(e);
  else
    read_short_values(r, e, sure);
}

/* From the head on, whose kind and flags are set. */
TG_INLINE void read_short_as (Rest *r, tg_Event *e, bool sure) {
  r->b.p++;
  e->ticks = short16(r, sure);
  if (e->kind == TG_EV_NONE)
    read_short_call(r, e, sure);
  else
    read_short_return(r, e, sure);
}

static void read_short (Rest *r, tg_Event *e) {
  if (tg_likely(r->b.end - r->b.p >= SHORT_NUMBERS))
    read_short_as(r, e, true);
  else
    read_short_as(r, e, false);
}

/* }================================================================== */

/* Without a list the coroutine goes on with the frames that it had. */
static void read_resume (Rest *r, tg_Event *e) {
  e->thread = tg_take32(&r->b);
  if (e->flags & TG_EVF_LIST)
    read_list(r, e, 4);
}

/* Frames are listed behind the counts where LIST says so. */
static void read_context (Rest *r, tg_Event *e) {
  e->ticks = tg_take64(&r->b);
  read_list(r, e, 8);
  if (e->flags & TG_EVF_LIST) {
    e->nframes = tg_take32(&r->b);
    e->frames = tg_take(&r->b, e->nframes * UINT64_C(4));
  }
}

static void read_sample (Rest *r, tg_Event *e) {
  e->used_ns = tg_take64(&r->b);
  e->weight = tg_take32(&r->b);
  e->kept = tg_take32(&r->b);
  read_list(r, e, 8);
  if (e->flags & TG_EVF_APART)
    e->hook_ns = tg_take64(&r->b);
  if (e->flags & TG_EVF_OTHERS)
    e->others_ns = tg_take64(&r->b);
}

static void read_mark (Rest *r, tg_Event *e) {
  e->mark = tg_take32(&r->b);
  if (e->flags & TG_EVF_NUMBER)
    e->number = tg_take64(&r->b);
  if (e->flags & TG_EVF_SITE) {
    e->line = tg_take32(&r->b);
    e->caller = tg_take32(&r->b);
  }
  read_values(r, e);
}

static void read_time (Rest *r, tg_Event *e) {
  if (tg_event_gauges(e))
    return;
  e->ticks = tg_take64(&r->b);
  e->waited = (e->flags & TG_EVF_OVERHEAD) ? tg_take64(&r->b) : 0;
}

/* The numbers stay bytes, which tg_event_allocations takes apart. */
static void read_allocations (Rest *r, tg_Event *e) {
  const uint8_t *body = r->b.p;
  for (int i = 0; i < ALLOCATIONS_NUMBERS; i++)
    tg_takevar(&r->b);
  if (e->flags & TG_EVF_HELD)
    tg_holdings_pass(&r->b);
  e->values = (tg_Slice){.data = body, .size = (size_t)(r->b.p - body)};
}

tg_Allocations tg_event_allocations (tg_Slice body) {
  tg_ByteReader b = {body.data, body.data + body.size, false};
  tg_Allocations a;
  a.count = tg_takevar(&b);
  a.allocated = tg_takevar(&b);
  a.freed = tg_takevar(&b);
  a.heap = tg_takevar(&b);
  a.above = tg_takevar(&b);
  a.held = b;
  tg_assert(!b.missing);
  return a;
}

/* What stands behind the head; false for a kind that there is not. In the order
   in which event.h lists the kinds' operands. */
static bool read_body (Rest *r, tg_Event *e) {
  switch (e->kind) {
    case TG_EV_CONTEXT: read_context(r, e); return true;
    case TG_EV_TIME: read_time(r, e); return true;
    case TG_EV_CALL: read_call(r, e); return true;
    case TG_EV_THROW:
      e->n = tg_take32(&r->b);
      read_values(r, e);
      return true;
    case TG_EV_RETURN: read_results(r, e); return true;
    case TG_EV_YIELD: read_values(r, e); return true;
    case TG_EV_RESUME: read_resume(r, e); return true;
    case TG_EV_GONE: e->thread = tg_take32(&r->b); return true;
    case TG_EV_SAMPLE: read_sample(r, e); return true;
    case TG_EV_LOST: e->number = tg_take64(&r->b); return true;
    case TG_EV_WAIT:
      e->ticks = tg_take64(&r->b);
      e->waited = tg_take64(&r->b);
      return true;
    case TG_EV_MARK: read_mark(r, e); return true;
    case TG_EV_ALLOCATIONS: read_allocations(r, e); return true;
    case TG_EV_LEAVE: case TG_EV_TERMINATE: return true;
    case TG_EV_NONE: default: return false;
  }
}

/* From the head on. */
static bool read_long (Rest *r, tg_Event *e) {
  e->ticks = tg_take32(&r->b) >> TG_EV_DELTASHIFT;
  return read_body(r, e);
}

/* The bytes of the event, 0 if they are none or not all there. What the event
   does not have is zeros. */
size_t tg_event_decode (const uint8_t **origin, const uint8_t *p, size_t size,
                        tg_Event *e) {
  Rest r = {{p, p + size, false}, *origin};
  tg_clear(e, sizeof *e);
  if (size == 0)
    return 0;
  bool whole = true;
  e->kind = (tg_Kind)(*p & TG_EV_KINDMASK);
  e->flags = *p & (TG_EVF_VALUES | TG_EVF_TAIL | TG_EVF_SITE | TG_EVF_FAR);
  if (is_short(*p))
    read_short(&r, e);
  else
    whole = read_long(&r, e);
  tg_assert(r.b.p <= p + size);
  if (!whole || r.b.missing)
    return 0;
  if (tg_unlikely(e->kind == TG_EV_CONTEXT))
    *origin = p;
  return (size_t)(r.b.p - p);
}

/* The highest id of a function among the values. Functions are named in their
   descriptors only, which follow the list. */
static tg_FunctionId named_in (tg_Slice values) {
  tg_ValueCursor c;
  tg_Grip g;
  tg_Descriptor d;
  tg_FunctionId highest = 0;
  tg_values_open(&c, values);
  uint64_t n = tg_values_var(&c);
  for (uint64_t i = 0; i < n && i < TG_VALUES_MAX && !c.bad; i++)
    tg_values_grip(&c, &g);
  while (!c.bad && c.p < c.end) {
    tg_values_descriptor(&c, &d);
    if (d.function > highest)
      highest = d.function;
    if (d.flags & TG_DESC_PROPS)
      tg_values_skip_properties(&c);
  }
  return highest;
}

/* The highest of 'n' ids, which may be marked, or of 'highest'. */
static tg_FunctionId named_by (const uint8_t *list, uint32_t n,
                               uint32_t marks, tg_FunctionId highest) {
  for (uint32_t i = 0; i < n; i++) {
    tg_FunctionId id = tg_get32(list + 4 * (size_t)i) & ~marks;
    if (id > highest)
      highest = id;
  }
  return highest;
}

/* The same of pairs, in which a function may be marked. */
static tg_FunctionId named_in_sample (const tg_Event *e,
                                      tg_FunctionId highest) {
  for (uint32_t i = 0; i < e->n; i++) {
    tg_FunctionId id = tg_get32(e->list + 8 * (size_t)i) & ~TG_SAMPLE_FLAGS;
    if (id > highest)
      highest = id;
  }
  return highest;
}

/* The highest id that the event names: whoever cuts a file looks whether all of
   them are defined. */
tg_FunctionId tg_event_names (const tg_Event *e) {
  tg_FunctionId highest = 0;
  if (e->kind != TG_EV_ALLOCATIONS)
    highest = named_in(e->values);
  if (e->function > highest)
    highest = e->function;
  if (e->caller > highest)
    highest = e->caller;
  highest = named_by(e->frames, e->nframes, 0, highest);
  if (e->kind == TG_EV_RESUME)
    highest = named_by(e->list, e->n, TG_RESUME_UNTOLD, highest);
  if (e->kind == TG_EV_SAMPLE)
    highest = named_in_sample(e, highest);
  return highest;
}
