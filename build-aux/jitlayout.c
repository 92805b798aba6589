/*
** jitlayout.c - prints where things stand in memory in the LuaJIT whose headers
** it is compiled with (jitlayouts.sh): a line for each row of
** csrc/layout/jitrows.h, with the name, the value, and what it is.
**
** AT_: bytes from an object's beginning. SIZE_: bytes. Others are values. Of
** x86-64 with GC64 alone: others print nothing.
*/
#include <stddef.h>
#include <stdio.h>

#include "lj_obj.h"

#include "lj_bc.h"
#include "lj_dispatch.h"
#include "lj_frame.h"
#include "lj_jit.h"

static void row (const char *name, long value, const char *what) {
  printf("%s\t%ld\t%s\n", name, value, what);
}

#define AT(type, field) ((long)offsetof(type, field))

static void states (void) {
  row("SIZE_STATE", (long)sizeof(lua_State), "lua_State");
  row("AT_OBJECT_NEXT", AT(GChead, nextgc), "any object: the next one,");
  row("AT_OBJECT_MARKED", AT(GChead, marked), "its colour,");
  row("AT_OBJECT_TYPE", AT(GChead, gct), "and its type");
  row("AT_STATE_STATUS", AT(lua_State, status), "0, or how it ended");
  row("AT_STATE_SHARED", AT(lua_State, glref), "global_State");
  row("AT_STATE_BASE", AT(lua_State, base), "the frame's first slot");
  row("AT_STATE_TOP", AT(lua_State, top), "the first free slot");
  row("AT_STATE_LAST", AT(lua_State, maxstack), "the last slot");
  row("AT_STATE_STACK", AT(lua_State, stack), "the first slot");
  row("AT_STATE_ENTRY", AT(lua_State, cframe),
      "where C entered the interpreter");
  row("AT_MAIN_SHARED", AT(GG_State, g), "global_State behind a main thread");
}

static void shared (void) {
  row("AT_SHARED_BYTES", AT(global_State, gc.total), "bytes in use");
  row("AT_SHARED_COLOUR", AT(global_State, gc.currentwhite),
      "collector: its white");
  row("AT_SHARED_OBJECTS", AT(global_State, gc.root), "all objects");
  row("AT_SHARED_EMPTY", AT(global_State, strempty), "the empty string");
  row("AT_SHARED_DOES", AT(global_State, vmstate), "what runs, or which trace");
  row("AT_SHARED_MAIN", AT(global_State, mainthref), "the main thread");
  row("AT_SHARED_REGISTRY", AT(global_State, registrytv), "a slot");
#ifdef vmthread
  row("AT_SHARED_OWN", AT(global_State, vmthref),
      "a coroutine for finalizers");
#else
  row("AT_SHARED_OWN", -1, "a coroutine for finalizers");
#endif
  row("AT_SHARED_CCALL", AT(global_State, bc_cfunc_int),
      "the instruction of C functions");
  row("AT_SHARED_CURRENT", AT(global_State, cur_L), "the coroutine that runs");
  row("AT_SHARED_TRACED", AT(global_State, jit_base),
      "the base of compiled code");
  row("AT_SHARED_EVENTS", AT(global_State, gcroot[GCROOT_MMNAME]),
      "names of metamethods,");
  row("EVENTS", MM__MAX, "so many");
  row("AT_SHARED_METAS", AT(global_State, gcroot[GCROOT_BASEMT]),
      "metatables of types");
  row("AT_SHARED_TRACES",
      AT(GG_State, J.trace) - AT(GG_State, g), "the array of traces,");
  row("AT_SHARED_NTRACES",
      AT(GG_State, J.sizetrace) - AT(GG_State, g), "its size");
}

static void functions (void) {
  row("AT_FUNCTION_KIND", AT(GCfuncC, ffid), "0: Lua");
  row("AT_FUNCTION_CAPTURED", AT(GCfuncC, nupvalues), "so many upvalues");
  row("AT_FUNCTION_CODE", AT(GCfuncC, pc), "its first instruction");
  row("AT_FUNCTION_C", AT(GCfuncC, f), "the C function");
  row("AT_FUNCTION_VALUES", AT(GCfuncC, upvalue), "upvalues of C,");
  row("AT_FUNCTION_UPVALUES", AT(GCfuncL, uvptr), "of Lua");
  row("AT_UPVALUE_SLOT", AT(GCupval, v), "where its value is");
  row("SIZE_PROTO", (long)sizeof(GCproto), "before its instructions");
  row("AT_PROTO_PARAMS", AT(GCproto, numparams), "parameters");
  row("AT_PROTO_SLOTS", AT(GCproto, framesize), "slots of a frame");
  row("AT_PROTO_NCODE", AT(GCproto, sizebc), "instructions");
  row("AT_PROTO_CONSTANTS", AT(GCproto, k), "constants, objects before it,");
  row("AT_PROTO_NCONSTANTS", AT(GCproto, sizekgc), "so many");
  row("AT_PROTO_NUPVALUES", AT(GCproto, sizeuv), "upvalues");
  row("AT_PROTO_FLAGS", AT(GCproto, flags), "bits");
  row("PROTO_VARARG", PROTO_VARARG, "bit: extra arguments");
  row("AT_PROTO_SOURCE", AT(GCproto, chunkname), "a string object");
  row("AT_PROTO_LINE", AT(GCproto, firstline), "its first line,");
  row("AT_PROTO_NLINES", AT(GCproto, numline), "and how many more");
  row("AT_PROTO_LINES", AT(GCproto, lineinfo), "lines of instructions");
  row("AT_PROTO_UPVALUES", AT(GCproto, uvinfo), "names of upvalues");
  row("AT_PROTO_LOCALS", AT(GCproto, varinfo), "variables");
}

