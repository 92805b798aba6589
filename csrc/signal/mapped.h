/*
** mapped.h - memory that may not be there, read by the kernel.
**
** For signal handlers: one may come while a block of memory is being moved, or
** while a pointer is half written. All are async-signal-safe and may change
** errno; where the kernel does not let a process read itself, nothing is there.
**
** 'process' is the calling process's number, which the caller keeps: to ask for
** it is a system call, and a handler makes as few of these as can be. In a
** forked child it is another one; with the parent's number the parent's memory
** would be read.
*/
#ifndef TG_MAPPED_H
#define TG_MAPPED_H

#include "base/base.h"

/* A place and how many bytes are wanted of it. */
typedef struct tg_MappedPart {
  const void *from;
  size_t n;
} tg_MappedPart;

/* Whether the bytes at both places can be read. */
bool tg_mapped_both (int process, const void *one, const void *other);

/* Copies the two parts, one behind the other, with one system call. The bytes
   that were there: of both, of the first alone, or none. */
size_t tg_mapped_copy (int process, void *to, tg_MappedPart first,
                       tg_MappedPart second);

#endif
