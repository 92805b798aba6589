/*
** mapped.h - memory that may not be there, read by the kernel.
**
** For signal handlers: one may come while a block of memory is being moved, or
** while a pointer is half written. Both are async-signal-safe and may change
** errno; where the kernel does not let a process read itself, they are false.
*/
#ifndef TG_MAPPED_H
#define TG_MAPPED_H

#include "base/base.h"

/* Whether the bytes at both places can be read. */
bool tg_mapped_both (const void *one, const void *other);

/* Copies 'n' bytes; false: not all of them are there. */
bool tg_mapped_copy (void *to, const void *from, size_t n);

#endif
