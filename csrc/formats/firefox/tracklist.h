/*
** tracklist.h - the tracks of a document: made as coroutines are met, and found
** by them.
**
** Each has its address as long as the list is there. Without memory NULL, and
** the tracks' status says so. Plain C, one thread.
*/
#ifndef TG_TRACKLIST_H
#define TG_TRACKLIST_H

#include "formats/firefox/tracks.h"

/* The track of a thread that has none yet, from 'ns' on. */
tg_Track *tg_tracklist_add (tg_Tracks *t, tg_ThreadId thread, uint64_t ns);

/* The track of a thread, which is added if it has none. */
tg_Track *tg_tracklist_find (tg_Tracks *t, tg_ThreadId thread, uint64_t ns);

TG_INLINE tg_Track *tg_tracklist_of (tg_Tracks *t, tg_ThreadId thread,
                                     uint64_t ns) {
  if (tg_likely(t->latest != NULL && t->latest_thread == thread))
    return t->latest;
  return tg_tracklist_find(t, thread, ns);
}

#endif
