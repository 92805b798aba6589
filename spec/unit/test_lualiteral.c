/*
** test_lualiteral.c - text for terminals, and values as Lua literals.
*/
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "packet/lualiteral.h"
#include "text/terminal.h"

static int failures;

static void expect (const char *what, tg_Buf *got, const char *wanted) {
  if (got->size != strlen(wanted)
      || memcmp(got->data, wanted, got->size) != 0) {
    failures++;
    printf("test_literal: %s: got [%.*s] wanted [%s]\n", what, (int)got->size,
           got->data, wanted);
  }
  tg_buf_clear(got);
}

static void test_escape (void) {
  tg_Buf b = {0};
#define ESCAPED(s, wanted) \
  tg_terminal_escape(&b, s, sizeof(s) - 1, '"'); expect(#s, &b, wanted)
  ESCAPED("a\"b\\c", "a\\\"b\\\\c");
  ESCAPED("\n\t\r\0\x7f", "\\n\\t\\r\\x00\\x7F");
  ESCAPED("h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "hé € 😀");
  ESCAPED("\xc3", "\\xC3");
  ESCAPED("\xc0\xaf", "\\xC0\\xAF");           /* overlong */
  ESCAPED("\xed\xa0\x80", "\\xED\\xA0\\x80");  /* surrogate */
  ESCAPED("\xf4\x90\x80\x80", "\\xF4\\x90\\x80\\x80");
  ESCAPED("\xc2\x9b", "\\xC2\\x9B");           /* CSI in eight bits */
  ESCAPED("\033[31m", "\\x1B[31m");
  ESCAPED("\xe2\x80\xae" "a", "\\u{202E}a");    /* right to left */
  ESCAPED("\xe2\x80\x8b\xe2\x81\xa6", "\\u{200B}\\u{2066}");
  tg_buf_free(&b);
}

static void test_cut (void) {
  tg_Buf b = {0};
  tg_buf_addstr(&b, "abcdef");
  tg_terminal_cut(&b, 0, 6);
  expect("what fits stays", &b, "abcdef");
  tg_buf_addstr(&b, "abcdefg");
  tg_terminal_cut(&b, 2, 4);
  expect("cut from a byte on", &b, "abcde…");
  tg_buf_addstr(&b, "\033[1mabcdef\033[0m");
  tg_terminal_cut(&b, 0, 4);
  expect("colours take no room", &b, "\033[1mabc…\033[0m");
  tg_buf_addstr(&b, "日本語");
  tg_terminal_cut(&b, 0, 4);
  expect("wide characters", &b, "日…");
  tg_buf_free(&b);
}

static tg_Selection selection;
static tg_Functions *functions;

#define LIST(bytes, wanted) \
  list(&w, &b, bytes, sizeof(bytes) - 1, wanted)

static void list (tg_LuaLiteral *w, tg_Buf *b, const char *bytes, size_t size,
                  const char *wanted) {
  tg_Slice s = {.data = (const uint8_t *)bytes, .size = size};
  tg_lualiteral_list(w, b, s, NULL);
  expect(wanted, b, wanted);
}

static void real (tg_LuaLiteral *w, double f, const char *wanted) {
  tg_Buf b = {0};
  char bytes[10] = {1, TG_GRIP_FLOAT};
  memcpy(bytes + 2, &f, 8);
  list(w, &b, bytes, sizeof(bytes), wanted);
  tg_buf_free(&b);
}

static void test_scalars (void) {
  tg_LuaLiteral w = {.functions = functions, .selection = &selection,
                     .limits = {9, 99, 4, 99}};
  tg_Buf b = {0};
  LIST("\4\0\1\2\3", "nil, false, true, null");
  LIST("\2\xc7\4", "7, <redacted>");
  LIST("\1\5\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", "math.mininteger");
  LIST("\1\5\3", "-2");
  LIST("\1\x46" "abcdef", "\"abcd\"...");
  LIST("\1\x46" "ab\xe2\x82\xac" "c", "\"ab\"...");  /* not half a character */
  LIST("\1\x07\x09\x02xy", "\"xy\"...");
  LIST("\3\x09\0\x09\1\x09\3", "{...}, function, userdata");
  LIST("", "");
  real(&w, 1, "1.0");
  real(&w, 0.1, "0.1");
  real(&w, -1e300, "-1e+300");
  real(&w, 1.0 / 3, "0.3333333333333333");
  real(&w, -(double)__builtin_inff(), "-math.huge");
  tg_lualiteral_free(&w);
  tg_buf_free(&b);
}

static void test_tables (void) {
  tg_LuaLiteral w = {.functions = functions, .selection = &selection,
                     .limits = {9, 3, 99, 99}};
  tg_Buf b = {0};
  LIST("\1\x80\0\0", "{}");
  LIST("\1\x80\0\x10", "{...}");
  LIST("\1\x80\0\x08\xc1\x41x\xc2\x41y\x43" "end\2\x3f",
       "{\"x\", \"y\", [\"end\"] = true}");
  LIST("\1\x80\0\x08\xc2\x41x\x41k\xc1\xc9\2\xc8\1\x3f",
       "{[2] = \"x\", k = 1, [9] = true, ...}");
  LIST("\2\x80\x80\0\x09\x47" "Account\x41n\x80\x3f",
       "&1 Account {n = *1}, *1");
  LIST("\1\x80\0\x0a\x81\x41n\xc1\x3f\0\x10", "object {n = 1}");
  LIST("\3\x80\x81\x82\2\0\3\1\x45" "FILE*\1\0",
       "thread, userdata: FILE*, function");
  w.limits.depth = 1;
  LIST("\1\x80\0\x08\x41t\x81\x41s\x82\x3f\0\x08\xc1\xc1\x3f\0\x08\x3f",
       "{t = {...}, s = {}}");
  w.limits.depth = 0;
  LIST("\1\x80\0\x08\x41t\xc1\x3f", "{...}");
  tg_lualiteral_free(&w);
  tg_buf_free(&b);
}

static void test_secrets (void) {
  tg_LuaLiteral w = {.functions = functions, .selection = &selection,
                     .limits = {9, 99, 99, 99}};
  tg_Buf b = {0};
  tg_Options o;
  tg_options_init(&o);
  tg_patterns_add(&o.redact, "^pass");
  tg_selection_add(&selection, &o);
  LIST("\1\x80\0\x08\x48" "password\x41x\x41u\x41y\x3f",
       "{password = <redacted>, u = \"y\"}");
  tg_options_free(&o);
  tg_selection_clear(&selection);
  tg_lualiteral_free(&w);
  tg_buf_free(&b);
}

/* Every list cut short, and every byte of it changed: no crash. */
static void test_garbage (void) {
  static const char good[] =
      "\2\x80\x80\0\x0f\x47" "Account\x81\x41n\x80\xc1\x82\x3f\0\x10\1\2\1";
  tg_LuaLiteral w = {.functions = functions, .selection = &selection,
                     .limits = {9, 99, 99, 99}};
  tg_Buf b = {0};
  for (size_t size = 0; size < sizeof(good); size++)
    for (unsigned byte = 0; byte < 256; byte++) {
      char bytes[sizeof(good)];
      memcpy(bytes, good, sizeof(good));
      if (size > 0)
        bytes[size - 1] = (char)byte;
      tg_Slice s = {.data = (uint8_t *)bytes, .size = size};
      tg_lualiteral_list(&w, &b, s, NULL);
      s.size = sizeof(good) - 1;
      tg_lualiteral_list(&w, &b, s, NULL);
      tg_buf_clear(&b);
    }
  tg_lualiteral_free(&w);
  tg_buf_free(&b);
}

int main (void) {
  functions = tg_functions_new();
  test_escape();
  test_cut();
  setlocale(LC_ALL, "de_DE.UTF-8");
  test_scalars();
  test_tables();
  test_secrets();
  test_garbage();
  tg_functions_free(functions);
  return failures > 0;
}
