/* peek.c - see peek.h. What is being looked at belongs to a userdata, so an
   error of Lua's frees it, and lets go of nothing that stands still: that is
   over before a document is made. */
#include "peek/peek.h"

#include <string.h>

#include "binding/luasink.h"
#include "binding/readoptions.h"
#include "dump/document.h"
#include "jit/target.h"
#include "outside/process.h"
#include "text/jsonwriter.h"

#define PEEKING "tracegrip.peeking"

typedef struct Peeking {
  tg_Target target;     /* owns, as all here */
  tg_Dump dump;
  tg_Selection selection;
  tg_Scratch scratch;
  tg_Buf text, words;
} Peeking;

static int peeking__gc (lua_State *L) {
  Peeking *p = lua_touserdata(L, 1);
  tg_dump_free(&p->dump);
  tg_target_close(&p->target);
  tg_selection_clear(&p->selection);
  tg_scratch_free(&p->scratch);
  tg_buf_free(&p->text);
  tg_buf_free(&p->words);
  memset(p, 0, sizeof *p);
  return 0;
}

static int refuse (lua_State *L, const Peeking *p, tg_Refusal refusal) {
  lua_pushnil(L);
  lua_pushlstring(L, p->words.data, p->words.size);
  lua_pushstring(L, tg_target_code(refusal));
  return 3;
}

/* ---- options ---- */

static const char *const own_keys[] = {
  "json", "locals", "upvalues", "all", "noStop", "exe", "sysroot", NULL
};

static bool flag (lua_State *L, const char *key) {
  lua_getfield(L, 2, key);
  bool set = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return set;
}

static void take_options (lua_State *L, Peeking *p, tg_DumpOptions *o) {
  tg_Options *values = tg_readoptions_new(L);
  tg_readoptions(L, 2, own_keys, values);
  if (!tg_selection_add(&p->selection, values))
    luaL_error(L, "not enough memory");
  *o = (tg_DumpOptions){
    .locals = flag(L, "locals"), .upvalues = flag(L, "upvalues"),
    .all = flag(L, "all"), .no_stop = flag(L, "noStop"),
    .selection = &p->selection};
}

/* ---- looking ---- */

static tg_Refusal open_process (Peeking *p, int pid, tg_IdentMemo *memo) {
  tg_Refusal refusal = tg_target_process(&p->target, pid, memo, &p->words);
  return tg_jittarget_prove(&p->target, refusal, &p->words);
}

static tg_Refusal open_core (lua_State *L, Peeking *p) {
  lua_getfield(L, 2, "exe");
  lua_getfield(L, 2, "sysroot");
  tg_Refusal refusal = tg_target_core(&p->target, luaL_checkstring(L, 1),
                                      lua_tostring(L, -2),
                                      lua_tostring(L, -1), &p->words);
  return tg_jittarget_prove(&p->target, refusal, &p->words);
}

static int write_json (lua_State *L, Peeking *p) {
  tg_JsonWriter json;
  tg_jsonwriter_init(&json, &p->text);
  tg_document_write(&p->dump, &json.sink, &p->scratch);
  if (p->text.failed || p->scratch.failed || p->dump.failed)
    return luaL_error(L, "not enough memory");
  lua_pushlstring(L, p->text.data, p->text.size);
  return 1;
}

static int write_tables (lua_State *L, Peeking *p) {
  tg_LuaSink sink;
  tg_luasink_init(&sink, L);
  tg_document_write(&p->dump, &sink.sink, &p->scratch);
  if (p->scratch.failed || p->dump.failed)
    return luaL_error(L, "not enough memory");
  return 1;
}

int peek_dump (lua_State *L) {
  tg_DumpOptions options;
  luaL_checktype(L, 2, LUA_TTABLE);
  Peeking *p = lx_owner(L, sizeof *p, 0, PEEKING, peeking__gc);
  take_options(L, p, &options);
  tg_Refusal refusal = lua_isinteger(L, 1)
                       ? open_process(p, (int)lua_tointeger(L, 1), NULL)
                       : open_core(L, p);
  if (refusal != TG_REFUSED_NOT)
    return refuse(L, p, refusal);
  if (!tg_dump_take(&p->dump, &p->target, &options, &p->words))
    return refuse(L, p, TG_REFUSED_GONE);
  return flag(L, "json") ? write_json(L, p) : write_tables(L, p);
}

/* ---- a glance ---- */

