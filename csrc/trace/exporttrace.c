/*
** exporttrace.c - trace:export: options from Lua, the export itself (export.h),
** its result as a table. On the thread that runs the state; the export may use
** others (readahead.h). Wrong options raise before the file is opened; what the
** world refuses is nil, message, errno.
**
** The arguments stand at fixed places of the stack while the export runs: 1 the
** Trace, 2 the format, 3 the path, 4 the options, 5 the reading, which pins the
** Trace, 6 the function that is told of progress, 7 the page of an HTML
** document. Nothing else of Lua is used until the file is closed.
*/
#include <errno.h>
#include <string.h>

#include "trace/exporttrace.h"
#include "binding/optionvalue.h"
#include "binding/readoptions.h"
#include "export/export.h"
#include "export/ticks.h"
#include "formats/formats.h"
#include "session/traceinfo.h"
#include "text/spool.h"
#include "trace/readtrace.h"
#include "trace/trace.h"

/* Raises for a name that is none. The error names all formats there are: the
   table is their one list (formats.c). */
static const tg_Format *check_format (lua_State *L, int i) {
  const char *name = luaL_checkstring(L, i);
  luaL_Buffer known;
  for (const tg_Format *f = tg_formats; f->name != NULL; f++) {
    if (strcmp(f->name, name) == 0)
      return f;
  }
  luaL_buffinit(L, &known);
  for (const tg_Format *f = tg_formats; f->name != NULL; f++) {
    luaL_addchar(&known, ' ');
    luaL_addstring(&known, f->name);
  }
  luaL_pushresult(&known);
  luaL_error(L, "unknown format '%s' (known:%s)", name, lua_tostring(L, -1));
  return NULL;
}

/* Options of an export beside those of the filter. */
static const char *const own_keys[] = {
  "limit", "levels", "lines", "samples", "sources", "geckoVersion",
  "traceparent", "resource", "request", "weight", "progress", NULL
};

/* 0 stands for: not given. So a limit of 0 is the format's own, and nobody can
   ask for a document without calls, which no viewer opens. */
static uint64_t read_count (lua_State *L, const char *key) {
  int ok = 1;
  lua_getfield(L, 4, key);
  lua_Integer n = lua_isnil(L, -1) ? 0 : lua_tointegerx(L, -1, &ok);
  if (!ok || n < 0)
    luaL_error(L, "option '%s': a count expected, got %s", key,
               luaL_tolstring(L, -1, NULL));
  lua_pop(L, 1);
  return (uint64_t)n;
}

/* Only true and false: a flag that is given as 1 or "yes" is a mistake that
   would go unnoticed. */
static bool read_flag (lua_State *L, const char *key) {
  lua_getfield(L, 4, key);
  if (!lua_isnil(L, -1) && !lua_isboolean(L, -1))
    luaL_error(L, "option '%s': a boolean expected, got %s", key,
               luaL_typename(L, -1));
  bool b = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return b;
}

/* The parent that the trace got when it began, unless the export names
   another. */
static tg_SpanContext read_parent (lua_State *L, const tg_Trace *t) {
  tg_SpanContext parent = t->options.parent;
  lua_getfield(L, 4, "traceparent");
  tg_optionvalue_parent(L, -1, &parent);
  lua_pop(L, 1);
  return parent;
}

/* A string without zero bytes, which would end it for C: number 'i' of the list
   on top, which holds it while the export runs. Only a value may be empty. */
static const char *read_said (lua_State *L, lua_Integer i) {
  size_t size = 0;
  bool is_string = lua_rawgeti(L, -1, i) == LUA_TSTRING;
  const char *s = is_string ? lua_tolstring(L, -1, &size) : NULL;
  if (s == NULL || strlen(s) != size || (size == 0 && i % 2 != 0))
    luaL_error(L, "option 'resource': a list of keys and values expected, "
               "got %s as number %d", luaL_tolstring(L, -1, NULL), (int)i);
  lua_pop(L, 1);
  return s;
}

