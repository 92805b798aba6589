/*
** probe_frames.c - the half of the proof that needs calls: a hook in the
** probe's state compares each call and return of a small program with what
** lua_getinfo and lua_getlocal say of it. Every pointer is checked before it
** is followed, in the order in which the tracing hook follows them.
**
** Called by proof.c, protected, on the probe's state; an error of Lua's is a
** fault of the proof. What a fault is called here is what the command line
** says when it is asked why memory is not read.
*/
#include <string.h>

#include <lualib.h>

#include "direct/probe.h"

#define ARGUMENT "a string of more than forty bytes, to be sure"

/*
** Each kind of call, with all that may differ in how it stands in memory:
** - functions of fixed parameters, called with too few and too many arguments;
** - 'extra': arguments that hide below the frame (luaT_adjustvarargs), none and
**   several of them;
** - 'tail': a call that takes the place of its caller, with a long string among
**   its constants;
** - 'keep': a closure with upvalues; 'method': a call by name;
** - a coroutine, which has a lua_State of its own; it yields and goes on;
** - C functions, one of them without results, and frames that an error ends.
** Then lines far apart and far down a function, for which the interpreter has a
** second way to tell them.
*/
static const char program[] =
  "local function none () end\n"
  "local function pair (a, b) return b, a end\n"
  "local function extra (x, ...) return select('#', ...), ... end\n"
  "local function tail (a) return pair(a, '" ARGUMENT "') end\n"
  "local up = {}\n"
  "local object = {method = function (self, k) up[k] = self; return k end}\n"
  "local function keep (f) return function (...) return f(up, ...) end end\n"
  "none() pair(1, 2.5) pair({}, pair) extra(1) extra(nil, 2, 'three', {})\n"
  "tail(true) object:method('k') keep(extra)(false, 5)\n"
  "local co = coroutine.wrap(function (a)\n"
  "  none() a = coroutine.yield(pair(a, a)) tail(a) return none()\n"
  "end)\n"
  "co(1) co(2)\n"
#if LUA_VERSION_NUM >= 505
  "local function named (x, ...t) return t[1] end\n"
  "local function packed (x, ...t) up.t = t end\n"
  "named() named(1, 2) packed() packed(1, 2, nil, 3)\n"
#endif
  "pcall(error, {}) pcall(pair, 1) none(select(3, 1, 2))\n";

#define STATEMENTS 40   /* more instructions than are told by steps alone */

/* Consecutive lines, then a line that is 300 further down. */
static void add_lines (luaL_Buffer *b) {
  for (int i = 0; i < STATEMENTS; i++)
    luaL_addstring(b, "none(1, 2)\n");
  for (int i = 0; i < 300; i++)
    luaL_addchar(b, '\n');
  luaL_addstring(b, "none(3) collectgarbage() tail(4)\n");
  for (int i = 0; i < STATEMENTS; i++)
    luaL_addstring(b, "none() none()\n");
}

/* ---- one function ---- */

/* An array of the prototype's; one without elements may have any address. */
static bool inside_list (const tg_Probe *p, const void *proto, size_t at,
                         size_t bytes) {
  return bytes == 0 || tg_probe_inside(p, tg_read_pointer(proto, at), bytes);
}

/* Whether all that may be read of a Lua function is there. Sizes come from the
   same memory: one that is nonsense is too large for the arena. */
static bool readable (const tg_Probe *p, tg_Slot f) {
  if (!tg_probe_inside(p, f.u.p, TG_SIZE_CLOSURE))
    return false;
  const void *proto = tg_function_proto(f);
  const void *source;
  if (!tg_probe_inside(p, proto, TG_SIZE_PROTO))
    return false;
  source = tg_read_pointer(proto, TG_AT_PROTO_SOURCE);
  return tg_probe_inside(p, source, TG_AT_STRING_TEXT + 1)
         && inside_list(p, proto, TG_AT_PROTO_CODE,
                        tg_read32(proto, TG_AT_PROTO_NCODE) * (size_t)4)
         && inside_list(p, proto, TG_AT_PROTO_CONSTANTS,
                        tg_read32(proto, TG_AT_PROTO_NCONSTANTS)
                        * (size_t)TG_SIZE_SLOT)
         && inside_list(p, proto, TG_AT_PROTO_LINES,
                        tg_read32(proto, TG_AT_PROTO_NLINES))
         && inside_list(p, proto, TG_AT_PROTO_ABSOLUTE,
                        tg_read32(proto, TG_AT_PROTO_ABSOLUTES) * (size_t)8)
         && inside_list(p, proto, TG_AT_PROTO_LOCALS,
                        tg_read8(proto, TG_AT_PROTO_PARAMS)
                        * (size_t)TG_SIZE_LOCAL)
         && inside_list(p, proto, TG_AT_PROTO_UPVALUES,
                        tg_read8(f.u.p, TG_AT_CLOSURE_UPVALUES)
                        * (size_t)TG_SIZE_UPVALUE);
}

