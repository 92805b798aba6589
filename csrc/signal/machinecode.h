/*
** machinecode.h - which function a machine address is in, and who has called
** whom, by the tables of the unwinder (libgcc_s, which is loaded if it is
** there: where it is not, nothing is known).
**
** Not for signal handlers: find out before, and keep the ranges.
*/
#ifndef TG_MACHINECODE_H
#define TG_MACHINECODE_H

#include "base/base.h"

/* A function's code; empty: not known. */
typedef struct tg_CodeRange {
  uintptr_t begin, end;
} tg_CodeRange;

TG_INLINE bool tg_coderange_has (tg_CodeRange r, uintptr_t address) {
  return address >= r.begin && address < r.end;
}

/* The function that 'address' is in. One longer than this is not known. */
tg_CodeRange tg_machinecode_of (uintptr_t address);

#define TG_MACHINECODE_LONGEST 16384u

/* The addresses to which the running functions return, innermost first, from
   that one on which is 'first'; how many there are in 'list'. */
uint32_t tg_machinecode_callers (uintptr_t first, uintptr_t *list,
                                 uint32_t size);

#endif
