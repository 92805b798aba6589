/*
** test_escape.c - text copied eight bytes at a time against text copied byte by
** byte: every length, bytes of every kind at every place, nothing written where
** there is no room and nothing read where there is no text.
*/
#include <stdlib.h>

#include "base/escape.h"
#include "export/jsontext.h"
#include "packet/names.h"
#include "text/jsonwriter.h"
#include "text/terminal.h"
#include "text/utf8.h"
#include "unit.h"

#define LONGEST 40u
#define ROUNDS 20000u

static uint32_t state = 1;

static uint32_t random_to (uint32_t n) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state % n;
}

/* Mostly plain; what is not, of all kinds. */
static char random_byte (void) {
  static const char odd[] = "\"\\\n\t\x01\x1f\x7f\x80\xc3\xa9\xe2\x80\xa8\xff";
  static const char leads[] =
      "\xc2\xc2\x9b\xa7\xe2\xe2\x80\x81\xae\x8b\x94\xa6";
  switch (random_to(5)) {
    case 0: return odd[random_to(sizeof odd)];
    case 4: return leads[random_to(sizeof leads)];
    case 1: return (char)random_to(256);
    default: return (char)(' ' + random_to(95));
  }
}

/* A text in memory of exactly its size: sanitizers see what is beyond. */
static char *random_text (size_t *size) {
  *size = random_to(LONGEST);
  char *s = malloc(*size > 0 ? *size : 1);
  for (size_t i = 0; s != NULL && i < *size; i++)
    s[i] = random_byte();
  return s;
}

static bool naive_plain (char c, bool ascii) {
  unsigned char byte = (unsigned char)c;
  return byte >= 0x20 && byte != 0x7f && c != '"' && c != '\\'
         && (!ascii || byte < 0x7f);
}

/* Bytes of a character that is not to be seen, 0 if there is none. */
static size_t unseen (const char *s, const char *end) {
  uint32_t code;
  size_t n = s < end ? tg_utf8_char(s, end, &code) : 0;
  return n > 1 && tg_utf8_control(code) ? n : 0;
}

static void copies_what_is_plain (void) {
  for (uint32_t round = 0; round < ROUNDS; round++) {
    size_t size, n = 0;
    char *s = random_text(&size), to[LONGEST + TG_ESCAPE_MORE];
    bool ascii = random_to(2) > 0;
    const char *p = s;
    char *end = tg_escape_copy(to, &p, s + size, ascii);
    while (n < size && naive_plain(s[n], ascii)
           && (ascii || unseen(s + n, s + size) == 0))
      n++;
    size_t stop = (size_t)(p - s);        /* or where one may begin */
    UNIT_CHECK(stop == n || (!ascii && stop < n && (s[stop] & 0x80) != 0));
    UNIT_CHECK((size_t)(end - to) == stop && memcmp(to, s, stop) == 0);
    free(s);
  }
}

