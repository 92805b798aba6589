/*
** catalog.h - functions of the program to ids: looked up on every call, defined
** (named, described) once.
**
** A closure's address finds its id; what the address stands for is checked
** against the definition on each hit, since addresses are used again. New
** closures of a known definition get its id.
**
** Lines tell functions apart where one begins on a line. Those that share
** theirs are told apart by their shape, the names of parameters and upvalues,
** which is read at each of their calls; what has the same shape too is one
** definition.
*/
#ifndef TG_CATALOG_H
#define TG_CATALOG_H

#include "binding/lx.h"
#include "state/coroutine.h"
#include "state/funcname.h"
#include "stream/functions.h"

struct tg_Session;

/* One closure whose definition is known: 40 bytes. */
typedef struct tg_Closure {
  const void *address;      /* NULL: free */
  const void *source;       /* its source string, or its C function; NULL: it
                               shares its line */
  uint64_t tail;            /* last bytes of the source's text; with these its
                               shape, if it shares its line */
  uint32_t line, last_line;
  uint32_t what;            /* id and TG_FR_* flags */
  uint16_t nparams;         /* fixed parameters of a Lua function */
} tg_Closure;

/* What else is known of a definition, by id. */
typedef struct tg_Identity {
  const void *cfunction;    /* NULL for a Lua function */
  uint64_t shape;           /* of a Lua function */
  bool unnamed;             /* it may get a name at its first call */
  bool crowded;             /* others may begin on its line */
} tg_Identity;

/* What a session knows of the program's functions. */
typedef struct tg_Catalog {
  tg_Closure *closures;     /* owns; hash by address */
  uint32_t size, used;      /* slots, power of two */
  uint32_t *index;          /* owns; definition ids, hash by definition */
  uint32_t index_size, index_used;
  tg_Identity *identities;  /* owns; by id */
  uint32_t identities_size;
  tg_FuncNames *sources;    /* owns; what files declare */
} tg_Catalog;

bool tg_catalog_init (tg_Catalog *k);
void tg_catalog_free (tg_Catalog *k);

/* Forgets the closures (flags have changed), keeps the definitions. */
void tg_catalog_refresh (tg_Catalog *k);

/*
** What is known of the function on top of the stack, about to run in the frame
** of 'ar', which has been filled with "S". NULL without memory. Pops nothing.
*/
const tg_Closure *tg_catalog_slow (struct tg_Session *s, lua_State *L,
                                   lua_Debug *ar);

/* Whether a closure that shares its line is still what the function on top of
   the stack is; false for all others. 'ar' as above. */
bool tg_catalog_alike (const struct tg_Session *s, lua_State *L,
                       const tg_Closure *c, lua_Debug *ar);

/* The same when the address is known: is it still the same definition? */
bool tg_catalog_same (const struct tg_Session *s, const tg_Closure *c,
                      const lua_Debug *ar);

/* Flags of a definition as the session's traces see it. */
uint32_t tg_catalog_flags (const struct tg_Session *s, tg_FunctionId id);

/* The definition of the function value at index 'i' that is not running. */
tg_FunctionId tg_catalog_value (struct tg_Session *s, lua_State *L, int i);

/* The definition of the function of frame 'ar'; 0 if there is none. */
tg_FunctionId tg_catalog_frame (struct tg_Session *s, lua_State *L,
                                lua_Debug *ar);

/* Whether frame 'ar' runs the function of definition 'id', as far as can be
   told without its name; 0 may be any. */
bool tg_catalog_runs (const struct tg_Session *s, lua_State *L, lua_Debug *ar,
                      tg_FunctionId id);

/* Eight bytes near the end of a source, to tell strings apart. */
TG_INLINE uint64_t tg_source_tail (const char *s, size_t n) {
  uint64_t tail = 0;
  if (tg_likely(n >= 8))
    __builtin_memcpy(&tail, s + n - 8, 8);
  else
    __builtin_memcpy(&tail, s, n);
  return tail;
}

TG_INLINE uint32_t tg_address_hash (const void *p) {
  return (uint32_t)(((uint64_t)(uintptr_t)p * UINT64_C(0x9E3779B97F4A7C15))
                    >> 40);
}

#endif
