/*
** test_packet.c - packets as JSON, field by field; grips and pools, narrowed.
*/
#include <math.h>

#include "capture.h"
#include "packet/packet.h"
#include "text/jsonwriter.h"
#include "unit.h"

static tg_Stream *stream;
static tg_Buf values, out;
static tg_Options options;
static tg_Scratch scratch;

enum { MAIN = 1, DEPOSIT, PRINT };

static tg_FunctionId define_deposit (void) {
  static const char *const names[] = {"self", "amount"};
  tg_Function f = {.nparams = 2, .vararg = true, .line = 12};
  f.name = strdup("Account:deposit");
  f.url = strdup("lib/account.lua");
  f.params = malloc(2 * sizeof *f.params);
  for (int i = 0; i < 2; i++)
    f.params[i] = strdup(names[i]);
  return tg_functions_add(stream->functions, &f);
}

static void setup (void) {
  stream = tg_stream_new();
  define(stream, "main", 0);
  UNIT_CHECK(define_deposit() == DEPOSIT);
  UNIT_CHECK(define_c(stream, "print", TG_ROLE_NONE) == PRINT);
}

static void write_packet (const tg_Packet *p) {
  tg_Selection d = {0};
  tg_JsonWriter json;
  tg_jsonwriter_init(&json, &out);
  tg_selection_add(&d, &options);
  tg_packet_write(&json.sink, p, stream, &d, &scratch);
  tg_selection_clear(&d);
}

/* The defaults again, but these types. */
static void want (uint32_t types) {
  tg_options_free(&options);
  tg_options_init(&options);
  options.types = types;
}

#define WRITES(p, wanted) (write_packet(p), UNIT_TEXT(&out, wanted))

/*
** {==================================================================
** Fields
** ===================================================================
*/

static void entered (void) {
  tg_Packet p = {.why = TG_WHY_ENTER, .sequence = 5, .time_ns = 1234567,
                 .function = DEPOSIT, .thread = 2, .depth = 3, .hits = 9,
                 .caller = MAIN, .line = 77};
  v_var(&values, 1);
  v_int(&values, 7);
  p.values = v_slice(&values);
  want(TG_TYPES_ALL);
  WRITES(&p, "{\"type\":\"enteredFrame\",\"sequence\":5,"
         "\"name\":\"Account:deposit\","
         "\"callsite\":{\"url\":\"main.lua\",\"line\":77},"
         "\"time\":1.234567,\"parameterNames\":[\"self\",\"amount\",\"...\"],"
         "\"arguments\":{\"values\":[7],\"objectPool\":[]},"
         "\"location\":{\"url\":\"lib/account.lua\",\"line\":12},"
         "\"depth\":3,\"hitCount\":9,\"thread\":2}");
  want(0);
  WRITES(&p, "{\"type\":\"enteredFrame\",\"sequence\":5}");
  want(TG_TYPE_NAME | TG_TYPE_ARGUMENTS);
  p.resumed = true;
  WRITES(&p, "{\"type\":\"enteredFrame\",\"sequence\":5,"
         "\"name\":\"Account:deposit\",\"resumed\":true}");
  tg_buf_clear(&values);
}

static void entered_c (void) {
  tg_Packet p = {.why = TG_WHY_ENTER, .function = PRINT, .thread = 1};
  want(TG_TYPE_NAME | TG_TYPE_CALLSITE | TG_TYPE_PARAMETERS
       | TG_TYPE_LOCATION | TG_TYPE_ARGUMENTS);
  WRITES(&p, "{\"type\":\"enteredFrame\",\"sequence\":0,\"name\":\"print\","
         "\"parameterNames\":[\"...\"],\"location\":{\"url\":\"[C]\"}}");
  p.function = 999;
  WRITES(&p, "{\"type\":\"enteredFrame\",\"sequence\":0,"
         "\"name\":\"(anonymous function)\"}");
}

