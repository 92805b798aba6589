/*
** receiver.c - entries of a blockstream as they come: definitions, chunks,
** events. Used by lua/tracegrip/cli/attach.lua, on the thread of its state.
**
** The world failing is told as nil, message, code, by each call from then on,
** and nothing is added after it. Half-built objects are fine for __gc: all is
** zeroed first.
**
** What comes is from another process, and may be anything: sizes are bounded,
** numbers must fit what is there (EBADMSG if they do not). Events themselves
** are not looked at here; whoever reads the stream bears events that are none,
** as with a damaged recording.
*/
#include <errno.h>
#include <string.h>

#include "client/receiver.h"
#include "base/bytereader.h"
#include "binding/readoptions.h"
#include "binding/tickingnotes.h"
#include "channel/blockstream.h"
#include "client/destination.h"
#include "client/liveprofile.h"
#include "recording/fileformat.h"
#include "send/livespans.h"
#include "stream/event.h"

#define TG_RECEIVER "tracegrip.Receiver"
#define LOST_SIZE 12u       /* bytes of a LOST event */
#define CHUNK_MAX (UINT64_C(1) << 30)   /* bytes that an event may have */

enum {SELF = 1, STYLE = 1, FILE_PLAN = 2};  /* the latter are user values */

typedef struct Receiver {
  tg_Stream *stream;        /* pins; NULL before it has begun */
  tg_Chunk *chunk;          /* borrows; NULL before the first */
  tg_Cursor held;           /* the first chunk, until it has been read from */
  tg_TraceEnd end;          /* as far as it is known */
  tg_Destination to;        /* owns */
  tg_LiveProfile profile;   /* owns; if the client wants one: */
  bool profiled;
  /* of the process, told last; 0: not yet */
  uint64_t process_ns, processor_ns, threads;
  tg_Zstd zstd;             /* owns; of entries that come packed: */
  tg_Buf unpacked;          /* owns; the latest of them */
  bool unpacking;           /* these are being read */
  tg_LiveSpans spans;       /* owns; if the client wants them */
  int error;                /* what went wrong, or 0 */
  bool finished;
} Receiver;

/* Any method of a receiver that was collected finds zeros, and 'finished'. */
static Receiver *check_receiver (lua_State *L) {
  return luaL_checkudata(L, SELF, TG_RECEIVER);
}

/* The first trouble stays. False. */
static bool fail (Receiver *r, int error) {
  if (r->error == 0)
    r->error = error;
  return false;
}

/* ---- the beginning ---- */

/* The clock of the other side, if it has our byte order. Ticks stay its own:
   they are in the events, and its rate turns them into nanoseconds, here as
   there. A rate beyond 10^12 ns is no clock, and would overflow. */
static bool read_clock (Receiver *r, tg_ByteReader *b, tg_TraceEntry *entry) {
  uint32_t order = tg_take32(b);
  tg_Stream *s = r->stream;
  s->pid = tg_take32(b);
  s->wall_ns = tg_take64(b);
  s->clock.origin = tg_take64(b);
  uint64_t rate = tg_take64(b);
  memcpy(&s->clock.ns_per_tick, &rate, sizeof rate);
  entry->ticks = tg_take64(b);
  entry->packets = tg_take64(b);
  for (int i = 0; i < TG_NCOSTS && b->p < b->end; i++)
    s->costs.ticks[i] = tg_take32(b);     /* an older program tells fewer */
  double ns = s->clock.ns_per_tick;
  return !b->missing && order == TG_FORMAT_ORDER && ns > 0 && ns < 1e12;
}

/* The arguments that were kept for this moment, from index 'i' on. */
static int push_arguments (lua_State *L) {
  int i = lua_absindex(L, -1) + 1;
  luaL_checkstack(L, 8, NULL);
  lua_getiuservalue(L, SELF, STYLE);
  lua_getiuservalue(L, SELF, FILE_PLAN);
  return i;
}

/* The file first, so that all that follows goes there; the note and the log
   when the clock is known. Stream positions begin with this trace. */
static bool begin (lua_State *L, Receiver *r, tg_ByteReader *b) {
  tg_TraceEntry entry = {.start = 0};
  int i = push_arguments(L);
  errno = ENOMEM;
  r->stream = tg_stream_new();
  if (r->stream == NULL)
    return fail(r, ENOMEM);
  if (b != NULL && !read_clock(r, b, &entry))
    return fail(r, EBADMSG);
  if (!tg_destination_record(&r->to, L, i + 1, r->stream)
      || !tg_destination_note(&r->to, L, i + 1, &entry)
      || !tg_destination_show(&r->to, L, i, r->stream, 0))
    return fail(r, errno);
  if (r->profiled
      && !tg_liveprofile_begin(&r->profile, r->stream, &r->to.options))
    return fail(r, ENOMEM);
  if (r->spans.on
      && !tg_livespans_begin(&r->spans, r->stream, &r->to.options))
    return fail(r, ENOMEM);
  r->end.ticks = entry.ticks;
  r->end.packets = entry.packets;
  lua_settop(L, i - 1);
  return true;
}

