/*
** calltree.c - see calltree.h.
**
** Called by a profile or an export, on the thread that reads. Without memory a
** child is 0, which is nobody's child; its owner latches the error and stops.
*/
#include "profile/calltree.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

static bool room (tg_CallTree *t) {
  return tg_grow(&t->nodes, &t->capacity, t->count + 1, sizeof *t->nodes);
}

/* 0 without memory. The root, which is the first, is 0 too: it is nobody's
   child. */
static uint32_t new_node (tg_CallTree *t, uint32_t parent, uint32_t row) {
  if (!room(t))
    return 0;
  tg_Node *n = &t->nodes[t->count];
  memset(n, 0, sizeof *n);
  tg_assert(t->count == 0 || parent < t->count);
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

/* One map for the whole tree and not a list at each node: most nodes have one
   child or two, some have thousands. */
uint32_t tg_calltree_find (tg_CallTree *t, uint32_t parent, uint32_t row) {
  uint64_t key = (uint64_t)parent << 32 | row;
  uint32_t child = tg_intmap_find(&t->children, key);
  if (child == TG_INTMAP_NONE) {
    child = new_node(t, parent, row);
    if (child == 0 || !tg_intmap_set(&t->children, key, child))
      return 0;         /* a node that nobody finds: its owner gives up */
  }
  tg_assert(t->nodes[child].row == row && t->nodes[child].parent == parent);
  t->nodes[parent].latest = child;
  return child;
}
