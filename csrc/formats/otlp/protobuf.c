/*
** protobuf.c - spans in the binary encoding of OTLP: each batch is an
** ExportTraceServiceRequest (opentelemetry-proto, collector/trace/v1 and
** trace/v1). Called by batch.c.
**
** A message's length stands before it, so each level is written into a buffer
** of its own: 'inner' into 'part' into 'item' into 'span' into 'spans', and all
** of it into 'out' when the batch ends.
*/
#include <string.h>

#include "formats/otlp/batch.h"
#include "text/protobuf.h"

/* Fields of trace.proto, resource.proto and common.proto. */
enum { REQUEST_RESOURCESPANS = 1 };
enum { RESOURCESPANS_RESOURCE = 1, RESOURCESPANS_SCOPESPANS };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { SCOPESPANS_SCOPE = 1, SCOPESPANS_SPANS };
enum { SCOPE_NAME = 1 };
enum {
  SPAN_TRACE = 1, SPAN_ID, SPAN_PARENT = 4, SPAN_NAME, SPAN_KIND, SPAN_START,
  SPAN_END, SPAN_ATTRIBUTES, SPAN_EVENTS = 11, SPAN_LINKS = 13,
  SPAN_DROPPEDLINKS, SPAN_STATUS
};
enum { EVENT_TIME = 1, EVENT_NAME, EVENT_ATTRIBUTES };
enum { LINK_TRACE = 1, LINK_SPAN, LINK_ATTRIBUTES = 4 };
enum { STATUS_MESSAGE = 2, STATUS_CODE };
enum { KEY = 1, VALUE };
enum { VALUE_STRING = 1, VALUE_BOOL, VALUE_INT };
enum { INTERNAL = 1, SERVER };  /* a span's kind */
enum { FAILED = 2 };            /* a status's code */

static void put_text (tg_Buf *out, uint32_t field, const char *s) {
  tg_protobuf_string(out, field, s, strlen(s));
}

/* Ids are bytes, the most significant first. */
static void put_id (tg_Buf *out, uint32_t field, uint64_t id) {
  uint8_t bytes[8];
  for (int i = 0; i < 8; i++)
    bytes[i] = (uint8_t)(id >> (56 - 8 * i));
  tg_protobuf_bytes(out, field, bytes, sizeof bytes);
}

static void put_trace (tg_Buf *out, uint32_t field, const tg_SpanContext *at) {
  uint8_t bytes[16];
  for (int i = 0; i < 8; i++) {
    bytes[i] = (uint8_t)(at->high >> (56 - 8 * i));
    bytes[8 + i] = (uint8_t)(at->low >> (56 - 8 * i));
  }
  tg_protobuf_bytes(out, field, bytes, sizeof bytes);
}

/* A value is one of several kinds, and which it is is told by its field: so one
   with its default is not left out. No such number is given here. */
static void put_value (tg_Buf *out, const tg_OtlpAttribute *a) {
  switch (a->type) {
    case TG_OTLP_TEXT:
      tg_protobuf_string(out, VALUE_STRING, a->text, a->size);
      break;
    case TG_OTLP_NUMBER:
      tg_protobuf_choice(out, VALUE_INT, a->number);
      break;
    case TG_OTLP_TRUE: tg_protobuf_choice(out, VALUE_BOOL, 1); break;
    default: tg_unreachable();
  }
}

/* Into a message that is neither 'part' nor 'inner'. */
static void put_attributes (tg_OtlpBatch *b, tg_Buf *out, uint32_t field,
                            const tg_OtlpAttributes *all) {
  tg_assert(out != &b->part && out != &b->inner);
  for (uint32_t i = 0; i < all->count; i++) {
    const tg_OtlpAttribute *a = &all->list[i];
    tg_protobuf_string(&b->part, KEY, a->key, strlen(a->key));
    put_value(&b->inner, a);
    tg_protobuf_message(&b->part, VALUE, &b->inner);
    tg_protobuf_message(out, field, &b->part);
  }
}

/* An error as the conventions have it: an event, and the span's status. */
static void put_error (tg_OtlpBatch *b, const tg_OtlpSpan *s) {
  tg_protobuf_fixed64(&b->item, EVENT_TIME, s->end_ns);
  put_text(&b->item, EVENT_NAME, "exception");
  put_attributes(b, &b->item, EVENT_ATTRIBUTES, &s->error);
  tg_protobuf_message(&b->span, SPAN_EVENTS, &b->item);
  if (s->message != NULL)
    tg_protobuf_string(&b->item, STATUS_MESSAGE, s->message, s->message_size);
  tg_protobuf_number(&b->item, STATUS_CODE, FAILED);
  tg_protobuf_message(&b->span, SPAN_STATUS, &b->item);
}

static void put_links (tg_OtlpBatch *b, const tg_OtlpSpan *s) {
  tg_OtlpAttributes kind = {.count = 0};
  tg_otlp_word(&kind, "lua.link", "resume");
  for (uint32_t i = 0; i < s->nlinks; i++) {
    put_trace(&b->item, LINK_TRACE, &s->links[i]);
    put_id(&b->item, LINK_SPAN, s->links[i].id);
    put_attributes(b, &b->item, LINK_ATTRIBUTES, &kind);
    tg_protobuf_message(&b->span, SPAN_LINKS, &b->item);
  }
  tg_protobuf_number(&b->span, SPAN_DROPPEDLINKS, s->dropped);
}

static void begin (tg_OtlpBatch *b, const tg_OtlpAttributes *resource) {
  tg_assert(b->spans.size == 0);
  put_attributes(b, &b->resource, RESOURCE_ATTRIBUTES, resource);
  put_text(&b->item, SCOPE_NAME, b->scope);
  tg_protobuf_message(&b->spans, SCOPESPANS_SCOPE, &b->item);
}

static void put_span (tg_OtlpBatch *b, const tg_OtlpSpan *s) {
  tg_Buf *out = &b->span;
  put_trace(out, SPAN_TRACE, &s->at);
  put_id(out, SPAN_ID, s->at.id);
  if (s->parent != 0)
    put_id(out, SPAN_PARENT, s->parent);
  tg_protobuf_string(out, SPAN_NAME, s->name, s->name_size);
  tg_protobuf_number(out, SPAN_KIND, s->server ? SERVER : INTERNAL);
  tg_protobuf_fixed64(out, SPAN_START, s->start_ns);
  tg_protobuf_fixed64(out, SPAN_END, s->end_ns);
  put_attributes(b, out, SPAN_ATTRIBUTES, &s->attributes);
  if (s->nlinks > 0)
    put_links(b, s);
  if (s->failed)
    put_error(b, s);
  tg_protobuf_message(&b->spans, SCOPESPANS_SPANS, out);
}

static void end (tg_OtlpBatch *b) {
  tg_protobuf_message(&b->span, RESOURCESPANS_RESOURCE, &b->resource);
  tg_protobuf_message(&b->span, RESOURCESPANS_SCOPESPANS, &b->spans);
  tg_protobuf_message(b->out, REQUEST_RESOURCESPANS, &b->span);
}

const tg_OtlpEncoding tg_otlp_protobuf = {
  "protobuf", "application/x-protobuf", begin, put_span, end
};
