/*
** htmlfacts.c - see htmlfacts.h. For html.c, on its thread. Numbers are as they
** are, in ns and bytes: the page makes words of them.
*/
#include "formats/htmlfacts.h"

#include <math.h>
#include <string.h>

#include "export/boxnames.h"
#include "export/jsontext.h"
#include "export/ticks.h"
#include "options/endreason.h"
#include "profile/profilelines.h"
#include "stream/marks.h"

/* A string in a script: nothing in it may look like the script's end. */
static void put_string (tg_Buf *out, const char *s, size_t size) {
  tg_Buf text = {0};
  tg_jsontext_string(&text, s, size);
  for (size_t i = 0; i < text.size; i++) {
    if (text.data[i] == '<')
      tg_buf_addstr(out, "\\u003c");
    else
      tg_buf_addchar(out, text.data[i]);
  }
  out->failed = out->failed || text.failed;
  tg_buf_free(&text);
}

static void put_text (tg_Buf *out, tg_Buf *text) {
  put_string(out, text->data, text->size);
  out->failed = out->failed || text->failed;
  tg_buf_free(text);
}

static void put_words (tg_Buf *out, const char *key, const char *s) {
  tg_buf_addstr(out, key);
  put_string(out, s != NULL ? s : "", s != NULL ? strlen(s) : 0);
}

static void put_number (tg_Buf *out, const char *key, uint64_t n) {
  tg_buf_addstr(out, key);
  tg_buf_addu64(out, n);
}

/*
** {==================================================================
** Functions and coroutines
** ===================================================================
*/

static void put_numbers (tg_Buf *out, const uint64_t *list, size_t n) {
  for (size_t i = 0; i < n; i++)
    put_number(out, i > 0 ? "," : "", list[i]);
}

/* Of a recording that tells of memory there are eight numbers more. */
static void put_usage (tg_Buf *out, const tg_UsageTally *u) {
  const uint64_t numbers[] = {
    u->self.allocated, u->total.allocated, u->self.count, u->total.count,
    u->self.freed, u->peak, u->live.bytes, u->high.bytes
  };
  put_numbers(out, numbers, sizeof numbers / sizeof *numbers);
}

/* [name, url, line, C, calls, self, total, sum, min, max, throws, yields, and
   of memory: self, total, allocations self, total, freed, peak, alive at the
   end, and when the heap was at its highest] */
static void put_row (tg_Buf *out, const tg_Profile *p, uint32_t i) {
  const tg_Function *f = tg_profile_function(p, i);
  const tg_Row *r = &p->rows[i];
  const uint64_t numbers[] = {
    tg_funclabels_line(f), f->is_c, r->tally.calls, r->tally.self_ns,
    r->tally.total_ns, r->sum_ns, r->min_ns, r->max_ns, r->tally.throws,
    r->tally.yields
  };
  tg_Buf name = {0};
  tg_boxname_label(f, &name);
  tg_buf_addstr(out, i > 0 ? ",\n[" : "\n[");
  put_text(out, &name);
  put_words(out, ",", f->is_c ? NULL : f->url);
  tg_buf_addchar(out, ',');
  put_numbers(out, numbers, sizeof numbers / sizeof *numbers);
  if (p->usage.on) {
    tg_UsageTally u = tg_usage_row(&p->usage, i);
    tg_buf_addchar(out, ',');
    put_usage(out, &u);
  }
  tg_buf_addchar(out, ']');
}

/* "errors": of each function one standard error of its self time. */
static void put_errors (tg_Buf *out, const tg_Profile *p) {
  tg_buf_addstr(out, ",\n\"errors\":[");
  for (uint32_t i = 0; i < p->nrows; i++)
    put_number(out, i > 0 ? "," : "",
               (uint64_t)(sqrt(p->rows[i].tally.variance) + 0.5));
  tg_buf_addchar(out, ']');
}

/* Of a recording that tells of memory there are three numbers more. */
static void put_rowline (tg_Buf *out, const tg_RowLine *l, bool memory) {
  const uint64_t numbers[] = {l->line, l->self_ns, l->samples, l->calls,
                              l->bytes, l->allocations, l->live.bytes};
  size_t n = sizeof numbers / sizeof *numbers;
  put_numbers(out, numbers, memory ? n : n - 3);
}

/* "lines": of each function that has some, by its number: line, self time,
   samples, calls that it has made, of memory bytes, allocations and what is
   alive, and so on; most self time first. */
static void put_lines (tg_Buf *out, const tg_Profile *p) {
  tg_RowLines lines = {0};
  out->failed = out->failed || !tg_rowlines_make(&lines, p);
  tg_buf_addstr(out, ",\n\"lines\":{");
  for (uint32_t i = 0; i < lines.count; i++) {
    const tg_RowLine *l = &lines.list[i];
    if (i > 0 && l[-1].row == l->row)
      tg_buf_addchar(out, ',');
    else {
      tg_buf_addstr(out, i > 0 ? "],\n\"" : "\"");
      tg_buf_addu64(out, l->row);
      tg_buf_addstr(out, "\":[");
    }
    put_rowline(out, l, p->usage.on);
  }
  tg_buf_addstr(out, lines.count > 0 ? "]}" : "}");
  tg_rowlines_free(&lines);
}

static void put_thread (tg_Export *x, const tg_ThreadEntry *t, bool first) {
  tg_Buf name = {0};
  tg_boxname_thread(x, t->thread, t->first, &name);
  tg_buf_addstr(&x->out->text, first ? "\n" : ",\n");
  put_text(&x->out->text, &name);
}

/* }================================================================== */

/*
** {==================================================================
** What is missing, what was asked for
** ===================================================================
*/

