/*
** framer.h - events become frames that open and close.
**
** A throw, a yield or a resume is one event, and one packet for each frame that
** it closes or opens. So an event becomes a *job*, and a job gives at most one
** packet a turn:
**
**     event --apply--> job --turn--> packet, or nothing
**                          ^-------------|  until it is done
**
** Every event moves the shadow stacks, also those of frames that are not shown.
** Frames that the selection's members want are 'inside'; those of them that the
** filter leaves are 'shown'. So a filter hides frames and changes no others.
**
** Plain C, one thread: the reader's, which owns it.
*/
#ifndef TG_FRAMER_H
#define TG_FRAMER_H

#include "base/base.h"
#include "base/buf.h"
#include "options/selection.h"
#include "reader/functioncache.h"
#include "reader/stacks.h"
#include "stream/eventreader.h"

typedef enum tg_Why {
  TG_WHY_ENTER,         /* an enteredFrame */
  TG_WHY_RETURN, TG_WHY_EXCEPTION, TG_WHY_YIELD, TG_WHY_TERMINATED,
  /* moments, which belong to no frame; only if they were asked for: */
  TG_WHY_MARK,          /* a marker */
  TG_WHY_TICK           /* a sample was taken: what is open now ran up to now */
} tg_Why;

/* One enteredFrame or exitedFrame, or a moment. Slices borrow until the next
   call. */
typedef struct tg_Packet {
  tg_Why why;
  tg_FunctionId body;   /* what its coroutine begins with; 0 = not known
                           (entries only) */
  uint64_t sequence;    /* from 0, no holes; of a moment that of the frame's
                           packet to come */
  uint64_t time_ns;     /* since the tracing state was entered */
  tg_FunctionId function; /* of a tick what ran in no frame that is open: a call
                           between its events, or TG_FUNCTION_HIDDEN; 0: not
                           so */
  tg_ThreadId thread;
  uint32_t depth;       /* 0 = outermost traced frame; moments: the frames that
                           are open */
  bool tail;            /* exit by a tail call */
  bool sampled;         /* a frame that samples show: from the first of them to
                           the last, and nothing is known of its call */
  bool resumed;         /* entered again by a resume */
  bool apart;           /* of a tick: the hook's time is not in it */
  bool untraced;        /* of a tick: the program ran without the hook */
  bool chosen;          /* of a tick: calls are, by their length */
  uint8_t mark;         /* of a marker its sort (marks.h)... */
  uint8_t groups;       /* ...and how many groups of the console are open... */
  bool numbered;        /* ...and whether 'hits' tells of it */
  bool lacking;         /* of allocations: some before them are missing */
  uint64_t hits;        /* entries of this function so far (entries only); of a
                           marker its counter, or the ns that its timer ran; of
                           a tick the ns of processor time since the last */
  uint64_t hook_ns;     /* of a tick: time since the last one that ticks have
                           found to be the hook's, none of 'hits'... */
  uint64_t others_ns;   /* ...and that others had the processor for, if told */
  double leaning_ns;    /* of a tick, with 'apart': what ticks meet too much in
                           each call of a Lua function (LEANING, costs.h) */
  uint64_t spent_ns;    /* what tracing has taken so far, and is not in
                           'time_ns' */
  uint64_t entered_ns;  /* time of this frame's entry, its first one for a
                           frame entered again (exits only) */
  uint64_t opened_ns;   /* time of the enteredFrame this exit closes; of a tick
                           when the time begins that it is drawn for */
  tg_FunctionId caller; /* callsite's function, 0 = no Lua caller */
  uint32_t line;        /* callsite's line */
  tg_Slice values;      /* arguments, or what 'why' says; data NULL = none. Of
                           TG_MARK_ALLOCATIONS and HELD the body; of a tick the
                           lines that open frames have reached, an uint32_t
                           each, outermost first; 0 = not known */
  tg_Slice locals;      /* names and values, of the frame that calls or returns;
                           data NULL = not told */
  uint32_t locals_line; /* at which that frame is; 0 = not known */
  tg_FunctionId locals_of;  /* its function */
  tg_Pos locals_at;     /* the event that tells them */
} tg_Packet;

TG_INLINE bool tg_packet_is_moment (const tg_Packet *p) {
  return p->why >= TG_WHY_MARK;
}

