/*
** alike.c - see alike.h. For parting.c, with every packet of two recordings:
** most lists have no objects, and few are not alike.
*/
#include "replay/alike.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

void tg_alike_free (tg_Alike *x) {
  tg_AlikeRun *runs[] = {&x->a, &x->b};
  for (int i = 0; i < 2; i++) {
    tg_free(runs[i]->objects);
    tg_free(runs[i]->fields);
  }
  tg_intmap_free(&x->functions);
  tg_free(x->partners);
  tg_free(x->owners);
  tg_free(x->waiting);
  memset(x, 0, sizeof *x);
}

/*
** {==================================================================
** Functions and texts
** ===================================================================
*/

static bool same_text (const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* The path as it is from where the program ran. */
static const char *relative (const char *url, const tg_Stream *stream) {
  size_t n = stream->directory != NULL ? strlen(stream->directory) : 0;
  if (url == NULL || n == 0)
    return url;
  bool inside = strncmp(url, stream->directory, n) == 0 && url[n] == '/';
  url += inside ? n + 1 : 0;
  return strncmp(url, "./", 2) == 0 ? url + 2 : url;
}

static bool same_function (const tg_Alike *x, const tg_Function *f,
                           const tg_Function *g) {
  if (f == NULL || g == NULL)
    return f == g;
  return f->line == g->line && f->is_c == g->is_c
         && same_text(f->name, g->name)
         && same_text(relative(f->url, x->a.stream),
                      relative(g->url, x->b.stream));
}

bool tg_alike_functions (tg_Alike *x, tg_FunctionId a, tg_FunctionId b) {
  uint64_t key = (uint64_t)a << 32 | b;
  if (tg_intmap_find(&x->functions, key) != TG_INTMAP_NONE)
    return true;
  if (!same_function(x, tg_functions_find(x->a.stream->functions, a),
                     tg_functions_find(x->b.stream->functions, b)))
    return false;
  x->failed = x->failed || !tg_intmap_set(&x->functions, key, 0);
  return true;
}

/* The length of an address at 's': "0x" and six digits or more; else 0. */
static size_t address (const char *s, size_t n) {
  size_t i = 2;
  if (n < 8 || s[0] != '0' || s[1] != 'x')
    return 0;
  while (i < n && isxdigit((unsigned char)s[i]))
    i++;
  return i >= 8 ? i : 0;
}

bool tg_alike_texts (const char *a, size_t na, const char *b, size_t nb) {
  if (na == nb && memcmp(a, b, na) == 0)
    return true;
  while (na > 0 && nb > 0) {
    size_t i = address(a, na), j = address(b, nb);
    if ((i == 0 || j == 0) && *a != *b)
      return false;
    if (i == 0 || j == 0)
      i = j = 1;
    a += i;
    na -= i;
    b += j;
    nb -= j;
  }
  return na == nb;
}

/* }================================================================== */

/*
** {==================================================================
** Values
** ===================================================================
*/

/* Notes where each object is described. The cursor is behind the grips. */
static bool find_objects (tg_AlikeRun *run, tg_ValueCursor *c) {
  tg_Descriptor d;
  run->count = 0;
  while (!c->bad && c->p < c->end) {
    if (!tg_grow(&run->objects, &run->capacity, run->count + 1,
                 sizeof *run->objects))
      return false;
    run->objects[run->count++] = *c;
    tg_values_descriptor(c, &d);
    if (d.flags & TG_DESC_PROPS)
      tg_values_skip_properties(c);
  }
  return true;
}

/* One of a is one of b: where one is twice, the other is, too. */
static bool pair (tg_Alike *x, uint32_t a, uint32_t b) {
  if (!tg_grow_zeroed(&x->partners, &x->cpartners, a + 1, sizeof *x->partners)
      || !tg_grow_zeroed(&x->owners, &x->cowners, b + 1, sizeof *x->owners)
      || !tg_grow(&x->waiting, &x->cwaiting, x->nwaiting + 1,
                  sizeof *x->waiting)) {
    x->failed = true;
    return true;
  }
  if (x->partners[a] != 0 || x->owners[b] != 0)
    return x->partners[a] == b + 1;
  x->partners[a] = b + 1;
  x->owners[b] = a + 1;
  x->waiting[x->nwaiting++] = a;
  return true;
}

static bool same_string (const tg_Grip *g, const tg_Grip *h) {
  return (g->u.s.size == g->u.s.length) == (h->u.s.size == h->u.s.length)
         && tg_alike_texts(g->u.s.data, g->u.s.size, h->u.s.data,
                           h->u.s.size);
}

/* An object that is not described further is one by its type alone. */
static bool same_grip (tg_Alike *x, const tg_Grip *g, const tg_Grip *h) {
  if (g->type != h->type)
    return false;
  switch (g->type) {
    case TG_INT: return g->u.i == h->u.i;
    case TG_FLOAT: return memcmp(&g->u.f, &h->u.f, sizeof g->u.f) == 0;
    case TG_STRING: return same_string(g, h);
    case TG_OBJECT:
      return g->u.id >= x->a.count || h->u.id >= x->b.count
             || pair(x, g->u.id, h->u.id);
    case TG_NOROOM: return g->u.object == h->u.object;
    case TG_NIL: case TG_FALSE: case TG_TRUE: case TG_NULL: case TG_REDACTED:
    case TG_END: default: return true;
  }
}

/* ---- fields ---- */

/* Any order will do that is the same in both runs. */
static int by_key (const void *p, const void *q) {
  const tg_Grip *a = &((const tg_AlikeField *)p)->key;
  const tg_Grip *b = &((const tg_AlikeField *)q)->key;
  if (a->type != b->type)
    return a->type < b->type ? -1 : 1;
  if (a->type == TG_INT)
    return (a->u.i > b->u.i) - (a->u.i < b->u.i);
  if (a->type == TG_FLOAT)
    return (a->u.f > b->u.f) - (a->u.f < b->u.f);
  if (a->type != TG_STRING)
    return 0;
  size_t n = a->u.s.size < b->u.s.size ? a->u.s.size : b->u.s.size;
  int order = memcmp(a->u.s.data, b->u.s.data, n);
  return order != 0 ? order
                    : (a->u.s.size > b->u.s.size) - (a->u.s.size < b->u.s.size);
}

/* Of the descriptor 'd', behind which the cursor is. Keys that are objects have
   no order, and are left out. */
static bool read_fields (tg_AlikeRun *run, tg_ValueCursor *c,
                         const tg_Descriptor *d) {
  bool any = (d->flags & TG_DESC_PROPS) != 0;
  tg_AlikeField f;
  run->nfields = 0;
  while (any && tg_values_property(c, &f.key, &f.value)) {
    if (f.key.type == TG_OBJECT || f.key.type == TG_NOROOM)
      continue;
    if (!tg_grow(&run->fields, &run->cfields, run->nfields + 1,
                 sizeof *run->fields))
      return false;
    run->fields[run->nfields++] = f;
  }
  if (run->nfields > 1)
    qsort(run->fields, run->nfields, sizeof *run->fields, by_key);
  return true;
}

/* 'cut': one of them does not list all of its fields, so only those are
   compared that both have. */
static bool same_fields (tg_Alike *x, bool cut) {
  const tg_AlikeRun *a = &x->a, *b = &x->b;
  uint32_t i = 0, j = 0;
  while (i < a->nfields && j < b->nfields) {
    int order = by_key(&a->fields[i], &b->fields[j]);
    if (order != 0 && !cut)
      return false;
    if (order == 0
        && !same_grip(x, &a->fields[i].value, &b->fields[j].value))
      return false;
    i += order <= 0;
    j += order >= 0;
  }
  return cut || (i == a->nfields && j == b->nfields);
}

static bool same_object (tg_Alike *x, uint32_t ida, uint32_t idb) {
  tg_ValueCursor ca = x->a.objects[ida], cb = x->b.objects[idb];
  tg_Descriptor a, b;
  tg_values_descriptor(&ca, &a);
  tg_values_descriptor(&cb, &b);
  const unsigned told = TG_DESC_CLASS | TG_DESC_PROTO | TG_DESC_FUNCTION;
  if (a.type != b.type || (a.flags & told) != (b.flags & told))
    return false;
  if (((a.flags & TG_DESC_CLASS) && !same_grip(x, &a.cls, &b.cls))
      || ((a.flags & TG_DESC_PROTO) && !same_grip(x, &a.proto, &b.proto))
      || ((a.flags & TG_DESC_FUNCTION)
          && !tg_alike_functions(x, a.function, b.function)))
    return false;
  if (!read_fields(&x->a, &ca, &a) || !read_fields(&x->b, &cb, &b)) {
    x->failed = true;
    return true;
  }
  return same_fields(x, ((a.flags | b.flags) & TG_DESC_TRUNCATED) != 0);
}

/* Objects that were met are compared until there are no new ones. */
static bool same_objects (tg_Alike *x) {
  while (x->nwaiting > 0 && !x->failed) {
    uint32_t a = x->waiting[--x->nwaiting];
    if (!same_object(x, a, x->partners[a] - 1))
      return false;
  }
  return true;
}

/* ---- lists ---- */

static uint64_t listed (uint64_t n) {
  return n < TG_VALUES_MAX ? n : TG_VALUES_MAX;
}

static bool has_objects (const tg_ValueCursor *c) {
  return !c->bad && c->p < c->end;
}

/* The grips of a list come first and name objects that are described behind
   them: so these have to be found before. */
static bool same_lists (tg_Alike *x, tg_ValueCursor a, tg_ValueCursor b,
                        uint64_t n) {
  tg_ValueCursor enda = a, endb = b;
  tg_Grip g, h;
  for (uint64_t i = 0; i < n; i++) {
    tg_values_grip(&enda, &g);
    tg_values_grip(&endb, &h);
  }
  x->a.count = x->b.count = x->nwaiting = 0;
  if (has_objects(&enda) && has_objects(&endb)
      && (!find_objects(&x->a, &enda) || !find_objects(&x->b, &endb)))
    x->failed = true;
  if (x->partners != NULL)
    memset(x->partners, 0, x->cpartners * sizeof *x->partners);
  if (x->owners != NULL)
    memset(x->owners, 0, x->cowners * sizeof *x->owners);
  for (uint64_t i = 0; i < n && !x->failed; i++) {
    tg_values_grip(&a, &g);
    tg_values_grip(&b, &h);
    if (!same_grip(x, &g, &h))
      return false;
  }
  return same_objects(x);
}

bool tg_alike_values (tg_Alike *x, tg_Slice a, tg_Slice b) {
  tg_ValueCursor ca, cb;
  if (a.data == NULL || b.data == NULL)
    return true;
  tg_values_open(&ca, a);
  tg_values_open(&cb, b);
  uint64_t n = tg_values_var(&ca), m = tg_values_var(&cb);
  return n == m && same_lists(x, ca, cb, listed(n));
}

/* }================================================================== */
