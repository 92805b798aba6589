/*
** catalog.h - functions of the program to ids: looked up on every call, defined
** (named, described) once.
**
** A closure's address finds its id; what the address stands for is checked
** against the definition on each hit, since addresses are used again. New
** closures of a known definition get its id.
*/
#ifndef TG_CATALOG_H
#define TG_CATALOG_H

#include "binding/lx.h"
#include "host/builtins.h"
#include "state/closures.h"
#include "state/coroutine.h"
#include "state/definitions.h"

struct tg_Session;

#define TG_VALUES_SEEN 128

/* What a session knows of the program's functions. */
typedef struct tg_Catalog {
  tg_Closures closures;     /* owns; those that were called */
  tg_Closure values[TG_VALUES_SEEN];  /* some that were seen as values, by
                               address */
  tg_Definitions definitions;   /* owns */
} tg_Catalog;

bool tg_catalog_init (tg_Catalog *k);
void tg_catalog_free (tg_Catalog *k);

/* Forgets the closures (flags have changed), keeps the definitions. */
void tg_catalog_refresh (tg_Catalog *k);

/* Takes all functions that were met so far for such as share their line with no
   other: of a program whose text no file has it cannot be known. */
void tg_catalog_trust (tg_Catalog *k);

/*
** What is known of the function on top of the stack, about to run in the frame
** of 'ar', which has been filled with "S". NULL without memory. Pops nothing.
*/
const tg_Closure *tg_catalog_slow (struct tg_Session *s, lua_State *L,
                                   lua_Debug *ar);

/* The same of a function on top of the stack that runs in no frame. */
const tg_Closure *tg_catalog_past (struct tg_Session *s, lua_State *L);

/* Whether a closure that shares its line is still what the function on top of
   the stack is; false for all others. 'ar' as above. */
bool tg_catalog_is_shape (const struct tg_Session *s, lua_State *L,
                          const tg_Closure *c, lua_Debug *ar);

/* The same when the address is known: is it still the same definition? */
bool tg_catalog_is (const struct tg_Session *s, const tg_Closure *c,
                    const lua_Debug *ar);

/* The same of a function found from memory; 'f' is its slot. Closures that
   share a line are told apart by their shape. */
bool tg_catalog_is_slot (const struct tg_Session *s, const tg_Closure *c,
                         tg_Slot f);

/* The definition that a function value, read from memory, is known to have; 0:
   that is for tg_catalog_value to find out. */
tg_FunctionId tg_catalog_known (const struct tg_Session *s, tg_Slot f);

/* Flags of a definition as the session's traces see it. */
uint32_t tg_catalog_flags (const struct tg_Session *s, tg_FunctionId id);

/* What it has to do with a key and its value: known of Lua's own C functions,
   and of Lua functions called __index or __newindex. */
tg_Keyed tg_catalog_keyed (const struct tg_Session *s, tg_FunctionId id);

/* The definition of the function value at index 'i' that is not running. */
tg_FunctionId tg_catalog_value (struct tg_Session *s, lua_State *L, int i);

/* The definition of the function of frame 'ar'; 0 if there is none. */
tg_FunctionId tg_catalog_frame (struct tg_Session *s, lua_State *L,
                                lua_Debug *ar);

/* Whether frame 'ar' runs the function of definition 'id', as far as can be
   told without its name; 0 may be any. */
bool tg_catalog_is_frame (const struct tg_Session *s, lua_State *L,
                          lua_Debug *ar, tg_FunctionId id);

#endif
