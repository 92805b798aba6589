/*
** session.h - what tracegrip keeps for one Lua state: its active traces, and
** while there are any, the machinery of tracing.
**
** One session per state (every coroutine of it shares it), a userdata in the
** registry. Idle: no hook, no stream, no records. The first trace makes them,
** the last one unmakes them; a stopped trace keeps the stream alive to be read.
** All of this runs on the thread that runs the Lua state.
*/
#ifndef TG_SESSION_H
#define TG_SESSION_H

#include <stdatomic.h>

#include "lx.h"
#include "define.h"
#include "demand.h"
#include "pool.h"
#include "reader.h"
#include "recorder.h"
#include "tap.h"
#include "thread.h"

/* Why events of a trace are missing. */
#define TG_LOSSES(X) \
  X(OVERFLOW, "overflow")   /* its buffer was full */ \
  X(RING, "ring")           /* overwritten by later ones */ \
  X(MEMORY, "memory")       /* an allocation was refused */

enum {
#define X(id, name) TG_LOSS_##id,
  TG_LOSSES(X)
#undef X
  TG_NLOSSES
};

/* How a trace came to its end. */
typedef enum tg_End {
  TG_END_NOT,           /* it has not */
  TG_END_STOPPED,       /* by request */
  TG_END_OVERFLOW,      /* the following by itself: */
  TG_END_MEMORY,
  TG_END_EVENTS,        /* maxEvents */
  TG_END_DURATION
} tg_End;

typedef enum tg_Origin {
  TG_ORIGIN_API, TG_ORIGIN_CONSOLE, TG_ORIGIN_FEED, TG_ORIGIN_LOG
} tg_Origin;

/* The class that a metatable gives, known during one capture. */
typedef struct tg_Class {
  const void *meta;
  uint64_t capture;
  const char *name;       /* borrows from the metatable; NULL = none */
  size_t size;
} tg_Class;

#define TG_CLASSES 16

struct tg_Session;
struct tg_Log;

typedef struct tg_Trace {
  struct tg_Trace *next;      /* the one started before it, still active */
  struct tg_Session *session; /* NULL once it is not active any more */
  tg_Stream *stream;          /* pins */
  tg_Options options;         /* owns */
  char *name;                 /* owns */
  tg_Origin origin;
  tg_End end;                 /* why it records no more */
  tg_Cursor hold;             /* its beginning; holds nothing if consumed */
  const tg_Reader *consumer;  /* borrows: who reads it as it goes, or NULL */
  tg_Tap *tap;                /* pins: read by another thread, or NULL */
  struct tg_Log *log;         /* owns: its live log, or NULL */
  tg_Pos start, stop;         /* its part of the stream; stop once it ended */
  uint64_t packets_start, packets_end;  /* counts of the session there */
  uint64_t unseen_start;      /* events lost to all before it started */
  uint64_t packets_stop;      /* count at which it may have all it wants */
  tg_Reader *counter;         /* owns; counts what it has, or NULL */
  uint64_t counted;
  uint32_t epoch_start;       /* frames of earlier epochs are older */
  uint32_t older_end;         /* such frames open when it ended */
  uint64_t ticks_start;
  uint32_t depth_start;       /* visible frames open when it started */
  bool consumed;              /* somebody reads it as it goes */
  bool anchored;              /* kept alive by the state while active */
  uint64_t lost[TG_NLOSSES];  /* packets */
} tg_Trace;

typedef struct tg_Session {
  lua_State *main;            /* the state's main thread */
  const void *registry;       /* its registry: tells states apart */
  tg_Trace *traces;           /* active ones, most recent first (borrows) */
  uint32_t names;             /* generated so far */
  struct tg_Feed *feeds;      /* open ones (borrows) */
  /* from here on only while tracing */
  bool tracing;
  bool exiting;               /* os.exit has been called */
  bool terminated;            /* the stream has had its last event */
  const void *_Atomic home;   /* the thread that runs the state (hook.c) */
  bool recording;             /* some trace still records */
  tg_Recorder recorder;
  tg_Demand demand;           /* union of the traces that record */
  tg_Threads threads;
  tg_Thread *current;         /* top of the running chain */
  tg_Catalog known;
  tg_Pool pool;
  tg_Class classes[TG_CLASSES];
  uint64_t captures;          /* lists captured so far */
  uint32_t depth;             /* visible frames of the running chain */
  uint32_t depth_limit;       /* frames from there on are hidden */
  bool attention;             /* something is to be done after the event */
  bool logging;               /* some trace has a live log */
  bool stale;                 /* what is recorded must be worked out anew */
  uint64_t unseen;            /* events lost for want of memory */
  struct tg_Session *next;    /* list of all sessions of the process */
} tg_Session;

/* The session of a state, NULL if it has none. */            /* [-0, +0, -] */
tg_Session *tg_session_find (lua_State *L);

/* The same, made if there is none; may raise. */             /* [-0, +0, m] */
tg_Session *tg_session_get (lua_State *L);

/*
** Starts 't', whose name, options, origin and 'consumed' are set; a consumed
** trace holds nothing of the stream. TG_ERR_MEMORY, and nothing has changed.
*/
tg_Status tg_session_start (tg_Session *s, lua_State *L, tg_Trace *t);

/* Stops an active trace; with the last one tracing ends. */
void tg_session_stop (tg_Session *s, lua_State *L, tg_Trace *t);

/*
** From now on 'tap', which begins where the trace began or later, reads the
** active trace 't' and nobody else does. Where the trace ends the tap is told.
*/
void tg_session_tap (tg_Session *s, tg_Trace *t, tg_Tap *tap);

/* The active trace of that name; the most recent one for NULL. */
tg_Trace *tg_session_trace (const tg_Session *s, const char *name);

/* All open frames exit "terminated": the state or the process ends. */
void tg_session_terminate (tg_Session *s);

/* In a forked child: live logs end, readers on other threads are gone. */
void tg_session_forked (tg_Session *s);

/* Inside the hook, after an event: live logs, traces that ended. */
void tg_session_attend (tg_Session *s, lua_State *L);

/* Losses of a trace so far. */
void tg_trace_losses (const tg_Trace *t, uint64_t lost[TG_NLOSSES]);

/* A reader of a trace's packets as its own options show them; NULL without
   memory. */
tg_Reader *tg_trace_reader (const tg_Trace *t);

/* Where a trace's part of the stream ends, or has come to. */
tg_Pos tg_trace_stop_pos (const tg_Trace *t);

#endif
