/*
** tracks.h - packets on tracks, with stacks and markers: what both formats of
** the Firefox Profiler are made of.
**
** The first track is the main coroutine's, and that of the whole program:
** other coroutines stand on it above whoever resumed them. Each of those has
** a track of its own besides.
**
** A track's time is cut into spans: from each call and return to the next one.
** Each span has a stack; none while the coroutine is suspended or has ended.
** On a coroutine's own track the time in which another one runs above it is in
** a frame on top ("away"), so that what functions took themselves, added up
** over those tracks, is the time that it was.
**
** A frame has the line that it has reached: where it makes its next call, or
** its last one if no more comes, or where the function begins.
**
** A tick of samples (ticks.h) cuts the spans of all tracks that run, and tells
** the lines of their frames. Of a recording of samples alone these are all
** spans there are, from tick to tick: those that frames cut are none, and what
** is behind the last tick has no stack. Beside calls ticks say what stacks
** weigh (stackweights.h).
**
** Calls become markers too, the longest of them (callmarks.h). What a track
** gathers goes through a spool.
**
** Plain C, one thread. Memory: tracks, open frames, distinct stacks.
*/
#ifndef TG_TRACKS_H
#define TG_TRACKS_H

#include "export/export.h"
#include "formats/firefox/heapcounter.h"
#include "formats/firefox/marktext.h"
#include "formats/firefox/notes.h"
#include "formats/firefox/stackweights.h"
#include "text/spool.h"

#define TG_TRACKS_MAX 1000u   /* coroutines beyond share the last track */
#define TG_TRACKS_WHOLE 1u    /* the coroutine that has the first one */

/* An open frame of a track. */
typedef struct tg_TrackFrame {
  tg_FunctionId function;     /* 0: control is in another track */
  uint32_t func;
  uint32_t line;
  uint32_t prefix;            /* the stack below it */
} tg_TrackFrame;

typedef struct tg_Track {
  tg_ThreadId thread;         /* the first of them, if it is shared */
  tg_FunctionId first;        /* the first function seen in it */
  bool shared;
  bool ended;                 /* its latest exit was for good */
  uint64_t from_ns;           /* its first packet */
  uint64_t to_ns;             /* its latest one */
  tg_StackTables *stacks;     /* owns, unless all have the same */
  tg_TrackFrame *frames;      /* owns; open ones */
  uint32_t nframes, cframes;
  /* the span that is open */
  uint64_t span_ns;           /* since when */
  uint32_t tag;               /* what the writer said of its call */
  /* what is for the writer to fill and to write */
  tg_Column samples, values;
  tg_Column allocations;
  tg_Intern shapes;
  uint64_t sample_ns;         /* of its latest sample, or the next one */
  uint32_t sample_stack, sample_tag;
  bool idle;
  tg_TrackMarks marks;        /* owns; of its calls */
  tg_Notes notes;             /* owns; markers that are of none */
} tg_Track;

#define TG_TAG_NONE UINT32_MAX

typedef struct tg_Tracks tg_Tracks;

struct tg_Tracks {
  tg_Export *x;               /* borrows */
  /* for the writer to set; a span has ended, a call begins ('tag' of its first
     span; may be NULL) */
  void (*span) (tg_Tracks *t, tg_Track *track, uint64_t from_ns,
                uint64_t to_ns, uint32_t stack);
  uint32_t (*call) (tg_Tracks *t, tg_Track *track, const tg_Packet *p);
  /* in the open span, in 'stack', this was allocated; may be NULL */
  void (*allocate) (tg_Tracks *t, tg_Track *track, const tg_Packet *p,
                    uint32_t stack);
  void *writer;
  bool marked;                /* calls are noted as markers */
  bool ticks;                 /* there is nothing but ticks... */
  bool ticking;               /* ...and now is one */
  /* what came of it */
  tg_Spool spool;             /* owns */
  tg_Track **list;            /* owns; the first is that of the whole */
  uint32_t count, capacity;
  tg_CallMarks marks;         /* owns; if 'marked' */
  tg_HeapCounter heap;        /* owns */
  bool console;               /* the program's console has said something */
  uint32_t whole;             /* stack of the first track's latest span */
  tg_StackWeights weights;    /* owns; of the first track's stacks */
  tg_MarkText texts;          /* owns; for the writer */
  /* private part */
  tg_StackTables *stacks;     /* borrows; NULL: each track has its own */
  tg_IntMap by_thread;
  tg_Track *latest;           /* the one that was asked for last... */
  tg_ThreadId latest_thread;  /* ...for this thread */
  tg_Status status;
};

/* Tracks with all stacks in one table, or a table each. False without memory;
   to be freed all the same. */
bool tg_tracks_init (tg_Tracks *t, tg_Export *x, tg_StackTables *all);
void tg_tracks_free (tg_Tracks *t);

/* Reads all packets. */
tg_Status tg_tracks_run (tg_Tracks *t);

/* What the whole program's stack is in a span of a track with 'stack', for what
   the span weighs: that of the first track. While another coroutine runs above
   it, the span is many of those; then TG_STACK_NONE. */
uint32_t tg_tracks_whole (const tg_Tracks *t, const tg_Track *track,
                          uint32_t stack);

/* What became of a document of theirs: 'written' says that nothing has failed.
   With TG_ERR_IO errno says why. */
tg_Status tg_tracks_outcome (const tg_Tracks *t, bool written);

/* "whole program", or "main" if there is no other coroutine; "f (p.lua:1),
   coroutine 2"; "other coroutines". */
void tg_tracks_name (const tg_Tracks *t, const tg_Track *track, tg_Buf *out);

#endif
