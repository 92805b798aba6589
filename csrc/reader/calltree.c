/*
** calltree.c - see calltree.h.
*/
#include "reader/calltree.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

static bool room (tg_CallTree *t) {
  return tg_grow(&t->nodes, &t->capacity, t->count + 1, sizeof *t->nodes);
}

static uint32_t new_node (tg_CallTree *t, uint32_t parent, uint32_t row) {
  if (!room(t))
    return 0;
  tg_Node *n = &t->nodes[t->count];
  memset(n, 0, sizeof *n);
  n->row = row;
  n->parent = parent;
  return t->count++;
}

bool tg_calltree_init (tg_CallTree *t) {
  memset(t, 0, sizeof *t);
  if (!room(t))
    return false;
  new_node(t, 0, TG_INTMAP_NONE);
  return true;
}

void tg_calltree_free (tg_CallTree *t) {
  tg_free(t->nodes);
  tg_intmap_free(&t->children);
  memset(t, 0, sizeof *t);
}

uint32_t tg_calltree_find (tg_CallTree *t, uint32_t parent, uint32_t row) {
  uint64_t key = (uint64_t)parent << 32 | row;
  uint32_t child = tg_intmap_find(&t->children, key);
  if (child == TG_INTMAP_NONE) {
    child = new_node(t, parent, row);
    if (child == 0 || !tg_intmap_set(&t->children, key, child))
      return 0;         /* a node that nobody finds: its owner gives up */
  }
  t->nodes[parent].latest = child;
  return child;
}