#define EXITED "{\"type\":\"exitedFrame\",\"sequence\":1,"

static void exited (void) {
  tg_Packet p = {.why = TG_WHY_RETURN, .sequence = 1, .function = MAIN,
                 .thread = 1, .time_ns = 2000000};
  v_var(&values, 1);
  v_tag(&values, TG_GRIP_TRUE);
  p.values = v_slice(&values);
  want(TG_TYPES_ALL);
  WRITES(&p, EXITED "\"why\":\"return\",\"time\":2.0,\"depth\":0,"
         "\"thread\":1,\"return\":{\"value\":true,\"objectPool\":[]}}");
  want(TG_TYPE_THROW | TG_TYPE_YIELD);
  WRITES(&p, EXITED "\"why\":\"return\"}");
  p.why = TG_WHY_EXCEPTION;
  WRITES(&p, EXITED "\"why\":\"exception\","
         "\"throw\":{\"value\":true,\"objectPool\":[]}}");
  p.why = TG_WHY_YIELD;
  WRITES(&p, EXITED "\"why\":\"yield\","
         "\"yield\":{\"value\":true,\"objectPool\":[]}}");
  p.why = TG_WHY_TERMINATED;
  p.values.data = NULL;
  WRITES(&p, EXITED "\"why\":\"terminated\"}");
  p.why = TG_WHY_EXCEPTION;
  WRITES(&p, EXITED "\"why\":\"exception\",\"throw\":"
         "{\"value\":{\"type\":\"undefined\"},\"unknown\":true,"
         "\"objectPool\":[]}}");
  want(TG_TYPE_RETURN);
  p.why = TG_WHY_RETURN;
  WRITES(&p, EXITED "\"why\":\"return\"}");
  p.tail = true;
  WRITES(&p, EXITED "\"why\":\"return\",\"tailCall\":true}");
  tg_buf_clear(&values);
}

/* }================================================================== */

/*
** {==================================================================
** Values: what stands in 'values' is returned
** ===================================================================
*/

static void returns (const char *wanted, const char *file, int line) {
  tg_Packet p = {.why = TG_WHY_RETURN, .sequence = 1, .function = MAIN};
  static const char head[] = EXITED "\"why\":\"return\",\"return\":";
  p.values = v_slice(&values);
  write_packet(&p);
  UNIT_CHECK(out.size > sizeof head
             && memcmp(out.data, head, sizeof head - 1) == 0);
  out.size -= sizeof head;    /* and the last brace */
  memmove(out.data, out.data + sizeof head - 1, out.size);
  unit_text(&out, wanted, file, line);
  tg_buf_clear(&values);
}

#define RETURNS(wanted) returns((wanted), __FILE__, __LINE__)
#define SINGLE(grip) "{\"value\":" grip ",\"objectPool\":[]}"

static void result_counts (void) {
  want(TG_TYPE_RETURN);
  v_var(&values, 0);
  RETURNS("{\"value\":{\"type\":\"undefined\"},\"values\":[],"
          "\"objectPool\":[]}");
  v_var(&values, 2);
  v_str(&values, "a");
  v_tag(&values, TG_GRIP_NIL);
  RETURNS("{\"value\":\"a\",\"values\":[\"a\",{\"type\":\"undefined\"}],"
          "\"objectPool\":[]}");
  v_var(&values, TG_VALUES_MAX + 1);
  for (int i = 0; i < TG_VALUES_MAX; i++)
    v_tag(&values, TG_GRIP_FALSE);
  tg_Packet p = {.why = TG_WHY_RETURN, .values = v_slice(&values)};
  write_packet(&p);
  tg_buf_addchar(&out, '\0');
  UNIT_CHECK(strstr(out.data, "false],\"truncated\":true,") != NULL);
  tg_buf_clear(&out);
  tg_buf_clear(&values);
}

static void one (int64_t i) {
  v_var(&values, 1);
  v_int(&values, i);
}

