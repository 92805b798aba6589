/*
** objects.h - all coroutines of a state, straight from memory. The collector
** has what it may free on one list (allgc of global_State): an object begins
** with the next one's address, and is put in front when it is made. Objects
** with a finalizer are on other lists, which coroutines never have.
**
** What is found may be dead already, and wait for the collector; it is still
** there, and must not be kept. While the list is gone through no object may be
** made.
**
** That the list is there is proved on a state of its own (probe_objects.c).
*/
#ifndef TG_DIRECT_OBJECTS_H
#define TG_DIRECT_OBJECTS_H

#include "direct/frame.h"

TG_INLINE bool tg_objects_known (void) {
  return tg_direct_facts.objects != 0;
}

/* The newest one; NULL: there is none. */
TG_INLINE const void *tg_objects_first (const lua_State *L) {
  return tg_read_pointer(tg_direct_shared(L), tg_direct_facts.objects);
}

TG_INLINE const void *tg_objects_next (const void *object) {
  return tg_read_pointer(object, TG_AT_OBJECT_NEXT);
}

/* The two colours of what a cycle of the collector has not met: new objects
   have one, and the dead of the cycle before have the other. */
#define TG_OBJECT_WHITES 0x18u

/* Whether nobody has it any more. 'fresh' has just been made. */
TG_INLINE bool tg_objects_dead (const void *object, const void *fresh) {
  unsigned colour = tg_read8(object, TG_AT_OBJECT_MARKED) & TG_OBJECT_WHITES;
  return (colour & ~(unsigned)tg_read8(fresh, TG_AT_OBJECT_MARKED)) != 0;
}

/* NULL: it is none. */
TG_INLINE lua_State *tg_objects_coroutine (const void *object) {
  return (tg_read8(object, TG_AT_OBJECT_TAG) == LUA_TTHREAD)
         ? (lua_State *)(uintptr_t)object : NULL;
}

#endif
