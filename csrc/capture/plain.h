/*
** plain.h - most lists: a few numbers, booleans and short strings, straight
** from memory. The same bytes as by rules.h; a part of the hook itself, which
** calls no function for such a list.
*/
#ifndef TG_CAPTURE_PLAIN_H
#define TG_CAPTURE_PLAIN_H

#include "capture/slots.h"
#include "state/session.h"
#include "state/words.h"

/* Bytes of a string for which it is worth asking whether a place tells it,
   which makes a list longer by a byte and takes the way of few.h. */
#define TG_PLAIN_WORD 8u

/* Whether a string that will be written at 'p' is told by its place already;
   else it is from now on. */
TG_INLINE bool tg_plain_told (const tg_Session *s, tg_Slot v,
                              const uint8_t *p) {
  size_t n;
  const char *text = tg_slot_text(v, &n);
  if (n < TG_PLAIN_WORD || n > s->selection.plain || s->capture.words == NULL)
    return false;
  tg_Word *w = tg_words_at(s->capture.words, text);
  if (tg_words_have(w, &s->writer, text, n))
    return true;
  tg_words_note(w, &s->writer, text, p);
  return false;
}

/*
** Writes the whole list of 'n' values that stand from slot 'first' above
** 'base' on, all of which exist, where there are TG_PLAIN_ROOM bytes; its size
** is the caller's to write. NULL if that is not for here to do, and then
** nothing has been done.
*/
TG_INLINE uint8_t *tg_capture_plain (const tg_Session *s, const void *base,
                                     int first, int n, uint8_t *p) {
  const uint8_t *v = (const uint8_t *)base + (ptrdiff_t)first * TG_SIZE_SLOT;
  if (tg_unlikely((unsigned)n > TG_PLAIN_MAX))
    return NULL;
  *p++ = (uint8_t)n;
  for (const uint8_t *end = v + (ptrdiff_t)n * TG_SIZE_SLOT; v < end;
       v += TG_SIZE_SLOT) {
    tg_Slot slot = tg_read_slot(v, 0);
    if (tg_slot_type(slot) == LUA_TSTRING && tg_plain_told(s, slot, p))
      return NULL;
    p = put_small_slot(slot, s->selection.plain, p);
    if (tg_unlikely(p == NULL))
      return NULL;
  }
  return p;
}

#endif
