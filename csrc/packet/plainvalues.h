/*
** plainvalues.h - captured values as plain JSON, for viewers that show it as a
** tree: [1, "tea", {"class": "Bill", "items": [2, 3]}].
**
** A table is an array if it is a sequence, an object if not; a key that is no
** string is written as in a constructor, "[2.5]". What JSON has no value for is
** a string: functions, threads, 0/0, integers beyond 2^53, what is secret. A
** string that is no UTF-8 has escapes; "..." stands for what was cut, and for a
** table inside itself.
**
** Plain C; one thread for each tg_PlainValues. Bytes that are malformed end the
** text early, and it is valid all the same. Without memory 'failed' is set, and
** tables are empty.
*/
#ifndef TG_PLAINVALUES_H
#define TG_PLAINVALUES_H

#include "base/base.h"
#include "base/buf.h"
#include "options/selection.h"
#include "stream/functions.h"
#include "stream/values.h"

#define TG_PLAIN_DEPTH 32u    /* levels of tables that are written */

typedef struct tg_PlainValues {
  const tg_Functions *functions;  /* borrows */
  const tg_Selection *selection;  /* borrows: whom to keep secrets from */
  size_t most;                /* bytes of a list, or little more; then "..." */
  bool failed;                /* sticky */
  /* private */
  tg_Buf *out;                /* borrows */
  size_t end;                 /* of 'out': beyond it is too much */
  uint32_t *places;           /* owns; of descriptors in the bytes, by id */
  uint32_t count, capacity;
  uint32_t path[TG_PLAIN_DEPTH];  /* tables that the one being written is in */
  const uint8_t *bytes;
  tg_Buf room;                /* owns; for text that has to be escaped twice */
} tg_PlainValues;

/* Adds a list of values as an array. 'params' tells the parameters' names, for
   what is secret; NULL for results. */
void tg_plainvalues_list (tg_PlainValues *w, tg_Buf *out, tg_Slice values,
                          const tg_Function *params);

void tg_plainvalues_free (tg_PlainValues *w);

#endif
