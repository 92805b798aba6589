/*
** apart.c - see apart.h. Each block has its size before it:
**
**     │ size, whether it is large (16 bytes) │ the block ...
*/
#include "base/apart.h"

#include <string.h>
#include <sys/mman.h>

#define LARGE ((size_t)64 << 10)        /* a mapping of its own */
#define ROOM ((size_t)1 << 20)          /* mapped at once for small ones */

typedef struct Head {
  size_t size;          /* of the block; of a large one with this */
  size_t large;
} Head;

bool tg_apart;

static uint8_t *next;   /* small ones */
static size_t left;

void tg_apart_begin (void) {
  tg_apart = true;
}

static void *map (size_t size) {
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return (p == MAP_FAILED) ? NULL : p;
}

static void *begin (void *at, size_t size, bool large) {
  Head *head = at;
  if (head == NULL)
    return NULL;
  *head = (Head){size, large};
  return head + 1;
}

static Head *head_of (void *p) {
  return (Head *)p - 1;
}

/* Zeros, as calloc wants them. */
void *tg_apart_malloc (size_t size) {
  size = size > 0 ? size : 1;
  size_t whole = (size + sizeof(Head) + 15) & ~(size_t)15;
  if (whole < size)
    return NULL;
  if (whole >= LARGE)
    return begin(map(whole), whole, true);
  if (whole > left) {
    next = map(ROOM);
    left = (next != NULL) ? ROOM : 0;
  }
  if (whole > left)
    return NULL;
  uint8_t *at = next;
  next += whole;
  left -= whole;
  return begin(at, whole - sizeof(Head), false);
}

static void *grow_large (Head *head, size_t size) {
  size_t whole = (size + sizeof(Head) + 15) & ~(size_t)15;
  if (whole < size)
    return NULL;
  void *p = mremap(head, head->size, whole, MREMAP_MAYMOVE);
  return (p == MAP_FAILED) ? NULL : begin(p, whole, true);
}

void *tg_apart_realloc (void *p, size_t size) {
  if (p == NULL)
    return tg_apart_malloc(size);
  Head *head = head_of(p);
  if (head->large != 0)
    return grow_large(head, size);
  if (size <= head->size)
    return p;
  void *copy = tg_apart_malloc(size);
  if (copy != NULL)
    memcpy(copy, p, head->size);
  return copy;
}

void tg_apart_free (void *p) {
  if (p != NULL && head_of(p)->large != 0)
    munmap(head_of(p), head_of(p)->size);
}
