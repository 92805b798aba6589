/*
** texts.c - see texts.h. Called in the hook, when a function comes into sight
** that was not known: no failure but that there is no memory, which changes
** nothing. Texts of one hash are chained through 'same', the latest first.
*/
#include "stream/texts.h"

#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/grow.h"

#define LONG 16384u             /* bytes; a longer text is known by a part: */
#define END 4096u               /* as much of both ends, */
#define PIECES 128u             /* and so many pieces between them */
#define PIECE 64u               /* bytes of each */

/*
** {==================================================================
** Hashes
** ===================================================================
*/

typedef struct Hash {
  uint64_t h[2];
} Hash;

/* Each eight bytes are spread over all bits, in two ways. */
static Hash mix (Hash x, const char *p, size_t n) {
  for (size_t i = 0; i < n; i += 8) {
    uint64_t word = tg_escape_load(p + i, n - i);
    x.h[0] = (x.h[0] ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    x.h[0] ^= x.h[0] >> 32;
    x.h[1] = (x.h[1] + word) * UINT64_C(0xc2b2ae3d27d4eb4f);
    x.h[1] ^= x.h[1] >> 29;
  }
  return x;
}

static Hash hash_whole (const char *data, size_t size) {
  return mix((Hash){{size, ~(uint64_t)size}}, data, size);
}

/* Of a long text: its ends, and pieces at the same distance in between. */
static Hash hash_part (const char *data, size_t size) {
  size_t step = (size - 2 * END) / PIECES;
  Hash x = mix((Hash){{size, ~(uint64_t)size}}, data, END);
  tg_assert(size > LONG && step >= PIECE);
  for (size_t i = 0; i < PIECES; i++)
    x = mix(x, data + END + i * step, PIECE);
  return mix(x, data + size - END, END);
}

static bool same_hash (const uint64_t a[2], Hash b) {
  return a[0] == b.h[0] && a[1] == b.h[1];
}

/* }================================================================== */

/*
** {==================================================================
** Long texts by their address
** ===================================================================
*/

/* An address is used again, even by another text of the same length: so a part
   of the text is compared each time. Two texts that agree in that part, and
   stood at the same address one after the other, are taken for one. */
static tg_TextId find_seen (const tg_Texts *t, const char *data, size_t size,
                            Hash part) {
  for (uint32_t i = 0; i < TG_TEXTS_SEEN; i++) {
    const tg_TextSeen *s = &t->seen[i];
    if (s->data == data && s->size == size && same_hash(s->hash, part))
      return s->id;
  }
  return TG_TEXT_NONE;
}

static void note_seen (tg_Texts *t, const char *data, size_t size, Hash part,
                       tg_TextId id) {
  tg_TextSeen *s = &t->seen[t->turn++ % TG_TEXTS_SEEN];
  *s = (tg_TextSeen){data, size, {part.h[0], part.h[1]}, id};
}

/* }================================================================== */

static size_t kept_of (const tg_Texts *t, size_t size) {
  return (t->most == 0 || size < t->most) ? size : t->most;
}

/* What is kept is compared as well, so that a whole text is never taken for
   another one. */
static tg_TextId look (const tg_Texts *t, const char *data, size_t size,
                       Hash hash) {
  uint32_t place = tg_intmap_find(&t->hashes, hash.h[0]);
  tg_TextId id = (place == TG_INTMAP_NONE) ? TG_TEXT_NONE : place + 1;
  for (; id != TG_TEXT_NONE; id = tg_texts_get(t, id)->same) {
    const tg_Text *x = tg_texts_get(t, id);
    if (x->size == size && same_hash(x->hash, hash)
        && memcmp(x->data, data, kept_of(t, size)) == 0)
      break;
  }
  return id;
}

/* The map is set last: until then the text is not there, whatever was
   refused. */
static tg_TextId enter (tg_Texts *t, const char *data, size_t size,
                        Hash hash) {
  uint32_t first = tg_intmap_find(&t->hashes, hash.h[0]);
  if (!tg_grow(&t->list, &t->capacity, t->count + 1, sizeof *t->list))
    return TG_TEXT_NONE;
  char *copy = tg_strdup(data, kept_of(t, size));
  if (copy == NULL || !tg_intmap_set(&t->hashes, hash.h[0], t->count)) {
    tg_free(copy);
    return TG_TEXT_NONE;
  }
  t->list[t->count] = (tg_Text){
    copy, size, {hash.h[0], hash.h[1]},
    first == TG_INTMAP_NONE ? TG_TEXT_NONE : first + 1
  };
  return ++t->count;
}

/* A long text is hashed as a whole only where it has not been seen. */
static tg_TextId find_long (tg_Texts *t, const char *data, size_t size,
                            bool adds) {
  Hash part = hash_part(data, size);
  tg_TextId id = find_seen(t, data, size, part);
  if (id != TG_TEXT_NONE)
    return id;
  Hash hash = hash_whole(data, size);
  id = look(t, data, size, hash);
  if (id == TG_TEXT_NONE && adds)
    id = enter(t, data, size, hash);
  if (id != TG_TEXT_NONE)
    note_seen(t, data, size, part, id);
  return id;
}

tg_TextId tg_texts_find (tg_Texts *t, const char *data, size_t size) {
  return (size > LONG) ? find_long(t, data, size, false)
                       : look(t, data, size, hash_whole(data, size));
}

tg_TextId tg_texts_add (tg_Texts *t, const char *data, size_t size) {
  if (size > LONG)
    return find_long(t, data, size, true);
  Hash hash = hash_whole(data, size);
  tg_TextId id = look(t, data, size, hash);
  return (id != TG_TEXT_NONE) ? id : enter(t, data, size, hash);
}

void tg_texts_free (tg_Texts *t) {
  for (uint32_t i = 0; i < t->count; i++)
    tg_free(t->list[i].data);
  tg_free(t->list);
  tg_intmap_free(&t->hashes);
  memset(t, 0, sizeof *t);
}
