/*
** test_jsonwriter.c - JSON text, byte by byte.
*/
#include <stdlib.h>

#include "text/jsonwriter.h"
#include "unit.h"

static tg_Buf out;
static tg_JsonWriter json;
static tg_Sink *s;

static void begin (void) {
  tg_jsonwriter_init(&json, &out);
  s = &json.sink;
}

static void structure (void) {
  begin();
  s->object(s);
  s->key(s, "a", 1);
  s->array(s);
  s->integer(s, 1);
  s->boolean(s, true);
  s->object(s);
  s->close(s);
  s->array(s);
  s->close(s);
  s->close(s);
  s->key(s, "b", 1);
  s->string(s, "x", 1);
  s->close(s);
  UNIT_TEXT(&out, "{\"a\":[1,true,{},[]],\"b\":\"x\"}");
  s->boolean(s, false);
  UNIT_TEXT(&out, "false");
}

static void strings (void) {
  begin();
  s->string(s, "", 0);
  UNIT_TEXT(&out, "\"\"");
  s->string(s, "a\"\\/\b\f\n\r\t\x01\x1f\x7fz", 13);
  UNIT_TEXT(&out, "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007fz\"");
  s->string(s, "\0", 1);
  UNIT_TEXT(&out, "\"\\u0000\"");
  s->string(s, "h\xc3\xa9\xf0\x9f\x98\x80", 7);
  UNIT_TEXT(&out, "\"h\xc3\xa9\xf0\x9f\x98\x80\"");
}

static void integers (void) {
  begin();
  s->integer(s, INT64_MIN);
  UNIT_TEXT(&out, "-9223372036854775808");
  s->integer(s, INT64_MAX);
  UNIT_TEXT(&out, "9223372036854775807");
  s->integer(s, 0);
  UNIT_TEXT(&out, "0");
}

static void floats (void) {
  static const struct { double v; const char *wanted; } cases[] = {
    {0.0, "0.0"}, {1.0, "1.0"}, {-1.5, "-1.5"}, {0.1, "0.1"},
    {3.141592653589793, "3.141592653589793"}, {1e15, "1e+15"},
    {123456.789, "123456.789"}, {1e300, "1e+300"}, {5e-324, "5e-324"},
    {1e21, "1e+21"}, {0.3, "0.3"}, {100.0, "100.0"}, {-0.25, "-0.25"},
    {0.1 + 0.2, "0.30000000000000004"}, {1e-7, "1e-07"},
    {9007199254740993.0, "9007199254740992.0"}
  };
  begin();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    s->number(s, cases[i].v);
    UNIT_TEXT(&out, cases[i].wanted);
  }
}

/* Random bit patterns and random decimals read back the same. */
static void floats_round (void) {
  uint64_t seed = 99;
  begin();
  for (int i = 0; i < 20000; i++) {
    uint64_t bits = (uint64_t)unit_random(&seed) << 33
                    ^ (uint64_t)unit_random(&seed) << 11 ^ unit_random(&seed);
    double v;
    memcpy(&v, &bits, 8);
    if (i % 2 == 0)
      v = (double)(unit_random(&seed) % 100000) / 1000;
    if (!(v - v == 0))
      continue;
    s->number(s, v);
    tg_buf_addchar(&out, '\0');
    double back = strtod(out.data, NULL);
    UNIT_CHECK(memcmp(&back, &v, 8) == 0);
    UNIT_CHECK(strpbrk(out.data, ".e") != NULL);
    tg_buf_clear(&out);
  }
}

static void milliseconds (void) {
  begin();
  s->ms(s, 0);
  UNIT_TEXT(&out, "0.0");
  s->ms(s, 1);
  UNIT_TEXT(&out, "0.000001");
  s->ms(s, 1500000);
  UNIT_TEXT(&out, "1.5");
  s->ms(s, UINT64_C(86400000000000) + 123456);
  UNIT_TEXT(&out, "86400000.123456");
}

int main (void) {
  UNIT_RUN(structure);
  UNIT_RUN(strings);
  UNIT_RUN(integers);
  UNIT_RUN(floats);
  UNIT_RUN(floats_round);
  UNIT_RUN(milliseconds);
  tg_buf_free(&out);
  return UNIT_END();
}
