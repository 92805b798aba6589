/*
** pattern.c - a backtracking matcher for Lua's patterns.
**
** A pattern is a row of items. An item that can match in one way only is a
** step of a loop; one that may have to be tried again (captures, repetitions)
** matches the rest of the row by recursion, so the depth is bounded by the
** pattern. DEPTH_MAX is Lua's own limit, where it raises "pattern too complex".
** Whatever string.find would raise an error for sets 'bad', which ends the
** search without a match.
**
** Called by selections: in the hook when a function is new, by readers on any
** thread, and for names that may be secret. A pattern can take exponential
** time, so steps are counted; those used up are 'bad' too. Memory: the C stack.
*/
#include "text/pattern.h"

#include <ctype.h>
#include <string.h>

#define CAPTURES_MAX 32
#define DEPTH_MAX 200

/* Lengths of captures that are not lengths. */
enum { OPEN = -1, POSITION = -2 };

typedef struct Capture {
  const char *start;
  ptrdiff_t size;       /* bytes, or OPEN or POSITION */
} Capture;

typedef struct Matcher {
  const char *text, *end;
  const char *pattern_end;
  int depth;
  int captures;
  bool bad;             /* malformed, or too complex */
  uint64_t steps;       /* that it may yet take */
  Capture capture[CAPTURES_MAX];
} Matcher;

static const char *match (Matcher *m, const char *s, const char *p);

/* What Lua would raise an error for, or what has taken too long. */
static const char *malformed (Matcher *m) {
  m->bad = true;
  return NULL;
}

/* Steps that are used up end the search as a mistake in the pattern does. */
static void spend (Matcher *m, ptrdiff_t steps) {
  tg_assert(steps >= 0);
  if ((uint64_t)steps > m->steps)
    m->bad = true;
  else
    m->steps -= (uint64_t)steps;
}

/*
** {==================================================================
** One character
** ===================================================================
*/

/* Past the set that starts behind the '[' at p[-1]. */
static const char *set_end (Matcher *m, const char *p) {
  if (p < m->pattern_end && *p == '^')
    p++;
  const char *first = p;
  for (; p < m->pattern_end; p++) {
    if (*p == ']' && p != first)   /* a leading ']' stands for itself */
      return p + 1;
    if (*p == '%' && p + 1 < m->pattern_end)
      p++;
  }
  return malformed(m);
}

/* Past the single-character item at 'p'. */
static const char *item_end (Matcher *m, const char *p) {
  if (*p == '[')
    return set_end(m, p + 1);
  if (*p != '%')
    return p + 1;
  return p + 1 < m->pattern_end ? p + 2 : malformed(m);
}

/* Whether 'c' is of the class that '%letter' names. */
static bool in_class (int c, int letter) {
  bool is;
  switch (tolower(letter)) {
    case 'a': is = isalpha(c) != 0; break;
    case 'c': is = iscntrl(c) != 0; break;
    case 'd': is = isdigit(c) != 0; break;
    case 'g': is = isgraph(c) != 0; break;
    case 'l': is = islower(c) != 0; break;
    case 'p': is = ispunct(c) != 0; break;
    case 's': is = isspace(c) != 0; break;
    case 'u': is = isupper(c) != 0; break;
    case 'w': is = isalnum(c) != 0; break;
    case 'x': is = isxdigit(c) != 0; break;
    case 'z': is = c == 0; break;   /* old, but string.find knows it */
    default: return letter == c;   /* '%.' is a point */
  }
  return isupper(letter) ? !is : is;
}

/* Whether 'c' is listed from 'p' up to the ']' at 'close'. A '%' there is never
   the last one: set_end has taken the character behind it along. */
static bool listed (int c, const char *p, const char *close) {
  for (; p < close; p++) {
    int low = (unsigned char)*p;
    if (low == '%') {
      if (in_class(c, (unsigned char)*++p))
        return true;
    }
    else if (p + 2 < close && p[1] == '-') {
      p += 2;
      if (low <= c && c <= (unsigned char)*p)
        return true;
    }
    else if (low == c)
      return true;
  }
  return false;
}

/* Whether 'c' is in the set that begins with the '[' at 'p'. */
static bool in_set (int c, const char *p, const char *close) {
  if (p[1] == '^')
    return !listed(c, p + 2, close);
  return listed(c, p + 1, close);
}

