/*
** logline.h - a line for a person to read: where things stand on it, and how it
** is made to fit. What is said of packets is in packetline.h; the lines of no
** packet, between calls and at the end, are here.
**
**     0.021  │ fib(2)                                      prog.lua:9
**     ^ margin ^ guides, text                              ^ right side
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

/* 'selection' (borrowed) says which fields packets have. */
void tg_logline_init (tg_LogLine *l, const tg_Functions *functions,
                      const tg_Selection *selection, bool color, bool times);
void tg_logline_free (tg_LogLine *l);         /* zeroed memory is fine */

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

/* The same at the end: so many events more there are than were asked for. */
void tg_logline_more (const tg_LogLine *l, tg_Buf *out, uint64_t events);

/* Adds "1 call", "2 calls". */
void tg_logline_count (tg_Buf *b, uint64_t n, const char *what);

/* ---- for those who make lines ---- */

#define TG_LOGLINE_FOLD 20u   /* levels drawn; then indentation starts anew */

/* Makes a line without its right side. It may be called again, with other
   limits of values. */
typedef void tg_LogLineMaker (tg_LogLine *l, const tg_Packet *p,
                              const tg_Function *f, bool far);

/* Has a line made, again with tighter limits as long as it is too wide for the
   terminal, and sets 'right' at its right edge. */
void tg_logline_fit (tg_LogLine *l, const tg_Packet *p, const tg_Function *f,
                     bool far, tg_LogLineMaker *make);

/* Whether packets have this, and lines show it. */
TG_INLINE bool tg_logline_wants (const tg_LogLine *l, uint32_t type) {
  return (l->selection->types & type) != 0;
}

/* Whether lines begin with a time. Then they also end with how long a call
   took. */
TG_INLINE bool tg_logline_timed (const tg_LogLine *l) {
  return l->times && tg_logline_wants(l, TG_TYPE_TIME);
}

/* The definition of a function, never NULL: the bytes of a recording may name
   one that nobody has defined, of which nothing is said. */
const tg_Function *tg_logline_function (const tg_LogLine *l, tg_FunctionId id);

/* From here on in this colour, one of terminal.h, if there are any at all; and
   a text in one. */
void tg_logline_color (tg_LogLine *l, const char *code);
void tg_logline_reset (tg_LogLine *l);
void tg_logline_colored (tg_LogLine *l, const char *code, const char *text);

/* The time, if lines have one. */
void tg_logline_margin (tg_LogLine *l, uint64_t time_ns);

/* A bar for each level. Beyond TG_LOGLINE_FOLD levels indentation starts again
   at the left, behind a number. */
void tg_logline_guides (const tg_LogLine *l, tg_Buf *out, uint32_t depth);

/* "file:line" of a function, or of a line in it; nothing for one without a
   place. */
void tg_logline_place (const tg_LogLine *l, tg_Buf *out, tg_FunctionId id,
                       uint32_t line);

/* A time span in the unit that suits it, with one decimal below a hundred. */
void tg_logline_span (tg_Buf *out, uint64_t ns);

#endif
