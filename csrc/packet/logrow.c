/*
** logrow.c - see logrow.h.
**
** Called by the log, on whatever thread that is on; inside the hook, so nothing
** here raises or asks Lua. The program may have set any locale: numbers are put
** together by hand and not by "%f", which takes its decimal point from there.
*/
#include "packet/logrow.h"

#include <inttypes.h>
#include <string.h>

#include "text/terminal.h"

#define MARGIN 10         /* columns of the time */

/* What is left of values on a row that would be too wide otherwise: tried one
   after the other. Cutting the row at once would lose its last arguments,
   tighter limits lose what is deep inside them. */
static const tg_Limits TIGHTER[] = {
  {2, 8, 48, TG_NOLIMIT}, {1, 4, 24, TG_NOLIMIT}, {1, 2, 12, TG_NOLIMIT}
};

/* Nothing is allocated before the first row. */
void tg_logrow_init (tg_LogRow *l, const tg_Functions *functions,
                     const tg_Selection *selection, bool color, bool times) {
  memset(l, 0, sizeof *l);
  l->functions = functions;
  l->selection = selection;
  l->color = color;
  l->times = times;
  l->literal = (tg_LuaLiteral){
    .functions = functions, .selection = selection, .color = color
  };
}

void tg_logrow_free (tg_LogRow *l) {
  tg_lualiteral_free(&l->literal);
  tg_buf_free(&l->text);
  tg_buf_free(&l->right);
}

/*
** {==================================================================
** Pieces
** ===================================================================
*/

const tg_Function *tg_logrow_function (const tg_LogRow *l, tg_FunctionId id) {
  static const tg_Function unknown;
  const tg_Function *f = tg_functions_find(l->functions, id);
  return f != NULL ? f : &unknown;
}

void tg_logrow_color (tg_LogRow *l, const char *code) {
  if (l->color)
    tg_buf_addstr(&l->text, code);
}

void tg_logrow_reset (tg_LogRow *l) {
  tg_logrow_color(l, TG_SGR_RESET);
}

void tg_logrow_colored (tg_LogRow *l, const char *code, const char *text) {
  tg_logrow_color(l, code);
  tg_buf_addstr(&l->text, text);
  tg_logrow_reset(l);
}

/* Milliseconds to the microsecond. */
void tg_logrow_margin (tg_LogRow *l, uint64_t time_ns) {
  if (!tg_logrow_timed(l))
    return;
  uint64_t us = time_ns / 1000;
  tg_logrow_color(l, TG_SGR_FAINT);
  tg_buf_addfmt(&l->text, "%*" PRIu64 ".%03u  ", MARGIN - 4, us / 1000,
                (unsigned)(us % 1000));
  tg_logrow_reset(l);
}

/* Deep recursion would leave no room for the calls. */
void tg_logrow_guides (const tg_LogRow *l, tg_Buf *b, uint32_t depth) {
  tg_buf_addstr(b, l->color && depth > 0 ? TG_SGR_FAINT : "");
  if (depth >= TG_LOGROW_FOLD)
    tg_buf_addfmt(b, "%u┊ ", (unsigned)(depth - depth % TG_LOGROW_FOLD));
  for (uint32_t i = 0; i < depth % TG_LOGROW_FOLD; i++)
    tg_buf_addstr(b, "│ ");
  tg_buf_addstr(b, l->color && depth > 0 ? TG_SGR_RESET : "");
}

/* The last part of a long path, from a slash on if there is one: the file says
   more than where it is. */
static const char *shortened (const tg_LogRow *l, const char *url, bool *cut) {
  size_t size = strlen(url), room = l->width / 5;
  *cut = false;
  if (!l->terminal || size <= room)
    return url;
  *cut = true;
  const char *tail = url + size - room;
  const char *slash = strchr(tail, '/');
  return slash != NULL ? slash : tail;
}

/* Escaped: the name of a chunk is the program's, and may hold codes that a
   terminal obeys. */
void tg_logrow_place (const tg_LogRow *l, tg_Buf *b, tg_FunctionId id,
                      uint32_t line) {
  const tg_Function *f = tg_logrow_function(l, id);
  if (f->url == NULL)
    return;
  bool cut;
  const char *url = shortened(l, f->url, &cut);
  tg_buf_addstr(b, cut ? "…" : "");
  tg_terminal_escape(b, url, strlen(url), 0);
  if (line > 0)
    tg_buf_addfmt(b, ":%u", (unsigned)line);
}

void tg_logrow_span (tg_Buf *b, uint64_t ns) {
  static const struct { uint64_t ns; const char *name; } units[] = {
    {1000000000, " s"}, {1000000, " ms"}, {1000, " µs"}
  };
  size_t i = ns >= units[0].ns ? 0 : ns >= units[1].ns ? 1 : 2;
  uint64_t tenths = (ns + units[i].ns / 20) / (units[i].ns / 10);
  tg_buf_addu64(b, tenths < 1000 ? tenths / 10 : (tenths + 5) / 10);
  if (tenths < 1000)
    tg_buf_addfmt(b, ".%u", (unsigned)(tenths % 10));
  tg_buf_addstr(b, units[i].name);
}

/* Whether the row and its right side are more than the terminal takes. In
   columns and not in bytes: text of a program has wide characters, and codes
   for colours have none. */
