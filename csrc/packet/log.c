/*
** log.c - see log.h.
**
** A line is put together in 'line' and then either goes to 'out', which each
** pump writes, or is held back in 'held' until its call has lasted long
** enough. The calls held back are always the innermost ones, so they are a
** stack too:
**
**     frames   [ f0 | f1 | f2 || f3 | f4 ]        || = shown
**                                  |    |
**     held                       [ line | line ]
**
** One that yields before that takes its line with it and goes on when it is
** resumed. Then it may be long before the call that resumes it is: that one is
** shown with it. Of a recording all is known beforehand (minduration.h), and
** nothing is held back.
*/
#include "packet/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/grow.h"
#include "packet/lualiteral.h"
#include "reader/minduration.h"
#include "reader/suspended.h"
#include "text/fdwriter.h"
#include "text/terminal.h"

#define MARGIN 10         /* columns of the time */
#define FOLD 20           /* levels drawn; then indentation starts anew */
#define WIDTH_DEFAULT 100
#define WIDTH_MIN 40
#define WIDTH_MAX 160     /* keeps call and caller within one glance */
#define WIDTH_EVERY 256   /* lines after which the terminal is asked again */
#define OUT_MAX ((size_t)1 << 20)     /* bytes, then they are written */
#define HELD_MAX ((size_t)64 << 20)   /* bytes of lines held back */

/* What is left of values on a line that would be too wide otherwise. */
static const tg_Limits TIGHTER[] = {
  {2, 8, 48, TG_NOLIMIT}, {1, 4, 24, TG_NOLIMIT}, {1, 2, 12, TG_NOLIMIT}
};

#define FAINT   "\033[90m"
#define BOLD    "\033[1m"
#define ERROR   "\033[1;31m"
#define MAGENTA "\033[35m"

/* The line of a call that yielded before it was shown. */
typedef struct Kept {
  size_t size;
  char text[];
} Kept;

/* An open call. */
typedef struct Frame {
  tg_SuspendedCall call; /* its row is a tg_FunctionId */
  uint64_t opened_ns;
  uint64_t due_ns;      /* when it will have lasted long enough */
  uint64_t line;        /* lines there were after its own, once shown */
  size_t start;         /* where its line starts in 'held', until then */
  uint32_t base;        /* of its coroutine the outermost frame's place */
  uint32_t depth;
  tg_ThreadId thread;
} Frame;

struct tg_Log {
  tg_Stream *stream;    /* pins */
  tg_Reader *reader;    /* owns */
  tg_MinDuration sieve; /* owns; on the reader */
  tg_Selection selection; /* owns */
  uint64_t min_ns;      /* calls are held back as long as that */
  tg_Suspended waiting; /* owns; with a Kept, or 0, as tag */
  size_t kept;          /* bytes of those */
  tg_LogStyle style;
  tg_FdWriter outlet;
  tg_LuaLiteral literal; /* owns */
  tg_Buf line, right, out, held;   /* own */
  Frame *frames;        /* owns */
  uint32_t count, capacity;
  uint32_t shown;         /* frames whose call has been shown */
  size_t width;         /* columns; lines are cut there on a terminal */
  uint64_t measured;    /* lines when the terminal was last asked */
  uint64_t pending;     /* lines in 'out' */
  uint64_t begun_ns, now_ns;  /* of the first and latest packet */
  tg_ThreadId thread;   /* of the latest line */
  uint32_t threads;     /* highest seen */
  uint64_t throws;      /* frames ended by an error, shown */
  tg_LogState state;
  bool finished;
};

/*
** {==================================================================
** Pieces of a line
** ===================================================================
*/

static bool wants (const tg_Log *l, uint32_t type) {
  return (l->selection.types & type) != 0;
}

static const tg_Function *definition (const tg_Log *l, tg_FunctionId id) {
  static const tg_Function unknown;
  const tg_Function *f = tg_functions_find(l->stream->functions, id);
  return f != NULL ? f : &unknown;
}

static void color (tg_Log *l, const char *code) {
  if (l->style.color)
    tg_buf_addstr(&l->line, code);
}

static void reset (tg_Log *l) {
  color(l, TG_SGR_RESET);
}

static void colored (tg_Log *l, const char *code, const char *text) {
  color(l, code);
  tg_buf_addstr(&l->line, text);
  reset(l);
}

