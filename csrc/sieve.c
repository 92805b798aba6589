/*
** sieve.c - see sieve.h.
**
** The calls held back are always the innermost ones, so they are a stack; it
** gives from its bottom and loses from its top:
**
**     open calls   [ c0 | c1 | c2 || c3 | c4 ]     || = given
**     held                         [ p3 | p4 ]
*/
#include "sieve.h"

#include <string.h>

#include "alloc.h"
#include "values.h"

#define FIRST_HELD 32

void tg_sieve_init (tg_Sieve *s, tg_Reader *reader, uint64_t min_ns) {
  memset(s, 0, sizeof *s);
  s->reader = reader;
  s->min_ns = min_ns;
}

void tg_sieve_free (tg_Sieve *s) {
  tg_free(s->held);
  tg_buf_free(&s->bytes);
  memset(s, 0, sizeof *s);
}

tg_Status tg_sieve_status (const tg_Sieve *s) {
  return s->status != TG_OK ? s->status : tg_reader_status(s->reader);
}

static bool grow (tg_Sieve *s) {
  size_t capacity = s->capacity > 0 ? s->capacity * 2 : FIRST_HELD;
  tg_Held *held = tg_realloc(s->held, capacity * sizeof *held);
  if (held == NULL)
    return false;
  s->held = held;
  s->capacity = capacity;
  return true;
}

/* The waiting packet is kept, as a copy. */
static void hold (tg_Sieve *s) {
  tg_Slice values = s->in.values;
  if (s->first == s->count) {
    s->first = s->count = 0;
    s->put_in = 0;
    tg_buf_clear(&s->bytes);
  }
  size_t at = s->bytes.size;
  size_t put_in = tg_values_copy(&s->bytes, values,
                                 TG_COPIES_MAX - s->put_in);
  if (s->bytes.failed || (s->count == s->capacity && !grow(s))) {
    s->status = TG_ERR_MEMORY;    /* nesting is lost: no more packets */
    return;
  }
  tg_Held *h = &s->held[s->count++];
  *h = (tg_Held){s->in, at, put_in};
  s->put_in += put_in;
  h->packet.values.size = s->bytes.size - at;
  h->packet.values.origin = NULL;
}

/* The innermost call was too short. */
static void drop (tg_Sieve *s) {
  const tg_Held *h = &s->held[--s->count];
  s->bytes.size = h->at;
  s->put_in -= h->put_in;
}

/* Whether the outermost call held back has lasted long enough by now. */
static bool ripe (const tg_Sieve *s) {
  return s->first < s->count
         && s->in.time_ns - s->held[s->first].packet.time_ns >= s->min_ns;
}

static bool give (tg_Sieve *s, const tg_Packet *p, tg_Packet *out) {
  *out = *p;
  out->sequence = s->sequence++;
  return true;
}

static bool give_held (tg_Sieve *s, tg_Packet *out) {
  const tg_Held *h = &s->held[s->first++];
  give(s, &h->packet, out);
  if (out->values.size > 0)
    out->values.data = (const uint8_t *)s->bytes.data + h->at;
  return true;
}

/* The waiting packet is dealt with, what is older has been given; whether
   that gives it. */
static bool settle (tg_Sieve *s, tg_Packet *out) {
  s->waiting = false;
  if (s->in.why == TG_WHY_ENTER)
    hold(s);
  else if (s->first < s->count)
    drop(s);
  else
    return give(s, &s->in, out);
  return false;
}

static bool fetch (tg_Sieve *s, tg_Pos end) {
  s->waiting = s->status == TG_OK && tg_reader_next(s->reader, end, &s->in);
  return s->waiting;
}

bool tg_sieve_next (tg_Sieve *s, tg_Pos end, tg_Packet *out) {
  if (s->min_ns == 0)
    return tg_reader_next(s->reader, end, out);
  while (s->waiting || fetch(s, end)) {
    if (ripe(s))
      return give_held(s, out);
    if (settle(s, out))
      return true;
  }
  return s->first < s->count && give_held(s, out);
}
