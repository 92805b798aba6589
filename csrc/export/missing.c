/*
** missing.c - what a document lacks, in words (export.h). For formats, while
** they write and at their end.
*/
#include <inttypes.h>

#include "export/export.h"
#include "export/jsontext.h"
#include "options/endreason.h"

/* By cause, since what helps against it differs. */
void tg_export_loss (const tg_Export *x, tg_Buf *out) {
  bool any = false;
  for (int i = 0; i < TG_NLOSSES; i++) {
    if (x->lost[i] == 0)
      continue;
    tg_buf_addfmt(out, "%s%" PRIu64 " (%s)", any ? ", " : "events lost: ",
                  x->lost[i], tg_endreason_loss(i));
    any = true;
  }
}

/* 'shortest_ns' is without bound where not even the longest calls fit. */
void tg_export_left_out (const tg_Export *x, tg_Buf *out) {
  if (x->left_out == 0)
    return;
  tg_buf_addfmt(out, "%" PRIu64 " calls shorter than ", x->left_out);
  if (x->shortest_ns == UINT64_MAX)
    tg_buf_addstr(out, "all others");
  else {
    tg_jsontext_time(out, x->shortest_ns, 1000);
    tg_buf_addstr(out, " us");
  }
  tg_buf_addstr(out, " left out (");
  tg_jsontext_time(out, x->hidden_ns, 1000000);
  tg_buf_addstr(out, " ms)");
}

static bool has_lost (const tg_Export *x) {
  for (int i = 0; i < TG_NLOSSES; i++) {
    if (x->lost[i] > 0)
      return true;
  }
  return false;
}

/* A remark begins, which may not be the first one. */
static void begin_remark (tg_Buf *out, size_t at) {
  tg_buf_addstr(out, out->size > at ? "; " : "");
}

void tg_export_missing (const tg_Export *x, tg_Buf *out) {
  size_t at = out->size;
  tg_export_loss(x, out);
  if (x->left_out > 0) {
    begin_remark(out, at);
    tg_export_left_out(x, out);
  }
  if (x->folded > 0) {
    begin_remark(out, at);
    tg_buf_addfmt(out, "%" PRIu64 " calls deeper than %" PRIu32 " folded",
                  x->folded, x->depth);
  }
}

void tg_export_remarks (const tg_Export *x, tg_Buf *out) {
  if (!has_lost(x) && x->left_out == 0 && x->folded == 0)
    return;
  tg_buf_addstr(out, " (");
  tg_export_missing(x, out);
  tg_buf_addchar(out, ')');
}
