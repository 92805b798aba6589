/*
** funclabels.h - functions that read the same are one: a number for each name,
** url and line.
**
** A chunk that was loaded twice has two definitions of each function; whoever
** adds up by function, or names them, wants one. Numbers are given from 0 in
** order of appearance.
**
** Plain C, one thread. Memory: the functions.
*/
#ifndef TG_FUNCLABELS_H
#define TG_FUNCLABELS_H

#include "base/base.h"
#include "base/buf.h"
#include "base/intern.h"
#include "stream/functions.h"

typedef struct tg_FuncLabels {
  const tg_Functions *functions;  /* borrows */
  tg_FunctionId *list;        /* owns; by label, one function that has it */
  uint32_t capacity;
  uint32_t *of;               /* owns; by function id, 0 or label + 1 */
  uint32_t cof;
  tg_Intern texts;            /* owns; their numbers are the labels */
  tg_Buf key;                 /* owns; the text that is looked for */
} tg_FuncLabels;

void tg_funclabels_init (tg_FuncLabels *l, const tg_Functions *functions);
void tg_funclabels_free (tg_FuncLabels *l);   /* zeroed memory is fine */

/* The label of a function met for the first time; TG_INTMAP_NONE without
   memory. */
uint32_t tg_funclabels_ask (tg_FuncLabels *l, tg_FunctionId id);

/* The label of any function. */
TG_INLINE uint32_t tg_funclabels_of (tg_FuncLabels *l, tg_FunctionId id) {
  if (tg_likely(id < l->cof && l->of[id] != 0))
    return l->of[id] - 1;
  return tg_funclabels_ask(l, id);
}

/* The same of a function that may have none yet: TG_INTMAP_NONE. */
TG_INLINE uint32_t tg_funclabels_known (const tg_FuncLabels *l,
                                        tg_FunctionId id) {
  return id < l->cof && l->of[id] != 0 ? l->of[id] - 1 : TG_INTMAP_NONE;
}

/* How many labels there are. */
TG_INLINE uint32_t tg_funclabels_count (const tg_FuncLabels *l) {
  return l->texts.count;
}

/* The definition that says what a label reads. */
const tg_Function *tg_funclabels_function (const tg_FuncLabels *l, uint32_t
label);

/* The line as it is shown: a main chunk, which Lua says is defined at line 0,
   begins at line 1; C has none, 0. */
uint32_t tg_funclabels_line (const tg_Function *f);

#endif