/* Whether the character at 's' is what the item from 'p' to 'ep' allows. */
static bool single (Matcher *m, const char *s, const char *p,
                    const char *ep) {
  spend(m, ep - p);
  if (s >= m->end || m->bad)
    return false;
  int c = (unsigned char)*s;
  switch (*p) {
    case '.': return true;
    case '%': return in_class(c, (unsigned char)p[1]);
    case '[': return in_set(c, p, ep - 1);
    default: return (unsigned char)*p == c;
  }
}

/* }================================================================== */

/*
** {==================================================================
** Items of more than one length
** ===================================================================
*/

/* As many as there are, then fewer, as max_expand in lstrlib.c. */
static const char *longest (Matcher *m, const char *s, const char *p,
                            const char *ep) {
  ptrdiff_t n = 0;
  while (single(m, s + n, p, ep))
    n++;
  for (; n >= 0 && !m->bad; n--) {
    const char *e = match(m, s + n, ep + 1);
    if (e != NULL)
      return e;
  }
  return NULL;
}

/* As few as will do, as min_expand there. */
static const char *shortest (Matcher *m, const char *s, const char *p,
                             const char *ep) {
  while (!m->bad) {
    const char *e = match(m, s, ep + 1);
    if (e != NULL)
      return e;
    if (!single(m, s, p, ep))
      break;
    s++;
  }
  return NULL;
}

/* '%bxy': 'p' is at x. */
static const char *balanced (Matcher *m, const char *s, const char *p) {
  if (m->pattern_end - p < 2)
    return malformed(m);
  if (s >= m->end || *s != p[0])
    return NULL;
  size_t level = 1;
  const char *from = s;
  while (++s < m->end && level > 0) {
    if (*s == p[1])
      level--;
    else if (*s == p[0])
      level++;
  }
  spend(m, s - from);
  return level == 0 ? s : NULL;
}

/* '%f[set]' (manual, 6.4.1), where both ends of the text count as zeros:
   whether the set from 'p' to 'ep' begins at 's'. */
static bool at_frontier (Matcher *m, const char *s, const char *p,
                         const char *ep) {
  spend(m, 2 * (ep - p));
  int before = s == m->text ? '\0' : (unsigned char)s[-1];
  int here = s == m->end ? '\0' : (unsigned char)*s;
  return !in_set(before, p, ep - 1) && in_set(here, p, ep - 1);
}

/* }================================================================== */

/*
** {==================================================================
** Captures
** ===================================================================
*/

/* A capture that did not lead to a match is taken back, as start_capture of
   lstrlib.c does. */
static const char *open_capture (Matcher *m, const char *s, const char *p,
                                 ptrdiff_t size) {
  if (m->captures >= CAPTURES_MAX)
    return malformed(m);
  m->capture[m->captures++] = (Capture){s, size};
  const char *e = match(m, s, p);
  if (e == NULL)
    m->captures--;
  return e;
}

/* Closes the innermost that is open. */
static const char *close_capture (Matcher *m, const char *s, const char *p) {
  int i = m->captures - 1;
  tg_assert(i < CAPTURES_MAX);
  while (i >= 0 && m->capture[i].size != OPEN)
    i--;
  if (i < 0)
    return malformed(m);
  m->capture[i].size = s - m->capture[i].start;
  const char *e = match(m, s, p);
  if (e == NULL)
    m->capture[i].size = OPEN;
  return e;
}

/* '%1': the same text again. A position never matches. */
static const char *same_again (Matcher *m, const char *s, int digit) {
  int i = digit - '1';
  if (i < 0 || i >= m->captures || m->capture[i].size == OPEN)
    return malformed(m);
  ptrdiff_t size = m->capture[i].size;
  if (size < 0 || size > m->end - s)
    return NULL;
  spend(m, size);
  if (memcmp(m->capture[i].start, s, (size_t)size) != 0)
    return NULL;
  return s + size;
}

/* string.find raises an error for one that is not closed: here there is no
   match then. */
