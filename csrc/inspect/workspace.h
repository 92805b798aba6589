/*
** workspace.h - coroutines of ours in the program's state: the debugger's Lua
** runs on one, and others are stacks to work on.
**
** None has a hook, and nobody can find one but by the registry: so no trace
** sees what is done there, and nothing of it stops the program.
*/
#ifndef TG_WORKSPACE_H
#define TG_WORKSPACE_H

#include <lua.h>

/* A new one, which the registry keeps under 'key'. Raises. */
lua_State *tg_workspace_new (lua_State *L, const void *key);   /* [-0, +0, m] */

/* The registry lets go of it. */
void tg_workspace_drop (lua_State *L, const void *key);        /* [-0, +0, -] */

#endif
