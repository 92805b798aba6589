/*
** log.h - the live log: a stream's packets as rows of text for a person.
**
**     0.021  fib(2)                                        prog.lua:9
**     0.024  │ fib(1)                                      prog.lua:3
**     0.026  │ └→ 1                                            2.1 µs
**     0.031  └→ 1                                             10.4 µs
**
** One row per call and one per result. The call is at its depth, with where
** it was called from at the right; the result closes the guide below the
** call's name, with the time it took at the right.
**
** Called on the traced thread, inside the hook: never raises, never kills the
** program (no SIGPIPE), keeps errno. When a write fails the log falls silent
** and counts the rows that nobody will see.
*/
#ifndef TG_LOG_H
#define TG_LOG_H

#include "base/base.h"
#include "options/selection.h"
#include "stream/stream.h"

typedef struct tg_LogStyle {
  bool color;           /* ANSI colours */
  bool times;           /* the column of times, and durations */
  bool summary;         /* a closing line: calls, coroutines, time, losses */
  uint32_t width;       /* columns; 0 = the terminal's, 100 if it is none */
  bool fails;           /* ends with a write that fails, and leaves it to the
                           caller to tell */
  bool live;            /* a terminal gets no more than it can show: calls are
                           left out in whole stretches, and counted */
  bool corrected;       /* times are without what tracing has cost */
  bool whole;           /* all of the stream is there: which calls are short
                           is known beforehand */
  uint64_t limit;       /* events shown: calls, results, markers; those after
                           them are counted. 0 = all */
} tg_LogStyle;

typedef struct tg_Log tg_Log;

/* What became of the rows so far. */
typedef struct tg_LogState {
  uint64_t calls;       /* calls shown, or left out of a live view */
  uint64_t rows;        /* rows written */
  uint64_t lost;        /* rows that could not be written */
  int error;            /* errno of the write that failed, 0 = none */
  tg_Status status;     /* why there were no more packets; TG_OK = the end */
  uint64_t damage;      /* the reader's tg_reader_damage */
} tg_LogState;

/* Whether colour suits what is behind 'fd': a terminal that does not refuse
   it (NO_COLOR set, or TERM=dumb). For "auto". */
bool tg_log_wants_color (int fd);

/*
** A log of 'stream' from 'from' (the position of a CONTEXT) on, of what
** 'selection' (copied) asks for. It writes to a duplicate of 'fd', which the
** caller may close. NULL without memory.
*/
tg_Log *tg_log_new (tg_Stream *stream, tg_Pos from,
                    const tg_Selection *selection, const tg_LogStyle *style,
                    int fd);

/* Writes what is new before position 'end'; of a live view also what was left
   out, which is told when there is room again. */
void tg_log_pump (tg_Log *l, tg_Pos end);

/* The last words: what was held back is dropped, the summary written. Only the
   first time. */
void tg_log_finish (tg_Log *l);

/* In a forked child: the file is the parent's from now on. */
void tg_log_mute (tg_Log *l);

void tg_log_state (const tg_Log *l, tg_LogState *state);

void tg_log_free (tg_Log *l);                 /* NULL is fine */

#endif
