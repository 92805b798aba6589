/*
** liveprofile.h - where the time of a trace goes that is still running: its
** packets added up by function, as far as they have come.
**
** It reads a stream to its end whenever it is told to, so nothing that was read
** need be kept: memory is that of a profile without a tree (profile/profile.h),
** however long the trace is.
*/
#ifndef TG_LIVEPROFILE_H
#define TG_LIVEPROFILE_H

#include "binding/lx.h"
#include "options/options.h"
#include "client/linesums.h"
#include "profile/profile.h"
#include "stream/stream.h"

typedef struct tg_LiveProfile {
  tg_Reader *reader;        /* owns; NULL: not begun, or no memory */
  tg_Profile profile;       /* owns */
  tg_LineSums lines;        /* owns; beside it */
  tg_Buf room;              /* owns; for names */
  bool sampled;             /* time passes with samples, not with the clock */
  tg_IntMap coroutines;     /* owns; that were seen and have not gone */
  tg_ThreadId latest;       /* the last that was seen */
  uint64_t collections, collecting_ns;  /* cycles of the collector */
} tg_LiveProfile;

/* Of 'stream' from its beginning on, as 'options' narrow it. False without
   memory. */
bool tg_liveprofile_begin (tg_LiveProfile *p, tg_Stream *stream,
                           const tg_Options *options);
void tg_liveprofile_free (tg_LiveProfile *p);   /* zeroed memory is fine */

/* Reads what is before 'end'. False: memory was refused, or events are none. */
bool tg_liveprofile_pump (tg_LiveProfile *p, tg_Pos end);

/*
** Pushes the sums up to 'now_ns', a time of the stream's clock: {time_ms,
** samples, waited_ms, coroutines, functions = {{name, url, line, calls,
** self_ms, total_ms}, ...}}. A function keeps its place in the list. Frames
** that are open count with their time so far.
**   If what is allocated is traced, functions have self_bytes, total_bytes,
** self_allocations, total_allocations and, if the stream tells what is alive,
** self_live_bytes, and there is memory = {total_bytes,
** total_allocations, freed_bytes, heap_bytes, peak_bytes, collections,
** collecting_ms}.
**   'lines': from the first time on that they are asked for, lines = {{name,
** url, line, at, self_ms, total_ms}, ...}, where 'line' is the function's and
** 'at' the one that ran; with what it has allocated since the beginning if that
** is traced: self_bytes, self_allocations, self_live_bytes. The lines of a
** function, 0 among them, have together what it has.
*/
void tg_liveprofile_push (lua_State *L, tg_LiveProfile *p, uint64_t now_ns,
                          bool lines);                         /* [-0, +1, m] */

#endif
