/*
** valuecopy.c - a list of values, copied to a place of its own.
**
** Called by whoever keeps values beyond their packet, on any thread. Bytes are
** copied in runs, as they are, up to the next reference; in the place of that
** comes what it refers to. As in values.c, nothing in the bytes is believed:
** the first surprise ends the reading, and the rest is copied unread.
*/
#include "stream/valuecopy.h"

#include "stream/event.h"

/* A list that is being copied to a place without the strings and tables that it
   refers to. */
typedef struct Copy {
  tg_Buf *out;
  tg_ValueCursor c;
  const uint8_t *from;  /* bytes before this are copied */
  size_t put_in, most;  /* bytes that were elsewhere */
} Copy;

/* Bytes without references are copied in one piece, when a reference comes. */
static void flush_until (Copy *k, const uint8_t *to) {
  tg_buf_add(k->out, k->from, (size_t)(to - k->from));
  k->from = to;
}

/* Whether it stands for a string that is elsewhere. */
static bool is_again (uint8_t tag) {
  return tag == TG_GRIP_STRAGAIN || tg_values_are_again(tag);
}

/* As it stands where 'tag' refers to. */
static void add_string (Copy *k, uint8_t tag, const tg_Grip *g) {
  uint8_t head[24], *p = head;
  tg_assert(g->type == TG_STRING);
  if (tg_values_are_again(tag))
    *p++ = (uint8_t)(TG_GRIP_SMALLSTR + g->u.s.size);
  else {
    *p++ = TG_GRIP_STRING;
    p = tg_putvar(p, g->u.s.length);
    p = tg_putvar(p, g->u.s.size);
  }
  tg_buf_add(k->out, head, (size_t)(p - head));
  tg_buf_add(k->out, g->u.s.data, g->u.s.size);
  k->put_in += g->u.s.size;
}

/* Puts the string in place of the bytes since 'tag', which refer to it. */
static void put_in (Copy *k, const uint8_t *tag, const tg_Grip *g) {
  tg_assert(tag >= k->from);
  flush_until(k, tag);
  add_string(k, *tag, g);
  k->from = k->c.p;
}

/* The head of a table's descriptor, as it is written (capture/grip.h). Bytes of
   a damaged file may have flags that a table has not. */
static void add_head (Copy *k, uint32_t flags) {
  if ((flags & TG_DESC_FUNCTION) == 0)
    tg_buf_addchar(k->out, (char)tg_values_short(TG_SHORT_TABLE, flags));
  else {
    tg_buf_addchar(k->out, TG_OBJ_TABLE);
    tg_buf_addchar(k->out, (char)flags);
  }
}

/* Only references need another form: all other grips are copied later, with the
   bytes around them. */
static tg_GripType copy_grip (Copy *k) {
  const uint8_t *tag = k->c.p;
  tg_Grip g;
  tg_values_grip(&k->c, &g);
  if (!k->c.bad && is_again(*tag)) {
    if (g.u.s.size > k->most - k->put_in)
      tg_values_spoil(&k->c);
    else
      put_in(k, tag, &g);
  }
  return g.type;
}

/* Puts in a grip, the bytes from 'at' to 'end', which may be elsewhere. */
static void put_grip (Copy *k, const uint8_t *at, const uint8_t *end,
                      const tg_Grip *g) {
  bool again = is_again(*at);
  size_t size = again ? g->u.s.size : (size_t)(end - at);
  if (size > k->most - k->put_in)
    tg_values_spoil(&k->c);
  else if (again)
    add_string(k, *at, g);
  else {
    tg_buf_add(k->out, at, size);
    k->put_in += size;
  }
}

