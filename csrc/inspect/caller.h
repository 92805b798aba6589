/*
** caller.h - who has called a frame, read from the interpreter's memory where
** that may be read, and asked of Lua elsewhere.
**
** A frame is known by lua_Debug's i_ci. On the thread that runs the state.
*/
#ifndef TG_CALLER_H
#define TG_CALLER_H

#include "direct/frame.h"

/* The same, asked of Lua, which counts from the innermost frame each time. */
const void *tg_caller_ask (lua_State *L, const void *frame);   /* [-0, +0, -] */

/* The frame that has called 'frame', of coroutine 'L'. NULL: 'frame' is the
   outermost, or is not there. 'direct': memory is read (direct/proof.h). */
TG_INLINE const void *tg_caller_of (bool direct, lua_State *L,
                                    const void *frame) {
  return direct ? tg_frame_caller(frame) : tg_caller_ask(L, frame);
}

#endif
