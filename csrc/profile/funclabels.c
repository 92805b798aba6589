/*
** funclabels.c - see funclabels.h.
**
** Called by profiles and exports, once for every function id, on the thread
** that reads. Without memory there is no label, and its owner gives up.
*/
#include "profile/funclabels.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

static const tg_Function unknown;   /* nobody defined it */

/* A name or place that is not known is as an empty one: both read the same. */
static const char *text (const char *s) {
  return s != NULL ? s : "";
}

/* Lua says that a main chunk is defined at line 0 (manual, lua_Debug). */
uint32_t tg_funclabels_line (const tg_Function *f) {
  return f->is_c ? 0 : f->line > 0 ? f->line : 1;
}

/* All that is read of a function, as one key: no text has a zero in it, so two
   keys are the same only if all parts are. */
static void put_key (tg_Buf *key, const tg_Function *f) {
  uint32_t line = tg_funclabels_line(f);
  tg_buf_clear(key);
  const char *name = text(tg_function_title(f));
  tg_buf_add(key, name, strlen(name) + 1);
  tg_buf_add(key, text(f->url), strlen(text(f->url)) + 1);
  tg_buf_add(key, &line, sizeof line);
}

/* Its own definition, or that of nobody: a number from a file may be any. */
static const tg_Function *find (const tg_FuncLabels *l, tg_FunctionId id) {
  const tg_Function *f = tg_functions_shown(l->functions, id);
  return f != NULL ? f : &unknown;
}

const tg_Function *tg_funclabels_function (const tg_FuncLabels *l,
                                           uint32_t label) {
  tg_assert(label < l->texts.count);
  return find(l, l->list[label]);
}

void tg_funclabels_init (tg_FuncLabels *l, const tg_Functions *functions) {
  memset(l, 0, sizeof *l);
  l->functions = functions;
}

void tg_funclabels_free (tg_FuncLabels *l) {
  tg_free(l->list);
  tg_free(l->of);
  tg_intern_free(&l->texts);
  tg_buf_free(&l->key);
  memset(l, 0, sizeof *l);
}

/* The label of a function that is new; its text may be known. Labels are the
   numbers of the texts. */
static uint32_t find_label (tg_FuncLabels *l, tg_FunctionId id) {
  put_key(&l->key, find(l, id));
  if (l->key.failed
      || !tg_grow(&l->list, &l->capacity, l->texts.count + 1,
                  sizeof *l->list))
    return TG_INTMAP_NONE;
  uint32_t before = l->texts.count;
  uint32_t label = tg_intern_add(&l->texts, l->key.data, l->key.size);
  if (label == before)
    l->list[label] = id;
  return label;
}

/* The slow half of tg_funclabels_of. Entries hold 1 + the label, so that zeros
   are ids nobody has asked about. */
uint32_t tg_funclabels_ask (tg_FuncLabels *l, tg_FunctionId id) {
  if (id >= TG_FUNCTION_IDLE)
    return find_label(l, id);   /* no list is that long */
  if (!tg_grow_zeroed(&l->of, &l->cof, id + 1, sizeof *l->of))
    return TG_INTMAP_NONE;
  uint32_t label = find_label(l, id);
  tg_assert(label == TG_INTMAP_NONE || label < l->texts.count);
  if (label != TG_INTMAP_NONE)
    l->of[id] = label + 1;
  return label;
}
