/*
** plainvalues.c - see plainvalues.h. For exports, on any thread. One pass finds
** the descriptors, the next writes; what is open when there is no more room is
** closed, so that the text is JSON however it was cut.
*/
#include "packet/plainvalues.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "packet/lualiteral.h"
#include "text/jsonwriter.h"
#include "text/terminal.h"
#include "text/utf8.h"

static void value (tg_PlainValues *w, const tg_ValueCursor *c,
                   const tg_Grip *g, uint32_t level);

/* The limit is checked between values, and before a long value. A value that
   was begun is finished, so a text may be a little longer than 'most'. */
static bool full (const tg_PlainValues *w) {
  return w->out->size >= w->end;
}

/*
** {==================================================================
** Text
** ===================================================================
*/

/* UTF-8, quoted. */
static void text (tg_PlainValues *w, const char *s, size_t size) {
  tg_JsonWriter json;
  tg_jsonwriter_init(&json, w->out);
  json.sink.string(&json.sink, s, size);
}

/* A word of ours, or of Lua's: a string all the same, since JSON has nothing
   for it. */
static void word (tg_PlainValues *w, const char *s) {
  text(w, s, strlen(s));
}

/* How much of a string there is room for, before escapes make it longer. */
static size_t afford (const tg_PlainValues *w, size_t size) {
  size_t room = full(w) ? 0 : w->end - w->out->size;
  return size < room ? size : room;
}

/* Writes 'room', which may have any bytes, quoted. If some bytes are no UTF-8,
   the text is escaped as in Lua, its backslashes too. */
static void put_room (tg_PlainValues *w) {
  const tg_Buf *r = &w->room;
  w->failed = w->failed || r->failed;
  if (r->failed || r->size == 0) {      /* it may have no memory yet */
    text(w, "", 0);
    return;
  }
  if (tg_utf8_whole(r->data, r->size) == r->size) {
    text(w, r->data, r->size);
    return;
  }
  tg_Buf escaped = {0};
  tg_terminal_escape(&escaped, r->data, r->size, '"');
  w->failed = w->failed || escaped.failed;
  bool ok = !escaped.failed;
  text(w, ok ? escaped.data : "", ok ? escaped.size : 0);
  tg_buf_free(&escaped);
}

/* One buffer serves for all strings, since no two are made at a time. */
static tg_Buf *clear_room (tg_PlainValues *w) {
  tg_buf_clear(&w->room);
  return &w->room;
}

/* A string is cut where the room ends, or was cut when it was recorded, which
   its length shows. Either way the last character is whole: so it stays
   UTF-8. */
static void string (tg_PlainValues *w, const tg_Grip *g) {
  tg_Buf *room = clear_room(w);
  size_t size = afford(w, g->u.s.size);
  bool cut = size < g->u.s.length;
  tg_buf_add(room, g->u.s.data,
             cut ? tg_utf8_cut(g->u.s.data, size) : size);
  tg_buf_addstr(room, cut ? "..." : "");
  put_room(w);
}

/* }================================================================== */

/*
** {==================================================================
** Numbers
** ===================================================================
*/

#define EXACT ((int64_t)1 << 53)    /* viewers keep numbers as doubles */

/* As a string what a double cannot hold: a viewer would show another number,
   and nothing would tell. */
static void integer (tg_PlainValues *w, int64_t i) {
  bool odd = i > EXACT || i < -EXACT;
  tg_buf_addfmt(w->out, odd ? "\"%" PRId64 "\"" : "%" PRId64, i);
}

/* JSON has no such numbers. They are written as a Lua program would write
   them. */
static void real (tg_PlainValues *w, double f) {
  tg_JsonWriter json;
  if (isnan(f))
    word(w, "0/0");
  else if (isinf(f))
    word(w, f < 0 ? "-math.huge" : "math.huge");
  else {
    tg_jsonwriter_init(&json, w->out);
    json.sink.number(&json.sink, f);
  }
}

/* }================================================================== */

/*
** {==================================================================
** Tables
** ===================================================================
*/

/* 32 bits are enough: longer lists are not looked through
   (tg_plainvalues_list). */
static bool add_place (tg_PlainValues *w, const uint8_t *at) {
  if (!tg_grow(&w->places, &w->capacity, w->count + 1, sizeof *w->places))
    return false;
  w->places[w->count++] = (uint32_t)(at - w->bytes);
  return true;
}

/* Finds the descriptors, which come after the values themselves and have no
   lengths: each is found by passing over the one before. */
