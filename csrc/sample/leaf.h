/*
** leaf.h - the innermost frame of a sample that a hook takes, put right by what
** the tick has met (glance.h).
*/
#ifndef TG_LEAF_H
#define TG_LEAF_H

#include "sample/glance.h"

/*
** In the hook, at event 'ar' of 'L': the innermost frame has the line at which
** the tick has met it; and if it was about to give its place to a tail call, it
** is the function that did so. Where the collector ran it is innermost.
** 'leaf' is used up.
*/
void tg_leaf_mend (tg_StackWalk *w, tg_Session *s, lua_State *L,
                   const lua_Debug *ar, tg_Leaf *leaf,
                   tg_FunctionId collector);

#endif
