/*
** probe.c - the state that the layout is tried on, its arena, and the first
** fault that was found. Made by proof.c and gone when it is done, on whatever
** thread first asks for the verdict, with proof.c's mutex held.
**
** Why a state of its own, and not a look at the program's: objects can be made
** there in every form, a hook can be set, and all memory is known, so that a
** pointer which is none can be told before it is followed. Without memory there
** is no state, and so no proof.
*/
#include <string.h>
#include <sys/mman.h>

#include "direct/probe.h"

/* Bytes, more than the probes allocate in all. Pages that are never touched
   cost nothing but addresses. */
#define ARENA ((size_t)2 << 20)

tg_DirectFacts tg_direct_facts;

static uint16_t fact (const tg_Layout *layout, tg_LayoutRow row) {
  int32_t at = layout->at[row];
  return (at < 0) ? 0 : (uint16_t)at;
}

/* The byte of a frame that has this bit of its status, and the bit there. */
static uint16_t status_at (const tg_Layout *l, int32_t bit, uint8_t *mask) {
  int32_t at = l->at[TG_ROW_AT_FRAME_STATUS];
  for (; bit > 0xff; bit >>= 8)
    at++;
  *mask = (uint8_t)bit;
  return (uint16_t)at;
}

void tg_probe_assume (const tg_Layout *l) {
  tg_direct_facts = (tg_DirectFacts){
    .state = fact(l, TG_ROW_SIZE_STATE),
    .stack = fact(l, TG_ROW_AT_STATE_STACK),
    .handler = fact(l, TG_ROW_AT_STATE_HANDLER),
    .moves = fact(l, TG_ROW_STATUS_MOVES),
    .limited = fact(l, TG_ROW_AT_TABLE_LIMITED),
    .hook = fact(l, TG_ROW_AT_STATE_HOOK),
    .hook_mask = fact(l, TG_ROW_AT_STATE_MASK),
    .hook_counts = fact(l, TG_ROW_AT_STATE_COUNTS),
    .collector = fact(l, TG_ROW_AT_SHARED_COLOUR),
    .step = fact(l, TG_ROW_AT_SHARED_STEP),
    .objects = fact(l, TG_ROW_AT_SHARED_OBJECTS),
    .jump = fact(l, TG_ROW_AT_STATE_JUMP),
    .allows = fact(l, TG_ROW_AT_STATE_ALLOWS)
  };
  tg_direct_facts.hooked = status_at(l, l->at[TG_ROW_STATUS_HOOKED],
                                     &tg_direct_facts.hooked_bit);
}

/* A lua_Alloc (manual, section 4.6), by which the state lives in the arena
   alone. Nothing is given back: a probe is short, and what was freed may still
   be looked at. NULL where the arena is full, which Lua raises as an error of
   memory; a block that shrinks stays, since shrinking must not fail. */
static void *allocate (void *ud, void *block, size_t old, size_t size) {
  tg_Probe *p = ud;
  size_t need = (size + 15) & ~(size_t)15;
  if (size == 0 && p->watched != NULL)
    p->freed[*p->watched == 1]++;
  if (size == 0)
    return NULL;
  if (block != NULL && size <= old)
    return block;
  if (need > p->size - p->used)
    return NULL;
  uint8_t *fresh = p->arena + p->used;
  p->used += need;
  tg_assert(p->used <= p->size && (uintptr_t)fresh % 16 == 0);
  if (block != NULL)
    memcpy(fresh, block, old);
  return fresh;
}

/* Also what was given back is inside: it is ours, and stays. The subtraction
   cannot wrap, since 'at' is below 'to'. */
bool tg_probe_inside (const tg_Probe *p, const void *at, size_t size) {
  uintptr_t from = (uintptr_t)p->arena, to = from + p->used;
  return (uintptr_t)at >= from && (uintptr_t)at < to
         && size <= to - (uintptr_t)at;
}

/* The first fault is kept: what comes after it may be no more than what follows
   from it. */
bool tg_probe_check (tg_Probe *p, bool ok, const char *what) {
  if (!ok && p->fault == NULL)
    p->fault = what;
  return ok;
}

/* The state was made with the probe as its allocator's data. */
tg_Probe *tg_probe_of (lua_State *L) {
  void *ud;
  lua_getallocf(L, &ud);
  tg_assert(ud != NULL && ((tg_Probe *)ud)->used <= ((tg_Probe *)ud)->size);
  return ud;
}

/* 5.5 asks for the seed of its hashes; 5.4 makes one itself. */
static lua_State *new_state (tg_Probe *p) {
#if LUA_VERSION_NUM >= 505
  return lua_newstate(allocate, p, luaL_makeseed(NULL));
#else
  return lua_newstate(allocate, p);
#endif
}

/* Pages of their own: malloc would keep larger blocks on the program's heap
   from then on, once it has given back one of this size. */
bool tg_probe_begin (tg_Probe *p) {
  void *pages = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *p = (tg_Probe){.arena = pages, .size = ARENA};
  if (pages == MAP_FAILED)
    return false;
  p->L = new_state(p);
  if (p->L == NULL)
    munmap(p->arena, p->size);
  return p->L != NULL;
}

/* The state before the memory that it is in. */
void tg_probe_end (tg_Probe *p) {
  lua_close(p->L);
  munmap(p->arena, p->size);
}
