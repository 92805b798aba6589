/*
** large.c - parts of a value that do not fit the short forms: long
** strings, which are copied once and then referred to, and objects far down
** the pool.
**
** Called in the hook, by both ways of capture, on the traced thread; out of
** line, so that the usual way has no code for them. Room that is too small is
** latched (budget.h), and the event is written again with more.
*/
#include "capture/budget.h"

/* The string captured at 'bytes', whose grip begins at 'grip'. */
static void remember (tg_Capture *c, const char *s, size_t n,
                      const uint8_t *grip, const uint8_t *bytes, size_t kept) {
  tg_Writer *r = &c->session->writer;
  if (!c->in_stream)
    return;
  r->written[tg_address_hash(s) % TG_WRITTEN] = (tg_Written){
    s, n, grip, bytes, (uint32_t)kept, r->epoch
  };
}

/* As far as the limits go: the limit of strings, and what is affordable. What
   the string may come to in JSON is counted beforehand: a packet has to stay
   below the size that clients accept. */
static size_t kept_of (tg_Capture *c, size_t n) {
  size_t kept = (n < c->limits->string) ? n : c->limits->string;
  size_t affordable = (TG_PACKET_MAX - c->cost) / COST_PER_BYTE;
  if (kept > affordable)
    kept = affordable;
  c->cost += (uint32_t)(kept * COST_PER_BYTE);
  return kept;
}

/* A document that is handed from function to function is written once; from
   then on a few bytes say where. */
uint8_t *tg_capture_long (tg_Capture *c, const char *s, size_t n, uint8_t *p) {
  size_t kept = kept_of(c, n);
  const uint8_t *again = NULL, *grip = p;
  if (c->in_stream)
    again = find_written(&c->session->writer, s, n, kept);
  if (!room(c, p, (again != NULL) ? ROOM : kept + ROOM))
    return NULL;
  if (again != NULL) {
    c->refers = true;
    return put_long_again(&c->session->writer, p, again);
  }
  p = tg_putvar(tg_putvar(put_byte(p, TG_GRIP_STRING), n), kept);
  memcpy(p, s, kept);
  remember(c, s, n, grip, p, kept);
  return p + kept;
}

/* What is written from 'start' on will be written anew, perhaps elsewhere:
   nobody may refer to it there. */
void tg_capture_forget (tg_Writer *r, const uint8_t *start) {
  for (int i = 0; i < TG_WRITTEN; i++) {
    if (r->written[i].grip >= start && r->written[i].grip < r->lim)
      r->written[i].string = NULL;
  }
}

/* An object without an index is told by its type alone: that there was one,
   and no room to say which. */
uint8_t *tg_capture_far (tg_Capture *c, uint32_t id, tg_ObjectType type,
                         uint8_t *p) {
  if (!room(c, p, ROOM))
    return NULL;
  if (id == TG_POOL_NONE)
    return put_byte(put_byte(p, TG_GRIP_NOROOM), (uint8_t)type);
  return tg_putvar(put_byte(p, TG_GRIP_OBJECT), id);
}
