/*
** met.h - the objects of a short list: which were met, and the number
** of each. Private to few.c and table.c.
**
** Most objects are met once in a list, and that is what has to be told at once:
** each sets a bit of 'seen' by its address. Where that is not set it is a new
** one; where it is all that were met are compared.
*/
#ifndef TG_CAPTURE_MET_H
#define TG_CAPTURE_MET_H

#include "capture/list.h"
#include "capture/plain.h"
#include "state/words.h"

#define TG_MET_MAX 48u          /* objects; such numbers are one byte */

_Static_assert(TG_MET_MAX <= TG_GRIP_SMALLMAX, "one byte");

typedef struct tg_Few {
  tg_Capture c;                 /* without a pool and without costs */
  uint32_t count, most;         /* objects; fewer than 'most' */
  uint32_t limit;               /* of a string */
  tg_WordTable *words;          /* borrows; NULL: there are none */
  bool noted;                   /* a table of it is a model (state/models.h) */
  uint64_t seen;                /* the bits of all objects */
  tg_Slot objects[TG_MET_MAX];  /* in the order in which they were met */
} tg_Few;

TG_INLINE uint64_t tg_met_bit (const void *address) {
  return UINT64_C(1) << (tg_address_hash(address) % 64);
}

/* Light userdata may have the address of something else. */
TG_INLINE bool tg_met_same (tg_Slot a, tg_Slot b) {
  return a.u.p == b.u.p && tg_slot_type(a) == tg_slot_type(b);
}

/* Among all of them; 'count' if it was not met. */
TG_INLINE uint32_t tg_met_search (const tg_Few *f, tg_Slot v) {
  uint32_t id = 0;
  while (id < f->count && !tg_met_same(f->objects[id], v))
    id++;
  return id;
}

/* The number of object 'v', which may be a new one; 'most' or more: there is
   none for it. */
TG_INLINE uint32_t tg_met_number (tg_Few *f, tg_Slot v) {
  uint64_t bit = tg_met_bit(v.u.p);
  uint32_t id;
  if (tg_unlikely((f->seen & bit) != 0)) {
    id = tg_met_search(f, v);
    if (id < f->count)
      return id;
  }
  id = f->count;
  if (tg_likely(id < f->most)) {
    f->seen |= bit;
    f->objects[f->count++] = v;
  }
  return id;
}

/* A string that is in the stream already; NULL if it is not, or so long that
   what all strings come to would have to be counted. */
TG_INLINE uint8_t *tg_few_put_written (tg_Few *f, tg_Slot v, uint8_t *p) {
  size_t n;
  const char *s = tg_slot_text(v, &n);
  size_t kept = (n < f->limit) ? n : f->limit;
  if (tg_unlikely(kept > TG_PLAIN_STRING))
    return NULL;
  const uint8_t *grip = find_written(&f->c.session->writer, s, n, kept);
  if (grip == NULL)
    return NULL;
  f->c.refers = true;
  return put_long_again(&f->c.session->writer, p, grip);
}

/* A string that is short and within the limit, or that is told by its place. */
TG_INLINE uint8_t *tg_few_put_string (tg_Few *f, tg_Slot v, uint8_t *p) {
  size_t n;
  const char *s = tg_slot_text(v, &n);
  if (tg_unlikely(n > TG_GRIP_SMALLMAX || n > f->limit))
    return NULL;
  if (n >= TG_WORD_LEAST && tg_likely(f->words != NULL)) {
    tg_Word *w = tg_words_at(f->words, s);
    const tg_Writer *r = &f->c.session->writer;
    if (tg_words_have(w, r, s, n))
      return put_small_again(p, w->place);
    tg_words_note(w, r, s, p);
  }
  return put_small_slot(v, f->limit, p);
}

/* A value that is small; NULL if it is anything else. */
TG_INLINE uint8_t *tg_few_put_small (tg_Few *f, tg_Slot v, uint8_t *p) {
  return tg_slot_type(v) == LUA_TSTRING ? tg_few_put_string(f, v, p)
                                        : put_other_small(v, f->limit, p);
}

/* What is not small, where there are SMALL_ROOM bytes; NULL if that is not for
   here to do. */
TG_INLINE uint8_t *tg_few_put_large (tg_Few *f, tg_Slot v, uint8_t *p) {
  if (tg_slot_type(v) == LUA_TSTRING)
    return tg_few_put_written(f, v, p);
  if (is_null(v))
    return put_byte(p, TG_GRIP_NULL);
  uint32_t id = tg_met_number(f, v);
  return tg_likely(id < f->most) ? put_byte(p, (uint8_t)(TG_GRIP_SMALLOBJ + id))
                                 : NULL;
}

#endif
