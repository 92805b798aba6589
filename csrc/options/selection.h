/*
** selection.h - what several traces want together, and what of it is to be
** read.
**
** The hook records the union of what the active traces ask for; an actor's
** client sees the union of what its traces ask for; a single trace is a
** selection of one. A thing is wanted if any member wants it; a limit is the
** widest; a name is redacted only if every member redacts it.
**
** Whoever reads a trace may look at a part of it only: a filter narrows the
** selection. A filter never adds anything: it only hides a part of what is
** given without it. So a limit is the smaller of both, and a name that either
** redacts is redacted.
*/
#ifndef TG_SELECTION_H
#define TG_SELECTION_H

#include <stdatomic.h>

#include "base/base.h"
#include "options/namememo.h"
#include "options/options.h"
#include "stream/functions.h"

/* Which times a reading gives. */
typedef enum tg_Times {
  TG_TIMES_USUAL,       /* nobody has said: as is usual for what reads */
  TG_TIMES_RAW,         /* as recorded */
  TG_TIMES_TRUE         /* without what tracing has cost (trueclock.h) */
} tg_Times;

/* A part of a trace. */
typedef struct tg_Filter {
  tg_Options options;   /* owns; without what only recording knows: buffer,
                           overflow, max_events, duration */
  tg_ThreadId thread;   /* 0 = every one */
  tg_Times times;       /* 'from' and 'to' are of that kind too */
  uint64_t from_ns;     /* frames entered before are hidden... */
  uint64_t to_ns;       /* ...and nothing is after it; UINT64_MAX = the end */
} tg_Filter;

/* How many questions patterns could not answer, since that took too long
   (patterns.h): a function is then not matched, and a name is secret. */
typedef _Atomic uint64_t tg_Undecided;

typedef struct tg_Selection {
  tg_Options *list;     /* owns, with all inside */
  size_t count;
  tg_Filter *filter;    /* owns; NULL = none */
  tg_NameMemo *memo;    /* owns; of names, if something is redacted, or NULL */
  tg_Undecided *undecided; /* borrows: counts; of its copies too. Or NULL */
  /* merged, kept up by tg_selection_add and tg_selection_narrow */
  uint32_t types;
  bool with_calls;           /* some member wants them */
  uint32_t sample;           /* the most samples a second; 0: none */
  bool wall;                 /* some member wants them by the clock */
  tg_Limits limits;
  uint32_t plain;            /* strings of up to so many bytes are written
                                without a further look: the limit, or 0 if
                                something is redacted */
  uint32_t max_depth;        /* TG_NOLIMIT if any member has none; the filter
                                has its own */
  uint64_t min_duration_ns;  /* the smallest, unless the filter's is larger */
  uint64_t max_events;       /* the largest; 0 if any member has no limit */
  uint64_t memory_every;     /* the smallest of members with allocations */
  bool redacts;              /* every member redacts something, or the filter */
  bool awaits;               /* every member has 'on' */
  uint64_t calls;            /* of these so many; 0 = no limit, or several
                                members, whose own are not told apart */
} tg_Selection;

/* Everything, in full. */
void tg_filter_init (tg_Filter *f);
void tg_filter_free (tg_Filter *f);           /* zeroed memory is fine */

/* Zeroed memory is an empty selection: it wants nothing. */
bool tg_selection_add (tg_Selection *d, const tg_Options *o); /* copies; false
                                                       without memory */
bool tg_selection_copy (tg_Selection *to, const tg_Selection *from);
void tg_selection_clear (tg_Selection *d);

/* Nothing of a call but what every packet has. */
void tg_selection_bare (tg_Selection *d);

/* Only this part of it, once all members are there. Copies; false without
   memory. */
bool tg_selection_narrow (tg_Selection *d, const tg_Filter *f);

/* Whether both want the same functions and hide the same names. Not all that do
   are found out: it compares member by member. */
bool tg_selection_alike (const tg_Selection *a, const tg_Selection *b);

/* Whether some pattern of the list finds the function's name or its source;
   'undecided' may be NULL. */
bool tg_selection_names (const tg_Patterns *filter, const tg_Function *f,
                         tg_Undecided *undecided);

/* Whether calls of this function are to be seen by some member... */
bool tg_selection_wants (const tg_Selection *d, const tg_Function *f);

/* The same of frames of this function that samples show. */
bool tg_selection_samples (const tg_Selection *d, const tg_Function *f);

/* ...and by whoever reads. */
bool tg_selection_passes (const tg_Selection *d, const tg_Function *f);

/* Whether its calls are what some member waits for. */
bool tg_selection_awaits (const tg_Selection *d, const tg_Function *f);

/* Whether the value of a parameter or key of this name is to be kept secret. */
bool tg_selection_secret (const tg_Selection *d, const char *name);

/* The same for a name that may hold zeros. One of more bytes than these is not
   read to its end: it is secret if anything is. */
#define TG_NAME_READ 1024u

bool tg_selection_hides (const tg_Selection *d, const char *name, size_t size);

#endif
