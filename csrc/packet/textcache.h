/*
** textcache.h - what short lists of values are as text, remembered.
**
** Many calls are made with a small number, true, or a word. The bytes of such a
** list say all that its text depends on, unless secrets have the names of
** parameters, or strings stand elsewhere; of those nothing is remembered.
**
** Plain C, one thread. Zeroed memory remembers nothing.
*/
#ifndef TG_TEXTCACHE_H
#define TG_TEXTCACHE_H

#include "base/base.h"
#include "base/buf.h"

#define TG_TEXTCACHE_ITEMS 256u
#define TG_TEXTCACHE_TEXT 47u     /* bytes; longer ones are not remembered */

typedef struct tg_CachedText {
  uint64_t key[2];            /* the bytes, and how many; 0, 0: none */
  uint8_t size;               /* of 'text' */
  char text[TG_TEXTCACHE_TEXT];
} tg_CachedText;

typedef struct tg_TextCache {
  bool off;                   /* texts depend on more than the values */
  tg_CachedText items[TG_TEXTCACHE_ITEMS];
} tg_TextCache;

/* Adds the text of these values to 'out'; false if it is not known. */
bool tg_textcache_put (const tg_TextCache *b, tg_Slice values, tg_Buf *out);

/* Remembers that what 'out' has from 'at' on is the text of these values. */
void tg_textcache_keep (tg_TextCache *b, tg_Slice values, const tg_Buf *out,
                        size_t at);

#endif
