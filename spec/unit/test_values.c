/*
** test_values.c - captured bytes read back, whole and broken.
*/
#include "capture.h"
#include "unit.h"

static tg_ValueCursor open_bytes (const tg_Buf *b) {
  tg_ValueCursor c;
  tg_values_open(&c, v_slice(b));
  return c;
}

static void scalars (void) {
  static const int64_t ints[] = {0, 1, -1, 63, 64, -64, INT64_MAX, INT64_MIN};
  tg_Buf b = {0};
  tg_Grip g;
  for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
    v_int(&b, ints[i]);
  v_float(&b, 2.5);
  v_tag(&b, TG_GRIP_SMALLINT + 63);
  tg_ValueCursor c = open_bytes(&b);
  for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
    tg_values_grip(&c, &g);
    UNIT_CHECK(g.type == TG_INT && g.u.i == ints[i]);
  }
  tg_values_grip(&c, &g);
  UNIT_CHECK(g.type == TG_FLOAT && g.u.f > 2.4 && g.u.f < 2.6);
  tg_values_grip(&c, &g);
  UNIT_CHECK(g.type == TG_INT && g.u.i == 63);
  UNIT_CHECK(!c.bad && c.p == c.end);
  tg_values_grip(&c, &g);
  UNIT_CHECK(c.bad && g.type == TG_END);
  tg_buf_free(&b);
}

static void tags (void) {
  static const tg_GripType wanted[] = {
    TG_NIL, TG_FALSE, TG_TRUE, TG_NULL, TG_REDACTED
  };
  tg_Buf b = {0};
  tg_Grip g;
  for (int i = 0; i < 5; i++)
    v_tag(&b, i);
  v_tag(&b, TG_GRIP_END);
  v_desc(&b, TG_GRIP_NOROOM, TG_OBJ_THREAD);
  tg_ValueCursor c = open_bytes(&b);
  for (int i = 0; i < 5; i++) {
    tg_values_grip(&c, &g);
    UNIT_CHECK(g.type == wanted[i]);
  }
  tg_values_grip(&c, &g);
  UNIT_CHECK(g.type == TG_END && !c.bad);
  tg_values_grip(&c, &g);
  UNIT_CHECK(g.type == TG_NOROOM && g.u.object == TG_OBJ_THREAD);
  tg_buf_free(&b);
}

static void strings (void) {
  tg_Buf b = {0};
  tg_Grip g;
  v_str(&b, "abc");
  v_long(&b, "abc", 3, 1000);
  v_long(&b, "", 0, 0);
  tg_ValueCursor c = open_bytes(&b);
  tg_values_grip(&c, &g);
  UNIT_CHECK(g.type == TG_STRING && g.u.s.size == 3 && g.u.s.length == 3);
  tg_values_grip(&c, &g);
  UNIT_CHECK(g.u.s.size == 3 && g.u.s.length == 1000);
  UNIT_CHECK(memcmp(g.u.s.data, "abc", 3) == 0);
  tg_values_grip(&c, &g);
  UNIT_CHECK(!c.bad && g.u.s.size == 0);
  tg_buf_free(&b);
}

static void descriptors (void) {
  tg_Buf b = {0};
  tg_Descriptor d;
  v_desc(&b, TG_OBJ_FUNCTION,
         TG_DESC_CLASS | TG_DESC_PROTO | TG_DESC_FUNCTION);
  v_str(&b, "Klass");
  v_obj(&b, 300);
  v_var(&b, 77);
  tg_ValueCursor c = open_bytes(&b);
  tg_values_descriptor(&c, &d);
  UNIT_CHECK(!c.bad && d.type == TG_OBJ_FUNCTION && d.function == 77);
  UNIT_CHECK(d.cls.u.s.size == 5 && d.proto.u.id == 300);
  tg_buf_free(&b);
}

/* What no recorder writes. */
static void nonsense (void) {
  static const struct { const char *bytes; size_t size; } cases[] = {
    {"", 0}, {"\x0a", 1}, {"\x3e", 1},                /* nothing; no such tag */
    {"\x05\x80", 2}, {"\x06\0\0\0\0\0\0\0", 8},       /* cut numbers */
    {"\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11},   /* 65 bits */
    {"\x43" "ab", 3}, {"\x07\x02\x03" "abc", 6},      /* short, and too long */
    {"\x07\x05\x05" "abc", 6}, {"\x09\x04", 2},
    {"\x08\xff\xff\xff\xff\x7f", 6}                   /* id of 35 bits */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tg_ValueCursor c;
    tg_Grip g;
    tg_values_open(&c, (tg_Slice){(const uint8_t *)cases[i].bytes,
                                  cases[i].size});
    tg_values_grip(&c, &g);
    UNIT_CHECK(c.bad && g.type == TG_END);
    tg_values_grip(&c, &g);
    UNIT_CHECK(c.bad && g.type == TG_END && tg_values_var(&c) == 0);
  }
}

static void absent (void) {
  tg_ValueCursor c;
  tg_Descriptor d;
  tg_values_open(&c, (tg_Slice){NULL, 0});
  UNIT_CHECK(c.bad && tg_values_var(&c) == 0);
  tg_values_descriptor(&c, &d);
  UNIT_CHECK(d.flags == 0);
}

int main (void) {
  UNIT_RUN(scalars);
  UNIT_RUN(tags);
  UNIT_RUN(strings);
  UNIT_RUN(descriptors);
  UNIT_RUN(nonsense);
  UNIT_RUN(absent);
  return UNIT_END();
}
