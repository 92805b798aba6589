/*
** batch.c - see batch.h. Called by formats/otlp/otlp.c and by
** send/livespans.c, on whatever thread those are.
*/
#include "formats/otlp/batch.h"

#include <string.h>

static void add (tg_OtlpAttributes *a, const tg_OtlpAttribute *one) {
  if (a->count < TG_OTLP_ATTRIBUTES)
    a->list[a->count++] = *one;
}

void tg_otlp_text (tg_OtlpAttributes *a, const char *key, const char *text,
                   size_t size) {
  add(a, &(tg_OtlpAttribute){key, TG_OTLP_TEXT, text, size, 0});
}

void tg_otlp_word (tg_OtlpAttributes *a, const char *key, const char *text) {
  if (text != NULL && *text != '\0')
    tg_otlp_text(a, key, text, strlen(text));
}

void tg_otlp_number (tg_OtlpAttributes *a, const char *key, uint64_t number) {
  add(a, &(tg_OtlpAttribute){key, TG_OTLP_NUMBER, NULL, 0, number});
}

void tg_otlp_true (tg_OtlpAttributes *a, const char *key) {
  add(a, &(tg_OtlpAttribute){key, TG_OTLP_TRUE, NULL, 0, 1});
}

bool tg_otlp_has (const tg_OtlpAttributes *a, const char *key) {
  for (uint32_t i = 0; i < a->count; i++) {
    if (strcmp(a->list[i].key, key) == 0)
      return true;
  }
  return false;
}

void tg_otlp_known (tg_OtlpAttributes *a, const char *key, const char *text) {
  if (!tg_otlp_has(a, key))
    tg_otlp_word(a, key, text);
}

/* The resource is asked for anew with each batch: what is missing by then is a
   part of it. */
static void begin (tg_OtlpBatch *b) {
  tg_OtlpAttributes resource = {.count = 0};
  b->began = b->out->size;
  b->about(b->ud, &resource);
  b->encoding->begin(b, &resource);
}

/* Bytes of spans in protobuf are in a buffer of their own until the end, those
   of JSON in 'out'. */
static bool is_full (const tg_OtlpBatch *b) {
  size_t bytes = b->out->size - b->began + b->spans.size;
  return b->count == TG_OTLP_SPANS || (b->most > 0 && bytes >= b->most);
}

void tg_otlpbatch_add (tg_OtlpBatch *b, const tg_OtlpSpan *s) {
  tg_assert(b->count < TG_OTLP_SPANS && s->at.id != 0);
  if (b->count == 0)
    begin(b);
  b->encoding->span(b, s);
  b->count++;
  if (is_full(b))
    tg_otlpbatch_end(b);
}

void tg_otlpbatch_end (tg_OtlpBatch *b) {
  if (b->count > 0)
    b->encoding->end(b);
  b->count = 0;
}

void tg_otlpbatch_free (tg_OtlpBatch *b) {
  tg_buf_free(&b->resource);
  tg_buf_free(&b->spans);
  tg_buf_free(&b->span);
  tg_buf_free(&b->item);
  tg_buf_free(&b->part);
  tg_buf_free(&b->inner);
}