static bool toowide (const tg_LogRow *l) {
  size_t rightside = tg_terminal_columns(l->right.data, l->right.size);
  if (!l->terminal)
    return false;
  return tg_terminal_columns(l->text.data, l->text.size)
         + (rightside > 0 ? rightside + 2 : 0) > l->width;
}

/* Sets 'right' at the right edge of the row, cutting what is before it. If it
   would take the whole row it is left out: the call is worth more. */
static void addright (tg_LogRow *l) {
  size_t rightside = tg_terminal_columns(l->right.data, l->right.size);
  if (rightside + 2 >= l->width)
    rightside = 0;
  size_t room = rightside > 0 ? l->width - rightside - 2 : l->width;
  if (l->terminal)
    tg_terminal_cut(&l->text, 0, room);
  if (rightside == 0)
    return;
  size_t left = tg_terminal_columns(l->text.data, l->text.size);
  tg_buf_addfmt(&l->text, "%*s", left < room ? (int)(room - left) + 2 : 2, "");
  tg_logrow_color(l, TG_SGR_FAINT);
  tg_buf_add(&l->text, l->right.data, l->right.size);
  tg_logrow_reset(l);
}

/* TG_NOLIMIT is the largest number. */
static uint32_t least (uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

/* The limits of the selection, or tighter ones if there are. 'objects' stays:
   it is about what was looked at, not about room. */
static void limit (tg_LogRow *l, const tg_Limits *tighter) {
  tg_Limits *to = &l->literal.limits;
  *to = l->selection->limits;
  if (tighter == NULL)
    return;
  to->depth = least(to->depth, tighter->depth);
  to->properties = least(to->properties, tighter->properties);
  to->string = least(to->string, tighter->string);
}

void tg_logrow_fit (tg_LogRow *l, const tg_Packet *p, const tg_Function *f,
                    bool far, tg_LogRowMaker *make) {
  const size_t tries = sizeof(TIGHTER) / sizeof(*TIGHTER);
  limit(l, NULL);
  make(l, p, f, far);
  for (size_t i = 0; i < tries && toowide(l); i++) {
    limit(l, &TIGHTER[i]);
    make(l, p, f, far);
  }
  addright(l);
}

/* }================================================================== */

/*
** {==================================================================
** Rows of no packet
** ===================================================================
*/

/* On a row of its own: the rows after it are of another stack. */
void tg_logrow_switch (const tg_LogRow *l, tg_Buf *b, tg_ThreadId thread,
                       uint32_t depth) {
  if (tg_logrow_timed(l))
    tg_buf_addfmt(b, "%*s", MARGIN + 2, "");
  tg_logrow_guides(l, b, depth);
  tg_buf_addstr(b, l->color ? TG_SGR_MAGENTA : "");
  if (thread == 1)
    tg_buf_addstr(b, "── main coroutine ──");
  else
    tg_buf_addfmt(b, "── coroutine %u ──", (unsigned)thread);
  tg_buf_addstr(b, l->color ? TG_SGR_RESET "\n" : "\n");
}

/* At the left, since it is no call's. */
static void add_gap (const tg_LogRow *l, tg_Buf *b, const char *color,
                     uint64_t n, const char *noun, const char *rest) {
  if (tg_logrow_timed(l))
    tg_buf_addfmt(b, "%*s", MARGIN + 2, "");
  tg_buf_addstr(b, l->color ? color : "");
  tg_buf_addstr(b, "… ");
  tg_logrow_count(b, n, noun);
  tg_buf_addstr(b, rest);
  tg_buf_addstr(b, l->color ? TG_SGR_RESET "\n" : "\n");
}

/* All frames have exited. */
void tg_logrow_missing (const tg_LogRow *l, tg_Buf *b, uint64_t events) {
  add_gap(l, b, TG_SGR_BOLD_RED, events, "event", " lost");
}

void tg_logrow_unshown (const tg_LogRow *l, tg_Buf *b, uint64_t calls) {
  add_gap(l, b, TG_SGR_FAINT, calls, "call", " not shown");
}

void tg_logrow_more (const tg_LogRow *l, tg_Buf *b, uint64_t events) {
  add_gap(l, b, TG_SGR_FAINT, events, "more event", " (--limit)");
}

/* "1 call", "2 calls". By hand: messages are in English, whatever the
   locale. */
void tg_logrow_count (tg_Buf *b, uint64_t n, const char *what) {
  tg_buf_addfmt(b, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

/* Only what there is to say: no coroutines if there is one, no errors if there
   were none. */
void tg_logrow_summary (tg_LogRow *l, const tg_LogTotals *t) {
  tg_Buf *b = &l->text;
  tg_buf_clear(b);
  tg_logrow_color(l, TG_SGR_FAINT);
  tg_buf_addstr(b, "── ");
  tg_logrow_count(b, t->calls, "call");
  if (t->threads > 1) {
    tg_buf_addstr(b, " in ");
    tg_logrow_count(b, t->threads, "coroutine");
  }
  if (t->throws > 0) {
    tg_buf_addstr(b, ", ");
    tg_buf_addfmt(b, "%" PRIu64 " ended by an error", t->throws);
  }
  if (tg_logrow_timed(l)) {
    tg_buf_addstr(b, ", ");
    tg_logrow_span(b, t->ns);
  }
  if (t->lost > 0) {
    tg_buf_addstr(b, ", ");
    tg_logrow_count(b, t->lost, "event");
    tg_buf_addstr(b, " lost");
  }
  tg_logrow_reset(l);
}

/* }================================================================== */