/* Its name among local variables or upvalues: both begin with the string. */
static bool same_name (const tg_Probe *p, const void *list, size_t at,
                       const char *name) {
  size_t n;
  const void *string = tg_read_pointer(list, at);
  return name != NULL && tg_probe_inside(p, string, TG_AT_STRING_TEXT + 1)
         && strcmp(tg_direct_text(string, &n), name) == 0;
}

/* Names of parameters and upvalues; the function is on top of the stack, from
   where lua_getlocal(L, NULL, n) takes it (manual, lua_getlocal). */
static bool same_names (const tg_Probe *p, lua_State *L, const void *proto,
                        const lua_Debug *ar) {
  tg_assert(lua_isfunction(L, -1));
  const void *locals = tg_read_pointer(proto, TG_AT_PROTO_LOCALS);
  const void *ups = tg_read_pointer(proto, TG_AT_PROTO_UPVALUES);
  bool same = tg_read32(proto, TG_AT_PROTO_NLOCALS) >= ar->nparams;
  for (int i = 0; i < ar->nparams; i++) {
    lua_pushvalue(L, -1);
    same = same && same_name(p, locals, (size_t)i * TG_SIZE_LOCAL,
                             lua_getlocal(L, NULL, i + 1));
    lua_pop(L, 1);
  }
  for (int i = 0; i < ar->nups; i++) {
    same = same && same_name(p, ups, (size_t)i * TG_SIZE_UPVALUE,
                             lua_getupvalue(L, -1, i + 1));
    lua_pop(L, 1);
  }
  return same;
}

/* The very text that lua_getinfo gives: an address, not a copy. */
static bool same_source (const void *proto, const lua_Debug *ar) {
  size_t n;
  const void *source = tg_read_pointer(proto, TG_AT_PROTO_SOURCE);
  return tg_direct_text(source, &n) == ar->source && n == ar->srclen;
}

/* How many instructions there are: the last one returns, from the last line. A
   chunk has its last line elsewhere. */
static bool same_size (const void *proto, const lua_Debug *ar) {
  uint32_t n = tg_read32(proto, TG_AT_PROTO_NLINES);
  return n > 0 && n == tg_read32(proto, TG_AT_PROTO_NCODE)
         && (*ar->what == 'm'
             || tg_proto_line(proto, (int)n - 1) == ar->lastlinedefined);
}

/* The string that the program gives to a call, among a function's constants. */
static void look_for_constant (tg_Probe *p, const void *proto) {
  const uint8_t *constants = tg_read_pointer(proto, TG_AT_PROTO_CONSTANTS);
  uint32_t n = tg_read32(proto, TG_AT_PROTO_NCONSTANTS);
  for (uint32_t i = 0; i < n; i++) {
    tg_Slot k = tg_read_slot(constants, (size_t)i * TG_SIZE_SLOT);
    size_t size;
    if (tg_slot_variant(k) == TG_TAG_LONG
        && tg_probe_inside(p, k.u.p, TG_SIZE_STRING)
        && strcmp(tg_slot_text(k, &size), ARGUMENT) == 0)
      p->seen |= TG_SEEN_CONSTANT;
  }
}

/* What a definition is told by (closures.h): if one of these stood elsewhere, a
   function could be taken for another one. */
static bool same_definition (const void *proto, const lua_Debug *ar) {
  return tg_read32(proto, TG_AT_PROTO_LINE) == (uint32_t)ar->linedefined
         && tg_read32(proto, TG_AT_PROTO_LINE + 4)
            == (uint32_t)ar->lastlinedefined
         && tg_read8(proto, TG_AT_PROTO_PARAMS) == ar->nparams
         && tg_direct_is_vararg(proto) == (ar->isvararg != 0)
         && same_source(proto, ar) && same_size(proto, ar);
}

/* The function of the event's frame, which it leaves on the stack. */
static bool check_function (tg_Probe *p, lua_State *L, lua_Debug *ar) {
  const void *frame = ar->i_ci;
  lua_getinfo(L, "fSu", ar);
  tg_Slot f = tg_frame_function(frame);
  bool same = tg_probe_same(p, L, -1, f)
              && tg_frame_is_c(frame) == (*ar->what == 'C');
  if (same && *ar->what != 'C')
    same = readable(p, f) && same_definition(tg_function_proto(f), ar)
           && same_names(p, L, tg_function_proto(f), ar)
           && tg_read8(f.u.p, TG_AT_CLOSURE_UPVALUES) == ar->nups;
  if (same && *ar->what != 'C')
    look_for_constant(p, tg_function_proto(f));
  return tg_probe_check(p, same, "functions");
}