/* Puts in an object that comes next, which nothing stands for anywhere. */
static void put_next (Copy *k, const tg_Grip *g) {
  uint8_t bytes[8], *p = bytes;
  if (g->u.id <= TG_GRIP_SMALLMAX)
    *p++ = (uint8_t)(TG_GRIP_SMALLOBJ + g->u.id);
  else {
    *p++ = TG_GRIP_OBJECT;
    p = tg_putvar(p, g->u.id);
  }
  size_t size = (size_t)(p - bytes);
  if (size > k->most - k->put_in) {
    tg_values_spoil(&k->c);
    return;
  }
  tg_buf_add(k->out, bytes, size);
  k->put_in += size;
}

/* One property of a table that is like another one; false after the last. */
static bool copy_like_property (Copy *k) {
  tg_ValueCursor *c = &k->c;
  tg_ValueCursor there = {.p = c->model, .end = c->model_end,
                          .origin = c->origin};
  const uint8_t *at = there.p, *own = tg_values_own(c) ? c->p : NULL;
  tg_Grip key, v;
  if (!tg_values_property(c, &key, &v))
    return false;
  tg_values_grip(&there, &key);
  put_grip(k, at, there.p, &key);
  if (own != NULL)
    put_grip(k, own, c->p, &v);
  else if (v.type == TG_OBJECT)
    put_next(k, &v);
  else
    put_grip(k, there.p, c->model, &v);
  return !c->bad;
}

/* The descriptor, which has been read up to its way back, becomes one that
   stands by itself. */
static void copy_like (Copy *k, const tg_Head *head) {
  flush_until(k, k->c.p);
  if (tg_values_like(&k->c, head)) {
    while (copy_like_property(k))
      ;
  }
  if (!k->c.bad)
    tg_buf_addchar(k->out, TG_GRIP_END);
  k->from = k->c.p;
}

/* Several in a row, of which each gets its own bytes. */
static void copy_named (Copy *k) {
  uint8_t first = *k->c.p, flags = tg_values_named(first);
  flush_until(k, k->c.p);
  uint32_t n = (first & TG_NAMED_MOST) + 1;
  k->c.named += n;
  if (k->c.named > TG_NAMED_ALL) {
    tg_values_spoil(&k->c);
    return;
  }
  for (; n > 0; n--)
    add_head(k, flags);
  k->from = ++k->c.p;
}

/* Reads as tg_values_descriptor does; each grip in it may be a reference. */
static void copy_descriptor (Copy *k) {
  tg_Head head;
  if (tg_values_are_named(*k->c.p)) {
    copy_named(k);
    return;
  }
  tg_values_head(&k->c, &head);
  if (head.like) {
    flush_until(k, head.at);
    add_head(k, head.flags);
    k->from = k->c.p;
  }
  if (head.flags & TG_DESC_CLASS)
    copy_grip(k);
  if (head.flags & TG_DESC_PROTO)
    copy_grip(k);
  if (head.flags & TG_DESC_FUNCTION)
    tg_values_id(&k->c);
  if (head.like)
    copy_like(k, &head);
  else if (head.flags & TG_DESC_PROPS)
    while (copy_grip(k) != TG_END)
      copy_grip(k);
}

/* Descriptors follow the list until the bytes end: their number is not
   written. */
static void copy_list (Copy *k) {
  uint64_t n = tg_values_var(&k->c);
  for (uint64_t i = 0; i < n && i < TG_VALUES_MAX && !k->c.bad; i++)
    copy_grip(k);
  while (!k->c.bad && k->c.p < k->c.end)
    copy_descriptor(k);
}

/* A list without 'origin' has no references and is copied as it is. Any other
   list has to be read: its references count from their own place, and the copy
   is elsewhere. */
size_t tg_valuecopy (tg_Buf *out, tg_Slice bytes, size_t most) {
  if (bytes.origin == NULL) {
    tg_buf_add(out, bytes.data, bytes.size);
    return 0;
  }
  Copy k = {.out = out, .from = bytes.data};
  k.most = most < TG_PACKET_MAX ? most : TG_PACKET_MAX;
  tg_values_open(&k.c, bytes);
  copy_list(&k);
  tg_assert(k.from <= k.c.end && k.put_in <= k.most);
  flush_until(&k, k.c.end);
  return k.put_in;
}
