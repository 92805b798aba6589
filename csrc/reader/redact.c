/*
** redact.c - see redact.h. Called by reader.c and by scrub.c.
**
** A list is gone through several times: objects are first marked as shown or
** secret, until that changes nothing any more (one may be found to be shown
** after those that it leads to were looked at); then what is not shown is
** hidden. Which values are secret is known before: 'hidden' below.
*/
#include "reader/redact.h"

#include <string.h>

#include "stream/event.h"

enum { SHOWN = 1u << 0, SECRET = 1u << 1 };   /* of an object */

#define ROUNDS 64               /* more than any list takes that is not made to
                                   take long */
#define CHAIN_MOST 4            /* pcall(pcall, f, ...), as in capture/veil.c */
#define NAMED 256u              /* parameters: more than a function can have */

typedef struct Walk {
  tg_Redact *r;
  tg_ValueCursor c;
  const tg_Function *names;     /* parameters get the values... */
  uint32_t passed;              /* ...from this one on; NULL: none do */
  uint64_t secret[NAMED / 64];  /* of these parameters, which are secret */
  uint32_t hidden;              /* 1 + a value that is hidden; 0: none is */
  tg_RedactGiven given;         /* of results */
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

/* A key that is cut cannot be read to its end. */
static bool names_secret (const Walk *w, const tg_Grip *key) {
  return key->type == TG_STRING
         && (key->u.s.size < key->u.s.length
             || tg_selection_hides(w->r->selection, key->u.s.data,
                                   key->u.s.size));
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

/* Whether value 'i' of the list is secret. */
static bool is_secret (const Walk *w, uint64_t i) {
  if (w->hidden == i + 1 || w->given == TG_GIVEN_ALL)
    return true;
  if (w->names == NULL || i < w->passed || i - w->passed >= NAMED)
    return false;
  i -= w->passed;
  return (w->secret[i / 64] >> i % 64 & 1) != 0;
}

/* Each name is matched once for a list: a pattern that has used up its steps
   hides every name that it is asked about after that. */
static void ask_names (Walk *w) {
  const tg_Function *f = w->names;
  for (uint32_t i = 0; f != NULL && f->params != NULL && i < f->nparams
       && i < NAMED; i++) {
    if (tg_selection_secret(w->r->selection, f->params[i]))
      w->secret[i / 64] |= UINT64_C(1) << i % 64;
  }
}

/* Once through all of it. Of locals the name that stands before a value says
   whether it is secret; one that is hidden itself may be any. */
static void go_through (Walk *w, tg_Slice values) {
  tg_Grip g;
  bool secret = false;
  tg_values_open(&w->c, values);
  uint64_t n = tg_values_var(&w->c);
  for (uint64_t i = 0; i < n && i < TG_VALUES_MAX && !w->c.bad; i++) {
    const uint8_t *at = next_grip(w, &g);
    see_value(w, at, &g, secret || is_secret(w, i));
    secret = w->named && i % 2 == 0
             && (g.type != TG_STRING || names_secret(w, &g));
  }
  for (uint32_t id = 0; !w->c.bad && w->c.p < w->c.end; id++)
    see_object(w, id);
}

static void redact (Walk *w, tg_Slice values, bool hides) {
  tg_buf_clear(&w->r->objects);
  ask_names(w);
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

/* Value 'i' of a list; NIL if it has none. */
static void value_at (tg_Slice values, uint32_t i, tg_Grip *g) {
  tg_ValueCursor c;
  g->type = TG_NIL;
  tg_values_open(&c, values);
  uint64_t n = tg_values_var(&c);
  if (i >= n || i >= TG_VALUES_MAX)
    return;
  for (uint32_t k = 0; k <= i && !c.bad; k++)
    tg_values_grip(&c, g);
}

/* The function that value 'i' is; NULL if it is none. */
static const tg_Function *function_at (const tg_Redact *r, tg_Slice values,
                                       uint32_t i) {
  tg_ValueCursor c;
  tg_Grip g, other;
  tg_Descriptor d = {0};
  value_at(values, i, &g);
  if (g.type != TG_OBJECT)
    return NULL;
  tg_values_open(&c, values);
  uint64_t n = tg_values_var(&c);
  for (uint64_t k = 0; k < n && k < TG_VALUES_MAX && !c.bad; k++)
    tg_values_grip(&c, &other);
  for (uint32_t id = 0; !c.bad && c.p < c.end; id++) {
    tg_values_descriptor(&c, &d);
    if (id == g.u.id)
      return c.bad ? NULL : tg_functions_find(r->functions, d.function);
    if (d.flags & TG_DESC_PROPS)
      tg_values_skip_properties(&c);
  }
  return NULL;
}

static bool is_named (const tg_Function *f, const char *name) {
  size_t n, size = strlen(name);
  if (f->name == NULL || (n = strlen(f->name)) < size)
    return false;
  return strcmp(f->name + n - size, name) == 0
         && (n == size || f->name[n - size - 1] == '.'
             || f->name[n - size - 1] == ':');
}

/* By a key that stands beside it: the value that is set, or what will be
   given. */
static void look_at_key (Walk *w, const tg_Function *f, tg_Slice values) {
  tg_Grip key;
  bool sets = f->is_c ? f->known && is_named(f, "rawset")
                      : is_named(f, "__newindex");
  bool gets = f->is_c ? f->known && is_named(f, "rawget")
                      : is_named(f, "__index");
  bool named = f->is_c && f->known && is_named(f, "os.getenv");
  if (f->is_c && f->known && is_named(f, "next"))
    w->r->given = TG_GIVEN_AFTER_KEY;
  if (!sets && !gets && !named)
    return;
  value_at(values, named ? 0 : 1, &key);
  if (names_secret(w, &key) && sets)
    w->hidden = 3;
  else if (names_secret(w, &key))
    w->r->given = TG_GIVEN_ALL;
}

/* What pcall and xpcall are given is for the function that they call. */
static void look_beyond (Walk *w, tg_Slice values) {
  for (int i = 0; i < CHAIN_MOST && w->names != NULL; i++) {
    tg_Role role = w->names->role;
    uint32_t callee = w->passed;
    if (role != TG_ROLE_PCALL && role != TG_ROLE_XPCALL)
      return;
    w->passed += role == TG_ROLE_PCALL ? 1 : 2;
    w->names = function_at(w->r, values, callee);
  }
}

void tg_redact_list (tg_Redact *r, tg_RedactKind kind, tg_FunctionId function,
                     tg_Slice values, bool hides) {
  Walk w = {.r = r};
  tg_Grip key;
  tg_RedactGiven given = r->given;
  r->given = TG_GIVEN_NOTHING;
  if (values.data == NULL)
    return;
  if (kind == TG_REDACT_LOCALS) {
    w.named = true;
    r->given = given;           /* the results are still to come */
  }
  if (kind == TG_REDACT_ARGUMENTS) {
    w.names = tg_functions_find(r->functions, function);
    if (w.names != NULL)
      look_at_key(&w, w.names, values);
    look_beyond(&w, values);
  }
  else if (kind == TG_REDACT_RESULTS && given == TG_GIVEN_ALL)
    w.given = given;
  else if (kind == TG_REDACT_RESULTS && given == TG_GIVEN_AFTER_KEY) {
    value_at(values, 0, &key);
    if (names_secret(&w, &key))
      w.hidden = 2;
  }
  redact(&w, values, hides);
}

void tg_redact_passed (tg_Redact *r, tg_FunctionId function, uint32_t passed,
                       tg_Slice values, bool hides) {
  Walk w = {.r = r, .passed = passed};
  w.names = tg_functions_find(r->functions, function);
  if (values.data != NULL)
    redact(&w, values, hides);
}

void tg_redact_free (tg_Redact *r) {
  tg_secrets_free(&r->secrets);
  tg_buf_free(&r->objects);
  memset(r, 0, sizeof *r);
}

/* }================================================================== */
