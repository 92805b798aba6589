/*
** export.h - a trace for the viewers that people use: what all formats share.
**
** A format is one file in formats/ with a function that writes a whole
** document, and one line in the table of formats.c. It asks for packets with
** tg_export_next, to the end, and writes to 'out'. docs/contributing.md shows
** how to add one.
**
** What tg_export_next gives is what a viewer can bear: the longest calls, as
** many as 'limit' says (longest.h), and none in frames deeper than 'depth';
** what is left out is counted, and its time is that of the frames around it.
** Frames still open when the trace ends are closed there, marked 'unfinished'.
** So packets always nest and come to an end. Frames that were open when the
** trace began are not seen; a suspended coroutine has no frames (they exit by
** "yield" and are entered again, 'resumed').
**
** Plain C, one thread beside those that read ahead (readahead.h). Memory: open
** frames and functions, never the length of the trace. What must be put
** together out of order goes through a spool.
*/
#ifndef TG_EXPORT_H
#define TG_EXPORT_H

#include <stdatomic.h>

#include "export/longest.h"
#include "export/readahead.h"
#include "packet/grips.h"
#include "packet/lualiteral.h"
#include "packet/textcache.h"
#include "reader/minduration.h"
#include "recording/entries.h"
#include "stream/stream.h"
#include "text/outfile.h"
#include "text/traceparent.h"

/* What stacks are weighted by. */
typedef enum tg_Weight {
  TG_WEIGHT_TIME, TG_WEIGHT_NANOSECONDS, TG_WEIGHT_BYTES,
  TG_WEIGHT_ALLOCATIONS,
  TG_WEIGHT_LIVE, TG_WEIGHT_PEAK_LIVE   /* bytes (profile/live.h) */
} tg_Weight;

#define TG_EXPORT_SAID 32u      /* pairs that a user may say of a program */

/* What the user may choose, beyond the filter. */
typedef struct tg_ExportOptions {
  uint64_t limit;         /* calls; 0 = the format's default */
  uint64_t levels;        /* frames; 0, or more than that: the format's */
  bool samples;           /* chrome: samples on a track of their own too */
  bool sources;           /* firefox: the text of sources, if it is to be had */
  uint32_t gecko;         /* gecko: version, 5 or 36 */
  tg_SpanContext parent;  /* otlp: the span around all; its id may be none */
  const char *resource[2 * TG_EXPORT_SAID];   /* otlp: what the user says of the
                             program, keys and values; borrowed */
  uint32_t nresource;     /* pairs */
  const tg_Patterns *requests;  /* otlp: functions whose calls are requests;
                             borrowed; NULL: none */
  tg_Weight weight;       /* folded: what was allocated, in place of time */
  bool lines;             /* folded: a frame is a function with its line */
} tg_ExportOptions;

/* A frame that is open in the document. */
typedef struct tg_ExportFrame {
  tg_FunctionId function;
  tg_ThreadId thread;
  bool sampled;
  uint64_t opened_ns;
} tg_ExportFrame;

typedef struct tg_Export {
  /* what is exported: all borrowed */
  const char *name;           /* the trace's */
  const tg_Program *program;  /* strings may be NULL */
  const tg_Stream *stream;    /* its functions and its clock */
  const tg_Selection *selection;
  tg_MinDuration *minduration;
  tg_Pos stop;
  uint64_t start_ns, end_ns;  /* of the document, on the packets' scale: from
                                 the first packet, with which the start is
                                 final, to the trace's end, which is final
                                 with the last */
  uint64_t ended_ns;          /* of the trace, by the recording's own clock */
  uint64_t wall_ns;           /* time 0 of that scale since 1970 */
  uint32_t pid;               /* of the program; 0 = not known */
  const char *page;           /* html: with a place for the data */
  const char *directory;      /* in which it began; NULL: not known */
  uint64_t lost[TG_NLOSSES];
  tg_ExportOptions options;
  tg_OutFile *out;
  /* (path, text) of each source that is embedded; may be NULL */
  bool (*source) (void *ud, const char *url, tg_Buf *text);
  void *source_ud;
  /* told now and then which part is done, 0 to 1; false ends the export. May
     be NULL */
  bool (*progress) (void *ud, double part);
  void *progress_ud;
  /* what became of it */
  uint64_t calls;             /* given */
  uint64_t sampled;           /* frames given that samples have shown */
  uint64_t said;              /* markers of the program's, given */
  /* these three once all is read */
  uint64_t left_out;          /* calls beyond the limit... */
  uint64_t shortest_ns;       /* ...each shorter than this */
  uint64_t hidden_ns;         /* time in calls that are left out, here or by a
                                 filter's duration */
  uint64_t folded;            /* calls deeper than 'depth' */
  uint64_t bare;              /* given, but not all of their values: that would
                                 be more text than viewers open */
  uint64_t bytes;             /* before compression; for who closes 'out' */
  tg_Status status;           /* sticky */
  bool aside;                 /* what failed is not 'out', but the file of a
                                 spool */
  _Atomic bool idle;          /* what the work does is not wanted any more */
  /* private */
  tg_ReadAhead ahead;         /* owns */
  tg_Batch *batch;            /* borrows; the packets that come next... */
  uint32_t place;             /* ...from this one on */
  uint64_t batches;           /* so far */
  uint64_t last_ns;           /* of the packet that was read last */
  double counted;             /* part of the work that it was to find the
                                 longest calls */
  uint64_t limit;
  uint32_t depth;
  tg_Longest longest;
  tg_ExportFrame *frames;     /* owns: open ones that are given */
  uint32_t nframes, cframes;
  uint32_t hidden;            /* open ones above that are not */
  tg_LuaLiteral literal;      /* owns */
  tg_TextCache brief;         /* for the format: texts of short values */
  bool marked;                /* the format wants markers */
  bool begun;                 /* the first packet has been read */
  bool ended;                 /* there are no more packets to read */
  bool unfinished;            /* the exit just given is the trace's end */
} tg_Export;

