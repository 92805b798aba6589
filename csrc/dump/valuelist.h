/*
** valuelist.h - values of another process as a list of the stream's bytes
** (stream/values.h), from which packet/ makes grips and an object pool.
**
** The same rules as for what the hook captures: breadth first, what is in a
** sequence before the rest, a metatable one level below its table, and what is
** hidden is neither listed nor found again in other strings. No metamethod
** runs: nothing of the target does. Bounded in time and bytes. Plain C.
*/
#ifndef TG_VALUELIST_H
#define TG_VALUELIST_H

#include "dump/definitions.h"
#include "options/selection.h"
#include "stream/values.h"
#include "text/secrets.h"

typedef struct tg_Met {
  tg_SeenValue value;
  uint32_t level;
} tg_Met;

typedef struct tg_ValueLister {
  tg_Described *definitions;    /* borrows, as the next */
  const tg_Selection *selection;
  tg_Secrets secrets;   /* owns; what was hidden */
  uint64_t shared;      /* of the state whose values are listed */
  tg_IntMap ids;        /* owns; of objects, by address */
  tg_Met *met;          /* owns; by id */
  uint32_t count, capacity;
  tg_Buf text;          /* owns; scratch */
} tg_ValueLister;

void tg_valuelist_free (tg_ValueLister *l);

/* Appends the list of 'n' values to 'to'; those that 'hidden' says are not
   shown. */
void tg_valuelist_put (tg_ValueLister *l, const tg_SeenValue *values,
                       const bool *hidden, uint32_t n, tg_Buf *to);

#endif
