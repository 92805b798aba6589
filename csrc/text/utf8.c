/*
** utf8.c - see utf8.h. Any thread; nothing is kept and nothing fails.
**
** Strict, as RFC 3629 has it: what JSON's readers would refuse is no character
** here. Not by Lua's utf8 library, which is for its own thread, and not by
** mbrtowc, which asks the locale.
*/
#include "text/utf8.h"

#include "base/escape.h"

/* Whether this byte is a character's second, third or fourth. */
static bool continues (char c) {
  return ((unsigned char)c & 0xc0) == 0x80;
}

/* Bytes that a character starting with 'lead' has, 0 if none does. */
static size_t sequence (unsigned char lead) {
  if (lead < 0x80)
    return 1;
  if (lead < 0xc2)  /* continuation bytes; overlong forms */
    return 0;
  if (lead < 0xe0)
    return 2;
  return lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
}

/* Overlong forms, surrogates, beyond the last code point (RFC 3629, 3): what
   decodes to one of these is no character, however well its bytes are
   formed. */
static bool forbidden (uint32_t code, size_t size) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  return code < least[size] || code > 0x10ffff
         || (code >= 0xd800 && code <= 0xdfff);
}

/* 0 for what is no character, so that callers can go on by a byte and find the
   next one. The lead byte has as many bits of the code as its size leaves. */
size_t tg_utf8_char (const char *p, const char *end, uint32_t *code) {
  if (p >= end)
    return 0;
  unsigned char lead = (unsigned char)*p;
  size_t size = sequence(lead);
  if (size == 0 || size > (size_t)(end - p))
    return 0;
  uint32_t c = size == 1 ? lead : lead & (0x7fu >> size);
  for (size_t i = 1; i < size; i++) {
    if (!continues(p[i]))
      return 0;
    c = (c << 6) | ((unsigned char)p[i] & 0x3fu);
  }
  tg_assert(size >= 1 && size <= 4);
  *code = c;
  return forbidden(c, size) ? 0 : size;
}

/* Where eight bytes, or the last ones, are not all ASCII; or the end. Names and
   strings mostly are, and eight at a time is the speed of reading them. */
static const char *skip_ascii (const char *p, const char *end) {
  while (p < end) {
    size_t left = (size_t)(end - p);
    if ((tg_escape_load(p, left) & TG_EACH(0x80)) != 0)
      break;
    p += left < 8 ? left : 8;
  }
  return p;
}

/* Where it ends before 'size' the next bytes are no character, or not all of
   one. Text of nothing may be NULL, to which not even 0 may be added. */
size_t tg_utf8_whole (const char *s, size_t size) {
  if (size == 0)
    return 0;
  const char *p = skip_ascii(s, s + size), *end = s + size;
  while (p < end) {
    uint32_t code;
    size_t n = (unsigned char)*p < 0x80 ? 1 : tg_utf8_char(p, end, &code);
    if (n == 0)
      break;
    p = skip_ascii(p + n, end);
  }
  return (size_t)(p - s);
}

/* No overlong forms, no surrogates, nothing past the last code point. */
static bool second_fits (unsigned char lead, unsigned char c) {
  switch (lead) {
    case 0xe0: return c >= 0xa0;
    case 0xed: return c <= 0x9f;
    case 0xf0: return c >= 0x90;
    case 0xf4: return c <= 0x8f;
    default: return true;
  }
}

/* What a cut in the middle of a character leaves, and nothing else: such text
   is still text. */
bool tg_utf8_begun (const char *s, size_t size) {
  if (size == 0 || size >= sequence((unsigned char)s[0]))
    return false;             /* of one byte there is nothing to go on with */
  for (size_t i = 1; i < size; i++) {
    if (!continues(s[i]))
      return false;
  }
  return size < 2 || second_fits((unsigned char)s[0], (unsigned char)s[1]);
}

/* As far back as it takes, whatever the bytes are: of a text that is no UTF-8
   that may be its beginning. */
size_t tg_utf8_start (const char *s, size_t at) {
  while (at > 0 && continues(s[at]))
    at--;
  return at;
}

/* A character has four bytes at most, so its first one is among the last three
   if it is not whole. */
size_t tg_utf8_cut (const char *s, size_t size) {
  uint32_t code;
  for (size_t back = 1; back <= 3 && back <= size; back++) {
    const char *p = s + size - back;
    if ((unsigned char)*p >= 0xc0)
      return tg_utf8_char(p, s + size, &code) > 0 ? size : size - back;
    if ((unsigned char)*p < 0x80)
      break;
  }
  return size;
}
