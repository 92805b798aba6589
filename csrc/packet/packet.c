/*
** packet.c - enteredFrame, exitedFrame and marker, field by field.
**
** Fields are written in the order in which the specification lists them.
**
** Called by whoever gives packets to a client, a file or the program: on any
** thread, and on Lua's stack by luasink, which may raise. So nothing is held
** here that would have to be freed. A function that nobody defined has no name.
*/
#include "packet/packet.h"

#include "packet/grippool.h"
#include "packet/names.h"
#include "packet/packetmemo.h"
#include "stream/marks.h"

/* What every part of a packet needs. */
typedef struct Writer {
  tg_Sink *out;
  const tg_Packet *p;
  const tg_Functions *functions;
  const tg_Function *f;         /* the frame's; NULL if nobody defined it */
  const tg_Selection *selection;
  tg_Scratch *scratch;
  tg_PacketMemo *memo;          /* NULL: nothing is remembered */
} Writer;

/* Whether the trace asked for this field: types are bits (tracetypes.h). */
static bool wants (const Writer *w, uint32_t type) {
  return (w->selection->types & type) != 0;
}

/* Arguments and results go the same way. */
static void open_grips (const Writer *w, tg_Grips *g) {
  tg_grips_open(g, w->out, w->functions, w->selection, w->scratch,
                w->p->values);
}

/*
** {==================================================================
** Parts that are copied
** ===================================================================
**
** They are whole members behind the packet's first one, so they begin with a
** comma, and to the sink it is as if they had not been there.
*/

/* Writes the part if its text is known. Else '*at' is where it begins. */
static bool put_again (const Writer *w, tg_PacketPart part, tg_FunctionId f,
                       size_t *at) {
  if (w->memo == NULL)
    return false;
  *at = w->memo->json->size;
  return tg_packetmemo_put(w->memo, part, f);
}

/* Of a function that somebody has defined: the others may yet be. */
static void keep (const Writer *w, tg_PacketPart part, tg_FunctionId f,
                  size_t at) {
  if (w->memo != NULL)
    tg_packetmemo_keep(w->memo, part, f, at);
}

/* The same of the packet's values. */
static bool put_values_again (const Writer *w, const tg_TextCache *cache,
                              size_t *at) {
  if (cache == NULL)
    return false;
  *at = w->memo->json->size;
  return tg_textcache_put(cache, w->p->values, w->memo->json);
}

static void keep_values (const Writer *w, tg_TextCache *cache, size_t at) {
  if (cache != NULL)
    tg_textcache_keep(cache, w->p->values, w->memo->json, at);
}

/* }================================================================== */

/*
** {==================================================================
** Fields
** ===================================================================
*/

/* A literal key and its number. */
#define put_count(w, name, v) \
  do { \
    tg_sink_key((w)->out, name); \
    (w)->out->integer((w)->out, (int64_t)(v)); \
  } while (0)

static void put_time (const Writer *w) {
  if (!wants(w, TG_TYPE_TIME))
    return;
  tg_sink_key(w->out, "time");
  w->out->ms(w->out, w->p->time_ns);
}

static void put_depth (const Writer *w) {
  if (wants(w, TG_TYPE_DEPTH))
    put_count(w, "depth", w->p->depth);
}

static void put_thread (const Writer *w) {
  if (wants(w, TG_TYPE_THREAD))
    put_count(w, "thread", w->p->thread);
}

/* Absent when no Lua code called: C has no lines. The caller is named by its
   place and not by its name, which may be that of many. */
static void put_callsite (const Writer *w) {
  const tg_Function *caller = tg_functions_find(w->functions, w->p->caller);
  size_t at = 0;
  if (!wants(w, TG_TYPE_CALLSITE) || caller == NULL)
    return;
  if (put_again(w, TG_PART_CALLSITE, w->p->caller, &at)) {
    w->out->integer(w->out, (int64_t)w->p->line);
    tg_buf_addchar(w->memo->json, '}');
    return;
  }
  tg_sink_key(w->out, "callsite");
  w->out->object(w->out);
  tg_sink_key(w->out, "url");
  tg_sink_string(w->out, &w->scratch->room, caller->url);
  tg_sink_key(w->out, "line");
  keep(w, TG_PART_CALLSITE, w->p->caller, at);
  w->out->integer(w->out, (int64_t)w->p->line);
  w->out->close(w->out);
}

/* Where the function is defined. Also of one that has been shown before: a
   client may have come later. */
static void put_location (const Writer *w) {
  size_t at;
  if (!wants(w, TG_TYPE_LOCATION) || w->f == NULL
      || put_again(w, TG_PART_LOCATION, w->p->function, &at))
    return;
  tg_sink_key(w->out, "location");
  w->out->object(w->out);
  tg_names_place(w->out, &w->scratch->room, w->f);
  w->out->close(w->out);
  keep(w, TG_PART_LOCATION, w->p->function, at);
}

/* Kept only of a function that is defined: an id may be read before its
   definition, and the word for "no name" would stay. */