/* ---- entries ---- */

/* A definition comes before the first event that names it, and definitions come
   in the order of their ids: so the table gives the id that events use. Another
   id means that the stream has lost something. */
static bool read_function (Receiver *r, const tg_Entry *e) {
  tg_Function f;
  tg_FunctionId id;
  tg_Status status = tg_entry_read_function(e, &id, &f);
  if (status != TG_OK)
    return fail(r, status == TG_ERR_MEMORY ? ENOMEM : EBADMSG);
  tg_FunctionId given = tg_functions_add(r->stream->functions, &f);
  if (given == 0)
    tg_function_clear(&f);
  if (given == 0 || given != id)
    return fail(r, given == 0 ? ENOMEM : EBADMSG);
  return true;
}

/* Bytes of events go to the end of the chunk, and are committed with it. */
static bool append (Receiver *r, const uint8_t *data, size_t size) {
  tg_Chunk *c = r->chunk;
  uint32_t used = tg_block_used(c->block);
  tg_assert(used <= c->size - sizeof(tg_Block));
  if (size > c->size - sizeof(tg_Block) - used)
    return fail(r, EBADMSG);
  memcpy(c->block->data + used, data, size);
  tg_block_commit(c->block, c->block->data + used + size);
  return true;
}

/* Before the CONTEXT with which the chunk begins: event.h has it. */
static bool append_lost (Receiver *r, uint64_t lost) {
  uint8_t event[LOST_SIZE];
  tg_put64(tg_put32(event, TG_EV_LOST), lost);
  r->end.lost[TG_LOSS_RING] += lost;
  return append(r, event, sizeof event);
}

/* The errno of a store that has no chunk. */
static int refusal (const Receiver *r) {
  int error = tg_destination_trouble(&r->to);
  return error != 0 ? error : ENOMEM;
}

/* A chunk as it was on the other side: of the same size, so that what is one
   chunk there is one here, and values refer to bytes of their own chunk
   (values.h). 'lost' is what the ring dropped before it. */
static bool read_chunk (Receiver *r, tg_ByteReader *b) {
  uint64_t size = tg_take64(b), packets = tg_take64(b), lost = tg_take64(b);
  if (b->missing || size > CHUNK_MAX)
    return fail(r, EBADMSG);
  size += (lost > 0) ? LOST_SIZE : 0;
  tg_Chunk *c = tg_store_grow(&r->stream->store, (size_t)size, packets);
  if (c == NULL)
    return fail(r, refusal(r));
  if (r->chunk == NULL)
    tg_cursor_place(&r->held, &r->stream->store, c->base);
  r->chunk = c;
  r->end.packets = packets;
  return lost == 0 || append_lost(r, lost);
}

/* As far as it is told: another tracegrip may tell less. */
static bool read_process (Receiver *r, tg_ByteReader *b) {
  uint64_t figures[TG_TICKING_FIGURES] = {0};
  r->process_ns = tg_take64(b);
  r->processor_ns = tg_take64(b);
  r->threads = tg_take64(b);
  for (int i = 0; i < TG_TICKING_FIGURES && b->p < b->end; i++)
    figures[i] = tg_take64(b);
  tg_ticking_set(&r->stream->ticking, figures);
  tg_stream_note_ticking(r->stream);
  return true;
}

/* An older tracegrip tells fewer, a newer one perhaps more. */
static bool read_lacks (Receiver *r, tg_ByteReader *b) {
  for (tg_Lack i = 0; i < TG_NLACKS && b->p < b->end; i++)
    r->end.lost[tg_endreason_lack(i)] = tg_take64(b);
  return true;
}

static bool read_packed (lua_State *L, Receiver *r, const tg_Entry *e);

/* Kinds that are not known are passed over: a newer tracegrip may send more.
   Nothing but a BEGIN may come first, and no second one. NOW says how far the
   other side's clock is while nothing happens: a trace that ends in a sleep
   ends then, and not with its last event. */