/* What JSON makes of it, as slowly as can be. */
static void naive_json (tg_Buf *out, const char *s, size_t size) {
  tg_buf_addchar(out, '"');
  for (size_t i = 0; i < size; i++) {
    size_t n = unseen(s + i, s + size);
    uint32_t code;
    static const char odd[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = s[i] != '\0' ? strchr(odd, s[i]) : NULL;
    if (found != NULL)
      tg_buf_addfmt(out, "\\%c", letters[found - odd]);
    else if ((unsigned char)s[i] < 0x20 || s[i] == '\x7f')
      tg_buf_addfmt(out, "\\u%04x", (unsigned)s[i]);
    else if (n > 0) {
      tg_utf8_char(s + i, s + size, &code);
      tg_buf_addfmt(out, "\\u%04x", code);
      i += n - 1;
    }
    else
      tg_buf_addchar(out, s[i]);
  }
  tg_buf_addchar(out, '"');
}

static void json_is_as_it_was (void) {
  tg_Buf got = {0}, wanted = {0};
  for (uint32_t round = 0; round < ROUNDS; round++) {
    size_t size;
    char *s = random_text(&size);
    tg_JsonWriter json;
    tg_jsonwriter_init(&json, &got);
    json.sink.string(&json.sink, s, size);
    naive_json(&wanted, s, size);
    tg_buf_addchar(&wanted, '\0');
    UNIT_TEXT(&got, wanted.data);
    tg_buf_clear(&wanted);
    free(s);
  }
  tg_buf_free(&got);
  tg_buf_free(&wanted);
}

/* Also across the pieces of a long text. */
static void unseen_is_escaped_anywhere (void) {
  static const char *const texts[][2] = {
    {"\xc2\x9b", "\\u009b"}, {"\xc2\xa0", "\xc2\xa0"}, {"\x7f", "\\u007f"},
    {"\xe2\x80\xae", "\\u202e"}, {"\xe2\x80\xa6", "\xe2\x80\xa6"},
    {"\xe2\x81\xa6", "\\u2066"}, {"\xe2\x80\x8b", "\\u200b"},
    {"\xe2\x82\xac", "\xe2\x82\xac"}, {"\xc3\xa9", "\xc3\xa9"}
  };
  tg_Buf text = {0}, got = {0}, wanted = {0};
  tg_JsonWriter json;
  for (uint32_t n = 0; n < 2100; n++) {
    const char *const *pair = texts[n % (sizeof texts / sizeof *texts)];
    tg_buf_clear(&text);
    tg_buf_clear(&wanted);
    for (uint32_t i = 0; i < n; i++)
      tg_buf_addchar(&text, 'x');
    tg_buf_addchar(&wanted, '"');
    tg_buf_add(&wanted, text.data, n);
    tg_buf_addstr(&text, pair[0]);
    tg_buf_addstr(&wanted, pair[1]);
    tg_buf_add(&wanted, "\"", 2);
    tg_jsonwriter_init(&json, &got);
    json.sink.string(&json.sink, text.data, text.size);
    UNIT_TEXT(&got, wanted.data);
    tg_jsontext_string(&got, text.data, text.size);
    UNIT_TEXT(&got, wanted.data);
  }
  tg_buf_free(&text);
  tg_buf_free(&got);
  tg_buf_free(&wanted);
}

/* Whole characters, and where a word of eight ends does not matter. */
static void whole_characters_end_where_they_did (void) {
  for (uint32_t round = 0; round < ROUNDS; round++) {
    size_t size, n = 0, step = 1;
    char *s = random_text(&size);
    while (n < size && step > 0) {
      uint32_t code;
      step = tg_utf8_char(s + n, s + size, &code);
      n += step;
    }
    UNIT_CHECK(tg_utf8_whole(s, size) == n);
    free(s);
  }
}

static void nothing_is_whole (void) {
  UNIT_CHECK(tg_utf8_whole(NULL, 0) == 0);
  UNIT_CHECK(tg_utf8_whole("a", 0) == 0);
}

/* Long texts are written in pieces, which end anywhere. */
static void pieces_do_not_show (void) {
  tg_Buf text = {0}, got = {0}, wanted = {0};
  for (uint32_t shift = 0; shift < 5; shift++) {
    tg_buf_clear(&text);
    tg_buf_clear(&wanted);
    for (uint32_t i = 0; i < shift; i++)
      tg_buf_addchar(&text, 'x');
    while (text.size < 5000)
      tg_buf_addstr(&text, "\xe2\x82\xac\xff");   /* a euro, a bad byte */
    tg_terminal_escape(&got, text.data, text.size, '"');
    tg_buf_add(&wanted, text.data, shift);
    while (wanted.size < got.size)
      tg_buf_addstr(&wanted, "\xe2\x82\xac\\xFF");
    tg_buf_addchar(&wanted, '\0');
    UNIT_TEXT(&got, wanted.data);
    tg_jsontext_string(&got, text.data, text.size);
    tg_buf_clear(&wanted);
    tg_buf_addchar(&wanted, '"');
    tg_buf_add(&wanted, text.data, shift);
    while (wanted.size + 1 < got.size)
      tg_buf_addstr(&wanted, "\xe2\x82\xac\xef\xbf\xbd");
    tg_buf_add(&wanted, "\"", 2);
    UNIT_TEXT(&got, wanted.data);
  }
  tg_buf_free(&text);
  tg_buf_free(&got);
  tg_buf_free(&wanted);
}

int main (void) {
  UNIT_RUN(copies_what_is_plain);
  UNIT_RUN(json_is_as_it_was);
  UNIT_RUN(unseen_is_escaped_anywhere);
  UNIT_RUN(whole_characters_end_where_they_did);
  UNIT_RUN(nothing_is_whole);
  UNIT_RUN(pieces_do_not_show);
  return UNIT_END();
}