static bool captures_closed (const Matcher *m) {
  for (int i = 0; i < m->captures; i++) {
    if (m->capture[i].size == OPEN)
      return false;
  }
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** The row
** ===================================================================
*/

typedef enum Step {
  FAIL,
  NEXT,                 /* 's' and 'p' have moved on past the item */
  DONE                  /* 's' is where the whole row's match ends */
} Step;

/* The rest of the row was tried: 'e' is its end, or NULL. */
static Step ended (const char **s, const char *e) {
  *s = e;
  return e != NULL ? DONE : FAIL;
}

/* The item was matched up to 'e', or not if NULL; the next one is at 'p1'. */
static Step passed (const char **s, const char **p, const char *e,
                    const char *p1) {
  *s = e;
  *p = p1;
  return e != NULL ? NEXT : FAIL;
}

/* 'x?': one if the rest of the row agrees, else none. */
static Step optional (Matcher *m, const char **s, const char **p,
                      const char *ep) {
  if (single(m, *s, *p, ep)) {
    const char *e = match(m, *s + 1, ep + 1);
    if (e != NULL || m->bad)
      return ended(s, e);
  }
  return passed(s, p, *s, ep + 1);
}

/* An item of one character, with the repetition that may stand behind it. */
static Step step_single (Matcher *m, const char **s, const char **p) {
  const char *ep = item_end(m, *p);
  if (ep == NULL)
    return FAIL;
  bool first = single(m, *s, *p, ep);
  switch (ep < m->pattern_end ? *ep : '\0') {
    case '?': return optional(m, s, p, ep);
    case '*': return ended(s, longest(m, *s, *p, ep));
    case '-': return ended(s, shortest(m, *s, *p, ep));
    case '+': return ended(s, first ? longest(m, *s + 1, *p, ep) : NULL);
    default: return passed(s, p, first ? *s + 1 : NULL, ep);
  }
}

/* '%f' must be followed by a set. */
static Step step_frontier (Matcher *m, const char **s, const char **p) {
  const char *set = *p + 2;
  const char *ep = set < m->pattern_end && *set == '['
                   ? set_end(m, set + 1) : malformed(m);
  if (ep == NULL)
    return FAIL;
  return passed(s, p, at_frontier(m, *s, set, ep) ? *s : NULL, ep);
}

/* An item that begins with '%'. */
static Step step_escape (Matcher *m, const char **s, const char **p) {
  int c = *p + 1 < m->pattern_end ? (unsigned char)(*p)[1] : '\0';
  if (c == 'f')
    return step_frontier(m, s, p);
  if (c == 'b')
    return passed(s, p, balanced(m, *s, *p + 2), *p + 4);
  if ('0' <= c && c <= '9')
    return passed(s, p, same_again(m, *s, c), *p + 2);
  return step_single(m, s, p);
}

/* A pair of brackets with nothing between captures the position. */
static Step step_open (Matcher *m, const char **s, const char *p) {
  if (p + 1 < m->pattern_end && p[1] == ')')
    return ended(s, open_capture(m, *s, p + 2, POSITION));
  return ended(s, open_capture(m, *s, p + 1, OPEN));
}

/* One item of the row. A '$' is the text's end only where it is the row's
   end. */
static Step step (Matcher *m, const char **s, const char **p) {
  switch (**p) {
    case '(': return step_open(m, s, *p);
    case ')': return ended(s, close_capture(m, *s, *p + 1));
    case '%': return step_escape(m, s, p);
    case '$':
      if (*p + 1 == m->pattern_end)
        return ended(s, *s == m->end ? *s : NULL);
      return step_single(m, s, p);
    default: return step_single(m, s, p);
  }
}

/* Where the text matched by the row from 'p' ends; NULL if it does not. */
static const char *match (Matcher *m, const char *s, const char *p) {
  if (m->depth >= DEPTH_MAX)
    return malformed(m);
  Step result = NEXT;
  m->depth++;
  spend(m, 1);
  while (result == NEXT && p < m->pattern_end && !m->bad)
    result = step(m, &s, &p);
  m->depth--;
  return result == FAIL || m->bad ? NULL : s;
}

/* }================================================================== */

/* '*steps' is the number of steps allowed, and on return those that are left.
   Tries at each place, with '^' only at the first, as str_find_aux in
   lstrlib.c. */
tg_Found tg_pattern_search (const char *text, size_t size, const char *pattern,
                            uint64_t *steps) {
  Matcher m = {.text = text, .end = text + size, .steps = *steps};
  bool anchored = *pattern == '^', found = false;
  m.pattern_end = pattern + strlen(pattern);
  pattern += anchored;
  for (const char *s = text; s <= m.end && !found && !m.bad; s++) {
    m.captures = 0;
    found = match(&m, s, pattern) != NULL;
    if (anchored)
      break;
  }
  tg_assert(m.depth == 0 && m.steps <= *steps);
  *steps = m.steps;
  if (m.bad || (found && !captures_closed(&m)))
    return TG_FOUND_UNKNOWN;
  return found ? TG_FOUND : TG_FOUND_NOT;
}

bool tg_pattern_find (const char *text, size_t size, const char *pattern) {
  uint64_t steps = UINT64_MAX;
  return tg_pattern_search(text, size, pattern, &steps) == TG_FOUND;
}
