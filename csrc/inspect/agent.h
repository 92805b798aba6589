/*
** agent.h - the debugger's Lua (lua/tracegrip/inspect/agent.lua), run inside
** the state that it looks at.
**
** It runs on a coroutine of ours that has no hook and that nobody can find: so
** the stack of the program's coroutine is as the program left it, no frame of
** ours is on it, and nothing that our Lua calls is traced or stopped in. Its
** modules are loaded apart from the program's: they are in no package.loaded.
**
** May be called wherever a C function or a hook may call Lua.
*/
#ifndef TG_AGENT_H
#define TG_AGENT_H

#include "inspect/debuggee.h"

/* What the agent is called for. */
typedef struct tg_Tidings {
  const char *kind;       /* as agent.lua has them */
  const char *text;       /* of "source": the text, else NULL */
  size_t size;
  lua_Debug *frame;       /* of "stop": the one that is there, level 0... */
  int source;             /* ...and its source's place in the list */
  int line;               /* of "stop": where, 0 = not known */
  bool hit;               /* of "stop": there is a breakpoint */
  bool entered;           /* of "stop": there is one of the function, which
                             begins */
  bool stepped;           /* of "stop": the program would stop without one */
  bool changed;           /* of "stop": a value that is watched has changed, or
                             is gone; always of "changed" */
  lua_State *thrower;     /* of "error": whose frames there are, the error on
                             top of its stack; else NULL */
  int level;              /* of "error": the innermost of them; of "changed":
                             the frame that was at work */
  bool uncaught;          /* of "error": nobody will catch it */
} tg_Tidings;

/* Makes the coroutine, which is returned and the registry keeps, and the loader
   of modules by 'path' (package.path as it was when the program was opened to
   debuggers). Raises. */
lua_State *tg_agent_setup (lua_State *L, const char *path);    /* [-0, +0, m] */

/* Lets go of both. */
void tg_agent_clear (lua_State *L);                            /* [-0, +0, -] */

/* Calls the agent about 'L', which runs now. Returns its answer: of "stop",
   whether the program has stopped. False too if it is running already, or
   fails, which is a line on standard error. */
bool tg_agent_call (tg_Inspector *i, lua_State *L, const tg_Tidings *t);
                                                               /* [-0, +0, -] */

/* The same of what code has to tell that the agent itself runs: 'L' is a
   coroutine of its own, and the agent is called there. */
void tg_agent_nest (lua_State *L, const tg_Tidings *t);        /* [-0, +0, -] */

#endif
