/*
** meta.h - what both formats of the Firefox Profiler say of a whole profile:
** categories, kinds of markers, where it is from and what is missing in it.
**
** Everything is appended as JSON. Plain C, one thread.
*/
#ifndef TG_META_H
#define TG_META_H

#include "formats/firefox/tracks.h"

/* Names and types of markers: calls, and what is to be said. */
#define TG_VIEWER_CALL "Lua call"
#define TG_VIEWER_CALL_TYPE "LuaCall"
#define TG_VIEWER_NOTE "Incomplete trace"
#define TG_VIEWER_NOTE_TYPE "LuaNote"
#define TG_VIEWER_CONSOLE "Console"
#define TG_VIEWER_CONSOLE_TYPE "LuaConsole"
#define TG_VIEWER_TIMER "Timer"
#define TG_VIEWER_TIMER_TYPE "LuaTimer"

/* The list of categories; where in it a func belongs. */
void tg_meta_categories (tg_Buf *out);
unsigned tg_meta_category (const tg_Function *f, bool away);

/* The list of kinds of markers; 'fields' is what it calls the fields. Those of
   the console if there are any. */
void tg_meta_schemas (const tg_Tracks *t, tg_Buf *out, const char *fields);

/* The name of a marker of this func, or of what it is instead (notes.h). */
const char *tg_meta_mark_name (uint32_t func);

/* Where in the list of categories a marker of this func belongs. */
unsigned tg_meta_mark_category (uint32_t func);

/* The object of a marker: of a call of 'f', whose name and place are these
   strings of the document (TG_INTMAP_NONE: it has no place), or of a note. */
void tg_meta_call (tg_Buf *out, const tg_Function *f, const tg_Mark *m,
                   uint32_t name, uint32_t place);
void tg_meta_note (tg_Buf *out, const tg_Mark *m);

/* The place where a func is defined, "file.lua:12"; false if it has none. */
bool tg_meta_place (const tg_Function *f, tg_Buf *out);

/* The list of what is known beyond that: program, versions, losses... */
void tg_meta_extra (const tg_Tracks *t, tg_Buf *out);

/* A func's name, not yet as JSON: "f", "(in coroutine f)". */
void tg_meta_name (const tg_Tracks *t, const tg_CallFunc *f, tg_Buf *out);

/* A moment, in milliseconds. */
void tg_meta_moment (tg_Buf *out, tg_Moment m);

/* The program's name. */
const char *tg_meta_program (const tg_Export *x);

/*
** Writes all markers of a track, as tg_marktext_write does; the first track
** also has what is to be said of the whole: events lost, calls left out. False
** without memory, or if the spool or the output fails. Once for each track.
*/
bool tg_meta_marks (tg_Tracks *t, tg_Track *track, tg_MarkPut *put,
                    const void *ud, tg_Buf *list);

#endif
