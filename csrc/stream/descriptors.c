/*
** descriptors.c - reading back what was captured of objects: what is told of
** each, and the properties of tables, of which others may tell some. A part of
** values.h, on whose grips it rests (values.c): as there, the first surprise
** makes the cursor bad for good.
*/
#include "stream/values.h"

#include <string.h>

/*
** {==================================================================
** Heads
** ===================================================================
*/

uint8_t tg_values_named (uint8_t first) {
  static const uint8_t flags[] = {0, TG_DESC_TRUNCATED,
                                  TG_DESC_TRUNCATED | TG_DESC_META};
  tg_assert(tg_values_are_named(first));
  return flags[(first - TG_DESC_NAMED) >> TG_NAMED_SHIFT];
}

/* One of several in a row, if they come next. The cursor stays before them
   until they have all been taken: so where any of them is read anew, the first
   is, which is like it. */
static bool take_named (tg_ValueCursor *c, uint32_t *flags) {
  if (tg_likely(c->p >= c->end || !tg_values_are_named(*c->p)))
    return false;
  *flags = tg_values_named(*c->p);
  if (++c->named > TG_NAMED_ALL) {
    tg_values_spoil(c);
    return false;
  }
  if (c->taken++ == (*c->p & TG_NAMED_MOST)) {
    c->taken = 0;
    c->p++;
  }
  c->contents = c->p;
  return true;
}

/* Passes over what the flags say comes before properties; the flags, or none if
   the bytes are bad. */
static uint32_t pass_parts (tg_ValueCursor *c, uint32_t flags) {
  uint32_t id;
  if (flags & TG_DESC_CLASS)
    tg_values_pass(c, &id);
  if (flags & TG_DESC_PROTO)
    tg_values_pass(c, &id);
  if (flags & TG_DESC_FUNCTION)
    tg_values_id(c);
  return c->bad ? 0 : flags;
}

/* What is told by one byte for type and flags. */
static void read_short (tg_Head *h, uint8_t first) {
  unsigned form = first & TG_SHORT_FORM;
  h->type = TG_OBJ_TABLE;
  h->flags = tg_values_short_flags(first);
  h->like = form != TG_SHORT_TABLE;
  h->hidden = form == TG_SHORT_UNLIKE || form == TG_SHORT_UNLIKE_NEXT;
  h->nexts = form == TG_SHORT_LIKE_NEXT || form == TG_SHORT_UNLIKE_NEXT;
}

static void read_head (tg_ValueCursor *c, tg_Head *h, uint8_t first) {
  h->like = first == TG_DESC_LIKE || first == TG_DESC_UNLIKE;
  h->hidden = first == TG_DESC_UNLIKE;
  if (first == TG_DESC_DEFINED) {
    h->type = TG_OBJ_FUNCTION;
    h->flags = TG_DESC_FUNCTION;
    return;
  }
  if (!h->like && first > TG_OBJ_USERDATA) {    /* an index into a table of */
    tg_values_spoil(c);                         /* names somewhere */
    return;
  }
  h->type = h->like ? TG_OBJ_TABLE : (tg_ObjectType)first;
  h->flags = tg_values_byte(c);
}

void tg_values_head (tg_ValueCursor *c, tg_Head *h) {
  *h = (tg_Head){.at = c->p};
  uint8_t first = tg_values_byte(c);
  if (tg_likely(tg_values_are_short(first)))
    read_short(h, first);
  else
    read_head(c, h, first);
  if (c->bad)
    *h = (tg_Head){.at = h->at};
}

/* }================================================================== */

/*
** {==================================================================
** Tables like others
** ===================================================================
*/

/* Where a redaction has cut the way back, the values are passed over. */
static void pass_hidden (tg_ValueCursor *c, uint64_t count) {
  uint32_t id;
  c->left = count <= TG_LIKE_MOST ? (uint32_t)count : 0;
  for (uint64_t differ = c->differ; differ != 0; differ &= differ - 1)
    tg_values_pass(c, &id);
}

/* The table that the one at 'head' refers to by 'number': a table itself, which
   stands before. */
static void find_model (tg_ValueCursor *c, const uint8_t *head,
                        uint64_t number) {
  tg_Head model;
  tg_ValueCursor there = {.p = tg_values_place(c->origin, head, number),
                          .end = head, .origin = c->origin};
  if (there.p == NULL) {
    tg_values_spoil(c);
    return;
  }
  tg_values_head(&there, &model);
  if (model.type != TG_OBJ_TABLE || model.like
      || (pass_parts(&there, model.flags) & TG_DESC_PROPS) == 0) {
    tg_values_spoil(c);
    return;
  }
  c->model = there.p;
  c->model_end = head;
  c->left = TG_LIKE_MOST;
}

bool tg_values_like (tg_ValueCursor *c, const tg_Head *h) {
  c->contents = c->p;
  uint64_t number = tg_values_var(c);
  c->differ = tg_values_var(c);
  c->nexts = h->nexts;
  c->next = h->nexts ? tg_values_id(c) : 0;
  if (h->hidden)
    pass_hidden(c, number);
  else if (!c->bad)
    find_model(c, h->at, number);
  return !c->bad && !h->hidden;
}

