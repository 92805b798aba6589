/*
** search.c - see search.h. Called by the object that Lua has
** (trace/replayobject.c), turn by turn.
*/
#include "replay/search.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

/*
** {==================================================================
** Stops
** ===================================================================
*/

bool tg_stops_function (tg_Stops *s, tg_FunctionId f, unsigned what) {
  if (f == UINT32_MAX
      || (f >= s->size && !tg_grow_zeroed(&s->functions, &s->size, f + 1, 1)))
    return false;
  s->functions[f] |= (uint8_t)what;
  return s->any = true;
}

static uint64_t line_key (tg_FunctionId f, uint32_t line) {
  return (uint64_t)f << 32 | line;
}

bool tg_stops_line (tg_Stops *s, tg_FunctionId f, uint32_t line) {
  return tg_stops_function(s, f, TG_STOP_LINE)
         && tg_intmap_set(&s->lines, line_key(f, line), 0);
}

bool tg_stops_moment (tg_Stops *s, uint64_t moment) {
  if (!tg_grow(&s->moments, &s->cmoments, s->nmoments + 1,
               sizeof *s->moments))
    return false;
  s->moments[s->nmoments++] = moment;
  return s->any = true;
}

void tg_stops_free (tg_Stops *s) {
  tg_free(s->moments);
  tg_free(s->functions);
  tg_intmap_free(&s->lines);
  memset(s, 0, sizeof *s);
}

static unsigned wanted_of (const tg_Stops *s, tg_FunctionId f) {
  return f < s->size ? s->functions[f] : 0;
}

/* The packet before this moment. */
static unsigned at_last (const tg_Stops *s, const tg_Replay *r) {
  const tg_Packet *p = &r->last.packet;
  if (r->first || !tg_replay_is_call(&r->last))
    return 0;
  unsigned which = p->why == TG_WHY_ENTER ? TG_STOP_CALL : TG_STOP_RETURN;
  return wanted_of(s, p->function) & which;
}

/* The one after it; only the first of an event, since a throw has one for each
   frame. */
static unsigned at_coming (const tg_Stops *s, const tg_Replay *r) {
  const tg_Packet *p = &r->coming.packet;
  if (!tg_replay_is_fresh(r))
    return 0;
  if (p->why == TG_WHY_EXCEPTION)
    return s->errors ? TG_STOP_ERROR : 0;
  bool asked = p->why == TG_WHY_ENTER && !p->resumed
               && (wanted_of(s, p->caller) & TG_STOP_LINE) != 0;
  return asked && tg_intmap_find(&s->lines, line_key(p->caller, p->line))
                  != TG_INTMAP_NONE ? TG_STOP_LINE : 0;
}

static unsigned at_moment (const tg_Stops *s, uint64_t moment) {
  uint32_t low = 0, high = s->nmoments;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (s->moments[middle] < moment)
      low = middle + 1;
    else
      high = middle;
  }
  return low < s->nmoments && s->moments[low] == moment ? TG_STOP_MOMENT : 0;
}

unsigned tg_stops_at (const tg_Stops *s, const tg_Replay *r) {
  return at_last(s, r) | at_coming(s, r) | at_moment(s, r->number);
}

/* }================================================================== */

/*
** {==================================================================
** Phases
** ===================================================================
*/

enum {
  NEXT,         /* until something comes in the coroutine */
  SKIP,         /* to the last waypoint at which the call is not over */
  FORWARDS,     /* until the goal, which the move says, or a stop */
  BACKWARDS,    /* the same the other way */
  TRACK,        /* back to the coroutine's own last packet */
  GO,           /* to a moment whose number is known */
  END
};

void tg_search_begin (tg_Search *s, tg_Replay *r, tg_Move move,
                      tg_ThreadId thread, const tg_Stops *stops) {
  *s = (tg_Search){
    .replay = r, .move = move, .thread = thread,
    .stops = stops != NULL && stops->any ? stops : NULL,
    .before = r->number, .piece = r->number, .best = TG_REPLAY_UNKNOWN
  };
  switch (move) {
    case TG_MOVE_IN: case TG_MOVE_ON: s->phase = FORWARDS; break;
    case TG_MOVE_OVER: case TG_MOVE_OUT: s->phase = NEXT; break;
    case TG_MOVE_BACK_OVER: s->phase = TRACK; break;
    case TG_MOVE_BACK_OUT: s->phase = GO; break;
    case TG_MOVE_BACK_IN: case TG_MOVE_BACK: s->phase = BACKWARDS; break;
    case TG_NMOVES: default: tg_unreachable(); break;
  }
  const tg_CallStack *stack = tg_callstacks_find(&r->stacks, thread);
  const tg_CallFrame *top = stack != NULL ? tg_callstack_top(stack) : NULL;
  if (move == TG_MOVE_BACK_OUT)
    s->goal = top != NULL ? top->slot : 0;
  if (move == TG_MOVE_BACK && s->stops == NULL)
    s->before = s->piece = 0;           /* nothing will stop it */
}

