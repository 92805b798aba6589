/*
** destination.h - where a stream from elsewhere goes, on a client's side: a
** log, a recording, or both.
**
** Made by a Lua object from its arguments: the options of the one trace, the
** style of the log or nil, and the plan of the recording or nil: {path, name,
** program, pid} and, if they are known, the program's {lua, directory}. The
** world failing is an errno.
*/
#ifndef TG_DESTINATION_H
#define TG_DESTINATION_H

#include "binding/lx.h"
#include "options/options.h"
#include "packet/log.h"
#include "recording/filewriter.h"
#include "stream/stream.h"

typedef struct tg_Destination {
  tg_Options options;       /* owns; of the trace */
  tg_Log *log;              /* owns; or NULL */
  tg_FilePlan plan;         /* owns */
  tg_FileWriter *file;      /* owns; or NULL */
  uint32_t noted;           /* number of the trace there */
} tg_Destination;

/* Raises what is wrong with the arguments from 'i' on: options, style, plan. */
void tg_destination_check (lua_State *L, int i);               /* [-0, +0, v] */

/* From now on what is added to 'stream' goes into the recording, if there is to
   be one (the argument at 'i', or nil). False, with errno. */
bool tg_destination_record (tg_Destination *d, lua_State *L, int i,
                            tg_Stream *stream);                /* [-0, +0, m] */

/* The trace in the recording, which 'entry' is but for name and options (the
   plan at 'i'). False: there was no room, no file is left of it; with errno. */
bool tg_destination_note (tg_Destination *d, lua_State *L, int i,
                          tg_TraceEntry *entry);               /* [-0, +0, m] */

/* What samples of another process lack by now, into the recording. */
void tg_destination_misses (tg_Destination *d, const tg_Misses *m);

/* The log (of the style at 'i', or nil) from 'start' on. False, with errno. */
bool tg_destination_show (tg_Destination *d, lua_State *L, int i,
                          tg_Stream *stream, tg_Pos start);    /* [-0, +0, m] */

/* The log shows what there is before 'pos'. */
void tg_destination_pump (tg_Destination *d, tg_Pos pos);

/* The errno of what went wrong so far, or 0. */
int tg_destination_trouble (const tg_Destination *d);

/* Nothing more comes: the log says so, the recording has its end, or none if
   the trace has none (TG_END_NOT). The errno of what went wrong, or 0. Once. */
int tg_destination_finish (tg_Destination *d, const tg_TraceEnd *end);

/* Without 'finish' a recording is one that was cut off. */
void tg_destination_free (tg_Destination *d);

/* Why a trace ended, from the protocol's word for it; one that is not known is
   an end as the client asked for, and "closed" is none: the connection was. */
tg_End tg_destination_end (const char *why);

/* true, or nil, message and code: what a method gives. */
int tg_destination_result (lua_State *L, int error);

#endif
