/*
** listsecrets.h - which values of a list are secret before it is read: those of
** parameters whose names are to be hidden, and those that the key beside them
** names (rawset and its like).
**
** What follows from a call alone is for its results: rawget(t, "pass") gives
** a secret. So who reads lists in their order keeps what the innermost call has
** said ('given') until its results come.
**
** Used by redact.h. Plain C, nothing is allocated; the lists may be malformed.
*/
#ifndef TG_LISTSECRETS_H
#define TG_LISTSECRETS_H

#include "options/selection.h"
#include "stream/functions.h"
#include "stream/values.h"

/* Of which results a key has said that they are to be hidden. */
typedef enum tg_RedactGiven {
  TG_GIVEN_NOTHING, TG_GIVEN_ALL, TG_GIVEN_AFTER_KEY
} tg_RedactGiven;

/* By what names are judged. */
typedef struct tg_SecretNames {
  const tg_Selection *selection;    /* borrows: which names hide */
  const tg_Functions *functions;    /* borrows */
} tg_SecretNames;

#define TG_SECRETS_NAMED 256u   /* parameters: more than a function can have */

typedef struct tg_ListSecrets {
  uint32_t passed;              /* the value that the first parameter gets */
  uint64_t named[TG_SECRETS_NAMED / 64];    /* of the parameters */
  uint32_t hidden;              /* 1 + a value that is secret; 0: none is */
  bool all;
} tg_ListSecrets;               /* zeroed memory: nothing is secret */

/* Whether a key names a secret: one that is cut, and cannot be read to its end,
   may. */
bool tg_listsecrets_key (const tg_SecretNames *names, const tg_Grip *key);

/* What 'function' is called with. Gives which of its results are secret. */
tg_RedactGiven tg_listsecrets_arguments (tg_ListSecrets *x,
                                         const tg_SecretNames *names,
                                         tg_FunctionId function,
                                         tg_Slice values);

/* The results of a call that has said so. */
void tg_listsecrets_results (tg_ListSecrets *x, const tg_SecretNames *names,
                             tg_RedactGiven given, tg_Slice values);

/* A list whose values from number 'passed' on are parameters of 'function'. */
void tg_listsecrets_passed (tg_ListSecrets *x, const tg_SecretNames *names,
                            tg_FunctionId function, uint32_t passed);

/* Whether value 'i' of the list is secret. */
TG_INLINE bool tg_listsecrets_have (const tg_ListSecrets *x, uint64_t i) {
  if (x->all || x->hidden == i + 1)
    return true;
  if (i < x->passed || i - x->passed >= TG_SECRETS_NAMED)
    return false;
  i -= x->passed;
  return (x->named[i / 64] >> i % 64 & 1) != 0;
}

#endif