/* What boxes of calls that are left out are called, if there may be any. */
static void put_left (const tg_Export *x, tg_Buf *out,
                      const tg_HtmlSums *sums) {
  tg_Buf name = {0};
  if (x->left_out == 0 && !sums->left)
    return;
  tg_boxname_label(tg_functions_shown(x->stream->functions, TG_FUNCTION_LEFT),
                   &name);
  tg_buf_addstr(out, ",\"left\":");
  put_text(out, &name);
}

/* By cause. */
static void put_losses (const tg_Export *x, tg_Buf *out) {
  bool any = false;
  tg_buf_addstr(out, ",\"lost\":[");
  for (int i = 0; i < TG_NLOSSES; i++) {
    if (x->lost[i] == 0)
      continue;
    put_number(out, any ? ",[" : "[", x->lost[i]);
    put_words(out, ",", tg_endreason_loss(i));
    tg_buf_addchar(out, ']');
    any = true;
  }
  tg_buf_addchar(out, ']');
}

/* 'shortest_ns' is without bound where not even the longest calls fit. */
static void put_missing (const tg_Export *x, tg_Buf *out) {
  put_losses(x, out);
  put_number(out, ",\"leftOut\":", x->left_out);
  if (x->left_out > 0 && x->shortest_ns != UINT64_MAX)
    put_number(out, ",\"shortest\":", x->shortest_ns);
  put_number(out, ",\"hidden\":", x->left_out > 0 ? x->hidden_ns : 0);
  put_number(out, ",\"folded\":", x->folded);
  put_number(out, ",\"depth\":", x->depth);
  put_number(out, ",\"bare\":", x->bare);
}

static void put_patterns (tg_Buf *out, const char *key,
                          const tg_Patterns *list) {
  if (list->count == 0)
    return;
  tg_buf_addstr(out, key);
  for (size_t i = 0; i < list->count; i++)
    put_words(out, i > 0 ? "," : "[", list->list[i]);
  tg_buf_addchar(out, ']');
}

static void put_options (tg_Buf *out, const tg_Options *o) {
  if (!o->c)
    tg_buf_addstr(out, ",\"c\":false");
  if (o->max_depth != TG_NOLIMIT)
    put_number(out, ",\"maxDepth\":", o->max_depth);
  if (o->min_duration_ns > 0)
    put_number(out, ",\"minDuration\":", o->min_duration_ns);
  put_patterns(out, ",\"include\":", &o->include);
  put_patterns(out, ",\"exclude\":", &o->exclude);
  put_patterns(out, ",\"on\":", &o->on);
}

/* A member for each option that hides something, by its name in Lua; the limit,
   if the user has set one. */
static void put_filter (const tg_Export *x, tg_Buf *out) {
  const tg_Filter *f = x->selection->filter;
  put_number(out, ",\"filter\":{\"limit\":", x->options.limit);
  if (f != NULL && f->from_ns > 0)
    put_number(out, ",\"from\":", f->from_ns);
  if (f != NULL && f->to_ns != UINT64_MAX)
    put_number(out, ",\"to\":", f->to_ns);
  if (f != NULL && f->thread != 0)
    put_number(out, ",\"thread\":", f->thread);
  if (f != NULL)
    put_options(out, &f->options);
  tg_buf_addchar(out, '}');
}

/* Of markers, by their sorts. */
static void put_methods (tg_Buf *out) {
  tg_buf_addstr(out, ",\"methods\":[");
  for (uint32_t i = 0; i < TG_NMARKS; i++)
    put_words(out, i > 0 ? "," : "", tg_mark_name(i));
  tg_buf_addchar(out, ']');
}

/* }================================================================== */

static void put_whole (const tg_Export *x, tg_Buf *out,
                       const tg_HtmlSums *sums, uint64_t boxes) {
  put_words(out, "{\"program\":", x->program->name);
  put_words(out, ",\"trace\":", x->name);
  put_number(out, ",\"pid\":", x->pid);
  put_number(out, ",\"boxes\":", boxes);
  put_number(out, ",\"calls\":", sums->calls);
  put_number(out, ",\"shown\":", x->calls);
  if (tg_ticks_any(x))
    put_number(out, ",\"samples\":", sums->samples);
  put_number(out, ",\"start\":", x->start_ns);
  put_number(out, ",\"duration\":", x->end_ns - x->start_ns);
  put_number(out, ",\"whole\":", sums->profile.duration_ns);
  put_number(out, ",\"wall\":", (x->wall_ns + x->start_ns) / 1000000);
  put_left(x, out, sums);
  put_missing(x, out);
  put_filter(x, out);
  put_methods(out);
  if (!sums->profile.usage.on)
    return;
  tg_UsageTally u = tg_usage_node(&sums->profile.usage, 0);
  tg_buf_addstr(out, ",\"memory\":[");
  put_usage(out, &u);
  tg_buf_addchar(out, ']');
}

void tg_htmlfacts_put (tg_Export *x, const tg_HtmlSums *sums, uint64_t boxes) {
  tg_Buf *out = &x->out->text;
  put_whole(x, out, sums, boxes);
  tg_buf_addstr(out, ",\"functions\":[");
  for (uint32_t i = 0; i < sums->profile.nrows; i++) {
    put_row(out, &sums->profile, i);
    tg_outfile_turn(x->out);
  }
  tg_buf_addchar(out, ']');
  put_errors(out, &sums->profile);
  if (sums->profile.lined == TG_LINED_ROWS)
    put_lines(out, &sums->profile);
  tg_buf_addstr(out, ",\n\"threads\":[");
  for (uint32_t i = 0; i < sums->threads.count; i++)
    put_thread(x, &sums->threads.list[i], i == 0);
  tg_buf_addstr(out, "]}");
}
