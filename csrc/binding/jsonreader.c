/*
** jsonreader.c - a parser by recursive descent. Each function reads one thing
** at 'p' and pushes it; false: it is not there, and 'p' stays where the trouble
** is.
**
** Called by the server's modules and the command line for each packet, on the
** thread of that state. The text is a stranger's: what is no JSON (RFC 8259) is
** nil and a place; only want of memory raises.
**
** Written here, since a client's packets are what a server spends its time on:
** values go straight onto Lua's stack and into tables, with no tree in between,
** and nothing is owned by C while Lua may raise.
*/
#include "binding/jsonreader.h"

#include <stdlib.h>
#include <string.h>

#include "text/utf8.h"

#define DEPTH_MAX 1000      /* whatever the caller says: it is C's stack */
#define SLOTS 4             /* of Lua's stack, that a level takes at most */
#define MEMBERS 16          /* that are expected at most */
#define NUMBER_MAX 400u     /* characters: more digits than any double has */

#define LEVELS 8            /* whose objects are expected to be alike */

typedef struct Parse {
  lua_State *L;
  const char *p, *end;
  int depth;                /* levels that may yet be opened */
  int meta;                 /* index of the metatable of empty arrays */
  int members[LEVELS];      /* of the latest object, by 'depth': the next one
                               is made to hold so many */
} Parse;

static bool parse_value (Parse *j);

/* RFC 8259 has these four, isspace has more and asks the locale. */
static void skip_space (Parse *j) {
  while (j->p < j->end && (*j->p == ' ' || *j->p == '\n' || *j->p == '\t'
                           || *j->p == '\r'))
    j->p++;
}

/* The character at 'p', 0 at the end. A zero in the text is no character that
   anything here asks for. */
static char look (const Parse *j) {
  return j->p < j->end ? *j->p : '\0';
}

/* Whether the next thing is 'c', which is then behind. */
static bool accept (Parse *j, char c) {
  skip_space(j);
  if (look(j) != c || j->p == j->end)
    return false;
  j->p++;
  return true;
}

/* Whether the word stands at 'p', which moves behind it then. The caller checks
   what follows the word. */
static bool word (Parse *j, const char *w) {
  size_t n = strlen(w);
  if ((size_t)(j->end - j->p) < n || memcmp(j->p, w, n) != 0)
    return false;
  j->p += n;
  return true;
}

/*
** {==================================================================
** Strings
** ===================================================================
*/

