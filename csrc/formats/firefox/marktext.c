/*
** marktext.c - see marktext.h. For the two writers, through meta.c.
**
** A part of a track's column is decoded, and its markers are made text, at a
** desk of its own; parts are then taken in order. What values come to in all
** is known in that order only: a part during which they become too much is made
** again when its turn comes, by whoever takes it.
**
** Memory that was refused shows in the part's text. What the spool's file
** refuses is kept by the spool.
*/
#include "formats/firefox/marktext.h"

#include <string.h>

#include "base/alloc.h"
#include "export/jsontext.h"
#include "export/parts.h"
#include "text/utf8.h"

#define TEXT_MAX ((size_t)2000)   /* bytes of arguments or results */
#define TEXTS_MAX ((uint64_t)128 << 20)   /* of all together */

/* One for each batch that can be under way: a batch is with one thread. */
struct tg_MarkDesk {
  tg_LuaLiteral literal;      /* owns, as the following */
  tg_TextCache brief;
  tg_Buf raw, text, members;  /* of the marker that is read */
  tg_Buf list;                /* places of the part's markers */
  uint64_t before;            /* bytes of values in the parts before, as far as
                                 is known... */
  uint64_t texts;             /* ...and in this one */
};

void tg_marktext_init (tg_MarkText *t, const tg_CallMarks *m) {
  *t = (tg_MarkText){.x = m->x, .longest = &m->longest, .spool = m->spool};
}

/* With the first part that is written: a document without calls needs none. */
static bool make_desks (tg_MarkText *t) {
  if (t->desks != NULL)
    return true;
  t->desks = tg_calloc(TG_AHEAD_BATCHES, sizeof *t->desks);
  for (uint32_t i = 0; t->desks != NULL && i < TG_AHEAD_BATCHES; i++) {
    t->desks[i].literal = tg_export_literal(t->x);
    t->desks[i].brief.off = t->x->brief.off;
  }
  return t->desks != NULL;
}

void tg_marktext_free (tg_MarkText *t) {
  for (uint32_t i = 0; t->desks != NULL && i < TG_AHEAD_BATCHES; i++) {
    tg_MarkDesk *d = &t->desks[i];
    tg_lualiteral_free(&d->literal);
    tg_buf_free(&d->raw);
    tg_buf_free(&d->text);
    tg_buf_free(&d->members);
    tg_buf_free(&d->list);
  }
  tg_free(t->desks);
  t->desks = NULL;
}

/*
** {==================================================================
** The text of a marker
** ===================================================================
*/

/* A text as a JSON string, cut at a character. The viewer lays out every
   marker's text in its table: long ones make it slow. */
static void add_text (tg_Buf *out, const tg_Buf *text) {
  size_t size = text->size;
  if (size <= TEXT_MAX) {
    tg_jsontext_string(out, text->data, size);
    return;
  }
  tg_jsontext_string(out, text->data, tg_utf8_start(text->data, TEXT_MAX));
  out->size--;
  tg_buf_addstr(out, "\xE2\x80\xA6\"");     /* an ellipsis */
}

/* The values of a packet as a JSON string: 'text'. What is remembered is the
   whole string, quotes and escapes included. */
static void write_values (const tg_Export *x, tg_MarkDesk *d,
                          const tg_Packet *p) {
  tg_buf_clear(&d->text);
  if (tg_textcache_put(&d->brief, p->values, &d->text))
    return;
  tg_buf_clear(&d->raw);
  tg_export_literals(x, &d->literal, p, &d->raw);
  add_text(&d->text, &d->raw);
  d->text.failed = d->text.failed || d->raw.failed;
  tg_textcache_keep(&d->brief, p->values, &d->text, 0);
}

/* The values inside of a string that is being written: what 'before' says, and
   they. False if there are none. */
static bool add_values (const tg_Export *x, tg_MarkDesk *d, const char *before,
                        const tg_Packet *p) {
  const size_t quotes = sizeof "\"\"" - 1;
  write_values(x, d, p);
  d->members.failed = d->members.failed || d->text.failed;
  if (d->text.size <= quotes)
    return false;
  tg_buf_addstr(&d->members, before);
  if (d->before + d->texts > TEXTS_MAX)
    tg_buf_addstr(&d->members, "...");
  else {
    d->texts += d->text.size;
    tg_buf_add(&d->members, d->text.data + 1, d->text.size - quotes);
  }
  return true;
}

