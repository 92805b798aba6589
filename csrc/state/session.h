/*
** session.h - the tracer, as a part of its host (part.h): its active traces,
** and while there are any, the machinery of tracing.
**
** One session per state, which every coroutine of the state shares: a userdata
** with its host. Idle: no hook, no stream, no records. The first trace makes
** them, the last one unmakes them (machinery.h); a stopped trace keeps the
** stream alive to be read. All of this is used on the thread that runs the Lua
** state.
*/
#ifndef TG_SESSION_H
#define TG_SESSION_H

#include <stdatomic.h>

#include "base/alloclines.h"
#include "base/allocmeter.h"
#include "binding/lx.h"
#include "host/part.h"
#include "options/endreason.h"
#include "options/selection.h"
#include "reader/follower.h"
#include "reader/reader.h"
#include "recording/filewriter.h"
#include "state/catalog.h"
#include "state/coroutine.h"
#include "state/labels.h"
#include "state/objectpool.h"
#include "stream/costs.h"
#include "stream/writer.h"
#include "text/secrets.h"

/* Who started a trace. The program does not see the last three: they have names
   of their own world and are never the most recent one. */
typedef enum tg_Origin {
  TG_ORIGIN_API, TG_ORIGIN_CONSOLE, TG_ORIGIN_FEED, TG_ORIGIN_LOG,
  TG_ORIGIN_FILE, TG_ORIGIN_WATCH
} tg_Origin;

/* The class that a metatable gives, known during one capture. */
typedef struct tg_Class {
  const void *meta;
  uint64_t capture;
  const char *name;       /* borrows from the metatable; NULL = none */
  size_t size;
} tg_Class;

#define TG_CLASSES 16

#define TG_PACKETS_UNKNOWN UINT64_MAX

struct tg_Log;          /* packet/log.h */
struct tg_Observer;     /* observer.h */
struct tg_Session;

/* A call that a trace waits for is open: its root (awaited.h). */
typedef struct tg_Root {
  const tg_Coroutine *t;      /* borrows */
  uint32_t at;                /* index of its frame */
} tg_Root;

/* What is recorded: of which functions, and how deep. */
typedef struct tg_Wanted {
  tg_Selection selection;     /* owns */
  uint32_t depth_limit;       /* frames of a coroutine, TG_NOLIMIT: any */
} tg_Wanted;

/* The calls that a trace waits for (awaited.h). */
typedef struct tg_AwaitedCalls {
  uint64_t calls;             /* so many have begun... */
  tg_Root *roots;             /* owns; ...and these are open */
  uint32_t n, capacity;
} tg_AwaitedCalls;

/* What only a recording's trace has. */
typedef struct tg_RecordedTrace {
  tg_Program *program;        /* pins; NULL: it is a trace of this process */
  uint64_t damage;            /* the byte of the file from which on it could not
                                 be read; 0 = none met */
} tg_RecordedTrace;

/*
** A trace has one of three forms, which it never goes back from:
**   active     it has a session, which records for it, or counts what it lacks
**   ended      it has a stream and its place there; 'lost' is final
**   recorded   the same, but its stream is a file's ('recorded')
** One that has not begun, or was forgotten, has neither.
*/
typedef struct tg_Trace {
  struct tg_Trace *next;      /* the one started before it, still active */
  struct tg_Session *session; /* NULL once it is not active any more */
  tg_Stream *stream;          /* pins */
  tg_Options options;         /* owns */
  char *name;                 /* owns */
  tg_Origin origin;
  tg_End end;                 /* why it records no more */
  tg_Cursor hold;             /* its beginning; holds nothing if consumed */
  tg_Cursor makers;           /* the same of a client's, for whoever asks who
                                 made what is alive (tracelimits.h) */
  const tg_Reader *consumer;  /* borrows: reads it as it goes, or NULL */
  tg_Follower *follower;      /* pins: read by another thread, or NULL */
  struct tg_Log *log;         /* owns: its live log, or NULL */
  tg_FilePlan *plan;          /* owns: the file it is recorded on, or NULL */
  tg_FileWriter *file;        /* owns: that file, until the losses are final */
  uint32_t noted;             /* its number on the session's file; 0 = none */
  tg_Pos start, stop;         /* its part of the stream; stop once it ended */
  uint64_t packets_start, packets_end;  /* counts of the session there;
                                           TG_PACKETS_UNKNOWN of one cut off */
  tg_LacksFrom before;
  uint64_t packets_stop;      /* look at max_events again at this count */
  tg_Reader *counter;         /* owns; counts what it has, or NULL */
  uint64_t counted;
  uint32_t epoch_start;       /* frames of earlier epochs are older */
  uint32_t older_end;         /* such frames open when it ended */
  uint64_t ticks_start, ticks_end;  /* when; end once it ended */
  bool accompanied;           /* others were active beside it */
  bool consumed;              /* somebody reads it as it goes */
  bool clockless;             /* it could not begin: there is no ticker */
  bool anchored;              /* kept alive by the state (anchor.h) */
  tg_AwaitedCalls awaited;
  uint64_t lost[TG_NLOSSES];  /* packets */
  tg_RecordedTrace recorded;
  tg_Undecided undecided;     /* by patterns, in readings of it */
} tg_Trace;

