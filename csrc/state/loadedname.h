/*
** loadedname.h - the qualified name of a function that package.loaded leads to:
** "string.gsub", "M.parse".
**
** Asked once for each function, when it is defined, on the traced thread and
** mostly inside the hook: a raw traversal of package.loaded and of the tables
** in it, which allocates nothing and runs nothing of the program. The modules
** of a large program have thousands of fields, so where memory is read they are
** read there.
*/
#ifndef TG_LOADEDNAME_H
#define TG_LOADEDNAME_H

#include "binding/lx.h"
#include "text/fieldname.h"

/* Keeps package.loaded where the hook can look; may raise. */
void tg_loadedname_setup (lua_State *L);                       /* [-0, +0, m] */

/* The best name of the function on top of the stack; false: it has none.
   'direct': values are read from memory. */
bool tg_loadedname_find (lua_State *L, bool direct,
                         tg_FieldName *name);                  /* [-0, +0, -] */

#endif
