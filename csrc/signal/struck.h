/*
** struck.h - the machine as a signal has found it: the third argument of a
** handler of SA_SIGINFO, a ucontext_t.
**
** On machines other than those below nothing is known: all of it is 0.
*/
#ifndef TG_STRUCK_H
#define TG_STRUCK_H

#include <string.h>
#include <ucontext.h>

#include "base/base.h"

#define TG_REGISTERS_MAX 32

#if defined(__x86_64__)

TG_INLINE uintptr_t tg_struck_instruction (const void *context) {
  const ucontext_t *c = context;
  return (uintptr_t)c->uc_mcontext.gregs[REG_RIP];
}

TG_INLINE uintptr_t tg_struck_stack (const void *context) {
  const ucontext_t *c = context;
  return (uintptr_t)c->uc_mcontext.gregs[REG_RSP];
}

/* The registers that may have pointers; how many there are. */
TG_INLINE int tg_struck_registers (const void *context,
                                   uintptr_t to[TG_REGISTERS_MAX]) {
  const ucontext_t *c = context;
  memcpy(to, c->uc_mcontext.gregs, REG_RIP * sizeof *to);
  return REG_RIP;
}

#elif defined(__aarch64__)

TG_INLINE uintptr_t tg_struck_instruction (const void *context) {
  const ucontext_t *c = context;
  return (uintptr_t)c->uc_mcontext.pc;
}

TG_INLINE uintptr_t tg_struck_stack (const void *context) {
  const ucontext_t *c = context;
  return (uintptr_t)c->uc_mcontext.sp;
}

TG_INLINE int tg_struck_registers (const void *context,
                                   uintptr_t to[TG_REGISTERS_MAX]) {
  const ucontext_t *c = context;
  memcpy(to, c->uc_mcontext.regs, 31 * sizeof *to);
  return 31;
}

#else

TG_INLINE uintptr_t tg_struck_instruction (const void *context) {
  (void)context;
  return 0;
}

TG_INLINE uintptr_t tg_struck_stack (const void *context) {
  (void)context;
  return 0;
}

TG_INLINE int tg_struck_registers (const void *context,
                                   uintptr_t to[TG_REGISTERS_MAX]) {
  (void)context, (void)to;
  return 0;
}

#endif

#endif
