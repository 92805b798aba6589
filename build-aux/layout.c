/*
** layout.c - prints where things stand in memory in the release of Lua whose
** headers it is compiled with (layouts.sh): a line for each row of
** csrc/layout/rows.h, with the name, the value, and what it is. "-": the
** release has no such thing.
**
** AT_: bytes from an object's beginning. SIZE_: bytes. Others are values.
*/
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LUA_CORE
#include "lua.h"
#include "lobject.h"
#include "lfunc.h"
#include "lgc.h"
#include "lopcodes.h"
#include "lstate.h"
#include "ltable.h"

static void row (const char *name, long value, const char *what) {
  if (value < 0)
    printf("%s\t-\t%s\n", name, what);
  else
    printf("%s\t%ld\t%s\n", name, value, what);
}

static void at_state (void) {
  row("SIZE_STATE", sizeof(lua_State), "lua_State");
  row("AT_STATE_TOP", offsetof(lua_State, top), "the first free slot");
  row("AT_STATE_SHARED", offsetof(lua_State, l_G), "global_State");
  row("AT_STATE_FRAME", offsetof(lua_State, ci), "the frame that runs");
  row("AT_STATE_STACK", offsetof(lua_State, stack), "the first slot");
  row("AT_STATE_HANDLER", offsetof(lua_State, errfunc),
      "a message handler's place");
  row("AT_STATE_JUMP", offsetof(lua_State, errorJmp),
      "innermost protected call");
  row("AT_STATE_ALLOWS", offsetof(lua_State, allowhook),
      "0: a hook runs");
  row("AT_STATE_HOOK", offsetof(lua_State, hook), "its hook,");
  row("AT_STATE_MASK", offsetof(lua_State, hookmask), "for which events,");
  row("AT_STATE_COUNTS", offsetof(lua_State, basehookcount),
      "after how many steps;");
  row("AT_STATE_COUNTED", offsetof(lua_State, hookcount),
      "steps that are left");
#if LUA_VERSION_NUM >= 505
  row("AT_STATE_FIRST", offsetof(lua_State, transferinfo.ftransfer),
      "at hooks: from which slot");
  row("AT_STATE_COUNT", offsetof(lua_State, transferinfo.ntransfer),
      "how many values move");
#else
  row("AT_STATE_FIRST", -1, "at hooks: from which slot");
  row("AT_STATE_COUNT", -1, "how many values move");
#endif
}

static void at_shared (void) {
  row("AT_SHARED_OBJECTS", offsetof(global_State, allgc),
      "global_State: all objects");
  row("AT_SHARED_COLOUR", offsetof(global_State, currentwhite),
      "collector: its white,");
  row("AT_SHARED_WORK", offsetof(global_State, gcstate), "what it does,");
  row("AT_SHARED_MODE", offsetof(global_State, gckind),
      "0: by steps; and whether");
#if LUA_VERSION_NUM >= 505 || LUA_VERSION_RELEASE_NUM >= 50404
  row("AT_SHARED_STEP", offsetof(global_State, gcstopem),
      "a step is under way");
#else
  row("AT_SHARED_STEP", -1, "a step is under way");
#endif
  row("COLLECTOR_MARKS", GCSpropagate, "in generations: it rests");
  row("COLLECTOR_ATOMIC", GCSatomic, "in one piece");
  row("COLLECTOR_FINISHED", GCScallfin, "finalizers are to come");
  row("COLLECTOR_RESTS", GCSpause, "");
}

