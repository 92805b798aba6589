/*
** words.h - short strings that stand in the chunk: the next time three bytes
** tell where.
**
** Programs pass the same names, lines and keys again and again. So the table
** has where each was written last, by the address of its text; of two that
** share an entry the later one stays. An address tells nothing by itself, as
** the collector may have given it to another text: whoever finds an entry
** compares the bytes that stand there. Only those of whole events are compared,
** which do not change any more: what was written of a list that is begun again
** is as good as any other bytes, and nothing has to be forgotten.
**
** An entry is good for what comes behind the same CONTEXT, as models are
** (models.h).
**
** A session's, used in the hook on the traced thread. Plain memory, made when
** calls begin to be traced; without memory there is none.
*/
#ifndef TG_WORDS_H
#define TG_WORDS_H

#include "state/closures.h"
#include "direct/memory.h"
#include "stream/values.h"
#include "stream/writer.h"

#define TG_WORDS 2048u          /* a power of two */
#define TG_WORD_LEAST 4u        /* bytes: a shorter one is as short as its
                                   place */

typedef struct tg_Word {
  const char *text;             /* its address in Lua; it may be gone by now */
  uint32_t place;               /* of its grip */
  uint32_t epoch;               /* the writer's */
} tg_Word;

typedef struct tg_WordTable {
  tg_Word list[TG_WORDS];
} tg_WordTable;

TG_INLINE tg_Word *tg_words_at (tg_WordTable *words, const char *s) {
  return &words->list[tg_address_hash(s) % TG_WORDS];
}

/* Whether both have the same 'n' bytes, TG_WORD_LEAST or more: by two words
   that overlap, or by such for each sixteen. */
TG_INLINE bool tg_words_same (const char *a, const char *b, size_t n) {
  if (n < 8)
    return tg_read32(a, 0) == tg_read32(b, 0)
           && tg_read32(a, n - 4) == tg_read32(b, n - 4);
  for (size_t i = 0; i + 8 < n; i += 8) {
    if (tg_read64(a, i) != tg_read64(b, i))
      return false;
  }
  return tg_read64(a, n - 8) == tg_read64(b, n - 8);
}

/* Whether the entry is of the string of 'n' bytes at 's', from TG_WORD_LEAST to
   TG_GRIP_SMALLMAX. */
TG_INLINE bool tg_words_have (const tg_Word *w, const tg_Writer *r,
                              const char *s, size_t n) {
  if (w->text != s || w->epoch != r->epoch)
    return false;
  const uint8_t *grip = r->origin + w->place;
  return grip + 1 + n <= r->p && *grip == TG_GRIP_SMALLSTR + n
         && tg_words_same((const char *)grip + 1, s, n);
}

/* From now on it is of that string, whose grip will be at 'grip'. */
TG_INLINE void tg_words_note (tg_Word *w, const tg_Writer *r, const char *s,
                              const uint8_t *grip) {
  size_t place = (size_t)(grip - r->origin);
  if (tg_likely(place <= TG_SMALLAGAIN_MOST))
    *w = (tg_Word){.text = s, .place = (uint32_t)place, .epoch = r->epoch};
}

#endif
