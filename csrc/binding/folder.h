/*
** folder.h - folders: what is in one, and one for a while.
*/
#ifndef TG_FOLDER_H
#define TG_FOLDER_H

#include "binding/lx.h"

/* scratch(name) -> path | nil, message, code: a new folder where the system
   keeps what is for a while (TMPDIR), that none but the user can look into. Its
   name begins with 'name'. Who made it removes it. */
int folder_scratch (lua_State *L);

/* entries(path) -> list of names in any order, without "." and ".." |
   nil, message, code. */
int folder_entries (lua_State *L);

#endif
