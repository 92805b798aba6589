/*
** drain.h - for tests, in the test build (TG_TEST) only: a thread that reads a
** running trace through a follower, as a server does, and checks what it reads.
*/
#ifndef TG_DRAIN_H
#define TG_DRAIN_H

#include "binding/lx.h"

/*
** Lua: drain(trace, {patience =, pause =, every =, leaves =, hangs =}) ->
** handle. 'patience' (ms) is how long the program waits for a reader that does
** not move; the reader rests 'pause' ms after 'every' packets, leaves or hangs
** after that many. handle:join() -> {packets =, whole =, ended =}: how many,
** whether they were nested and in sequence, whether the trace's end was seen.
*/
int drain_start (lua_State *L);

#endif
