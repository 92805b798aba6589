/*
** speedscopeframes.h - the table of frames of a speedscope document, which all
** its profiles refer to by number: remarks first, then functions, and the
** frames "(in ...)" of coroutines that are waited for, in order of appearance.
**
** Plain C, one thread. Zeroed memory and the init make an empty one.
*/
#ifndef TG_SPEEDSCOPEFRAMES_H
#define TG_SPEEDSCOPEFRAMES_H

#include "export/export.h"
#include "export/threadlist.h"
#include "profile/funclabels.h"

/* Frames that are no functions. */
enum { TG_NOTE_ERROR, TG_NOTE_UNFINISHED, TG_NOTE_DEEPER, TG_NNOTES };

typedef struct tg_SpeedscopeFrames {
  tg_FuncLabels labels;       /* owns, as all here */
  uint32_t *list;             /* label or coroutine's number, times two; plus 1
                                 for a coroutine that is waited for */
  uint32_t count, capacity;
  uint32_t *of[2];            /* by label, by number: 0, or place in the list
                                 + 1 */
  uint32_t cof[2];
} tg_SpeedscopeFrames;

void tg_speedscopeframes_init (tg_SpeedscopeFrames *f,
                               const tg_Functions *functions);
void tg_speedscopeframes_free (tg_SpeedscopeFrames *f);

/* The frame of a function, or of waiting for the coroutine that has this place
   in the list; TG_INTMAP_NONE without memory. */
uint32_t tg_speedscopeframes_call (tg_SpeedscopeFrames *f, tg_FunctionId id);
uint32_t tg_speedscopeframes_wait (tg_SpeedscopeFrames *f, uint32_t other);

/* The table, as one more member of the document; memory that was refused shows
   in the output's text. */
void tg_speedscopeframes_put (const tg_SpeedscopeFrames *f, const tg_Export *x,
                              const tg_ThreadList *threads);

#endif
