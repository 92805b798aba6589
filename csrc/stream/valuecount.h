/*
** valuecount.h - what is dear about a list of values, counted in its bytes.
**
** Readers that give true times (costs.h) want that of every event, and mostly
** nothing else of its values: so this goes through the bytes alone, in a third
** of the time that a cursor takes (values.h), which reads what they say.
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

void tg_valuecount (tg_ValueCount *count, tg_Slice values);

#endif
