/*
** reader.h - from events to frames: the stream as one selection sees it.
**
** A reader walks a stream from a position and gives the frames that the
** protocol speaks of, one at a time, in sequence: a throw, a yield or a resume
** is one event and comes out as one packet for each frame that it closes or
** opens. It keeps a shadow stack per coroutine; frames that were open where
** it started stay silent; filters, depth limit and event limit of its selection
** hide what they must and leave the nesting right. A selection that is narrowed
** gives a part of the same packets, with depths and sequence of their own.
**
** Plain C: any thread, one reader each. It pins the stream, and the chunks
** from its position on (through the cursor).
*/
#ifndef TG_READER_H
#define TG_READER_H

#include "base/base.h"
#include "options/selection.h"
#include "reader/framer.h"
#include "stream/stream.h"

typedef struct tg_Reader tg_Reader;

/*
** A reader of 'stream' from 'from' (the position of a CONTEXT) narrowed by
** 'selection', which it copies. NULL without memory.
*/
tg_Reader *tg_reader_new (tg_Stream *stream, tg_Pos from,
                          const tg_Selection *selection);
void tg_reader_free (tg_Reader *r);

/* Whether it stands between two events: all packets of the one before have been
   given. After an exit that is not known yet. */
bool tg_reader_between (const tg_Reader *r);

/*
** A second reader where 'r' is, between two events. It holds no chunk until it
** is read from. What does not go with it: the watcher, what the reader was
** asked for beside frames, hits, and what was kept of arguments, which a YIELD
** may mean. NULL without memory.
*/
tg_Reader *tg_reader_copy (const tg_Reader *r);

/* A second reader from where 'r' is, which has read nothing yet, without values
   kept for other packets. NULL without memory. */
tg_Reader *tg_reader_again (const tg_Reader *r);

/*
** The next packet before position 'end'. False: there is none now (call again
** when the stream has grown), or the selection's event limit is reached.
*/
bool tg_reader_next (tg_Reader *r, tg_Pos end, tg_Packet *out);

/* Times are given from this moment (ticks) on instead of the stream's 0. */
void tg_reader_time_from (tg_Reader *r, uint64_t ticks);

/* From now on times are those of the program, without what tracing has cost it
   (trueclock.h), if the stream knows the costs. Before anything is read. */
void tg_reader_correct (tg_Reader *r);

/* What tracing has cost is counted from now on, and stays in all times. Before
   anything is read. */
void tg_reader_weigh (tg_Reader *r);

/* From now on this selection: for a client whose traces come and go. */
bool tg_reader_reselect (tg_Reader *r, const tg_Selection *selection);

/*
** The time at which reading began, that of the CONTEXT at 'from' or where a
** ring begins instead; false before the first call of tg_reader_next.
*/
bool tg_reader_begun (const tg_Reader *r, uint64_t *ns);

/* 'gone' is told of suspended coroutines that will not come back, for whoever
   remembers something of each; in time between packets. */
void tg_reader_watch (tg_Reader *r, void (*gone) (void *ud, tg_ThreadId thread),
                      void *ud);

/* 'pace' is called whenever reading has come to another chunk, for whoever
   tells how far it is. */
void tg_reader_pace (tg_Reader *r, void (*pace) (void *ud), void *ud);

/* Markers are given too, between the packets of frames, if the selection has
   their type (TG_TYPE_MARKERS): whoever does not ask knows frames only. */
void tg_reader_mark (tg_Reader *r);

/* With these, the spans in which calls were not seen (TG_MARK_UNTRACED),
   whatever the selection's types. */
void tg_reader_show_windows (tg_Reader *r);

/* The same of allocations that the selection leaves out (TG_MARK_HELD): who
   keeps count of what is alive (profile/live.h) must know what is freed
   there. */
void tg_reader_hold (tg_Reader *r);

/* Whether a sample would show a function of which no frame is open. */
bool tg_reader_shows (tg_Reader *r, tg_FunctionId id);

/* The same of the moments at which samples were taken. */
void tg_reader_tick (tg_Reader *r);

/* TG_OK, or why no more packets will come: memory refused, bytes not events. */
tg_Status tg_reader_status (const tg_Reader *r);

/* With TG_ERR_FORMAT: where in the recording's file the bytes are; 0 if they
   are in none. */
uint64_t tg_reader_damage (const tg_Reader *r);

/* The time that reading has reached. It stands still while the program waits
   for a reader: what is added up from times is the program's own. */
uint64_t tg_reader_time (const tg_Reader *r);

/* For how long calls were not seen, in nanoseconds, as far as has been read
   (marks.h). */
uint64_t tg_reader_untraced (const tg_Reader *r);

/* How long the program has waited for readers, in nanoseconds, as far as has
   been read. */
uint64_t tg_reader_waited (const tg_Reader *r);

/* The time that tracing has taken so far, as far as it is counted. */
uint64_t tg_reader_spent (const tg_Reader *r);

/* The reader's time at a moment 'ns' of the clock, which comes after all events
   that were read. */
uint64_t tg_reader_until (const tg_Reader *r, uint64_t ns);

/* The event that the latest packet is of. */
tg_Pos tg_reader_latest (const tg_Reader *r);

/* Where reading goes on. */
tg_Pos tg_reader_pos (const tg_Reader *r);

/* Where the events end; the reader's own position, if it has no place yet. */
tg_Pos tg_reader_committed (const tg_Reader *r);

/*
** 0; or, if a ring had dropped 'from' before the reader came, the packets that
** the stream had before the place where reading began instead.
*/
uint64_t tg_reader_lost (const tg_Reader *r);

/* Packets that the stream itself says it lacks (LOST in event.h), before the
   latest packet. */
uint64_t tg_reader_missing (const tg_Reader *r);

/* Samples read so far. */
uint64_t tg_reader_samples (const tg_Reader *r);

/* Whether these values of the latest packet stay as long as the chunk that the
   reader is in now; otherwise they stay until the reader's next call. */
bool tg_reader_lasts (const tg_Reader *r, tg_Slice values);

/* Sets 'to' to keep the chunk that the reader is in; the caller drops it. In a
   recording the cursor keeps no later chunk: blocks come and go (store.h). */
void tg_reader_pin (const tg_Reader *r, tg_Cursor *to);

/* Whether the reader is still in the chunk that 'pin' keeps. */
bool tg_reader_within (const tg_Reader *r, const tg_Cursor *pin);

const tg_Stream *tg_reader_stream (const tg_Reader *r);

#endif
