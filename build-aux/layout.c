/*
** layout.c - prints where things stand in memory in the release of Lua whose
** headers it is compiled with (layouts.sh): a line for each row of
** csrc/layout/rows.h, with the name, the value, and what it is. "-": the
** release has no such thing.
**
** AT_: bytes from an object's beginning. SIZE_: bytes. Others are values.
**
** What only the hook reads is not told of releases before 5.4.
*/
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LUA_CORE
/* How a main thread and its global_State lie together, and what opcodes do,
   no header tells; what is not used of these files, the linker drops. */
#include "lstate.c"
#include "lopcodes.c"

#include "lua.h"
#include "lobject.h"
#include "lfunc.h"
#include "lgc.h"
#include "lopcodes.h"
#include "lstate.h"
#include "ltable.h"
#include "ltm.h"

#define VERSION LUA_VERSION_NUM

/* What a release has, and -1 for the others: FROM(504, offsetof(...)). Macros,
   since the names are not there in the others. */
#if VERSION >= 505
#define IN505(x) (x)
#else
#define IN505(x) (-1)
#endif
#if VERSION >= 504
#define FROM504(x) (x)
#define TO503(x) (-1)
#else
#define FROM504(x) (-1)
#define TO503(x) (x)
#endif
#if VERSION >= 503
#define FROM503(x) (x)
#else
#define FROM503(x) (-1)
#endif
#if VERSION >= 502
#define FROM502(x) (x)
#define IN501(x) (-1)
#else
#define FROM502(x) (-1)
#define IN501(x) (x)
#endif
#if VERSION == 504
#define IN504(x) (x)
#else
#define IN504(x) (-1)
#endif
#if VERSION == 502 || VERSION == 503
#define IN502(x) (x)
#else
#define IN502(x) (-1)
#endif

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
  row("AT_STATE_FIRST", IN505(offsetof(lua_State, transferinfo.ftransfer)),
      "at hooks: from which slot");
  row("AT_STATE_COUNT", IN505(offsetof(lua_State, transferinfo.ntransfer)),
      "how many values move");
  row("AT_STATE_STATUS", offsetof(lua_State, status), "0, or how it ended");
  row("AT_STATE_LAST", offsetof(lua_State, stack_last), "the last slot");
  row("AT_STATE_LOWEST", offsetof(lua_State, base_ci),
      "the host's frame; in 5.1 a pointer");
  row("AT_STATE_NEXT", IN501(offsetof(lua_State, savedpc)),
      "the running frame's next instruction");
}

/* Where a main thread has its global_State: behind itself or around it. */
static void at_main (void) {
#if VERSION >= 505
  row("AT_MAIN_SHARED", -1, "global_State behind a main thread");
#elif VERSION >= 502
  row("AT_MAIN_SHARED", offsetof(LG, g) - offsetof(LG, l.l),
      "global_State behind a main thread");
#else
  row("AT_MAIN_SHARED", offsetof(LG, g) - offsetof(LG, l),
      "global_State behind a main thread");
#endif
  row("AT_SHARED_INSIDE", IN505(offsetof(global_State, mainth.l)),
      "global_State: the main thread itself,");
#if VERSION >= 505
  row("AT_SHARED_MAIN", -1, "or where it is");
#else
  row("AT_SHARED_MAIN", offsetof(global_State, mainthread), "or where it is");
#endif
  row("AT_SHARED_REGISTRY", offsetof(global_State, l_registry), "a slot");
  row("AT_SHARED_METAS", offsetof(global_State, mt), "metatables of types");
  row("AT_SHARED_EVENTS", offsetof(global_State, tmname),
      "names of metamethods,");
  row("EVENTS", TM_N, "so many");
}

