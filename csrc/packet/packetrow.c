/*
** packetrow.c - see packetrow.h. Called by the log, on whatever thread it is;
** inside the hook, so nothing here raises or asks Lua.
*/
#include "packet/packetrow.h"

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
static void addname (tg_LogRow *l, const tg_Function *f) {
  if (!tg_logrow_wants(l, TG_TYPE_NAME)) {
    tg_buf_addstr(&l->text, "call");
    return;
  }
  tg_logrow_color(l, f->is_c ? "" : TG_SGR_BOLD);
  tg_lualiteral_function(&l->text, f);
  tg_logrow_reset(l);
}

/* The names alone, faint, so that they are not taken for values. */
static void addparams (tg_LogRow *l, const tg_Function *f) {
  tg_logrow_color(l, TG_SGR_FAINT);
  tg_buf_addchar(&l->text, '(');
  for (uint16_t i = 0; i < f->nparams; i++) {
    tg_buf_addstr(&l->text, i > 0 ? ", " : "");
    tg_terminal_escape(&l->text, f->params[i], strlen(f->params[i]), 0);
  }
  if (f->vararg)
    tg_buf_addstr(&l->text, f->nparams > 0 ? ", ..." : "...");
  tg_buf_addchar(&l->text, ')');
  tg_logrow_reset(l);
}

/* A call that goes on has shown its arguments. Without values, the names. */
static void addarguments (tg_LogRow *l, const tg_Packet *p,
                          const tg_Function *f) {
  if (p->resumed || p->sampled)
    return;
  if (tg_logrow_wants(l, TG_TYPE_ARGUMENTS) && p->values.data != NULL) {
    tg_buf_addchar(&l->text, '(');
    tg_lualiteral_list(&l->literal, &l->text, p->values, f);
    tg_buf_addchar(&l->text, ')');
  }
  else if (tg_logrow_wants(l, TG_TYPE_PARAMETERS) && !f->is_c)
    addparams(l, f);
}

/* What is asked for by trace types of our own: that it goes on, where it is
   defined, how often it was called. */
static void addextras (tg_LogRow *l, const tg_Packet *p,
                       const tg_Function *f) {
  if (p->resumed)
    tg_logrow_colored(l, TG_SGR_MAGENTA, "  resumed");
  if (tg_logrow_wants(l, TG_TYPE_LOCATION) && f->url != NULL && !f->is_c) {
    tg_logrow_color(l, TG_SGR_FAINT);
    tg_buf_addstr(&l->text, "  at ");
    tg_logrow_place(l, &l->text, p->function, f->line);
    tg_logrow_reset(l);
  }
  if (tg_logrow_wants(l, TG_TYPE_HITCOUNT)) {
    tg_logrow_color(l, TG_SGR_FAINT);
    tg_buf_addfmt(&l->text, "  #%" PRIu64, p->hits);
    tg_logrow_reset(l);
  }
}

/* A row as it is before it is laid out: time, guides, name, values. It may be
   made several times, each with tighter limits. */
static void callrow (tg_LogRow *l, const tg_Packet *p, const tg_Function *f,
                     bool far) {
  (void)far;
  tg_assert(p->why == TG_WHY_ENTER);
  tg_buf_clear(&l->text);
  tg_logrow_margin(l, p->time_ns);
  tg_logrow_guides(l, &l->text, p->depth);
  addname(l, f);
  addarguments(l, p, f);
  addextras(l, p, f);
}

/* Where it was called from; for a chunk that no Lua code called, itself. On the
   right side: whoever reads the calls is not held up by it. */
static void addcaller (tg_LogRow *l, const tg_Packet *p,
                       const tg_Function *f) {
  if (!tg_logrow_wants(l, TG_TYPE_CALLSITE))
    return;
  if (p->caller != 0)
    tg_logrow_place(l, &l->right, p->caller, p->line);
  else if (!f->is_c && f->line == 0)
    tg_logrow_place(l, &l->right, p->function, 0);
}