/* Who is told what the program says by the console, beside traces. */
typedef struct tg_ConsoleListener {
  /* The values of the method are all that is on the stack, as a browser shows
     them: "label: 3" of a counter. Called where any C function may call Lua. */
  void (*hear) (struct tg_Session *s, lua_State *L, const char *method);
  tg_Clock clock;             /* of timers while nothing is traced */
} tg_ConsoleListener;

/* Which values of a list are to be hidden, by their place in it. A function has
   no more parameters than there are bits (MAXVARS in lparser.c). */
#define TG_VEIL_BITS 256

typedef struct tg_Veil {
  uint64_t bits[TG_VEIL_BITS / 64];
} tg_Veil;

TG_INLINE bool tg_veil_has (const tg_Veil *v, int i) {
  return v != NULL && i < TG_VEIL_BITS && (v->bits[i / 64] >> i % 64 & 1) != 0;
}

/*
** What the tracer is about. Whether the coroutines have its hook is another
** matter ('hooked'): it has none where samples alone are taken, and gives them
** back when the last trace has been stopped.
**
**               a trace    os.exit     the end is   the last trace
**               begins     is called   written      is stopped
**   idle        tracing    -           -            -
**   tracing     -          exiting     terminated   idle
**   exiting     -          -           terminated   idle
**   terminated  -          -           -            idle
*/
typedef enum tg_Phase {
  TG_PHASE_IDLE,          /* no stream, no records */
  TG_PHASE_TRACING,
  TG_PHASE_EXITING,       /* after this event all frames exit */
  TG_PHASE_TERMINATED     /* the stream has had its last event */
} tg_Phase;

/* The stream on a file (session/tracefile.h). */
typedef struct tg_OnFile {
  tg_Trace *trace;            /* that records on it, or NULL */
  tg_Trace *orphan;           /* in a forked child: is to have a new file */
  bool torn;                  /* the file did not take a definition: its part
                                 of the stream ends here, before the event: */
  tg_Pos torn_at;
  uint64_t torn_packets;      /* the count there */
} tg_OnFile;

/* Time in which the hook is away (chain/window.h). */
typedef enum tg_WindowState {
  TG_WINDOW_SHUT,         /* calls are seen, */
  TG_WINDOW_OPEN,         /* are not, */
  TG_WINDOW_BEHIND        /* are again, and what went unseen is to be found out
                             with the next event */
} tg_WindowState;

typedef struct tg_Window {
  _Atomic int state;            /* tg_WindowState; a handler changes it */
  bool used;                    /* there has been one */
  bool told;                    /* the stream knows how long it was */
  uint64_t opened, shut;        /* ticks */
} tg_Window;

/* Calls that traces wait for (awaited.h). */
typedef struct tg_Awaiting {
  bool any;                   /* some trace waits */
  bool within;                /* one of these calls is open */
  tg_Wanted aside;            /* the selection not in force: that outside of
                                 awaited calls while one is open, else inside */
  tg_Closures closures;       /* owns: functions, by that selection */
} tg_Awaiting;