typedef enum tg_JobKind {
  TG_JOB_NONE,
  TG_JOB_CLOSE,         /* 'left' innermost frames of the running coroutine */
  TG_JOB_TAIL,          /* one frame, then ENTER */
  TG_JOB_ENTER,         /* the frame that the event describes */
  TG_JOB_LEAVE,         /* all frames there are left, then the coroutine */
  TG_JOB_TERMINATE,     /* the same for the whole chain */
  TG_JOB_SUSPEND,       /* 'left' frames, which stay for the next resume */
  TG_JOB_REENTER,       /* frames from 'next' on */
  TG_JOB_SAMPLE,        /* frames that samples show (framesample.h) */
  TG_JOB_MARK,          /* none: the marker itself */
  TG_JOB_ALLOCATIONS,   /* none: what was allocated */
  TG_JOB_REOPEN         /* the same of the coroutine that has 'left' above it,
                           then of those */
} tg_JobKind;

typedef struct tg_Job {
  tg_JobKind kind;
  tg_Why why;           /* of the frames that it closes */
  uint32_t left;
  uint32_t next;
  bool tail;            /* they exit by a tail call */
  tg_Slice values;      /* of the frames that it closes; borrows */
} tg_Job;

/* An entry of a SAMPLE. */
typedef struct tg_SampleEntry {
  uint32_t function;    /* 0: the coroutine whose frames follow... */
  uint32_t line;        /* ...has this number */
  bool traced;          /* the stream has its CALL */
  bool passing;         /* it has not yet, or has its RETURN, too */
} tg_SampleEntry;

/* The latest sample, and what is left to be done for it. */
typedef struct tg_FrameSample {
  tg_SampleEntry *list; /* owns; all frames of the running chain */
  uint32_t n, capacity;
  uint32_t end;         /* entries of frames; then there may be 'passing' */
  uint32_t next;        /* the first entry that is not open */
  uint32_t close;       /* frames to be closed first... */
  tg_Stack *into;       /* ...then frames open in this coroutine (borrows;
                           NULL: none yet) */
  uint64_t open_ns;     /* when frames open */
  uint64_t now_ns;      /* when the sample was taken */
  uint64_t since_ns;    /* of the event before it */
  uint64_t used_ns;     /* processor time since the sample before... */
  uint64_t hook_ns;     /* ...and of the hook, if ticks are told apart... */
  uint64_t preempted_ns;  /* ...and of others, if that is told */
  bool apart;
  bool untraced;
  int64_t others_ns;    /* time that was others', and is not left out yet */
  uint64_t taken;       /* so far */
  uint32_t passing;     /* a function between two events; 0: none was */
  bool idle;            /* a sample of a wait, in a selection without 'wall' */
  uint32_t *lines;      /* owns; of the tick that was given last */
  uint32_t clines;
} tg_FrameSample;

/* Locals, which are told by an event of their own right before that of the
   packet which they are shown with. */
typedef struct tg_FrameLocals {
  tg_Buf values;        /* owns */
  uint32_t line;
  tg_FunctionId function;
  tg_Pos at;            /* the event */
  bool come;            /* they are there, for the call or return to come... */
  bool due;             /* ...which this is */
} tg_FrameLocals;

/* Whether the stacks are already as they will be after the next event: a
   CONTEXT that begins a chunk is written in the middle of an event (AHEAD in
   event.h). */
typedef enum tg_Ahead {
  TG_AHEAD_NOT,
  TG_AHEAD_UNSAID,      /* the CONTEXT does not say: an older recording */
  TG_AHEAD_SILENT,      /* yes; the count of silent frames is set back */
  TG_AHEAD_OPEN         /* yes, with all frames listed: the event is skipped */
} tg_Ahead;