static void read_resource (lua_State *L, tg_ExportOptions *o) {
  int type = lua_getfield(L, 4, "resource");
  size_t n = type == LUA_TTABLE ? (size_t)lua_rawlen(L, -1) : 0;
  if ((type != LUA_TTABLE && type != LUA_TNIL) || n % 2 != 0
      || n > 2 * TG_EXPORT_SAID)
    luaL_error(L, "option 'resource': a list of keys and values expected, "
               "%d of each at most", (int)TG_EXPORT_SAID);
  for (size_t i = 0; i < n; i++)
    o->resource[i] = read_said(L, (lua_Integer)i + 1);
  o->nresource = (uint32_t)(n / 2);
  lua_pop(L, 1);
}

/* Pushes a userdata, which owns the patterns while the export runs. */
static void read_requests (lua_State *L, tg_ExportOptions *o) {
  if (!lua_istable(L, 4))
    return;
  tg_Options *owner = tg_readoptions_new(L);
  lua_getfield(L, 4, "request");
  if (!lua_isnil(L, -1))
    tg_readoptions_patterns(L, "request", &owner->include);
  lua_pop(L, 1);
  o->requests = &owner->include;
}

/* In the order of tg_Weight. */
static const char *const weights[] = {
  "time", "nanoseconds", "bytes", "allocations", "live", "peak-live", NULL
};

static tg_Weight read_weight (lua_State *L) {
  lua_getfield(L, 4, "weight");
  const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
  int i = 0;
  while (weights[i] != NULL && strcmp(weights[i], name) != 0)
    i++;
  if (weights[i] == NULL && !lua_isnil(L, -1))
    luaL_error(L, "option 'weight': \"time\", \"nanoseconds\", \"bytes\", "
                  "\"allocations\", \"live\" or \"peak-live\" expected, "
                  "got %s",
                  luaL_tolstring(L, -1, NULL));
  lua_pop(L, 1);
  return weights[i] == NULL ? TG_WEIGHT_TIME : (tg_Weight)i;
}

/* Whether the trace has recorded what the weight counts. */
static bool has_weight (const tg_Trace *t, tg_Weight weight) {
  return weight < TG_WEIGHT_BYTES
         || (t->options.types & TG_TYPE_ALLOCATIONS) != 0;
}

/* nil, message, code, and no error: the weight is valid, but the recording does
   not have it. */
static int lacks_weight (lua_State *L, tg_Weight weight) {
  luaL_pushfail(L);
  lua_pushfstring(L, "weight '%s': the recording does not tell what was "
                  "allocated (record --memory)", weights[weight]);
  lua_pushinteger(L, ENODATA);
  return 3;
}

/* Samples tell of the lines of times, and what was allocated of its own. */
static bool has_lines (const tg_Trace *t, tg_Weight weight) {
  return t->options.sample > 0 || weight >= TG_WEIGHT_BYTES;
}

static int lacks_lines (lua_State *L) {
  luaL_pushfail(L);
  lua_pushliteral(L, "option 'lines': the recording has no samples, which tell "
                     "of lines (record --sample 1000)");
  lua_pushinteger(L, ENODATA);
  return 3;
}

/* By lua_getfield and not raw, unlike the filter's options: the command line
   and programs give plain tables, and tg_readtrace_new, which follows, checks
   the keys raw. */
static void read_options (lua_State *L, const tg_Trace *t,
                          tg_ExportOptions *o) {
  memset(o, 0, sizeof *o);
  o->gecko = 36;        /* the newest that can be written; see gecko.c */
  o->parent = t->options.parent;
  if (!lua_istable(L, 4))
    return;
  o->limit = read_count(L, "limit");
  o->levels = read_count(L, "levels");
  o->parent = read_parent(L, t);
  read_resource(L, o);
  o->samples = read_flag(L, "samples");
  o->sources = read_flag(L, "sources");
  o->weight = read_weight(L);
  o->lines = read_flag(L, "lines");
  uint64_t version = read_count(L, "geckoVersion");
  if (version != 0 && version != 5 && version != 36)
    luaL_error(L, "option 'geckoVersion': 5 or 36 expected, got %d",
               (int)version);
  if (version != 0)
    o->gecko = (uint32_t)version;
}

