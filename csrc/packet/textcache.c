/*
** textcache.c - see textcache.h.
**
** Called by exports for every list of values, on the thread that writes. A
** table with one place for each hash: a list that comes to a place that is
** taken replaces what is there, so what comes often is mostly there. No
** allocation and nothing that could fail; a text that is too long is made anew
** each time.
*/
#include "packet/textcache.h"

#include "base/escape.h"

#define LIST_MAX 15u          /* bytes; one more is left for their number */

/* False: this list is nothing to remember. A list has one byte at least, so no
   key is 0, 0. */
TG_INLINE bool find_key (const tg_TextCache *b, tg_Slice values,
                         uint64_t key[2]) {
  const char *p = (const char *)values.data;
  if (b->off || values.size == 0 || values.size > LIST_MAX
      || values.origin != NULL)
    return false;
  key[0] = tg_escape_load(p, values.size);
  key[1] = values.size > 8 ? tg_escape_load(p + 8, values.size - 8) : 0;
  key[1] |= (uint64_t)values.size << 56;
  return true;
}

/* The upper half of a product depends on all bits of both keys. */
TG_INLINE uint32_t place_of (const uint64_t key[2]) {
  uint64_t h = (key[0] ^ key[1] << 7) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(h >> 32) % TG_TEXTCACHE_ITEMS;
}

bool tg_textcache_put (const tg_TextCache *b, tg_Slice values, tg_Buf *out) {
  uint64_t key[2];
  if (!find_key(b, values, key))
    return false;
  const tg_CachedText *item = &b->items[place_of(key)];
  if (item->key[0] != key[0] || item->key[1] != key[1])
    return false;
  tg_buf_add(out, item->text, item->size);
  return true;
}

/* What stands in 'out' from 'at' on is the text of the list. */
void tg_textcache_keep (tg_TextCache *b, tg_Slice values, const tg_Buf *out,
                        size_t at) {
  uint64_t key[2];
  tg_check(at <= out->size);
  size_t size = out->size - at;
  if (out->failed || size > TG_TEXTCACHE_TEXT || !find_key(b, values, key))
    return;
  tg_CachedText *item = &b->items[place_of(key)];
  item->key[0] = key[0];
  item->key[1] = key[1];
  item->size = (uint8_t)size;
  if (size > 0)
    memcpy(item->text, out->data + at, size);
}