/* Lua code runs, and without a stop nobody knows which. */
static void push_unknown (lua_State *L) {
  lua_newtable(L);
  lx_set_string(L, "name", "(Lua code)");
  lua_setfield(L, -2, "running");
}

static void push_frame (lua_State *L, const tg_Dump *d,
                        const tg_DumpFrame *f) {
  const tg_Function *of = tg_functions_find(d->definitions.functions,
                                            f->function);
  if (of == NULL)
    return;
  lua_newtable(L);
  lx_set_string(L, "name", tg_function_title(of));
  lx_set_string(L, "url", of->is_c ? "[C]" : of->url);
  if (f->line > 0)
    lx_set_integer(L, "line", f->line);
  lua_setfield(L, -2, "running");
}

/* The innermost frame of what runs whose name somebody knows. */
static void push_running (lua_State *L, const tg_Dump *d) {
  for (uint32_t i = 0; i < d->nstates; i++) {
    const tg_DumpThread *t = d->states[i].threads;
    if (d->states[i].nthreads == 0 || t->status != TG_DUMP_RUNNING)
      continue;
    bool unknown = t->above.kind == TG_ABOVE_UNKNOWN;
    if (unknown)
      push_unknown(L);
    else if (t->nframes > 0)
      push_frame(L, d, &t->frames[0]);
    if (unknown || t->nframes > 0)
      return;
  }
}

static void push_glance (lua_State *L, const Peeking *p) {
  char release[TG_TARGET_LUA];
  lua_Integer coroutines = 0, unsure = 0;
  for (uint32_t i = 0; i < p->dump.nstates; i++) {
    const tg_DumpState *s = &p->dump.states[i];
    coroutines += (lua_Integer)s->nthreads + (lua_Integer)s->omitted;
    unsure += (lua_Integer)s->unsure;
  }
  tg_target_lua(&p->target, release);
  lua_newtable(L);
  lx_set_string(L, "lua", release);
  lx_set_integer(L, "states", (lua_Integer)p->dump.nstates);
  if (p->target.found.omitted > 0)
    lx_set_integer(L, "omitted", (lua_Integer)p->target.found.omitted);
  lx_set_integer(L, "coroutines", coroutines);
  if (unsure > 0)
    lx_set_integer(L, "unconfirmed", unsure);
  push_running(L, &p->dump);
}

/* Of a process that may not be looked at the release is known all the same, if
   its files are: the fourth value. */
static int refuse_glance (lua_State *L, const Peeking *p,
                          tg_Refusal refusal) {
  char release[TG_RELEASE_TEXT];
  refuse(L, p, refusal);
  if (p->target.idents.count == 0)
    return 3;
  int first = p->target.idents.list[0];
  tg_sight_release(first, release);
  if (first == TG_IDENT_JIT)
    lua_pushfstring(L, "LuaJIT %s", p->target.idents.jit);
  else
    lua_pushstring(L, release);
  return 4;
}

/* Of this Lua state: a command looks at one process after the other. */
static tg_IdentMemo *memo_of (lua_State *L) {
  static const char key = 0;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key) == LUA_TNIL) {
    memset(lua_newuserdatauv(L, sizeof(tg_IdentMemo), 0), 0,
           sizeof(tg_IdentMemo));
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
    lua_remove(L, -2);
  }
  tg_IdentMemo *memo = lua_touserdata(L, -1);
  lua_pop(L, 1);                /* the registry has it */
  return memo;
}

int peek_glance (lua_State *L) {
  int pid = (int)luaL_checkinteger(L, 1);
  Peeking *p = lx_owner(L, sizeof *p, 0, PEEKING, peeking__gc);
  tg_DumpOptions options = {.no_stop = true, .selection = &p->selection};
  tg_Refusal refusal = open_process(p, pid, memo_of(L));
  if (refusal != TG_REFUSED_NOT)
    return refuse_glance(L, p, refusal);
  if (!tg_dump_take(&p->dump, &p->target, &options, &p->words))
    return refuse(L, p, TG_REFUSED_GONE);
  push_glance(L, p);
  return 1;
}

int peek_cputime (lua_State *L) {
  uint64_t ns = tg_process_cpu((int)luaL_checkinteger(L, 1));
  lua_pushnumber(L, (lua_Number)ns / 1e6);
  return 1;
}

int peek_livingthread (lua_State *L) {
  int task = tg_process_task((int)luaL_checkinteger(L, 1));
  if (task == 0)
    return 0;
  lua_pushinteger(L, task);
  return 1;
}
