/*
** dump.h - what all coroutines of a target do at one moment: their frames, with
** functions, lines and, on request, values.
**
** The moment: everything is looked at once while the process runs, so that the
** pages are known; then the thread that runs Lua stands still, or waits anyway,
** while these pages are read anew and looked at again. So a stop lasts as long
** as a few calls of the system.
**
**     which exist ─> look ─> halt ─> refresh ─> resume ─> look ─> document
**
** Bounded: so many coroutines of a state, frames of a coroutine and of all of
** them, values of a frame, and words read. Plain C, one thread.
*/
#ifndef TG_DUMP_H
#define TG_DUMP_H

#include "dump/valuelist.h"
#include "outside/halt.h"
#include "outside/walk.h"

typedef struct tg_DumpOptions {
  bool locals;          /* arguments and variables */
  bool upvalues;
  bool all;             /* coroutines that are over, and more of them and of
                           their frames */
  bool no_stop;
  const tg_Selection *selection;  /* borrows: limits, and what is hidden */
} tg_DumpOptions;

/* What values of a frame are. */
typedef enum tg_VariableKind {
  TG_VARIABLE_ARGUMENT, TG_VARIABLE_LOCAL, TG_VARIABLE_UPVALUE
} tg_VariableKind;

typedef struct tg_Variable {
  uint32_t name;        /* its place in the frame's names */
  tg_VariableKind kind;
  bool unknown;         /* its value is in registers of compiled code */
} tg_Variable;

/* Slots of a stack, from 'start' up to 'end'. */
typedef struct tg_DumpSlots {
  uint64_t start, end;
} tg_DumpSlots;

typedef struct tg_DumpFrame {
  tg_SeenFrame seen;
  tg_FunctionId function;
  uint32_t line;        /* 0: not known */
  tg_Variable *variables; /* owns */
  uint32_t nvariables;
  tg_Buf names;         /* owns; zero-terminated */
  tg_Buf values;        /* owns; a list (stream/values.h) */
} tg_DumpFrame;

typedef enum tg_DumpStatus {
  TG_DUMP_RUNNING, TG_DUMP_NORMAL, TG_DUMP_IDLE, TG_DUMP_SUSPENDED,
  TG_DUMP_DEAD
} tg_DumpStatus;

typedef struct tg_DumpThread {
  tg_SeenState state;
  tg_DumpStatus status;
  uint32_t id;          /* 1: the main thread */
  bool unsure;          /* the collector may have freed it */
  tg_DumpFrame *frames; /* owns; innermost first */
  uint32_t nframes;
  tg_WalkEnd end;
  tg_SeenAbove above;   /* the innermost frame: compiled code begins */
  tg_FunctionId above_function; /* in this function, 0: not known, */
  uint32_t above_line;  /* and on this line */
} tg_DumpThread;

typedef struct tg_DumpState {
  uint64_t shared;
  int tid;              /* of the system's thread that runs it; 0: not known */
  bool waits;           /* it waits in a system call */
  tg_DumpThread *threads; /* owns; the running one first */
  uint32_t nthreads, capacity;
  uint32_t over;        /* coroutines that are left out, for they are over, */
  uint32_t omitted;     /* or there are too many */
  uint32_t unsure;      /* coroutines that the collector may have freed, whether
                           left out or not */
} tg_DumpState;

typedef struct tg_Dump {
  tg_Target *target;    /* borrows */
  tg_DumpOptions options;
  tg_Described definitions;   /* owns */
  tg_ValueLister lister;        /* owns */
  tg_DumpState *states; /* owns */
  uint32_t nstates;
  uint64_t stopped_ns;  /* the longest that a thread stood still */
  bool steady;          /* nothing ran while it was looked at */
  bool failed;          /* no memory for all of it */
  uint64_t work;        /* words that may still be read, */
  uint32_t frames;      /* and frames that may still be told */
  tg_DumpSlots compiled;        /* those that compiled code of the state in hand
                                   keeps in registers; the stack has others */
} tg_Dump;

/* Looks at the target; false, and 'words' says why: it has gone, or changed.
   Whatever is answered, tg_dump_free. */
bool tg_dump_take (tg_Dump *d, tg_Target *t, const tg_DumpOptions *options,
                   tg_Buf *words);

void tg_dump_free (tg_Dump *d);

const char *tg_dump_status (tg_DumpStatus status);

#endif