static bool read_entry (lua_State *L, Receiver *r, const tg_Entry *e) {
  tg_assert(r->error == 0 && !r->finished);
  tg_ByteReader b = {e->data, e->data + e->size, false};
  if (e->kind == TG_BLOCKENTRY_BEGIN && r->stream == NULL)
    return begin(L, r, &b);
  if (e->kind == TG_BLOCKENTRY_PACKED)
    return read_packed(L, r, e);
  if (r->stream == NULL)
    return fail(r, EBADMSG);
  switch (e->kind) {
    case TG_ENTRY_FUNCTION: return read_function(r, e);
    case TG_BLOCKENTRY_CHUNK: return read_chunk(r, &b);
    case TG_BLOCKENTRY_EVENTS:
      return (r->chunk != NULL) ? append(r, e->data, e->size)
                                : fail(r, EBADMSG);
    case TG_BLOCKENTRY_NOW:
      r->end.ticks = tg_take64(&b);
      return true;
    case TG_BLOCKENTRY_PROCESS: return read_process(r, &b);
    case TG_BLOCKENTRY_LACKS: return read_lacks(r, &b);
    case TG_BLOCKENTRY_BEGIN: return fail(r, EBADMSG);
    default: return true;
  }
}

/* Whole entries; what is left over is no part of one to come, but damage. */
static bool read_entries (lua_State *L, Receiver *r, const uint8_t *p,
                          size_t size) {
  const uint8_t *end = p + size;
  tg_Entry e;
  while (r->error == 0 && !r->finished && tg_entry_next(&p, end, &e)
         && read_entry(L, r, &e))
    continue;
  if (r->error == 0 && !r->finished && p < end)
    fail(r, EBADMSG);
  return r->error == 0;
}

/* What was packed is not packed again: so the depth of this is bounded. The
   receiver has the bytes, since to begin may raise. */
static bool read_packed (lua_State *L, Receiver *r, const tg_Entry *e) {
  size_t size;
  if (r->unpacking)
    return fail(r, EBADMSG);
  uint8_t *bytes = tg_blockstream_unpack(&r->zstd, e->data, e->size, &size);
  if (bytes == NULL)
    return fail(r, errno);
  tg_buf_free(&r->unpacked);
  r->unpacked.data = (char *)bytes;
  r->unpacked.size = r->unpacked.capacity = size;
  r->unpacking = true;
  bool good = read_entries(L, r, bytes, size);
  r->unpacking = false;
  return good;
}

/* ---- methods ---- */

static int result (lua_State *L, const Receiver *r) {
  int error = r->error != 0 ? r->error : tg_destination_trouble(&r->to);
  return tg_destination_result(L, error);
}

/* feed(bytes): whole entries. The client reads them from a frame of the
   connection, which has its length. */
static int receiver_feed (lua_State *L) {
  Receiver *r = check_receiver(L);
  size_t size;
  const uint8_t *p = (const uint8_t *)luaL_checklstring(L, 2, &size);
  lua_settop(L, 2);
  read_entries(L, r, p, size);
  return result(L, r);
}

/* The stream's end: all events that have come. */
static tg_Pos place (const Receiver *r) {
  return r->chunk != NULL ? r->chunk->base + tg_block_used(r->chunk->block)
                          : 0;
}

/* Each reader reads the events that have come. A reader pins the chunk that it
   has come to, but only once it has a place: until all have one, 'held' pins
   the beginning. */
static void pump (Receiver *r) {
  tg_destination_pump(&r->to, place(r));
  if (!tg_liveprofile_pump(&r->profile, place(r)))
    fail(r, r->profile.profile.status == TG_OK ? EINVAL : ENOMEM);
  if (!r->spans.on)
    tg_cursor_drop(&r->held);
}

/* pump(): what has come is written to the log. Apart from feed, so that a burst
   of frames is read from the connection first. */
static int receiver_pump (lua_State *L) {
  Receiver *r = check_receiver(L);
  pump(r);
  return result(L, r);
}

/* profile(lines): the sums so far (liveprofile.h), up to the latest moment that
   the other side has told of. */
static int receiver_profile (lua_State *L) {
  Receiver *r = check_receiver(L);
  luaL_argcheck(L, r->profiled, SELF, "no profile was asked for");
  bool lines = lua_toboolean(L, 2);
  lua_settop(L, SELF);
  pump(r);
  uint64_t now_ns = (r->stream != NULL)
                    ? tg_clock_ns(&r->stream->clock, r->end.ticks) : 0;
  tg_liveprofile_push(L, &r->profile, now_ns, lines);
  return 1;
}

/* request(all): the next request of OTLP and how many spans are in it; nothing,
   if there is none. 'all': also one that is not full. After the end calls that
   are open are given as unfinished. */
static int receiver_request (lua_State *L) {
  Receiver *r = check_receiver(L);
  bool all = lua_toboolean(L, 2);
  tg_Slice request;
  lua_settop(L, SELF);
  r->spans.lost = r->end.lost[TG_LOSS_RING];
  uint32_t n = tg_livespans_next(&r->spans, place(r), all, r->finished,
                                 &request);
  tg_Status status = tg_livespans_status(&r->spans);
  if (r->chunk != NULL)
    tg_cursor_drop(&r->held);
  if (status != TG_OK)
    fail(r, status == TG_ERR_MEMORY ? ENOMEM : EINVAL);
  if (n == 0)
    return 0;
  lua_pushlstring(L, (const char *)request.data, request.size);
  lua_pushinteger(L, (lua_Integer)n);
  return 2;
}