static void at_shared (void) {
#if VERSION >= 502
  row("AT_SHARED_OBJECTS", offsetof(global_State, allgc),
      "global_State: all objects");
#else
  row("AT_SHARED_OBJECTS", offsetof(global_State, rootgc),
      "global_State: all objects");
#endif
  row("AT_SHARED_COLOUR", offsetof(global_State, currentwhite),
      "collector: its white,");
  row("AT_SHARED_WORK", offsetof(global_State, gcstate), "what it does,");
  row("AT_SHARED_MODE", FROM502(offsetof(global_State, gckind)),
      "0: by steps; and whether");
#if VERSION >= 505 || (VERSION == 504 && LUA_VERSION_RELEASE_NUM >= 50404)
  row("AT_SHARED_STEP", offsetof(global_State, gcstopem),
      "a step is under way");
#else
  row("AT_SHARED_STEP", -1, "a step is under way");
#endif
  row("COLLECTOR_MARKS", FROM504(GCSpropagate), "in generations: it rests");
  row("COLLECTOR_ATOMIC", FROM504(GCSatomic), "in one piece");
  row("COLLECTOR_FINISHED", FROM504(GCScallfin), "finalizers are to come");
  row("COLLECTOR_RESTS", FROM504(GCSpause), "");
}

static void at_frame (void) {
  row("SIZE_FRAME", sizeof(CallInfo), "CallInfo");
  row("AT_FRAME_FUNCTION", offsetof(CallInfo, func), "the function's slot");
  row("AT_FRAME_CALLER", FROM502(offsetof(CallInfo, previous)),
      "the frame below");
#if VERSION >= 502
  row("AT_FRAME_NEXT", offsetof(CallInfo, u.l.savedpc),
      "the next instruction");
#else
  row("AT_FRAME_NEXT", offsetof(CallInfo, savedpc), "the next instruction");
#endif
  row("AT_FRAME_TRAP", FROM504(offsetof(CallInfo, u.l.trap)),
      "it looks for hooks");
  row("AT_FRAME_EXTRA", FROM504(offsetof(CallInfo, u.l.nextraargs)),
      "how many extra arguments");
  row("AT_FRAME_STATUS", FROM502(offsetof(CallInfo, callstatus)), "bits:");
  row("STATUS_C", FROM504(CIST_C), "bit: a C function,");
  row("STATUS_HOOKED", FROM502(CIST_HOOKED), "bit: its hook runs,");
  row("STATUS_MOVES", IN504(CIST_TRAN), "bit: values move:");
  row("AT_FRAME_FIRST", IN504(offsetof(CallInfo, u2.transferinfo.ftransfer)),
      "from which slot,");
  row("AT_FRAME_COUNT", IN504(offsetof(CallInfo, u2.transferinfo.ntransfer)),
      "how many");
  row("STATUS_LUA", IN502(CIST_LUA), "bit: a Lua function,");
  row("STATUS_TAIL", FROM502(CIST_TAIL), "bit: by a tail call,");
#ifdef CIST_FIN
  row("STATUS_FINALIZER", CIST_FIN, "bit: it calls a finalizer");
#else
  row("STATUS_FINALIZER", -1, "bit: it calls a finalizer");
#endif
#if VERSION >= 502
  CallInfo frame;
  row("SIZE_STATUS", sizeof frame.callstatus, "of all these bits");
  row("AT_FRAME_TAILS", -1, "how many tail calls led to it");
#else
  row("SIZE_STATUS", -1, "of all these bits");
  row("AT_FRAME_TAILS", offsetof(CallInfo, tailcalls),
      "how many tail calls led to it");
#endif
  row("AT_FRAME_TOP", offsetof(CallInfo, top), "the end of its slots");
#if VERSION == 501
  row("AT_FRAME_BASE", offsetof(CallInfo, base), "its first variable");
#else
  row("AT_FRAME_BASE", IN502(offsetof(CallInfo, u.l.base)),
      "its first variable");
#endif
}