static bool is_scalar (const tg_Grip *g) {
  return g->type != TG_OBJECT && g->type != TG_NOROOM && g->type != TG_END;
}

/* The value that the other table has, at the cursor 'there'; or an object that
   comes next, which is hidden where that is. */
static void take_value (tg_ValueCursor *c, tg_ValueCursor *there, tg_Grip *v) {
  bool next = c->nexts && there->p < there->end
              && tg_values_are_object(*there->p);
  tg_values_grip(there, v);
  if (next) {
    uint32_t id = c->next++;
    if (v->type == TG_OBJECT)
      v->u.id = id;
  }
  else if (!is_scalar(v))
    tg_values_spoil(c);
}

/* At the end all that differs has been read, which is then where the next
   descriptor begins. */
static bool end_like (tg_ValueCursor *c) {
  c->model = NULL;
  if (c->differ != 0)
    tg_values_spoil(c);
  return false;
}

/* The key from the other table, the value from there or of its own. */
static bool next_like (tg_ValueCursor *c, tg_Grip *key, tg_Grip *v) {
  tg_ValueCursor there = {.p = c->model, .end = c->model_end,
                          .origin = c->origin};
  bool own = (c->differ & 1) != 0;
  uint32_t id;
  tg_values_grip(&there, key);
  if (key->type == TG_END && !there.bad)
    return end_like(c);
  if (own) {
    tg_values_pass(&there, &id);
    tg_values_grip(c, v);
  }
  else
    take_value(c, &there, v);
  if (there.bad || !is_scalar(key) || c->left-- == 0)
    tg_values_spoil(c);
  else if (!c->bad) {
    c->model = there.p;
    c->differ >>= 1;
  }
  return !c->bad;
}

/* }================================================================== */

/* False at the end, and where the bytes are bad: a key without a value is not
   given. */
bool tg_values_property (tg_ValueCursor *c, tg_Grip *key, tg_Grip *v) {
  if (tg_unlikely(c->model != NULL))
    return next_like(c, key, v);
  tg_values_grip(c, key);
  if (key->type == TG_END || c->bad)
    return false;
  tg_values_grip(c, v);
  return !c->bad;
}

/* A key and a value each, up to END. A bad cursor gives END for ever. */
void tg_values_skip_properties (tg_ValueCursor *c) {
  tg_Grip key, v;
  if (tg_likely(c->model == NULL)) {
    tg_values_pass_pairs(c);
    return;
  }
  while (next_like(c, &key, &v))
    ;
}

/* A grip that has to be of one of two types. */
static void read_either (tg_ValueCursor *c, tg_Grip *g, tg_GripType a,
                         tg_GripType b) {
  tg_values_grip(c, g);
  if (g->type != a && g->type != b) {
    tg_values_spoil(c);
    g->type = TG_END;
  }
}

/* A descriptor up to its properties, which are left at the cursor. A bad one
   has no flags, so no properties. */
void tg_values_descriptor (tg_ValueCursor *c, tg_Descriptor *d) {
  tg_Head h;
  memset(d, 0, sizeof *d);
  c->model = NULL;
  if (take_named(c, &d->flags))
    return;
  tg_values_head(c, &h);
  d->type = h.type;
  d->flags = h.flags;
  if (d->flags & TG_DESC_CLASS)
    read_either(c, &d->cls, TG_STRING, TG_STRING);
  if (d->flags & TG_DESC_PROTO)
    read_either(c, &d->proto, TG_OBJECT, TG_NOROOM);
  if (d->flags & TG_DESC_FUNCTION)
    d->function = tg_values_id(c);
  c->contents = c->p;
  if (h.like && !tg_values_like(c, &h))
    d->flags &= ~(uint32_t)TG_DESC_PROPS;
  if (c->bad)
    d->flags = 0;
}

/* Reads as tg_values_descriptor does, but keeps nothing, for readers that only
   look for objects. */
bool tg_values_pass_head (tg_ValueCursor *c) {
  tg_Head h;
  uint32_t flags;
  c->model = NULL;
  if (take_named(c, &flags))
    return false;
  tg_values_head(c, &h);
  flags = pass_parts(c, h.flags);
  if (h.like)
    return tg_values_like(c, &h);
  return !c->bad && (flags & TG_DESC_PROPS) != 0;
}

/* What is no number of a table is damage. */
bool tg_values_identity (tg_ValueCursor *c, tg_KnownTable *out) {
  tg_Grip key, v;
  tg_values_grip(c, &key);
  if (key.type == TG_END)
    return false;
  tg_values_grip(c, &v);
  if (key.type != TG_INT || key.u.i < 0 || key.u.i > UINT32_MAX
      || v.type != TG_INT || v.u.i < 1 || v.u.i > UINT32_MAX) {
    tg_values_spoil(c);
    return false;
  }
  *out = (tg_KnownTable){.id = (uint32_t)key.u.i, .number = (uint32_t)v.u.i};
  return true;
}