static tg_SearchState failed (const tg_Search *s) {
  return s->replay->status == TG_ERR_MEMORY ? TG_SEARCH_FAILED : TG_SEARCH_EDGE;
}

static const tg_CallStack *stack_of (const tg_Search *s) {
  return tg_callstacks_find(&s->replay->stacks, s->thread);
}

/* ---- forwards ---- */

static bool is_done (const tg_Search *s) {
  const tg_Replay *r = s->replay;
  if (s->move == TG_MOVE_ON)
    return false;
  return tg_replay_stands(r)
         && (s->move == TG_MOVE_IN
             || !tg_callstack_has(stack_of(s), s->index, s->slot));
}

/* A candidate that was not accepted may be where the step ends all the same. */
static tg_SearchState forwards (tg_Search *s, uint64_t budget) {
  tg_Replay *r = s->replay;
  if (s->why != 0 && is_done(s))
    return TG_SEARCH_FOUND;
  if (s->move == TG_MOVE_ON && s->stops == NULL
      && r->total != TG_REPLAY_UNKNOWN)
    return tg_replay_go(r, r->total, UINT64_MAX) ? TG_SEARCH_EDGE : failed(s);
  for (; budget > 0; budget--) {
    if (!tg_replay_advance(r))
      return failed(s);
    s->why = s->stops != NULL ? tg_stops_at(s->stops, r) : 0;
    if (s->why != 0)
      return TG_SEARCH_CANDIDATE;
    if (is_done(s))
      return TG_SEARCH_FOUND;
  }
  return TG_SEARCH_GOING;
}

/* What has to be over: the frame itself, or the call that it makes next. */
static bool aim (tg_Search *s) {
  const tg_Replay *r = s->replay;
  const tg_CallStack *stack = stack_of(s);
  bool any = stack != NULL && stack->count > 0;
  s->why = 0;
  if (r->coming.packet.why == TG_WHY_ENTER
      && (s->move == TG_MOVE_OVER || !any)) {
    s->index = any ? stack->open : 0;
    s->slot = r->number;
  }
  else if (any) {
    s->index = stack->count - 1;
    s->slot = stack->frames[s->index].slot;
  }
  return any || r->coming.packet.why == TG_WHY_ENTER;
}

/* Whether it is known now what the frame does next. Its own end always is. */
static bool is_next (const tg_Search *s) {
  const tg_Replay *r = s->replay;
  const tg_CallStack *stack = stack_of(s);
  if (s->move == TG_MOVE_OUT && stack != NULL && stack->count > 0)
    return true;
  return r->coming.packet.thread == s->thread && tg_replay_is_call(&r->coming);
}

/* Nothing of another coroutine, no yield and no resume changes what the
   coroutine's innermost frame is about to do. */
static tg_SearchState next (tg_Search *s, uint64_t budget) {
  tg_Replay *r = s->replay;
  for (; !r->over && !is_next(s); budget--) {
    if (budget == 0)
      return TG_SEARCH_GOING;
    if (!tg_replay_advance(r))
      return failed(s);
    s->why = s->stops != NULL ? tg_stops_at(s->stops, r) : 0;
    if (s->why != 0)
      return TG_SEARCH_CANDIDATE;
  }
  if (r->over || !aim(s))
    return failed(s);
  s->phase = s->stops == NULL ? SKIP : FORWARDS;
  return TG_SEARCH_GOING;
}

static bool is_open_at (const tg_Search *s, const tg_Waypoint *w) {
  const tg_CallStack *stack = tg_callstacks_find(&w->stacks, s->thread);
  return tg_callstack_has(stack, s->index, s->slot);
}

/* The call is open at all waypoints from its beginning up to its end. */
static tg_SearchState skip (tg_Search *s) {
  tg_Replay *r = s->replay;
  const tg_Waypoints *all = &r->ways;
  uint32_t low = (uint32_t)(tg_waypoints_before(all, r->number) - all->list);
  uint32_t first = low, high = all->count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (is_open_at(s, &all->list[middle]))
      low = middle;
    else
      high = middle;
  }
  s->phase = FORWARDS;
  if (low > first && !tg_replay_go(r, all->list[low].number, UINT64_MAX))
    return failed(s);
  return TG_SEARCH_GOING;
}

/* ---- backwards ---- */