/* ---- one event ---- */

/* The frame and the one below it, before anything of either is read. There is
   always one below, if only the one that each coroutine has from its making
   (stack_init of lstate.c): so its pointer is followed without a look at
   whether it is NULL. */
static bool check_frame (tg_Probe *p, lua_State *L, const lua_Debug *ar) {
  lua_Debug up;
  const void *frame = ar->i_ci;
  bool nested = lua_getstack(L, 1, &up) == 1;
  if (!tg_probe_inside(p, L, tg_direct_facts.state)
      || frame != tg_direct_running(L)
      || !tg_probe_inside(p, frame, TG_SIZE_FRAME)
      || !tg_probe_inside(p, tg_read_pointer(frame, TG_AT_FRAME_CALLER),
                          TG_SIZE_FRAME)
      || !tg_probe_inside(p, tg_frame_slot(frame), TG_SIZE_SLOT))
    return tg_probe_check(p, false, "frames");
  if (!tg_probe_inside(p, tg_direct_shared(L), 1)
      || tg_direct_shared(L) != tg_direct_shared(p->L))
    return tg_probe_check(p, false, "states");
  return tg_probe_check(p, tg_frame_caller(frame)
                           == (nested ? (const void *)up.i_ci : NULL),
                        "who called");
}

/* The line that the caller is at. A step of 300 lines does not fit the signed
   byte that steps have, so beyond it there is a line that is given outright
   (savelineinfo of lcode.c). */
static void check_site (tg_Probe *p, lua_State *L) {
  lua_Debug up;
  if (!lua_getstack(L, 1, &up))
    return;
  lua_getinfo(L, "Sl", &up);
  const void *caller = up.i_ci;
  bool c = *up.what == 'C';
  if (up.currentline > 300)
    p->seen |= TG_SEEN_FAR_LINE;
  tg_probe_check(p, tg_frame_is_c(caller) == c
                    && (c || tg_frame_line(caller) == up.currentline),
                 "lines");
}

/* As the hook reads arguments: from the function's slot on. */
static tg_Slot slot_of (const void *frame, int i) {
  const uint8_t *base = tg_frame_slot(frame);
  return tg_read_slot(base + (ptrdiff_t)i * TG_SIZE_SLOT, 0);
}

/* Whether the extra arguments of a vararg function that is called are in a
   table, which no function of 5.4 has. */
static bool has_table (lua_State *L, const lua_Debug *ar) {
#if LUA_VERSION_NUM >= 505
  if (lua_getlocal(L, ar, ar->nparams + 1) == NULL)
    return false;
  bool table = lua_istable(L, -1);
  lua_pop(L, 1);
  return table;
#else
  (void)L, (void)ar;
  return false;
#endif
}

/* Where they are, and how many below the function's slot. */
static bool same_extra (lua_State *L, const lua_Debug *ar, int extra) {
  const void *frame = ar->i_ci;
  if (!ar->isvararg)
    return extra == 0;
  if (!tg_direct_hides_extra(tg_function_proto(tg_frame_function(frame))))
    return extra == 0 && has_table(L, ar);
  return tg_frame_extra(frame) == extra && !has_table(L, ar);
}

/* Arguments: fixed ones above the function's slot, extra ones below. The public
   API knows extra ones by negative numbers (manual, lua_getlocal) and does not
   tell how many there are: they are asked for until there is none. */
static void check_arguments (tg_Probe *p, lua_State *L, lua_Debug *ar) {
  const void *frame = ar->i_ci;
  bool c = *ar->what == 'C', same = true;
  int n = c ? lua_gettop(L) : ar->nparams, extra = 0;
  same = tg_direct_top(L, frame) == lua_gettop(L);
  for (int i = 1; i <= n && same; i++)
    same = tg_probe_same(p, L, i, slot_of(frame, i));
  while (!c && lua_getlocal(L, ar, -(extra + 1)) != NULL)
    extra++;
  same = same && (c || same_extra(L, ar, extra));
  for (int i = 0; i < extra && same; i++)
    same = tg_probe_same(p, L, i - extra, slot_of(frame, i - extra));
  lua_pop(L, extra);
  tg_probe_check(p, same, "arguments");
  if (extra > 0)
    p->seen |= TG_SEEN_EXTRA;
}

/* What moves at a return: first slot and number, or that there is nothing. */
static bool same_results (lua_State *L, const lua_Debug *ar) {
  int first = 0, n = tg_direct_moved(L, ar->i_ci, &first);
  return n == ar->ntransfer && (n == 0 || first == ar->ftransfer);
}

