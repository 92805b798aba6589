/*
** texts.h - the texts of a program's sources, each once, by number.
**
** One table serves all modules that keep something for a source: its functions
** (state/definitions.h), how often its lines were reached (coverage), its
** breakpoints (inspect). A program may load any number of texts, many of one
** length, with the same beginning and the same end: so the whole text is
** hashed, twice with different numbers, and bytes that are not kept are told
** apart by these 128 bits.
**
** A source is looked up once for each of its functions. A long source that is
** looked up again at the same address is known by a part of its text (seen): so
** 5,000 functions of a text of 1 MB are not 5 GB to hash.
**
** Plain C. Used by one thread; 'data' of a text stays where it is until all are
** freed, so other threads may read it.
*/
#ifndef TG_TEXTS_H
#define TG_TEXTS_H

#include "base/base.h"
#include "base/intmap.h"

typedef uint32_t tg_TextId;     /* from 1, in the order of first sight */

#define TG_TEXT_NONE ((tg_TextId)0)
#define TG_TEXTS_SEEN 8         /* long texts known by their address */

typedef struct tg_Text {
  char *data;                   /* owns: the bytes that are kept, then 0 */
  size_t size;                  /* bytes of the whole text */
  uint64_t hash[2];             /* of the whole text */
  tg_TextId same;               /* the next text with this hash[0], or none */
} tg_Text;

/* Where a long text was found last. */
typedef struct tg_TextSeen {
  const char *data;
  size_t size;
  uint64_t hash[2];             /* of a part of it */
  tg_TextId id;
} tg_TextSeen;

/* Zeroed memory is empty. */
typedef struct tg_Texts {
  tg_Text *list;                /* owns; of id i at i - 1 */
  uint32_t count, capacity;
  uint32_t most;                /* bytes that are kept of each; 0: all */
  tg_IntMap hashes;             /* owns; from hash[0] to the latest with it */
  tg_TextSeen seen[TG_TEXTS_SEEN];
  uint32_t turn;                /* the place in 'seen' that is taken next */
} tg_Texts;

/* The number of that text; TG_TEXT_NONE: it was never added. */
tg_TextId tg_texts_find (tg_Texts *t, const char *data, size_t size);

/* The same, but a new text gets a number; TG_TEXT_NONE without memory. */
tg_TextId tg_texts_add (tg_Texts *t, const char *data, size_t size);

/* The text with that number, which is from this table. */
TG_INLINE const tg_Text *tg_texts_get (const tg_Texts *t, tg_TextId id) {
  tg_assert(id != TG_TEXT_NONE && id <= t->count);
  return &t->list[id - 1];
}

void tg_texts_free (tg_Texts *t);

#endif