static void objects (void) {
  row("AT_STRING_SIZE", AT(GCstr, len), "bytes");
  row("AT_STRING_TEXT", (long)sizeof(GCstr), "the bytes");
  row("AT_TABLE_ARRAY", AT(GCtab, array), "slots from key 0 on,");
  row("AT_TABLE_ELEMENTS", AT(GCtab, asize), "so many");
  row("AT_TABLE_META", AT(GCtab, metatable), "also of userdata");
  row("AT_TABLE_NODE", AT(GCtab, node), "nodes,");
  row("AT_TABLE_NODES", AT(GCtab, hmask), "so many less one");
  row("SIZE_NODE", (long)sizeof(Node), "a node");
  row("AT_NODE_KEY", AT(Node, key), "its key; the value comes first");
}

static void traces (void) {
  row("AT_TRACE_PROTO", AT(GCtrace, startpt), "the function it begins in,");
  row("AT_TRACE_CODE", AT(GCtrace, startpc), "and at which instruction");
  row("AT_TRACE_NUMBER", AT(GCtrace, traceno), "its number");
  row("AT_TRACE_MACHINE", AT(GCtrace, mcode), "its machine code,");
  row("AT_TRACE_SIZE", AT(GCtrace, szmcode), "so many bytes");
  row("AT_TRACE_STACK", AT(GCtrace, spadjust), "bytes of the C stack");
  row("AT_TRACE_CONSTANTS", AT(GCtrace, ir), "and operations");
  row("AT_TRACE_SNAPS", AT(GCtrace, snap), "its snapshots,");
  row("AT_TRACE_NSNAPS", AT(GCtrace, nsnap), "so many");
  row("AT_TRACE_ENTRIES", AT(GCtrace, snapmap), "entries of all of them,");
  row("AT_TRACE_NENTRIES", AT(GCtrace, nsnapmap), "so many");
}

/* LJ_UNWIND_JIT came with the place in machine code. */
static void snapshots (void) {
  row("SIZE_SNAP", (long)sizeof(SnapShot), "a snapshot");
#ifdef LJ_UNWIND_JIT
  row("AT_SNAP_MACHINE", AT(SnapShot, mcofs), "where in the machine code");
#else
  row("AT_SNAP_MACHINE", -1, "where in the machine code");
#endif
  row("AT_SNAP_FIRST", AT(SnapShot, mapofs), "its first entry,");
  row("AT_SNAP_COUNT", AT(SnapShot, nent), "so many");
  row("AT_OPERATION_KIND", AT(IRIns, o), "of a constant, 8 bytes before it");
  row("CONSTANT_OBJECT", IR_KGC, "");
  row("CONSTANT_FLOAT", IR_KNUM, "any bits of 64");
}

/* The interpreter's frame on the C stack. */
static void entries (void) {
  row("AT_ENTRY_BEFORE", CFRAME_OFS_PREV, "the entry before");
  row("AT_ENTRY_STATE", CFRAME_OFS_L, "the coroutine that runs");
  row("AT_ENTRY_CODE", CFRAME_OFS_PC, "the instruction, where it is kept");
  row("AT_ENTRY_RESULTS", CFRAME_OFS_NRES, "below 0: a protected call's slot");
}

static void instructions (void) {
  row("OP_ISLT", BC_ISLT, "comparisons");
  row("OP_ISLE", BC_ISLE, "");
  row("OP_ISEQV", BC_ISEQV, "");
  row("OP_ISTC", BC_ISTC, "tests, two of which copy");
  row("OP_MOV", BC_MOV, "operators with a result, up to KNIL");
  row("OP_UNM", BC_UNM, "");
  row("OP_LEN", BC_LEN, "");
  row("OP_ADDVN", BC_ADDVN, "five of each kind of operands");
  row("OP_POW", BC_POW, "");
  row("OP_CAT", BC_CAT, "");
  row("OP_KNIL", BC_KNIL, "nil into several slots");
  row("OP_UGET", BC_UGET, "an upvalue's value");
  row("OP_FNEW", BC_FNEW, "a closure; results, up to GSET");
  row("OP_GGET", BC_GGET, "a global");
  row("OP_GSET", BC_GSET, "");
  row("OP_TGETV", BC_TGETV, "a field; results, up to TSETV");
  row("OP_TGETS", BC_TGETS, "by a constant string");
  row("OP_TSETV", BC_TSETV, "");
  row("OP_TSETM", BC_TSETM, "");
  row("OP_CALLM", BC_CALLM, "calls, up to ITERC");
  row("OP_ITERC", BC_ITERC, "of an iterator");
  row("OP_RET", BC_RET, "the first behind what changes slots");
  row("OP_FORI", BC_FORI, "loops, up to LOOP");
  row("OP_LOOP", BC_LOOP, "");
  row("OP_JMP", BC_JMP, "operators with a result follow");
  row("OP_FUNCF", BC_FUNCF, "six that functions begin with");
  row("OP_FUNCC", BC_FUNCC, "that C functions do");
}

int main (void) {
#if LJ_TARGET_X64 && LJ_GC64
  states();
  shared();
  functions();
  objects();
  traces();
  snapshots();
  entries();
  instructions();
#endif
  return 0;
}