/* What moves is in fields that have another use when nothing does; a bit of the
   frame's status tells which it is. */
static void check_results (tg_Probe *p, lua_State *L, lua_Debug *ar) {
  tg_assert(ar->event == LUA_HOOKRET);
  lua_getinfo(L, "r", ar);
  p->seen |= (ar->ntransfer > 0) ? TG_SEEN_RESULTS : TG_SEEN_NO_RESULTS;
  tg_probe_check(p, same_results(L, ar), "results");
}

/* The program is meant to bring every kind of event; that none was left out is
   looked at in the end. */
static void note_event (tg_Probe *p, lua_State *L, const lua_Debug *ar) {
  if (ar->event == LUA_HOOKTAILCALL)
    p->seen |= TG_SEEN_TAIL;
  else if (ar->event == LUA_HOOKCALL)
    p->seen |= (*ar->what == 'C') ? TG_SEEN_C_CALL : TG_SEEN_LUA_CALL;
  if (L != p->L)
    p->seen |= TG_SEEN_COROUTINE;
}

/* The probe's hook. It may push what it likes: the stack is set right again,
   and a probe has room. After a fault it does nothing any more. */
static void compare (lua_State *L, lua_Debug *ar) {
  tg_Probe *p = tg_probe_of(L);
  int top = lua_gettop(L);
  tg_assert(p->arena != NULL && p->used <= p->size);
  if (p->fault != NULL || !check_frame(p, L, ar) || !check_function(p, L, ar))
    return;
  lua_settop(L, top);
  note_event(p, L, ar);
  if (ar->event == LUA_HOOKRET)
    check_results(p, L, ar);
  else {
    check_site(p, L);
    check_arguments(p, L, ar);
  }
  lua_settop(L, top);
}

/* ---- message handlers ---- */

static int handler (lua_State *L) {
  (void)L;
  return 1;
}

/* Whether the field leads to 'expected', a C function; NULL: to none. */
static bool leads_to (tg_Probe *p, lua_State *L, lua_CFunction expected) {
  const uint8_t *stack = tg_read_pointer(L, tg_direct_facts.stack);
  uint64_t at = tg_read64(L, tg_direct_facts.handler);
  if (expected == NULL)
    return at == 0;
  if (at == 0 || at > p->size
      || !tg_probe_inside(p, stack, (size_t)at + TG_SIZE_SLOT))
    return false;
  lua_pushcfunction(L, expected);
  bool same = tg_probe_same(p, L, -1, tg_direct_handler(L));
  lua_pop(L, 1);
  return same;
}

/* Called with a message handler first; then, given true, without one. */
static int look_for_handler (lua_State *L) {
  tg_Probe *p = tg_probe_of(L);
  bool without = lua_toboolean(L, 1);
  tg_probe_check(p, leads_to(p, L, without ? NULL : handler),
                 "message handlers");
  return 0;
}

/* The field is what a protected call has set (luaD_pcall). */
static void check_handlers (tg_Probe *p) {
  lua_State *L = p->L;
  if (!tg_probe_inside(p, L, tg_direct_facts.state)) {
    tg_probe_check(p, false, "message handlers");
    return;
  }
  lua_pushcfunction(L, handler);
  lua_pushcfunction(L, look_for_handler);
  lua_pcall(L, 0, 0, -2);
  lua_pushcfunction(L, look_for_handler);
  lua_pushboolean(L, 1);
  lua_pcall(L, 1, 0, 0);
  lua_pop(L, 1);
}

/* The program is one chunk, so that its own frame has lines that are far apart
   and far down (MAXIWTHABS, luaG_getfuncline). The hook is set on the main
   coroutine only: the one that the program makes inherits it (lua_newthread),
   as the program's own do from ours. */
void tg_probe_frames (tg_Probe *p) {
  lua_State *L = p->L;
  luaL_Buffer b;
  tg_assert(p->fault == NULL && p->seen == 0);
  luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
  luaL_requiref(L, LUA_COLIBNAME, luaopen_coroutine, 1);
  lua_settop(L, 0);
  check_handlers(p);
  luaL_buffinit(L, &b);
  luaL_addlstring(&b, program, sizeof program - 1);
  add_lines(&b);
  luaL_pushresult(&b);
  size_t size;
  const char *text = lua_tolstring(L, -1, &size);
  if (luaL_loadbufferx(L, text, size, "@probe", "t") != LUA_OK)
    lua_error(L);
  lua_sethook(L, compare, LUA_MASKCALL | LUA_MASKRET, 0);
  lua_call(L, 0, 0);
  lua_sethook(L, NULL, 0, 0);
  tg_probe_check(p, p->seen == TG_SEEN_ALL, "a kind of call that never came");
}
