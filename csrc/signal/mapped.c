/*
** mapped.c - see mapped.h. The kernel copies from this process to itself
** (process_vm_readv(2)): where nothing is, it fails instead of the program. A
** part that is not all there is left out, with those after it.
*/
#include "signal/mapped.h"

#include <sys/uio.h>

static struct iovec place_of (tg_MappedPart part) {
  return (struct iovec){(void *)(uintptr_t)part.from, part.n};
}

size_t tg_mapped_copy (int process, void *to, tg_MappedPart first,
                       tg_MappedPart second) {
  struct iovec here = {to, first.n + second.n};
  struct iovec there[2] = {place_of(first), place_of(second)};
  ssize_t n = process_vm_readv(process, &here, 1, there, 2, 0);
  return (n > 0) ? (size_t)n : 0;
}

bool tg_mapped_both (int process, const void *one, const void *other) {
  char bytes[2];
  return tg_mapped_copy(process, bytes, (tg_MappedPart){one, 1},
                        (tg_MappedPart){other, 1}) == sizeof bytes;
}
