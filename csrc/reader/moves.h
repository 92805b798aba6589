/*
** moves.h - what nearly all events are to whoever adds up times: a call that
** enters a frame of the running coroutine, or a return that leaves it.
**
** A packet has all that can be told of a frame, and there is much that may be
** to be told (framer.h). A report (profile.h) wants who, when, and what tracing
** had taken by then. So of a selection that asks for no more a reader gives
** such events many at once, up to the next one that is anything else, or the
** end of its chunk; that is for tg_reader_next, and then there may be moves
** again:
**
**     events   call call return | resume | call return return | (chunk) ...
**     given    3 moves          | packet | 3 moves            | packet
**
** Either way the reader comes to the same state, so what is given is the same
** stack with the same times: by two fifths of the instructions.
*/
#ifndef TG_MOVES_H
#define TG_MOVES_H

#include "reader/reader.h"

typedef struct tg_FrameMove {
  bool enters;            /* else the innermost frame returns */
  tg_FunctionId function;
  tg_ThreadId thread;
  uint64_t time_ns, spent_ns;     /* as a packet's */
} tg_FrameMove;

/* The next ones before position 'end', at most so many; 0: tg_reader_next has
   to be asked. */
uint32_t tg_reader_moves (tg_Reader *r, tg_Pos end, tg_FrameMove *list,
                          uint32_t most);

#endif
