/*
** livespans.c - see livespans.h. Used by receiver.c, on the thread of its
** state. The stream comes from another process and may have any bytes: a reader
** bears that, and gives frames that nest.
*/
#include "send/livespans.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "binding/readoptions.h"
#include "options/endreason.h"
#include "text/gzip.h"

#define REQUEST_BYTES ((size_t)1 << 20) /* collectors take 4 MiB and more */

/* ---- what is wanted ---- */

/* The string on top, which is popped; kept until the end. */
static const char *keep_word (tg_LiveSpans *p, lua_State *L) {
  size_t size;
  const char *s = luaL_checklstring(L, -1, &size);
  char *copy = NULL;
  if (tg_grow(&p->words, &p->cwords, p->nwords + 1, sizeof *p->words))
    copy = tg_strdup(s, size);
  if (copy == NULL)
    luaL_error(L, "not enough memory");
  p->words[p->nwords++] = copy;
  lua_pop(L, 1);
  return copy;
}

/* Keys and values stand behind the scope. */
static void keep_resource (tg_LiveSpans *p, lua_State *L, int i) {
  lua_getfield(L, i, "resource");
  luaL_checktype(L, -1, LUA_TTABLE);
  lua_Integer n = (lua_Integer)lua_rawlen(L, -1);
  for (lua_Integer k = 1; k <= n / 2 * 2; k++) {
    lua_rawgeti(L, -1, k);
    keep_word(p, L);
  }
  lua_pop(L, 1);
}

static void about (void *ud, tg_OtlpAttributes *resource) {
  tg_LiveSpans *p = ud;
  for (uint32_t i = 1; i + 1 < p->nwords; i += 2)
    tg_otlp_word(resource, p->words[i], p->words[i + 1]);
  tg_otlpspans_about(resource, p->pid, NULL);
  if (p->lost == 0)
    return;
  tg_buf_clear(&p->missing);
  tg_buf_addfmt(&p->missing, "events lost: %" PRIu64 " (%s)", p->lost,
                tg_endreason_loss(TG_LOSS_RING));
  if (p->missing.failed)
    tg_otlp_word(resource, "tracegrip.missing", "events lost");
  else
    tg_otlp_text(resource, "tracegrip.missing", p->missing.data,
                 p->missing.size);
}

void tg_livespans_want (tg_LiveSpans *p, lua_State *L, int i) {
  luaL_checktype(L, i, LUA_TTABLE);
  lua_getfield(L, i, "encoding");
  bool json = strcmp(luaL_checkstring(L, -1), "json") == 0;
  lua_pop(L, 1);
  lua_getfield(L, i, "gzip");
  p->gzip = lua_toboolean(L, -1);
  lua_pop(L, 1);
  lua_getfield(L, i, "scope");
  const char *scope = keep_word(p, L);
  keep_resource(p, L, i);
  lua_getfield(L, i, "request");
  if (!lua_isnil(L, -1))
    tg_readoptions_patterns(L, "request", &p->requests);
  lua_getfield(L, i, "arguments");
  p->spans.silent = !lua_toboolean(L, -1);
  p->spans.requests = &p->requests;
  lua_pop(L, 2);
  p->batch = (tg_OtlpBatch){
    .encoding = json ? &tg_otlp_json : &tg_otlp_protobuf, .out = &p->out,
    .scope = scope, .about = about, .ud = p, .most = REQUEST_BYTES
  };
  p->on = true;
}

/* ---- spans ---- */

/* In the middle of reading, where a batch may be complete already: so what they
   have left is given later. */
static void note_gone (void *ud, tg_ThreadId thread) {
  tg_LiveSpans *p = ud;
  if (tg_grow(&p->gone, &p->cgone, p->ngone + 1, sizeof *p->gone))
    p->gone[p->ngone++] = thread;
  else
    p->spans.status = TG_ERR_MEMORY;
}

