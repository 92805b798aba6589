/*
** logline.c - see logline.h.
**
** Called by the log, on whatever thread that is on; inside the hook, so nothing
** here raises or asks Lua. The program may have set any locale: numbers are put
** together by hand and not by "%f", which takes its decimal point from there.
*/
#include "packet/logline.h"

#include <inttypes.h>
#include <string.h>

#include "stream/marks.h"
#include "text/terminal.h"

#define MARGIN 10         /* columns of the time */
#define FOLD 20           /* levels drawn; then indentation starts anew */

/* What is left of values on a line that would be too wide otherwise: tried one
   after the other. Cutting the line at once would lose its last arguments,
   tighter limits lose what is deep inside them. */
static const tg_Limits TIGHTER[] = {
  {2, 8, 48, TG_NOLIMIT}, {1, 4, 24, TG_NOLIMIT}, {1, 2, 12, TG_NOLIMIT}
};

#define FAINT   "\033[90m"
#define BOLD    "\033[1m"
#define ERROR   "\033[1;31m"
#define MAGENTA "\033[35m"
#define CYAN    "\033[36m"
#define YELLOW  "\033[33m"

/* Nothing is allocated before the first line. */
void tg_logline_init (tg_LogLine *l, const tg_Functions *functions,
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

void tg_logline_free (tg_LogLine *l) {
  tg_lualiteral_free(&l->literal);
  tg_buf_free(&l->line);
  tg_buf_free(&l->right);
}

/*
** {==================================================================
** Pieces of a line
** ===================================================================
*/

/* Whether packets have this, and lines show it. */
static bool wants (const tg_LogLine *l, uint32_t type) {
  return (l->selection->types & type) != 0;
}

/* What is said of a function that nobody defined: the bytes of a recording may
   name any. So the rest of the file need not ask. */
static const tg_Function *definition (const tg_LogLine *l, tg_FunctionId id) {
  static const tg_Function unknown;
  const tg_Function *f = tg_functions_find(l->functions, id);
  return f != NULL ? f : &unknown;
}

/* Colours are codes of the terminal that take no columns (terminal.h). */
static void color (tg_LogLine *l, const char *code) {
  if (l->color)
    tg_buf_addstr(&l->line, code);
}

static void reset (tg_LogLine *l) {
  color(l, TG_SGR_RESET);
}

static void colored (tg_LogLine *l, const char *code, const char *text) {
  color(l, code);
  tg_buf_addstr(&l->line, text);
  reset(l);
}

/* Whether lines begin with a time. Then they also end with how long a call
   took. */
static bool timed (const tg_LogLine *l) {
  return l->times && wants(l, TG_TYPE_TIME);
}

/* Milliseconds to the microsecond. Put together by hand: "%f" would take its
   decimal point from the program's locale. */
static void addmargin (tg_LogLine *l, uint64_t time_ns) {
  if (!timed(l))
    return;
  uint64_t us = time_ns / 1000;
  color(l, FAINT);
  tg_buf_addfmt(&l->line, "%*" PRIu64 ".%03u  ", MARGIN - 4, us / 1000,
                (unsigned)(us % 1000));
  reset(l);
}

/* A bar for each level. Beyond FOLD levels indentation starts again at the
   left, behind a number: deep recursion would leave no room for the calls. */
static void addguides (const tg_LogLine *l, tg_Buf *b, uint32_t depth) {
  tg_buf_addstr(b, l->color && depth > 0 ? FAINT : "");
  if (depth >= FOLD)
    tg_buf_addfmt(b, "%u┊ ", (unsigned)(depth - depth % FOLD));
  for (uint32_t i = 0; i < depth % FOLD; i++)
    tg_buf_addstr(b, "│ ");
  tg_buf_addstr(b, l->color && depth > 0 ? TG_SGR_RESET : "");
}

/* The last part of a long path, from a slash on if there is one: the file says
   more than where it is. */
static const char *shortened (const tg_LogLine *l, const char *url, bool *cut) {
  size_t size = strlen(url), room = l->width / 5;
  *cut = false;
  if (!l->terminal || size <= room)
    return url;
  *cut = true;
  const char *tail = url + size - room;
  const char *slash = strchr(tail, '/');
  return slash != NULL ? slash : tail;
}

/* "file:line" of a function, or of a line in it; nothing for one without a
   place. Escaped: the name of a chunk is the program's, and may hold codes that
   a terminal obeys. */
static void addplace (const tg_LogLine *l, tg_Buf *b, tg_FunctionId id,
                      uint32_t line) {
  const tg_Function *f = definition(l, id);
  if (f->url == NULL)
    return;
  bool cut;
  const char *url = shortened(l, f->url, &cut);
  tg_buf_addstr(b, cut ? "…" : "");
  tg_terminal_escape(b, url, strlen(url), 0);
  if (line > 0)
    tg_buf_addfmt(b, ":%u", (unsigned)line);
}

/* A time span in the unit that suits it, with one decimal below a hundred. */
static void addspan (tg_Buf *b, uint64_t ns) {
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

/* Whether the line and its right side are more than the terminal takes. In
   columns and not in bytes: text of a program has wide characters, and codes
   for colours have none. */
static bool toowide (const tg_LogLine *l) {
  size_t rightside = tg_terminal_columns(l->right.data, l->right.size);
  if (!l->terminal)
    return false;
  return tg_terminal_columns(l->line.data, l->line.size)
         + (rightside > 0 ? rightside + 2 : 0) > l->width;
}

/* Sets 'right' at the right edge of the line, cutting what is before it. If it
   would take the whole line it is left out: the call is worth more. */
static void addright (tg_LogLine *l) {
  size_t rightside = tg_terminal_columns(l->right.data, l->right.size);
  if (rightside + 2 >= l->width)
    rightside = 0;
  size_t room = rightside > 0 ? l->width - rightside - 2 : l->width;
  if (l->terminal)
    tg_terminal_cut(&l->line, 0, room);
  if (rightside == 0)
    return;
  size_t left = tg_terminal_columns(l->line.data, l->line.size);
  tg_buf_addfmt(&l->line, "%*s", left < room ? (int)(room - left) + 2 : 2, "");
  color(l, FAINT);
  tg_buf_add(&l->line, l->right.data, l->right.size);
  reset(l);
}

/* On a line of its own: the lines after it are of another stack. */
void tg_logline_switch (const tg_LogLine *l, tg_Buf *b, tg_ThreadId thread,
                        uint32_t depth) {
  if (timed(l))
    tg_buf_addfmt(b, "%*s", MARGIN + 2, "");
  addguides(l, b, depth);
  tg_buf_addstr(b, l->color ? MAGENTA : "");
  if (thread == 1)
    tg_buf_addstr(b, "── main coroutine ──");
  else
    tg_buf_addfmt(b, "── coroutine %u ──", (unsigned)thread);
  tg_buf_addstr(b, l->color ? TG_SGR_RESET "\n" : "\n");
}

/* At the left, since it is no call's. */
static void add_gap (const tg_LogLine *l, tg_Buf *b, const char *color,
                     uint64_t n, const char *noun, const char *rest) {
  if (timed(l))
    tg_buf_addfmt(b, "%*s", MARGIN + 2, "");
  tg_buf_addstr(b, l->color ? color : "");
  tg_buf_addstr(b, "… ");
  tg_logline_count(b, n, noun);
  tg_buf_addstr(b, rest);
  tg_buf_addstr(b, l->color ? TG_SGR_RESET "\n" : "\n");
}

/* All frames have exited. */
void tg_logline_missing (const tg_LogLine *l, tg_Buf *b, uint64_t events) {
  add_gap(l, b, ERROR, events, "event", " lost");
}

void tg_logline_unshown (const tg_LogLine *l, tg_Buf *b, uint64_t calls) {
  add_gap(l, b, FAINT, calls, "call", " not shown");
}

/* }================================================================== */

/*
** {==================================================================
** Calls
** ===================================================================
*/

/* C functions are not bold: mostly one looks for one's own. */
static void addname (tg_LogLine *l, const tg_Function *f) {
  if (!wants(l, TG_TYPE_NAME)) {
    tg_buf_addstr(&l->line, "call");
    return;
  }
  color(l, f->is_c ? "" : BOLD);
  tg_lualiteral_function(&l->line, f);
  reset(l);
}

/* The names alone, faint, so that they are not taken for values. */
static void addparams (tg_LogLine *l, const tg_Function *f) {
  color(l, FAINT);
  tg_buf_addchar(&l->line, '(');
  for (uint16_t i = 0; i < f->nparams; i++) {
    tg_buf_addstr(&l->line, i > 0 ? ", " : "");
    tg_terminal_escape(&l->line, f->params[i], strlen(f->params[i]), 0);
  }
  if (f->vararg)
    tg_buf_addstr(&l->line, f->nparams > 0 ? ", ..." : "...");
  tg_buf_addchar(&l->line, ')');
  reset(l);
}

/* A call that goes on has shown its arguments. Without values, the names. */
static void addarguments (tg_LogLine *l, const tg_Packet *p,
                          const tg_Function *f) {
  if (p->resumed || p->sampled)
    return;
  if (wants(l, TG_TYPE_ARGUMENTS) && p->values.data != NULL) {
    tg_buf_addchar(&l->line, '(');
    tg_lualiteral_list(&l->literal, &l->line, p->values, f);
    tg_buf_addchar(&l->line, ')');
  }
  else if (wants(l, TG_TYPE_PARAMETERS) && !f->is_c)
    addparams(l, f);
}

/* What is asked for by trace types of our own: that it goes on, where it is
   defined, how often it was called. */
static void addextras (tg_LogLine *l, const tg_Packet *p,
                       const tg_Function *f) {
  if (p->resumed)
    colored(l, MAGENTA, "  resumed");
  if (wants(l, TG_TYPE_LOCATION) && f->url != NULL && !f->is_c) {
    color(l, FAINT);
    tg_buf_addstr(&l->line, "  at ");
    addplace(l, &l->line, p->function, f->line);
    reset(l);
  }
  if (wants(l, TG_TYPE_HITCOUNT)) {
    color(l, FAINT);
    tg_buf_addfmt(&l->line, "  #%" PRIu64, p->hits);
    reset(l);
  }
}

/* A line as it is before it is laid out: time, guides, name, values. It may be
   made several times, each with tighter limits. */
static void callline (tg_LogLine *l, const tg_Packet *p, const tg_Function *f,
                      bool far) {
  (void)far;
  tg_assert(p->why == TG_WHY_ENTER);
  tg_buf_clear(&l->line);
  addmargin(l, p->time_ns);
  addguides(l, &l->line, p->depth);
  addname(l, f);
  addarguments(l, p, f);
  addextras(l, p, f);
}

/* Where it was called from; for a chunk that no Lua code called, itself. On the
   right side: whoever reads the calls is not held up by it. */
static void addcaller (tg_LogLine *l, const tg_Packet *p,
                       const tg_Function *f) {
  if (!wants(l, TG_TYPE_CALLSITE))
    return;
  if (p->caller != 0)
    addplace(l, &l->right, p->caller, p->line);
  else if (!f->is_c && f->line == 0)
    addplace(l, &l->right, p->function, 0);
}

/* TG_NOLIMIT is the largest number. */
static uint32_t least (uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

/* The limits of the selection, or tighter ones if there are. 'objects' stays:
   it is about what was looked at, not about room. */
static void limit (tg_LogLine *l, const tg_Limits *tighter) {
  tg_Limits *to = &l->literal.limits;
  *to = l->selection->limits;
  if (tighter == NULL)
    return;
  to->depth = least(to->depth, tighter->depth);
  to->properties = least(to->properties, tighter->properties);
  to->string = least(to->string, tighter->string);
}

/* Makes a line without its right side: a call's, or a result's. It may be
   called again, with other limits. */
typedef void Maker (tg_LogLine *l, const tg_Packet *p, const tg_Function *f,
                    bool far);

/* Puts a line together, again with tighter limits as long as it is too wide
   for the terminal. */
static void layout (tg_LogLine *l, const tg_Packet *p, const tg_Function *f,
                    bool far, Maker *make) {
  const size_t tries = sizeof(TIGHTER) / sizeof(*TIGHTER);
  limit(l, NULL);
  make(l, p, f, far);
  for (size_t i = 0; i < tries && toowide(l); i++) {
    limit(l, &TIGHTER[i]);
    make(l, p, f, far);
  }
  addright(l);
}

/* A call's line: what was called with what, and from where. */
void tg_logline_call (tg_LogLine *l, const tg_Packet *p) {
  const tg_Function *f = definition(l, p->function);
  tg_check(p->why == TG_WHY_ENTER);
  tg_buf_clear(&l->right);
  addcaller(l, p, f);
  layout(l, p, f, false, callline);
}

/* }================================================================== */

/*
** {==================================================================
** Results
** ===================================================================
*/

/* What the values of an exit are shown for. */
static uint32_t valuetype (tg_Why why) {
  switch (why) {
    case TG_WHY_RETURN: return TG_TYPE_RETURN;
    case TG_WHY_EXCEPTION: return TG_TYPE_THROW;
    case TG_WHY_YIELD: return TG_TYPE_YIELD;
    case TG_WHY_ENTER: case TG_WHY_TERMINATED: case TG_WHY_MARK:
    case TG_WHY_TICK: return 0;
    default: tg_unreachable();
  }
}

/* The bytes of an empty list are one zero (values.h). */
static bool hasvalues (const tg_LogLine *l, const tg_Packet *p) {
  return wants(l, valuetype(p->why)) && p->values.size > 0
         && p->values.data[0] != 0;
}

/* How a call ended; NULL for a return of nothing, where the guide's end says
   enough. */
static const char *reason (const tg_LogLine *l, const tg_Packet *p) {
  switch (p->why) {
    case TG_WHY_RETURN:
      return p->tail ? "→ tail call" : hasvalues(l, p) ? "→" : NULL;
    case TG_WHY_EXCEPTION: return "!! error";
    case TG_WHY_YIELD: return "⇢ yield";
    case TG_WHY_TERMINATED: return "× terminated";
    case TG_WHY_ENTER: case TG_WHY_MARK: case TG_WHY_TICK:
    default: tg_unreachable();
  }
}

/* An error stands out; what a switch of coroutines tells has the colour of
   those. */
static const char *reasoncolor (tg_Why why) {
  return why == TG_WHY_EXCEPTION ? ERROR : why == TG_WHY_YIELD ? MAGENTA
                                                               : FAINT;
}

/* A result far from its call says whose it is. */
static void addwhose (tg_LogLine *l, const tg_Function *f) {
  color(l, FAINT);
  tg_buf_addchar(&l->line, ' ');
  tg_lualiteral_function(&l->line, f);
  reset(l);
}

/* How a call ended. An error whose value is not known shows a question mark:
   nil can be thrown. */
static void resultline (tg_LogLine *l, const tg_Packet *p,
                        const tg_Function *f, bool far) {
  tg_buf_clear(&l->line);
  addmargin(l, p->time_ns);
  addguides(l, &l->line, p->depth);
  colored(l, FAINT, "└");
  bool named = far && wants(l, TG_TYPE_NAME);
  if (named)
    addwhose(l, f);
  const char *why = reason(l, p);
  if (why != NULL) {
    tg_buf_addstr(&l->line, named ? " " : "");
    colored(l, reasoncolor(p->why), why);
  }
  if (hasvalues(l, p)) {
    tg_buf_addchar(&l->line, ' ');
    tg_lualiteral_list(&l->literal, &l->line, p->values, NULL);
  }
  else if (p->why == TG_WHY_EXCEPTION && wants(l, TG_TYPE_THROW))
    tg_buf_addstr(&l->line, " ?");
}

void tg_logline_result (tg_LogLine *l, const tg_Packet *p, uint64_t opened_ns,
                        bool far) {
  tg_check(p->why != TG_WHY_ENTER && opened_ns <= p->time_ns);
  tg_buf_clear(&l->right);
  if (timed(l))
    addspan(&l->right, p->time_ns - opened_ns);
  layout(l, p, definition(l, p->function), far, resultline);
}

/* }================================================================== */

/*
** {==================================================================
** Markers
** ===================================================================
*/

static const char *markcolor (uint32_t sort) {
  return sort == TG_MARK_ERROR ? ERROR : sort == TG_MARK_WARN ? YELLOW : CYAN;
}

/* How long a timer ran, how often something was counted. */
static void addnumber (tg_LogLine *l, const tg_Packet *p) {
  if (!p->numbered)
    return;
  tg_buf_addstr(&l->line, "  ");
  if (p->mark == TG_MARK_COUNT)
    tg_buf_addu64(&l->line, p->hits);
  else
    addspan(&l->line, p->hits);
}

/* At the level of a call that would be made there, and in by the groups that
   are open. */
static void markline (tg_LogLine *l, const tg_Packet *p, const tg_Function *f,
                      bool far) {
  (void)f, (void)far;
  tg_assert(p->why == TG_WHY_MARK);
  tg_buf_clear(&l->line);
  addmargin(l, p->time_ns);
  addguides(l, &l->line, p->depth);
  tg_buf_addfmt(&l->line, "%*s", 2 * (p->groups % FOLD), "");
  color(l, markcolor(p->mark));
  tg_buf_addstr(&l->line, "◆ ");
  tg_buf_addstr(&l->line, tg_mark_name(p->mark));
  reset(l);
  if (p->values.size > 0 && p->values.data[0] != 0) {
    tg_buf_addchar(&l->line, ' ');
    tg_lualiteral_list(&l->literal, &l->line, p->values, NULL);
  }
  addnumber(l, p);
}

void tg_logline_mark (tg_LogLine *l, const tg_Packet *p) {
  tg_check(p->why == TG_WHY_MARK);
  tg_buf_clear(&l->right);
  if (wants(l, TG_TYPE_CALLSITE) && p->caller != 0)
    addplace(l, &l->right, p->caller, p->line);
  layout(l, p, NULL, false, markline);
}

/* }================================================================== */

/* "1 call", "2 calls". By hand: messages are in English, whatever the
   locale. */
void tg_logline_count (tg_Buf *b, uint64_t n, const char *what) {
  tg_buf_addfmt(b, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

/* Only what there is to say: no coroutines if there is one, no errors if there
   were none. */
void tg_logline_summary (tg_LogLine *l, const tg_LogTotals *t) {
  tg_Buf *b = &l->line;
  tg_buf_clear(b);
  color(l, FAINT);
  tg_buf_addstr(b, "── ");
  tg_logline_count(b, t->calls, "call");
  if (t->threads > 1) {
    tg_buf_addstr(b, " in ");
    tg_logline_count(b, t->threads, "coroutine");
  }
  if (t->throws > 0) {
    tg_buf_addstr(b, ", ");
    tg_buf_addfmt(b, "%" PRIu64 " ended by an error", t->throws);
  }
  if (timed(l)) {
    tg_buf_addstr(b, ", ");
    addspan(b, t->ns);
  }
  if (t->lost > 0) {
    tg_buf_addstr(b, ", ");
    tg_logline_count(b, t->lost, "event");
    tg_buf_addstr(b, " lost");
  }
  reset(l);
}