/* How a call ended, as in a log (packet/packetrow.c). */
static const char *end_of (const tg_CallMark *mark) {
  if (mark->unfinished)
    return "still open where the trace ends";
  switch ((tg_Why)mark->why) {
    case TG_WHY_EXCEPTION: return "!! error";
    case TG_WHY_YIELD: return "⇢ yield";
    case TG_WHY_TERMINATED: return "× terminated";
    case TG_WHY_RETURN: case TG_WHY_ENTER: case TG_WHY_MARK:
    case TG_WHY_TICK: default:
      return mark->tail ? "→ tail call" : "";
  }
}

/* The member that tells what came of it; nothing of a call that returned
   nothing: viewers would show "(empty)". */
static void write_outcome (const tg_Export *x, tg_MarkDesk *d,
                           const tg_CallMark *mark, const uint8_t *values) {
  static const char key[] = ",\"out\":\"";
  tg_Packet packet = {
    .why = (tg_Why)mark->why, .function = mark->function,
    .values = {values, mark->results, NULL}
  };
  const char *end = end_of(mark);
  size_t at = d->members.size;
  tg_buf_addstr(&d->members, key);
  tg_buf_addstr(&d->members, mark->resumed ? "resumed" : "");
  if (*end != '\0') {
    tg_buf_addstr(&d->members, mark->resumed ? " " : "");
    tg_buf_addstr(&d->members, end);
  }
  if (mark->results != TG_ABSENT)
    add_values(x, d, *end != '\0' ? " "
                     : mark->resumed ? " → " : "→ ", &packet);
  if (d->members.size == at + sizeof key - 1)
    d->members.size = at;
  else
    tg_buf_addchar(&d->members, '"');
}

/* Arguments have their parentheses: a call that goes on has neither. */
static void write_arguments (const tg_Export *x, tg_MarkDesk *d,
                             const tg_CallMark *mark, const uint8_t *values) {
  tg_Packet packet = {
    .why = TG_WHY_ENTER, .function = mark->function,
    .values = {values, mark->arguments, NULL}
  };
  if (mark->arguments == TG_ABSENT || mark->resumed)
    return;
  tg_buf_addstr(&d->members, ",\"args\":\"(");
  add_values(x, d, "", &packet);
  tg_buf_addstr(&d->members, ")\"");
}

/* Where it was called from. */
static void write_caller (const tg_Export *x, tg_MarkDesk *d,
                          const tg_CallMark *mark) {
  const tg_Function *f = tg_functions_find(x->stream->functions, mark->caller);
  if (f == NULL || f->url == NULL || mark->line == 0)
    return;
  tg_buf_clear(&d->raw);
  tg_buf_addstr(&d->raw, f->url);
  tg_buf_addchar(&d->raw, ':');
  tg_buf_addu64(&d->raw, mark->line);
  tg_buf_addstr(&d->members, ",\"from\":");
  add_text(&d->members, &d->raw);
  d->members.failed = d->members.failed || d->raw.failed;
}

static size_t bytes_of (uint32_t size) {
  return size != TG_ABSENT ? size : 0;
}

/* The members that tell of a call, from its values at 'p'. */
static void write_members (const tg_Export *x, tg_MarkDesk *d,
                           const tg_CallMark *mark, const uint8_t *p) {
  tg_buf_clear(&d->members);
  write_arguments(x, d, mark, p);
  write_outcome(x, d, mark, p + bytes_of(mark->arguments));
  write_caller(x, d, mark);
}

/* }================================================================== */

/*
** {==================================================================
** Parts
** ===================================================================
*/

/* What is written of one track. */
typedef struct Writing {
  tg_MarkText *t;
  const tg_MarkSource *source;
  tg_MarkPut *put;
  const void *ud;
  tg_Buf *list;           /* NULL: nobody wants them once more */
  uint64_t parts;         /* of the calls; notes are one more */
} Writing;

static tg_MarkDesk *desk_of (const Writing *w, const tg_Batch *b) {
  return &w->t->desks[b->number % TG_AHEAD_BATCHES];
}