typedef struct tg_Framer {
  const tg_Functions *functions;  /* borrows */
  tg_Selection selection; /* owns */
  tg_Status status;     /* sticky: no more packets, and why. The reader's too */
  bool started;         /* the stacks are those of the stream */
  bool marks;           /* markers are asked for, if the selection has them */
  bool windows;         /* so are, of all selections, windows (marks.h) */
  bool holds;           /* so are allocations that the selection leaves out */
  bool gap;             /* events are missing before the next allocations */
  bool ticks;           /* so are the moments at which samples were taken */
  bool lacks;           /* events are missing before the next CONTEXT */
  tg_Ahead ahead;       /* reading has just begun, and how */
  uint64_t sequence;    /* of the next packet */
  uint64_t passed;      /* packets so far without the filter */
  uint64_t now_ns;      /* of the latest event */
  uint64_t before_ns;   /* of the event before it */
  uint64_t begun_ns;    /* of the first; UINT64_MAX before it */
  tg_Stacks stacks;     /* owns */
  tg_Stack *running;    /* borrows; innermost of the chain, NULL if none */
  uint32_t inside;      /* frames of the whole chain that are so */
  uint32_t open;        /* the same of those shown */
  uint32_t roots;       /* calls that the selection waits for, open there */
  uint64_t calls;       /* of these so many have begun */
  bool heir;            /* the frame entered next takes a root's place */
  bool adrift;          /* reading has not begun where the trace did, so it is
                           not known which calls are open: all is shown */
  tg_FunctionCache known; /* owns */
  tg_Event event;       /* the latest; the reader decodes it into here... */
  tg_Pos at;            /* ...and says where it is */
  tg_FrameSample sample; /* owns */
  tg_FrameLocals locals; /* owns; if the selection has them */
  tg_Job job;           /* what is left to be done for it */
  uint64_t missing;     /* packets that the stream says it lacks, so far */
  /* Told of suspended coroutines that will not come back; NULL: nobody is. */
  void (*gone) (void *ud, tg_ThreadId thread);
  void *gone_ud;
} tg_Framer;

/* One without a selection. */
void tg_framer_init (tg_Framer *fr, const tg_Functions *functions);
void tg_framer_free (tg_Framer *fr);

/* From now on this selection, which is copied; false without memory, and it has
   the one before. */
bool tg_framer_select (tg_Framer *fr, const tg_Selection *selection);

/* Brings 'to', which has the selection of 'from' and nothing else, to where
   'from' is, between two events; kept arguments are not copied. False without
   memory. */
bool tg_framer_copy (tg_Framer *to, const tg_Framer *from);

/* Whether all packets of the latest event have been given. */
TG_INLINE bool tg_framer_idle (const tg_Framer *fr) {
  return fr->job.kind == TG_JOB_NONE;
}

/* Whether there will be no more packets: the framer has failed, or the
   selection has as many as it asked for. */
TG_INLINE bool tg_framer_over (const tg_Framer *fr) {
  return fr->status != TG_OK
         || (fr->selection.max_events > 0
             && fr->passed >= fr->selection.max_events);
}

/* ---- for its parts (framestart.h) ---- */

#define tg_no_values ((tg_Slice){.data = NULL})

/* The event is impossible, and so perhaps its time: the stream ends with the
   event before. */
TG_INLINE void tg_framer_fail (tg_Framer *fr, tg_Status status) {
  fr->status = status;
  fr->now_ns = fr->before_ns;
}

/* Whether only samples are looked at: calls in the stream are another
   trace's. */
TG_INLINE bool tg_framer_samples_only (const tg_Framer *fr) {
  return fr->selection.sample > 0 && !fr->selection.with_calls;
}

/* What the event asks for. */
TG_INLINE void tg_framer_job (tg_Framer *fr, tg_JobKind kind, tg_Why why,
                              uint32_t left, tg_Slice values) {
  fr->job.kind = kind;
  fr->job.why = why;
  fr->job.left = left;
  fr->job.next = 0;
  fr->job.tail = false;
  fr->job.values = values;
}

/* A coroutine goes above the running one; false if it is on the chain, or is
   NULL for want of memory. */
TG_INLINE bool tg_framer_chain (tg_Framer *fr, tg_Stack *s) {
  if (s == NULL || s->running) {
    tg_framer_fail(fr, s == NULL ? TG_ERR_MEMORY : TG_ERR_FORMAT);
    return false;
  }
  s->running = true;
  s->resumer = fr->running;
  fr->running = s;
  return true;
}

/* The running coroutine gives way to its resumer. */
TG_INLINE void tg_framer_unchain (tg_Framer *fr) {
  tg_assert(fr->running != NULL && fr->running->running);
  fr->running->running = false;
  fr->running = fr->running->resumer;
}

/* ---- */

/* 'event' has happened at this time: gives its first packet; false: there is
   none. The reader decodes the next event into 'event' only after the last
   packet of the event before. */
bool tg_framer_event (tg_Framer *fr, uint64_t now_ns, tg_Packet *out);

/* The next packet of that event; false if there is none. */
bool tg_framer_next (tg_Framer *fr, tg_Packet *out);

#endif