/* What calls the option 'progress', at index 6, and keeps what it raises:
   nothing may be raised through the export. */
typedef struct Teller {
  lua_State *L;
  bool raised;            /* the error is on top */
} Teller;

/* False ends the export; the error stays on the stack until the file is
   closed. */
static bool tell (void *ud, double part) {
  Teller *teller = ud;
  lua_pushvalue(teller->L, 6);
  lua_pushnumber(teller->L, part);
  teller->raised = lua_pcall(teller->L, 1, 0, 0) != LUA_OK;
  return !teller->raised;
}

/* Pushes the option 'progress' to index 6. At a fixed index, where 'tell'
   finds it: the export keeps nothing of Lua. */
static void read_progress (lua_State *L, Teller *teller, tg_Export *x) {
  *teller = (Teller){.L = L};
  luaL_checkstack(L, 8, NULL);
  lua_settop(L, 5);
  lua_pushnil(L);
  if (!lua_istable(L, 4))
    return;
  lua_getfield(L, 4, "progress");
  lua_replace(L, 6);
  if (lua_isnil(L, 6))
    return;
  if (!lua_isfunction(L, 6))
    luaL_error(L, "option 'progress': a function expected, got %s",
               luaL_typename(L, 6));
  x->progress = tell;
  x->progress_ud = teller;
}

/* Pushes the page of format html, a module of ours, to index 7; nil for others.
   Raises what 'require' raises, which is not asked for a module that is there:
   a program may have put something else in its place. */
static void read_page (lua_State *L, const tg_Format *format, tg_Export *x) {
  tg_assert(lua_gettop(L) == 6);
  if (format->write != tg_format_html) {
    lua_pushnil(L);
    return;
  }
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, "tracegrip.htmlpage");
  lua_remove(L, -2);
  if (lua_isnil(L, -1)) {
    lua_getglobal(L, "require");
    lua_replace(L, 7);
    lua_pushliteral(L, "tracegrip.htmlpage");
    lua_call(L, 1, 1);
  }
  x->page = luaL_checkstring(L, 7);
}

/* 'depth' and 'limit' are those of the format, and absent where there is none:
   the command line tells of what was left out only where something can be. */
static void push_result (lua_State *L, const tg_Export *x,
                         const tg_Format *f) {
  lua_createtable(L, 0, 10);
  lx_set_number(L, "start_ms", (lua_Number)x->start_ns / 1e6);
  lx_set_integer(L, "calls", (lua_Integer)x->calls);
  if (tg_ticks_any(x))
    lx_set_integer(L, "samples", (lua_Integer)tg_ticks_taken(x));
  if (x->said > 0)
    lx_set_integer(L, "markers", (lua_Integer)x->said);
  lx_set_integer(L, "leftOut", (lua_Integer)x->left_out);
  if (x->left_out > 0) {
    lx_set_number(L, "leftOut_ms", (lua_Number)x->hidden_ns / 1e6);
    if (x->shortest_ns != UINT64_MAX)
      lx_set_number(L, "shortest_ms", (lua_Number)x->shortest_ns / 1e6);
  }
  lx_set_integer(L, "folded", (lua_Integer)x->folded);
  lx_set_integer(L, "withoutValues", (lua_Integer)x->bare);
  lx_set_integer(L, "bytes", (lua_Integer)x->bytes);
  if (f->depth > 0)
    lx_set_integer(L, "depth", x->depth);
  if (x->limit > 0)
    lx_set_integer(L, "limit", (lua_Integer)x->limit);
}