static void numbers (void) {
  static const struct { double v; const char *wanted; } floats[] = {
    {2.5, SINGLE("2.5")}, {3.0, SINGLE("3.0")},
    {-0.0, SINGLE("{\"type\":\"-0\"}")},
    {(double)NAN, SINGLE("{\"type\":\"NaN\"}")},
    {(double)INFINITY, SINGLE("{\"type\":\"Infinity\"}")},
    {-(double)INFINITY, SINGLE("{\"type\":\"-Infinity\"}")}
  };
  want(TG_TYPE_RETURN);
  one(INT64_C(1) << 53);
  RETURNS(SINGLE("9007199254740992"));
  one(-(INT64_C(1) << 53) - 1);
  RETURNS(SINGLE("{\"type\":\"BigInt\",\"text\":\"-9007199254740993\"}"));
  one(INT64_MIN);
  RETURNS(SINGLE("{\"type\":\"BigInt\",\"text\":\"-9223372036854775808\"}"));
  for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
    v_var(&values, 1);
    v_float(&values, floats[i].v);
    RETURNS(floats[i].wanted);
  }
}

#define NULLED "{\"type\":\"null\"}"
#define CUT ",\"truncated\":true"

/* An object without room, and the entry that all of them share. */
#define NOROOM(i, class) "{\"type\":\"object\",\"objectId\":" #i "," \
  "\"class\":\"" class "\"" CUT "}"
#define STANDIN "{\"class\":\"object\",\"extensible\":true," \
  "\"frozen\":false,\"sealed\":false,\"prototype\":" NULLED "," \
  "\"ownProperties\":{},\"safeGetterValues\":{}" CUT "}"
#define ALONE(class) "{\"value\":" NOROOM(0, class) "," \
  "\"objectPool\":[" STANDIN "]}"

static void others (void) {
  static const struct { int tag; const char *wanted; } tags[] = {
    {TG_GRIP_NIL, SINGLE("{\"type\":\"undefined\"}")},
    {TG_GRIP_FALSE, SINGLE("false")}, {TG_GRIP_TRUE, SINGLE("true")},
    {TG_GRIP_NULL, SINGLE("{\"type\":\"null\"}")},
    {TG_GRIP_REDACTED, SINGLE("{\"type\":\"redacted\"}")}
  };
  want(TG_TYPE_RETURN);
  for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
    v_var(&values, 1);
    v_tag(&values, tags[i].tag);
    RETURNS(tags[i].wanted);
  }
  v_var(&values, 1);
  v_desc(&values, TG_GRIP_NOROOM, TG_OBJ_USERDATA);
  RETURNS(ALONE("userdata"));
}

static void text (const char *s, size_t size, uint64_t length) {
  v_var(&values, 1);
  v_long(&values, s, size, length);
}

static void strings (void) {
  want(TG_TYPE_RETURN);
  text("h\xc3\xa9", 3, 3);
  RETURNS(SINGLE("\"h\xc3\xa9\""));
  text("h\xc3\xa9", 2, 3);    /* recorded to the middle of a character */
  RETURNS(SINGLE("{\"type\":\"longString\",\"initial\":\"h\",\"length\":3}"));
  text("\xff\xfe\x01", 3, 3);
  RETURNS(SINGLE("{\"type\":\"bytes\",\"initial\":\"//4B\",\"length\":3}"));
  text("h\xc3", 2, 2);        /* whole, but no text */
  RETURNS(SINGLE("{\"type\":\"bytes\",\"initial\":\"aMM=\",\"length\":2}"));
  text("\xed\xa0\x80\x80", 4, 900);
  RETURNS(SINGLE("{\"type\":\"bytes\",\"initial\":\"7aCAgA==\","
                 "\"length\":900}"));
  options.limits.string = 4;
  text("ab\xe2\x82\xac" "c", 6, 6);
  RETURNS(SINGLE("{\"type\":\"longString\",\"initial\":\"ab\","
                 "\"length\":6}"));
  text("abcd", 4, 4);
  RETURNS(SINGLE("\"abcd\""));
  options.limits.string = 0;
  text("", 0, 0);
  RETURNS(SINGLE("\"\""));
  text("x", 1, 1);
  RETURNS(SINGLE("{\"type\":\"longString\",\"initial\":\"\",\"length\":1}"));
}