/* A line of the table names the fields that it fills in; others are 0, false
   and NULL. */
typedef struct tg_Format {
  const char *name;
  const char *what;           /* for help: what it is for */
  const char *ending;         /* of file names */
  uint64_t limit;             /* calls that its viewers can bear; 0 = any */
  uint32_t depth;             /* frames, the same */
  bool values;                /* shows arguments and results */
  bool twice;                 /* a call in another coroutine than the main one
                                 is two boxes */
  bool ticks;                 /* a trace of samples alone is written as samples,
                                 without boxes */
  tg_BatchWork *work;         /* writes the part of a batch that needs nothing
                                 else; 'ud' is the export, which it only reads;
                                 NULL: there is no such part */
  tg_Status (*write) (tg_Export *x);
  bool raw;                   /* times are as recorded, unless others are
                                 wanted */
  bool left;                  /* the time of calls beyond the limit is in boxes
                                 of their own, not that of their callers */
} tg_Format;

/* Writes the document; TG_ERR_IO if 'out' has failed. Sets the counts and the
   status in 'x', and frees what 'x' owns. */
tg_Status tg_export_write (tg_Export *x, const tg_Format *format);

/* Asks for markers too, between the packets of frames. To be called before the
   first packet. Ticks of samples: ticks.h. */
void tg_export_mark (tg_Export *x);

/* The same for a format that tells what is alive (tg_reader_hold). */
void tg_export_hold (tg_Export *x);

/* For a format that reads the whole trace once more before its first packet: it
   tells now and then which time it has reached, then that it is done. False
   ends the export. */
bool tg_export_counting (tg_Export *x, uint64_t reached_ns);
void tg_export_counted (tg_Export *x);

/* The first and last moment of a reading that is over, as in a report. */
void tg_export_span (const tg_Export *x, const tg_MinDuration *m,
                     uint64_t *start_ns, uint64_t *end_ns);

/* The next packet; false at the end (or 'status' is not TG_OK). A packet of an
   exit at the trace's end is TG_WHY_TERMINATED with 'unfinished' set. */
bool tg_export_next (tg_Export *x, tg_Packet *p);

/* The next batch of all packets within the limit, as they are; NULL as above.
   Each entry is to be counted in 'calls'. */
tg_Batch *tg_export_batch (tg_Export *x);

/* The number of the frame that the packet just given opens or closes among the
   open ones: 0 = outermost. */
uint32_t tg_export_level (const tg_Export *x, const tg_Packet *p);

/* The frames that are open in the document now, innermost last. */
const tg_ExportFrame *tg_export_frames (const tg_Export *x, uint32_t *n);

/* The main coroutine. Its track, if there is a track for each, is also that of
   the whole program: with all coroutines above whoever resumed them... */
#define TG_EXPORT_MAIN 1u

/* ...but not if the user has asked for one coroutine. */
bool tg_export_whole (const tg_Export *x);

/* ---- words that several formats use ---- */

/* The values of a packet as Lua literals, secrets kept, limits kept. */
void tg_export_values (tg_Export *x, const tg_Packet *p, tg_Buf *out);

/* The label of a timer, or whatever a marker's first value is: a string as it
   is, without quotes. */
void tg_export_label (tg_Export *x, const tg_Packet *p, tg_Buf *out);

/* When a timer began whose end the marker tells, in the document's bounds. */
uint64_t tg_export_began (const tg_Export *x, const tg_Packet *p);

/* A writer of such values for work on a batch, to be freed. */
tg_LuaLiteral tg_export_literal (const tg_Export *x);
void tg_export_literals (const tg_Export *x, tg_LuaLiteral *w,
                         const tg_Packet *p, tg_Buf *out);

/* What the work has written of the packet that was read last. */
tg_Slice tg_export_worked (const tg_Export *x);

/* What is lost, as a sentence; nothing is added if nothing is. */
void tg_export_loss (const tg_Export *x, tg_Buf *out);

/* The same of calls beyond the limit, and how much time they took: "26 calls
   shorter than 1.5 us left out (0.03 ms)". */
void tg_export_left_out (const tg_Export *x, tg_Buf *out);

/* Both, and what was folded in the document so far; nothing is added if nothing
   is missing. */
void tg_export_missing (const tg_Export *x, tg_Buf *out);

/* The same in parentheses, to be put behind a name. */
void tg_export_remarks (const tg_Export *x, tg_Buf *out);

#endif
