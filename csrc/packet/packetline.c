/*
** packetline.c - see packetline.h. Called by the log, on whatever thread it is;
** inside the hook, so nothing here raises or asks Lua.
*/
#include "packet/packetline.h"

#include <inttypes.h>
#include <string.h>

#include "stream/marks.h"
#include "text/terminal.h"

/*
** {==================================================================
** Calls
** ===================================================================
*/

/* C functions are not bold: mostly one looks for one's own. */
static void addname (tg_LogLine *l, const tg_Function *f) {
  if (!tg_logline_wants(l, TG_TYPE_NAME)) {
    tg_buf_addstr(&l->line, "call");
    return;
  }
  tg_logline_color(l, f->is_c ? "" : TG_SGR_BOLD);
  tg_lualiteral_function(&l->line, f);
  tg_logline_reset(l);
}

/* The names alone, faint, so that they are not taken for values. */
static void addparams (tg_LogLine *l, const tg_Function *f) {
  tg_logline_color(l, TG_SGR_FAINT);
  tg_buf_addchar(&l->line, '(');
  for (uint16_t i = 0; i < f->nparams; i++) {
    tg_buf_addstr(&l->line, i > 0 ? ", " : "");
    tg_terminal_escape(&l->line, f->params[i], strlen(f->params[i]), 0);
  }
  if (f->vararg)
    tg_buf_addstr(&l->line, f->nparams > 0 ? ", ..." : "...");
  tg_buf_addchar(&l->line, ')');
  tg_logline_reset(l);
}

/* A call that goes on has shown its arguments. Without values, the names. */
static void addarguments (tg_LogLine *l, const tg_Packet *p,
                          const tg_Function *f) {
  if (p->resumed || p->sampled)
    return;
  if (tg_logline_wants(l, TG_TYPE_ARGUMENTS) && p->values.data != NULL) {
    tg_buf_addchar(&l->line, '(');
    tg_lualiteral_list(&l->literal, &l->line, p->values, f);
    tg_buf_addchar(&l->line, ')');
  }
  else if (tg_logline_wants(l, TG_TYPE_PARAMETERS) && !f->is_c)
    addparams(l, f);
}

/* What is asked for by trace types of our own: that it goes on, where it is
   defined, how often it was called. */
static void addextras (tg_LogLine *l, const tg_Packet *p,
                       const tg_Function *f) {
  if (p->resumed)
    tg_logline_colored(l, TG_SGR_MAGENTA, "  resumed");
  if (tg_logline_wants(l, TG_TYPE_LOCATION) && f->url != NULL && !f->is_c) {
    tg_logline_color(l, TG_SGR_FAINT);
    tg_buf_addstr(&l->line, "  at ");
    tg_logline_place(l, &l->line, p->function, f->line);
    tg_logline_reset(l);
  }
  if (tg_logline_wants(l, TG_TYPE_HITCOUNT)) {
    tg_logline_color(l, TG_SGR_FAINT);
    tg_buf_addfmt(&l->line, "  #%" PRIu64, p->hits);
    tg_logline_reset(l);
  }
}

/* A line as it is before it is laid out: time, guides, name, values. It may be
   made several times, each with tighter limits. */
static void callline (tg_LogLine *l, const tg_Packet *p, const tg_Function *f,
                      bool far) {
  (void)far;
  tg_assert(p->why == TG_WHY_ENTER);
  tg_buf_clear(&l->line);
  tg_logline_margin(l, p->time_ns);
  tg_logline_guides(l, &l->line, p->depth);
  addname(l, f);
  addarguments(l, p, f);
  addextras(l, p, f);
}

/* Where it was called from; for a chunk that no Lua code called, itself. On the
   right side: whoever reads the calls is not held up by it. */
static void addcaller (tg_LogLine *l, const tg_Packet *p,
                       const tg_Function *f) {
  if (!tg_logline_wants(l, TG_TYPE_CALLSITE))
    return;
  if (p->caller != 0)
    tg_logline_place(l, &l->right, p->caller, p->line);
  else if (!f->is_c && f->line == 0)
    tg_logline_place(l, &l->right, p->function, 0);
}

