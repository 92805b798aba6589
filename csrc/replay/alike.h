/*
** alike.h - whether two runs of a program say the same of a function, or in a
** list of values.
**
** The runs have numbers of their own for functions and objects, and tables list
** their fields in any order: so functions are compared by name and place,
** fields by key, objects by what is listed of them and by where they appear. A
** path counts from the directory in which the program ran, if it is in there.
** Addresses in strings ("table: 0x55d0c8a7f2b0") are no difference: no two runs
** have the same. Of what was cut, what there is is compared.
**
** Plain C, one thread. Memory: of the largest list so far. What memory is
** refused for counts as alike, and 'failed' is set.
*/
#ifndef TG_ALIKE_H
#define TG_ALIKE_H

#include "base/base.h"
#include "base/intmap.h"
#include "stream/functions.h"
#include "stream/stream.h"
#include "stream/values.h"

/* A table's field. */
typedef struct tg_AlikeField {
  tg_Grip key, value;
} tg_AlikeField;

/* One of the two runs. */
typedef struct tg_AlikeRun {
  const tg_Stream *stream;    /* borrows */
  /* private: the list that is compared */
  tg_ValueCursor *objects;    /* owns; where each is described, by id */
  uint32_t count, capacity;
  tg_AlikeField *fields;      /* owns; of the table that is compared, by key */
  uint32_t nfields, cfields;
} tg_AlikeRun;

typedef struct tg_Alike {
  tg_AlikeRun a, b;
  tg_IntMap functions;        /* owns; pairs that were found to be the same */
  uint32_t *partners;         /* owns; 1 + id in b of each object of a... */
  uint32_t *owners;           /* owns; ...and the other way round */
  uint32_t *waiting;          /* owns; ids in a of those not compared yet */
  uint32_t nwaiting, cwaiting, cpartners, cowners;
  bool failed;                /* sticky */
} tg_Alike;                   /* zeroed but for the streams */

bool tg_alike_functions (tg_Alike *x, tg_FunctionId a, tg_FunctionId b);

/* Lists that are absent are alike. */
bool tg_alike_values (tg_Alike *x, tg_Slice a, tg_Slice b);

/* Texts but for the addresses in them. */
bool tg_alike_texts (const char *a, size_t na, const char *b, size_t nb);

void tg_alike_free (tg_Alike *x);

#endif
