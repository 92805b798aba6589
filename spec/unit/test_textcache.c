/*
** test_textcache.c - short lists of values find their own texts, or none.
*/
#include "packet/textcache.h"
#include "unit.h"

static tg_Buf out;

static tg_Slice list (const char *bytes, size_t size) {
  return (tg_Slice){.data = (const uint8_t *)bytes, .size = size};
}

static void keep (tg_TextCache *b, tg_Slice values, const char *text) {
  tg_buf_clear(&out);
  tg_buf_addstr(&out, "before ");
  size_t at = out.size;
  tg_buf_addstr(&out, text);
  tg_textcache_keep(b, values, &out, at);
  tg_buf_clear(&out);
}

#define FINDS(b, values, text) \
  (UNIT_CHECK(tg_textcache_put((b), (values), &out)), UNIT_TEXT(&out, (text)))
#define KNOWS_NOT(b, values) \
  UNIT_CHECK(!tg_textcache_put((b), (values), &out) && out.size == 0)

static void remembers (void) {
  tg_TextCache b = {0};
  KNOWS_NOT(&b, list("\0", 1));
  keep(&b, list("\0", 1), "");
  keep(&b, list("\1\xc5", 2), "5");
  keep(&b, list("123456789012345", 15), "fifteen");
  FINDS(&b, list("\0", 1), "");
  FINDS(&b, list("\1\xc5", 2), "5");
  FINDS(&b, list("123456789012345", 15), "fifteen");
}

/* Zeros at the end count. */
static void tells_apart (void) {
  tg_TextCache b = {0};
  keep(&b, list("\1\0", 2), "two");
  KNOWS_NOT(&b, list("\1", 1));
  KNOWS_NOT(&b, list("\1\0\0", 3));
  KNOWS_NOT(&b, list("\1\0\0\0\0\0\0\0\0", 9));
  FINDS(&b, list("\1\0", 2), "two");
}

static void refuses (void) {
  tg_TextCache b = {0};
  char text[TG_TEXTCACHE_TEXT + 2] = {0};
  tg_Slice refers = list("\1\2", 2);
  refers.origin = refers.data;
  keep(&b, refers, "elsewhere");
  KNOWS_NOT(&b, refers);
  keep(&b, list("1234567890123456", 16), "sixteen");
  KNOWS_NOT(&b, list("1234567890123456", 16));
  KNOWS_NOT(&b, list(NULL, 0));
  memset(text, 'x', TG_TEXTCACHE_TEXT);
  keep(&b, list("a", 1), text);
  FINDS(&b, list("a", 1), text);
  text[TG_TEXTCACHE_TEXT] = 'x';
  keep(&b, list("b", 1), text);
  KNOWS_NOT(&b, list("b", 1));
  b.off = true;
  KNOWS_NOT(&b, list("a", 1));
}

/* Each is found with its own text or not at all. */
static void many (void) {
  tg_TextCache b = {0};
  uint32_t found = 0;
  for (uint32_t i = 0; i < 10000; i++) {
    char text[16];
    snprintf(text, sizeof text, "%u", (unsigned)i);
    keep(&b, list((const char *)&i, sizeof i), text);
  }
  for (uint32_t i = 0; i < 10000; i++) {
    char text[16];
    snprintf(text, sizeof text, "%u", (unsigned)i);
    if (tg_textcache_put(&b, list((const char *)&i, sizeof i), &out)) {
      found++;
      UNIT_TEXT(&out, text);
    }
  }
  UNIT_CHECK(found > 0 && found <= TG_TEXTCACHE_ITEMS);
}

int main (void) {
  UNIT_RUN(remembers);
  UNIT_RUN(tells_apart);
  UNIT_RUN(refuses);
  UNIT_RUN(many);
  tg_buf_free(&out);
  return UNIT_END();
}