static void at_function (void) {
  row("AT_CLOSURE_UPVALUES", offsetof(CClosure, nupvalues), "how many");
  row("AT_CLOSURE_FUNCTION", offsetof(LClosure, p), "prototype or C function");
  row("AT_CLOSURE_VALUES", offsetof(CClosure, upvalue), "C function: upvalues");
  row("SIZE_CLOSURE", offsetof(CClosure, upvalue), "a closure, no upvalues");
#if VERSION == 501 || (VERSION == 502 && !defined(LUA_TLNGSTR))
  row("AT_CLOSURE_C", offsetof(CClosure, isC), "whether it is C");
#else                   /* from 5.2.1 on by its tag */
  row("AT_CLOSURE_C", -1, "whether it is C");
#endif
  row("AT_CLOSURE_CAPTURED", offsetof(LClosure, upvals), "Lua: upvalues,");
  row("AT_UPVALUE_SLOT", offsetof(UpVal, v), "where each has its value");
  row("SIZE_PROTO", sizeof(Proto), "Proto");
  row("AT_PROTO_PARAMS", offsetof(Proto, numparams), "fixed parameters");
#if VERSION >= 505
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
  row("AT_PROTO_ABSOLUTES", FROM504(offsetof(Proto, sizeabslineinfo)),
      "lines given outright");
  row("AT_PROTO_NUPVALUES", offsetof(Proto, sizeupvalues), "upvalues");
  row("AT_PROTO_LINE", offsetof(Proto, linedefined), "its first line,");
  row("AT_PROTO_LAST", offsetof(Proto, lastlinedefined), "and its last");
  row("AT_PROTO_CONSTANTS", offsetof(Proto, k), "slots");
  row("AT_PROTO_CODE", offsetof(Proto, code), "instructions,");
  row("CODE_KIND", (1l << SIZE_OP) - 1, "the opcode's bits");
  row("AT_PROTO_UPVALUES", offsetof(Proto, upvalues), "their descriptions");
  row("AT_PROTO_LINES", offsetof(Proto, lineinfo), "a step an instruction");
  row("AT_PROTO_ABSOLUTE", FROM504(offsetof(Proto, abslineinfo)),
      "pairs: instruction, line");
  row("AT_PROTO_LOCALS", offsetof(Proto, locvars), "parameters come first");
  row("AT_PROTO_SOURCE", offsetof(Proto, source), "");
  row("SIZE_LOCAL", sizeof(LocVar), "begins with its name,");
#if VERSION >= 502
  row("SIZE_UPVALUE", sizeof(Upvaldesc), "as this does");
#else
  row("SIZE_UPVALUE", sizeof(TString *), "as this does");
#endif
}

static void at_string (void) {
#if VERSION >= 505
  row("SIZE_STRING", offsetof(TString, falloc), "a long one's head");
  row("AT_STRING_TEXT", offsetof(TString, contents), "a long one's: where");
#else
  TString s;
  memset(&s, 0, sizeof s);
  row("SIZE_STRING", getstr(&s) - (char *)&s, "a long one's head");
  row("AT_STRING_TEXT", getstr(&s) - (char *)&s, "a long one's: where");
#endif
#if VERSION == 503 && !defined(tsslen)         /* 5.3.0 has one for both */
  row("AT_STRING_SHORT", -1, "a short one's length");
  row("AT_STRING_HASH", offsetof(TString, hash), "");
  row("AT_STRING_LONG", offsetof(TString, len), "a long one's length");
#elif VERSION >= 503
  row("AT_STRING_SHORT", offsetof(TString, shrlen), "a short one's length");
  row("AT_STRING_HASH", offsetof(TString, hash), "");
  row("AT_STRING_LONG", offsetof(TString, u.lnglen), "a long one's length");
#else
  row("AT_STRING_SHORT", -1, "a short one's length");
  row("AT_STRING_HASH", offsetof(TString, tsv.hash), "");
  row("AT_STRING_LONG", offsetof(TString, tsv.len), "a long one's length");
#endif
}

static void at_table (void) {
  Table t;
  memset(&t, 0, sizeof t);
#if VERSION >= 504
  row("SIZE_TABLE", offsetof(Table, gclist), "Table");
#else
  row("SIZE_TABLE", sizeof(Table), "Table");
#endif
  row("AT_TABLE_NODES", offsetof(Table, lsizenode),
      "nodes: 2 to that power");
#if VERSION >= 505
  row("AT_TABLE_ELEMENTS", offsetof(Table, asize), "the array's size");
  row("AT_TABLE_LIMITED", -1, "bit 7: that is a part");
  row("SIZE_VALUE", sizeof(Value), "in an array");
  row("SIZE_HINT", (char *)getArrTag(&t, 0) - (char *)0,
      "between values and tags");
#else
#if VERSION == 504
  row("AT_TABLE_ELEMENTS", offsetof(Table, alimit), "the array's size");
  setnorealasize(&t);
  const char *p = memchr(&t, 1 << 7, sizeof t);
#else
  row("AT_TABLE_ELEMENTS", offsetof(Table, sizearray), "the array's size");
  const char *p = NULL;
#endif
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
#if VERSION >= 504
  row("AT_NODE_TAG", offsetof(Node, u.key_tt), "the key's tag,");
  row("AT_NODE_NEXT", offsetof(Node, u.next),
      "steps to the next");
  row("AT_NODE_KEY", offsetof(Node, u.key_val), "the key itself");
#else
  /* A key begins as a slot does: with its value, and then the tag. */
  row("AT_NODE_TAG", offsetof(Node, i_key) + sizeof(Value), "the key's tag,");
  row("AT_NODE_NEXT", offsetof(Node, i_key.nk.next),
      "steps to the next");
  row("AT_NODE_KEY", offsetof(Node, i_key), "the key itself");
#endif
}

