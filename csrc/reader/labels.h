/*
** labels.h - functions that read the same are one: a number for each name, url
** and line.
**
** A chunk that was loaded twice has two definitions of each function; whoever
** adds up by function, or names them, wants one. Numbers are given from 0 in
** order of appearance.
**
** Plain C, one thread. Memory: the functions.
*/
#ifndef TG_LABELS_H
#define TG_LABELS_H

#include "base/base.h"
#include "stream/function.h"
#include "base/index.h"

typedef struct tg_Label {
  tg_FunctionId function;     /* one of this name, url and line */
  uint32_t same;              /* next label whose text has the same hash */
} tg_Label;

typedef struct tg_Labels {
  const tg_Functions *functions;  /* borrows */
  tg_Label *list;             /* owns */
  uint32_t count, capacity;
  uint32_t *of;               /* owns; by function id, 0 or label + 1 */
  uint32_t cof;
  tg_Index texts;             /* owns; labels by hash of their text */
} tg_Labels;

void tg_labels_init (tg_Labels *l, const tg_Functions *functions);
void tg_labels_free (tg_Labels *l);           /* zeroed memory is fine */

/* The label of a function met for the first time; TG_INDEX_NONE without
   memory. */
uint32_t tg_labels_ask (tg_Labels *l, tg_FunctionId id);

/* The label of any function. */
TG_INLINE uint32_t tg_labels_of (tg_Labels *l, tg_FunctionId id) {
  if (tg_likely(id < l->cof && l->of[id] != 0))
    return l->of[id] - 1;
  return tg_labels_ask(l, id);
}

/* The definition that says what a label reads. */
const tg_Function *tg_labels_function (const tg_Labels *l, uint32_t label);

/* The line as it is shown: a main chunk, which Lua says is defined at line 0,
   begins at line 1; C has none, 0. */
uint32_t tg_labels_line (const tg_Function *f);

#endif
