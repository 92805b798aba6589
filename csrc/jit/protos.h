/*
** protos.h - function prototypes of LuaJIT: what a dialect has to say of them
** (outside/dialect.h, outside/proto.h), and what an instruction calls the
** function that it calls.
**
** Instructions stand behind the prototype; the first one is the function's
** head. Names are kept as lists of bytes (lj_debug.c). Plain C.
*/
#ifndef TG_JIT_PROTOS_H
#define TG_JIT_PROTOS_H

#include "jit/reading.h"

bool tg_jitprotos_read (tg_Sight *s, uint64_t at, tg_SeenProto *p);

/* The prototype that an instruction belongs to, which stands before it. False:
   nothing there is one. */
bool tg_jitprotos_around (tg_Sight *s, uint64_t instruction, tg_SeenProto *p);

uint32_t tg_jitprotos_line (tg_Sight *s, const tg_SeenProto *p, int32_t pc);

bool tg_jitprotos_next_local (tg_Sight *s, const tg_SeenProto *p, int32_t pc,
                              tg_SeenNames *names, char *name, size_t room);

bool tg_jitprotos_upvalue (tg_Sight *s, const tg_SeenProto *p, uint32_t n,
                           char *name, size_t room);

#endif
