/*
** samples.c - see samples.h. Written by processed.c while packets come, read
** back by thread.c for each column.
**
** Memory that was refused shows in the column's text and from there in the
** spool; reading back returns false.
*/
#include "formats/firefox/samples.h"

#include <string.h>

#include "stream/event.h"

#define MOST_BYTES 30u    /* of a sample put aside */

/* The difference of two small numbers, as one that is small too. */
static uint64_t zigzag (uint32_t from, uint32_t to) {
  int64_t d = (int64_t)to - from;
  return (uint64_t)d << 1 ^ (uint64_t)(d >> 63);
}

static uint32_t unzigzag (uint32_t from, uint64_t z) {
  return (uint32_t)((int64_t)from + (int64_t)(z >> 1 ^ (0 - (z & 1))));
}

/* Stacks and tags are kept one higher: no stack, no tag are 0. */
void tg_samples_put (tg_Spool *spool, tg_Track *track, uint64_t ns,
                     uint32_t stack, uint32_t tag) {
  tg_Column *c = &track->samples;
  tg_assert(ns >= track->sample_ns);
  stack++;
  tag++;
  if (!tg_buf_reserve(&c->text, MOST_BYTES)) {
    tg_column_turn(spool, c);     /* tells */
    return;
  }
  uint8_t *p = (uint8_t *)c->text.data + c->text.size;
  p = tg_putvar(p, zigzag(track->sample_stack, stack));
  p = tg_putvar(p, ns - track->sample_ns);
  p = tg_putvar(p, tag == 0 ? 0 : 1 + zigzag(track->sample_tag, tag));
  c->text.size = (size_t)(p - (uint8_t *)c->text.data);
  c->values++;
  track->sample_stack = stack;
  track->sample_ns = ns;
  if (tag != 0)
    track->sample_tag = tag;
  tg_column_turn(spool, c);
}

/* Reading back: what the sample before had, and the one that is yet to be
   written since its end is not known. */
typedef struct Reading {
  tg_SampleField *field;
  tg_OutFile *out;
  uint64_t n;             /* read so far */
  tg_Sample latest;
  uint32_t stack, tag;
} Reading;

/* The latest sample lasts until then. */
TG_INLINE void put_latest (Reading *r, uint64_t until_ns, bool more) {
  tg_Buf *text = &r->out->text;
  r->latest.until_ns = until_ns;
  if (!tg_buf_reserve(text, TG_DIGITS + 1))
    return;
  char *p = r->field(text->data + text->size, &r->latest);
  if (more)
    *p++ = ',';
  text->size = (size_t)(p - text->data);
}

TG_INLINE void read_sample (Reading *r, const uint8_t **p) {
  tg_Sample s = {.ns = r->latest.ns};
  r->stack = unzigzag(r->stack, tg_getvar(p));
  s.ns += tg_getvar(p);
  uint64_t tag = tg_getvar(p);
  if (tag > 0)
    r->tag = unzigzag(r->tag, tag - 1);
  s.stack = r->stack - 1;
  s.tag = tag > 0 ? r->tag - 1 : TG_TAG_NONE;
  if (r->n++ > 0)
    put_latest(r, s.ns, true);
  r->latest = s;
}

bool tg_samples_write (tg_Spool *spool, const tg_Track *track,
                       tg_SampleField *field, tg_OutFile *out) {
  tg_Buf piece = {0};
  Reading r = {.field = field, .out = out};
  bool ok = true;
  for (uint32_t i = 0; ok && i <= track->samples.count; i++) {
    ok = tg_column_read(spool, &track->samples, i, &piece);
    const uint8_t *p = (const uint8_t *)piece.data;
    const uint8_t *end = ok && p != NULL ? p + piece.size : p;
    while (p < end)
      read_sample(&r, &p);
    tg_assert(p == end);        /* a sample is in one piece */
    ok = tg_outfile_turn(out) && ok;
  }
  tg_assert(!ok || r.n == track->samples.values);
  if (ok && r.n > 0)
    put_latest(&r, r.latest.ns, false);
  tg_buf_free(&piece);
  return ok;
}