static void at_frame (void) {
  row("SIZE_FRAME", sizeof(CallInfo), "CallInfo");
  row("AT_FRAME_FUNCTION", offsetof(CallInfo, func), "the function's slot");
  row("AT_FRAME_CALLER", offsetof(CallInfo, previous), "the frame below");
  row("AT_FRAME_NEXT", offsetof(CallInfo, u.l.savedpc),
      "the next instruction");
  row("AT_FRAME_TRAP", offsetof(CallInfo, u.l.trap),
      "it looks for hooks");
  row("AT_FRAME_EXTRA", offsetof(CallInfo, u.l.nextraargs),
      "how many extra arguments");
  row("AT_FRAME_STATUS", offsetof(CallInfo, callstatus), "bits:");
  row("STATUS_C", CIST_C, "bit: a C function,");
  row("STATUS_HOOKED", CIST_HOOKED, "bit: its hook runs,");
#if LUA_VERSION_NUM >= 505
  row("STATUS_MOVES", -1, "bit: values move:");
  row("AT_FRAME_FIRST", -1, "from which slot,");
  row("AT_FRAME_COUNT", -1, "how many");
#else
  row("STATUS_MOVES", CIST_TRAN, "bit: values move:");
  row("AT_FRAME_FIRST", offsetof(CallInfo, u2.transferinfo.ftransfer),
      "from which slot,");
  row("AT_FRAME_COUNT", offsetof(CallInfo, u2.transferinfo.ntransfer),
      "how many");
#endif
}

static void at_function (void) {
  row("AT_CLOSURE_UPVALUES", offsetof(CClosure, nupvalues), "how many");
  row("AT_CLOSURE_FUNCTION", offsetof(LClosure, p), "prototype or C function");
  row("AT_CLOSURE_VALUES", offsetof(CClosure, upvalue), "C function: upvalues");
  row("SIZE_CLOSURE", offsetof(CClosure, upvalue), "a closure, no upvalues");
  row("SIZE_PROTO", sizeof(Proto), "Proto");
  row("AT_PROTO_PARAMS", offsetof(Proto, numparams), "fixed parameters");
#if LUA_VERSION_NUM >= 505
  row("AT_PROTO_EXTRA", offsetof(Proto, flag), "extra arguments?");
  row("PROTO_HIDDEN", PF_VAHID, "bit: below its slot,");
  row("PROTO_TABLE", PF_VATAB, "bit: in a table");
#else
  row("AT_PROTO_EXTRA", offsetof(Proto, is_vararg), "extra arguments?");
  row("PROTO_HIDDEN", -1, "bit: below its slot,");
  row("PROTO_TABLE", -1, "bit: in a table");
#endif
  row("AT_PROTO_NCONSTANTS", offsetof(Proto, sizek), "how many constants,");
  row("AT_PROTO_NCODE", offsetof(Proto, sizecode), "instructions,");
  row("AT_PROTO_NLINES", offsetof(Proto, sizelineinfo), "steps of lines,");
  row("AT_PROTO_NLOCALS", offsetof(Proto, sizelocvars), "variables,");
  row("AT_PROTO_ABSOLUTES", offsetof(Proto, sizeabslineinfo),
      "lines given outright");
  row("AT_PROTO_LINE", offsetof(Proto, linedefined), "its first line,");
  row("AT_PROTO_LAST", offsetof(Proto, lastlinedefined), "and its last");
  row("AT_PROTO_CONSTANTS", offsetof(Proto, k), "slots");
  row("AT_PROTO_CODE", offsetof(Proto, code), "instructions,");
  row("CODE_KIND", (1l << SIZE_OP) - 1, "the opcode's bits");
  row("AT_PROTO_UPVALUES", offsetof(Proto, upvalues), "their descriptions");
  row("AT_PROTO_LINES", offsetof(Proto, lineinfo), "a step an instruction");
  row("AT_PROTO_ABSOLUTE", offsetof(Proto, abslineinfo),
      "pairs: instruction, line");
  row("AT_PROTO_LOCALS", offsetof(Proto, locvars), "parameters come first");
  row("AT_PROTO_SOURCE", offsetof(Proto, source), "");
  row("SIZE_LOCAL", sizeof(LocVar), "begins with its name,");
  row("SIZE_UPVALUE", sizeof(Upvaldesc), "as this does");
}