/* Values as they were captured: what limits there are was applied then. */
bool tg_livespans_begin (tg_LiveSpans *p, tg_Stream *stream,
                         const tg_Options *options) {
  tg_assert(p->on && p->reader == NULL);
  if (!tg_selection_add(&p->selection, options))
    return false;
  p->pid = stream->pid;
  p->selection.undecided = &p->undecided;
  p->literal = (tg_LuaLiteral){
    .functions = stream->functions, .selection = &p->selection,
    .limits = {TG_NOLIMIT, TG_NOLIMIT, TG_NOLIMIT, TG_NOLIMIT}
  };
  p->spans.batch = &p->batch;
  p->spans.functions = stream->functions;
  p->spans.literal = &p->literal;
  p->spans.wall_ns = stream->wall_ns;
  p->spans.min_ns = options->min_duration_ns;
  const tg_SpanContext *parent = &options->parent;
  tg_otlpspans_begin(&p->spans, p->pid, parent->id != 0 ? parent : NULL);
  p->reader = tg_reader_new(stream, 0, &p->selection);
  if (p->reader == NULL)
    return false;
  tg_reader_mark(p->reader);
  tg_reader_watch(p->reader, note_gone, p);
  return true;
}

/* Gives a call of a coroutine that is gone; false: all were given. */
static bool give_gone (tg_LiveSpans *p) {
  while (p->ngone > 0) {
    if (tg_otlpspans_drop(&p->spans, p->gone[p->ngone - 1], p->level++))
      return true;
    p->ngone--;
    p->level = 0;
  }
  return false;
}

/* A batch ends by itself when it is full: that shows in what has been written
   and belongs to none. */
static bool is_complete (const tg_LiveSpans *p) {
  return p->batch.count == 0 && p->out.size > 0;
}

/* Up to the end of a batch, or of what there is. */
static void read_on (tg_LiveSpans *p, tg_Pos end, bool over) {
  tg_Packet packet;
  while (!is_complete(p) && p->spans.status == TG_OK) {
    if (give_gone(p))
      continue;
    if (!tg_reader_next(p->reader, end, &packet))
      break;
    tg_otlpspans_add(&p->spans, &packet, false);
  }
  while (over && !is_complete(p)
         && tg_otlpspans_close(&p->spans, tg_reader_time(p->reader)))
    continue;
}

uint32_t tg_livespans_next (tg_LiveSpans *p, tg_Pos end, bool all, bool over,
                            tg_Slice *request) {
  if (p->reader == NULL)
    return 0;
  if (p->batch.count == 0)      /* else it goes on */
    tg_buf_clear(&p->out);
  uint64_t before = p->spans.given - p->batch.count;
  read_on(p, end, over);
  if (all || over)
    tg_otlpbatch_end(&p->batch);
  if (!is_complete(p) || tg_livespans_status(p) != TG_OK)
    return 0;
  tg_buf_clear(&p->packed);
  if (p->gzip && !tg_gzip_pack(p->out.data, p->out.size, &p->packed)) {
    p->spans.status = TG_ERR_MEMORY;
    return 0;
  }
  const tg_Buf *b = p->gzip ? &p->packed : &p->out;
  *request = (tg_Slice){.data = (const uint8_t *)b->data, .size = b->size};
  return (uint32_t)(p->spans.given - before);
}

tg_Status tg_livespans_status (const tg_LiveSpans *p) {
  if (p->reader == NULL)
    return TG_OK;
  if (p->spans.status != TG_OK || p->out.failed)
    return TG_ERR_MEMORY;
  return tg_reader_status(p->reader);
}

void tg_livespans_free (tg_LiveSpans *p) {
  tg_reader_free(p->reader);        /* tells of coroutines no more */
  tg_otlpspans_free(&p->spans);
  tg_otlpbatch_free(&p->batch);
  tg_lualiteral_free(&p->literal);
  tg_selection_clear(&p->selection);
  tg_buf_free(&p->out);
  tg_buf_free(&p->packed);
  tg_buf_free(&p->missing);
  tg_free(p->gone);
  tg_patterns_free(&p->requests);
  for (uint32_t i = 0; i < p->nwords; i++)
    tg_free(p->words[i]);
  tg_free(p->words);
  memset(p, 0, sizeof *p);
}