static bool timed (const tg_Log *l) {
  return l->style.times && wants(l, TG_TYPE_TIME);
}

static void addmargin (tg_Log *l, uint64_t time_ns) {
  if (!timed(l))
    return;
  uint64_t us = time_ns / 1000;
  color(l, FAINT);
  tg_buf_addfmt(&l->line, "%*" PRIu64 ".%03u  ", MARGIN - 4, us / 1000,
                (unsigned)(us % 1000));
  reset(l);
}

/* Beyond FOLD levels indentation starts again at the left, behind a number. */
static void addguides (tg_Log *l, tg_Buf *b, uint32_t depth) {
  tg_buf_addstr(b, l->style.color && depth > 0 ? FAINT : "");
  if (depth >= FOLD)
    tg_buf_addfmt(b, "%u┊ ", (unsigned)(depth - depth % FOLD));
  for (uint32_t i = 0; i < depth % FOLD; i++)
    tg_buf_addstr(b, "│ ");
  tg_buf_addstr(b, l->style.color && depth > 0 ? TG_SGR_RESET : "");
}

/* The last part of a long path. */
static const char *shortened (const tg_Log *l, const char *url, bool *cut) {
  size_t size = strlen(url), room = l->width / 5;
  *cut = false;
  if (!l->outlet.terminal || size <= room)
    return url;
  *cut = true;
  const char *tail = url + size - room;
  const char *slash = strchr(tail, '/');
  return slash != NULL ? slash : tail;
}