static void at_string (void) {
#if LUA_VERSION_NUM >= 505
  row("SIZE_STRING", offsetof(TString, falloc), "a long one's head");
  row("AT_STRING_TEXT", offsetof(TString, contents), "a long one's: where");
#else
  TString s;
  memset(&s, 0, sizeof s);
  row("SIZE_STRING", getstr(&s) - (char *)&s, "a long one's head");
  row("AT_STRING_TEXT", getstr(&s) - (char *)&s, "a long one's: where");
#endif
  row("AT_STRING_SHORT", offsetof(TString, shrlen), "a short one's length");
  row("AT_STRING_HASH", offsetof(TString, hash), "");
  row("AT_STRING_LONG", offsetof(TString, u.lnglen), "a long one's length");
}

static void at_table (void) {
  Table t;
  memset(&t, 0, sizeof t);
  row("SIZE_TABLE", offsetof(Table, gclist), "Table");
  row("AT_TABLE_NODES", offsetof(Table, lsizenode),
      "nodes: 2 to that power");
#if LUA_VERSION_NUM >= 505
  row("AT_TABLE_ELEMENTS", offsetof(Table, asize), "the array's size");
  row("AT_TABLE_LIMITED", -1, "bit 7: that is a part");
  row("SIZE_VALUE", sizeof(Value), "in an array");
  row("SIZE_HINT", (char *)getArrTag(&t, 0) - (char *)0,
      "between values and tags");
#else
  row("AT_TABLE_ELEMENTS", offsetof(Table, alimit), "the array's size");
  setnorealasize(&t);
  const char *p = memchr(&t, 1 << 7, sizeof t);
  row("AT_TABLE_LIMITED", (p != NULL) ? p - (const char *)&t : -1,
      "bit 7: that is a part");
  row("SIZE_VALUE", -1, "in an array");
  row("SIZE_HINT", -1, "between values and tags");
#endif
  row("AT_TABLE_ARRAY", offsetof(Table, array), "");
  row("AT_TABLE_NODE", offsetof(Table, node), "");
  row("AT_TABLE_META", offsetof(Table, metatable), "");
  row("SIZE_SLOT", sizeof(TValue), "a value and its tag");
  row("SIZE_NODE", sizeof(Node), "a slot and a key");
  row("AT_NODE_TAG", offsetof(Node, u.key_tt), "the key's tag,");
  row("AT_NODE_NEXT", offsetof(Node, u.next),
      "steps to the next");
  row("AT_NODE_KEY", offsetof(Node, u.key_val), "the key itself");
}

/* Of what can be collected: the next one's address comes first. */
static void at_object (void) {
  row("AT_OBJECT_NEXT", offsetof(GCObject, next), "the next object,");
  row("AT_OBJECT_TAG", offsetof(GCObject, tt), "what this one is");
  row("SIZE_USERDATA", offsetof(Udata, gclist), "without its values");
  row("AT_USERDATA_META", offsetof(Udata, metatable), "");
}

static void tags (void) {
  row("TAG_OWNED", BIT_ISCOLLECTABLE, "the collector has it");
  row("TAG_FALSE", LUA_VFALSE, "");
  row("TAG_TRUE", LUA_VTRUE, "");
  row("TAG_INTEGER", LUA_VNUMINT, "");
  row("TAG_FLOAT", LUA_VNUMFLT, "");
  row("TAG_SHORT", LUA_VSHRSTR, "a short string");
  row("TAG_LONG", LUA_VLNGSTR, "a long string");
  row("TAG_LUA", LUA_VLCL, "a Lua function");
  row("TAG_PROTO", LUA_VPROTO, "a prototype");
  row("TAG_LIGHTC", LUA_VLCF, "C, without upvalues");
  row("TAG_C", LUA_VCCL, "C, with upvalues");
}

int main (void) {
  at_state();
  at_shared();
  at_frame();
  at_function();
  at_string();
  at_table();
  at_object();
  tags();
  return 0;
}
