/*
** html.c - one file that shows a trace in any browser, without a network and
** without a server: a page, and the calls as it reads them.
**
** The page comes from outside (lua/tracegrip/htmlpage.lua), and has a place for
** the data. That is three scripts that no browser runs:
**
**     events  base64 of gzip of varints (LEB128), an entry for each packet:
**               time since the one before (ns) * 2 + 1 if a frame is entered
**               entered: function, coroutine (both from 0), flags, bytes of
**               arguments if flags say so
**               left: why (tg_Why) * 4 + 2 if by a tail call + 1 if there are
**               values, bytes of these
**     values  the same of the texts of all arguments and results, in that
**             order
**     facts   JSON: what the recording is of, functions with their rows of the
**             report, coroutines
**
** Functions and coroutines are numbered as they are met, so facts are written
** last. The rows are added up here, so that the page has the numbers of the
** report, and not nearly.
*/
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "export/boxnames.h"
#include "export/jsontext.h"
#include "export/threadlist.h"
#include "formats/formats.h"
#include "packet/scalars.h"
#include "reader/profile.h"
#include "text/gzip.h"
#include "text/protobuf.h"
#include "text/spool.h"

/* Texts of values beyond this are left out: a browser unpacks it at once. */
#define VALUES_MAX (UINT64_C(96) << 20)

#define ENOUGH ((size_t)16 << 10)       /* bytes, to go on with */

enum { RESUMED = 1, SAMPLED = 2, ARGUMENTS = 4 };       /* flags of entries */
enum { VALUES = 1, TAIL = 2, WHY_SHIFT = 2 };           /* ...and of exits */

typedef struct Document {
  tg_Export *x;
  tg_Buf *out;                  /* borrows; of x->out */
  tg_Profile profile;           /* owns; its rows number the functions */
  tg_ThreadList threads;        /* owns */
  tg_Spool spool;               /* owns */
  tg_Column values;             /* owns; compressed */
  tg_Buf entries, texts;        /* own; not yet compressed */
  tg_Buf events;                /* owns; compressed, not yet written */
  tg_Buf text;                  /* owns; values of a packet */
  z_stream zevents, zvalues;    /* own */
  uint64_t value_bytes;
  uint64_t now_ns;              /* of the last packet */
  uint64_t boxes;               /* calls, what samples have shown, and the time
                                   of calls that are left out */
} Document;

static bool fail (Document *d) {
  if (d->x->status == TG_OK)
    d->x->status = TG_ERR_MEMORY;
  return false;
}

/*
** {==================================================================
** Calls
** ===================================================================
*/

/* As many bytes as have no padding; the rest stays for the next time, so that
   all pieces together are one run of base64. */
static void put_base64 (tg_Buf *out, tg_Buf *bytes) {
  size_t size = bytes->size - bytes->size % 3;
  if (size == 0)
    return;
  tg_scalars_base64(out, bytes->data, size);
  memmove(bytes->data, bytes->data + size, bytes->size - size);
  bytes->size -= size;
}

/* Whether the packet has values whose text there is room for, which is then in
   'text'. */
static bool take_values (Document *d, const tg_Packet *p) {
  tg_buf_clear(&d->text);
  if (p->values.data == NULL)
    return false;
  if (d->value_bytes > VALUES_MAX) {
    d->x->bare += p->why == TG_WHY_ENTER;
    return false;
  }
  tg_export_values(d->x, p, &d->text);
  d->value_bytes += d->text.size;
  return d->text.size > 0;
}

static void put_values (Document *d) {
  tg_protobuf_varint(&d->entries, d->text.size);
  tg_buf_add(&d->texts, d->text.data, d->text.size);
}

static void put_entry (Document *d, const tg_Packet *p, uint32_t row) {
  uint32_t thread = tg_threadlist_of(&d->threads, p);
  if (thread == TG_INTMAP_NONE)
    fail(d);
  bool values = take_values(d, p);
  tg_protobuf_varint(&d->entries, row);
  tg_protobuf_varint(&d->entries, thread);
  tg_protobuf_varint(&d->entries, (uint64_t)(p->resumed ? RESUMED : 0)
                                  | (uint64_t)(p->sampled ? SAMPLED : 0)
                                  | (uint64_t)(values ? ARGUMENTS : 0));
  if (values)
    put_values(d);
}

