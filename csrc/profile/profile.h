/*
** profile.h - where the time of a trace went: packets added up by function
** and, if asked for, by the way that led to it.
**
** Packets nest as one stack over all coroutines. At every moment the innermost
** open frame has the time to itself; with none open it is nobody's ('idle').
** So all self times and the idle time are the duration, to the nanosecond. A
** suspended coroutine has no open frames and so no time.
**
** Functions of one name, url and line are one row, whatever their ids: a chunk
** that was loaded twice. Recursion counts once in a row's total: it runs while
** at least one frame of the row is open.
**
** Where samples are taken, their ticks tell self times. Samples alone: each
** tick is so much processor time of the frames that are open then, and no
** other time passes; what is left of the duration is idle. Samples beside
** calls: bytick.h.
**
** Ticks tell lines as well, if somebody asks (tg_profile_lines): of rows, or of
** a tree in which a node is a function with its line (linetree.h).
**
** How sure a self time is, its 'variance' says: ticks are drawn by chance, and
** what tracing has cost is taken out of times by estimates (TG_BYTICK_DOUBT).
** It is 0 where nothing is estimated.
**
** The time of one call is from its entry to its exit, without the stays of its
** coroutine elsewhere between a yield and the resume. Frames that are open at
** the end are closed there, calls that wait have the time that they had.
**
** Plain C, one thread. Memory: functions, distinct stacks if there is a tree,
** the calls that wait, the deepest stack. No allocation for a packet that
** brings nothing new.
*/
#ifndef TG_PROFILE_H
#define TG_PROFILE_H

#include "base/base.h"
#include "profile/bytick.h"
#include "profile/calltree.h"
#include "profile/funclabels.h"
#include "profile/linetree.h"
#include "profile/usage.h"
#include "reader/moves.h"
#include "reader/reader.h"
#include "reader/suspended.h"
#include "stream/functions.h"

/* A row of the report. */
typedef struct tg_Row {
  tg_Tally tally;
  tg_Ticked ticked;
  uint64_t spent_ns;          /* taken out of 'self_ns': what tracing cost */
  uint64_t min_ns, max_ns;    /* of one call; 0 if there is none */
  uint64_t sum_ns;            /* of all calls */
  uint32_t open;              /* frames on the stack */
  uint64_t since_ns;          /* time at which there were some again */
} tg_Row;

/* A frame on the stack. */
typedef struct tg_Open {
  tg_SuspendedCall call;
  uint64_t opened_ns;
  tg_ThreadId thread;
  uint32_t node;              /* 0 without a tree */
  bool folded;                /* the node is of a frame further out */
  bool pause;                 /* what is allocated is its caller's */
  bool sampled;               /* samples have shown it */
} tg_Open;

/* What is told of lines. */
typedef enum tg_Lined {
  TG_LINED_NOT,
  TG_LINED_ROWS,              /* of each row (lines.h) */
  TG_LINED_TREE               /* a node of the tree is a function with a line:
                                 its row is the number of a spot */
} tg_Lined;

typedef struct tg_Profile {
  tg_Status status;           /* sticky: memory was refused */
  uint64_t events;            /* packets taken, of frames */
  uint64_t duration_ns;       /* these two once it has ended */
  uint64_t idle_ns;           /* time without an open frame; a wait in a call
                                 has a row, TG_FUNCTION_IDLE */
  tg_Row *rows;               /* owns */
  uint32_t nrows, crows;      /* how many, and room for how many */
  tg_CallTree tree;           /* owns */
  tg_Usage usage;             /* owns; what was allocated, if it is 'on' */
  uint32_t levels;            /* of the tree at most: what is deeper is added to
                                 the self time of the frame there */
  uint32_t deepest;           /* frames that were open at a time; with a tree */
  tg_Lined lined;
  tg_Reader *maker_reader;    /* borrows; of samples alone (below), or NULL */
  tg_LineTimes lines;         /* owns; by node where there is a tree, else by
                                 row; of a tree of lines also what they have
                                 allocated */
  tg_LineTimes sites;         /* owns; by row: the calls that were made from its
                                 lines, and what these have allocated */
  tg_Spots spots;             /* owns; rows of the tree's nodes (TG_LINED_TREE):
                                 whose, and the line, in the end that at which
                                 the frame stood */
  /* private */
  bool begun;                 /* there was a packet */
  tg_ByTick bytick;
  tg_FuncLabels labels;       /* owns; numbers as the rows */
  tg_Open *open;              /* owns; innermost last */
  uint32_t nopen, copen;
  tg_Suspended waiting;       /* owns */
  uint64_t first_ns, now_ns;  /* of the first and the latest packet; with
                                 TG_TICKS_ONLY the time that ticks have told */
  uint64_t last_ns;           /* of the latest packet, by the clock */
  uint64_t before_ns;         /* time before the first packet */
  uint64_t spent_ns;          /* by tracing, up to there */
} tg_Profile;

/* An empty one; with a tree or not. False without memory. */
bool tg_profile_init (tg_Profile *p, const tg_Functions *functions, bool tree);
void tg_profile_free (tg_Profile *p);         /* zeroed memory is fine */

/* Ticks are given too (tg_reader_tick): before the first packet. Beside calls
   there is a tree from now on. False without memory. */
bool tg_profile_tick (tg_Profile *p, tg_Ticks ticks);

/* Lines are told too: where ticks are, and of what was allocated. Before the
   first packet. */
void tg_profile_lines (tg_Profile *p, tg_Lined lined);

/*
** 'reader' gives the packets. Of samples alone what is allocated between two of
** them is the function's that the stream names with its line, if the reader
** shows that one, and not that of the frame which the earlier sample has shown:
** so rows are exact. A function that is not the innermost frame's has a frame
** below that for as long as it takes to add it. Before the first packet.
*/
void tg_profile_makers (tg_Profile *p, tg_Reader *reader);

/* Adds a packet, in their order. */
void tg_profile_add (tg_Profile *p, const tg_Packet *packet);

/* Whether it may be given moves in the place of packets (reader/moves.h): it
   adds up calls and times, and nothing else. And so many of them. */
bool tg_profile_takes_moves (const tg_Profile *p);
void tg_profile_add_moves (tg_Profile *p, const tg_FrameMove *list,
                           uint32_t n);

/* A suspended coroutine will not come back ('profile' is a tg_Profile: for
   tg_reader_watch). */
void tg_profile_gone (void *profile, tg_ThreadId thread);

/* There are no more: the trace was from 'start_ns' to 'end_ns'. */
void tg_profile_end (tg_Profile *p, uint64_t start_ns, uint64_t end_ns);

/* The definition that says what a row is called and where it is. */
const tg_Function *tg_profile_function (const tg_Profile *p, uint32_t row);

/* The row of what is no function of the program's, made if there is none:
   TG_FUNCTION_HIDDEN, TG_FUNCTION_IDLE. TG_INTMAP_NONE without memory. */
uint32_t tg_profile_row (tg_Profile *p, tg_FunctionId id);

/* The node of the innermost open frame, 0 if there is none. With a tree. */
TG_INLINE uint32_t tg_profile_node (const tg_Profile *p) {
  return p->nopen > 0 ? p->open[p->nopen - 1].node : 0;
}

#endif