/* Functions that allocate and are not defined yet. */
typedef struct tg_StrangeMakers {
  bool waits;                 /* for a hook */
  uint32_t calls;             /* for one, since the last sample */
} tg_StrangeMakers;

/* What is counted of the heap. */
typedef struct tg_MemoryCounts {
  tg_AllocMeter *meter;       /* what is allocated (session/allocations.h);
                                 NULL: nobody asks */
  tg_AllocMeter *spare;       /* of an earlier trace, or NULL */
  struct tg_Identities *spare_identities;   /* the same */
  tg_AllocLines lines;        /* owns; where (session/allocplace.h): */
  tg_StrangeMakers strangers; /* (sample/newmakers.h) */
  const uint32_t *table;      /* behind the instruction that has made the latest
                                 table, if one has */
  const lua_State *gone;      /* the coroutine that ran last, if it was
                                 collected since */
  uint64_t heap_due;          /* ticks; when the heap's size is to be noted
                                 (session/heap.h); UINT64_MAX: never */
} tg_MemoryCounts;

/* What values are captured with (capture/). */
typedef struct tg_Capturing {
  tg_ObjectPool pool;
  tg_Secrets secrets;         /* owns; what was hidden by its name */
  tg_Veil veil;               /* of the call or return that is looked at */
  tg_Class classes[TG_CLASSES];
  uint64_t lists;             /* captured so far */
  struct tg_Models *models;   /* owns; models.h; NULL: none yet */
  struct tg_WordTable *words;     /* owns; words.h; the same */
  bool whole;                 /* no table is told by another one */
  struct tg_Identities *identities;   /* numbers of tables
                                 (session/identity.h); NULL: nobody asks */
} tg_Capturing;

/* Rare work of the hook, which is no part of an event's usual cost. */
typedef struct tg_RareWork {
  uint64_t ticks;             /* since the last OVERHEAD */
  uint64_t until;             /* when the last of it was done */
} tg_RareWork;

/* What is to be done after an event. */
typedef struct tg_After {
  bool attention;             /* anything of what follows, or of observers */
  bool logging;               /* some trace has a live log */
  bool stale;                 /* what is recorded must be worked out anew */
  bool snapshot;              /* one is to be taken... */
  _Atomic bool button;        /* ...as a signal asks for one (snapshot.h) */
  uint64_t waited;            /* ticks in which the hook has waited for a
                                 reader, to be told */
} tg_After;

typedef struct tg_Session {
  tg_Host host;               /* first: the registry finds both by it */
  tg_Part part;
  tg_Trace *traces;           /* active ones, most recent first (borrows) */
  uint32_t names;             /* generated so far */
  struct tg_Observer *observers; /* who is told (observer.h; borrows) */
  uint64_t observers_added;   /* so far */
  tg_ConsoleListener *listener; /* borrows: of the console, or NULL */
  tg_Costs costs;             /* of the stream to come, as measured... */
  uint64_t costs_ns;          /* ...then, by the monotonic clock; 0: not yet */
  tg_Phase phase;             /* from here on only while it is not idle */
  _Atomic bool hooked;        /* all coroutines have the tracer's hook */
  _Atomic bool sampled;       /* a sample is due with the next event */
  bool recording;             /* some trace still records */
  tg_OnFile file;
  tg_Awaiting await;
  tg_Window window;
  tg_MemoryCounts memory;     /* 'spare' for longer */
  tg_After after;
  tg_Writer writer;
  tg_Selection selection;     /* union of the traces that record */
  tg_Coroutines threads;
  tg_Coroutine *current;      /* top of the running chain */
  tg_Catalog known;
  tg_Labels labels;           /* owns; the console's timers and counters; also
                                 while there is a listener */
  tg_Capturing capture;
  tg_RareWork rare;
  uint64_t hidden_at;         /* ticks of the last event of a hidden frame */
  uint64_t next_stop;         /* ticks; the writer's 'ticks_stop', but for what
                                 is allocated */
  uint32_t depth_limit;       /* of a coroutine's own visible frames: those
                                 above so many are hidden (wanted.h) */
  bool hooking;               /* the program's hook has been called and has not
                                 returned: after an event, that it failed */
  /* Called in the hook, after an event, when 'attention' is set: live logs,
     snapshots, traces that ended. The session may not be tracing any more
     then. */
  void (*attend) (struct tg_Session *s, lua_State *L);
  /* Called by one of our own functions, or in the hook, while the window is not
     shut: what runs is found out, and calls are seen from now on. 'L' runs,
     whose innermost 'skip' frames have not begun yet. */
  void (*end_window) (struct tg_Session *s, lua_State *L, int skip,
                      uint64_t now);
} tg_Session;

