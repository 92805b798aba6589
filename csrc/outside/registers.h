/*
** registers.h - a thread's registers, as ptrace and the notes of a core have
** them: those that an interpreter may keep something in, and the stack's end.
**
** The one place that knows processors. First come those that a called function
** leaves as they are: what is in them belongs to the interpreter and not to
** what it has called.
*/
#ifndef TG_REGISTERS_H
#define TG_REGISTERS_H

#include <string.h>

#include "base/base.h"

#define TG_REGISTERS 32u

typedef struct tg_Registers {
  uint64_t list[TG_REGISTERS];
  unsigned count;       /* 0: none are known, but for those that follow */
  uint64_t stack;       /* where the C stack ends */
  uint64_t pc;          /* the machine's next instruction */
} tg_Registers;

/* Numbers of words in NT_PRSTATUS (sys/user.h, struct user_regs_struct;
   asm/ptrace.h, struct user_pt_regs). */
#if defined(__x86_64__)
#define TG_MACHINE 62           /* EM_X86_64 */
enum { TG_REGISTER_WORDS = 27, TG_REGISTER_STACK = 19, TG_REGISTER_PC = 16 };
#define TG_REGISTER_ORDER \
  {5, 4, 3, 2, 1, 0, 6, 7, 8, 9, 10, 11, 12, 13, 14}
/* The numbers that unwind tables have for these (System V ABI, AMD64), and how
   many there are with the stack's and the next instruction's. */
#define TG_REGISTER_DWARF {3, 6, 12, 13, 14, 15, 11, 10, 9, 8, 0, 2, 1, 4, 5}
enum {TG_REGISTER_DWARFS = 17, TG_DWARF_STACK = 7, TG_DWARF_PC = 16};
#elif defined(__aarch64__)
#define TG_MACHINE 183          /* EM_AARCH64 */
enum { TG_REGISTER_WORDS = 34, TG_REGISTER_STACK = 31, TG_REGISTER_PC = 32 };
#define TG_REGISTER_ORDER \
  {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, \
   10, 11, 12, 13, 14, 15, 16, 17, 29, 30}
#define TG_REGISTER_DWARF TG_REGISTER_ORDER
enum {TG_REGISTER_DWARFS = 32, TG_DWARF_STACK = 31, TG_DWARF_PC = -1};
#else
#define TG_MACHINE 0
enum { TG_REGISTER_WORDS = 0, TG_REGISTER_STACK = 0, TG_REGISTER_PC = 0 };
#define TG_REGISTER_ORDER {0}
#define TG_REGISTER_DWARF {0}
enum {TG_REGISTER_DWARFS = 1, TG_DWARF_STACK = 0, TG_DWARF_PC = -1};
#endif

/* From the bytes of the note; of another processor's none are known. */
TG_INLINE void tg_registers_take (tg_Registers *r, const void *bytes,
                                  size_t size) {
  static const uint8_t order[] = TG_REGISTER_ORDER;
  uint64_t words[TG_REGISTER_WORDS + 1];
  memset(r, 0, sizeof *r);
  if (TG_REGISTER_WORDS == 0 || size < TG_REGISTER_WORDS * sizeof *words)
    return;
  memcpy(words, bytes, TG_REGISTER_WORDS * sizeof *words);
  for (unsigned i = 0; i < sizeof order; i++)
    r->list[r->count++] = words[order[i]];
  r->stack = words[TG_REGISTER_STACK];
  r->pc = words[TG_REGISTER_PC];
}

/* By the numbers of unwind tables. */
TG_INLINE void tg_registers_dwarf (const tg_Registers *r,
                                   uint64_t words[TG_REGISTER_DWARFS]) {
  static const uint8_t numbers[] = TG_REGISTER_DWARF;
  memset(words, 0, TG_REGISTER_DWARFS * sizeof *words);
  for (unsigned i = 0; i < sizeof numbers && i < r->count; i++)
    words[numbers[i]] = r->list[i];
  words[TG_DWARF_STACK] = r->stack;
  if (TG_DWARF_PC >= 0)
    words[TG_DWARF_PC] = r->pc;
}

#endif
