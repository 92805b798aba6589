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

#include "outside/walk.h"

/* The name into 'name'; false: it has none. Metamethods with underscores. */
bool tg_calledname (tg_Sight *s, uint64_t shared, const tg_SeenProto *p,
                    int32_t pc, char *name, size_t room);

/* What the caller, which is the frame below, calls the function of a frame;
   false: it has no name for it. A tail call has no caller, nor has what a hook
   calls. */
bool tg_calledname_by (tg_Sight *s, uint64_t shared,
                       const tg_SeenFrame *caller, const tg_SeenFrame *callee,
                       char *name, size_t room);

#endif
