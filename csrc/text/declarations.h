/*
** declarations.h - the names that functions were declared with, from source
** text.
**
** One pass over a chunk's text, with the little of Lua's grammar that it takes:
** comments, strings, names, and what stands before "function".
*/
#ifndef TG_DECLARATIONS_H
#define TG_DECLARATIONS_H

#include "base/base.h"

typedef struct tg_Declaration {
  uint32_t line;        /* as in lua_Debug.linedefined */
  char *name;           /* owns; NULL: declared without a name */
} tg_Declaration;

typedef struct tg_Declarations {
  tg_Declaration *list; /* owns; by line */
  uint32_t count, capacity;
} tg_Declarations;

/* All function declarations in 'text'; false without memory. */
bool tg_declarations_scan (tg_Declarations *d, const char *text, size_t size);

/*
** The name of the function defined at 'line'. With several on that line, the
** one whose last part is 'called' (may be NULL). NULL if there is none.
*/
const char *tg_declarations_find (const tg_Declarations *d, uint32_t line,
                                  const char *called);

/* How many functions begin on a line. */
size_t tg_declarations_count (const tg_Declarations *d, uint32_t line);

void tg_declarations_free (tg_Declarations *d);

#endif
