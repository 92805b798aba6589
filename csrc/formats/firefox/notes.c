/*
** notes.c - see notes.h. For tracks.c, as packets come, and for meta.c, which
** writes them. Text that is refused shows in 'text', or is false.
*/
#include "formats/firefox/notes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "export/jsontext.h"
#include "stream/marks.h"

void tg_notes_free (tg_Notes *n) {
  tg_free(n->list);
  tg_buf_free(&n->text);
  memset(n, 0, sizeof *n);
}

bool tg_notes_add (tg_Notes *n, uint32_t sort, uint64_t from_ns,
                   uint64_t to_ns) {
  tg_assert(tg_note_is(sort) && from_ns <= to_ns);
  if (n->text.failed
      || !tg_grow(&n->list, &n->capacity, n->count + 1, sizeof *n->list))
    return false;
  n->list[n->count++] = (tg_Mark){
    .from = {from_ns, 0}, .to = {to_ns, 0}, .func = sort,
    .text = {.size = n->text.size - n->taken}
  };
  n->taken = n->text.size;
  return true;
}

static void put_text (tg_Notes *n, const char *key, const tg_Buf *text) {
  n->text.failed = n->text.failed || text->failed;
  if (text->size == 0)      /* the viewer would show "(empty)" */
    return;
  tg_buf_addfmt(&n->text, ",\"%s\":", key);
  tg_jsontext_string(&n->text, text->data, text->size);
}

/* A counter's is behind its label, as the console of a browser has it. */
static void add_values (tg_Export *x, const tg_Packet *p, tg_Buf *out) {
  tg_export_values(x, p, out);
  if (p->numbered && p->mark == TG_MARK_COUNT) {
    tg_buf_addstr(out, ": ");
    tg_buf_addu64(out, p->hits);
  }
  else if (p->numbered && !tg_mark_spans(p->mark)) {
    tg_buf_addstr(out, ": ");
    tg_jsontext_time(out, p->hits, 1000000);
    tg_buf_addstr(out, " ms");
  }
}

static void add_site (const tg_Export *x, const tg_Packet *p, tg_Buf *out) {
  const tg_Function *f = tg_functions_find(x->stream->functions, p->caller);
  if (f != NULL && f->url != NULL)
    tg_buf_addfmt(out, "%s:%u", f->url, (unsigned)p->line);
}

static const char *color_of (uint32_t sort) {
  return sort == TG_MARK_ERROR ? "red" : sort == TG_MARK_WARN ? "orange"
         : "blue";
}

/* The members that meta.c has in the schemas. */
static void put_members (tg_Notes *n, tg_Export *x, const tg_Packet *p) {
  tg_Buf part = {0};
  bool timer = tg_mark_spans(p->mark);
  if (timer)
    tg_export_label(x, p, &part);
  else {
    tg_buf_addfmt(&n->text, ",\"method\":\"%s\",\"color\":\"%s\"",
                  tg_mark_name(p->mark), color_of(p->mark));
    add_values(x, p, &part);
  }
  put_text(n, timer ? "label" : "values", &part);
  tg_buf_clear(&part);
  add_site(x, p, &part);
  put_text(n, "from", &part);
  tg_buf_free(&part);
}

bool tg_notes_add_marker (tg_Notes *n, tg_Export *x, const tg_Packet *p) {
  bool timer = tg_mark_spans(p->mark);
  if (p->mark == TG_MARK_GROUPEND)
    return true;
  put_members(n, x, p);
  return tg_notes_add(n, timer ? TG_NOTE_TIMER : TG_NOTE_MOMENT,
                      timer ? tg_export_began(x, p) : p->time_ns, p->time_ns);
}

void tg_notes_place (tg_Notes *n) {
  const uint8_t *p = (const uint8_t *)n->text.data;
  for (uint32_t i = 0; i < n->count; i++) {
    n->list[i].text.data = p;
    p += n->list[i].text.size;
  }
}
