#include "reader/funclabels.h"

#include <string.h>

#include "base/alloc.h"

#define FIRST_SIZE 64u

static const tg_Function unknown;   /* nobody defined it */

static const char *text (const char *s) {
  return s != NULL ? s : "";
}

uint32_t tg_funclabels_line (const tg_Function *f) {
  return f->is_c ? 0 : f->line > 0 ? f->line : 1;
}

static bool reads_as (const tg_Function *a, const tg_Function *b) {
  return tg_funclabels_line(a) == tg_funclabels_line(b)
         && strcmp(text(a->name), text(b->name)) == 0
         && strcmp(text(a->url), text(b->url)) == 0;
}

/* FNV-1a, the zero at the end included. */
static uint64_t hash_string (uint64_t h, const char *s) {
  const char *p = text(s);
  do
    h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
  while (*p++ != '\0');
  return h;
}

static uint64_t hash_text (const tg_Function *f) {
  uint64_t h = hash_string(UINT64_C(0xcbf29ce484222325), f->name);
  return (hash_string(h, f->url) ^ tg_funclabels_line(f))
         * UINT64_C(0x100000001b3);
}

static const tg_Function *find (const tg_FuncLabels *l, tg_FunctionId id) {
  const tg_Function *f = tg_functions_find(l->functions, id);
  return f != NULL ? f : &unknown;
}

const tg_Function *tg_funclabels_function (const tg_FuncLabels *l,
                                           uint32_t label) {
  return find(l, l->list[label].function);
}

void tg_funclabels_init (tg_FuncLabels *l, const tg_Functions *functions) {
  memset(l, 0, sizeof *l);
  l->functions = functions;
}

void tg_funclabels_free (tg_FuncLabels *l) {
  tg_free(l->list);
  tg_free(l->of);
  tg_intmap_free(&l->texts);
  memset(l, 0, sizeof *l);
}

/* A label for a text that has none yet. */
static uint32_t new_label (tg_FuncLabels *l, tg_FunctionId id, uint64_t hash,
                           uint32_t same) {
  if (l->count == l->capacity) {
    uint32_t n = l->capacity > 0 ? l->capacity * 2 : FIRST_SIZE;
    tg_FuncLabel *list = tg_realloc(l->list, n * sizeof *list);
    if (list == NULL)
      return TG_INTMAP_NONE;
    l->list = list;
    l->capacity = n;
  }
  if (!tg_intmap_set(&l->texts, hash, l->count))
    return TG_INTMAP_NONE;
  l->list[l->count] = (tg_FuncLabel){id, same};
  return l->count++;
}

/* The label of a function that is new; its text may be known. */
static uint32_t find_label (tg_FuncLabels *l, tg_FunctionId id) {
  const tg_Function *f = find(l, id);
  uint64_t hash = hash_text(f);
  uint32_t first = tg_intmap_find(&l->texts, hash), label = first;
  while (label != TG_INTMAP_NONE
         && !reads_as(tg_funclabels_function(l, label), f))
    label = l->list[label].same;
  return label != TG_INTMAP_NONE ? label : new_label(l, id, hash, first);
}

/* Makes 'of' as long as it takes to have an entry for 'id'. */
static bool grow_of (tg_FuncLabels *l, tg_FunctionId id) {
  uint32_t n = l->cof > 0 ? l->cof : FIRST_SIZE;
  while (n <= id && n <= UINT32_MAX / 2)
    n *= 2;
  uint32_t *of = n > id ? tg_realloc(l->of, n * sizeof *of) : NULL;
  if (of == NULL)
    return false;
  memset(of + l->cof, 0, (n - l->cof) * sizeof *of);
  l->of = of;
  l->cof = n;
  return true;
}

uint32_t tg_funclabels_ask (tg_FuncLabels *l, tg_FunctionId id) {
  if (id >= l->cof && !grow_of(l, id))
    return TG_INTMAP_NONE;
  uint32_t label = find_label(l, id);
  if (label != TG_INTMAP_NONE)
    l->of[id] = label + 1;
  return label;
}