/* }================================================================== */

/*
** {==================================================================
** Objects
** ===================================================================
*/

#define OBJECT(i) "{\"type\":\"object\",\"objectId\":" #i "}"
#define PROPERTY(k, v) "\"" k "\":{\"enumerable\":true," \
  "\"configurable\":true,\"writable\":true,\"value\":" v "}"
#define DESC(class, proto, own, more) "{\"class\":\"" class "\"," \
  "\"extensible\":true,\"frozen\":false,\"sealed\":false," \
  "\"prototype\":" proto ",\"ownProperties\":{" own "}," \
  "\"safeGetterValues\":{}" more "}"

/* A table with itself, a child and a class; see graph_wanted. */
static void graph (void) {
  v_var(&values, 1);
  v_obj(&values, 0);
  v_desc(&values, TG_OBJ_TABLE, TG_DESC_CLASS | TG_DESC_PROTO | TG_DESC_PROPS);
  v_str(&values, "Node");
  v_obj(&values, 1);
  v_int(&values, 1);
  v_str(&values, "x");
  v_str(&values, "me");
  v_obj(&values, 0);
  v_str(&values, "kid");
  v_obj(&values, 2);
  v_tag(&values, TG_GRIP_END);
  v_desc(&values, TG_OBJ_TABLE, TG_DESC_TRUNCATED);
  v_desc(&values, TG_OBJ_TABLE, TG_DESC_PROPS);
  v_str(&values, "f");
  v_obj(&values, 3);
  v_tag(&values, TG_GRIP_END);
  v_desc(&values, TG_OBJ_FUNCTION, TG_DESC_FUNCTION);
  v_var(&values, DEPOSIT);
}

#define FUNCTION DESC("function", NULLED, "", \
  ",\"name\":\"Account:deposit\"," \
  "\"parameterNames\":[\"self\",\"amount\",\"...\"]," \
  "\"url\":\"lib/account.lua\",\"line\":12")
#define NODE(own) DESC("Node", OBJECT(1), \
  PROPERTY("[1]", "\"x\"") "," PROPERTY("me", OBJECT(0)) own, "")
#define META DESC("table", NULLED, "", CUT)

static void objects (void) {
  want(TG_TYPE_RETURN);
  options.limits.depth = 5;
  graph();
  RETURNS("{\"value\":" OBJECT(0) ",\"objectPool\":["
          NODE("," PROPERTY("kid", OBJECT(2))) "," META ","
          DESC("table", NULLED, PROPERTY("f", OBJECT(3)), "") ","
          FUNCTION "]}");
}

static void narrower_depth (void) {
  want(TG_TYPE_RETURN);
  graph();
  RETURNS("{\"value\":" OBJECT(0) ",\"objectPool\":["
          NODE("," PROPERTY("kid", OBJECT(2))) "," META ","
          DESC("table", NULLED, "", CUT) "]}");
  options.limits.depth = 0;
  graph();
  RETURNS("{\"value\":" OBJECT(0) ",\"objectPool\":["
          DESC("Node", "{\"type\":\"null\"" CUT "}", "", CUT) "]}");
}

/* What only a cut property led to has no place in the pool. */
static void narrower_properties (void) {
  want(TG_TYPE_RETURN);
  options.limits.depth = 5;
  options.limits.properties = 2;
  graph();
  RETURNS("{\"value\":" OBJECT(0) ",\"objectPool\":["
          DESC("Node", OBJECT(1),
               PROPERTY("[1]", "\"x\"") "," PROPERTY("me", OBJECT(0)), CUT)
          "," META "]}");
}