/* The session of a host, which is a member of it; NULL of NULL. */
TG_INLINE tg_Session *tg_session_of (const tg_Host *h) {
  return (tg_Session *)(uintptr_t)h;
}

/* The session of a state, NULL if it has none. */            /* [-0, +0, -] */
TG_INLINE tg_Session *tg_session_find (lua_State *L) {
  return tg_session_of(tg_host_find(L));
}

/* Whether some trace is active. */
TG_INLINE bool tg_session_traces (const tg_Session *s) {
  return s->phase != TG_PHASE_IDLE;
}

/* Whether the program knows nothing of a trace. */
TG_INLINE bool tg_trace_hidden (const tg_Trace *t) {
  return t->origin == TG_ORIGIN_LOG || t->origin == TG_ORIGIN_FILE
         || t->origin == TG_ORIGIN_WATCH;
}

/* The conditions of the short way have changed: the next event is looked at in
   full. */
TG_INLINE void tg_session_review (tg_Session *s) {
  if (s->current != NULL)
    s->current->quick = 0;
}

/* Allocations from here on count as the program's or as ours, as the frame on
   top of 't', which runs. */
TG_INLINE void tg_session_attribute (tg_Session *s, const tg_Coroutine *t) {
  if (tg_likely(s->memory.meter == NULL))
    return;
  const tg_Frame *top = (t != NULL) ? tg_coroutine_top(t) : NULL;
  s->memory.meter->own = top != NULL && (top->what & TG_FR_OWN) != 0;
}

/* Something is to be done after the next event. */
TG_INLINE void tg_session_request_attention (tg_Session *s) {
  s->after.attention = true;
  tg_session_review(s);
}

/*
** Since 'from' the hook has done rare work. Readers take the usual cost of an
** event out of times; the cost of rare work they are told by an OVERHEAD event,
** before the next event that is later. Not at once: the hook may find out now
** about an event with the time of the last one, and time must not go back.
*/
TG_INLINE void tg_session_overhead (tg_Session *s, uint64_t from) {
  uint64_t now = tg_clock_ticks();
  uint64_t since = from > s->rare.until ? from : s->rare.until;
  if (now <= since)
    return;
  s->rare.ticks += now - since;
  s->rare.until = now;
  if (now < s->next_stop)
    s->next_stop = now;
  if (now < s->writer.ticks_stop)
    s->writer.ticks_stop = now;
}

/* What follows depends on what runs, or changes what is seen: no window is open
   after this. */
TG_INLINE void tg_session_end_window (tg_Session *s, lua_State *L) {
  if (tg_unlikely(s->window.state != TG_WINDOW_SHUT))
    s->end_window(s, L, 0, tg_clock_ticks());
}

/* What Lua allocates from here on is ours, or not: what it was is given
   back. */
TG_INLINE bool tg_session_own (tg_Session *s, bool own) {
  tg_AllocMeter *m = s->memory.meter;
  bool before = m != NULL && m->own;
  if (m != NULL)
    m->own = own;
  return before;
}

/* Gives a coroutine its place in the list. Lua may allocate for that, which
   does not count as the program's. */                        /* [-0, +0, -] */
TG_INLINE void tg_session_enlist (tg_Session *s, tg_Coroutine *t,
                                  lua_State *L) {
  bool own = tg_session_own(s, true);
  tg_coroutine_enlist(&s->threads, t, L);
  tg_session_own(s, own);
}

#endif
