/*
** view.h - a snapshot that is looked at: its graph, who dominates whom, the
** shortest ways; and what is said of it, as documents.
**
** Everything that a command prints is written here into a sink, so that text
** for programs and tables for people have the same in them. Rows are the
** largest first, 'most' of them. Plain C, one thread.
*/
#ifndef TG_VIEW_H
#define TG_VIEW_H

#include "graph/classes.h"
#include "graph/paths.h"
#include "text/sink.h"

typedef struct tg_View {
  tg_Graph graph;       /* owns, as all here */
  tg_Dominators dominators;
  tg_Paths paths;
  tg_Buf text, room;    /* of one row */
} tg_View;

/* Opens a file; false, and 'words' says why. In any case tg_view_close. */
bool tg_view_open (tg_View *v, const char *path, tg_Buf *words);

/* The same of a graph that is there already, which is then the view's. */
bool tg_view_take (tg_View *v, tg_Graph *g);

void tg_view_close (tg_View *v);

/* {objects, bytes, classes: [{name, count, self, retained}],
   retainers: [{name, id, self, retained, path}]}. False without memory, as all
   of these. */
bool tg_view_summary (tg_View *v, uint32_t most, tg_Sink *out);

/* {id, name, self, retained, path, made_by, paths: [[{type, name, text, id,
   class}, ...]], longer}: the shortest ways to a node by each of those that
   refer to it, 'most' of them; how many were left out since they are too
   long. */
bool tg_view_paths (tg_View *v, uint32_t node, uint32_t most, tg_Sink *out);

/* {found, objects: [{id, name, self, retained, path, made_by}]}: whose class,
   name or text has 'word' in it. */
bool tg_view_find (tg_View *v, const char *word, uint32_t most, tg_Sink *out);

/* {strings: [{text, count, self, wasted}], tables: [{name, count, self, wasted,
   path}]}: equal strings, and tables that refer to the same by the same
   names. */
bool tg_view_duplicates (tg_View *v, uint32_t most, tg_Sink *out);

/* {empty: [{name, count, self, path}]}: objects that refer to nothing but what
   they are made of, by class. */
bool tg_view_empty (tg_View *v, uint32_t most, tg_Sink *out);

/* {ways, unknown_count, unknown, calls: [{name, url, line, count, self,
   total_count, total, allocations, allocated, calls: [...]}]}: what there is by
   the way of calls that made it, of itself and with all that it called, and
   what it has ever allocated; of so many ways the 'most' largest, as a tree,
   and of what nobody is known to have made. */
bool tg_view_makers (tg_View *v, uint32_t most, tg_Sink *out);

/* ---- for these files ---- */

/* What a node is called in a row: its class, of functions and the like their
   own name; of a string the text, cut. */
const char *tg_view_called (const tg_View *v, uint32_t node, size_t *size);
void tg_view_name (tg_View *v, uint32_t node, tg_Sink *out);

/* "made_by": [{name, url, line}], innermost first, of a node whose maker is
   known, into an open object. */
void tg_view_maker (tg_View *v, uint32_t node, tg_Sink *out);

/* The same as text, of the innermost calls: "fill app.lua:7 < work app.lua:3";
   nothing if the maker is not known. */
void tg_view_maker_text (const tg_View *v, uint32_t node, tg_Buf *text);

/* "id", "self", "retained" and "path" of a node, into an open object. */
void tg_view_node (tg_View *v, uint32_t node, tg_Sink *out);

#endif
