/*
** redact.c - see redact.h. Called by reader.c and by scrub.c.
**
** A list is gone through several times: objects are first marked as shown or
** secret, until that changes nothing any more (one may be found to be shown
** after those that it leads to were looked at); then what is not shown is
** hidden. Which values are secret by what is called is known before
** (listsecrets.h).
*/
#include "reader/redact.h"

#include <string.h>

#include "stream/event.h"

enum { SHOWN = 1u << 0, SECRET = 1u << 1 };   /* of an object */

#define ROUNDS 64               /* more than any list takes that is not made to
                                   take long */

typedef struct Walk {
  tg_Redact *r;
  tg_ValueCursor c;
  tg_ListSecrets list;
  bool named;                   /* a value comes after its name */
  bool hides;                   /* this time */
  bool changed;                 /* marks of objects */
  bool blind;                   /* there is no memory for them */
} Walk;

/*
** {==================================================================
** Grips
** ===================================================================
*/

/* How many bytes tell how many bytes more there are, of 'size' in all. */
static size_t bytes_of_length (size_t size) {
  size_t n = 1;
  while (size - 1 - n >= (size_t)1 << 7 * n)
    n++;
  return n;
}

/* Fills the bytes from 'p' to 'end' with one grip that says nothing. A length
   may have more bytes than it needs. */
static void veil (Walk *w, const uint8_t *p, const uint8_t *end) {
  uint8_t *at = (uint8_t *)(uintptr_t)p;
  size_t size = (size_t)(end - p);
  if (size == 0)
    return;
  w->r->hidden++;
  if (size == 1) {
    *at = tg_values_are_object(*at) ? TG_GRIP_VEILOBJ : TG_GRIP_REDACTED;
    return;
  }
  size_t n = bytes_of_length(size), rest = size - 1 - n;
  bool text = *at == TG_GRIP_STRING || *at == TG_GRIP_STRAGAIN
              || *at == TG_GRIP_VEILTEXT;
  *at++ = text ? TG_GRIP_VEILTEXT : TG_GRIP_VEIL;
  memset(at, 0, n + rest);
  for (size_t i = 0; i < n; i++) {
    at[i] = (uint8_t)((rest >> 7 * i & 0x7f) | (i + 1 < n ? 0x80 : 0));
  }
}

/* The string that the grip at the cursor refers to, which ends at '*end'; NULL:
   it is no reference, or no good one. */
static const uint8_t *referred (const Walk *w, const uint8_t **end) {
  tg_ValueCursor c = w->c;
  const uint8_t *tag = c.p, *there = NULL;
  if (c.p >= c.end)
    return NULL;
  if (*tag == TG_GRIP_STRAGAIN) {
    c.p++;
    there = tg_values_place(c.origin, tag, tg_values_var(&c));
  }
  else if (tg_values_are_again(*tag) && c.end - tag >= TG_SMALLAGAIN_SIZE) {
    there = tg_values_place(c.origin, tag, tg_values_again(tag));
    c.p += TG_SMALLAGAIN_SIZE;
  }
  *end = c.p;
  return c.bad || there >= tag ? NULL : there;
}

/* Whether the grip at the cursor, which ends at '*end', stands for a string
   that has been hidden where it stood. */
static bool refers_to_hidden (const Walk *w, const uint8_t **end) {
  const uint8_t *there = referred(w, end);
  return there != NULL && *there != TG_GRIP_STRING
         && (*there < TG_GRIP_SMALLSTR || *there >= TG_GRIP_SMALLOBJ);
}

/* The next grip, and where it begins. */
static const uint8_t *next_grip (Walk *w, tg_Grip *g) {
  const uint8_t *at = w->c.p, *end;
  if (refers_to_hidden(w, &end)) {
    w->c.p = end;
    veil(w, at, end);
    g->type = TG_REDACTED;
  }
  else
    tg_values_grip(&w->c, g);
  return at;
}

static bool holds_secret (const Walk *w, const tg_Grip *g) {
  tg_Secrets *s = &w->r->secrets;
  return g->type == TG_STRING && tg_secrets_any(s)
         && tg_secrets_find(s, g->u.s.data, g->u.s.size, g->u.s.size);
}

static bool names_secret (const Walk *w, const tg_Grip *key) {
  return tg_listsecrets_key(&w->r->names, key);
}

/* }================================================================== */

/*
** {==================================================================
** Objects
** ===================================================================
*/

static unsigned marks_of (const Walk *w, uint32_t id) {
  const tg_Buf *b = &w->r->objects;
  return id < b->size ? (unsigned char)b->data[id] : 0;
}

/* Each object takes bytes of the list, but for TG_NAMED_ALL: so there are no
   more of them. */
