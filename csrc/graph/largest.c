/* largest.c - see largest.h. */
#include "graph/largest.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/grow.h"

static bool is_less (const tg_Weighed *x, const tg_Weighed *y) {
  return x->weight != y->weight ? x->weight < y->weight : x->i > y->i;
}

static void swap (tg_Weighed *x, tg_Weighed *y) {
  tg_Weighed w = *x;
  *x = *y;
  *y = w;
}

static void rise (tg_Weighed *list, uint32_t i) {
  while (i > 0 && is_less(&list[i], &list[(i - 1) / 2])) {
    swap(&list[i], &list[(i - 1) / 2]);
    i = (i - 1) / 2;
  }
}

static void sink (tg_Weighed *list, uint32_t n) {
  for (uint32_t i = 0, least;; i = least) {
    uint32_t left = 2 * i + 1;
    least = left < n && is_less(&list[left], &list[i]) ? left : i;
    if (left + 1 < n && is_less(&list[left + 1], &list[least]))
      least = left + 1;
    if (least == i)
      return;
    swap(&list[i], &list[least]);
  }
}

bool tg_largest_add (tg_Largest *l, tg_Weighed w) {
  if (l->count < l->most) {
    if (!tg_grow(&l->list, &l->capacity, l->count + 1, sizeof *l->list))
      return false;
    l->list[l->count] = w;
    rise(l->list, l->count++);
  }
  else if (l->count > 0 && is_less(&l->list[0], &w)) {
    l->list[0] = w;
    sink(l->list, l->count);
  }
  return true;
}

static int by_weight (const void *a, const void *b) {
  return is_less(a, b) ? 1 : is_less(b, a) ? -1 : 0;
}

void tg_largest_sort (tg_Largest *l) {
  if (l->count > 1)
    qsort(l->list, l->count, sizeof *l->list, by_weight);
}

void tg_largest_free (tg_Largest *l) {
  tg_free(l->list);
  *l = (tg_Largest){0};
}
