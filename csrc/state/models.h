/*
** models.h - tables whose properties stand in the chunk: of a later one that is
** like one of these, only what differs is written (LIKE in stream/values.h).
**
** What programs pass around is mostly what they have passed before: the same
** object, with a field changed or none, or another one of its kind, with the
** same keys. So a table is compared with the one that was written whole at its
** address, else with the one of its kind: with the same first keys and as long
** a sequence. Of a kind the first one stays the model; where a later one is not
** like it, or costs much for the second time, that is a model by its address.
**
** A model is good for what comes behind the same CONTEXT, as a long string is:
** who begins to read later has neither.
**
** Of a short string the text is compared, by a word that stands for it: of up
** to seven bytes it is the text, of more it is that of another one once in 2^64
** times. Its address tells nothing, as the collector may have given that to
** another one, and its hash little: of a thousand names that differ in their
** digits mostly two have the same. Objects and long strings are like no other
** value.
**
** A session's, used in the hook on the traced thread. Plain memory, made when
** calls begin to be traced; without memory there are none.
*/
#ifndef TG_MODELS_H
#define TG_MODELS_H

#include "direct/value.h"
#include "state/closures.h"

#define TG_MODELS 128u          /* of each sort; a power of two */
#define TG_MODEL_MOST 16u       /* properties */

/* What is compared of keys and values: a word and a slot's tag. In the tag's
   place: */
#define TG_SEEN_NEVER 0xffu     /* it is like none */
#define TG_SEEN_OBJECT 0xfeu    /* so are objects, but where they come next */

typedef struct tg_ModelProperty {
  uint64_t key, value;
  uint8_t key_tag, value_tag;   /* of the sequence's no key is compared */
} tg_ModelProperty;

typedef struct tg_Model {
  const void *table;            /* its address; it may be gone by now */
  const uint8_t *head;          /* borrows from the chunk: its descriptor;
                                   NULL: there is no model here... */
  bool plain;                   /* ...since nothing would be won by it */
  uint32_t epoch;               /* the writer's */
  uint32_t limit;               /* of strings */
  uint32_t size;                /* bytes of its properties */
  uint32_t elements, count;     /* properties: of the sequence, and all... */
  uint32_t nevers;              /* ...and those that are like no other */
  bool objects;                 /* it has some that are objects */
  tg_ModelProperty properties[TG_MODEL_MOST];
} tg_Model;

typedef struct tg_Models {
  tg_Model places[TG_MODELS];   /* by address */
  tg_Model kinds[TG_MODELS];
} tg_Models;

/* All bits of a word change the upper half of such a product, and then the
   lower one. */
TG_INLINE uint64_t tg_seen_mix (uint64_t h, uint64_t word) {
  h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
  return h ^ h >> 32;
}

/* The word of a text that is longer than sixteen bytes, or empty. */
uint64_t tg_models_text (const char *s, size_t n);

/* The text and its length; a word before it is readable. */
TG_INLINE uint64_t tg_seen_text (tg_Slot v) {
  size_t n;
  const char *s = tg_direct_short(v.u.p, &n);
  uint64_t last = tg_read64(s, n - 8);
  if (tg_likely(n - 1 < 7))
    return last >> (64 - 8 * n) | (uint64_t)n << 56;
  if (tg_likely(n - 8 <= 8))
    return tg_seen_mix(tg_seen_mix(n, tg_read64(s, 0)), last);
  return tg_models_text(s, n);
}

TG_INLINE bool tg_seen_is_text (tg_Slot v) {
  return tg_slot_variant(v) == TG_TAG_SHORT;
}

TG_INLINE uint64_t tg_seen_word (tg_Slot v) {
  return tg_seen_is_text(v) ? tg_seen_text(v) : (uint64_t)v.u.i;
}

/* Whether 'v' is what was seen. A boolean is its tag, and has no word. */
TG_INLINE bool tg_seen_same (uint64_t word, uint8_t tag, tg_Slot v) {
  if (tag != (uint8_t)v.tag)
    return false;
  if (tg_seen_is_text(v))
    return tg_seen_text(v) == word;
  return tg_slot_type(v) == LUA_TBOOLEAN || (uint64_t)v.u.i == word;
}

TG_INLINE tg_Model *tg_models_place (tg_Models *m, const void *table) {
  return &m->places[tg_address_hash(table) % TG_MODELS];
}

/* 'kind' is a number that tables of one kind have in common. */
TG_INLINE tg_Model *tg_models_kind (tg_Models *m, uint64_t kind) {
  return &m->kinds[(kind * UINT64_C(0x9E3779B97F4A7C15) >> 40) % TG_MODELS];
}

/* Whether a value can be compared at all. */
TG_INLINE bool tg_seen_told (tg_Slot v) {
  int type = tg_slot_type(v);
  return type == LUA_TNUMBER || type == LUA_TBOOLEAN
         || tg_slot_variant(v) == TG_TAG_SHORT;
}

/* No bytes from 'from' up to 'to' are a model any more: they are written
   anew. */
void tg_models_forget (tg_Models *m, const uint8_t *from, const uint8_t *to);

#endif