static bool is_own (const tg_Search *s) {
  const tg_ReplayPacket *last = &s->replay->last;
  return last->packet.thread == s->thread && tg_replay_is_call(last);
}

/* Where the call began that the coroutine's last packet tells of: before that
   is one step back over. */
static void turn_back (tg_Search *s) {
  s->goal = s->replay->last.frame.slot;
  s->phase = GO;
}

/* Whether this moment is what a step back looks for. Where to stop is asked
   about as candidates, and accepted. */
static bool is_good (const tg_Search *s) {
  if (s->move == TG_MOVE_BACK_OVER)
    return is_own(s);
  return s->move == TG_MOVE_BACK_IN && tg_replay_stands(s->replay);
}

/* The best of a piece is the latest. If nothing was good nothing is left but
   the first moment, which has no packet before it. */
static tg_SearchState end_pieces (tg_Search *s) {
  bool good = s->best != TG_REPLAY_UNKNOWN
              || (s->before == 1 && s->move == TG_MOVE_BACK_IN);
  s->goal = s->best != TG_REPLAY_UNKNOWN ? s->best : 0;
  s->phase = good ? GO : END;
  if (good)
    return TG_SEARCH_GOING;
  return tg_replay_go(s->replay, 0, 1) ? TG_SEARCH_EDGE : TG_SEARCH_FAILED;
}

/* The piece before the one that was read, of the moments behind a waypoint up
   to the other's beginning: its own is not known without the packet before. */
static tg_SearchState next_piece (tg_Search *s) {
  tg_Replay *r = s->replay;
  if (s->best != TG_REPLAY_UNKNOWN || s->before <= 1)
    return end_pieces(s);
  const tg_Waypoint *w = tg_waypoints_before(&r->ways, s->before - 2);
  s->piece = s->before;
  s->before = w->number + 1;
  if (!tg_replay_go(r, s->before, UINT64_MAX))
    return failed(s);
  return TG_SEARCH_CANDIDATE;            /* this one is looked at first */
}

static tg_SearchState look (tg_Search *s) {
  const tg_Replay *r = s->replay;
  s->why = s->stops != NULL && s->move == TG_MOVE_BACK
           ? tg_stops_at(s->stops, r) : 0;
  if (is_good(s))
    s->best = r->number;
  return s->why != 0 ? TG_SEARCH_CANDIDATE : TG_SEARCH_GOING;
}

static tg_SearchState backwards (tg_Search *s, uint64_t budget) {
  tg_Replay *r = s->replay;
  for (; budget > 0; budget--) {
    bool begins = r->number + 1 >= s->piece;
    if (begins) {
      tg_SearchState found = next_piece(s);
      if (found != TG_SEARCH_CANDIDATE)
        return found;
    }
    else if (!tg_replay_advance(r))
      return failed(s);
    if (look(s) == TG_SEARCH_CANDIDATE)
      return TG_SEARCH_CANDIDATE;
  }
  return TG_SEARCH_GOING;
}

/* Mostly the last packet is the coroutine's own. */
static tg_SearchState track (tg_Search *s) {
  if (s->replay->first) {
    s->phase = END;
    return TG_SEARCH_EDGE;
  }
  if (is_own(s))
    turn_back(s);
  else
    s->phase = BACKWARDS;
  return TG_SEARCH_GOING;
}

static tg_SearchState go (tg_Search *s, uint64_t budget) {
  tg_Replay *r = s->replay;
  uint64_t at = r->number;
  if (!tg_replay_go(r, s->goal, budget))
    return r->status == TG_ERR_MEMORY ? TG_SEARCH_FAILED : TG_SEARCH_GOING;
  if (s->move == TG_MOVE_BACK_OVER && s->best == s->goal) {
    s->best = TG_REPLAY_UNKNOWN;        /* the coroutine's own packet */
    turn_back(s);
    return TG_SEARCH_GOING;
  }
  s->phase = END;
  return s->goal == at && at == 0 ? TG_SEARCH_EDGE : TG_SEARCH_FOUND;
}

/* }================================================================== */

/* Backwards the search goes on: a later one may follow in the piece. */
void tg_search_accept (tg_Search *s) {
  if (s->phase == BACKWARDS)
    s->best = s->replay->number;
  else
    s->phase = END;
}

tg_SearchState tg_search_turn (tg_Search *s, uint64_t budget) {
  switch (s->phase) {
    case NEXT: return next(s, budget);
    case SKIP: return skip(s);
    case FORWARDS: return forwards(s, budget);
    case BACKWARDS: return backwards(s, budget);
    case TRACK: return track(s);
    case GO: return go(s, budget);
    case END: default: return TG_SEARCH_FOUND;
  }
}
