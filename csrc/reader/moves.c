/*
** moves.c - see moves.h. Called as tg_reader_next is, by the same thread.
**
** An event is looked at by the shape that its first byte tells
** (stream/eventshape.h), and nothing is changed before it is known to be a
** move: any other one is left where it is, those that are damaged as well.
*/
#include "reader/moves.h"

#include "reader/openframe.h"
#include "reader/readstate.h"
#include "stream/eventshape.h"

/* Whether the selection shows all frames that are entered, but for functions
   and how deep. */
static bool is_whole (const tg_Selection *s) {
  return s->filter == NULL && s->sample == 0 && !s->awaits
         && s->max_events == 0 && s->count > 0;
}

/* Whether a call or return would do no more now than to enter or leave a
   frame. */
static bool is_plain (const tg_Reader *r) {
  const tg_Framer *fr = &r->framer;
  return is_whole(&fr->selection) && !fr->marks && tg_framer_idle(fr)
         && fr->status == TG_OK && fr->started && fr->running != NULL
         && fr->ahead == TG_AHEAD_NOT && !fr->locals.come
         && r->cursor.store != NULL;
}

/* A call or a return, as it stands in the chunk. */
typedef struct Plain {
  const uint8_t *p;
  tg_EventShape shape;
  size_t values;          /* bytes of its list, with their count */
  tg_Kind kind;
} Plain;

/* Whether a whole one begins at 'p', of those that are no tail call. */
TG_INLINE bool take_plain (Plain *e, const uint8_t *p, const uint8_t *end) {
  if (end - p < (ptrdiff_t)TG_SHAPE_MOST)
    return false;
  uint32_t kind = *p & TG_EV_KINDMASK;
  *e = (Plain){.p = p, .shape = tg_eventshapes[*p],
               .kind = kind == TG_EV_NONE ? TG_EV_CALL : (tg_Kind)kind};
  if (e->shape.size == 0 || (*p & TG_EVF_TAIL) != 0 || kind == TG_EV_TIME)
    return false;
  if (e->shape.count == TG_SHAPE_NONE)
    return true;
  p += e->shape.size;
  e->values = tg_eventshape_values(p, e->shape);
  return e->values > 0 && e->values <= (size_t)(end - p);
}

TG_INLINE bool is_short (const Plain *e) {
  return e->shape.high == 1;
}

TG_INLINE uint32_t ticks_of (const Plain *e) {
  uint32_t delta = tg_get32(e->p) >> TG_EV_DELTASHIFT;
  return is_short(e) ? delta & TG_SHORT_MAX : delta;
}

/* The function that it calls. */
TG_INLINE tg_FunctionId called (const Plain *e) {
  return is_short(e) ? tg_get16(e->p + TG_SHORT_HEAD) : tg_get32(e->p + 4);
}

/* What its list has cost, if it has one. */
TG_INLINE uint64_t price_of_list (tg_Reader *r, const Plain *e,
                                  const uint8_t *origin) {
  if (!tg_eventshape_has_list(*e->p, e->shape))
    return 0;
  return tg_readstate_price(r, tg_eventshape_list(e->p + e->shape.size,
                                                  e->values, e->shape, origin));
}

/* Time goes on to the event. */
TG_INLINE void pass (tg_Reader *r, const Plain *e, tg_FunctionId id,
                     const uint8_t *origin) {
  tg_EventTime *t = &r->time;
  tg_Moment m = tg_eventtime_after(t, ticks_of(e));
  if (tg_eventtime_corrects(t)) {
    const tg_Function *f = tg_functions_find(r->stream->functions, id);
    uint64_t list = price_of_list(r, e, origin);
    tg_Price price = tg_costs_of(t->true_clock.costs, e->kind, *e->p, f, list);
    tg_eventtime_cost(t, price, &m);
  }
  tg_eventtime_pass(t, &m);
  r->framer.before_ns = r->framer.now_ns;
  r->framer.now_ns = m.now_ns;
}

/* The event happens; whether the frame is shown, which 'id' is to be. False
   without memory, and then the framer says so. */
TG_INLINE bool enter (tg_Reader *r, const Plain *e, tg_FunctionId id,
                      tg_CachedFunction *k, const uint8_t *origin) {
  tg_Framer *fr = &r->framer;
  pass(r, e, id, origin);
  tg_StackFrame *f = tg_stack_push(fr->running);
  if (f == NULL) {
    fr->status = TG_ERR_MEMORY;
    return false;
  }
  f->function = id;
  f->entered_ns = fr->now_ns;
  return tg_openframe_show(fr, fr->running, f, k, false);
}

TG_INLINE bool leave (tg_Reader *r, const Plain *e, tg_StackFrame *f,
                      const uint8_t *origin) {
  pass(r, e, f->function, origin);
  bool shown = tg_openframe_close(&r->framer, f);
  tg_stack_pop(r->framer.running);
  return shown;
}

/* The event as a move, if it is one; '*shown': somebody is to be told. */
TG_INLINE bool move (tg_Reader *r, const Plain *e, const uint8_t *origin,
                     tg_FrameMove *m, bool *shown) {
  tg_Framer *fr = &r->framer;
  m->enters = e->kind == TG_EV_CALL;
  if (m->enters) {
    m->function = called(e);
    tg_CachedFunction *k = tg_functioncache_get(&fr->known, m->function,
                                                fr->functions, &fr->selection);
    if (k == NULL || k->yields)         /* its arguments may be kept */
      return false;
    *shown = enter(r, e, m->function, k, origin);
  }
  else {
    tg_StackFrame *f = tg_stack_top(fr->running);
    if (f == NULL || f->sampled)
      return false;
    m->function = f->function;
    *shown = leave(r, e, f, origin);
  }
  m->thread = fr->running->thread;
  m->time_ns = fr->now_ns;
  m->spent_ns = r->time.spent_ns;
  return true;
}

uint32_t tg_reader_moves (tg_Reader *r, tg_Pos end, tg_FrameMove *list,
                          uint32_t most) {
  const uint8_t *p;
  uint32_t n = 0;
  if (!is_plain(r) || tg_cursor_pos(&r->cursor) >= end)
    return 0;
  size_t size = tg_cursor_peek(&r->cursor, &p);
  const uint8_t *data = r->cursor.chunk->block->data, *lim = p + size;
  const uint8_t *origin = data + tg_readstate_context(r);
  if (end - tg_cursor_pos(&r->cursor) < size)
    lim = p + (end - tg_cursor_pos(&r->cursor));
  Plain e;
  while (n < most && take_plain(&e, p, lim)) {
    bool shown;
    if (!move(r, &e, origin, &list[n], &shown))
      break;
    n += shown;
    r->framer.at = r->cursor.chunk->base + (tg_Pos)(p - data);
    p += e.shape.size + e.values;
    if (tg_unlikely(r->framer.status != TG_OK))
      break;
  }
  r->framer.sequence += n;
  r->cursor.offset = (uint32_t)(p - data);
  return n;
}
