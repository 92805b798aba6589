/*
** test_attributes.c - what OTEL_RESOURCE_ATTRIBUTES may say, and how it reads.
*/
#include "text/attributes.h"
#include "unit.h"

/* All that counts, as "key=value;". */
static void check (const char *text, const char *wanted) {
  tg_Buf got = {0};
  tg_Attribute a;
  UNIT_CHECK(text == NULL || tg_attributes_valid(text));
  while (tg_attributes_next(&text, &a)) {
    tg_attributes_decode(a.key, a.key_size, &got);
    tg_buf_addchar(&got, '=');
    tg_attributes_decode(a.value, a.value_size, &got);
    tg_buf_addchar(&got, ';');
  }
  UNIT_TEXT(&got, wanted);
  tg_buf_free(&got);
}

static void reads_keys_and_values (void) {
  check(NULL, "");
  check("", "");
  check(" , ,", "");
  check("a=1", "a=1;");
  check("a=1,b=2", "a=1;b=2;");
  check(" a = 1 2 ,,\tb=\t", "a=1 2;b=;");
  check("a=b=c", "a=b=c;");
  check("a%3db=1%2C2%25", "a=b=1,2%;");
}

static void what_is_said_last_counts (void) {
  check("a=1,b=2,a=3", "b=2;a=3;");
  check("a%2eb=1,a.b=2", "a.b=2;");
  check("ab=1,a=2,abc=3", "ab=1;a=2;abc=3;");
}

static void knows_what_is_said (void) {
  UNIT_CHECK(tg_attributes_has("x=1, a.b =2", "a.b"));
  UNIT_CHECK(tg_attributes_has("a%2Eb=", "a.b"));
  UNIT_CHECK(!tg_attributes_has("a.bc=1,a=a.b", "a.b"));
  UNIT_CHECK(!tg_attributes_has(NULL, "a"));
}

static void refuses_what_is_none (void) {
  static const char *const wrong[] = {
    "a", "=1", " =1", "a=1,b", "a=%", "a=%4", "a=%zz", "%=1", "a=100%",
    "a=%00", "a=%4,1"
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    UNIT_CHECK(!tg_attributes_valid(wrong[i]));
}

int main (void) {
  UNIT_RUN(reads_keys_and_values);
  UNIT_RUN(what_is_said_last_counts);
  UNIT_RUN(knows_what_is_said);
  UNIT_RUN(refuses_what_is_none);
  return UNIT_END();
}
