/*
** readoptions.h - a Lua table of options into a tg_Options or a tg_Filter.
**
** By raw access. Anything unknown or out of range raises an error that names it
** and says what is allowed; what '*o' has by then is still its owner's to free,
** so it should live in a userdata.
*/
#ifndef TG_READOPTIONS_H
#define TG_READOPTIONS_H

#include "binding/lx.h"
#include "options/selection.h"

/*
** The options at 'index' (a table; nil or none = the defaults). 'extra' lists
** further keys that the caller reads itself, NULL-terminated; may be NULL.
*/
void tg_readoptions (lua_State *L, int index, const char *const *extra,
                     tg_Options *o);                           /* [-0, +0, v] */

/* The same of a trace that is recorded on a file. */
void tg_readoptions_file (lua_State *L, int index, tg_Options *o);

/* The same for what narrows a reading: those options that have a meaning then,
   and thread, from, to. */
void tg_readoptions_filter (lua_State *L, int index, const char *const *extra,
                            tg_Filter *f);                     /* [-0, +0, v] */

/* Pushes options with the defaults, in the hands of the collector. */
tg_Options *tg_readoptions_new (lua_State *L);                 /* [-0, +1, m] */

/* Appends the pattern, or the list of them, on top of the stack, which is what
   the option of that name was given; raises what is wrong with it. */
void tg_readoptions_patterns (lua_State *L, const char *name,
                              tg_Patterns *list);              /* [-0, +0, v] */

#endif
