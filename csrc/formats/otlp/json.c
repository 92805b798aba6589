/*
** json.c - spans in the JSON encoding of OTLP: a line for each batch, an
** ExportTraceServiceRequest, as the Collector's file exporter writes them, its
** receiver for such files reads them and its HTTP receiver takes them.
**
** Called by batch.c. It is protobuf's own mapping to JSON but for ids,
** which are hexadecimal (opentelemetry.io, "OTLP Specification").
*/
#include <inttypes.h>

#include "export/jsontext.h"
#include "formats/otlp/batch.h"

static void put_string (tg_OtlpBatch *b, const char *s, size_t size) {
  tg_jsontext_string(b->out, s, size);
}

static void put_id (tg_OtlpBatch *b, const char *key, uint64_t id) {
  tg_buf_addfmt(b->out, "\"%s\":\"%016" PRIx64 "\"", key, id);
}

static void put_trace (tg_OtlpBatch *b, const tg_SpanContext *at) {
  tg_buf_addfmt(b->out, "\"traceId\":\"%016" PRIx64 "%016" PRIx64 "\",",
                at->high, at->low);
}

/* Times are strings: 64 bits are more than JSON's numbers are sure to have. */
static void put_time (tg_OtlpBatch *b, const char *key, uint64_t ns) {
  tg_buf_addfmt(b->out, "\"%s\":\"%" PRIu64 "\"", key, ns);
}

static void put_attribute (tg_OtlpBatch *b, const tg_OtlpAttribute *a) {
  tg_buf_addstr(b->out, "{\"key\":");
  put_string(b, a->key, strlen(a->key));
  tg_buf_addstr(b->out, ",\"value\":{");
  switch (a->type) {
    case TG_OTLP_TEXT:
      tg_buf_addstr(b->out, "\"stringValue\":");
      put_string(b, a->text, a->size);
      break;
    case TG_OTLP_NUMBER:
      tg_buf_addfmt(b->out, "\"intValue\":\"%" PRIu64 "\"", a->number);
      break;
    case TG_OTLP_TRUE:
      tg_buf_addstr(b->out, "\"boolValue\":true");
      break;
    default: tg_unreachable();
  }
  tg_buf_addstr(b->out, "}}");
}

static void put_attributes (tg_OtlpBatch *b, const tg_OtlpAttributes *all) {
  tg_buf_addstr(b->out, "\"attributes\":[");
  for (uint32_t i = 0; i < all->count; i++) {
    if (i > 0)
      tg_buf_addchar(b->out, ',');
    put_attribute(b, &all->list[i]);
  }
  tg_buf_addchar(b->out, ']');
}

/* An error as the conventions have it: an event, and the span's status. */
static void put_error (tg_OtlpBatch *b, const tg_OtlpSpan *s) {
  tg_buf_addstr(b->out, ",\"events\":[{");
  put_time(b, "timeUnixNano", s->end_ns);
  tg_buf_addstr(b->out, ",\"name\":\"exception\",");
  put_attributes(b, &s->error);
  tg_buf_addstr(b->out, "}],\"status\":{\"code\":2");
  if (s->message != NULL) {
    tg_buf_addstr(b->out, ",\"message\":");
    put_string(b, s->message, s->message_size);
  }
  tg_buf_addchar(b->out, '}');
}

static void put_links (tg_OtlpBatch *b, const tg_OtlpSpan *s) {
  tg_OtlpAttributes kind = {.count = 0};
  tg_otlp_word(&kind, "lua.link", "resume");
  tg_buf_addstr(b->out, ",\"links\":[");
  for (uint32_t i = 0; i < s->nlinks; i++) {
    tg_buf_addstr(b->out, i > 0 ? ",{" : "{");
    put_trace(b, &s->links[i]);
    put_id(b, "spanId", s->links[i].id);
    tg_buf_addchar(b->out, ',');
    put_attributes(b, &kind);
    tg_buf_addchar(b->out, '}');
  }
  tg_buf_addchar(b->out, ']');
  if (s->dropped > 0)
    tg_buf_addfmt(b->out, ",\"droppedLinksCount\":%" PRIu32, s->dropped);
}

static void begin (tg_OtlpBatch *b, const tg_OtlpAttributes *resource) {
  tg_buf_addstr(b->out, "{\"resourceSpans\":[{\"resource\":{");
  put_attributes(b, resource);
  tg_buf_addstr(b->out, "},\"scopeSpans\":[{\"scope\":{\"name\":");
  put_string(b, b->scope, strlen(b->scope));
  tg_buf_addstr(b->out, "},\"spans\":[");
}

static void put_span (tg_OtlpBatch *b, const tg_OtlpSpan *s) {
  tg_buf_addstr(b->out, b->count > 0 ? ",{" : "{");
  put_trace(b, &s->at);
  put_id(b, "spanId", s->at.id);
  tg_buf_addchar(b->out, ',');
  if (s->parent != 0) {
    put_id(b, "parentSpanId", s->parent);
    tg_buf_addchar(b->out, ',');
  }
  tg_buf_addstr(b->out, "\"name\":");
  put_string(b, s->name, s->name_size);
  tg_buf_addstr(b->out, s->server ? ",\"kind\":2," : ",\"kind\":1,");
  put_time(b, "startTimeUnixNano", s->start_ns);
  tg_buf_addchar(b->out, ',');
  put_time(b, "endTimeUnixNano", s->end_ns);
  tg_buf_addchar(b->out, ',');
  put_attributes(b, &s->attributes);
  if (s->nlinks > 0)
    put_links(b, s);
  if (s->failed)
    put_error(b, s);
  tg_buf_addchar(b->out, '}');
}

static void end (tg_OtlpBatch *b) {
  tg_buf_addstr(b->out, "]}]}]}\n");
}

const tg_OtlpEncoding tg_otlp_json = {
  "json", "application/json", begin, put_span, end
};
