/*
** closures.h - which definition a function that is called has: the look-up of
** every call.
**
** Found by an address, which may be used again for something else. So a hit is
** checked against what was seen there: the function's source, lines and
** parameters, or which C function it is.
**
** By the public API the address is the closure's. Where the interpreter's
** memory is read (direct/), it is the prototype's, which all closures of a
** function share; a C function is found by its closure still, since those of
** one C function may have different names.
*/
#ifndef TG_CLOSURES_H
#define TG_CLOSURES_H

#include "direct/frame.h"

/* A function that was called: 48 bytes. */
typedef struct tg_Closure {
  const void *address;      /* NULL: free */
  const void *source;       /* its source string, or its C function, or
                               TG_SHARES_LINE */
  uint64_t tail;            /* tells texts of sources apart (below); of a
                               function that shares its line its shape too */
  uint32_t line, last_line; /* together, as a prototype has them */
  uint32_t what;            /* id and TG_FR_* flags */
  uint16_t nparams;         /* fixed parameters of a Lua function */
  uint16_t params;          /* from memory: the same, and whether vararg */
} tg_Closure;

/* Instead of a source: its source, lines and parameters do not tell the
   function apart from another one; or it has no source. */
#define TG_SHARES_LINE ((const void *)1)

typedef struct tg_Closures {
  tg_Closure *slots;        /* owns; hash by address. Addresses of one hash go
                               up from there, at the end into some slots
                               beyond the mask, the last of which is free */
  uint32_t mask, used;      /* a power of two less 1; addresses */
} tg_Closures;

bool tg_closures_init (tg_Closures *k);
void tg_closures_free (tg_Closures *k);
void tg_closures_clear (tg_Closures *k);

/* The slot to put what is at 'address' into: cleared, but for the address.
   When there are very many, all are forgotten. */
tg_Closure *tg_closures_add (tg_Closures *k, const void *address);

TG_INLINE uint32_t tg_address_hash (const void *p) {
  return (uint32_t)(((uint64_t)(uintptr_t)p * UINT64_C(0x9E3779B97F4A7C15))
                    >> 40);
}

/* The slot of an address: its own, or a free one. */
TG_INLINE tg_Closure *tg_closures_find (const tg_Closures *k,
                                        const void *address) {
  tg_Closure *c = &k->slots[tg_address_hash(address) & k->mask];
  while (tg_unlikely(c->address != address) && c->address != NULL)
    c++;
  return c;
}

/* Eight bytes near the end of a source, to tell strings apart by the public
   API. */
TG_INLINE uint64_t tg_source_tail (const char *s, size_t n) {
  uint64_t tail = 0;
  if (tg_likely(n >= 8))
    __builtin_memcpy(&tail, s + n - 8, 8);
  else
    __builtin_memcpy(&tail, s, n);
  return tail;
}

/*
** From memory: a short string's length and hash, which is of its whole text
** and seeded by the state. Of a long one they may not be known: its text is
** looked at as well. One word has them both, and the object's tag; between
** them are the collector's bits.
*/
_Static_assert(TG_AT_STRING_SHORT == TG_AT_OBJECT_TAG + 3
               && TG_AT_STRING_HASH == TG_AT_OBJECT_TAG + 4, "one word");

#define TG_MARK_LONG UINT64_C(0x10)     /* it is a long string */

TG_INLINE uint64_t tg_source_mark (const void *source) {
  const uint8_t kept[8] = {TG_TAG_VARIANT, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff};
  return tg_read64(source, TG_AT_OBJECT_TAG) & tg_read64(kept, 0);
}

/* Whether the Lua function of that prototype is still the function of 'c', by
   the mark of its source. Never true of a function that shares its line. */
TG_INLINE bool tg_closure_matches (const tg_Closure *c, const void *proto,
                                   uint64_t ignored) {
  const void *source = tg_read_pointer(proto, TG_AT_PROTO_SOURCE);
  uint64_t lines;
  memcpy(&lines, &c->line, sizeof lines);
  return c->source == source
         && lines == tg_read64(proto, TG_AT_PROTO_LINE)
         && c->params == tg_read16(proto, TG_AT_PROTO_PARAMS)
         && c->tail == (tg_source_mark(source) & ~ignored);
}

/* The same at once: of one with a long source, whose text remains to be
   compared, it says no. */
TG_INLINE bool tg_closure_is_proto (const tg_Closure *c, const void *proto) {
  return tg_closure_matches(c, proto, 0);
}

/* The C function of a function's slot; NULL for a Lua function. */
TG_INLINE const void *tg_slot_cfunction (tg_Slot f) {
  switch (tg_slot_variant(f)) {
    case TG_TAG_LIGHTC: return f.u.p;
    case TG_TAG_C: return tg_function_proto(f);
    default: return NULL;
  }
}

/* What a function is found by, from memory. */
TG_INLINE const void *tg_slot_key (tg_Slot f) {
  return (tg_slot_variant(f) == TG_TAG_LUA) ? tg_function_proto(f) : f.u.p;
}

#endif
