/*
** large.c - parts of a value that do not fit the short forms: long
** strings, which are copied once and then referred to, and objects far down
** the pool.
**
** Called in the hook, by both halves of capture, on the traced thread; out of
** line, so that the usual way has no code for them. Room that is too small is
** latched (c->p == NULL), and the event is written again with more.
*/
#include "capture/inline.h"
#include "state/catalog.h"

/* The string captured at 'bytes', whose grip begins at the writing position.
   */
static void remember (tg_Capture *c, const char *s, size_t n,
                      const uint8_t *bytes, size_t kept) {
  tg_Writer *r = &c->session->writer;
  if (!c->in_stream)
    return;
  r->written[tg_address_hash(s) % TG_WRITTEN] = (tg_Written){
    s, n, c->p, bytes, (uint32_t)kept, r->epoch
  };
}

/* A document that is handed from function to function is written once; from
   then on a few bytes say how far back. */
static bool put_again (tg_Capture *c, const char *s, size_t n, size_t kept) {
  const uint8_t *grip = NULL;
  if (c->in_stream)
    grip = find_written(&c->session->writer, s, n, kept);
  if (grip == NULL)
    return false;
  if (room(c, ROOM)) {
    c->p = put_distance(c->p, grip);
    c->refers = true;
  }
  return true;
}

/* What the string may come to in JSON is counted beforehand: a packet has to
   stay below the size that clients accept. */
void tg_capture_long (tg_Capture *c, const char *s, size_t n) {
  size_t kept = (n < c->limits->string) ? n : c->limits->string;
  size_t affordable = (TG_PACKET_MAX - c->cost) / COST_PER_BYTE;
  if (kept > affordable)
    kept = affordable;
  c->cost += (uint32_t)(kept * COST_PER_BYTE);
  if (put_again(c, s, n, kept) || !room(c, kept + ROOM))
    return;
  uint8_t *p = c->p;
  *p++ = TG_GRIP_STRING;
  p = tg_putvar(p, n);
  p = tg_putvar(p, kept);
  memcpy(p, s, kept);
  remember(c, s, n, p, kept);
  c->p = p + kept;
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
void tg_capture_far (tg_Capture *c, uint32_t id, int type) {
  if (!room(c, ROOM))
    return;
  if (id == TG_POOL_NONE) {
    *c->p++ = TG_GRIP_NOROOM;
    *c->p++ = (uint8_t)object_type(type);
  }
  else {
    *c->p++ = TG_GRIP_OBJECT;
    c->p = tg_putvar(c->p, id);
  }
}