static void find_places (tg_PlainValues *w, tg_ValueCursor c, uint64_t grips) {
  uint32_t id;
  w->count = 0;
  for (uint64_t i = 0; i < grips && !c.bad; i++)
    tg_values_pass(&c, &id);
  while (!c.bad && c.p < c.end) {
    if (!add_place(w, c.p)) {
      w->failed = true;
      return;
    }
    if (tg_values_pass_head(&c))
      tg_values_skip_properties(&c);
  }
}

/* Whether the properties at 'c' are those of a sequence, one at least. */
static bool is_sequence (tg_ValueCursor c) {
  tg_Grip key, v;
  int64_t n = 0;
  while (tg_values_property(&c, &key, &v)) {
    if (key.type != TG_INT || key.u.i != n + 1)
      return false;
    n++;
  }
  return n > 0;
}

/* By its key: a table's fields have no other name. */
static bool is_secret (const tg_PlainValues *w, const tg_Grip *key) {
  return key->type == TG_STRING
         && tg_selection_hides(w->selection, key->u.s.data, key->u.s.size);
}

/* A key that is no string is text all the same: as it stands in a constructor,
   or "..." for a table and its like. */
static void put_key (tg_PlainValues *w, const tg_Grip *key) {
  if (key->type == TG_STRING)
    string(w, key);
  else if (key->type == TG_INT)
    tg_buf_addfmt(w->out, "\"[%" PRId64 "]\"", key->u.i);
  else if (key->type == TG_FLOAT)
    tg_buf_addfmt(w->out, "\"[%.14g]\"", key->u.f);
  else if (key->type == TG_TRUE || key->type == TG_FALSE)
    word(w, key->type == TG_TRUE ? "[true]" : "[false]");
  else
    word(w, "[...]");
}

/* With a space behind the comma, since these texts are read by people as they
   stand; the JSON writer's are not. */
static void next_item (tg_PlainValues *w, bool *any) {
  tg_buf_addstr(w->out, *any ? ", " : "");
  *any = true;
}

/* What is left out, at the end of an array or an object. */
static void put_rest (tg_PlainValues *w, bool array, bool *any) {
  next_item(w, any);
  tg_buf_addstr(w->out, array ? "\"...\"" : "\"...\": \"\"");
}

/* Those that the recording has. Beyond the room one mark stands for the rest,
   however many there are. */
static void items (tg_PlainValues *w, tg_ValueCursor *c, bool array, bool *any,
                   uint32_t level) {
  tg_Grip key, v;
  while (tg_values_property(c, &key, &v)) {
    if (full(w)) {
      put_rest(w, array, any);
      return;
    }
    next_item(w, any);
    if (!array) {
      put_key(w, &key);
      tg_buf_addstr(w->out, ": ");
    }
    if (is_secret(w, &key))
      v.type = TG_REDACTED;
    value(w, c, &v, level + 1);
  }
}

/* The metatable's name for its objects; "object" if it has none. */
static void put_class (tg_PlainValues *w, const tg_Descriptor *d, bool *any) {
  bool named = (d->flags & TG_DESC_CLASS) && d->cls.type == TG_STRING;
  if (!named && !(d->flags & TG_DESC_PROTO))
    return;
  next_item(w, any);
  tg_buf_addstr(w->out, "\"(class)\": ");
  if (named)
    string(w, &d->cls);
  else
    word(w, "object");
}

/* With a metatable it is an object even if it is a sequence: the class needs a
   member to stand in. A copy of the cursor looks ahead (is_sequence). */
static void table (tg_PlainValues *w, tg_ValueCursor *c, const tg_Descriptor *d,
                   uint32_t level) {
  tg_assert(level < TG_PLAIN_DEPTH);
  bool props = (d->flags & TG_DESC_PROPS) != 0;
  bool plain = (d->flags & (TG_DESC_CLASS | TG_DESC_PROTO)) == 0;
  bool array = props && plain && is_sequence(*c);
  bool any = false;
  tg_buf_addchar(w->out, array ? '[' : '{');
  put_class(w, d, &any);
  if (props)
    items(w, c, array, &any, level);
  if ((d->flags & TG_DESC_TRUNCATED) && !full(w))
    put_rest(w, array, &any);
  tg_buf_addchar(w->out, array ? ']' : '}');
}

/* }================================================================== */

/* Where it is defined tells more than an address, which no two runs share. */
static void function (tg_PlainValues *w, const tg_Descriptor *d) {
  const tg_Function *f = tg_functions_find(w->functions, d->function);
  tg_Buf *room = clear_room(w);
  if (f == NULL)
    tg_buf_addstr(room, "function");
  else {
    tg_buf_addstr(room, tg_lualiteral_anonymous(f) ? "" : "function: ");
    tg_lualiteral_function(room, f);
  }
  put_room(w);
}

