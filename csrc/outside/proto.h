/*
** proto.h - function prototypes in another process's memory: where they are
** defined, which line an instruction is on, what their variables are called.
**
** Pure functions of the prototype and an instruction, so whoever asks often may
** keep the answers. Sizes are compared before they are used. Plain C.
*/
#ifndef TG_OUTSIDE_PROTO_H
#define TG_OUTSIDE_PROTO_H

#include "outside/value.h"

/* False: it is none. */
bool tg_proto_read (tg_Sight *s, uint64_t at, tg_SeenProto *p);

/* Which instruction runs where 'next' is the next one; false: that is not this
   function's code. */
bool tg_proto_owns (const tg_SeenProto *p, uint64_t next, int32_t *pc);

/* What a frame says of its function. */
TG_INLINE void tg_proto_note (const tg_SeenProto *p, tg_SeenFrame *f) {
  f->source = p->source;
  f->line = p->line;
  f->begin = p->code;
  f->end = p->code + 4 * (uint64_t)p->ncode;
}

/* The line of an instruction; 0: not known, the code is stripped. */
uint32_t tg_proto_line (tg_Sight *s, const tg_SeenProto *p, int32_t pc);

/* The name of the next variable that is there at an instruction, in the order
   of their slots; "": it cannot be read. False: no more. */
bool tg_proto_next_local (tg_Sight *s, const tg_SeenProto *p, int32_t pc,
                          tg_SeenNames *names, char *name, size_t room);

/* The name of variable 'n', from 0, of those that are there at an instruction;
   false: there are no more, or they have no names. */
bool tg_proto_local (tg_Sight *s, const tg_SeenProto *p, uint32_t n,
                     int32_t pc, char *name, size_t room);

/* The name of upvalue 'n', from 0; false: it has none. */
bool tg_proto_upvalue (tg_Sight *s, const tg_SeenProto *p, uint32_t n,
                       char *name, size_t room);

/* Constant 'n', nil if there is none. */
tg_SeenValue tg_proto_constant (tg_Sight *s, const tg_SeenProto *p,
                                uint32_t n);

/* Instruction 'pc'. */
TG_INLINE uint32_t tg_proto_code (tg_Sight *s, const tg_SeenProto *p,
                                  int32_t pc) {
  return tg_memory_half(s->memory, p->code + 4u * (uint64_t)(uint32_t)pc);
}

#endif
