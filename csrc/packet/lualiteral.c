/*
** lualiteral.c - see lualiteral.h.
**
** Called by the log, in the hook too, and by exports; one thread for each
** tg_LuaLiteral. Two passes over the bytes: the first finds descriptors and
** counts how often each object appears, the second writes. Without memory for
** the pool, objects are as if they were not described ('failed'). Bytes that
** are malformed end the text early.
*/
#include "packet/lualiteral.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "text/terminal.h"
#include "text/utf8.h"

/* Levels, however deep the limits allow. The log writes inside the hook, on the
   C stack of the program, of which nobody knows how much is left. */
#define DEEPEST 64
#define COLOR_STRING TG_SGR_GREEN
#define COLOR_NUMBER TG_SGR_CYAN
#define COLOR_FAINT  TG_SGR_FAINT

/* An entry of the list's object pool. */
typedef struct tg_LiteralObject {
  const uint8_t *at;    /* its descriptor; NULL = not captured */
  uint32_t refs;        /* times that it appears in the list */
  uint32_t mark;        /* number in "&1", "*1"; 0 = none yet */
} Object;

static void value (tg_LuaLiteral *w, tg_Buf *out, tg_ValueCursor *c,
                   const tg_Grip *g, uint32_t level);

/*
** {==================================================================
** Pieces
** ===================================================================
*/

/* For a terminal; 'color' is off where the text goes into a file or a
   viewer. */
static void colored (const tg_LuaLiteral *w, tg_Buf *out, const char *color,
                     const char *text) {
  if (w->color)
    tg_buf_addstr(out, color);
  tg_buf_addstr(out, text);
  if (w->color)
    tg_buf_addstr(out, TG_SGR_RESET);
}

static void faint (const tg_LuaLiteral *w, tg_Buf *out, const char *text) {
  colored(w, out, COLOR_FAINT, text);
}

static void number (const tg_LuaLiteral *w, tg_Buf *out, const char *text) {
  colored(w, out, COLOR_NUMBER, text);
}

/* INT64_MIN is the one integer without a literal: the digits alone are one too
   many for an integer, and are read before the minus. */
static void integer (const tg_LuaLiteral *w, tg_Buf *out, int64_t i) {
  if (i == INT64_MIN) {
    number(w, out, "math.mininteger");
    return;
  }
  tg_buf_addstr(out, w->color ? COLOR_NUMBER : "");
  tg_buf_addstr(out, i < 0 ? "-" : "");
  tg_buf_addu64(out, (uint64_t)(i < 0 ? -i : i));
  tg_buf_addstr(out, w->color ? TG_SGR_RESET : "");
}

/* The shortest digits that read back the same; Lua's own "%.14g" does not. The
   locale may be the traced program's, with a comma for a point. */
static void digits (char *text, size_t size, double f) {
  for (int precision = 15; precision <= 17; precision++) {
    snprintf(text, size, "%.*g", precision, f);
    if (strtod(text, NULL) == f)
      break;
  }
  size_t point = strspn(text, "-0123456789");
  if (text[point] == '\0')
    memcpy(text + point, ".0", 3);
  else if (text[point] != 'e')
    text[point] = '.';
}

/* Inf and nan have no literals; these expressions give them. */
static void real (const tg_LuaLiteral *w, tg_Buf *out, double f) {
  char text[40];
  if (isnan(f))
    memcpy(text, "0/0", 4);
  else if (isinf(f))
    snprintf(text, sizeof(text), "%smath.huge", f < 0 ? "-" : "");
  else
    digits(text, sizeof(text), f);
  number(w, out, text);
}

/* How much of 'size' bytes there is room for. What a text may come to is
   bounded: a few bytes can refer to a long string many times (values.h). */
static size_t afford (const tg_LuaLiteral *w, const tg_Buf *out, size_t size) {
  size_t room = out->size < w->most ? w->most - out->size : 0;
  return size < room ? size : room;
}

/* After this every piece is left out or cut: a text ends within a few bytes of
   'most'. */
static bool full (const tg_LuaLiteral *w, const tg_Buf *out) {
  return out->size >= w->most;
}

/* A string's length is what it had in the program; of one that was captured in
   part, or is cut here, that shows by three points. A character that the cut
   has broken is left out. */
static void string (const tg_LuaLiteral *w, tg_Buf *out, const tg_Grip *g) {
  size_t size = afford(w, out, g->u.s.size);
  if (size > w->limits.string)
    size = w->limits.string;
  bool cut = size < g->u.s.length;
  if (cut)
    size = tg_utf8_cut(g->u.s.data, size);
  if (w->color)
    tg_buf_addstr(out, COLOR_STRING);
  tg_buf_addchar(out, '"');
  tg_terminal_escape(out, g->u.s.data, size, '"');
  tg_buf_addchar(out, '"');
  if (w->color)
    tg_buf_addstr(out, TG_SGR_RESET);
  if (cut)
    faint(w, out, "...");
}

