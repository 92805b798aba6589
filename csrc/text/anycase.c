/*
** anycase.c - see anycase.h. Called where options are read, with patterns that
** string.find has taken: a '%' is never the last character, and each set ends.
*/
#include "text/anycase.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

static bool is_letter (char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char other_case (char c) {
  return (char)(c ^ ('a' ^ 'A'));
}

/* A letter, or a range of letters of one case, and the same of the other. */
static const char *put_listed (tg_Buf *out, const char *p) {
  bool range = p[1] == '-' && p[2] != ']' && p[2] != '\0';
  size_t n = range ? 3 : 1;
  tg_buf_add(out, p, n);
  if (is_letter(p[0]) && (!range || is_letter(p[2]))) {
    tg_buf_addchar(out, other_case(p[0]));
    if (range) {
      tg_buf_addchar(out, '-');
      tg_buf_addchar(out, other_case(p[2]));
    }
  }
  return p + n;
}

/* A set; a ']' that comes first stands for itself, as does one after '^'. */
static const char *put_set (tg_Buf *out, const char *p) {
  tg_buf_addchar(out, *p++);
  if (*p == '^')
    tg_buf_addchar(out, *p++);
  if (*p == ']')
    tg_buf_addchar(out, *p++);
  while (*p != ']' && *p != '\0') {
    if (*p == '%' && p[1] != '\0') {
      tg_buf_add(out, p, 2);
      p += 2;
    }
    else
      p = put_listed(out, p);
  }
  if (*p == ']')
    tg_buf_addchar(out, *p++);
  return p;
}

/* What follows a '%' is copied: with '%b' the two characters that it is
   about; behind '%f' comes a set. */
static const char *put_escape (tg_Buf *out, const char *p) {
  size_t n = p[1] == 'b' && strlen(p) >= 4 ? 4 : p[1] != '\0' ? 2 : 1;
  tg_buf_add(out, p, n);
  return p + n;
}

static void put_letter (tg_Buf *out, char c) {
  tg_buf_addchar(out, '[');
  tg_buf_addchar(out, c);
  tg_buf_addchar(out, other_case(c));
  tg_buf_addchar(out, ']');
}

static char *any_case (const char *p) {
  tg_Buf out = {0};
  while (*p != '\0') {
    if (*p == '%')
      p = put_escape(&out, p);
    else if (*p == '[')
      p = put_set(&out, p);
    else if (is_letter(*p))
      put_letter(&out, *p++);
    else
      tg_buf_addchar(&out, *p++);
  }
  tg_buf_addchar(&out, '\0');
  char *copy = out.failed ? NULL : tg_strcopy(out.data);
  tg_buf_free(&out);
  return copy;
}

bool tg_anycase_patterns (tg_Patterns *list) {
  for (size_t i = 0; i < list->count; i++) {
    char *other = any_case(list->list[i]);
    if (other == NULL)
      return false;
    tg_free(list->list[i]);
    list->list[i] = other;
  }
  return true;
}
