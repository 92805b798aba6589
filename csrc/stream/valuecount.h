/*
** valuecount.h - what is dear about a list of values, counted in its bytes.
**
** Readers that give true times (costs.h) want that of every event, and mostly
** nothing else of its values: so this goes through the bytes alone, in a third
** of the time that a cursor takes (values.h), which reads what they say.
**
** A table is mostly told by one that others were told by, too: the properties
** of these are counted once, as long as they are known to be the same bytes.
**
** Plain C, any thread. Bytes that are bad end the counting: what was counted
** before them stays.
*/
#ifndef TG_VALUECOUNT_H
#define TG_VALUECOUNT_H

#include "base/base.h"

typedef struct tg_ValueCount {
  uint64_t strings;       /* not short: of these the hook looked for an earlier
                             one; beside those in tables like others */
  uint64_t functions;
  uint64_t objects;       /* all others: tables, threads, userdata */
  uint64_t properties;    /* of tables that stand by themselves */
  uint64_t alike;         /* of tables that are told by another one */
} tg_ValueCount;

#define TG_COUNTED_MODELS 128u

/* One that others were told by. */
typedef struct tg_CountedModel {
  uint32_t at;            /* bytes behind the origin, from 1 on; 0: none */
  uint32_t properties;
} tg_CountedModel;

/* Of one chunk, whose bytes all values refer to (values.h): zeros at first, and
   for the next chunk. */
typedef struct tg_CountedModels {
  tg_CountedModel list[TG_COUNTED_MODELS];
} tg_CountedModels;

void tg_valuecount (tg_ValueCount *count, tg_Slice values,
                    tg_CountedModels *models);

#endif
