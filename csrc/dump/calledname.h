/*
** calledname.h - what an instruction that calls calls the function: what the
** interpreters find out for their messages (funcnamefromcode of ldebug.c), from
** another process's code.
**
** One way for all releases: where operands are and which opcode is which are
** rows of the layout. Pure functions of a prototype and an instruction.
*/
#ifndef TG_CALLEDNAME_H
#define TG_CALLEDNAME_H

#include "outside/proto.h"

/* The name into 'name'; false: it has none. Metamethods with underscores. */
bool tg_calledname (tg_Sight *s, uint64_t shared, const tg_SeenProto *p,
                    int32_t pc, char *name, size_t room);

#endif