/* A call's row: what was called with what, and from where. */
void tg_packetrow_call (tg_LogRow *l, const tg_Packet *p) {
  const tg_Function *f = tg_logrow_function(l, p->function);
  tg_check(p->why == TG_WHY_ENTER);
  tg_buf_clear(&l->right);
  addcaller(l, p, f);
  tg_logrow_fit(l, p, f, false, callrow);
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
static bool hasvalues (const tg_LogRow *l, const tg_Packet *p) {
  return tg_logrow_wants(l, valuetype(p->why)) && p->values.size > 0
         && p->values.data[0] != 0;
}

/* How a call ended; NULL for a return of nothing, where the guide's end says
   enough. */
static const char *reason (const tg_LogRow *l, const tg_Packet *p) {
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
static void addwhose (tg_LogRow *l, const tg_Function *f) {
  tg_logrow_color(l, TG_SGR_FAINT);
  tg_buf_addchar(&l->text, ' ');
  tg_lualiteral_function(&l->text, f);
  tg_logrow_reset(l);
}

/* How a call ended. An error whose value is not known shows a question mark:
   nil can be thrown. */
static void resultrow (tg_LogRow *l, const tg_Packet *p,
                       const tg_Function *f, bool far) {
  tg_buf_clear(&l->text);
  tg_logrow_margin(l, p->time_ns);
  tg_logrow_guides(l, &l->text, p->depth);
  tg_logrow_colored(l, TG_SGR_FAINT, "└");
  bool named = far && tg_logrow_wants(l, TG_TYPE_NAME);
  if (named)
    addwhose(l, f);
  const char *why = reason(l, p);
  if (why != NULL) {
    tg_buf_addstr(&l->text, named ? " " : "");
    tg_logrow_colored(l, reasoncolor(p->why), why);
  }
  if (hasvalues(l, p)) {
    tg_buf_addchar(&l->text, ' ');
    tg_lualiteral_list(&l->literal, &l->text, p->values, NULL);
  }
  else if (p->why == TG_WHY_EXCEPTION && tg_logrow_wants(l, TG_TYPE_THROW))
    tg_buf_addstr(&l->text, " ?");
}

void tg_packetrow_result (tg_LogRow *l, const tg_Packet *p,
                          uint64_t opened_ns, bool far) {
  tg_check(p->why != TG_WHY_ENTER && opened_ns <= p->time_ns);
  tg_buf_clear(&l->right);
  if (tg_logrow_timed(l))
    tg_logrow_span(&l->right, p->time_ns - opened_ns);
  tg_logrow_fit(l, p, tg_logrow_function(l, p->function), far, resultrow);
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
static void addnumber (tg_LogRow *l, const tg_Packet *p) {
  if (!p->numbered)
    return;
  tg_buf_addstr(&l->text, "  ");
  if (p->mark == TG_MARK_COUNT)
    tg_buf_addu64(&l->text, p->hits);
  else
    tg_logrow_span(&l->text, p->hits);
}

/* At the level of a call that would be made there, and in by the groups that
   are open. */
static void markrow (tg_LogRow *l, const tg_Packet *p, const tg_Function *f,
                     bool far) {
  (void)f, (void)far;
  tg_assert(p->why == TG_WHY_MARK);
  tg_buf_clear(&l->text);
  tg_logrow_margin(l, p->time_ns);
  tg_logrow_guides(l, &l->text, p->depth);
  tg_buf_addfmt(&l->text, "%*s", 2 * (p->groups % TG_LOGROW_FOLD), "");
  tg_logrow_color(l, markcolor(p->mark));
  tg_buf_addstr(&l->text, "◆ ");
  tg_buf_addstr(&l->text, tg_mark_name(p->mark));
  tg_logrow_reset(l);
  if (p->values.size > 0 && p->values.data[0] != 0) {
    tg_buf_addchar(&l->text, ' ');
    tg_lualiteral_list(&l->literal, &l->text, p->values, NULL);
  }
  addnumber(l, p);
}

void tg_packetrow_mark (tg_LogRow *l, const tg_Packet *p) {
  tg_check(p->why == TG_WHY_MARK);
  tg_buf_clear(&l->right);
  if (tg_logrow_wants(l, TG_TYPE_CALLSITE) && p->caller != 0)
    tg_logrow_place(l, &l->right, p->caller, p->line);
  tg_logrow_fit(l, p, NULL, false, markrow);
}

/* }================================================================== */