/* Its place is noted for who wants to go over the markers once more, without
   reading them again. */
static void put_mark (const Writing *w, tg_MarkDesk *d, tg_Batch *b,
                      const tg_Mark *m) {
  tg_MarkPlace place = {
    m->from.ns, m->to.ns, m->from.part, m->to.part, m->func
  };
  tg_buf_addchar(&b->text, ',');
  w->put(w->ud, &b->text, m);
  if (w->list != NULL)
    tg_buf_add(&d->list, &place, sizeof place);
  b->text.failed = b->text.failed || d->list.failed;
}

/* Its func is in the track's tables: a frame of it was there when the call was
   open. */
static void put_call (const Writing *w, tg_Batch *b, const tg_CallMark *mark,
                      const uint8_t *values) {
  tg_MarkDesk *d = desk_of(w, b);
  write_members(w->t->x, d, mark, values);
  tg_Mark m = {
    .from = {mark->from_ns, mark->from_part},
    .to = {mark->to_ns, mark->to_part},
    .func = tg_stacktables_find(w->source->stacks, mark->function),
    .thrown = mark->why == TG_WHY_EXCEPTION,
    .text = {(const uint8_t *)d->members.data, d->members.size, NULL}
  };
  tg_assert(m.func != TG_STACK_NONE);
  put_mark(w, d, b, &m);
  b->text.failed = b->text.failed || d->members.failed;
}

/* Markers stand next to each other in the spool, with their values behind each:
   nothing there is aligned, so heads are copied out. */
static void put_piece (void *ud, tg_Slice bytes, tg_Batch *b) {
  const Writing *w = ud;
  const uint8_t *p = bytes.data, *end = p + bytes.size;
  while (p < end) {
    tg_CallMark mark;
    memcpy(&mark, p, sizeof mark);
    p += sizeof mark;
    if (tg_longestcalls_kept(w->t->longest, mark.to_ns - mark.from_ns,
                             mark.rank))
      put_call(w, b, &mark, p);
    p += bytes_of(mark.arguments) + bytes_of(mark.results);
  }
  tg_assert(p == end);          /* a marker is in one piece */
}

/* In the part behind all calls, so that they come last in the table. */
static void put_notes (const Writing *w, tg_Batch *b) {
  for (uint32_t i = 0; i < w->source->nnotes; i++)
    put_mark(w, desk_of(w, b), b, &w->source->notes[i]);
}

/* The last part is that of notes, which are no calls. */
static void make_part (const Writing *w, tg_Batch *b, uint64_t before) {
  tg_MarkDesk *d = desk_of(w, b);
  tg_buf_clear(&d->list);
  d->before = before;
  d->texts = 0;
  if (b->number == w->parts)
    put_notes(w, b);
  else if (!tg_parts_read(w->t->spool, &w->source->calls->column, b,
                          put_piece, (void *)(uintptr_t)w))
    b->text.failed = true;
}

/* As if no part before had any values: mostly there are not too many in all,
   and then nothing depends on the order. */
static void work (void *ud, tg_Batch *b) {
  make_part(ud, b, 0);
}

/* In order. A part after which there would be too much text is one of those in
   which values may have to be left out. */
static bool take (void *ud, tg_Batch *b) {
  const Writing *w = ud;
  tg_MarkDesk *d = desk_of(w, b);
  if (w->t->texts + d->texts > TEXTS_MAX) {
    tg_buf_clear(&b->text);
    make_part(w, b, w->t->texts);
  }
  w->t->texts += d->texts;
  if (w->list != NULL)
    tg_buf_add(w->list, d->list.data, d->list.size);
  return !b->text.failed && (w->list == NULL || !w->list->failed);
}

bool tg_marktext_write (tg_MarkText *t, const tg_MarkSource *source,
                        tg_MarkPut *put, const void *ud, tg_Buf *list,
                        tg_OutFile *out) {
  Writing w = {t, source, put, ud, list,
               tg_parts_count(&source->calls->column)};
  tg_Parts parts = {.count = w.parts + 1, .work = work, .take = take, .ud = &w};
  return make_desks(t) && tg_parts_write(&parts, out);
}

/* }================================================================== */
