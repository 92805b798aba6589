/*
** logrow.h - a row for a person to read: where things stand on it, and how it
** is made to fit. What is said of packets is in packetrow.h; the rows of no
** packet, between calls and at the end, are here.
**
**     0.021  │ fib(2)                                      prog.lua:9
**     ^ margin ^ guides, text                              ^ right side
**
** The row is put together in 'text', without a newline. On a terminal it fits:
** values are shown with tighter limits until it does, and then it is cut.
** Elsewhere the width only says where the right side goes.
**
** Plain C, one thread. Without memory a row is shorter than it should be.
*/
#ifndef TG_LOGROW_H
#define TG_LOGROW_H

#include "base/base.h"
#include "base/buf.h"
#include "options/selection.h"
#include "packet/lualiteral.h"
#include "reader/reader.h"

typedef struct tg_LogRow {
  const tg_Functions *functions;  /* borrows */
  const tg_Selection *selection;  /* borrows */
  bool color;
  bool times;           /* the margin, and how long calls took */
  bool terminal;        /* rows are to fit */
  size_t width;         /* columns; the owner sets it */
  tg_LuaLiteral literal;  /* owns */
  tg_Buf text, right;   /* own */
} tg_LogRow;

/* What the closing line says. */
typedef struct tg_LogTotals {
  uint64_t calls, throws, lost;
  uint32_t threads;
  uint64_t ns;          /* from the first packet to the last */
} tg_LogTotals;

/* 'selection' (borrowed) says which fields packets have. */
void tg_logrow_init (tg_LogRow *l, const tg_Functions *functions,
                     const tg_Selection *selection, bool color, bool times);
void tg_logrow_free (tg_LogRow *l);           /* zeroed memory is fine */

/* The closing line. */
void tg_logrow_summary (tg_LogRow *l, const tg_LogTotals *totals);

/* Adds a row to 'out', newline included: those to come are of another
   coroutine. */
void tg_logrow_switch (const tg_LogRow *l, tg_Buf *out, tg_ThreadId thread,
                       uint32_t depth);

/* The same: so many events are missing here. */
void tg_logrow_missing (const tg_LogRow *l, tg_Buf *out, uint64_t events);

/* The same: so many calls were left out here. */
void tg_logrow_unshown (const tg_LogRow *l, tg_Buf *out, uint64_t calls);

/* The same at the end: so many events more there are than were asked for. */
void tg_logrow_more (const tg_LogRow *l, tg_Buf *out, uint64_t events);

/* Adds "1 call", "2 calls". */
void tg_logrow_count (tg_Buf *b, uint64_t n, const char *what);

/* ---- for those who make rows ---- */

#define TG_LOGROW_FOLD 20u    /* levels drawn; then indentation starts anew */

/* Makes a row without its right side. It may be called again, with other
   limits of values. */
typedef void tg_LogRowMaker (tg_LogRow *l, const tg_Packet *p,
                             const tg_Function *f, bool far);

/* Has a row made, again with tighter limits as long as it is too wide for the
   terminal, and sets 'right' at its right edge. */
void tg_logrow_fit (tg_LogRow *l, const tg_Packet *p, const tg_Function *f,
                    bool far, tg_LogRowMaker *make);

/* Whether packets have this, and rows show it. */
TG_INLINE bool tg_logrow_wants (const tg_LogRow *l, uint32_t type) {
  return (l->selection->types & type) != 0;
}

/* Whether rows begin with a time. Then they also end with how long a call
   took. */
TG_INLINE bool tg_logrow_timed (const tg_LogRow *l) {
  return l->times && tg_logrow_wants(l, TG_TYPE_TIME);
}

/* The definition of a function, never NULL: the bytes of a recording may name
   one that nobody has defined, of which nothing is said. */
const tg_Function *tg_logrow_function (const tg_LogRow *l, tg_FunctionId id);

/* From here on in this colour, one of terminal.h, if there are any at all; and
   a text in one. */
void tg_logrow_color (tg_LogRow *l, const char *code);
void tg_logrow_reset (tg_LogRow *l);
void tg_logrow_colored (tg_LogRow *l, const char *code, const char *text);

/* The time, if rows have one. */
void tg_logrow_margin (tg_LogRow *l, uint64_t time_ns);

/* A bar for each level. Beyond TG_LOGROW_FOLD levels indentation starts again
   at the left, behind a number. */
void tg_logrow_guides (const tg_LogRow *l, tg_Buf *out, uint32_t depth);

/* "file:line" of a function, or of a line in it; nothing for one without a
   place. */
void tg_logrow_place (const tg_LogRow *l, tg_Buf *out, tg_FunctionId id,
                      uint32_t line);

/* A time span in the unit that suits it, with one decimal below a hundred. */
void tg_logrow_span (tg_Buf *out, uint64_t ns);

#endif
