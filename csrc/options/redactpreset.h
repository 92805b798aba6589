/*
** redactpreset.h - names that are usual for what is to be kept secret, so that
** nobody has to think of all of them (option 'redactPreset').
*/
#ifndef TG_REDACTPRESET_H
#define TG_REDACTPRESET_H

#include "text/patterns.h"

/* Whether there is a preset of that name: "secrets" is. */
bool tg_redactpreset_is (const char *name);

/* Appends its patterns, which find names of any case; false without memory. */
bool tg_redactpreset_add (tg_Patterns *list, const char *name);

#endif
