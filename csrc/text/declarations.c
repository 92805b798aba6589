/*
** declarations.c - finds where functions are declared in a text, without
** parsing it.
**
** Lua's own parser does not tell: a compiled function knows its lines
** (lua_Debug, "S") and not its name. A text that is not Lua gives names that
** nobody asks for, never an error; every loop ends at the text's end. Called on
** the traced thread when a function is defined. Without memory the names found
** so far are kept.
*/
#include <ctype.h>
#include <string.h>

#include "text/declarations.h"
#include "base/alloc.h"
#include "base/grow.h"

#define PATH_MAX_BYTES 200      /* of a dotted name */

/* A dotted name as it is met, token by token. Of a fixed size: it is read again
   and again, and a longer one would not fit a column either. */
typedef struct Path {
  char text[PATH_MAX_BYTES];
  size_t size;
  bool open;            /* a '.' or ':' came: the next name belongs to it */
} Path;

/* Where the pass is. A function belongs to the last '=' only if it follows at
   once: "a.b = function" but not "a.b = f(function". */
typedef struct Scan {
  const char *p, *end;
  uint32_t line;
  Path path;            /* the name that was just read */
  Path target;          /* what stands left of the last '=' */
  bool assigned;        /* the last token was that '=' */
  tg_Declarations *out;
  bool failed;
} Scan;

/* Also what begins with a digit: a number is no name, and nobody will ask for
   it. */
static bool is_name_char (char c) {
  return isalnum((unsigned char)c) || c == '_';
}

/* The level of a long bracket at 'p' ("[==["), -1 if there is none (manual,
   3.1). */
static int long_bracket (const Scan *s, const char *p) {
  int level = 0;
  if (p >= s->end || *p != '[')
    return -1;
  for (p++; p < s->end && *p == '='; p++)
    level++;
  return (p < s->end && *p == '[') ? level : -1;
}

/* Whether "]==]" of that level stands at 'p'. */
static bool closes (const Scan *s, const char *p, int level) {
  if (*p != ']' || s->end - p < level + 2)
    return false;
  for (int i = 1; i <= level; i++) {
    if (p[i] != '=')
      return false;
  }
  return p[level + 1] == ']';
}

/* A long string or comment, with the lines in it. Inside, nothing is escaped
   (manual, 3.1). */
static void skip_long (Scan *s, int level) {
  for (s->p += level + 2; s->p < s->end; s->p++) {
    if (*s->p == '\n')
      s->line++;
    else if (closes(s, s->p, level)) {
      s->p += level + 2;
      return;
    }
  }
}

/* A comment is long only if the bracket follows the two dashes at once (manual,
   3.1). */
static void skip_comment (Scan *s) {
  int level = long_bracket(s, s->p + 2);
  s->p += 2;
  if (level >= 0)
    skip_long(s, level);
  else {
    while (s->p < s->end && *s->p != '\n')
      s->p++;
  }
}

/* A backslash takes the next byte with it, whatever it is: so a quote after it
   does not end the string, and a newline after it or after "\z" is counted. */
static void skip_string (Scan *s) {
  char quote = *s->p++;
  while (s->p < s->end && *s->p != quote) {
    if (*s->p == '\\' && s->p + 1 < s->end)
      s->p++;
    if (*s->p == '\n')
      s->line++;
    s->p++;
  }
  s->p++;
}

/* A name that is too long is given up, not cut: half of it could be another
   function's. */
static void path_add (Path *path, const char *s, size_t n) {
  if (path->size + n >= sizeof path->text) {
    path->size = 0;             /* too long to be worth having */
    return;
  }
  memcpy(path->text + path->size, s, n);
  path->size += n;
}

/* After any token that cannot be a part of "name = function". */
static void forget (Scan *s) {
  s->path.size = 0;
  s->path.open = false;
  s->assigned = false;
}

/* A function without a name is listed too: it shows that a line has several
   functions. */
static void declare (Scan *s, uint32_t line, const Path *name) {
  tg_Declarations *d = s->out;
  tg_assert(d->count == 0 || d->list[d->count - 1].line <= line);
  if (!tg_grow(&d->list, &d->capacity, d->count + 1, sizeof *d->list)) {
    s->failed = true;
    return;
  }
  char *copy = NULL;
  if (name != NULL && name->size > 0)
    copy = tg_strdup(name->text, name->size);
  d->list[d->count++] = (tg_Declaration){line, copy};
}

/* Passes over blanks and comments up to the next token. isspace may know more
   blanks in the program's locale; Lua would not have compiled those. */
static void skip_blanks (Scan *s) {
  while (s->p < s->end) {
    if (*s->p == '\n')
      s->line++;
    else if (s->p[0] == '-' && s->end - s->p > 1 && s->p[1] == '-') {
      skip_comment(s);
      continue;
    }
    else if (!isspace((unsigned char)*s->p))
      return;
    s->p++;
  }
}