/* finish(why): the last lines of the log, the end of the file. A trace that has
   never begun is an empty one: a user who asked for a recording gets a file. A
   second call reports no failure, since the first has reported it. */
static int receiver_finish (lua_State *L) {
  Receiver *r = check_receiver(L);
  tg_End why = tg_destination_end(luaL_optstring(L, 2, "requested"));
  lua_settop(L, 2);
  if (r->finished)
    return tg_destination_result(L, 0);
  if (r->stream == NULL && r->error == 0)
    begin(L, r, NULL);
  r->finished = true;
  r->end.why = (uint32_t)why;
  r->end.stop = place(r);
  int error = tg_destination_finish(&r->to, &r->end);
  return tg_destination_result(L, r->error != 0 ? r->error : error);
}

/* lost(cause): how much was lost by that cause so far, for the client to tell;
   without one how many events the ring has dropped. */
static int receiver_lost (lua_State *L) {
  const Receiver *r = check_receiver(L);
  const char *cause = luaL_optstring(L, 2,
                                     tg_endreason_loss(TG_LOSS_RING));
  for (int i = 0; i < TG_NLOSSES; i++) {
    if (strcmp(cause, tg_endreason_loss(i)) == 0) {
      lua_pushinteger(L, (lua_Integer)r->end.lost[i]);
      return 1;
    }
  }
  return luaL_argerror(L, 2, "no cause of a loss");
}

/* process(): {time_ms, processor_ms, threads, notes}, as it was told last, by a
   clock of the program's; the notes are about how ticks come (ticking.h).
   Nothing, if it was not told yet. */
static int receiver_process (lua_State *L) {
  const Receiver *r = check_receiver(L);
  if (r->stream == NULL || r->process_ns == 0)
    return 0;
  lua_createtable(L, 0, 4);
  lua_pushnumber(L, (lua_Number)r->process_ns / 1e6);
  lua_setfield(L, -2, "time_ms");
  lua_pushnumber(L, (lua_Number)r->processor_ns / 1e6);
  lua_setfield(L, -2, "processor_ms");
  lx_set_integer(L, "threads", (lua_Integer)r->threads);
  tg_tickingnotes_push(L, &r->stream->ticking);
  lua_setfield(L, -2, "notes");
  return 1;
}

/* undecided(): over how many functions patterns took too long, in the program
   or here: both may have given up on the same ones. */
static int receiver_undecided (lua_State *L) {
  const Receiver *r = check_receiver(L);
  uint64_t here = r->spans.undecided, there = r->end.lost[TG_LOSS_PATTERNS];
  lua_pushinteger(L, (lua_Integer)(here > there ? here : there));
  return 1;
}

/* A state that closes without 'finish' leaves a recording that was cut off. */
static int receiver__gc (lua_State *L) {
  Receiver *r = lua_touserdata(L, 1);
  tg_destination_free(&r->to);  /* its log reads from the stream */
  tg_cursor_drop(&r->held);
  tg_liveprofile_free(&r->profile);
  tg_livespans_free(&r->spans);
  tg_zstd_free(&r->zstd);
  tg_buf_free(&r->unpacked);
  if (r->stream != NULL)
    tg_stream_unpin(r->stream);
  memset(r, 0, sizeof *r);
  r->finished = true;
  return 0;
}

/* Nobody would want to learn of a wrong argument when the trace has begun, so
   they are looked at here. */
int receiver_new (lua_State *L) {
  lua_settop(L, 5);
  tg_destination_check(L, 1);
  Receiver *r = lua_newuserdatauv(L, sizeof *r, 2);
  memset(r, 0, sizeof *r);      /* before __gc can see it */
  tg_options_init(&r->to.options);
  r->profiled = lua_toboolean(L, 4);
  luaL_setmetatable(L, TG_RECEIVER);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, -2, STYLE);
  lua_pushvalue(L, 3);
  lua_setiuservalue(L, -2, FILE_PLAN);
  tg_readoptions(L, 1, NULL, &r->to.options);
  if (!lua_isnil(L, 5))
    tg_livespans_want(&r->spans, L, 5);
  return 1;
}

void tg_receiver_setup (lua_State *L) {
  static const luaL_Reg methods[] = {
    {"feed", receiver_feed},
    {"pump", receiver_pump},
    {"finish", receiver_finish},
    {"lost", receiver_lost},
    {"process", receiver_process},
    {"undecided", receiver_undecided},
    {"profile", receiver_profile},
    {"request", receiver_request},
    {"__gc", receiver__gc},
    {"__close", receiver__gc},
    {"__metatable", NULL},
    {NULL, NULL}
  };
  lx_class(L, TG_RECEIVER, methods);
}