/* Of what can be collected: the next one's address comes first. */
static void at_object (void) {
  row("AT_OBJECT_NEXT", offsetof(lua_State, next), "the next object,");
  row("AT_OBJECT_TAG", offsetof(lua_State, tt), "what this one is");
  row("AT_OBJECT_MARKED", offsetof(lua_State, marked),
      "its colour: the collector's");
#if VERSION >= 504
  row("SIZE_USERDATA", offsetof(Udata, gclist), "without its values");
#else
  row("SIZE_USERDATA", sizeof(Udata), "without its values");
#endif
#if VERSION >= 503
  row("AT_USERDATA_META", offsetof(Udata, metatable), "");
#else
  row("AT_USERDATA_META", offsetof(Udata, uv.metatable), "");
#endif
}

static void tags (void) {
  row("TAG_OWNED", FROM502(BIT_ISCOLLECTABLE), "the collector has it");
  row("TAG_FALSE", FROM504(LUA_VFALSE), "");
  row("TAG_TRUE", FROM504(LUA_VTRUE), "");
#if VERSION >= 504
  row("TAG_INTEGER", LUA_VNUMINT, "");
  row("TAG_FLOAT", LUA_VNUMFLT, "");
#else
  row("TAG_INTEGER", FROM503(LUA_TNUMINT), "");
  row("TAG_FLOAT", VERSION == 503 ? FROM503(LUA_TNUMFLT) : LUA_TNUMBER, "");
#endif
#if VERSION >= 504
  row("TAG_SHORT", LUA_VSHRSTR, "a short string");
  row("TAG_LONG", LUA_VLNGSTR, "a long string");
  row("TAG_LUA", LUA_VLCL, "a Lua function");
  row("TAG_PROTO", LUA_VPROTO, "a prototype");
  row("TAG_LIGHTC", LUA_VLCF, "C, without upvalues");
  row("TAG_C", LUA_VCCL, "C, with upvalues");
#else
  row("TAG_SHORT", LUA_TSTRING, "a short string");
#ifdef LUA_TLNGSTR
  row("TAG_LONG", LUA_TLNGSTR, "a long string");
#else
  row("TAG_LONG", -1, "a long string");
#endif
  row("TAG_LUA", LUA_TFUNCTION, "a Lua function");
  row("TAG_PROTO", LUA_TPROTO, "a prototype");
  row("TAG_LIGHTC", FROM502(LUA_TLCF), "C, without upvalues");
  row("TAG_C", FROM502(LUA_TCCL), "C, with upvalues");
#endif
}

/* Sixteen opcodes from 'first' on, a bit each: whether they set register A. */
static long setting (int first) {
  long bits = 0;
  for (int op = first; op < first + 16 && op < NUM_OPCODES; op++)
    bits |= (long)(testAMode(op) != 0) << (op - first);
  return bits;
}