static void put_name (const Writer *w) {
  size_t at;
  if (!wants(w, TG_TYPE_NAME)
      || put_again(w, TG_PART_NAME, w->p->function, &at))
    return;
  tg_sink_key(w->out, "name");
  tg_names_function(w->out, &w->scratch->room, w->f);
  if (w->f != NULL)
    keep(w, TG_PART_NAME, w->p->function, at);
}

/* The names of the parameters, also where no arguments are recorded. */
static void put_parameters (const Writer *w) {
  size_t at;
  if (!wants(w, TG_TYPE_PARAMETERS) || w->f == NULL
      || put_again(w, TG_PART_PARAMETERS, w->p->function, &at))
    return;
  tg_sink_key(w->out, "parameterNames");
  tg_names_params(w->out, &w->scratch->room, w->f);
  keep(w, TG_PART_PARAMETERS, w->p->function, at);
}

/* The array of values, and a mark if it is not all: a field beside it, since an
   array has no place for one. */
static void put_values (const Writer *w, tg_Grips *g, const tg_Function *f) {
  tg_sink_key(w->out, "values");
  tg_grips_list(g, f);
  if (tg_grips_cut(g)) {
    tg_sink_key(w->out, "truncated");
    w->out->boolean(w->out, true);
  }
}

/* Last: writing the values fills the pool. */
static void put_pool (const Writer *w, tg_Grips *g) {
  tg_sink_key(w->out, "objectPool");
  tg_grippool_write(g);
}

static void put_argument_list (const Writer *w) {
  tg_Grips g;
  tg_TextCache *cache = w->memo != NULL ? &w->memo->arguments : NULL;
  size_t at;
  if (put_values_again(w, cache, &at))
    return;
  tg_sink_key(w->out, "arguments");
  w->out->object(w->out);
  open_grips(w, &g);
  put_values(w, &g, w->f);
  put_pool(w, &g);
  w->out->close(w->out);
  keep_values(w, cache, at);
}

/* Without values there is no field: an empty list would say that there were
   none. */
static void put_arguments (const Writer *w) {
  if (wants(w, TG_TYPE_ARGUMENTS) && w->p->values.data != NULL)
    put_argument_list(w);
}

/* What a frame was left with: one value, or 'values' as well. That none is
   known of an error must be said, since nil can be thrown too. Only results are
   remembered, under one key: errors and yields are rare. */
static void put_completion (const Writer *w, const tg_Word *name) {
  tg_Grips g;
  bool unknown = w->p->why == TG_WHY_EXCEPTION && w->p->values.data == NULL;
  bool returns = w->p->why == TG_WHY_RETURN;
  tg_TextCache *cache = w->memo != NULL && returns ? &w->memo->results : NULL;
  size_t at;
  if (put_values_again(w, cache, &at))
    return;
  w->out->word(w->out, name);
  w->out->object(w->out);
  open_grips(w, &g);
  tg_sink_key(w->out, "value");
  tg_grips_first(&g);
  if (w->p->values.data != NULL && g.count != 1)
    put_values(w, &g, NULL);
  if (unknown) {
    tg_sink_key(w->out, "unknown");
    w->out->boolean(w->out, true);
  }
  put_pool(w, &g);
  w->out->close(w->out);
  keep_values(w, cache, at);
}

/* }================================================================== */

/* Those of the frame that calls, with an entry; of the one that returns, with
   its exit. */
static void put_locals (const Writer *w) {
  tg_Grips g;
  if (!wants(w, TG_TYPE_LOCALS) || w->p->locals.data == NULL)
    return;
  tg_sink_key(w->out, "locals");
  w->out->object(w->out);
  if (w->p->locals_line > 0)
    put_count(w, "line", w->p->locals_line);
  tg_grips_open(&g, w->out, w->functions, w->selection, w->scratch,
                w->p->locals);
  tg_sink_key(w->out, "values");
  tg_grips_named(&g);
  if (tg_grips_cut(&g)) {
    tg_sink_key(w->out, "truncated");
    w->out->boolean(w->out, true);
  }
  put_pool(w, &g);
  w->out->close(w->out);
}

static const tg_Word resumed = TG_WORD("resumed"), tail = TG_WORD("tailCall"),
                     sampled = TG_WORD("sampled");

/* A field that is true, or is not there. */
static void put_flag (const Writer *w, const tg_Word *name) {
  w->out->word(w->out, name);
  w->out->boolean(w->out, true);
}

/* The fields of a call. A frame that is entered again by a resume has its
   arguments in its first packet. */
static void put_entered (const Writer *w) {
  put_name(w);
  put_callsite(w);
  put_time(w);
  put_parameters(w);
  if (!w->p->resumed && !w->p->sampled)
    put_arguments(w);
  put_location(w);
  put_depth(w);
  if (wants(w, TG_TYPE_HITCOUNT) && !w->p->sampled)
    put_count(w, "hitCount", w->p->hits);
  put_thread(w);
  if (w->p->resumed)
    put_flag(w, &resumed);
  if (w->p->sampled)
    put_flag(w, &sampled);
  put_locals(w);
}

