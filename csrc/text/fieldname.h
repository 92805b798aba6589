/*
** fieldname.h - what a function is called that is a field of a module, or a
** module itself: "string.gsub", "print", "M.parse".
**
** A field of _G is called by its own name, as luaL_traceback does
** (pushglobalfuncname of lauxlib.c). That takes the first one it meets, and the
** order in which tables are traversed is not specified (manual, next): the same
** program would show other names in another run. So all are met, and the best
** one is chosen, by one rule for functions of this process and of others.
*/
#ifndef TG_FIELDNAME_H
#define TG_FIELDNAME_H

#include "base/base.h"

typedef struct tg_FieldName {
  char text[256];
  bool global;                  /* a field of _G */
} tg_FieldName;

/* 'field' is NULL for the module itself. False: it is too long. */
bool tg_fieldname_make (tg_FieldName *n, const char *module,
                        const char *field);

/* Whether it is to be taken rather than another one: a module's before a
   global's, then by alphabet. */
bool tg_fieldname_is_better (const tg_FieldName *n, const char *text,
                             bool global);

#endif