/* What names a called function (funcnamefromcode of ldebug.c). */
static void codes (void) {
  row("CODE_AT_A", POS_A, "where an instruction has its operands");
  row("CODE_AT_B", POS_B, "");
  row("CODE_AT_C", POS_C, "");
  row("CODE_AT_LONG", POS_Bx, "");
  row("CODE_SIZE_B", SIZE_B, "bits of operands");
  row("CODE_SIZE_C", SIZE_C, "");
  row("CODE_SIZE_LONG", SIZE_Bx, "");
  row("CODE_AT_JUMP", FROM504(POS_sJ), "");
  row("CODE_CONSTANT", TO503(BITRK), "bit: the operand is a constant");
  row("OP_MOVE", OP_MOVE, "opcodes");
  row("OP_LOADK", OP_LOADK, "");
  row("OP_LOADNIL", OP_LOADNIL, "");
  row("OP_GETUPVAL", OP_GETUPVAL, "");
  row("OP_GETGLOBAL", IN501(OP_GETGLOBAL), "");
  row("OP_GETTABUP", FROM502(OP_GETTABUP), "");
  row("OP_GETTABLE", OP_GETTABLE, "");
  row("OP_GETI", FROM504(OP_GETI), "");
  row("OP_GETFIELD", FROM504(OP_GETFIELD), "");
  row("OP_SELF", OP_SELF, "");
  row("OP_SETGLOBAL", IN501(OP_SETGLOBAL), "");
  row("OP_SETTABUP", FROM502(OP_SETTABUP), "");
  row("OP_SETTABLE", OP_SETTABLE, "");
  row("OP_SETI", FROM504(OP_SETI), "");
  row("OP_SETFIELD", FROM504(OP_SETFIELD), "");
  row("OP_ADD", TO503(OP_ADD), "the first of the arithmetic ones");
  row("OP_MMBIN", FROM504(OP_MMBIN), "C is the metamethod");
  row("OP_MMBINK", FROM504(OP_MMBINK), "");
  row("OP_UNM", OP_UNM, "");
  row("OP_BNOT", FROM503(OP_BNOT), "");
  row("OP_LEN", OP_LEN, "");
  row("OP_CONCAT", OP_CONCAT, "");
  row("OP_EQ", OP_EQ, "");
  row("OP_LT", OP_LT, "");
  row("OP_LE", OP_LE, "");
  row("OP_LTI", FROM504(OP_LTI), "");
  row("OP_LEI", FROM504(OP_LEI), "");
  row("OP_GTI", FROM504(OP_GTI), "");
  row("OP_GEI", FROM504(OP_GEI), "");
  row("OP_JMP", OP_JMP, "");
  row("OP_CALL", OP_CALL, "");
  row("OP_TAILCALL", OP_TAILCALL, "");
#if VERSION >= 502
  row("OP_ITERATE", OP_TFORCALL, "a step of a loop with 'in'");
#else
  row("OP_ITERATE", OP_TFORLOOP, "a step of a loop with 'in'");
#endif
  row("OP_CLOSE", FROM504(OP_CLOSE), "");
  row("OP_RETURN", OP_RETURN, "");
  row("SETS_A", setting(0), "opcodes that set register A, 16 in a row");
  row("SETS_B", setting(16), "");
  row("SETS_C", setting(32), "");
  row("SETS_D", setting(48), "");
  row("SETS_E", setting(64), "");
  row("SETS_F", setting(80), "");
}

/* What all the objects of a state are, and how large. */
static void at_heap (void) {
#if VERSION >= 505
  row("AT_SHARED_TOTAL", offsetof(global_State, GCtotalbytes),
      "bytes in use, with");
#else
  row("AT_SHARED_TOTAL", offsetof(global_State, totalbytes),
      "bytes in use, with");
#endif
  row("AT_SHARED_DEBT", FROM502(offsetof(global_State, GCdebt)),
      "these; with GCtotalbytes less these");
#if VERSION >= 505
  row("SIZE_SHARED", sizeof(global_State), "with the main thread");
#else
  row("SIZE_SHARED", sizeof(LG), "with the main thread");
#endif
  row("AT_SHARED_STRINGS", offsetof(global_State, strt.hash),
      "chains of strings,");
  row("AT_SHARED_NSTRINGS", offsetof(global_State, strt.size), "so many");
  row("AT_SHARED_FINALIZED", FROM502(offsetof(global_State, finobj)),
      "objects with finalizers");
#if VERSION >= 502
  row("AT_SHARED_PENDING", offsetof(global_State, tobefnz),
      "those to be finalized");
#else
  row("AT_SHARED_PENDING", offsetof(global_State, tmudata),
      "those to be finalized");
#endif
  row("AT_SHARED_FIXED", FROM503(offsetof(global_State, fixedgc)),
      "never collected");
#if VERSION <= 502 || (VERSION == 503 && !defined(STRCACHE_N))     /* 5.3.1 */
  row("AT_SHARED_BUFFER", offsetof(global_State, buff.buffer),
      "bytes for the parser,");
  row("AT_SHARED_NBUFFER", offsetof(global_State, buff.buffsize), "so many");
#else
  row("AT_SHARED_BUFFER", -1, "bytes for the parser,");
  row("AT_SHARED_NBUFFER", -1, "so many");
#endif
#if VERSION >= 502
  row("SIZE_THREAD", sizeof(LX), "lua_State, and what is before it");
#else
  row("SIZE_THREAD", sizeof(lua_State), "lua_State, and what is before it");
#endif
  row("AT_STATE_OPEN", offsetof(lua_State, openupval), "open upvalues");
  row("AT_STATE_NFRAMES", IN501(offsetof(lua_State, size_ci)),
      "frames in its array");
  row("AT_STATE_GLOBALS", IN501(offsetof(lua_State, l_gt)), "a slot");
  row("STACK_BEYOND", EXTRA_STACK + (VERSION < 502),
      "slots from the last one on");
  row("AT_FRAME_CALLED", FROM502(offsetof(CallInfo, next)),
      "the frame above, in use or not");
}

