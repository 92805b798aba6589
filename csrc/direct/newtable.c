/*
** newtable.c - see newtable.h. A state of its own is made, runs a chunk and is
** closed; nothing raises beyond that.
*/
#include "direct/newtable.h"

#include <lauxlib.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/allocmeter.h"

#define NEWTABLE 19u              /* its opcode, in 5.4 and 5.5 */
#define OPCODE(i) ((i) & 0x7fu)
#define HAS_EXTRA (1u << 15)
#if LUA_VERSION_NUM >= 505        /* sizes of the hash and of the array */
#define HASH(i) ((i) >> 16 & 0x3fu)
#define ARRAY(i) ((i) >> 22)
#else
#define HASH(i) ((i) >> 16 & 0xffu)
#define ARRAY(i) ((i) >> 24)
#endif

bool tg_newtable_is (const void *proto, const uint32_t *pc) {
  uintptr_t code = (uintptr_t)tg_read_pointer(proto, TG_AT_PROTO_CODE);
  uintptr_t at = (uintptr_t)pc - code;
  uint32_t n = tg_read32(proto, TG_AT_PROTO_NCODE);
  return (uintptr_t)pc > code && at % 4 == 0 && at / 4 >= 2 && at / 4 <= n
         && OPCODE(pc[-2]) == NEWTABLE;
}

uint32_t tg_newtable_parts (const uint32_t *pc) {
  uint32_t i = pc[-2];
  bool hash = HASH(i) != 0, array = ARRAY(i) != 0 || (i & HAS_EXTRA) != 0;
  return (uint32_t)hash + (uint32_t)array;
}

/* ---- finding the place ---- */

#define FROM (-8)                 /* words from the meter's frame on */
#define TO 80
#define LEAST 10u                 /* tables that must have been met */

/* Each function is called once, and makes no table after it has called another.
   Each of its tables is made once, in the order of their instructions, but for
   the last one, which may be made again. */
static const char chunk[] =
    "local x, y = {}, {1, 2, 3}\n"
    "local z = {a = 1, b = x}\n"
    "local function f (...)\n"
    "  local a, b = {...}, {c = {x}, d = {y, z}}\n"
    "  for i = 1, 3 do a[i] = i + #b end\n"
    "  a.x = b\n"
    "  for i = 1, 5 do a[-i] = {i} end\n"
    "  return a\n"
    "end\n"
    "return f(1, x, y)\n";

typedef struct Finding {
  lua_State *L;
  const void *proto;              /* whose tables are being made... */
  uint32_t next;                  /* ...and the instruction to look at next */
  const uint32_t *latest;
  uint32_t met;
  bool not_there[TO - FROM];
} Finding;

/* The instruction that makes the next table; NULL: it is not known. */
static const uint32_t *expected (Finding *f, const void *proto) {
  const uint32_t *code = tg_read_pointer(proto, TG_AT_PROTO_CODE);
  uint32_t n = tg_read32(proto, TG_AT_PROTO_NCODE);
  if (proto != f->proto) {
    f->proto = proto;
    f->next = 0;
    f->latest = NULL;
  }
  for (; f->next + 1 < n; f->next++) {
    if (OPCODE(code[f->next]) == NEWTABLE) {
      f->latest = code + f->next + 2;
      f->next += 2;
      break;
    }
  }
  return f->latest;
}

#if defined(__has_feature) || defined(__SANITIZE_ADDRESS__)
__attribute__((no_sanitize("address")))
#endif
static void compare (void *ud, void *const *frame) {
  Finding *f = ud;
  const void *ci = f->L != NULL ? tg_direct_running(f->L) : NULL;
  if (ci == NULL || tg_frame_is_c(ci))
    return;
  const uint32_t *pc = expected(f, tg_function_proto(tg_frame_function(ci)));
  f->met++;
  for (int i = FROM; i < TO; i++) {
    if (frame[i] != (const void *)pc)
      f->not_there[i - FROM] = true;
  }
}

/* A lua_Alloc. */
static void *allocate (void *ud, void *block, size_t osize, size_t nsize) {
  (void)ud, (void)osize;
  if (nsize > 0)
    return realloc(block, nsize);
  free(block);
  return NULL;
}

static lua_State *new_state (tg_AllocMeter *m) {
#if LUA_VERSION_NUM >= 505
  return lua_newstate(tg_allocmeter_call, m, luaL_makeseed(NULL));
#else
  return lua_newstate(tg_allocmeter_call, m);
#endif
}

static void find (void) {
  Finding f = {.L = NULL};
  tg_AllocMeter m = {.allocator = allocate, .probe = compare, .watcher = &f};
  lua_State *L = new_state(&m);
  if (L == NULL)
    return;
  bool ran = luaL_loadbufferx(L, chunk, sizeof chunk - 1, "=tables", "t") == 0;
  f.L = L;
  ran = ran && lua_pcall(L, 0, 0, 0) == 0;
  f.L = NULL;
  lua_close(L);
  for (int i = FROM; ran && f.met >= LEAST && i < TO; i++) {
    if (!f.not_there[i - FROM]) {
      tg_allocmeter_tables(i);
      return;
    }
  }
}

void tg_newtable_find (void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find);
}