static void narrower_objects (void) {
  want(TG_TYPE_RETURN);
  options.limits.depth = 5;
  options.limits.objects = 3;
  graph();
  RETURNS("{\"value\":" OBJECT(0) ",\"objectPool\":["
          NODE("," PROPERTY("kid", OBJECT(2))) "," META ","
          DESC("table", NULLED, PROPERTY("f", NOROOM(3, "function")), "") ","
          STANDIN "]}");
  options.limits.objects = 0;
  graph();
  RETURNS(ALONE("table"));
}

static void redaction (void) {
  want(TG_TYPE_RETURN | TG_TYPE_ARGUMENTS);
  options.limits.depth = 5;
  tg_patterns_add(&options.redact, "^kid$");
  tg_patterns_add(&options.redact, "^am");
  graph();
  RETURNS("{\"value\":" OBJECT(0) ",\"objectPool\":["
          NODE("," PROPERTY("kid", "{\"type\":\"redacted\"}")) "," META "]}");
  v_var(&values, 3);
  for (int i = 0; i < 3; i++)
    v_int(&values, i);
  tg_Packet p = {.why = TG_WHY_ENTER, .function = DEPOSIT,
                 .values = v_slice(&values)};
  WRITES(&p, "{\"type\":\"enteredFrame\",\"sequence\":0,\"arguments\":"
         "{\"values\":[0,{\"type\":\"redacted\"},2],\"objectPool\":[]}}");
  tg_buf_clear(&values);
}

static void open_table (void) {
  v_var(&values, 1);
  v_obj(&values, 0);
  v_desc(&values, TG_OBJ_TABLE, TG_DESC_PROPS);
}

static void keys (void) {
  want(TG_TYPE_RETURN);
  options.limits.properties = TG_NOLIMIT;
  open_table();
  v_int(&values, -3);
  v_float(&values, 2.5);
  v_float(&values, 1e300);
  v_float(&values, -(double)INFINITY);
  v_tag(&values, TG_GRIP_TRUE);
  v_tag(&values, TG_GRIP_FALSE);
  v_tag(&values, TG_GRIP_NULL);
  v_int(&values, 1);
  v_str(&values, "[x\"\\]");
  v_int(&values, 2);
  v_obj(&values, 0);
  v_obj(&values, 1);
  v_str(&values, "");
  v_int(&values, 3);
  v_str(&values, "a\xff");
  v_int(&values, 4);
  v_tag(&values, TG_GRIP_END);
  v_desc(&values, TG_OBJ_THREAD, 0);
  RETURNS("{\"value\":" OBJECT(0) ",\"objectPool\":[" DESC("table", NULLED,
          PROPERTY("[-3]", "2.5") ","
          PROPERTY("[1e+300]", "{\"type\":\"-Infinity\"}") ","
          PROPERTY("[true]", "false") "," PROPERTY("[null]", "1") ","
          PROPERTY("[\\\"[x\\\\\\\"\\\\\\\\]\\\"]", "2") ","
          PROPERTY("[table 0]", OBJECT(1)) "," PROPERTY("", "3") ","
          PROPERTY("a\\\\xFF", "4"), "") ","
          DESC("thread", NULLED, "", "") "]}");
}

static void cut_keys (void) {
  want(TG_TYPE_RETURN);
  options.limits.string = 4;
  open_table();
  v_str(&values, "abc\xc3\xa9");
  v_int(&values, 1);
  v_desc(&values, TG_GRIP_NOROOM, TG_OBJ_TABLE);    /* nothing to call it */
  v_int(&values, 2);
  v_tag(&values, TG_GRIP_END);
  RETURNS("{\"value\":" OBJECT(0) ",\"objectPool\":["
          DESC("table", NULLED, PROPERTY("abc", "1"), CUT) "]}");
}

/* }================================================================== */

/*
** {==================================================================
** Too much, and nonsense
** ===================================================================
*/