/* The specification's words. What ends with its coroutine or with the trace is
   terminated. */
static void put_why (const Writer *w) {
  switch (w->p->why) {
    case TG_WHY_RETURN: tg_sink_member(w->out, "why", "return"); break;
    case TG_WHY_EXCEPTION: tg_sink_member(w->out, "why", "exception"); break;
    case TG_WHY_YIELD: tg_sink_member(w->out, "why", "yield"); break;
    case TG_WHY_ENTER: case TG_WHY_TERMINATED: case TG_WHY_MARK:
    case TG_WHY_TICK: default:
      tg_sink_member(w->out, "why", "terminated");
      break;
  }
}

/* A result that was not recorded is left out; a throw or a yield always has
   its value, if only the fact that it is not known. */
static void put_outcome (const Writer *w) {
  static const tg_Word returned = TG_WORD("return"),
                       thrown = TG_WORD("throw"), yielded = TG_WORD("yield");
  const tg_Packet *p = w->p;
  if (p->why == TG_WHY_RETURN) {
    if (wants(w, TG_TYPE_RETURN) && !p->tail && p->values.data != NULL)
      put_completion(w, &returned);
  }
  else if (p->why == TG_WHY_EXCEPTION && wants(w, TG_TYPE_THROW))
    put_completion(w, &thrown);
  else if (p->why == TG_WHY_YIELD && wants(w, TG_TYPE_YIELD))
    put_completion(w, &yielded);
}

/* Nothing of the frame itself is repeated: the client knows it from its
   entry. */
static void put_exited (const Writer *w) {
  put_why(w);
  put_time(w);
  put_depth(w);
  put_thread(w);
  if (w->p->tail)
    put_flag(w, &tail);
  if (w->p->sampled)
    put_flag(w, &sampled);
  put_outcome(w);
  put_locals(w);
}

/* What a timer's or a counter's marker tells. */
static void put_number (const Writer *w) {
  const tg_Packet *p = w->p;
  if (!p->numbered)
    return;
  if (p->mark == TG_MARK_COUNT)
    put_count(w, "count", p->hits);
  else {
    tg_sink_key(w->out, "duration");
    w->out->ms(w->out, p->hits);
  }
}

/* How much Lua has allocated. */
static void put_memory (const Writer *w) {
  tg_sink_member(w->out, "type", "memory");
  put_time(w);
  put_count(w, "bytes", w->p->hits);
}

/* What was asked of Lua's allocator since the packet before. */
static void put_allocations (const Writer *w) {
  tg_Allocations a = tg_event_allocations(w->p->values);
  tg_sink_member(w->out, "type", "allocations");
  put_time(w);
  put_count(w, "allocations", a.count);
  put_count(w, "allocated", a.allocated);
  put_count(w, "freed", a.freed);
  if (a.heap > 0)
    put_count(w, "bytes", a.heap);
  if (a.above > 0)
    put_count(w, "above", a.above);
  put_depth(w);
  put_thread(w);
}

/* A marker is there for its values, which need no trace type. */
static void put_marker (const Writer *w) {
  tg_sink_member(w->out, "type", "marker");
  tg_sink_key(w->out, "method");
  tg_sink_string(w->out, &w->scratch->room, tg_mark_name(w->p->mark));
  put_callsite(w);
  put_time(w);
  put_argument_list(w);
  put_number(w);
  if (w->p->groups > 0)
    put_count(w, "groups", w->p->groups);
  put_depth(w);
  put_thread(w);
}

static void put_frame (const Writer *w) {
  bool enter = w->p->why == TG_WHY_ENTER;
  if (enter)
    tg_sink_member(w->out, "type", "enteredFrame");
  else
    tg_sink_member(w->out, "type", "exitedFrame");
  put_count(w, "sequence", w->p->sequence);
  if (enter)
    put_entered(w);
  else
    put_exited(w);
}

/* The sequence first of all: it is what a client tells lost packets by. */
void tg_packet_write (tg_Sink *out, const tg_Packet *p, const tg_Stream *stream,
                      const tg_Selection *selection, tg_Scratch *scratch) {
  const tg_Function *f = tg_functions_find(stream->functions, p->function);
  Writer w = {out, p, stream->functions, f, selection, scratch, scratch->memo};
  tg_check(!(p->resumed && p->why != TG_WHY_ENTER) && p->why <= TG_WHY_MARK);
  out->object(out);
  if (p->why == TG_WHY_MARK && p->mark == TG_MARK_HEAP)
    put_memory(&w);
  else if (p->why == TG_WHY_MARK && p->mark == TG_MARK_ALLOCATIONS)
    put_allocations(&w);
  else if (p->why == TG_WHY_MARK)
    put_marker(&w);
  else
    put_frame(&w);
  out->close(out);
}