static void mark (Walk *w, uint32_t id, unsigned bit) {
  tg_Buf *b = &w->r->objects;
  size_t left = (size_t)(w->c.end - w->c.p);
  while (id >= b->size && id < left + b->size + TG_NAMED_ALL && !b->failed)
    tg_buf_addchar(b, 0);
  if (b->failed)
    w->blind = true;
  if (id >= b->size || (marks_of(w, id) & bit))
    return;
  b->data[id] = (char)(marks_of(w, id) | bit);
  w->changed = true;
}

static void learn (Walk *w, const tg_Grip *g) {
  if (g->type == TG_STRING)
    tg_secrets_add(&w->r->secrets, g->u.s.data, g->u.s.size);
  else if (g->type == TG_OBJECT)
    mark(w, g->u.id, SECRET);
}

/* A value from 'at' on, which is shown unless it is secret. */
static void see_value (Walk *w, const uint8_t *at, const tg_Grip *g,
                       bool secret) {
  if (secret)
    learn(w, g);
  else if (g->type == TG_OBJECT)
    mark(w, g->u.id, SHOWN);
  if (w->hides && (secret || w->blind || holds_secret(w, g)))
    veil(w, at, w->c.p);
}

/* A property of an object that is shown. Nothing is told of one whose key is a
   secret itself. */
static void see_property (Walk *w, unsigned marks, const uint8_t *at,
                          const tg_Grip *key) {
  tg_Grip v;
  bool held = holds_secret(w, key), named = names_secret(w, key);
  const uint8_t *end = w->c.p, *value = next_grip(w, &v);
  if (marks & SECRET)
    learn(w, &v);
  if (held && w->hides) {
    veil(w, at, end);
    veil(w, value, w->c.p);
  }
  else if (!held) {
    if (key->type == TG_OBJECT)
      mark(w, key->u.id, SHOWN);
    see_value(w, value, &v, named);
  }
}

/* One of an object that is not. */
static void hide_property (Walk *w, unsigned marks, const uint8_t *at) {
  tg_Grip v;
  const uint8_t *end = w->c.p, *value = next_grip(w, &v);
  if (marks & SECRET)
    learn(w, &v);
  if (w->hides) {
    veil(w, at, end);
    veil(w, value, w->c.p);
  }
}

/* An object's type, class and metatable stay visible. */
static void see_head (Walk *w, unsigned marks, unsigned flags) {
  tg_Grip g;
  if (flags & TG_DESC_CLASS)
    tg_values_grip(&w->c, &g);
  if (flags & TG_DESC_PROTO) {
    tg_values_grip(&w->c, &g);
    if (g.type == TG_OBJECT && (marks & SHOWN))
      mark(w, g.u.id, SHOWN);
  }
  if (flags & TG_DESC_FUNCTION)
    tg_values_var(&w->c);
}

/* ---- tables that are told by others ---- */

/* Nothing is told of the table any more: its way back, from 'at' to 'end', has
   only how many properties there were, and it says that there is more to it.
   What else is in it is hidden with the values. */
static void cut_way_back (Walk *w, const tg_Head *head, const uint8_t *at,
                          const uint8_t *end, uint32_t count) {
  uint8_t *h = (uint8_t *)(uintptr_t)head->at, *p = (uint8_t *)(uintptr_t)at;
  if (tg_values_are_short(h[0]))
    h[0] = tg_values_short(head->nexts ? TG_SHORT_UNLIKE_NEXT : TG_SHORT_UNLIKE,
                           head->flags | TG_DESC_TRUNCATED);
  else {
    h[0] = TG_DESC_UNLIKE;
    h[1] |= TG_DESC_TRUNCATED;
  }
  memset(p, 0x80, (size_t)(end - at));
  p[0] |= (uint8_t)count;
  p[end - at - 1] &= 0x7f;
  w->r->hidden++;
}

/* A value of its own, which the cursor is behind. What is as in the other table
   is hidden there, if it is. A key that is hidden there may be the name of a
   secret. */
static void see_own_value (Walk *w, unsigned marks, const uint8_t *at,
                           const tg_Grip *key, const tg_Grip *v) {
  if ((marks & SHOWN) && key->type != TG_REDACTED && !holds_secret(w, key))
    see_value(w, at, v, names_secret(w, key));
  else if (w->hides)
    veil(w, at, w->c.p);
}

/* A value that refers to a string that has been hidden is hidden before it is
   read. */
static void veil_again (Walk *w) {
  const uint8_t *end;
  if (refers_to_hidden(w, &end))
    veil(w, w->c.p, end);
}

/* An object that comes next, for which there are no bytes. Where the other's is
   hidden, so is it, and then it is none. False: it is to be hidden, and cannot
   be. */
static bool see_next (Walk *w, const tg_Grip *key, const tg_Grip *v) {
  bool secret = names_secret(w, key);
  if (secret)
    learn(w, v);
  else if (key->type != TG_REDACTED && !holds_secret(w, key))
    mark(w, v->u.id, SHOWN);
  return !secret && key->type != TG_REDACTED;
}