static void addplace (tg_Log *l, tg_Buf *b, tg_FunctionId id, uint32_t line) {
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

/* A time span in the unit that suits it. Not by %f: the program may have set
   a locale. */
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

/* }================================================================== */


/*
** {==================================================================
** Lines
** ===================================================================
*/

/* Lines are cut on a terminal only; elsewhere this is where 'right' goes. */
static void measure (tg_Log *l) {
  size_t width = l->style.width;
  if (width == 0)
    width = tg_fdwriter_width(&l->outlet);
  if (width == 0)
    width = WIDTH_DEFAULT;
  l->width = width < WIDTH_MIN ? WIDTH_MIN
           : width > WIDTH_MAX ? WIDTH_MAX : width;
  l->measured = l->state.lines;
}

/* Whether the line and its right side are more than the terminal takes. */
static bool toowide (const tg_Log *l) {
  size_t rightside = tg_terminal_columns(l->right.data, l->right.size);
  if (!l->outlet.terminal)
    return false;
  return tg_terminal_columns(l->line.data, l->line.size)
         + (rightside > 0 ? rightside + 2 : 0) > l->width;
}

/* Sets 'right' at the right edge of the line, cutting what is before it. */
static void addright (tg_Log *l) {
  size_t rightside = tg_terminal_columns(l->right.data, l->right.size);
  if (rightside + 2 >= l->width)
    rightside = 0;
  size_t room = rightside > 0 ? l->width - rightside - 2 : l->width;
  if (l->outlet.terminal)
    tg_terminal_cut(&l->line, 0, room);
  if (rightside == 0)
    return;
  size_t left = tg_terminal_columns(l->line.data, l->line.size);
  tg_buf_addfmt(&l->line, "%*s", left < room ? (int)(room - left) + 2 : 2, "");
  color(l, FAINT);
  tg_buf_add(&l->line, l->right.data, l->right.size);
  reset(l);
}

/* Says that the lines to come are another coroutine's. */
static void addswitch (tg_Log *l, tg_ThreadId thread, uint32_t depth) {
  tg_Buf *b = &l->out;
  if (timed(l))
    tg_buf_addfmt(b, "%*s", MARGIN + 2, "");
  addguides(l, b, depth);
  tg_buf_addstr(b, l->style.color ? MAGENTA : "");
  if (thread == 1)
    tg_buf_addstr(b, "── main coroutine ──");
  else
    tg_buf_addfmt(b, "── coroutine %u ──", (unsigned)thread);
  tg_buf_addstr(b, l->style.color ? TG_SGR_RESET "\n" : "\n");
  l->pending++;
}

/* A line is ready, of a call in this coroutine at this depth. */
static void emit (tg_Log *l, tg_ThreadId thread, uint32_t depth,
                  const char *s, size_t size) {
  if (thread != l->thread && (l->thread != 0 || thread != 1))
    addswitch(l, thread, depth);
  l->thread = thread;
  tg_buf_add(&l->out, s, size);
  tg_buf_addchar(&l->out, '\n');
  l->pending++;
}

static void flush (tg_Log *l) {
  uint64_t lines = l->pending;
  l->pending = 0;
  if (!l->out.failed && tg_fdwriter_write(&l->outlet, l->out.data, l->out.size))
    l->state.lines += lines;
  else
    l->state.lost += lines;
  tg_buf_clear(&l->out);
  if (l->state.lines - l->measured >= WIDTH_EVERY)
    measure(l);
}

/* }================================================================== */


/*
** {==================================================================
** Calls
** ===================================================================
*/

static void addname (tg_Log *l, const tg_Function *f) {
  if (!wants(l, TG_TYPE_NAME)) {
    tg_buf_addstr(&l->line, "call");
    return;
  }
  color(l, f->is_c ? "" : BOLD);
  tg_lualiteral_function(&l->line, f);
  reset(l);
}

static void addparams (tg_Log *l, const tg_Function *f) {
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

static void addarguments (tg_Log *l, const tg_Packet *p,
                          const tg_Function *f) {
  if (p->resumed)
    return;
  if (wants(l, TG_TYPE_ARGUMENTS) && p->values.data != NULL) {
    tg_buf_addchar(&l->line, '(');
    tg_lualiteral_list(&l->literal, &l->line, p->values, f);
    tg_buf_addchar(&l->line, ')');
  }
  else if (wants(l, TG_TYPE_PARAMETERS) && !f->is_c)
    addparams(l, f);
}

static void addextras (tg_Log *l, const tg_Packet *p, const tg_Function *f) {
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

static void callline (tg_Log *l, const tg_Packet *p, const tg_Function *f) {
  tg_buf_clear(&l->line);
  addmargin(l, p->time_ns);
  addguides(l, &l->line, p->depth);
  addname(l, f);
  addarguments(l, p, f);
  addextras(l, p, f);
}

/* Where it was called from; for a chunk that no Lua code called, itself. */
static void addcaller (tg_Log *l, const tg_Packet *p, const tg_Function *f) {
  if (!wants(l, TG_TYPE_CALLSITE))
    return;
  if (p->caller != 0)
    addplace(l, &l->right, p->caller, p->line);
  else if (!f->is_c && f->line == 0)
    addplace(l, &l->right, p->function, 0);
}

static uint32_t least (uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

/* The limits of the selection, or tighter ones if there are. */
static void limit (tg_Log *l, const tg_Limits *tighter) {
  tg_Limits *to = &l->literal.limits;
  *to = l->selection.limits;
  if (tighter == NULL)
    return;
  to->depth = least(to->depth, tighter->depth);
  to->properties = least(to->properties, tighter->properties);
  to->string = least(to->string, tighter->string);
}

/* Puts a line together, again with tighter limits as long as it is too wide
   for the terminal. */
static void layout (tg_Log *l, const tg_Packet *p, const tg_Function *f,
                    void (*line) (tg_Log *l, const tg_Packet *p,
                                  const tg_Function *f)) {
  const size_t tries = sizeof(TIGHTER) / sizeof(*TIGHTER);
  limit(l, NULL);
  line(l, p, f);
  for (size_t i = 0; i < tries && toowide(l); i++) {
    limit(l, &TIGHTER[i]);
    line(l, p, f);
  }
  addright(l);
}

static bool push (tg_Log *l, const tg_Packet *p) {
  if (!tg_grow(&l->frames, &l->capacity, l->count + 1, sizeof *l->frames))
    return false;
  l->frames[l->count++] = (Frame){
    .call = {.row = p->function}, .opened_ns = p->time_ns,
    .due_ns = p->time_ns + l->min_ns, .start = l->held.size,
    .depth = p->depth, .thread = p->thread
  };
  const Frame *below = l->count > 1 ? &l->frames[l->count - 2] : NULL;
  bool alone = below == NULL || below->thread != p->thread;
  l->frames[l->count - 1].base = alone ? l->count - 1 : below->base;
  return true;
}

static bool holds (const tg_Log *l) {
  return l->min_ns > 0;
}

/* A suspended call will not go on, or does. */
static void drop_kept (void *ud, const tg_SuspendedCall *call) {
  tg_Log *l = ud;
  Kept *k = (Kept *)(uintptr_t)call->tag;
  if (k != NULL)
    l->kept -= k->size;
  tg_free(k);
}

/* The line of the innermost call, which is held back; NULL without memory. */
static Kept *keep_line (tg_Log *l, const Frame *f) {
  size_t size = l->held.size - f->start;
  if (size == 0 || size > HELD_MAX - l->kept)
    return NULL;
  Kept *k = tg_malloc(sizeof *k + size);
  if (k == NULL)
    return NULL;
  k->size = size;
  memcpy(k->text, l->held.data + f->start, size);
  l->kept += size;
  return k;
}

/* The innermost call yields. */
static void park (tg_Log *l, Frame *f, uint64_t now_ns) {
  bool shown = l->shown == l->count;
  f->call.ran_ns += now_ns - f->opened_ns;
  f->call.tag = shown ? 0 : (uint64_t)(uintptr_t)keep_line(l, f);
  if (!tg_suspended_park(&l->waiting, f->thread, &f->call))
    drop_kept(l, &f->call);
}

/* The innermost call has ended, and perhaps its coroutine. */
static void end_waiting (tg_Log *l, const Frame *f) {
  if (l->waiting.places.count > 0 && f == &l->frames[f->base])
    tg_suspended_end(&l->waiting, f->thread);
}

/* The innermost call has been resumed; whether its line is at hand. */
static bool unpark (tg_Log *l, const tg_Packet *p) {
  Frame *f = &l->frames[l->count - 1];
  if (!tg_suspended_resume(&l->waiting, p->thread, p->function, &f->call))
    return false;
  uint64_t ran = f->call.ran_ns < l->min_ns ? f->call.ran_ns : l->min_ns;
  f->due_ns -= ran;
  const Kept *k = (const Kept *)(uintptr_t)f->call.tag;
  if (k == NULL)
    return false;
  tg_buf_clear(&l->line);
  tg_buf_add(&l->line, k->text, k->size);
  drop_kept(l, &f->call);
  return true;
}

/* The outermost call held back is shown. */
static void release (tg_Log *l) {
  Frame *f = &l->frames[l->shown++];
  size_t end = l->shown < l->count ? l->frames[l->shown].start : l->held.size;
  const char *text = end > f->start ? l->held.data + f->start : "";
  emit(l, f->thread, f->depth, text, end - f->start);
  f->line = l->state.lines + l->pending;
  l->state.calls++;
  if (l->shown == l->count)
    tg_buf_clear(&l->held);
}

static void enter (tg_Log *l, const tg_Packet *p) {
  const tg_Function *f = definition(l, p->function);
  if (!push(l, p)) {
    l->outlet.error = ENOMEM;  /* nesting is lost: no more lines */
    return;
  }
  if (!p->resumed || !holds(l) || !unpark(l, p)) {
    tg_buf_clear(&l->right);
    addcaller(l, p, f);
    layout(l, p, f, callline);
  }
  if (l->line.size > HELD_MAX - l->held.size) {
    tg_buf_clear(&l->line);
    tg_buf_addstr(&l->line, "...");
  }
  tg_buf_add(&l->held, l->line.data, l->line.size);
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
    case TG_WHY_ENTER: case TG_WHY_TERMINATED: return 0;
    default: tg_unreachable();
  }
}

static bool hasvalues (const tg_Log *l, const tg_Packet *p) {
  return wants(l, valuetype(p->why)) && p->values.size > 0
         && p->values.data[0] != 0;  /* not an empty list */
}

/* How a call ended; NULL for a return of nothing. */
static const char *reason (const tg_Log *l, const tg_Packet *p) {
  switch (p->why) {
    case TG_WHY_RETURN:
      return p->tail ? "→ tail call" : hasvalues(l, p) ? "→" : NULL;
    case TG_WHY_EXCEPTION: return "!! error";
    case TG_WHY_YIELD: return "⇢ yield";
    case TG_WHY_TERMINATED: return "× terminated";
    case TG_WHY_ENTER: default: tg_unreachable();
  }
}

static const char *reasoncolor (tg_Why why) {
  return why == TG_WHY_EXCEPTION ? ERROR : why == TG_WHY_YIELD ? MAGENTA
                                                               : FAINT;
}

/* A result far from its call says whose it is. */
static bool faraway (const tg_Log *l) {
  return l->state.lines + l->pending != l->frames[l->count - 1].line;
}

static void addwhose (tg_Log *l, const tg_Function *f) {
  color(l, FAINT);
  tg_buf_addchar(&l->line, ' ');
  tg_lualiteral_function(&l->line, f);
  reset(l);
}

static void resultline (tg_Log *l, const tg_Packet *p, const tg_Function *f) {
  tg_buf_clear(&l->line);
  addmargin(l, p->time_ns);
  addguides(l, &l->line, p->depth);
  colored(l, FAINT, "└");
  bool named = faraway(l) && wants(l, TG_TYPE_NAME);
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

static void leave (tg_Log *l, const tg_Packet *p) {
  if (l->count == 0)
    return;
  Frame *f = &l->frames[l->count - 1];
  if (holds(l) && p->why == TG_WHY_YIELD)
    park(l, f, p->time_ns);
  else
    end_waiting(l, f);
  if (l->count > l->shown) {  /* was too short to be shown */
    l->held.size = f->start;
    l->count--;
    return;
  }
  tg_buf_clear(&l->right);
  if (timed(l))
    addspan(&l->right, p->time_ns - f->opened_ns);
  layout(l, p, definition(l, p->function), resultline);
  l->count = --l->shown;
  l->throws += p->why == TG_WHY_EXCEPTION;
  emit(l, p->thread, p->depth, l->line.data, l->line.size);
}

/* }================================================================== */


/* How many frames there are up to one that is held back and has lasted long
   enough; 0 if none has. Within a coroutine the outermost is the first to. */
static uint32_t countold (const tg_Log *l, uint64_t now_ns) {
  uint32_t end = l->count;
  while (end > l->shown) {
    uint32_t base = l->frames[end - 1].base;
    uint32_t first = base > l->shown ? base : l->shown;
    if (l->frames[first].due_ns <= now_ns)
      return first + 1;
    end = base;
  }
  return 0;
}

/* Shows the calls held back that have lasted long enough by now, and what is
   around them. */
static void releaseold (tg_Log *l, uint64_t now_ns) {
  uint32_t old;
  while ((old = countold(l, now_ns)) > 0) {
    while (l->shown < old)
      release(l);
  }
}

static void show (tg_Log *l, const tg_Packet *p) {
  if (l->begun_ns == 0)
    l->begun_ns = p->time_ns;
  l->now_ns = p->time_ns;
  if (p->thread > l->threads)
    l->threads = p->thread;
  releaseold(l, p->time_ns);
  if (p->why != TG_WHY_YIELD)
    tg_suspended_pass(&l->waiting);
  if (p->why == TG_WHY_ENTER) {
    enter(l, p);
    releaseold(l, p->time_ns);
  }
  else
    leave(l, p);
}

static bool failed (const tg_Log *l) {
  return l->style.fails && l->outlet.error != 0;
}

void tg_log_pump (tg_Log *l, tg_Pos end) {
  int error = errno;
  tg_Packet p;
  while (!failed(l) && tg_minduration_next(&l->sieve, end, &p)) {
    show(l, &p);
    if (l->out.size >= OUT_MAX)
      flush(l);
  }
  if (l->pending > 0)
    flush(l);
  errno = error;
}

/*
** {==================================================================
** Begin and end
** ===================================================================
*/

static void addcount (tg_Buf *b, uint64_t n, const char *what) {
  tg_buf_addfmt(b, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

static void addsummary (tg_Log *l) {
  tg_Buf *b = &l->line;
  uint64_t lost = tg_reader_lost(l->reader);
  tg_buf_clear(b);
  color(l, FAINT);
  tg_buf_addstr(b, "── ");
  addcount(b, l->state.calls, "call");
  if (l->threads > 1) {
    tg_buf_addstr(b, " in ");
    addcount(b, l->threads, "coroutine");
  }
  if (l->throws > 0) {
    tg_buf_addstr(b, ", ");
    tg_buf_addfmt(b, "%" PRIu64 " ended by an error", l->throws);
  }
  if (timed(l)) {
    tg_buf_addstr(b, ", ");
    addspan(b, l->now_ns - l->begun_ns);
  }
  if (lost > 0) {
    tg_buf_addstr(b, ", ");
    addcount(b, lost, "event");
    tg_buf_addstr(b, " lost");
  }
  reset(l);
}

/* Lines that could not be written are told of where errors are told; a reader
   that went away knows. */
static void tell_loss (const tg_Log *l) {
  tg_FdWriter errors;
  tg_Buf text = {0};
  if (l->outlet.error == 0 || l->outlet.error == EPIPE)
    return;
  tg_buf_addfmt(&text, "tracegrip: log: %s, ", strerror(l->outlet.error));
  addcount(&text, l->state.lost, "line");
  tg_buf_addstr(&text, " lost\n");
  tg_fdwriter_open(&errors, STDERR_FILENO);
  if (!text.failed)
    tg_fdwriter_write(&errors, text.data, text.size);
  tg_fdwriter_close(&errors);
  tg_buf_free(&text);
}

void tg_log_finish (tg_Log *l) {
  int error = errno;
  if (l->finished)
    return;
  l->finished = true;
  if (l->style.summary && l->state.calls > 0) {
    addsummary(l);
    tg_buf_add(&l->out, l->line.data, l->line.size);
    tg_buf_addchar(&l->out, '\n');
    l->pending++;
  }
  if (l->pending > 0)
    flush(l);
  if (!l->style.fails)
    tell_loss(l);
  errno = error;
}

void tg_log_mute (tg_Log *l) {
  tg_fdwriter_close(&l->outlet);
  l->outlet.error = EBADF;
  l->finished = true;
}

void tg_log_state (const tg_Log *l, tg_LogState *state) {
  *state = l->state;
  state->error = l->outlet.error;
  state->status = tg_minduration_status(&l->sieve);
  state->damage = tg_reader_damage(l->reader);
}

bool tg_log_wants_color (int fd) {
  const char *no = getenv("NO_COLOR");
  const char *term = getenv("TERM");
  return isatty(fd) == 1 && (no == NULL || *no == '\0')
         && (term == NULL || strcmp(term, "dumb") != 0);
}

static void thread_gone (void *ud, tg_ThreadId thread) {
  tg_suspended_end(&((tg_Log *)ud)->waiting, thread);
}

static void start_reading (tg_Log *l) {
  uint64_t min_ns = l->selection.min_duration_ns;
  l->min_ns = l->style.whole ? 0 : min_ns;
  tg_minduration_init(&l->sieve, l->reader, min_ns - l->min_ns);
  tg_suspended_init(&l->waiting, drop_kept, l);
  if (holds(l))
    tg_minduration_watch(&l->sieve, thread_gone, l);
}

tg_Log *tg_log_new (tg_Stream *stream, tg_Pos from,
                    const tg_Selection *selection, const tg_LogStyle *style,
                    int fd) {
  tg_Log *l = tg_calloc(1, sizeof(*l));
  if (l == NULL)
    return NULL;
  l->stream = tg_stream_pin(stream);
  l->style = *style;
  tg_fdwriter_open(&l->outlet, fd);
  l->reader = tg_reader_new(stream, from, selection);
  if (l->reader == NULL || !tg_selection_copy(&l->selection, selection)) {
    tg_log_free(l);
    return NULL;
  }
  start_reading(l);
  l->literal = (tg_LuaLiteral){
    .functions = stream->functions, .selection = &l->selection,
    .color = style->color
  };
  measure(l);
  return l;
}

void tg_log_free (tg_Log *l) {
  if (l == NULL)
    return;
  tg_fdwriter_close(&l->outlet);
  tg_suspended_finish(&l->waiting);
  tg_suspended_free(&l->waiting);
  tg_minduration_free(&l->sieve);
  tg_reader_free(l->reader);
  tg_selection_clear(&l->selection);
  tg_lualiteral_free(&l->literal);
  tg_buf_free(&l->line);
  tg_buf_free(&l->right);
  tg_buf_free(&l->out);
  tg_buf_free(&l->held);
  tg_free(l->frames);
  tg_stream_unpin(l->stream);
  tg_free(l);
}

/* }================================================================== */
