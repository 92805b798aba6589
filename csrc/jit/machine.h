/*
** machine.h - the machine code of LuaJIT in a process: where the interpreter's
** is, and which trace's code an address is in.
**
** Nothing says where these are. The interpreter's is learned from its table of
** code for instructions, behind each global_State, to which a register points
** while Lua code runs. Traces are listed when an address is asked for that is
** in none of those known, at most for a small part of the time. One that is
** told is compared with its object, since traces are freed and their code is
** used again. Plain C, one thread.
*/
#ifndef TG_JIT_MACHINE_H
#define TG_JIT_MACHINE_H

#include "jit/reading.h"
#include "outside/finder.h"

typedef struct tg_JitTrace {
  uint64_t start, end;  /* of its machine code; first */
  uint64_t at;          /* its object */
  uint64_t shared;      /* whose it is */
  uint32_t stack;       /* bytes of the C stack that it has for itself */
} tg_JitTrace;

typedef struct tg_JitMachine {
  uint64_t low, high;   /* code of the interpreter's instructions; 0: not
                           known */
  tg_JitTrace *list;    /* owns; by address */
  uint32_t count, capacity;
  uint64_t next_ns;     /* when traces may be listed again */
} tg_JitMachine;

/* A word that a thread has in a register or on its stack: if it is the address
   of that state's table, where the interpreter is becomes known. */
bool tg_jitmachine_learn (tg_JitMachine *m, tg_Sight *s, uint64_t shared,
                          uint64_t word);

/* Whether the interpreter's code is around there. Not exact: C that is next to
   it may be taken for it. */
bool tg_jitmachine_interprets (const tg_JitMachine *m, uint64_t pc);

/* Whether a word may be in a trace's code: cheap, for many words. */
bool tg_jitmachine_may_have (const tg_JitMachine *m, tg_Sight *s,
                             uint64_t word);

/* The trace of one of these states whose code is there; NULL: none is known.
   The sight's layout becomes another one, if only that has traces. */
const tg_JitTrace *tg_jitmachine_trace (tg_JitMachine *m, tg_Sight *s,
                                        const tg_Finds *states, uint64_t pc);

/* The trace of a state with that number; false: there is none. */
bool tg_jitmachine_numbered (tg_Sight *s, uint64_t shared, uint32_t number,
                             tg_JitTrace *t);

void tg_jitmachine_free (tg_JitMachine *m);

#endif