/* At the trace's end nothing was left: frames are closed there. */
static void put_exit (Document *d, const tg_Packet *p) {
  bool values = take_values(d, p);
  tg_protobuf_varint(&d->entries, (uint64_t)p->why << WHY_SHIFT
                                  | (uint64_t)(p->tail ? TAIL : 0)
                                  | (uint64_t)(values ? VALUES : 0));
  if (values)
    put_values(d);
}

static void put_packet (Document *d, const tg_Packet *p) {
  bool enters = p->why == TG_WHY_ENTER;
  tg_assert(p->time_ns >= d->now_ns);
  tg_profile_take(&d->profile, p);
  tg_protobuf_varint(&d->entries, (p->time_ns - d->now_ns) << 1 | enters);
  d->now_ns = p->time_ns;
  d->boxes += enters;
  if (!enters)
    put_exit(d, p);
  else if (d->profile.nopen > 0)
    put_entry(d, p, d->profile.open[d->profile.nopen - 1].call.row);
}

/* What has gathered is compressed: not packet by packet, since zlib takes its
   time to begin. */
static void pack (Document *d) {
  tg_gzip_add(&d->zevents, d->entries.data, d->entries.size, &d->events);
  tg_gzip_add(&d->zvalues, d->texts.data, d->texts.size, &d->values.text);
  d->entries.size = d->texts.size = 0;
}

/* False when anything has failed. */
static bool turn (Document *d) {
  if (d->entries.size + d->texts.size > ENOUGH)
    pack(d);
  if (d->events.size > ENOUGH)
    put_base64(d->out, &d->events);
  if (d->events.failed || d->entries.failed || d->text.failed
      || d->texts.failed || d->values.text.failed
      || d->profile.status != TG_OK)
    return fail(d);
  return d->x->status == TG_OK && tg_outfile_turn(d->x->out)
         && tg_column_turn(&d->spool, &d->values);
}

static bool put_calls (Document *d) {
  tg_Packet p;
  bool more = tg_export_next(d->x, &p);
  d->now_ns = d->x->start_ns;
  for (; more; more = tg_export_next(d->x, &p)) {
    put_packet(d, &p);
    if (!turn(d))
      return false;
  }
  pack(d);
  tg_gzip_end(&d->zevents, &d->events);
  tg_profile_end(&d->profile, d->x->start_ns, d->x->end_ns);
  if (!turn(d))
    return false;
  tg_scalars_base64(d->out, d->events.data, d->events.size);
  return true;
}

/* The texts piece by piece, as base64. */
static bool put_texts (Document *d) {
  tg_Buf room = {0}, bytes = {0};
  tg_gzip_end(&d->zvalues, &d->values.text);
  bool ok = tg_column_put(&d->spool, &d->values);
  for (uint32_t i = 0; ok && i < d->values.count; i++) {
    tg_Slice piece;
    ok = tg_column_look(&d->spool, &d->values, i, &room, &piece);
    if (ok) {
      tg_buf_add(&bytes, piece.data, piece.size);
      put_base64(d->out, &bytes);
      ok = tg_outfile_turn(d->x->out);
    }
  }
  tg_scalars_base64(d->out, bytes.data, bytes.size);
  if (room.failed || bytes.failed)
    fail(d);
  tg_buf_free(&room);
  tg_buf_free(&bytes);
  return ok && d->x->status == TG_OK;
}

/* }================================================================== */

/*
** {==================================================================
** Facts
** ===================================================================
*/

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

static void put_words (Document *d, const char *key, const char *s) {
  tg_buf_addstr(d->out, key);
  put_string(d->out, s != NULL ? s : "", s != NULL ? strlen(s) : 0);
}

static void put_number (Document *d, const char *key, uint64_t n) {
  tg_buf_addstr(d->out, key);
  tg_buf_addu64(d->out, n);
}

/* [name, url, line, C, calls, self, total, sum, min, max, throws, yields] */
static void put_row (Document *d, uint32_t i) {
  const tg_Function *f = tg_profile_function(&d->profile, i);
  const tg_Row *r = &d->profile.rows[i];
  const uint64_t numbers[] = {
    tg_funclabels_line(f), f->is_c, r->tally.calls, r->tally.self_ns,
    r->tally.total_ns, r->sum_ns, r->min_ns, r->max_ns, r->tally.throws,
    r->tally.yields
  };
  tg_Buf name = {0};
  tg_boxname_label(f, &name);
  tg_buf_addstr(d->out, i > 0 ? ",\n[" : "\n[");
  put_string(d->out, name.data, name.size);
  put_words(d, ",", f->is_c ? NULL : f->url);
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
    put_number(d, ",", numbers[k]);
  tg_buf_addchar(d->out, ']');
  d->out->failed = d->out->failed || name.failed;
  tg_buf_free(&name);
}

