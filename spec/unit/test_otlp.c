/*
** test_otlp.c - what spans are written with: a traceparent read, fields of
** protobuf, and a batch that ends where it is full.
*/
#include <stdlib.h>

#include "formats/otlp/batch.h"
#include "text/protobuf.h"
#include "text/traceparent.h"
#include "unit.h"

#define GOOD "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

static bool reads (const char *s) {
  tg_SpanContext c = {1, 2, 3};
  bool ok = tg_traceparent_read(s, strlen(s), &c);
  UNIT_CHECK(ok || (c.high == 1 && c.low == 2 && c.id == 3));
  return ok;
}

static void reads_a_traceparent (void) {
  tg_SpanContext c;
  UNIT_CHECK(tg_traceparent_read(GOOD, strlen(GOOD), &c));
  UNIT_CHECK(c.high == UINT64_C(0x0af7651916cd43dd));
  UNIT_CHECK(c.low == UINT64_C(0x8448eb211c80319c));
  UNIT_CHECK(c.id == UINT64_C(0xb7ad6b7169203331));
}

static void refuses_what_is_none (void) {
  char s[] = GOOD;
  for (size_t i = 0; i < sizeof s - 1; i++) {
    char before = s[i];
    for (const char *odd = "gG-/:`\x80"; *odd != '\0'; odd++) {
      s[i] = *odd;
      UNIT_CHECK(s[i] == before || !reads(s));
    }
    s[i] = '\0';
    UNIT_CHECK(!reads(s));
    s[i] = before;
  }
  UNIT_CHECK(!reads(GOOD "0"));
  UNIT_CHECK(!reads("00-00000000000000000000000000000000"
                    "-b7ad6b7169203331-01"));
  UNIT_CHECK(!reads("00-0af7651916cd43dd8448eb211c80319c"
                    "-0000000000000000-01"));
}

/* In memory of exactly its size: sanitizers see what is read beyond. */
static void put (tg_Buf *b, const char *s) {
  size_t size = strlen(s);
  char *exact = malloc(size > 0 ? size : 1);
  memcpy(exact, s, size);
  tg_protobuf_string(b, 1, exact, size);
  free(exact);
}

static void writes_text_as_utf8 (void) {
  tg_Buf b = {0};
  put(&b, "");
  tg_buf_addchar(&b, '.');
  UNIT_CHECK(b.size == 3 && memcmp(b.data, "\x0a\x00.", 3) == 0);
  tg_buf_clear(&b);
  put(&b, "a\xc3\xa9");
  UNIT_TEXT(&b, "\x0a\x03" "a\xc3\xa9");
  put(&b, "\xff" "a\xc3");
  UNIT_TEXT(&b, "\x0a\x07\xef\xbf\xbd" "a\xef\xbf\xbd");
  tg_protobuf_string(&b, 1, NULL, 0);
  UNIT_CHECK(b.size == 2);
  tg_buf_free(&b);
}

static void about (void *ud, tg_OtlpAttributes *resource) {
  ++*(int *)ud;
  tg_otlp_word(resource, "key", "value");
}

/* How often a batch began, of so many spans. */
static int begun (const tg_OtlpEncoding *encoding, int spans, size_t most) {
  int n = 0;
  tg_Buf out = {0};
  tg_OtlpBatch b = {.encoding = encoding, .out = &out, .scope = "s",
                    .about = about, .ud = &n, .most = most};
  tg_OtlpSpan s = {.at = {1, 2, 3}, .name = "f", .name_size = 1};
  for (int i = 0; i < spans; i++)
    tg_otlpbatch_add(&b, &s);
  tg_otlpbatch_end(&b);
  UNIT_CHECK(b.count == 0 && !out.failed && (out.size > 0) == (spans > 0));
  tg_otlpbatch_free(&b);
  tg_buf_free(&out);
  return n;
}

static void ends_a_batch_that_is_full (void) {
  const tg_OtlpEncoding *both[] = {&tg_otlp_json, &tg_otlp_protobuf};
  for (int i = 0; i < 2; i++) {
    UNIT_CHECK(begun(both[i], 0, 0) == 0);
    UNIT_CHECK(begun(both[i], (int)TG_OTLP_SPANS, 0) == 1);
    UNIT_CHECK(begun(both[i], (int)TG_OTLP_SPANS + 1, 0) == 2);
    UNIT_CHECK(begun(both[i], 10, 1) == 10);
  }
}

int main (void) {
  UNIT_RUN(reads_a_traceparent);
  UNIT_RUN(refuses_what_is_none);
  UNIT_RUN(writes_text_as_utf8);
  UNIT_RUN(ends_a_batch_that_is_full);
  return UNIT_END();
}
