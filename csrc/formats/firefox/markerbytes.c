/*
** markerbytes.c - see markerbytes.h. For callmarks.c only, which has made room.
** Bytes are our own, never from a file of somebody else's: reading does not
** check them.
*/
#include "formats/firefox/markerbytes.h"

#include "stream/event.h"

/* The first byte. */
enum {
  WHY = 7, TAIL = 8, RESUMED = 16, UNFINISHED = 32,
  PARTS = 64                  /* parts of moments follow */
};

static uint8_t head_of (const tg_CallMark *m) {
  bool parts = m->from.part > 0 || m->to.part > 0;
  return (uint8_t)(m->why | (m->tail ? TAIL : 0) | (m->resumed ? RESUMED : 0)
                   | (m->unfinished ? UNFINISHED : 0) | (parts ? PARTS : 0));
}

/* Sizes are kept one higher: absent is 0. */
uint8_t *tg_markerbytes_put (uint8_t *p, const tg_CallMark *m,
                             uint64_t before_ns) {
  uint8_t head = head_of(m);
  tg_assert((unsigned)m->why <= WHY && m->to.ns >= before_ns);
  tg_assert(m->from.ns <= m->to.ns);
  *p++ = head;
  p = tg_putvar(p, m->to.ns - before_ns);
  p = tg_putvar(p, m->to.ns - m->from.ns);
  if (head & PARTS) {
    p = tg_putvar(p, m->from.part);
    p = tg_putvar(p, m->to.part);
  }
  p = tg_putvar(p, m->rank);
  p = tg_putvar(p, m->function);
  p = tg_putvar(p, m->arguments + 1);
  return tg_putvar(p, m->results + 1);
}

const uint8_t *tg_markerbytes_get (const uint8_t *p, tg_CallMark *m,
                                   uint64_t before_ns) {
  uint8_t head = *p++;
  m->why = (tg_Why)(head & WHY);
  m->tail = (head & TAIL) != 0;
  m->resumed = (head & RESUMED) != 0;
  m->unfinished = (head & UNFINISHED) != 0;
  m->to.ns = before_ns + tg_getvar(&p);
  m->from.ns = m->to.ns - tg_getvar(&p);
  m->from.part = head & PARTS ? (uint32_t)tg_getvar(&p) : 0;
  m->to.part = head & PARTS ? (uint32_t)tg_getvar(&p) : 0;
  m->rank = (uint32_t)tg_getvar(&p);
  m->function = (tg_FunctionId)tg_getvar(&p);
  m->arguments = (uint32_t)tg_getvar(&p) - 1;
  m->results = (uint32_t)tg_getvar(&p) - 1;
  return p;
}