/* The name of a function statement, up to its parenthesis: "a.b:c" in one,
   blanks and comments between its parts left out. Nothing, if there is none. */
static void read_name (Scan *s, Path *name) {
  name->size = 0;
  for (;;) {
    skip_blanks(s);
    if (s->p >= s->end || (!is_name_char(*s->p) && *s->p != '.'
                           && *s->p != ':'))
      return;
    path_add(name, s->p++, 1);
  }
}

/* After the word "function". The line is what Lua's compiler takes for
   linedefined: of a statement that of the word (funcstat of lparser.c), of a
   local or a nameless function that of its parenthesis (localfunc,
   simpleexp). */
static void read_function (Scan *s, bool local) {
  uint32_t line = s->line;
  Path name;
  read_name(s, &name);
  if (name.size > 0)
    declare(s, local ? s->line : line, &name);
  else
    declare(s, s->line, s->assigned ? &s->target : NULL);
  forget(s);
}

static bool is_word (const char *word, const char *s, size_t n) {
  return strlen(word) == n && memcmp(word, s, n) == 0;
}

/* A name right after another one begins anew, after a '.' it goes on. */
static void read_word (Scan *s, bool *local) {
  const char *w = s->p;
  while (s->p < s->end && is_name_char(*s->p))
    s->p++;
  size_t n = (size_t)(s->p - w);
  if (is_word("function", w, n))
    read_function(s, *local);
  else {
    if (!s->path.open)
      s->path.size = 0;
    path_add(&s->path, w, n);
    s->path.open = false;
    s->assigned = false;
  }
  *local = is_word("local", w, n);
}

/* One of "==" is no assignment, nor is the last of "~=", "<=" and ">=": their
   first byte has made the parser forget the name. */
static void read_mark (Scan *s) {
  char c = *s->p++;
  if ((c == '.' || c == ':') && s->path.size > 0 && !s->path.open) {
    path_add(&s->path, &c, 1);
    s->path.open = true;
  }
  else if (c == '=' && s->p < s->end && *s->p != '=' && s->path.size > 0
           && !s->path.open) {
    s->target = s->path;
    forget(s);
    s->assigned = true;
  }
  else {
    bool twice = c == '=' && s->p < s->end && *s->p == '=';
    s->p += twice;
    forget(s);
  }
}

/* Takes one token. '*local': the one before it was the word "local". No grammar
   is needed: what a function is called stands right before or after the word
   "function", and strings and comments are all that could hide such a word. */
static void step (Scan *s, bool *local) {
  char c = *s->p;
  int level = long_bracket(s, s->p);
  if (is_name_char(c)) {
    read_word(s, local);
    return;
  }
  *local = false;
  if (c == '"' || c == '\'') {
    skip_string(s);
    forget(s);
  }
  else if (level >= 0) {
    skip_long(s, level);
    forget(s);
  }
  else
    read_mark(s);
}

/* All function declarations, in the order of the text, which is that of their
   lines. The first line of a script may begin with '#' (luaL_loadfilex passes
   over it). */
bool tg_declarations_scan (tg_Declarations *d, const char *text, size_t size) {
  Scan s = {.p = text, .end = text + size, .line = 1, .out = d};
  bool local = false;
  if (size > 0 && text[0] == '#') {     /* first line of a script */
    while (s.p < s.end && *s.p != '\n')
      s.p++;
  }
  for (skip_blanks(&s); s.p < s.end && !s.failed; skip_blanks(&s))
    step(&s, &local);
  return !s.failed;
}

/* What a caller can know of "a.b:c": the name in its own instruction. */
static const char *last_part (const char *name) {
  const char *p = name;
  for (const char *q = name; *q != '\0'; q++) {
    if (*q == '.' || *q == ':')
      p = q + 1;
  }
  return p;
}

/* All declarations are gone through: a function is defined once, and a file has
   some hundreds of them. */
size_t tg_declarations_count (const tg_Declarations *d, uint32_t line) {
  size_t n = 0;
  for (size_t i = 0; i < d->count; i++)
    n += d->list[i].line == line;
  return n;
}

/* With several on the line and none called so, which one it is cannot be told:
   rather no name than a wrong one. */
const char *tg_declarations_find (const tg_Declarations *d, uint32_t line,
                                  const char *called) {
  const char *found = NULL;
  for (size_t i = 0; i < d->count; i++) {
    const tg_Declaration *f = &d->list[i];
    if (f->line != line || f->name == NULL)
      continue;
    if (called != NULL && strcmp(last_part(f->name), called) == 0)
      return f->name;
    found = f->name;
  }
  return (tg_declarations_count(d, line) == 1) ? found : NULL;
}

void tg_declarations_free (tg_Declarations *d) {
  for (size_t i = 0; i < d->count; i++)
    tg_free(d->list[i].name);
  tg_free(d->list);
  *d = (tg_Declarations){0};
}