/* Writes it. Nothing may raise while the output is open: it is on the C stack,
   and an error would go past it and leave the file open. The format's own errno
   wins over that of closing: it came first, and tells more. */
static tg_Status write (tg_Export *x, const tg_Format *format,
                        const char *path) {
  tg_OutFile out;
  if (!tg_outfile_open(&out, path))
    return TG_ERR_IO;
  x->out = &out;
  tg_Status status = tg_export_write(x, format);
  int error = out.error != 0 ? out.error : errno;
  bool closed = tg_outfile_close(&out);
  x->bytes = out.bytes;
  x->out = NULL;
  if (!closed && status == TG_OK)
    return TG_ERR_IO;
  if (status != TG_OK)
    errno = error;
  return status;
}

/* What is exported: the reading's packets, and what the trace knows of itself.
   All of it is borrowed; the Trace is on the stack. */
static void describe (tg_Export *x, tg_Trace *t, tg_ReadTrace *r) {
  static const tg_Program unknown;
  x->name = t->name;
  x->program = t->recorded.program != NULL ? t->recorded.program : &unknown;
  x->stream = t->stream;
  x->source = tg_stream_source;
  x->source_ud = t->stream;
  x->selection = &r->selection;
  x->minduration = &r->minduration;
  x->stop = r->stop;
  x->wall_ns = t->stream->wall_ns;
  x->pid = t->stream->pid;
  x->directory = t->stream->directory;
  tg_readtrace_span(r, t, &x->start_ns, &x->end_ns);
  x->ended_ns = tg_readtrace_ends(t);
  tg_traceinfo_losses(t, x->lost);
}

/* A message of the output names the path, or the directory for spools if it is
   that which is full. Damage is no failure: the document has what comes before
   it. */
int trace_export (lua_State *L) {
  tg_Trace *t = tg_readtrace_check(L);
  const tg_Format *format = check_format(L, 2);
  const char *path = lx_checkword(L, 3);
  tg_Export x = {0};
  Teller teller;
  lua_settop(L, 4);
  read_options(L, t, &x.options);
  if (!has_weight(t, x.options.weight))
    return lacks_weight(L, x.options.weight);
  if (x.options.lines && !has_lines(t, x.options.weight))
    return lacks_lines(L);
  tg_ReadTrace *r = tg_readtrace_new(L, 4, own_keys, TG_TYPES_ALL);
  tg_readtrace_times(r, format->raw ? TG_TIMES_RAW : TG_TIMES_TRUE);
  describe(&x, t, r);
  read_progress(L, &teller, &x);
  read_page(L, format, &x);
  read_requests(L, &x.options);
  tg_Status status = write(&x, format, path);
  tg_assert(x.out == NULL && lua_gettop(L) >= 7);
  if (teller.raised)
    return lua_error(L);
  if (status == TG_OK && (errno = tg_readtrace_error(r)) != 0)
    status = TG_ERR_IO;
  if (status != TG_OK) {
    errno = status == TG_ERR_MEMORY ? ENOMEM : errno;
    return lx_failure(L, x.aside ? tg_spool_directory() : path);
  }
  push_result(L, &x, format);
  return 1;
}

/* What "export --help" lists, and what 'to' may be, comes from the one table
   (formats.h). */
int export_formats (lua_State *L) {
  lua_newtable(L);
  for (const tg_Format *f = tg_formats; f->name != NULL; f++) {
    lua_createtable(L, 0, 6);
    lx_set_string(L, "name", f->name);
    lx_set_string(L, "what", f->what);
    lx_set_string(L, "ending", f->ending);
    lx_set_integer(L, "limit", (lua_Integer)f->limit);
    lx_set_integer(L, "depth", f->depth);
    lua_pushboolean(L, f->raw);
    lua_setfield(L, -2, "raw");
    lua_rawseti(L, -2, (lua_Integer)(f - tg_formats) + 1);
  }
  return 1;
}
