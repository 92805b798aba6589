/*
** html.c - one file that shows a trace in any browser, without a network and
** without a server: a page, and the calls as it reads them.
**
** The page comes from outside (lua/tracegrip/htmlpage.lua), and has a place for
** the data. That is four scripts that no browser runs:
**
**     events  base64 of gzip of varints (LEB128), an entry for each packet:
**               time since the one before (ns) * 2 + 1 if a frame is entered
**               entered: function, coroutine (both from 0), flags, bytes of
**               arguments if flags say so
**               left: why (tg_Why) * 4 + 2 if by a tail call + 1 if there are
**               values, bytes of these
**               a marker: 0 (no frame is left by being entered), its sort, and
**               of what was allocated the number, bytes, bytes freed, bytes of
**               the heap (0: not known); of others the coroutine, its number +
**               1 if it has one, bytes of its text
**     values  the same of the texts of all arguments, results and markers, in
**             that order
**     stacks  the same of time by stack, of all calls (htmlsums.h)
**     facts   JSON (htmlfacts.h)
**
** What the timeline has is limited to what browsers bear; rows of functions and
** time by stack are not: so the page has the numbers of the report whatever is
** left out.
*/
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/formats.h"
#include "formats/htmlfacts.h"
#include "formats/htmlsums.h"
#include "packet/scalars.h"
#include "stream/eventreader.h"
#include "stream/marks.h"
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
  tg_HtmlSums sums;             /* owns; number functions and coroutines */
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

static void put_thread (Document *d, const tg_Packet *p) {
  uint32_t thread = tg_threadlist_of(&d->sums.threads, p);
  if (thread == TG_INTMAP_NONE)
    fail(d);
  tg_protobuf_varint(&d->entries, thread);
}

static void put_entry (Document *d, const tg_Packet *p) {
  bool values = take_values(d, p);
  tg_protobuf_varint(&d->entries, tg_htmlsums_row(&d->sums, p->function));
  put_thread(d, p);
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

static void put_allocations (Document *d, const tg_Packet *p) {
  tg_Allocations a = tg_event_allocations(p->values);
  tg_protobuf_varint(&d->entries, a.count);
  tg_protobuf_varint(&d->entries, a.allocated);
  tg_protobuf_varint(&d->entries, a.freed);
  tg_protobuf_varint(&d->entries, a.heap);
}

/* The text of a marker, in 'text': what it says, or what a timer, a counter or
   a collection is called. */
static void take_text (Document *d, const tg_Packet *p) {
  tg_buf_clear(&d->text);
  if (d->value_bytes > VALUES_MAX)
    return;
  if (tg_mark_labelled(p->mark) || p->mark == TG_MARK_TIMESTAMP
      || p->mark == TG_MARK_COLLECTION || p->mark == TG_MARK_UNTRACED)
    tg_export_label(d->x, p, &d->text);
  else if (p->values.data != NULL)
    tg_export_values(d->x, p, &d->text);
  d->value_bytes += d->text.size;
}

/* A span's number is how long it was, as far as the document has that time. */
static uint64_t number_of (const Document *d, const tg_Packet *p) {
  return tg_mark_spans(p->mark) ? p->time_ns - tg_export_began(d->x, p)
                                : p->hits;
}

static void put_mark (Document *d, const tg_Packet *p) {
  tg_protobuf_varint(&d->entries, 0);
  tg_protobuf_varint(&d->entries, p->mark);
  if (p->mark == TG_MARK_ALLOCATIONS) {
    put_allocations(d, p);
    return;
  }
  put_thread(d, p);
  tg_protobuf_varint(&d->entries, p->numbered ? number_of(d, p) + 1 : 0);
  take_text(d, p);
  put_values(d);
}

static void put_packet (Document *d, const tg_Packet *p) {
  bool enters = p->why == TG_WHY_ENTER;
  tg_assert(p->time_ns >= d->now_ns && p->why != TG_WHY_TICK);
  tg_protobuf_varint(&d->entries, (p->time_ns - d->now_ns) << 1 | enters);
  d->now_ns = p->time_ns;
  d->boxes += enters;
  if (enters)
    put_entry(d, p);
  else if (p->why == TG_WHY_MARK)
    put_mark(d, p);
  else
    put_exit(d, p);
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
      || d->texts.failed || d->values.text.failed)
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

/* Time by stack: small, and so in one piece. */
static void put_sums (Document *d) {
  tg_Buf plain = {0}, packed = {0};
  z_stream z = {0};
  bool ok = tg_htmlsums_put(&d->sums, TG_HTMLSUMS_MOST, &plain);
  if (ok && tg_gzip_begin(&z)) {
    tg_gzip_add(&z, plain.data, plain.size, &packed);
    tg_gzip_end(&z, &packed);
    tg_scalars_base64(d->out, packed.data, packed.size);
  }
  else
    fail(d);
  if (packed.failed)
    fail(d);
  tg_gzip_free(&z);
  tg_buf_free(&plain);
  tg_buf_free(&packed);
}

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
  open_script(d, "stacks", "text/plain");
  put_sums(d);
  tg_buf_addstr(d->out, "</script>\n");
  open_script(d, "facts", "application/json");
  tg_htmlfacts_put(d->x, &d->sums, d->boxes);
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
  tg_htmlsums_free(&d->sums);
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
  if (!tg_gzip_begin(&d.zevents) || !tg_gzip_begin(&d.zvalues))
    fail(&d);
  else if (tg_htmlsums_read(&d.sums, x)) {
    tg_export_mark(x);
    put_page(&d);
  }
  int error = d.spool.error;
  free_document(&d);
  if (error == 0)
    return x->status;
  errno = error;
  return error == ENOMEM ? TG_ERR_MEMORY : TG_ERR_IO;
}
