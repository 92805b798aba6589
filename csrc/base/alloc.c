/*
** alloc.c - malloc and mmap behind one door, with a test build's saboteur.
**
** Called by everything outside the Lua heap, on any thread. Nothing here prints
** or gives up: a refused request is NULL.
**
** Lua's own heap has none of this: so a trace neither moves the program's
** collections nor shows in its collectgarbage "count".
*/
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/apart.h"

#ifdef TG_TEST
#include <stdatomic.h>
#endif

/* Larger blocks are touched page by page as they fill, if ever. */
#define POPULATE_MAX ((size_t)1 << 20)

#ifdef TG_TEST

/* Of all threads together: in a sweep the traced program allocates on one. */
static _Atomic uint64_t requests;
static _Atomic int64_t countdown;   /* > 0: that many until the refused one */

/* Whether this request is the one to be refused. One at a time: what follows it
   succeeds again, so that a test sees how each refusal is borne. */
static bool refused (void) {
  atomic_fetch_add_explicit(&requests, 1, memory_order_relaxed);
  return atomic_load_explicit(&countdown, memory_order_relaxed) > 0
         && atomic_fetch_sub(&countdown, 1) == 1;
}

uint64_t tg_alloc_fail (uint64_t nth) {
  atomic_store(&countdown, (int64_t)nth);
  return atomic_exchange(&requests, 0);
}

#else

TG_INLINE bool refused (void) {
  return false;
}

uint64_t tg_alloc_fail (uint64_t nth) {
  (void)nth;
  return 0;
}

#endif

/* The C library's, and not the state's lua_Alloc: that need not be fit for
   other threads, and memory of ours may outlive the state. */
void *tg_malloc (size_t size) {
  if (tg_unlikely(tg_apart))
    return tg_apart_malloc(size);
  return refused() ? NULL : malloc(size);
}

void *tg_calloc (size_t count, size_t size) {
  if (tg_unlikely(tg_apart))
    return size > 0 && count > SIZE_MAX / size ? NULL
                                               : tg_apart_malloc(count * size);
  return refused() ? NULL : calloc(count, size);
}

void *tg_realloc (void *p, size_t size) {
  if (tg_unlikely(tg_apart))
    return tg_apart_realloc(p, size);
  return refused() ? NULL : realloc(p, size);
}

void tg_free (void *p) {
  if (tg_unlikely(tg_apart))
    tg_apart_free(p);
  else
    free(p);
}

/* 's' may be NULL if there are no bytes. */
char *tg_strdup (const char *s, size_t size) {
  char *copy = size < SIZE_MAX ? tg_malloc(size + 1) : NULL;
  if (copy == NULL)
    return NULL;
  if (size > 0)
    memcpy(copy, s, size);
  copy[size] = '\0';
  return copy;
}

/* NULL of NULL: a string that is not there is copied as well. */
char *tg_strcopy (const char *s) {
  return s != NULL ? tg_strdup(s, strlen(s)) : NULL;
}

/* Not by malloc: what free gets back it may keep, and memory for events comes
   in pieces that would tear holes into the program's heap. */
void *tg_pages_new (size_t size) {
  tg_check(size > 0);
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_POPULATE
  if (size <= POPULATE_MAX)   /* one system call instead of a fault a page */
    flags |= MAP_POPULATE;
#endif
  if (refused())
    return NULL;
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

/* Twice as much is reserved and what is not aligned given back. Nothing of it
   is there before it is touched. */
void *tg_pages_large (size_t size) {
  tg_check(size > 0 && (size & (size - 1)) == 0);
  if (refused())
    return NULL;
  char *p = mmap(NULL, size * 2, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return NULL;
  size_t before = -(uintptr_t)p & (size - 1);
  if (before > 0)
    munmap(p, before);
  munmap(p + before + size, size - before);
#ifdef MADV_HUGEPAGE
  madvise(p + before, size, MADV_HUGEPAGE);
#endif
  return p + before;
}

/* An older system does not know that request, and does it page by page. */
void tg_pages_touch (void *p, size_t size) {
#ifdef MADV_POPULATE_WRITE
  madvise(p, size, MADV_POPULATE_WRITE);
#else
  (void)p;
  (void)size;
#endif
}

/* Given back to the system at once, whatever is around them. */
void tg_pages_free (void *p, size_t size) {
  if (p != NULL)
    munmap(p, size);
}
