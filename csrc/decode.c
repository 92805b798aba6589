/*
** decode.c - events from bytes that may come from anywhere.
*/
#include "decode.h"

#include <string.h>

/* What is left of an event. */
typedef struct Bytes {
  const uint8_t *p, *end;
  const uint8_t *origin;
  bool missing;         /* sticky: more was asked for than there was */
} Bytes;

static const uint8_t *take (Bytes *b, uint64_t size) {
  if (b->missing || size > (uint64_t)(b->end - b->p)) {
    b->missing = true;
    return NULL;
  }
  const uint8_t *p = b->p;
  b->p += size;
  return p;
}

static uint32_t take32 (Bytes *b) {
  const uint8_t *p = take(b, 4);
  return p != NULL ? tg_get32(p) : 0;
}

static uint64_t take64 (Bytes *b) {
  const uint8_t *p = take(b, 8);
  return p != NULL ? tg_get64(p) : 0;
}

static void take_values (Bytes *b, tg_Event *e) {
  if ((e->flags & TG_EVF_VALUES) == 0)
    return;
  uint32_t count = take32(b), size = count & ~TG_VALUES_REFERS;
  e->values = (tg_Slice){
    .data = take(b, size), .size = size,
    .origin = count & TG_VALUES_REFERS ? b->origin : NULL
  };
}

static void take_list (Bytes *b, tg_Event *e, uint64_t entry) {
  e->n = take32(b);
  e->list = take(b, e->n * entry);
}

static void take_call (Bytes *b, tg_Event *e) {
  e->function = take32(b);
  if (e->flags & TG_EVF_SITE) {
    e->line = take32(b);
    if (e->flags & TG_EVF_FAR)
      e->caller = take32(b);
  }
  take_values(b, e);
}

static void take_resume (Bytes *b, tg_Event *e) {
  e->thread = take32(b);
  if (e->flags & TG_EVF_LIST)
    take_list(b, e, 4);
}

/* What stands behind the head; false for a kind that there is not. */
static bool take_body (Bytes *b, tg_Event *e) {
  switch (e->kind) {
    case TG_EV_CONTEXT:
      e->ticks = take64(b);
      take_list(b, e, 8);
      return true;
    case TG_EV_TIME: e->ticks = take64(b); return true;
    case TG_EV_CALL: take_call(b, e); return true;
    case TG_EV_THROW:
      e->n = take32(b);
      take_values(b, e);
      return true;
    case TG_EV_RETURN: case TG_EV_YIELD: take_values(b, e); return true;
    case TG_EV_RESUME: take_resume(b, e); return true;
    case TG_EV_LEAVE: case TG_EV_TERMINATE: return true;
    case TG_EV_NONE: default: return false;
  }
}

size_t tg_event_decode (const uint8_t *origin, const uint8_t *p, size_t size,
                        tg_Event *e) {
  Bytes b = {p, p + size, origin, false};
  memset(e, 0, sizeof *e);
  uint32_t head = take32(&b);
  e->kind = (tg_Kind)(head & TG_EV_KINDMASK);
  e->flags = head & (TG_EVF_VALUES | TG_EVF_TAIL | TG_EVF_SITE | TG_EVF_FAR);
  e->ticks = head >> TG_EV_DELTASHIFT;
  return take_body(&b, e) && !b.missing ? (size_t)(b.p - p) : 0;
}
