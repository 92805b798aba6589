/*
** weakness.h - which tables are weak, and the pairs of those with weak keys: an
** ephemeron's value is alive as long as its key and its table both are (manual
** 2.5.4).
**
** Known before any edge is made, since an edge of a pair stands with its key.
** Plain C.
*/
#ifndef TG_WEAKNESS_H
#define TG_WEAKNESS_H

#include "base/intmap.h"
#include "heap/naming.h"

enum { TG_WEAK_KEYS = 1u, TG_WEAK_VALUES = 2u };

typedef struct tg_Pair {
  uint32_t key, table, value;   /* objects */
  uint32_t name;        /* of both edges to the value */
  uint32_t next;        /* the next pair of the key; TG_NO_PAIR */
} tg_Pair;

#define TG_NO_PAIR UINT32_MAX

typedef struct tg_Weakness {
  tg_IntMap modes;      /* owns, as all here; number of a metatable -> mode */
  tg_IntMap keys;       /* number of a key -> its latest pair */
  tg_Pair *pairs;
  uint32_t count, capacity;
  uint32_t first, end;  /* the names of pairs' edges, in a row */
} tg_Weakness;

/* False without memory. */
bool tg_weakness_find (tg_Weakness *w, tg_Naming *n);

/* TG_WEAK_* of a table. */
unsigned tg_weakness_mode (tg_Weakness *w, tg_Heap *h, uint32_t table);

/* A pair of a key, from which 'next' leads to the others; TG_NO_PAIR. */
uint32_t tg_weakness_pairs (const tg_Weakness *w, uint32_t key);

/* Whether an edge is one of a pair's. */
TG_INLINE bool tg_weakness_is_pair (const tg_Weakness *w, unsigned type,
                                    uint32_t name) {
  return type == TG_EDGE_INTERNAL && name >= w->first && name < w->end;
}

void tg_weakness_free (tg_Weakness *w);

#endif
