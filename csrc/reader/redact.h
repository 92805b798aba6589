/*
** redact.h - lists of values without what is to be kept secret: by the names of
** parameters and keys, and strings that hold what was hidden so before. What
** the hook hides where it writes (capture/veil.h), of what was written without.
**
** In place: a grip that is hidden becomes one of the same size (values.h), so
** nothing moves, neither in a list nor in a file of them. An object that only
** hidden values lead to is emptied the same way; its strings are learned.
**
** Used by readers, on copies, and by the recorder's 'scrub', on blocks, with
** the lists of a stream in their order. Plain C, one thread. Bytes may be
** malformed: what cannot be read is left. Without memory all is hidden.
*/
#ifndef TG_REDACT_H
#define TG_REDACT_H

#include "base/buf.h"
#include "reader/listsecrets.h"
#include "text/secrets.h"

/* What a list is of. */
typedef enum tg_RedactKind {
  TG_REDACT_ARGUMENTS,      /* of a call */
  TG_REDACT_RESULTS,        /* of a return */
  TG_REDACT_LOCALS,         /* of a frame: names and values */
  TG_REDACT_OTHER
} tg_RedactKind;

typedef struct tg_Redact {
  tg_SecretNames names;
  tg_Secrets secrets;               /* owns */
  uint64_t hidden;                  /* grips that it has hidden so far */
  /* private */
  tg_RedactGiven given;             /* by the call that is innermost */
  tg_Buf objects;                   /* owns; marks of one list's */
} tg_Redact;

/*
** Learns what is to be hidden in the list and, if 'hides', hides it. 'function'
** is the one that is called, of arguments; else 0. Bytes before the list, from
** 'origin' on, may be referred to; NULL: none are.
*/
void tg_redact_list (tg_Redact *r, tg_RedactKind kind, tg_FunctionId function,
                     tg_Slice values, bool hides);

/* The parameters of 'function' get what the list at 'values', which was one of
   arguments, has from its value number 'passed' on: of a coroutine that began
   after its resume was seen. */
void tg_redact_passed (tg_Redact *r, tg_FunctionId function, uint32_t passed,
                       tg_Slice values, bool hides);

void tg_redact_free (tg_Redact *r);         /* zeroed memory is fine */

#endif