/* A recording made over a connection has the protocol's name for none. */
bool tg_lualiteral_anonymous (const tg_Function *f) {
  return f->name == NULL || strcmp(f->name, "(anonymous function)") == 0;
}

/* A function without a name is told by its place, as Lua's own messages do
   (luaL_traceback); that of a C function is in its library, if it is known. */
void tg_lualiteral_function (tg_Buf *out, const tg_Function *f) {
  const char *place = f->symbol != NULL ? f->symbol : f->url;
  if (!tg_lualiteral_anonymous(f)) {
    tg_terminal_escape(out, f->name, strlen(f->name), 0);
    return;
  }
  tg_buf_addstr(out, "function <");
  if (place != NULL)
    tg_terminal_escape(out, place, strlen(place), 0);
  if (!f->is_c)
    tg_buf_addfmt(out, ":%u", (unsigned)f->line);
  tg_buf_addchar(out, '>');
}

/* }================================================================== */

/*
** {==================================================================
** The pool
** ===================================================================
*/

/* Room for the object 'id'; NULL without memory. What is between has not
   appeared yet. */
static Object *object (tg_LuaLiteral *w, uint32_t id) {
  tg_assert(id < w->size);
  if (!tg_grow(&w->pool, &w->capacity, id + 1, sizeof *w->pool)) {
    w->failed = true;
    return NULL;
  }
  for (; w->count <= id; w->count++)
    w->pool[w->count] = (Object){0};
  return &w->pool[id];
}

/* Counts a reference if the grip is an object. An id comes from the bytes: an
   id beyond their size cannot have a descriptor there, and gets no place in the
   pool. */
static void meet (tg_LuaLiteral *w, const tg_Grip *g) {
  if (g->type != TG_OBJECT || g->u.id >= w->size)
    return;             /* so many descriptors cannot be there */
  Object *o = object(w, g->u.id);
  if (o != NULL)
    o->refs++;
}

/* Passes over a descriptor, meeting the objects in its properties. Objects of
   its metatable are not met, since no text shows them. */
static void survey (tg_LuaLiteral *w, tg_ValueCursor *c) {
  tg_Grip key, v;
  if (!tg_values_pass_head(c))
    return;
  while (tg_values_property(c, &key, &v)) {
    meet(w, &key);
    meet(w, &v);
  }
}

/* Finds every descriptor of a list; 'c' stands before its first grip.
   Descriptors follow the grips and have no lengths, so each is found by passing
   over the one before. */
static void findpool (tg_LuaLiteral *w, tg_ValueCursor c, uint64_t grips) {
  tg_assert(w->count <= w->capacity);
  w->count = w->marks = 0;
  tg_Grip g;
  for (uint64_t i = 0; i < grips && !c.bad; i++) {
    tg_values_grip(&c, &g);
    meet(w, &g);
  }
  for (uint32_t id = 0; !c.bad && c.p < c.end; id++) {
    Object *o = object(w, id);
    if (o == NULL)
      return;
    o->at = c.p;
    survey(w, &c);
  }
}

/* }================================================================== */

/*
** {==================================================================
** Tables
** ===================================================================
*/

/* The manual's list (3.1), in its order. Most names are none of them, and first
   letter and length tell that. */
static bool reserved (const char *s, size_t size) {
  static const char words[][9] = {
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function",
    "goto", "if", "in", "local", "nil", "not", "or", "repeat", "return",
    "then", "true", "until", "while"
  };
  static const uint16_t sizes[26] = {   /* of those with this first letter */
    ['a' - 'a'] = 1 << 3, ['b' - 'a'] = 1 << 5, ['d' - 'a'] = 1 << 2,
    ['e' - 'a'] = 1 << 3 | 1 << 4 | 1 << 6,
    ['f' - 'a'] = 1 << 3 | 1 << 5 | 1 << 8, ['g' - 'a'] = 1 << 4,
    ['i' - 'a'] = 1 << 2, ['l' - 'a'] = 1 << 5, ['n' - 'a'] = 1 << 3,
    ['o' - 'a'] = 1 << 2, ['r' - 'a'] = 1 << 6, ['t' - 'a'] = 1 << 4,
    ['u' - 'a'] = 1 << 5, ['w' - 'a'] = 1 << 5
  };
  if (size < 2 || size > 8 || s[0] < 'a' || s[0] > 'z'
      || (sizes[s[0] - 'a'] & 1 << size) == 0)
    return false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (words[i][0] == s[0] && words[i][1] == s[1]
        && memcmp(words[i], s, size) == 0 && words[i][size] == '\0')
      return true;
  }
  return false;
}

