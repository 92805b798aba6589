/*
** sourcetext.h - the text of a source of a trace's functions, for Lua.
*/
#ifndef TG_SOURCETEXT_H
#define TG_SOURCETEXT_H

#include "binding/lx.h"

/*
** sourceText(trace, url) -> text, from | nil, why.
**
** 'from' is "recording", where it has the text (or where the program runs), or
** the path of the file on disk. 'why' is "changed" of a file that is not as it
** was, with its path as a third value; "absent" of one that is not there, with
** its path; "unknown" of what is no file.
*/
int trace_sourcetext (lua_State *L);

#endif
