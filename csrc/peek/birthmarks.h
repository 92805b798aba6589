/*
** birthmarks.h - marks among the objects of the state that calls (births.h),
** for a debugger that follows its heap.
**
**     marks = birthmarks(before?)    with other ids than those
**     changes, id = marks:mark(us)   one more, at that time: a list of numbers,
**                                    three for each stretch that has changed:
**                                    which, its objects, their bytes; and the
**                                    id of the last object before the mark
**     core.snapshot(path, true, marks), core.heapid(value, marks),
**     core.heapobject(id, marks)     with ids by birth
**
** Its objects are the state's, some 200 bytes a mark, and go with 'marks'.
*/
#ifndef TG_BIRTHMARKS_H
#define TG_BIRTHMARKS_H

#include "binding/lx.h"

struct tg_Births;       /* heap/births.h; lib.c, which includes this, knows
                           another tg_Sight than that */
struct tg_Ourselves;

void tg_birthmarks_setup (lua_State *L);

int birthmarks_new (lua_State *L);

/* That of an argument; NULL: there is none. [-0, +0, v] */
struct tg_Births *tg_birthmarks_opt (lua_State *L, int arg);

/* Numbers the objects of this moment; makes none. False without memory. */
bool tg_birthmarks_number (struct tg_Births *b,
                           const struct tg_Ourselves *ours);

#endif