/* Whether a key can stand as a name in a constructor. By ASCII, whatever the
   locale: Lua's own lexer knows no other letters (lctype.c). */
static bool isname (const tg_Grip *key) {
  const char *s = key->u.s.data;
  size_t size = key->u.s.size;
  if (key->type != TG_STRING || size == 0 || size < key->u.s.length
      || (s[0] >= '0' && s[0] <= '9'))
    return false;
  for (size_t i = 0; i < size; i++) {
    char c = s[i];
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'
          || (c >= '0' && c <= '9')))
      return false;
  }
  return !reserved(s, size);
}

/* Writes "key = ", or nothing for the next element of the sequence: as in a
   constructor (manual, 3.4.9). A name that cannot be afforded whole would be
   another name. */
static void writekey (tg_LuaLiteral *w, tg_Buf *out, tg_ValueCursor *c,
                      const tg_Grip *key, int64_t *next, uint32_t level) {
  if (key->type == TG_INT && key->u.i == *next) {
    ++*next;
    return;
  }
  if (isname(key) && afford(w, out, key->u.s.size) == key->u.s.size) {
    tg_buf_add(out, key->u.s.data, key->u.s.size);
    tg_buf_addstr(out, " = ");
    return;
  }
  tg_buf_addchar(out, '[');
  value(w, out, c, key, level);
  tg_buf_addstr(out, "] = ");
}

/* Whether the values of this parameter are not to be shown. */
static bool secret (const tg_LuaLiteral *w, const char *name) {
  return w->selection->redacts && tg_selection_secret(w->selection, name);
}

/* The whole key, as the hook would have looked at it. */
static bool secretkey (const tg_LuaLiteral *w, const tg_Grip *key) {
  return key->type == TG_STRING
         && tg_selection_hides(w->selection, key->u.s.data, key->u.s.size);
}

/* The properties of a table, up to a limit. Each key is written before its
   value, as it was captured: so objects get their marks in reading order. */
static void properties (tg_LuaLiteral *w, tg_Buf *out, tg_ValueCursor *c,
                        bool truncated, uint32_t level) {
  tg_Grip key, v;
  int64_t next = 1;
  uint32_t n = 0;
  for (; tg_values_property(c, &key, &v); n++) {
    if (n > 0)
      tg_buf_addstr(out, ", ");
    if (n >= w->limits.properties || full(w, out)) {
      faint(w, out, "...");
      return;
    }
    writekey(w, out, c, &key, &next, level + 1);
    if (secretkey(w, &key))
      v.type = TG_REDACTED;
    value(w, out, c, &v, level + 1);
  }
  if (truncated) {
    tg_buf_addstr(out, n > 0 ? ", " : "");
    faint(w, out, "...");
  }
}

/* Writes "*1" for an object that was listed before, "&1 " for one that will
   appear again; says whether it was. */
static bool marked (tg_LuaLiteral *w, tg_Buf *out, Object *o) {
  if (o->mark != 0) {
    tg_buf_addfmt(out, "*%u", (unsigned)o->mark);
    return true;
  }
  if (o->refs > 1) {
    o->mark = ++w->marks;
    tg_assert(w->marks <= w->count);
    tg_buf_addfmt(out, "&%u ", (unsigned)o->mark);
  }
  return false;
}

/* What a metatable calls its objects. It is the program's word: escaped, and no
   longer than there is room. */
static void addclass (const tg_LuaLiteral *w, tg_Buf *out,
                      const tg_Descriptor *d) {
  tg_terminal_escape(out, d->cls.u.s.data, afford(w, out, d->cls.u.s.size), 0);
}

/* A metatable without a name makes an "object": nobody knows of what. */
static void classname (const tg_LuaLiteral *w, tg_Buf *out,
                       const tg_Descriptor *d) {
  if ((d->flags & TG_DESC_CLASS) && d->cls.type == TG_STRING) {
    addclass(w, out, d);
    tg_buf_addchar(out, ' ');
  }
  else if (d->flags & TG_DESC_PROTO)
    tg_buf_addstr(out, "object ");
}

/* Whether a table beyond the depth has something is seen by its first byte: its
   properties are not read. */
static void table (tg_LuaLiteral *w, tg_Buf *out, tg_ValueCursor *c,
                   const tg_Descriptor *d, uint32_t level) {
  bool truncated = (d->flags & TG_DESC_TRUNCATED) != 0;
  classname(w, out, d);
  tg_buf_addchar(out, '{');
  if (level >= w->limits.depth || level >= DEEPEST) {
    bool any = (d->flags & TG_DESC_PROPS) && c->p < c->end
               && *c->p != TG_GRIP_END;
    if (any || truncated)
      faint(w, out, "...");
  }
  else if (d->flags & TG_DESC_PROPS)
    properties(w, out, c, truncated, level);
  else if (truncated)
    faint(w, out, "...");
  tg_buf_addchar(out, '}');
}