/* However wide the limits, a packet stays below 16 MiB. */
static void huge (void) {
  static char s[4096];
  want(TG_TYPE_RETURN);
  options.limits = (tg_Limits){TG_NOLIMIT, TG_NOLIMIT, TG_NOLIMIT,
                               TG_NOLIMIT};
  memset(s, '\1', sizeof s);
  v_var(&values, 4000);
  for (int i = 0; i < 4000; i++)
    v_long(&values, s, sizeof s, sizeof s);
  tg_Packet p = {.why = TG_WHY_RETURN, .values = v_slice(&values)};
  write_packet(&p);
  UNIT_CHECK(out.size < 16u << 20 && out.size > 8u << 20);
  tg_buf_clear(&out);
  tg_buf_clear(&values);
  open_table();
  for (uint32_t i = 1; i <= 300000; i++) {
    v_int(&values, i);
    v_obj(&values, i);
  }
  v_tag(&values, TG_GRIP_END);
  for (int i = 1; i <= 300000; i++) {
    v_desc(&values, TG_OBJ_FUNCTION, TG_DESC_FUNCTION);
    v_var(&values, DEPOSIT);
  }
  p.values = v_slice(&values);
  write_packet(&p);
  UNIT_CHECK(out.size < 16u << 20 && out.size > 4u << 20);
  tg_buf_clear(&out);
  tg_buf_clear(&values);
}

/* Cut anywhere, the rest is missing and nothing worse. */
static void broken (void) {
  want(TG_TYPE_RETURN);
  options.limits.depth = 9;
  graph();
  for (size_t n = 0; n <= values.size; n++) {
    uint8_t *copy = malloc(n + 1);
    memcpy(copy, values.data, n);
    tg_Packet p = {.why = TG_WHY_RETURN,
                   .values = {.data = copy, .size = n}};
    write_packet(&p);
    tg_buf_clear(&out);
    free(copy);
  }
  tg_buf_clear(&values);
}

static void random_bytes (void) {
  uint64_t seed = 1234;
  want(TG_TYPE_RETURN);
  options.limits.depth = 9;
  for (int round = 0; round < 3000; round++) {
    size_t n = unit_random(&seed) % 200;
    tg_buf_addchar(&values, (char)(unit_random(&seed) % 4));
    for (size_t i = 0; i < n; i++) {
      uint32_t x = unit_random(&seed);
      static const uint8_t likely[] = {0x80, 0x81, 0x82, 0, 0, 8, 24, 0x3f,
                                       0x41, 0xc1, 5, 6, 7, 9, 31};
      tg_buf_addchar(&values, (char)(x % 8 == 0 ? x >> 8
                                     : likely[x / 8 % sizeof likely]));
    }
    tg_Packet p = {.why = TG_WHY_RETURN, .values = v_slice(&values)};
    write_packet(&p);
    UNIT_CHECK(out.size > 0 && out.data[out.size - 1] == '}');
    tg_buf_clear(&out);
    tg_buf_clear(&values);
  }
}

/* }================================================================== */

int main (void) {
  setup();
  UNIT_RUN(entered);
  UNIT_RUN(entered_c);
  UNIT_RUN(exited);
  UNIT_RUN(result_counts);
  UNIT_RUN(numbers);
  UNIT_RUN(others);
  UNIT_RUN(strings);
  UNIT_RUN(objects);
  UNIT_RUN(narrower_depth);
  UNIT_RUN(narrower_properties);
  UNIT_RUN(narrower_objects);
  UNIT_RUN(redaction);
  UNIT_RUN(keys);
  UNIT_RUN(cut_keys);
  UNIT_RUN(huge);
  UNIT_RUN(broken);
  UNIT_RUN(random_bytes);
  tg_options_free(&options);
  tg_scratch_free(&scratch);
  tg_buf_free(&values);
  tg_buf_free(&out);
  tg_stream_unpin(stream);
  return UNIT_END();
}
