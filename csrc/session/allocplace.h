/*
** allocplace.h - at which line the program allocates: asked by the meter with
** each block, answered from the interpreter's memory.
**
** The line is that of the frame to which the stream's readers count the block:
** the innermost that is in the stream. It is the instruction that the frame has
** noted before it allocated or called (savepc in lvm.c), or that makes a table
** (direct/newtable.h). A C function has no lines. None is known where memory is
** not read; of the stack itself, while it moves; in frames that an error has
** ended, up to the next event; and under many frames that are not traced.
**
** Of samples alone no frame is in the stream between two of them. Then it is
** the innermost Lua function that runs, on the coroutine that does
** (host/running.h): what a C function allocates is of the line of its call, as
** everywhere where C functions are not traced. A function that is not defined
** yet is noted by its prototype until it is (sample/newmakers.h).
*/
#ifndef TG_ALLOCPLACE_H
#define TG_ALLOCPLACE_H

#include "state/session.h"

/* The session's meter has begun, or has ended. */
void tg_allocplace_begin (tg_Session *s);
void tg_allocplace_end (tg_Session *s);

/* All lines so far have been told. */
void tg_allocplace_told (tg_Session *s);

#endif
