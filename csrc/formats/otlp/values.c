/*
** values.c - see values.h. Called by spans.c.
*/
#include "formats/otlp/values.h"

#include <string.h>
#include <strings.h>

static const char header[] = "traceparent";

static bool read_header (const tg_Grip *g, tg_SpanContext *out) {
  return g->type == TG_STRING && g->u.s.size == g->u.s.length
         && tg_traceparent_read(g->u.s.data, g->u.s.size, out);
}

/* The names of HTTP's headers have no case. */
static bool is_header (const tg_Grip *key) {
  return key->type == TG_STRING && key->u.s.size == sizeof header - 1
         && strncasecmp(key->u.s.data, header, sizeof header - 1) == 0;
}

/* In the descriptors, which come in the order of their distance: so what is
   nearer to the arguments comes first. */
static bool find_property (tg_ValueCursor *c, tg_SpanContext *out) {
  tg_Descriptor d;
  tg_Grip key, v;
  while (!c->bad && c->p < c->end) {
    tg_values_descriptor(c, &d);
    if ((d.flags & TG_DESC_PROPS) == 0)
      continue;
    while (tg_values_property(c, &key, &v)) {
      if (is_header(&key) && read_header(&v, out))
        return true;
    }
  }
  return false;
}

bool tg_otlpvalues_parent (tg_Slice values, tg_SpanContext *out) {
  tg_ValueCursor c;
  tg_Grip g;
  if (values.data == NULL)
    return false;
  tg_values_open(&c, values);
  uint64_t n = tg_values_var(&c);
  for (uint64_t i = 0; i < n && i < TG_VALUES_MAX && !c.bad; i++) {
    tg_values_grip(&c, &g);
    if (read_header(&g, out))
      return true;
  }
  return find_property(&c, out);
}

/* ---- errors ---- */

static const char *type_name (tg_GripType type) {
  switch (type) {
    case TG_NIL: case TG_END: return "nil";
    case TG_FALSE: case TG_TRUE: return "boolean";
    case TG_INT: case TG_FLOAT: return "number";
    case TG_STRING: return "string";
    case TG_NULL: case TG_OBJECT: case TG_NOROOM: case TG_REDACTED: default:
      return "userdata";
  }
}

/* An object by the name that its metatable gives; its descriptor comes right
   after the one value of the list. */
static void put_type (tg_Buf *out, const tg_Grip *g, tg_ValueCursor c) {
  tg_Descriptor d;
  if (g->type == TG_NOROOM)
    tg_buf_addstr(out, tg_values_type_name(g->u.object));
  else if (g->type != TG_OBJECT)
    tg_buf_addstr(out, type_name(g->type));
  else {
    tg_values_descriptor(&c, &d);
    if (d.flags & TG_DESC_CLASS)
      tg_buf_add(out, d.cls.u.s.data, d.cls.u.s.size);
    else
      tg_buf_addstr(out, tg_values_type_name(d.type));
  }
}

static void put_message (tg_OtlpError *out, tg_LuaLiteral *literal,
                         tg_Slice thrown, const tg_Grip *g, bool values) {
  if (g->type == TG_STRING)
    tg_buf_add(&out->message, g->u.s.data, g->u.s.size);
  else if (values || g->type == TG_REDACTED || g->type == TG_INT
           || g->type == TG_FLOAT)
    tg_lualiteral_list(literal, &out->message, thrown, NULL);
  else
    tg_buf_add(&out->message, out->type.data, out->type.size);
}

/* What is to be hidden has no type either. */
void tg_otlpvalues_error (tg_OtlpError *out, tg_LuaLiteral *literal,
                          tg_Slice thrown, bool values) {
  tg_ValueCursor c;
  tg_Grip g = {.type = TG_NIL};
  tg_buf_clear(&out->message);
  tg_buf_clear(&out->type);
  if (thrown.data == NULL)
    return;
  tg_values_open(&c, thrown);
  if (tg_values_var(&c) == 0)
    return;
  tg_values_grip(&c, &g);
  if (g.type != TG_REDACTED)
    put_type(&out->type, &g, c);
  put_message(out, literal, thrown, &g, values);
}

void tg_otlpvalues_free (tg_OtlpError *e) {
  tg_buf_free(&e->message);
  tg_buf_free(&e->type);
}