/* }================================================================== */

/* A name that was found needs to be marked as a function's; a place in angle
   brackets says it itself. */
static void function (tg_LuaLiteral *w, tg_Buf *out, const tg_Descriptor *d) {
  const tg_Function *f = tg_functions_find(w->functions, d->function);
  if (f == NULL) {
    tg_buf_addstr(out, "function");
    return;
  }
  if (!tg_lualiteral_anonymous(f))
    tg_buf_addstr(out, "function: ");
  tg_lualiteral_function(out, f);
}

/* What a userdata holds is its library's: only its class can be told. */
static void userdata (const tg_LuaLiteral *w, tg_Buf *out,
                      const tg_Descriptor *d) {
  tg_buf_addstr(out, "userdata");
  if ((d->flags & TG_DESC_CLASS) && d->cls.type == TG_STRING) {
    tg_buf_addstr(out, ": ");
    addclass(w, out, d);
  }
}

/* Only tables are marked: they are what can be shared and changed, and what can
   hold itself. */
static void described (tg_LuaLiteral *w, tg_Buf *out, const tg_ValueCursor *at,
                       Object *o, uint32_t level) {
  tg_ValueCursor c = {.p = o->at, .end = at->end, .origin = at->origin};
  tg_Descriptor d;
  tg_assert(o->at != NULL && o->at < at->end);
  tg_values_descriptor(&c, &d);
  switch (d.type) {
    case TG_OBJ_TABLE:
      if (!marked(w, out, o))
        table(w, out, &c, &d, level);
      break;
    case TG_OBJ_FUNCTION: function(w, out, &d); break;
    case TG_OBJ_THREAD: tg_buf_addstr(out, "thread"); break;
    case TG_OBJ_USERDATA: userdata(w, out, &d); break;
    default: tg_buf_addchar(out, '?'); break;
  }
}

/* An object of which only the type is known: beyond a limit, or without memory
   for the pool. */
static void undescribed (tg_Buf *out, tg_ObjectType type) {
  tg_buf_addstr(out, type == TG_OBJ_TABLE ? "{...}"
                                          : tg_values_type_name(type));
}

/* An object that the list does not describe, as a damaged file may have it, is
   taken for a table: it is what objects mostly are. */
static void value (tg_LuaLiteral *w, tg_Buf *out, tg_ValueCursor *c,
                   const tg_Grip *g, uint32_t level) {
  switch (g->type) {
    case TG_NIL: case TG_END: number(w, out, "nil"); break;
    case TG_FALSE: number(w, out, "false"); break;
    case TG_TRUE: number(w, out, "true"); break;
    case TG_NULL: number(w, out, "null"); break;
    case TG_REDACTED: faint(w, out, "<redacted>"); break;
    case TG_INT: integer(w, out, g->u.i); break;
    case TG_FLOAT: real(w, out, g->u.f); break;
    case TG_STRING: string(w, out, g); break;
    case TG_NOROOM: undescribed(out, g->u.object); break;
    case TG_OBJECT:
      if (g->u.id < w->count && w->pool[g->u.id].at != NULL)
        described(w, out, c, &w->pool[g->u.id], level);
      else
        undescribed(out, TG_OBJ_TABLE);
      break;
    default: tg_unreachable();
  }
}

/* Values beyond the parameters have no names and are never secret. The list of
   a packet that is cut short ends in three points. */
void tg_lualiteral_list (tg_LuaLiteral *w, tg_Buf *out, tg_Slice values,
                         const tg_Function *params) {
  tg_ValueCursor c;
  tg_values_open(&c, values);
  uint64_t n = tg_values_var(&c);
  uint64_t listed = n < TG_VALUES_MAX ? n : TG_VALUES_MAX;
  w->size = values.size + TG_NAMED_ALL;     /* so many objects there can be at
                                               most */
  w->most = out->size + TG_PACKET_MAX;
  if (values.size > UINT32_MAX)
    return;
  findpool(w, c, listed);
  for (uint64_t i = 0; i < listed && !c.bad && !full(w, out); i++) {
    tg_Grip g;
    tg_values_grip(&c, &g);
    if (params != NULL && i < params->nparams && secret(w, params->params[i]))
      g.type = TG_REDACTED;
    tg_buf_addstr(out, i > 0 ? ", " : "");
    value(w, out, &c, &g, 0);
  }
  if (listed < n || full(w, out)) {
    tg_buf_addstr(out, ", ");
    faint(w, out, "...");
  }
}

/* The pool is kept from list to list, and freed here. */
void tg_lualiteral_free (tg_LuaLiteral *w) {
  tg_free(w->pool);
  w->pool = NULL;
  w->count = w->capacity = 0;
}
