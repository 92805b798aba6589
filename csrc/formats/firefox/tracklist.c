/*
** tracklist.c - see tracklist.h. Called by tracks.c, on its thread.
*/
#include "formats/firefox/tracklist.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "export/boxnames.h"
#include "export/ticks.h"

bool tg_tracks_init (tg_Tracks *t, tg_Export *x, tg_StackTables *all) {
  memset(t, 0, sizeof *t);
  t->x = x;
  t->stacks = all;
  t->ticks = tg_ticks_only(x);
  tg_spool_init(&t->spool);
  bool ok = tg_callmarks_init(&t->marks, x, &t->spool)
            && tg_stackweights_init(&t->weights, x);
  tg_marktext_init(&t->texts, &t->marks);
  return ok;
}

/* Stack tables are the document's, one for all tracks, or each track's own. */
static void free_track (tg_Tracks *t, tg_Track *track) {
  tg_column_free(&track->samples);
  tg_column_free(&track->values);
  tg_column_free(&track->allocations);
  tg_callmarks_free_track(&track->marks);
  tg_notes_free(&track->notes);
  tg_intern_free(&track->shapes);
  tg_free(track->frames);
  if (t->stacks == NULL && track->stacks != NULL) {
    tg_stacktables_free(track->stacks);
    tg_free(track->stacks);
  }
  tg_free(track);
}

void tg_tracks_free (tg_Tracks *t) {
  for (uint32_t i = 0; i < t->count; i++)
    free_track(t, t->list[i]);
  tg_free(t->list);
  tg_intmap_free(&t->by_thread);
  tg_heapcounter_free(&t->heap);
  tg_stackweights_free(&t->weights);
  tg_marktext_free(&t->texts);
  tg_callmarks_free(&t->marks);
  tg_spool_free(&t->spool);
}

/* Singly allocated: others keep a track's address while the list grows. */
static tg_Track *new_track (tg_Tracks *t, tg_ThreadId thread, uint64_t ns) {
  if (!tg_grow(&t->list, &t->capacity, t->count + 1, sizeof *t->list))
    return NULL;
  tg_Track *track = tg_calloc(1, sizeof *track);
  if (track == NULL)
    return NULL;
  track->thread = thread;
  track->from_ns = track->to_ns = track->span_ns = ns;
  track->tag = TG_TAG_NONE;
  track->stacks = t->stacks != NULL ? t->stacks
                                    : tg_calloc(1, sizeof *track->stacks);
  if (track->stacks == NULL) {
    tg_free(track);
    return NULL;
  }
  return t->list[t->count++] = track;
}

/* Viewers draw a row for each track, so a program with ten thousand coroutines
   gets no ten thousand of them. */
tg_Track *tg_tracklist_add (tg_Tracks *t, tg_ThreadId thread, uint64_t ns) {
  uint32_t place = t->count;
  if (place >= TG_TRACKS_MAX) {
    place = TG_TRACKS_MAX - 1;
    t->list[place]->shared = true;
  }
  else if (new_track(t, thread, ns) == NULL)
    return NULL;
  return tg_intmap_set(&t->by_thread, thread, place) ? t->list[place] : NULL;
}

/* The latest one is remembered: packets of one coroutine come in a row. */
tg_Track *tg_tracklist_find (tg_Tracks *t, tg_ThreadId thread, uint64_t ns) {
  uint32_t place = tg_intmap_find(&t->by_thread, thread);
  tg_Track *track = place != TG_INTMAP_NONE ? t->list[place]
                                           : tg_tracklist_add(t, thread, ns);
  if (track == NULL) {
    t->status = TG_ERR_MEMORY;
    return NULL;
  }
  t->latest_thread = thread;
  return t->latest = track;
}

/* The first track is main's alone where no other coroutine was seen. */
void tg_tracks_name (const tg_Tracks *t, const tg_Track *track, tg_Buf *out) {
  if (t->count > 1 && track == t->list[0])
    tg_buf_addstr(out, "whole program");
  else
    tg_boxname_thread(t->x, track->shared ? 0 : track->thread,
                          track->first, out);
}
