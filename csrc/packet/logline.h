/*
** logline.h - one packet as a line for a person to read.
**
**     0.021  fib(2)                                        prog.lua:9
**     ^ margin  ^ guides and text                          ^ right side
**
** The line is put together in 'line', without a newline. On a terminal it fits:
** values are shown with tighter limits until it does, and then it is cut.
** Elsewhere the width only says where the right side goes.
**
** Plain C, one thread. Without memory a line is shorter than it should be.
*/
#ifndef TG_LOGLINE_H
#define TG_LOGLINE_H

#include "base/base.h"
#include "base/buf.h"
#include "options/selection.h"
#include "packet/lualiteral.h"
#include "reader/reader.h"

typedef struct tg_LogLine {
  const tg_Functions *functions;  /* borrows */
  const tg_Selection *selection;  /* borrows */
  bool color;
  bool times;           /* the margin, and how long calls took */
  bool terminal;        /* lines are to fit */
  size_t width;         /* columns; the owner sets it */
  tg_LuaLiteral literal;  /* owns */
  tg_Buf line, right;   /* own */
} tg_LogLine;

/* What the closing line says. */
typedef struct tg_LogTotals {
  uint64_t calls, throws, lost;
  uint32_t threads;
  uint64_t ns;          /* from the first packet to the last */
} tg_LogTotals;

/* 'selection' says what packets have; it stays where it is. */
void tg_logline_init (tg_LogLine *l, const tg_Functions *functions,
                      const tg_Selection *selection, bool color, bool times);
void tg_logline_free (tg_LogLine *l);         /* zeroed memory is fine */

/* The line of a call. */
void tg_logline_call (tg_LogLine *l, const tg_Packet *p);

/* The line of its end; 'opened_ns' is when it was entered, 'far' that its own
   line is not the one before: then this one says whose end it is. */
void tg_logline_result (tg_LogLine *l, const tg_Packet *p, uint64_t opened_ns,
                        bool far);

/* The line of a marker. */
void tg_logline_mark (tg_LogLine *l, const tg_Packet *p);

/* The closing line. */
void tg_logline_summary (tg_LogLine *l, const tg_LogTotals *totals);

/* Adds a line to 'out', newline included: those to come are of another
   coroutine. */
void tg_logline_switch (const tg_LogLine *l, tg_Buf *out, tg_ThreadId thread,
                        uint32_t depth);

/* The same: so many events are missing here. */
void tg_logline_missing (const tg_LogLine *l, tg_Buf *out, uint64_t events);

/* The same: so many calls were left out here. */
void tg_logline_unshown (const tg_LogLine *l, tg_Buf *out, uint64_t calls);

/* Adds "1 call", "2 calls". */
void tg_logline_count (tg_Buf *b, uint64_t n, const char *what);

#endif
