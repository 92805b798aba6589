/*
** boxnames.h - what the boxes, tracks and files of a viewer are called.
*/
#ifndef TG_BOXNAMES_H
#define TG_BOXNAMES_H

#include "export/export.h"

/* "main", "worker (prog.lua:12), coroutine 2"; "other coroutines" for thread 0.
   The distinctive part comes first, since tracks are narrow. 'first' is the
   function that the coroutine begins with, 0 if it is not known. */
void tg_boxname_thread (const tg_Export *x, tg_ThreadId thread,
                            tg_FunctionId first, tg_Buf *out);

/* What a box is called: the function's name; one that has none is called by
   its place, "prog.lua:12" or "module/init.lua:12", and a main chunk has its
   file behind it. 'f' may be NULL: "?". */
void tg_boxname_label (const tg_Function *f, tg_Buf *out);

/* The url of a Lua function, as a path that can be opened from anywhere where
   that is known. */
void tg_boxname_path (const tg_Export *x, const tg_Function *f, tg_Buf *out);

/* "worker (prog.lua:12)", or its place alone if it has no name: the function
   that a coroutine begins with. The file without its directories if 'brief'. */
void tg_boxname_body (const tg_Function *f, bool brief, tg_Buf *out);

#endif
