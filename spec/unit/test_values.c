/*
** test_values.c - captured bytes read back, whole and broken.
*/
#include "capture.h"
#include "stream/valuecopy.h"
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

/* What no writer writes. */
static void nonsense (void) {
  static const struct { const char *bytes; size_t size; } cases[] = {
    {"", 0}, {"\x0a", 1}, {"\x3e", 1},                /* nothing; no such tag */
    {"\x05\x80", 2}, {"\x06\0\0\0\0\0\0\0", 8},       /* cut numbers */
    {"\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11},   /* 65 bits */
    {"\x43" "ab", 3}, {"\x07\x02\x03" "abc", 6},      /* short, and too long */
    {"\x07\x05\x05" "abc", 6}, {"\x09\x04", 2},
    {"\x08\xff\xff\xff\xff\x7f", 6},                  /* id of 35 bits */
    {"\x0a\x01", 2}, {"\x3d", 1}                       /* nowhere; no tag */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tg_ValueCursor c;
    tg_Grip g;
    tg_Slice s = {
      .data = (const uint8_t *)cases[i].bytes, .size = cases[i].size
    };
    tg_values_open(&c, s);
    tg_values_grip(&c, &g);
    UNIT_CHECK(c.bad && g.type == TG_END);
    tg_values_grip(&c, &g);
    UNIT_CHECK(c.bad && g.type == TG_END && tg_values_var(&c) == 0);
  }
}

static void absent (void) {
  tg_ValueCursor c;
  tg_Descriptor d;
  tg_values_open(&c, (tg_Slice){.data = NULL});
  UNIT_CHECK(c.bad && tg_values_var(&c) == 0);
  tg_values_descriptor(&c, &d);
  UNIT_CHECK(d.flags == 0);
}

/*
** {==================================================================
** Strings that are elsewhere
** ===================================================================
*/

static void again (void) {
  tg_Buf b = {0};
  tg_Grip g;
  v_tag(&b, 'x');
  v_long(&b, "abc", 3, 1000);
  size_t at = b.size;
  v_again(&b, 1);
  v_long(&b, "de", 2, 2);
  v_again(&b, b.size - 5);
  tg_ValueCursor c;
  tg_values_open(&c, v_tail(&b, at));
  tg_values_grip(&c, &g);
  UNIT_CHECK(g.type == TG_STRING && g.u.s.size == 3 && g.u.s.length == 1000);
  UNIT_CHECK(g.u.s.data == b.data + 5);
  tg_values_grip(&c, &g);
  tg_values_grip(&c, &g);
  UNIT_CHECK(g.type == TG_STRING && memcmp(g.u.s.data, "de", 2) == 0);
  UNIT_CHECK(!c.bad && c.p == c.end);
  tg_buf_free(&b);
}

/* Places are counted from a CONTEXT, which has a bit for that. */
static void by_place (void) {
  tg_Buf b = {0}, copy = {0};
  tg_Grip g;
  v_tag(&b, TG_EV_CONTEXT | TG_EVF_PLACES);
  v_long(&b, "abc", 3, 1000);
  v_str(&b, "name");
  size_t at = b.size;
  v_var(&b, 3);
  v_again(&b, 1);
  v_small_again(&b, 8);
  v_again(&b, 1);
  tg_ValueCursor c;
  tg_values_open(&c, v_tail(&b, at));
  UNIT_CHECK(tg_values_var(&c) == 3);
  tg_values_grip(&c, &g);
  UNIT_CHECK(g.type == TG_STRING && g.u.s.data == b.data + 5);
  tg_values_grip(&c, &g);
  UNIT_CHECK(g.type == TG_STRING && g.u.s.size == 4 && g.u.s.length == 4
             && g.u.s.data == b.data + 9);
  tg_values_grip(&c, &g);
  UNIT_CHECK(g.type == TG_STRING && g.u.s.data == b.data + 5);
  UNIT_CHECK(!c.bad && c.p == c.end);
  tg_valuecopy(&copy, v_tail(&b, at), SIZE_MAX);
  tg_values_open(&c, v_slice(&copy));
  tg_values_var(&c);
  for (int i = 0; i < 3; i++) {
    tg_values_grip(&c, &g);
    UNIT_CHECK(g.type == TG_STRING && g.u.s.size == (i == 1 ? 4 : 3));
  }
  UNIT_CHECK(!c.bad && c.p == c.end);
  tg_buf_free(&b);
  tg_buf_free(&copy);
}

/* Whether a place, of a short string or another one, is one of a string. */
static bool is_place (tg_Buf *b, size_t place, bool small, size_t room) {
  tg_Grip g;
  tg_ValueCursor c;
  size_t at = b->size;
  if (small)
    v_small_again(b, place);
  else
    v_again(b, place);
  b->size -= room;
  tg_values_open(&c, v_tail(b, at));
  tg_values_grip(&c, &g);
  b->size = at;
  return !c.bad && g.type == TG_STRING;
}

static void no_place (void) {
  tg_Buf b = {0};
  tg_buf_reserve(&b, 256);
  v_tag(&b, TG_EV_CONTEXT | TG_EVF_PLACES);
  v_long(&b, "abc", 3, 1000);
  v_str(&b, "name");
  v_int(&b, 1);
  UNIT_CHECK(is_place(&b, 1, false, 0) && is_place(&b, 8, true, 0));
  UNIT_CHECK(!is_place(&b, 8, true, 1) && !is_place(&b, 8, true, 2));
  UNIT_CHECK(!is_place(&b, 8, false, 0) && !is_place(&b, 1, true, 0));
  UNIT_CHECK(!is_place(&b, 0, false, 0) && !is_place(&b, 0, true, 0));
  UNIT_CHECK(!is_place(&b, 13, true, 0));               /* an integer */
  for (size_t i = b.size; i < b.size + 3; i++)          /* itself, and behind */
    UNIT_CHECK(!is_place(&b, i, false, 0) && !is_place(&b, i, true, 0));
  UNIT_CHECK(!is_place(&b, (size_t)1 << 62, false, 0));
  UNIT_CHECK(!is_place(&b, TG_SMALLAGAIN_MOST, true, 0));
  b.data[8] = TG_GRIP_SMALLSTR + 63;    /* beyond the reference */
  UNIT_CHECK(!is_place(&b, 8, true, 0));
  tg_buf_free(&b);
}

/* A reference that is read at 'at', from 'back' before it. */
static bool refers (tg_Buf *b, size_t back, size_t origin) {
  tg_Grip g;
  tg_ValueCursor c;
  size_t at = b->size;
  v_again(b, at - back);
  tg_Slice s = v_tail(b, at);
  s.origin += origin;
  tg_values_open(&c, s);
  tg_values_grip(&c, &g);
  b->size = at;
  return !c.bad && g.type == TG_STRING;
}

static void nowhere (void) {
  tg_Buf b = {0};
  tg_buf_reserve(&b, 256);
  v_tag(&b, 'x');
  v_long(&b, "abc", 3, 1000);
  UNIT_CHECK(refers(&b, 7, 0) && refers(&b, 7, 1));
  UNIT_CHECK(!refers(&b, 7, 2));          /* before the origin */
  UNIT_CHECK(!refers(&b, 9, 0) && !refers(&b, (size_t)1 << 62, 0));
  UNIT_CHECK(!refers(&b, 0, 0));          /* itself */
  UNIT_CHECK(!refers(&b, 6, 0));          /* not a string's tag */
  v_str(&b, "a");
  UNIT_CHECK(!refers(&b, 2, 0));
  size_t at = b.size;
  v_again(&b, 1);
  UNIT_CHECK(!refers(&b, b.size - at, 0));  /* itself a reference */
  b.size = 1;
  v_tag(&b, TG_GRIP_STRING);
  v_var(&b, 5);
  v_var(&b, 5);
  tg_buf_addstr(&b, "abcd");              /* would reach into the reference */
  UNIT_CHECK(!refers(&b, 7, 0));
  tg_buf_free(&b);
}

/* A list with references wherever there can be grips. */
static size_t everywhere (tg_Buf *b, bool refer) {
  v_long(b, "abc", 3, 70);
  size_t start = b->size;
  v_var(b, 3);
  for (int i = 0; i < 5; i++) {
    if (refer)
      v_again(b, 0);
    else
      v_long(b, "abc", 3, 70);
    if (i == 0)
      v_obj(b, 0);
    if (i == 1)
      v_desc(b, TG_OBJ_TABLE, TG_DESC_CLASS | TG_DESC_PROTO | TG_DESC_PROPS);
    if (i == 2)
      v_obj(b, 1);
  }
  v_tag(b, TG_GRIP_END);
  v_desc(b, TG_OBJ_FUNCTION, TG_DESC_FUNCTION);
  v_var(b, 7);
  return start;
}

static void copies (void) {
  tg_Buf b = {0}, plain = {0}, copy = {0};
  size_t at = everywhere(&b, true);
  everywhere(&plain, false);
  tg_buf_addstr(&copy, "before");
  tg_valuecopy(&copy, v_tail(&b, at), SIZE_MAX);
  UNIT_CHECK(copy.size == 6 + plain.size - at);
  UNIT_CHECK(memcmp(copy.data + 6, plain.data + at, plain.size - at) == 0);
  tg_buf_clear(&copy);
  tg_valuecopy(&copy, v_slice(&plain), SIZE_MAX);
  UNIT_CHECK(copy.size == plain.size);
  UNIT_CHECK(memcmp(copy.data, plain.data, plain.size) == 0);
  tg_buf_free(&b);
  tg_buf_free(&plain);
  tg_buf_free(&copy);
}

/* Any byte may be any other: nothing is read that is not there. */
static void spoiled_copies (void) {
  tg_Buf b = {0}, copy = {0};
  size_t at = everywhere(&b, true);
  for (size_t i = 0; i < b.size; i++) {
    char good = b.data[i];
    for (int byte = 0; byte < 256; byte++) {
      b.data[i] = (char)byte;
      tg_buf_clear(&copy);
      tg_valuecopy(&copy, v_tail(&b, at), SIZE_MAX);
    }
    b.data[i] = good;
    tg_Buf cut = {0};
    tg_buf_add(&cut, b.data, i > at ? i : at);
    tg_valuecopy(&copy, v_tail(&cut, at), SIZE_MAX);
    tg_buf_free(&cut);
  }
  tg_buf_free(&b);
  tg_buf_free(&copy);
}

/* Few bytes that mean too many. */
static void swollen_copies (void) {
  static char text[1 << 20];
  tg_Buf b = {0}, copy = {0};
  v_long(&b, text, sizeof text, sizeof text);
  size_t at = b.size;
  v_var(&b, TG_VALUES_MAX);
  for (int i = 0; i < TG_VALUES_MAX; i++)
    v_again(&b, 0);
  tg_valuecopy(&copy, v_tail(&b, at), SIZE_MAX);
  UNIT_CHECK(copy.size < TG_PACKET_MAX + (2u << 20));
  tg_buf_free(&b);
  tg_buf_free(&copy);
}

/* }================================================================== */

/*
** {==================================================================
** Tables that are told by others
** ===================================================================
*/

/* {a = 1, b = true, [2] = an object}, behind a byte that is nothing. */
static void model (tg_Buf *b) {
  v_tag(b, 'x');
  v_desc(b, TG_OBJ_TABLE, TG_DESC_PROPS);
  v_str(b, "a");
  v_int(b, 1);
  v_str(b, "b");
  v_tag(b, TG_GRIP_TRUE);
  v_int(b, 2);
  v_obj(b, 5);
  v_tag(b, TG_GRIP_END);
}

/* The same with b = "new", and object 1 for 5; then a function. */
static size_t likes (tg_Buf *b) {
  model(b);
  size_t at = b->size;
  v_like(b, 1, 6);
  v_str(b, "new");
  v_obj(b, 1);
  v_desc(b, TG_OBJ_FUNCTION, 0);
  return at;
}

/* Three tables in one byte, then a function. Where any of the three is read by
   a cursor of its own, it is like them. */
static void named (void) {
  tg_Buf b = {0};
  tg_ValueCursor c;
  tg_Descriptor d;
  v_tag(&b, TG_DESC_NAMED | 2 << TG_NAMED_SHIFT | 2);
  v_desc(&b, TG_OBJ_FUNCTION, 0);
  tg_values_open(&c, v_slice(&b));
  for (int i = 0; i < 3; i++) {
    tg_ValueCursor there = {.p = c.p, .end = c.end};
    tg_values_descriptor(&there, &d);
    UNIT_CHECK(d.flags == (TG_DESC_TRUNCATED | TG_DESC_META) && c.p < c.end);
    tg_values_descriptor(&c, &d);
    UNIT_CHECK(d.type == TG_OBJ_TABLE && !c.bad);
    UNIT_CHECK(d.flags == (TG_DESC_TRUNCATED | TG_DESC_META));
  }
  UNIT_CHECK(!tg_values_pass_head(&c) && !c.bad && c.p == c.end);
  tg_values_open(&c, v_slice(&b));
  for (int i = 0; i < 4; i++)
    UNIT_CHECK(!tg_values_pass_head(&c) && !c.bad);
  UNIT_CHECK(c.p == c.end);
  v_tag(&b, TG_DESC_NAMED | 3 << TG_NAMED_SHIFT);       /* says nothing */
  tg_values_open(&c, v_slice(&b));
  c.p += 3;
  tg_values_descriptor(&c, &d);
  UNIT_CHECK(c.bad);
  tg_buf_free(&b);
}

/* A copy has bytes for each. */
static void named_copies (void) {
  static const char plain[] = "\x02\x80\x81\x48\x48\1\0";
  tg_Buf b = {0}, copy = {0};
  v_var(&b, 2);
  v_tag(&b, TG_GRIP_SMALLOBJ);
  v_tag(&b, TG_GRIP_SMALLOBJ + 1);
  v_tag(&b, TG_DESC_NAMED | 1 << TG_NAMED_SHIFT | 1);
  v_desc(&b, TG_OBJ_FUNCTION, 0);
  tg_valuecopy(&copy, v_tail(&b, 0), SIZE_MAX);
  UNIT_CHECK(copy.size == sizeof plain - 1);
  UNIT_CHECK(memcmp(copy.data, plain, copy.size) == 0);
  tg_buf_free(&b);
  tg_buf_free(&copy);
}

static void like (void) {
  tg_Buf b = {0};
  size_t at = likes(&b);
  tg_ValueCursor c;
  tg_Descriptor d;
  tg_Grip key, v;
  tg_values_open(&c, v_tail(&b, at));
  tg_values_descriptor(&c, &d);
  UNIT_CHECK(d.type == TG_OBJ_TABLE && d.flags == TG_DESC_PROPS);
  UNIT_CHECK(!tg_values_own(&c) && tg_values_property(&c, &key, &v));
  UNIT_CHECK(*key.u.s.data == 'a' && v.type == TG_INT && v.u.i == 1);
  UNIT_CHECK(tg_values_own(&c) && tg_values_property(&c, &key, &v));
  UNIT_CHECK(*key.u.s.data == 'b' && *v.u.s.data == 'n');
  UNIT_CHECK(tg_values_property(&c, &key, &v));
  UNIT_CHECK(key.u.i == 2 && v.type == TG_OBJECT && v.u.id == 1);
  UNIT_CHECK(!tg_values_property(&c, &key, &v));
  tg_values_descriptor(&c, &d);
  UNIT_CHECK(d.type == TG_OBJ_FUNCTION && !c.bad && c.p == c.end);
  tg_values_open(&c, v_tail(&b, at));
  UNIT_CHECK(tg_values_pass_head(&c));
  tg_values_skip_properties(&c);
  UNIT_CHECK(!tg_values_pass_head(&c) && !c.bad && c.p == c.end);
  tg_buf_free(&b);
}

/* Type and flags in one byte. */
static void short_heads (void) {
  static const uint32_t flags[] = {TG_DESC_CLASS, TG_DESC_PROTO, TG_DESC_PROPS,
                                   TG_DESC_TRUNCATED, TG_DESC_META};
  tg_ValueCursor c;
  tg_Head h;
  for (unsigned set = 0; set < 32; set++) {
    uint32_t all = 0;
    for (unsigned i = 0; i < 5; i++)
      all |= set >> i & 1 ? flags[i] : 0;
    uint8_t byte = tg_values_short(TG_SHORT_TABLE, all);
    tg_values_open(&c, (tg_Slice){.data = &byte, .size = 1});
    tg_values_head(&c, &h);
    UNIT_CHECK(h.type == TG_OBJ_TABLE && h.flags == all && !h.like && !c.bad);
    byte = tg_values_short(TG_SHORT_UNLIKE_NEXT, all);
    tg_values_open(&c, (tg_Slice){.data = &byte, .size = 1});
    tg_values_head(&c, &h);
    UNIT_CHECK(h.flags == all && h.like && h.nexts && h.hidden && !c.bad);
    UNIT_CHECK(tg_values_type(byte) == TG_OBJ_TABLE);
  }
  uint8_t defined[] = {TG_DESC_DEFINED, 9};
  tg_Descriptor d;
  tg_values_open(&c, (tg_Slice){.data = defined, .size = 2});
  tg_values_descriptor(&c, &d);
  UNIT_CHECK(d.type == TG_OBJ_FUNCTION && d.flags == TG_DESC_FUNCTION
             && d.function == 9 && c.p == c.end);
  UNIT_CHECK(tg_values_type(defined[0]) == TG_OBJ_FUNCTION);
}

/* A table of four properties: an object, a number, two objects. */
static size_t with_objects (tg_Buf *b) {
  static const char *const keys[] = {"a", "n", "b", "c"};
  v_tag(b, tg_values_short(TG_SHORT_TABLE, TG_DESC_PROPS));
  for (int i = 0; i < 4; i++) {
    v_str(b, keys[i]);
    if (i == 1)
      v_int(b, 7);
    else
      v_tag(b, TG_GRIP_SMALLOBJ + 1 + i);
  }
  v_tag(b, TG_GRIP_END);
  return b->size;
}

/* Objects that come next; one of them was met before; what is hidden there is
   so here, and counts. */
static void next_objects (void) {
  tg_Buf b = {0};
  tg_ValueCursor c;
  tg_Descriptor d;
  tg_Grip key, v;
  size_t at = with_objects(&b);
  v_like_next(&b, 0, 1u << 2, 20);
  v_obj(&b, 0);
  for (int hidden = 0; hidden < 2; hidden++) {
    if (hidden)
      b.data[3] = TG_GRIP_VEILOBJ;
    tg_values_open(&c, v_tail(&b, at));
    tg_values_descriptor(&c, &d);
    UNIT_CHECK(d.flags == TG_DESC_PROPS);
    UNIT_CHECK(tg_values_property(&c, &key, &v) && *key.u.s.data == 'a');
    UNIT_CHECK(hidden ? v.type == TG_REDACTED
                      : v.type == TG_OBJECT && v.u.id == 20);
    UNIT_CHECK(tg_values_property(&c, &key, &v) && v.u.i == 7);
    UNIT_CHECK(tg_values_own(&c));
    UNIT_CHECK(tg_values_property(&c, &key, &v) && v.u.id == 0);
    UNIT_CHECK(tg_values_property(&c, &key, &v) && v.type == TG_OBJECT);
    UNIT_CHECK(*key.u.s.data == 'c' && v.u.id == 21);
    UNIT_CHECK(!tg_values_property(&c, &key, &v) && !c.bad && c.p == c.end);
  }
  tg_buf_free(&b);
}

/* Standing by itself they are written out; any byte may be another one. */
static void next_copied (void) {
  tg_Buf b = {0}, copy = {0};
  tg_ValueCursor c;
  tg_Descriptor d;
  tg_Grip key, v;
  size_t at = with_objects(&b);
  v_var(&b, 0);
  v_like_next(&b, 0, 0, 300);
  tg_valuecopy(&copy, v_tail(&b, at), SIZE_MAX);
  tg_values_open(&c, v_slice(&copy));
  UNIT_CHECK(tg_values_var(&c) == 0);
  tg_values_descriptor(&c, &d);
  for (uint32_t i = 0; i < 4; i++) {
    UNIT_CHECK(tg_values_property(&c, &key, &v));
    UNIT_CHECK(i == 1 ? v.u.i == 7
                      : v.type == TG_OBJECT && v.u.id == 300 + i - (i > 1));
  }
  UNIT_CHECK(!tg_values_property(&c, &key, &v) && !c.bad && c.p == c.end);
  for (size_t i = 0; i < b.size; i++) {
    char good = b.data[i];
    for (int byte = 0; byte < 256; byte++) {
      b.data[i] = (char)byte;
      tg_buf_clear(&copy);
      tg_valuecopy(&copy, v_tail(&b, at), SIZE_MAX);
    }
    b.data[i] = good;
  }
  tg_buf_free(&b);
  tg_buf_free(&copy);
}

/* How many properties there are of a table like what is at 'back' before it,
   where no more than 'origin' may be referred to; -1: its bytes are bad. */
static int liked (tg_Buf *b, size_t back, size_t origin, uint64_t differ) {
  size_t at = b->size;
  tg_ValueCursor c;
  tg_Descriptor d;
  tg_Grip key, v;
  int n = 0;
  v_like(b, at - back, differ);
  tg_Slice s = v_tail(b, at);
  s.origin += origin;
  tg_values_open(&c, s);
  tg_values_descriptor(&c, &d);
  while ((d.flags & TG_DESC_PROPS) && tg_values_property(&c, &key, &v))
    n++;
  b->size = at;
  return c.bad ? -1 : n;
}

/* By its place: the last object of the list is what the first is like. */
static void like_place (void) {
  tg_Buf b = {0};
  tg_ValueCursor c;
  tg_Descriptor d;
  tg_Grip key, v;
  v_tag(&b, TG_EV_CONTEXT | TG_EVF_PLACES);
  size_t model = b.size;
  v_desc(&b, TG_OBJ_TABLE, TG_DESC_PROPS);
  v_str(&b, "a");
  v_int(&b, 1);
  v_str(&b, "b");
  v_int(&b, 2);
  v_tag(&b, TG_GRIP_END);
  size_t at = b.size;
  v_like(&b, model, 2);
  v_int(&b, 7);
  tg_values_open(&c, v_tail(&b, at));
  tg_values_descriptor(&c, &d);
  UNIT_CHECK(tg_values_property(&c, &key, &v) && v.u.i == 1);
  UNIT_CHECK(tg_values_property(&c, &key, &v) && v.u.i == 7
             && key.u.s.data[0] == 'b');
  UNIT_CHECK(!tg_values_property(&c, &key, &v) && !c.bad);
  for (size_t place = 0; place < b.size + 8; place++) {
    b.size = at;
    v_like(&b, place, 0);
    tg_values_open(&c, v_tail(&b, at));
    tg_values_descriptor(&c, &d);
    UNIT_CHECK(c.bad == (place != model));
  }
  tg_buf_free(&b);
}

static void like_nothing (void) {
  tg_Buf b = {0};
  tg_buf_reserve(&b, 1024);
  v_desc(&b, 0, 0);
  v_desc(&b, TG_OBJ_TABLE, TG_DESC_PROPS);
  v_str(&b, "a");
  v_int(&b, 1);
  v_tag(&b, TG_GRIP_END);
  size_t back = b.size - 2;
  UNIT_CHECK(liked(&b, back, 0, 0) == 1 && liked(&b, back, 2, 0) == 1);
  UNIT_CHECK(liked(&b, back, 3, 0) == -1);          /* before the origin */
  UNIT_CHECK(liked(&b, (size_t)1 << 62, 0, 0) == -1);
  UNIT_CHECK(liked(&b, 0, 0, 0) == -1);             /* itself */
  UNIT_CHECK(liked(&b, back, 0, 1) == -1);      /* what differs is not there */
  UNIT_CHECK(liked(&b, back, 0, 2) == -1);          /* there is no second one */
  UNIT_CHECK(liked(&b, back + 2, 0, 0) == -1);  /* nothing is listed there */
  UNIT_CHECK(liked(&b, back - 1, 0, 0) == -1);      /* no table's type */
  size_t at = b.size;
  v_like(&b, 2, 0);
  UNIT_CHECK(liked(&b, b.size - at, 0, 0) == -1);   /* a reference itself */
  b.size = 4;
  v_str(&b, "a");
  v_obj(&b, 1);
  v_tag(&b, TG_GRIP_END);
  UNIT_CHECK(liked(&b, b.size - 2, 0, 0) == -1);    /* another list's object */
  b.size = 4;
  v_str(&b, "a");
  v_int(&b, 1);
  UNIT_CHECK(liked(&b, b.size - 2, 0, 0) == -1);    /* it does not end */
  tg_buf_free(&b);
}

/* Few bytes that mean many. */
static void like_many (void) {
  tg_Buf b = {0};
  v_desc(&b, TG_OBJ_TABLE, TG_DESC_PROPS);
  for (int i = 0; i < 2 * (int)TG_LIKE_MOST; i++)
    v_int(&b, 1);
  size_t at = b.size;
  v_tag(&b, TG_GRIP_END);
  UNIT_CHECK(liked(&b, b.size, 0, 0) == (int)TG_LIKE_MOST);
  b.size = at;
  v_int(&b, 1);
  v_int(&b, 1);
  v_tag(&b, TG_GRIP_END);
  UNIT_CHECK(liked(&b, b.size, 0, 0) == -1);
  tg_buf_free(&b);
}

/* A list with such a table, and the same list without. */
static void like_copied (void) {
  tg_Buf b = {0}, plain = {0}, copy = {0};
  model(&b);
  size_t at = b.size;
  v_var(&b, 1);
  v_obj(&b, 0);
  v_like(&b, 1, 6);
  v_str(&b, "new");
  v_obj(&b, 1);
  v_desc(&b, TG_OBJ_FUNCTION, 0);
  v_var(&plain, 1);
  v_obj(&plain, 0);
  v_tag(&plain, tg_values_short(TG_SHORT_TABLE, TG_DESC_PROPS));
  v_str(&plain, "a");
  v_int(&plain, 1);
  v_str(&plain, "b");
  v_str(&plain, "new");
  v_int(&plain, 2);
  v_obj(&plain, 1);
  v_tag(&plain, TG_GRIP_END);
  v_desc(&plain, TG_OBJ_FUNCTION, 0);
  tg_valuecopy(&copy, v_tail(&b, at), SIZE_MAX);
  UNIT_CHECK(copy.size == plain.size
             && memcmp(copy.data, plain.data, plain.size) == 0);
  for (size_t i = 0; i < b.size; i++) {     /* whatever a byte is */
    char good = b.data[i];
    for (int byte = 0; byte < 256; byte++) {
      b.data[i] = (char)byte;
      tg_buf_clear(&copy);
      tg_valuecopy(&copy, v_tail(&b, at), SIZE_MAX);
    }
    b.data[i] = good;
  }
  tg_buf_free(&b);
  tg_buf_free(&plain);
  tg_buf_free(&copy);
}

/* }================================================================== */

int main (void) {
  UNIT_RUN(scalars);
  UNIT_RUN(tags);
  UNIT_RUN(strings);
  UNIT_RUN(descriptors);
  UNIT_RUN(nonsense);
  UNIT_RUN(absent);
  UNIT_RUN(again);
  UNIT_RUN(by_place);
  UNIT_RUN(no_place);
  UNIT_RUN(nowhere);
  UNIT_RUN(named);
  UNIT_RUN(named_copies);
  UNIT_RUN(like);
  UNIT_RUN(short_heads);
  UNIT_RUN(next_objects);
  UNIT_RUN(next_copied);
  UNIT_RUN(like_place);
  UNIT_RUN(like_nothing);
  UNIT_RUN(like_many);
  UNIT_RUN(like_copied);
  UNIT_RUN(copies);
  UNIT_RUN(spoiled_copies);
  UNIT_RUN(swollen_copies);
  return UNIT_END();
}