/* Upper and lower case differ by one bit in ASCII. -1: 'c' is no digit. */
static int hex_digit (char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits at 's'; -1: they are none. */
static int32_t hex4 (const char *s, const char *end) {
  int32_t v = 0;
  if (end - s < 4)
    return -1;
  for (int i = 0; i < 4; i++) {
    int d = hex_digit(s[i]);
    if (d < 0)
      return -1;
    v = v << 4 | d;
  }
  return v;
}

/* 'c' is no surrogate: 'unicode' sees to that. There is room: the escape was
   longer (six characters or twelve) than what it stands for. */
static char *put_utf8 (char *out, uint32_t c) {
  if (c < 0x80)
    *out++ = (char)c;
  else if (c < 0x800) {
    *out++ = (char)(0xc0 | c >> 6);
    *out++ = (char)(0x80 | (c & 0x3f));
  }
  else if (c < 0x10000) {
    *out++ = (char)(0xe0 | c >> 12);
    *out++ = (char)(0x80 | (c >> 6 & 0x3f));
    *out++ = (char)(0x80 | (c & 0x3f));
  }
  else {
    *out++ = (char)(0xf0 | c >> 18);
    *out++ = (char)(0x80 | (c >> 12 & 0x3f));
    *out++ = (char)(0x80 | (c >> 6 & 0x3f));
    *out++ = (char)(0x80 | (c & 0x3f));
  }
  return out;
}

/* The character of a \u whose digits are at 'p'; two of them may make one. Half
   of such a pair is no character: U+FFFD. -1: bad digits. */
static int32_t unicode (Parse *j) {
  int32_t c = hex4(j->p, j->end);
  if (c < 0)
    return -1;
  j->p += 4;
  if (c < 0xd800 || c > 0xdfff)
    return c;
  if (c < 0xdc00 && j->end - j->p >= 6 && j->p[0] == '\\'
      && j->p[1] == 'u') {
    int32_t low = hex4(j->p + 2, j->end);
    if (low >= 0xdc00 && low <= 0xdfff) {
      j->p += 6;
      return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
  }
  return 0xfffd;
}

/* What follows a backslash, written at 'out'; NULL: nothing that may. */
static char *unescape (Parse *j, char *out) {
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  char c = look(j);
  if (c == 'u') {
    j->p++;
    int32_t u = unicode(j);
    return u < 0 ? NULL : put_utf8(out, (uint32_t)u);
  }
  const char *at = c != '\0' ? strchr(names, c) : NULL;
  if (at == NULL)
    return NULL;
  j->p++;
  *out++ = values[at - names];
  return out;
}

/* The rest of a string with escapes, up to the closing quote at 'close'; it
   gets shorter by them. In a buffer of Lua's, which the collector frees if
   something raises. */
static bool parse_escaped (Parse *j, const char *close) {
  luaL_Buffer b;
  char *start = luaL_buffinitsize(j->L, &b, (size_t)(close - j->p));
  char *out = start;
  tg_assert(close < j->end && *close == '"');
  while (j->p < close) {
    char c = *j->p++;
    if (c != '\\')
      *out++ = c;
    else if ((out = unescape(j, out)) == NULL)
      return false;
  }
  tg_assert(out >= start && j->p == close);
  luaL_pushresultsize(&b, (size_t)(out - start));
  j->p++;
  return true;
}

/* Behind its opening quote. The common string has no escapes and goes to Lua
   as it stands. */
static bool parse_string (Parse *j) {
  bool escaped = false;
  const char *s = j->p;
  for (; s < j->end && *s != '"'; s++) {
    if ((unsigned char)*s < 0x20)
      break;
    if (*s == '\\') {
      escaped = true;
      if (++s == j->end)
        break;
    }
  }
  if (s >= j->end || *s != '"') {
    j->p = s;
    return false;
  }
  if (escaped)
    return parse_escaped(j, s);
  lua_pushlstring(j->L, j->p, (size_t)(s - j->p));
  j->p = s + 1;
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Numbers
** ===================================================================
*/

/* Behind the digits at 's', of which there may be none. */
static const char *digits (const char *s, const char *end) {
  while (s < end && *s >= '0' && *s <= '9')
    s++;
  return s;
}

/* Where the number at 's' ends, NULL if it is none; '*whole' if it has neither
   fraction nor exponent. By RFC 8259, which is stricter than Lua and strtod: no
   plus sign, no leading zero, no bare point, no hexadecimals. */
static const char *number_end (const char *s, const char *end, bool *whole) {
  if (s < end && *s == '-')
    s++;
  const char *first = s;
  s = digits(s, end);
  if (s == first || (*first == '0' && s > first + 1))
    return NULL;
  *whole = true;
  if (s < end && *s == '.') {
    *whole = false;
    first = s + 1;
    s = digits(first, end);
    if (s == first)
      return NULL;
  }
  if (s < end && (*s == 'e' || *s == 'E')) {
    *whole = false;
    s++;
    if (s < end && (*s == '+' || *s == '-'))
      s++;
    first = s;
    s = digits(s, end);
    if (s == first)
      return NULL;
  }
  return s;
}

/* An integer without its sign; false if it is too large. By hand: strtoll
   would set errno and stop at a NUL, and the text ends where the next thing
   begins. */
static bool to_integer (const char *s, const char *end, lua_Integer *out) {
  bool negative = *s == '-';
  uint64_t v = 0, most = (uint64_t)INT64_MAX + negative;
  for (s += negative; s < end; s++) {
    uint64_t d = (uint64_t)(*s - '0');
    if (v > (most - d) / 10)
      return false;
    v = v * 10 + d;
  }
  *out = (lua_Integer)(negative ? 0 - v : v);
  return true;
}

/* A number of few digits, with a fraction and without an exponent: two exact
   doubles, divided, are the nearest to their quotient (IEEE 754 rounds each
   operation once). Times are such numbers, and come with every packet: they are
   spared strtod. False: another one. */
static bool few_digits (const char *s, const char *end, double *out) {
  static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8,
                                1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  bool negative = *s == '-';
  uint64_t v = 0;
  const char *point = NULL;
  s += negative;
  if (end - s > 16)
    return false;
  for (; s < end; s++) {
    if (*s >= '0' && *s <= '9')
      v = v * 10 + (uint64_t)(*s - '0');
    else if (*s == '.')
      point = s;
    else
      return false;
  }
  if (point == NULL)
    return false;
  tg_assert(v < UINT64_C(1) << 53);     /* 15 digits: exact as a double */
  double d = (double)v / tens[end - point - 1];
  *out = negative ? -d : d;
  return true;
}

/* By lua_stringtonumber, which knows the locale: it wants a zero behind it. A
   number of extreme length is only near what it says. */
static bool push_float (Parse *j, const char *s, const char *end) {
  double d;
  if (few_digits(s, end, &d)) {
    lua_pushnumber(j->L, d);
    return true;
  }
  char copy[NUMBER_MAX];
  size_t n = (size_t)(end - s);
  if (n >= sizeof copy)
    return false;
  memcpy(copy, s, n);
  copy[n] = '\0';
  if (lua_stringtonumber(j->L, copy) == 0)
    return false;
  if (lua_isinteger(j->L, -1)) {      /* "-0" is not one of ours */
    lua_pushnumber(j->L, lua_tonumber(j->L, -1));
    lua_remove(j->L, -2);
  }
  return true;
}

/* An integer that fits is one in Lua too; one that is too large is a float, as
   Lua's own lexer has it (manual, 3.1). */
static bool parse_number (Parse *j) {
  bool whole = false;
  lua_Integer i;
  const char *end = number_end(j->p, j->end, &whole);
  if (end == NULL)
    return false;
  if (whole && to_integer(j->p, end, &i))
    lua_pushinteger(j->L, i);
  else if (!push_float(j, j->p, end))
    return false;
  j->p = end;
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Arrays, objects, values
** ===================================================================
*/

/* No comma before the bracket: JSON does not have it. */
static bool parse_items (Parse *j) {
  lua_Integer n = 0;
  tg_assert(lua_istable(j->L, -1));
  do {
    if (!parse_value(j))
      return false;
    lua_rawseti(j->L, -2, ++n);
  } while (accept(j, ','));
  return accept(j, ']');
}

/* Lua cannot tell an empty array from an empty object: the metatable does, as
   it does for those who write it again. */
static bool parse_array (Parse *j) {
  lua_newtable(j->L);
  if (!accept(j, ']'))
    return parse_items(j);
  if (!lua_isnil(j->L, j->meta)) {
    lua_pushvalue(j->L, j->meta);
    lua_setmetatable(j->L, -2);
  }
  return true;
}

/* Of two members with one name the last one counts, as in most readers. */
static bool parse_member (Parse *j) {
  tg_assert(lua_istable(j->L, -1));
  if (!accept(j, '"') || !parse_string(j) || !accept(j, ':')
      || !parse_value(j))
    return false;
  lua_rawset(j->L, -3);
  return true;
}

/* Packets of a stream are alike: the latest object at this depth tells how
   many members to expect, and a table of the right size is made once. */
static bool parse_object (Parse *j) {
  int *members = &j->members[j->depth % LEVELS], n = 0;
  if (accept(j, '}')) {
    lua_newtable(j->L);
    return true;
  }
  lua_createtable(j->L, 0, *members);
  do {
    if (!parse_member(j))
      return false;
    n++;
  } while (accept(j, ','));
  *members = n < MEMBERS ? n : MEMBERS;
  return accept(j, '}');
}

/* The limit is on what a stranger sends: each level takes C's stack and
   Lua's. */
static bool parse_nested (Parse *j, bool (*parse) (Parse *j)) {
  tg_assert(j->depth >= 0 && (look(j) == '{' || look(j) == '['));
  if (j->depth == 0)
    return false;
  j->p++;
  j->depth--;
  bool ok = parse(j);
  j->depth++;
  return ok;
}

/* Null is a light userdata, as cjson and luv have it: nil would leave a hole in
   a list. */
static bool parse_word (Parse *j) {
  if (word(j, "null"))
    lua_pushlightuserdata(j->L, NULL);
  else if (word(j, "true"))
    lua_pushboolean(j->L, 1);
  else if (word(j, "false"))
    lua_pushboolean(j->L, 0);
  else
    return false;
  return true;
}

/* By its first character, which tells all things of JSON apart. */
static bool parse_value (Parse *j) {
  skip_space(j);
  switch (look(j)) {
    case '{': return parse_nested(j, parse_object);
    case '[': return parse_nested(j, parse_array);
    case '"': j->p++; return parse_string(j);
    case 'n': case 't': case 'f': return parse_word(j);
    default: return parse_number(j);
  }
}

/* Before anything is known: a packet has some fields, what is in it has few. */
static void expect_packet (Parse *j) {
  for (int i = 0; i < LEVELS; i++)
    j->members[i] = 4;
  j->members[(j->depth - 1) % LEVELS] = 8;
}

/* One value, and nothing behind it but space. */
static bool parse_text (Parse *j) {
  expect_packet(j);
  if (!parse_value(j))
    return false;
  skip_space(j);
  return j->p == j->end;
}

/* UTF-8 is checked for the whole text beforehand, so that strings need not be
   looked at again. All of Lua's stack that can be needed is there before
   anything is read: below, nothing checks. */
int jsonreader_decode (lua_State *L) {
  size_t size;
  const char *text = luaL_checklstring(L, 1, &size);
  lua_Integer depth = luaL_checkinteger(L, 2);
  luaL_argcheck(L, depth > 0 && depth <= DEPTH_MAX, 2, "1 to 1000 expected");
  lua_settop(L, 3);
  luaL_checkstack(L, (int)depth * SLOTS + LUA_MINSTACK, NULL);
  Parse j = {.L = L, .p = text, .end = text + size, .depth = (int)depth,
             .meta = 3};
  size_t whole = tg_utf8_whole(text, size);
  if (whole < size)
    j.p = text + whole;
  else if (parse_text(&j))
    return 1;
  lua_settop(L, 3);
  luaL_pushfail(L);
  lua_pushfstring(L, "no JSON at byte %I", (LUAI_UACINT)(j.p - text) + 1);
  return 2;
}

/* }================================================================== */