/* A call's line: what was called with what, and from where. */
void tg_packetline_call (tg_LogLine *l, const tg_Packet *p) {
  const tg_Function *f = tg_logline_function(l, p->function);
  tg_check(p->why == TG_WHY_ENTER);
  tg_buf_clear(&l->right);
  addcaller(l, p, f);
  tg_logline_fit(l, p, f, false, callline);
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
  return tg_logline_wants(l, valuetype(p->why)) && p->values.size > 0
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
  return why == TG_WHY_EXCEPTION ? TG_SGR_BOLD_RED
         : why == TG_WHY_YIELD ? TG_SGR_MAGENTA : TG_SGR_FAINT;
}

/* A result far from its call says whose it is. */
static void addwhose (tg_LogLine *l, const tg_Function *f) {
  tg_logline_color(l, TG_SGR_FAINT);
  tg_buf_addchar(&l->line, ' ');
  tg_lualiteral_function(&l->line, f);
  tg_logline_reset(l);
}

/* How a call ended. An error whose value is not known shows a question mark:
   nil can be thrown. */
static void resultline (tg_LogLine *l, const tg_Packet *p,
                        const tg_Function *f, bool far) {
  tg_buf_clear(&l->line);
  tg_logline_margin(l, p->time_ns);
  tg_logline_guides(l, &l->line, p->depth);
  tg_logline_colored(l, TG_SGR_FAINT, "└");
  bool named = far && tg_logline_wants(l, TG_TYPE_NAME);
  if (named)
    addwhose(l, f);
  const char *why = reason(l, p);
  if (why != NULL) {
    tg_buf_addstr(&l->line, named ? " " : "");
    tg_logline_colored(l, reasoncolor(p->why), why);
  }
  if (hasvalues(l, p)) {
    tg_buf_addchar(&l->line, ' ');
    tg_lualiteral_list(&l->literal, &l->line, p->values, NULL);
  }
  else if (p->why == TG_WHY_EXCEPTION && tg_logline_wants(l, TG_TYPE_THROW))
    tg_buf_addstr(&l->line, " ?");
}

void tg_packetline_result (tg_LogLine *l, const tg_Packet *p,
                           uint64_t opened_ns, bool far) {
  tg_check(p->why != TG_WHY_ENTER && opened_ns <= p->time_ns);
  tg_buf_clear(&l->right);
  if (tg_logline_timed(l))
    tg_logline_span(&l->right, p->time_ns - opened_ns);
  tg_logline_fit(l, p, tg_logline_function(l, p->function), far, resultline);
}

/* }================================================================== */

/*
** {==================================================================
** Markers
** ===================================================================
*/

static const char *markcolor (uint32_t sort) {
  return sort == TG_MARK_ERROR ? TG_SGR_BOLD_RED
         : sort == TG_MARK_WARN ? TG_SGR_YELLOW : TG_SGR_CYAN;
}

/* How long a timer ran, how often something was counted. */
static void addnumber (tg_LogLine *l, const tg_Packet *p) {
  if (!p->numbered)
    return;
  tg_buf_addstr(&l->line, "  ");
  if (p->mark == TG_MARK_COUNT)
    tg_buf_addu64(&l->line, p->hits);
  else
    tg_logline_span(&l->line, p->hits);
}

/* At the level of a call that would be made there, and in by the groups that
   are open. */
static void markline (tg_LogLine *l, const tg_Packet *p, const tg_Function *f,
                      bool far) {
  (void)f, (void)far;
  tg_assert(p->why == TG_WHY_MARK);
  tg_buf_clear(&l->line);
  tg_logline_margin(l, p->time_ns);
  tg_logline_guides(l, &l->line, p->depth);
  tg_buf_addfmt(&l->line, "%*s", 2 * (p->groups % TG_LOGLINE_FOLD), "");
  tg_logline_color(l, markcolor(p->mark));
  tg_buf_addstr(&l->line, "◆ ");
  tg_buf_addstr(&l->line, tg_mark_name(p->mark));
  tg_logline_reset(l);
  if (p->values.size > 0 && p->values.data[0] != 0) {
    tg_buf_addchar(&l->line, ' ');
    tg_lualiteral_list(&l->literal, &l->line, p->values, NULL);
  }
  addnumber(l, p);
}

void tg_packetline_mark (tg_LogLine *l, const tg_Packet *p) {
  tg_check(p->why == TG_WHY_MARK);
  tg_buf_clear(&l->right);
  if (tg_logline_wants(l, TG_TYPE_CALLSITE) && p->caller != 0)
    tg_logline_place(l, &l->right, p->caller, p->line);
  tg_logline_fit(l, p, NULL, false, markline);
}

/* }================================================================== */
