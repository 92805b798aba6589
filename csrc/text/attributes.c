/*
** attributes.c - see attributes.h. Called by whoever writes spans, and by those
** that check the options which have such text. Nothing here fails: text that is
** not valid is refused before (tg_attributes_valid).
*/
#include "text/attributes.h"

#include <string.h>

static bool is_end (const char *text) {
  return text == NULL || *text == '\0';
}

static bool is_blank (char c) {
  return c == ' ' || c == '\t';
}

static void trim (const char **s, size_t *size) {
  while (*size > 0 && is_blank((*s)[*size - 1]))
    (*size)--;
  while (*size > 0 && is_blank(**s)) {
    (*s)++;
    (*size)--;
  }
}

/* -1: none. Not isxdigit, which asks the program's locale. */
static int digit (char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Up to the next comma, or the end. A value begins behind the first "=": a
   second one is a part of it, as programs that write it plain expect. */
static bool split (const char **text, tg_Attribute *a) {
  const char *s = *text;
  size_t size = strcspn(s, ",");
  *text = s + size + (s[size] == ',');
  const char *equals = memchr(s, '=', size);
  if (equals == NULL)
    return false;
  *a = (tg_Attribute){.key = s, .key_size = (size_t)(equals - s),
                      .value = equals + 1,
                      .value_size = size - (size_t)(equals + 1 - s)};
  trim(&a->key, &a->key_size);
  trim(&a->value, &a->value_size);
  return a->key_size > 0;
}

/* "%00" has no place in a key, and would end it for whoever reads it in C. */
static bool escapes_valid (const char *s, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (s[i] != '%')
      continue;
    if (i + 2 >= size || digit(s[i + 1]) < 0 || digit(s[i + 2]) < 0)
      return false;
    if (s[i + 1] == '0' && s[i + 2] == '0')
      return false;
  }
  return true;
}

bool tg_attributes_valid (const char *text) {
  tg_Attribute a;
  while (!is_end(text)) {
    bool blank = strspn(text, " \t") >= strcspn(text, ",");
    if (split(&text, &a) ? !escapes_valid(a.key, a.key_size)
                           || !escapes_valid(a.value, a.value_size)
                         : !blank)
      return false;
  }
  return true;
}

/* The character at '*s', which is then behind it. */
static char take_char (const char **s) {
  const char *p = *s;
  if (*p != '%') {
    *s += 1;
    return *p;
  }
  tg_assert(digit(p[1]) >= 0 && digit(p[2]) >= 0);
  *s += 3;
  return (char)(digit(p[1]) << 4 | digit(p[2]));
}

void tg_attributes_decode (const char *s, size_t size, tg_Buf *out) {
  const char *end = s + size;
  while (s < end)
    tg_buf_addchar(out, take_char(&s));
}

/* Two keys may be one and the same and be written otherwise. */
static bool same (const tg_Attribute *a, const tg_Attribute *b) {
  const char *s = a->key, *s_end = s + a->key_size;
  const char *t = b->key, *t_end = t + b->key_size;
  while (s < s_end && t < t_end) {
    if (take_char(&s) != take_char(&t))
      return false;
  }
  return s == s_end && t == t_end;
}

static bool said (const char *text, const tg_Attribute *key) {
  tg_Attribute other;
  while (!is_end(text)) {
    if (split(&text, &other) && same(&other, key))
      return true;
  }
  return false;
}

bool tg_attributes_next (const char **text, tg_Attribute *a) {
  while (!is_end(*text)) {
    if (split(text, a) && !said(*text, a))
      return true;
  }
  return false;
}

/* A key of ours has no character that is written otherwise. */
bool tg_attributes_has (const char *text, const char *key) {
  tg_check(strchr(key, '%') == NULL);
  return said(text, &(tg_Attribute){.key = key, .key_size = strlen(key)});
}