static void put_thread (Document *d, uint32_t i) {
  const tg_ThreadEntry *t = &d->threads.list[i];
  tg_Buf name = {0};
  tg_boxname_thread(d->x, t->thread, t->first, &name);
  tg_buf_addstr(d->out, i > 0 ? ",\n" : "\n");
  put_string(d->out, name.data, name.size);
  d->out->failed = d->out->failed || name.failed;
  tg_buf_free(&name);
}

static void put_facts (Document *d) {
  tg_Export *x = d->x;
  tg_Buf remarks = {0};
  tg_export_remarks(x, &remarks);
  put_words(d, "{\"program\":", x->program->name);
  put_words(d, ",\"trace\":", x->name);
  tg_buf_addstr(d->out, ",\"remarks\":");
  put_string(d->out, remarks.data, remarks.size);
  d->out->failed = d->out->failed || remarks.failed;
  tg_buf_free(&remarks);
  put_number(d, ",\"pid\":", x->pid);
  put_number(d, ",\"boxes\":", d->boxes);
  put_number(d, ",\"calls\":", x->calls);
  put_number(d, ",\"sampled\":", x->sampled);
  put_number(d, ",\"start\":", x->start_ns);
  put_number(d, ",\"duration\":", x->end_ns - x->start_ns);
  put_number(d, ",\"wall\":", (x->wall_ns + x->start_ns) / 1000000);
  tg_buf_addstr(d->out, ",\"functions\":[");
  for (uint32_t i = 0; i < d->profile.nrows; i++) {
    put_row(d, i);
    tg_outfile_turn(x->out);
  }
  tg_buf_addstr(d->out, "],\n\"threads\":[");
  for (uint32_t i = 0; i < d->threads.count; i++)
    put_thread(d, i);
  tg_buf_addstr(d->out, "]}");
}

/* }================================================================== */

static void open_script (Document *d, const char *id, const char *type) {
  tg_buf_addstr(d->out, "<script id=\"");
  tg_buf_addstr(d->out, id);
  tg_buf_addstr(d->out, "\" type=\"");
  tg_buf_addstr(d->out, type);
  tg_buf_addstr(d->out, "\">");
}

static void put_data (Document *d) {
  open_script(d, "events", "text/plain");
  if (!put_calls(d))
    return;
  tg_buf_addstr(d->out, "</script>\n");
  open_script(d, "values", "text/plain");
  if (!put_texts(d))
    return;
  tg_buf_addstr(d->out, "</script>\n");
  open_script(d, "facts", "application/json");
  put_facts(d);
  tg_buf_addstr(d->out, "</script>\n");
}

/* Where the page has the place for the data; without one it is the data
   alone. */
static const char PLACE[] = "<!-- data -->\n";

static void put_page (Document *d) {
  const char *page = d->x->page != NULL ? d->x->page : PLACE;
  const char *place = strstr(page, PLACE);
  if (place == NULL)            /* a program may have put another page there */
    place = page = PLACE;
  tg_buf_add(d->out, page, (size_t)(place - page));
  put_data(d);
  tg_buf_addstr(d->out, place + sizeof PLACE - 1);
  if (d->out->failed)
    fail(d);
}

static void free_document (Document *d) {
  tg_profile_free(&d->profile);
  tg_threadlist_free(&d->threads);
  tg_column_free(&d->values);
  tg_spool_free(&d->spool);
  tg_gzip_free(&d->zevents);
  tg_gzip_free(&d->zvalues);
  tg_buf_free(&d->entries);
  tg_buf_free(&d->texts);
  tg_buf_free(&d->events);
  tg_buf_free(&d->text);
}

tg_Status tg_format_html (tg_Export *x) {
  Document d = {.x = x, .out = &x->out->text};
  tg_spool_init(&d.spool);
  if (tg_profile_init(&d.profile, x->stream->functions, false)
      && tg_gzip_begin(&d.zevents) && tg_gzip_begin(&d.zvalues))
    put_page(&d);
  else
    fail(&d);
  int error = d.spool.error;
  free_document(&d);
  if (error == 0)
    return x->status;
  errno = error;
  return error == ENOMEM ? TG_ERR_MEMORY : TG_ERR_IO;
}
