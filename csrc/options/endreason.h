/*
** endreason.h - how traces end, and by what causes they lose events.
*/
#ifndef TG_ENDREASON_H
#define TG_ENDREASON_H

#include "base/base.h"
#include "stream/lacks.h"

/* Why events of a trace are missing. A recording has them in this order. */
#define TG_LOSSES(X) \
  X(OVERFLOW, "overflow")   /* its buffer was full */ \
  X(RING, "ring")           /* overwritten by later ones */ \
  X(MEMORY, "memory")       /* an allocation was refused */ \
  X(DISK, "disk")           /* its file could not grow */ \
  X(HOOK, "hook")           /* the program had taken the hook away */ \
  X(DROPPED, "dropped")     /* samples: taking them took half of the time */ \
  X(FUNCTIONS, "functions") /* of loaded texts, in one definition together */ \
  X(PATTERNS, "patterns")   /* names that patterns took too long over */

enum {
#define X(id, name) TG_LOSS_##id,
  TG_LOSSES(X)
#undef X
  TG_NLOSSES
};

/* How a trace came to its end. Numbers of a recording: never change them. */
typedef enum tg_End {
  TG_END_NOT = 0,       /* it has not */
  TG_END_STOPPED = 1,   /* by request, or with the program */
  TG_END_OVERFLOW = 2,  /* the following by itself: */
  TG_END_MEMORY = 3,
  TG_END_EVENTS = 4,    /* maxEvents */
  TG_END_DURATION = 5,
  TG_END_DISK = 6,
  TG_END_CALLS = 7,     /* calls, of what 'on' says */
  TG_END_SIZE = 8       /* maxSize: its file is as large as it may be */
} tg_End;

/* Its name where a user meets it; NULL of the first two. */
const char *tg_endreason_name (tg_End end);

/* The name of a cause, and what it was in words. */
const char *tg_endreason_loss (int loss);
const char *tg_endreason_words (int loss);

/* The loss that it is when a stream lacks something. */
int tg_endreason_lack (tg_Lack lack);

/* What it counts: "event", or "sample". */
const char *tg_endreason_unit (int loss);

#endif
