/*
** search.h - from one moment to another that is not known by its number: a
** step, or the next or the previous moment at which somebody wants to stop.
**
** A search is taken in turns of so many packets, so whoever is asked for
** something else meanwhile can leave it where it is. A turn ends
**
**     GOING       somewhere between
**     FOUND       at the moment that was looked for
**     CANDIDATE   at one that the stops name: tg_search_accept says that it is
**                 one; without that the search goes on with the next turn
**     EDGE        at the first moment or the last: there is none
**     FAILED      the replay's status says why
**
** Forwards, a search ends where the first candidate is accepted. Backwards,
** pieces of the recording are read forwards, the latest piece first; so a
** candidate that is accepted is only the best so far, and the search says FOUND
** when the piece is read.
**
** A step stays in one coroutine: over a call is to the moment at which the call
** is over, however often the coroutine yields meanwhile, and however many tail
** calls have taken the call's place. Where a call is over is found in the
** replay's waypoints, so ten million calls inside it take no longer than ten;
** unless there are stops, for which all of them have to be looked at.
**
** Plain C, one thread: the replay's.
*/
#ifndef TG_SEARCH_H
#define TG_SEARCH_H

#include "base/base.h"
#include "base/intmap.h"
#include "replay/replay.h"

typedef enum tg_Move {
  TG_MOVE_IN,           /* the next moment at which something can be seen */
  TG_MOVE_OVER,         /* the end of the next call, or of this frame */
  TG_MOVE_OUT,          /* the end of this frame */
  TG_MOVE_ON,           /* the next stop */
  TG_MOVE_BACK_IN,      /* the previous moment, as IN */
  TG_MOVE_BACK_OVER,    /* before the call that has just ended, or before the
                           one that has just begun */
  TG_MOVE_BACK_OUT,     /* before this frame was called */
  TG_MOVE_BACK,         /* the previous stop */
  TG_NMOVES
} tg_Move;

typedef enum tg_SearchState {
  TG_SEARCH_GOING,         /* yet: another turn */
  TG_SEARCH_CANDIDATE,
  TG_SEARCH_FOUND,
  TG_SEARCH_EDGE,
  TG_SEARCH_FAILED
} tg_SearchState;

/* Why a moment is a candidate. */
enum {
  TG_STOP_CALL = 1u << 0,     /* a function was entered */
  TG_STOP_LINE = 1u << 1,     /* a call is about to be made on a line */
  TG_STOP_ERROR = 1u << 2,    /* an error is about to unwind frames */
  TG_STOP_RETURN = 1u << 3,   /* a function was left, however */
  TG_STOP_MOMENT = 1u << 4    /* it is one of those that were named */
};

/* Where to stop. */
typedef struct tg_Stops {
  uint8_t *functions;   /* owns; by id, TG_STOP_*; LINE: a line in it is one */
  uint32_t size;
  tg_IntMap lines;      /* owns; id << 32 | line */
  uint64_t *moments;    /* owns; in order */
  uint32_t nmoments, cmoments;
  bool errors;          /* all of them */
  bool any;             /* there is something to stop at */
} tg_Stops;             /* zeroed memory is none */

/* Also where a function is called or left ('what': TG_STOP_CALL, RETURN), or at
   calls that it makes on a line. False without memory. */
bool tg_stops_function (tg_Stops *s, tg_FunctionId f, unsigned what);
bool tg_stops_line (tg_Stops *s, tg_FunctionId f, uint32_t line);

/* Also at that moment, which comes after those that were named before. */
bool tg_stops_moment (tg_Stops *s, uint64_t moment);

void tg_stops_free (tg_Stops *s);

typedef struct tg_Search {
  tg_Replay *replay;    /* borrows */
  const tg_Stops *stops;  /* borrows; NULL: none */
  tg_Move move;
  unsigned why;         /* of the candidate: TG_STOP_* */
  /* private */
  tg_ThreadId thread;
  int phase;
  uint32_t index;       /* the call that has to be over: its place... */
  uint64_t slot;        /* ...and its slot */
  uint64_t goal;        /* a moment that is known by its number */
  uint64_t before;      /* backwards: moments from here on are looked at */
  uint64_t piece;       /* the piece that is being read ends before it */
  uint64_t best;        /* the latest good one in it; TG_REPLAY_UNKNOWN: none */
} tg_Search;

/* A search from where the replay is, in a coroutine. 'stops' may be NULL. */
void tg_search_begin (tg_Search *s, tg_Replay *r, tg_Move move,
                      tg_ThreadId thread, const tg_Stops *stops);

/* Passes 'budget' moments at most, or a few more. */
tg_SearchState tg_search_turn (tg_Search *s, uint64_t budget);

/* The candidate is one. */
void tg_search_accept (tg_Search *s);

/* Why somebody would stop at this moment: TG_STOP_*; 0: nobody would. */
unsigned tg_stops_at (const tg_Stops *s, const tg_Replay *r);

#endif