static void at_heap_objects (void) {
  row("AT_CLOSURE_GLOBALS", IN501(offsetof(CClosure, env)), "a table");
  row("AT_PROTO_PROTOS", offsetof(Proto, p), "functions inside,");
  row("AT_PROTO_NPROTOS", offsetof(Proto, sizep), "so many");
  Proto p;
  row("SIZE_LINE", sizeof *p.lineinfo, "of an instruction");
#if VERSION >= 505
  row("PROTO_FIXED", PF_FIXED, "bit: its code is the host's");
#else
  row("PROTO_FIXED", -1, "bit: its code is the host's");
#endif
  row("SIZE_TABLE_BLOCK", sizeof(Table), "with what is the collector's");
#if VERSION >= 505
  row("AT_TABLE_FLAGS", offsetof(Table, flags), "bits:");
  row("TABLE_DUMMY", BITDUMMY, "its node is nobody's");
#else
  row("AT_TABLE_FLAGS", -1, "bits:");
  row("TABLE_DUMMY", -1, "its node is nobody's");
#endif
#if VERSION == 504 || (VERSION == 503 && defined(isdummy))     /* from 5.3.4 */
  row("AT_TABLE_FREE", offsetof(Table, lastfree), "0: its node is nobody's");
#else
  row("AT_TABLE_FREE", -1, "0: its node is nobody's");
#endif
  row("SIZE_CAPTURED", sizeof(UpVal), "an upvalue");
  row("AT_UPVALUE_VALUE", offsetof(UpVal, u.value), "closed: its value");
#if VERSION >= 503
  row("AT_UPVALUE_NEXT", offsetof(UpVal, u.open.next), "open: the next");
#else
  row("AT_UPVALUE_NEXT", offsetof(UpVal, next), "open: the next");
#endif
#if VERSION >= 504
  row("TAG_UPVALUE", LUA_VUPVAL, "");
#elif VERSION == 503
  row("TAG_UPVALUE", -1, "");
#else
  row("TAG_UPVALUE", LUA_TUPVAL, "");
#endif
  row("SIZE_STRING_OWNED", IN505(sizeof(TString)), "whose text is the host's");
#if VERSION >= 503
  row("AT_USERDATA_SIZE", offsetof(Udata, len), "bytes");
#else
  row("AT_USERDATA_SIZE", offsetof(Udata, uv.len), "bytes");
#endif
  row("AT_USERDATA_NVALUES", FROM504(offsetof(Udata, nuvalue)),
      "how many values");
  row("AT_USERDATA_VALUES", FROM504(offsetof(Udata, uv)), "slots");
#if VERSION == 503
  row("AT_USERDATA_VALUE", offsetof(Udata, user_), "its value,");
  row("AT_USERDATA_TAG", offsetof(Udata, ttuv_), "with that tag");
#else
  row("AT_USERDATA_VALUE", -1, "its value,");
  row("AT_USERDATA_TAG", -1, "with that tag");
#endif
#if VERSION <= 502
  row("AT_USERDATA_TABLE", offsetof(Udata, uv.env), "a table");
#else
  row("AT_USERDATA_TABLE", -1, "a table");
#endif
}

int main (void) {
  at_state();
  at_main();
  at_shared();
  at_frame();
  at_function();
  at_string();
  at_table();
  at_object();
  tags();
  at_heap();
  at_heap_objects();
  codes();
  return 0;
}
