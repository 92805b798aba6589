/*
** alloc.h - memory outside the Lua heap.
**
** Everything recorded lives here, so that tracing does not shift the pace of
** the program's garbage collector or what collectgarbage "count" says. All of
** the C side allocates through these functions, which lets a test build
** (TG_TEST) refuse the n-th request and see what becomes of the program.
*/
#ifndef TG_ALLOC_H
#define TG_ALLOC_H

#include "base/base.h"

void *tg_malloc (size_t size);                /* NULL when refused */
void *tg_calloc (size_t count, size_t size);  /* zeroed; checks the product */
void *tg_realloc (void *p, size_t size);      /* NULL when refused, p stays */
void tg_free (void *p);                       /* NULL is fine */

/* A copy of 'size' bytes with a zero after them. */
char *tg_strdup (const char *s, size_t size);

/* A copy of a C string; NULL of NULL, and without memory. */
char *tg_strcopy (const char *s);

/* Whole pages for chunks: not from the C heap, given back to the system. */
void *tg_pages_new (size_t size);
void tg_pages_free (void *p, size_t size);

/* The same, aligned to its size, a power of two: the system may make it one
   large page. */
void *tg_pages_large (size_t size);

/* These pages of it are about to be written. */
void tg_pages_touch (void *p, size_t size);

/* Test build: the n-th request from now on is refused, then all go through
   again; 0 = never. Returns how many requests were made since the last call. */
uint64_t tg_alloc_fail (uint64_t nth);

#endif
