/*
** test_otlp.c - what spans are written with: a traceparent read, fields of
** protobuf, a batch that ends where it is full, and halves of one.
*/
#include <stdlib.h>

#include "formats/otlp/halves.h"
#include "text/gzip.h"
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

/* A request of the spans from..to, whose names would end a list if they were
   not quoted. */
static void write_request (const tg_OtlpEncoding *encoding, uint64_t from,
                           uint64_t to, const char *scope, tg_Buf *out) {
  int unused = 0;
  tg_OtlpBatch b = {.encoding = encoding, .out = out, .scope = scope,
                    .about = about, .ud = &unused};
  for (uint64_t i = from; i <= to; i++) {
    char name[40];
    int n = snprintf(name, sizeof name, "\"}]},{\\%d \"spans\":[", (int)i);
    tg_OtlpSpan s = {.at = {1, 2, i}, .name = name, .name_size = (size_t)n,
                     .failed = i % 3 == 0, .message = name,
                     .message_size = (size_t)n};
    tg_otlpbatch_add(&b, &s);
  }
  tg_otlpbatch_end(&b);
  tg_otlpbatch_free(&b);
}

/* Halves are what would have been written of half of the spans. */
static void check_halves (const tg_OtlpEncoding *encoding, uint64_t n,
                          const char *scope) {
  tg_Buf whole = {0}, wanted = {0};
  tg_OtlpHalf halves[2] = {{.count = 0}, {.count = 0}};
  write_request(encoding, 1, n, scope, &whole);
  bool done = tg_otlp_halve(encoding, whole.data, whole.size, halves);
  UNIT_CHECK(done == (n > 1));
  for (int i = 0; done && i < 2; i++) {
    UNIT_CHECK(halves[i].count == (i == 0 ? n / 2 : n - n / 2));
    tg_buf_clear(&wanted);
    write_request(encoding, i == 0 ? 1 : n / 2 + 1, i == 0 ? n / 2 : n, scope,
                  &wanted);
    UNIT_CHECK(halves[i].body.size == wanted.size
               && memcmp(halves[i].body.data, wanted.data, wanted.size) == 0);
  }
  tg_otlphalves_free(halves);
  tg_buf_free(&whole);
  tg_buf_free(&wanted);
}

static void halves_a_request (void) {
  const tg_OtlpEncoding *both[] = {&tg_otlp_json, &tg_otlp_protobuf};
  for (int i = 0; i < 2; i++) {
    for (uint64_t n = 1; n <= TG_OTLP_SPANS; n = n < 5 ? n + 1 : n * 2 + 1) {
      check_halves(both[i], n, "a scope");
      check_halves(both[i], n, "");
    }
  }
}

/* Cut off or damaged: halves or none, and nothing beyond its end is read. */
static void halves_nothing_else (void) {
  const tg_OtlpEncoding *both[] = {&tg_otlp_json, &tg_otlp_protobuf};
  uint64_t seed = 7;
  for (int i = 0; i < 2; i++) {
    tg_Buf whole = {0};
    write_request(both[i], 1, 5, "s", &whole);
    for (size_t round = 0; round < 2 * whole.size; round++) {
      tg_OtlpHalf halves[2] = {{.count = 0}, {.count = 0}};
      size_t size = round < whole.size ? round : whole.size;
      char *exact = malloc(size > 0 ? size : 1);
      memcpy(exact, whole.data, size);
      if (round >= whole.size)
        exact[round - whole.size] = (char)unit_random(&seed);
      bool done = tg_otlp_halve(both[i], exact, size, halves);
      UNIT_CHECK(!done || round >= whole.size);
      tg_otlphalves_free(halves);
      free(exact);
    }
    tg_buf_free(&whole);
  }
}

static void packs_and_unpacks (void) {
  tg_Buf text = {0}, packed = {0}, back = {0};
  for (int i = 0; i < 20000; i++)
    tg_buf_addfmt(&text, "%d ", i * i % 7919);
  UNIT_CHECK(tg_gzip_pack(text.data, text.size, &packed));
  UNIT_CHECK(tg_gzip_unpack(packed.data, packed.size, text.size, &back));
  UNIT_CHECK(back.size == text.size
             && memcmp(back.data, text.data, text.size) == 0);
  tg_buf_clear(&back);
  UNIT_CHECK(!tg_gzip_unpack(packed.data, packed.size, text.size / 2, &back));
  tg_buf_clear(&back);
  UNIT_CHECK(!tg_gzip_unpack(packed.data, packed.size / 2, text.size, &back));
  tg_buf_clear(&back);
  UNIT_CHECK(!tg_gzip_unpack(text.data, text.size, text.size, &back));
  tg_buf_free(&text);
  tg_buf_free(&packed);
  tg_buf_free(&back);
}

int main (void) {
  UNIT_RUN(reads_a_traceparent);
  UNIT_RUN(refuses_what_is_none);
  UNIT_RUN(writes_text_as_utf8);
  UNIT_RUN(ends_a_batch_that_is_full);
  UNIT_RUN(halves_a_request);
  UNIT_RUN(halves_nothing_else);
  UNIT_RUN(packs_and_unpacks);
  return UNIT_END();
}