/* The properties of a table that another one tells; how many there are. False:
   not all that is secret can be hidden. */
static bool see_like_properties (Walk *w, unsigned marks, uint32_t *count) {
  tg_Grip key, v;
  bool good = true;
  for (*count = 0;; ++*count) {
    bool own = tg_values_own(&w->c);
    if (own)
      veil_again(w);
    const uint8_t *at = w->c.p;
    if (!tg_values_property(&w->c, &key, &v))
      return good;
    if (marks & SECRET)
      learn(w, &v);
    if (own)
      see_own_value(w, marks, at, &key, &v);
    else if (v.type == TG_OBJECT && (marks & SHOWN))
      good = see_next(w, &key, &v) && good;
  }
}

/* From the way back on. */
static void see_like (Walk *w, unsigned marks, const tg_Head *head) {
  tg_ValueCursor c = w->c;
  const uint8_t *way = c.p;
  uint32_t count;
  tg_values_var(&c);
  if (!tg_values_like(&w->c, head))
    return;
  bool good = see_like_properties(w, marks, &count);
  if (w->hides && !(good && (marks & SHOWN)))
    cut_way_back(w, head, way, c.p, count);
}

static void see_object (Walk *w, uint32_t id) {
  if (tg_values_tells_identities(w->c.p, w->c.end)) {
    if (tg_values_pass_head(&w->c))
      tg_values_skip_properties(&w->c);
    return;                     /* numbers that tell nothing of a value */
  }
  if (tg_values_are_named(*w->c.p)) {
    tg_values_pass_head(&w->c);
    return;
  }
  unsigned marks = w->blind ? 0 : marks_of(w, id);
  tg_Head head;
  tg_Grip key;
  tg_values_head(&w->c, &head);
  see_head(w, marks, head.flags);
  if (head.like) {
    see_like(w, marks, &head);
    return;
  }
  while (head.flags & TG_DESC_PROPS) {
    const uint8_t *at = next_grip(w, &key);
    if (key.type == TG_END || w->c.bad)
      return;
    if (marks & SHOWN)
      see_property(w, marks, at, &key);
    else
      hide_property(w, marks, at);
  }
}

/* }================================================================== */

/*
** {==================================================================
** Lists
** ===================================================================
*/

/* Once through all of it. Of locals the name that stands before a value says
   whether it is secret; one that is hidden itself may be any. */
static void go_through (Walk *w, tg_Slice values) {
  tg_Grip g;
  bool secret = false;
  tg_values_open(&w->c, values);
  uint64_t n = tg_values_var(&w->c);
  for (uint64_t i = 0; i < n && i < TG_VALUES_MAX && !w->c.bad; i++) {
    const uint8_t *at = next_grip(w, &g);
    see_value(w, at, &g, secret || tg_listsecrets_have(&w->list, i));
    secret = w->named && i % 2 == 0
             && (g.type != TG_STRING || names_secret(w, &g));
  }
  for (uint32_t id = 0; !w->c.bad && w->c.p < w->c.end; id++)
    see_object(w, id);
}

static void redact (Walk *w, tg_Slice values, bool hides) {
  tg_buf_clear(&w->r->objects);
  int rounds = 0;
  do {
    w->changed = false;
    go_through(w, values);
  } while (w->changed && ++rounds < ROUNDS && !w->blind);
  w->blind = w->blind || w->changed;
  w->hides = hides;
  if (hides)
    go_through(w, values);
  w->r->objects.failed = false;
}

void tg_redact_list (tg_Redact *r, tg_RedactKind kind, tg_FunctionId function,
                     tg_Slice values, bool hides) {
  Walk w = {.r = r, .named = kind == TG_REDACT_LOCALS};
  tg_RedactGiven given = r->given;
  if (kind != TG_REDACT_LOCALS)     /* behind these the results still come */
    r->given = TG_GIVEN_NOTHING;
  if (values.data == NULL)
    return;
  if (kind == TG_REDACT_ARGUMENTS)
    r->given = tg_listsecrets_arguments(&w.list, &r->names, function, values);
  else if (kind == TG_REDACT_RESULTS)
    tg_listsecrets_results(&w.list, &r->names, given, values);
  redact(&w, values, hides);
}

void tg_redact_passed (tg_Redact *r, tg_FunctionId function, uint32_t passed,
                       tg_Slice values, bool hides) {
  Walk w = {.r = r};
  tg_listsecrets_passed(&w.list, &r->names, function, passed);
  if (values.data != NULL)
    redact(&w, values, hides);
}

void tg_redact_free (tg_Redact *r) {
  tg_secrets_free(&r->secrets);
  tg_buf_free(&r->objects);
  memset(r, 0, sizeof *r);
}

/* }================================================================== */