/* A userdata is named by its class, since no content of it is recorded. */
static void userdata (tg_PlainValues *w, const tg_Descriptor *d) {
  tg_Buf *room = clear_room(w);
  tg_buf_addstr(room, "userdata");
  if ((d->flags & TG_DESC_CLASS) && d->cls.type == TG_STRING) {
    tg_buf_addstr(room, ": ");
    tg_buf_add(room, d->cls.u.s.data, afford(w, d->cls.u.s.size));
  }
  put_room(w);
}

/* Whether a table may be written here: not within itself, nor too deep. Only
   the tables around it are compared: a table that comes twice side by side may
   be written twice, since that ends. */
static bool go_into (tg_PlainValues *w, uint32_t id, uint32_t level) {
  if (level >= TG_PLAIN_DEPTH)
    return false;
  for (uint32_t i = 0; i < level; i++) {
    if (w->path[i] == id)
      return false;
  }
  w->path[level] = id;
  return true;
}

/* An object's descriptor stands behind all values of its list, so it is read by
   a cursor of its own. Strings in it may stand elsewhere: 'origin' is that of
   the list. */
static void described (tg_PlainValues *w, const tg_ValueCursor *at,
                       uint32_t id, uint32_t level) {
  tg_assert(id < w->count);
  tg_ValueCursor c = {.p = w->bytes + w->places[id], .end = at->end,
                      .origin = at->origin};
  tg_Descriptor d;
  tg_values_descriptor(&c, &d);
  switch (d.type) {
    case TG_OBJ_TABLE:
      if (go_into(w, id, level))
        table(w, &c, &d, level);
      else
        word(w, "...");
      break;
    case TG_OBJ_FUNCTION: function(w, &d); break;
    case TG_OBJ_THREAD: word(w, "thread"); break;
    case TG_OBJ_USERDATA: userdata(w, &d); break;
    default: word(w, "?"); break;
  }
}

/* An object of which only the type is known. */
static void undescribed (tg_PlainValues *w, tg_ObjectType type) {
  if (type == TG_OBJ_TABLE)
    tg_buf_addstr(w->out, "{\"...\": \"\"}");
  else
    word(w, tg_values_type_name(type));
}

/* nil is null, as JSON has nothing nearer; a member or item is there for it, so
   that positions stay right. */
static void value (tg_PlainValues *w, const tg_ValueCursor *c,
                   const tg_Grip *g, uint32_t level) {
  switch (g->type) {
    case TG_NIL: case TG_END: case TG_NULL:
      tg_buf_addstr(w->out, "null");
      break;
    case TG_FALSE: tg_buf_addstr(w->out, "false"); break;
    case TG_TRUE: tg_buf_addstr(w->out, "true"); break;
    case TG_REDACTED: word(w, "<redacted>"); break;
    case TG_INT: integer(w, g->u.i); break;
    case TG_FLOAT: real(w, g->u.f); break;
    case TG_STRING: string(w, g); break;
    case TG_NOROOM: undescribed(w, g->u.object); break;
    case TG_OBJECT:
      if (g->u.id < w->count)
        described(w, c, g->u.id, level);
      else
        undescribed(w, TG_OBJ_TABLE);
      break;
    default: tg_unreachable();
  }
}

/* Parameters name arguments; extra arguments have no names. */
static bool hides (const tg_PlainValues *w, const tg_Function *params,
                   uint64_t i) {
  return params != NULL && i < params->nparams && w->selection->redacts
         && tg_selection_secret(w->selection, params->params[i]);
}

/* Bytes that cannot be read look like a list that was cut. */
void tg_plainvalues_list (tg_PlainValues *w, tg_Buf *out, tg_Slice values,
                          const tg_Function *params) {
  tg_ValueCursor c;
  bool any = false;
  tg_values_open(&c, values);
  uint64_t n = tg_values_var(&c);
  uint64_t listed = n < TG_VALUES_MAX ? n : TG_VALUES_MAX;
  w->out = out;
  w->end = out->size + w->most;
  w->bytes = values.data;
  tg_buf_addchar(out, '[');
  if (values.size <= UINT32_MAX)
    find_places(w, c, listed);
  uint64_t i = 0;
  for (; i < listed && !c.bad && !full(w); i++) {
    tg_Grip g;
    tg_values_grip(&c, &g);
    if (hides(w, params, i))
      g.type = TG_REDACTED;
    next_item(w, &any);
    value(w, &c, &g, 0);
  }
  if (i < n)
    put_rest(w, true, &any);
  tg_buf_addchar(out, ']');
}

void tg_plainvalues_free (tg_PlainValues *w) {
  tg_free(w->places);
  tg_buf_free(&w->room);
  w->places = NULL;
  w->count = w->capacity = 0;
}
