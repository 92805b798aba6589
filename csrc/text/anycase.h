/*
** anycase.h - Lua patterns that find letters of either case, for which Lua has
** no sign: "pass" becomes "[Pp][Aa][Ss][Ss]". By ASCII. Classes (%a, %u) stay
** what they are.
*/
#ifndef TG_ANYCASE_H
#define TG_ANYCASE_H

#include "text/patterns.h"

/* Each pattern of the list becomes one for any case; false without memory, and
   then some have. */
bool tg_anycase_patterns (tg_Patterns *list);

#endif
