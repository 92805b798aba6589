#include "capture.h"
#include "define.h"

static tg_Written *written (const tg_Capture *c, const char *s) {
  return &c->session->recorder.written[tg_address_hash(s) % TG_WRITTEN];
}

/* The string captured at 'bytes', whose grip begins at the writing position. */
static void remember (tg_Capture *c, const char *s, size_t n,
                      const uint8_t *bytes, size_t kept) {
  if (!c->in_stream)
    return;
  *written(c, s) = (tg_Written){
    s, n, c->p, bytes, (uint32_t)kept, c->session->recorder.epoch
  };
}

/*
** Documents are handed from function to function. A string that was captured
** in this epoch and has not changed since (another may have its address) is
** referred to.
*/
static bool put_again (tg_Capture *c, const char *s, size_t n, size_t kept) {
  const tg_Written *w = written(c, s);
  if (w->string != s || w->size != n || w->kept != kept
      || w->epoch != c->session->recorder.epoch || !c->in_stream
      || memcmp(w->bytes, s, kept) != 0)
    return false;
  if (room(c, ROOM)) {
    *c->p = TG_GRIP_STRAGAIN;
    c->p = tg_putvar(c->p + 1, (uint64_t)(c->p - w->grip));
    c->refers = true;
  }
  return true;
}

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

/* What is begun again will be written over. */
void tg_capture_forget (tg_Recorder *r) {
  memset(r->written, 0, sizeof r->written);
}
