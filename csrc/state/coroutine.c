/*
** coroutine.c - the records of coroutines, and the weak list that tells which
** of them still live.
**
** Owned by the session; used on the thread that runs the state, most of it
** inside the hook. Memory that is refused loses a record, a slot or a handler,
** and each function says what that means; nothing is raised but inside
** lx_quietly.
*/
#include <string.h>

#include "state/coroutine.h"
#include "base/alloc.h"
#include "base/grow.h"
#include "direct/value.h"

/* A power of two: a bucket is the low bits of a hash. */
#define BUCKETS_MIN 64u
#define SLOTS_MIN 64u

void tg_coroutines_init (tg_Coroutines *ts) {
  memset(ts, 0, sizeof *ts);
  ts->next_id = 2;      /* 1 is the main coroutine's */
}

/* Its own memory only: the coroutine is Lua's. */
static void free_record (tg_Coroutine *t) {
  tg_free(t->frames);
  tg_free(t->catches);
  tg_buf_free(&t->stash);
  tg_free(t);
}

static void free_list (tg_Coroutine *t) {
  while (t != NULL) {
    tg_Coroutine *next = t->chain;
    free_record(t);
    t = next;
  }
}

/* Frees the records in use and those that were given back. The weak list is
   Lua's: whoever ends tracing takes it out of the registry. */
void tg_coroutines_free (tg_Coroutines *ts) {
  for (uint32_t i = 0; i < ts->nbuckets; i++)
    free_list(ts->buckets[i]);
  free_list(ts->freelist);
  tg_free(ts->buckets);
  tg_coroutines_init(ts);
}

/* Multiplied by 2^64 divided by the golden ratio, so that its upper bits depend
   on all of the address. The low bits of addresses are alike, since malloc
   aligns blocks. */
static uint32_t bucket (const tg_Coroutines *ts, const lua_State *L) {
  uint64_t k = (uint64_t)(uintptr_t)L * UINT64_C(0x9E3779B97F4A7C15);
  return (uint32_t)(k >> 40) & (ts->nbuckets - 1);
}

/* By address, which may be that of a coroutine which died: whoever cannot be
   sure asks tg_coroutine_alive. */
tg_Coroutine *tg_coroutines_find (const tg_Coroutines *ts, lua_State *L) {
  tg_Coroutine *t;
  if (ts->nbuckets == 0)
    return NULL;
  for (t = ts->buckets[bucket(ts, L)]; t != NULL; t = t->chain) {
    if (t->L == L)
      return t;
  }
  return NULL;
}

/* Moves all records to that many buckets. Without memory nothing has
   changed. */
static bool rehash (tg_Coroutines *ts, uint32_t n) {
  tg_Coroutine **old = ts->buckets;
  uint32_t nold = ts->nbuckets;
  tg_Coroutine **fresh = tg_calloc(n, sizeof *fresh);
  if (fresh == NULL)
    return false;
  ts->buckets = fresh;
  ts->nbuckets = n;
  tg_assert(n > nold && (n & (n - 1)) == 0);
  for (uint32_t i = 0; i < nold; i++) {
    for (tg_Coroutine *t = old[i], *next; t != NULL; t = next) {
      uint32_t b = bucket(ts, t->L);
      next = t->chain;
      t->chain = fresh[b];
      fresh[b] = t;
    }
  }
  tg_free(old);
  return true;
}

/* A record from the free list keeps its arrays: a program that makes a
   coroutine for each request has the hook allocate for the first of them
   only. */
static tg_Coroutine *new_record (tg_Coroutines *ts) {
  tg_Coroutine *t = ts->freelist;
  if (t == NULL)
    return tg_calloc(1, sizeof *t);
  ts->freelist = t->chain;
  tg_Coroutine kept = *t;
  memset(t, 0, sizeof *t);
  t->frames = kept.frames;
  t->capacity = kept.capacity;
  t->catches = kept.catches;
  t->catchcap = kept.catchcap;
  t->stash = kept.stash;
  return t;
}

/* NULL without memory. As many buckets as records: searches are a look or two,
   and the table doubles as it fills. */
tg_Coroutine *tg_coroutines_add (tg_Coroutines *ts, struct tg_Session *s,
                                 lua_State *L) {
  tg_Coroutine *t;
  if (ts->count >= ts->nbuckets
      && !rehash(ts, (ts->nbuckets == 0) ? BUCKETS_MIN : ts->nbuckets * 2)
      && ts->nbuckets == 0)
    return NULL;        /* with some buckets, longer chains will do */
  if ((t = new_record(ts)) == NULL)
    return NULL;
  tg_assert(t->slot == 0 && tg_coroutines_find(ts, L) == NULL);
  t->L = L;
  t->session = s;
  uint32_t b = bucket(ts, L);
  t->chain = ts->buckets[b];
  ts->buckets[b] = t;
  ts->count++;
  return t;
}

/* 'forget' first: the hook, which keeps a pointer to the record it used last,
   must let go of it before the record is that of another coroutine. */
void tg_coroutines_remove (tg_Coroutines *ts, tg_Coroutine *t) {
  ts->forget(t);
  tg_Coroutine **p = &ts->buckets[bucket(ts, t->L)];
  while (*p != t) {
    tg_assert(*p != NULL);
    p = &(*p)->chain;
  }
  *p = t->chain;
  ts->count--;
  t->chain = ts->freelist;
  ts->freelist = t;
}

void tg_coroutines_records (const tg_Coroutines *ts,
                            void (*f) (tg_Coroutine *t, void *ud), void *ud) {
  for (uint32_t i = 0; i < ts->nbuckets; i++) {
    for (tg_Coroutine *t = ts->buckets[i], *next; t != NULL; t = next) {
      next = t->chain;
      f(t, ud);
    }
  }
}

/* From the innermost out: what is looked for is nearly always among the last
   few frames. */
int64_t tg_coroutine_frame (const tg_Coroutine *t, const void *ci) {
  for (int64_t i = (int64_t)t->n - 1; i >= 0; i--) {
    if (t->frames[i].ci == ci)
      return i;
  }
  return -1;
}

/* Doubled, when the shadow stack is as deep as it has ever been: so it is not
   for the hook's usual way, which has looked for room (tg_coroutine_room). */
bool tg_coroutine_grow (tg_Coroutine *t) {
  return tg_grow(&t->frames, &t->capacity, t->n + 1, sizeof *t->frames);
}

/* The frame on top is xpcall's: 'handler' is what will be called for an error
   inside it. By address, as it is compared with the function of each call. */
void tg_coroutine_catch (tg_Coroutine *t, const void *handler) {
  tg_assert(t->n > 0);
  if (!tg_grow(&t->catches, &t->catchcap, t->ncatches + 1,
               sizeof *t->catches))
    return;             /* then a thrown value may stay unknown */
  t->catches[t->ncatches++] = (tg_Catch){t->n - 1, handler};
  t->handler = handler;
}

/* Called whenever frames go. The innermost handler is kept ready in the record,
   since calls are compared with it. */
void tg_coroutine_uncatch (tg_Coroutine *t, uint32_t n) {
  while (t->ncatches > 0 && t->catches[t->ncatches - 1].frame >= n)
    t->ncatches--;
  t->handler = (t->ncatches > 0) ? t->catches[t->ncatches - 1].handler : NULL;
}

/*
** The list of coroutines: a Lua array with weak values whose slots exist
** before they are used, so that to fill one allocates nothing.
*/

/* Leaves a new one on top of the stack. */
static void make_list (lua_State *L) {
  lx_weak_list(L, SLOTS_MIN);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &tg_key_threads);
}

/* Moves what lives in the list on top of the stack down to its beginning.
   Returns how many. */
static uint32_t compact (tg_Coroutines *ts, lua_State *L) {
  uint32_t used = 0;
  for (uint32_t i = 1; i < ts->next_slot; i++) {
    if (lua_rawgeti(L, -1, i) != LUA_TTHREAD) {
      lua_pop(L, 1);
      continue;
    }
    tg_Coroutine *t = tg_coroutines_find(ts, lua_tothread(L, -1));
    if (t != NULL && t->slot == i)
      t->slot = used + 1;
    lua_rawseti(L, -2, ++used);
  }
  return used;
}

/* Sets slots first .. last of the list on top of the stack to nil, having made
   sure that the array has them: a table grows by what it is given. */
static void make_room (lua_State *L, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i <= last; i++) {
    lua_pushboolean(L, 1);
    lua_rawseti(L, -2, i);
  }
  for (uint32_t i = first; i <= last; i++) {
    lua_pushnil(L);
    lua_rawseti(L, -2, i);
  }
}

/*
** Drops the dead, and makes room. In the list that there is: to set a field by
** raw access never runs the collector (luaC_checkGC), to make a table may. So
** this needs no lx_quietly, whose price in 5.5 is the collector's pace.
*/
static int relist (lua_State *L) {
  tg_Coroutines *ts = lua_touserdata(L, 1);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &tg_key_threads) != LUA_TTABLE)
    make_list(L);
  ts->list = lua_topointer(L, -1);
  uint32_t used = compact(ts, L);
  uint32_t slots = (used * 2 > SLOTS_MIN) ? used * 2 : SLOTS_MIN;
  ts->next_slot = used + 1;
  ts->slots = used;             /* if there is no memory for more */
  make_room(L, used + 1, slots);
  ts->slots = slots;
  return 0;
}

/* Frees the records of coroutines that are gone. One in the running chain never
   is, whatever the table says. */
static void sweep (tg_Coroutines *ts, lua_State *L) {
  for (uint32_t i = 0; i < ts->nbuckets; i++) {
    for (tg_Coroutine *t = ts->buckets[i], *next; t != NULL; t = next) {
      next = t->chain;
      if (t->slot != 0 && !t->running && !tg_coroutine_alive(t, L))
        tg_coroutines_remove(ts, t);
    }
  }
}

/* Room for one more slot: drops the dead, and grows if many live. Records
   first: who is dead is told by the slots of the old list. */
static bool more_slots (tg_Coroutines *ts, lua_State *L) {
  TG_STACK_GUARD(L);
  sweep(ts, L);
  if (ts->next_slot == 0)               /* there may be no list yet */
    return lx_quietly(L, relist, ts);
  lua_pushcfunction(L, relist);
  lua_pushlightuserdata(L, ts);
  bool ok = lua_pcall(L, 1, 0, 0) == LUA_OK;
  if (!ok)
    lua_pop(L, 1);
  TG_STACK_CHECK(L);
  return ok;
}

/* A coroutine can only push itself onto its own stack (lua_pushthread), and
   goes to that of 'L' from there. */
void tg_coroutine_enlist (tg_Coroutines *ts, tg_Coroutine *t, lua_State *L) {
  if (!lua_checkstack(L, 4) || !lua_checkstack(t->L, 1))
    return;
  if (ts->next_slot == 0 || ts->next_slot > ts->slots) {
    if (!more_slots(ts, L))
      return;
  }
  TG_STACK_GUARD(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &tg_key_threads);
  lua_pushthread(t->L);
  if (t->L != L)
    lua_xmove(t->L, L, 1);
  lua_rawseti(L, -2, ts->next_slot);
  lua_pop(L, 1);
  t->slot = ts->next_slot++;
  TG_STACK_CHECK(L);
}

/* By what the slot of 't' holds and not by its address, where another coroutine
   may live by now: a slot is given out once, and emptied by the collector. */
bool tg_coroutine_alive (const tg_Coroutine *t, lua_State *L) {
  bool alive;
  TG_STACK_GUARD(L);
  if (t->slot == 0 || !lua_checkstack(L, 2))
    return false;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &tg_key_threads) != LUA_TTABLE) {
    lua_pop(L, 1);
    return false;
  }
  lua_rawgeti(L, -1, t->slot);
  alive = lua_tothread(L, -1) == t->L;
  lua_pop(L, 2);
  TG_STACK_CHECK(L);
  return alive;
}

/* The list stays the same table: the registry has it. */
bool tg_coroutine_lives (const tg_Coroutines *ts, const tg_Coroutine *t) {
  if (ts->list == NULL || t->slot == 0)
    return false;
  tg_Slot v = tg_direct_index(ts->list, t->slot);
  return tg_slot_type(v) == LUA_TTHREAD && v.u.p == t->L;
}

/* Also those without a record. 'f' may enlist none: that may replace the list
   which is being read. */
void tg_coroutines_each (const tg_Coroutines *ts, lua_State *L,
                         void (*f) (lua_State *L1, void *ud), void *ud) {
  TG_STACK_GUARD(L);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &tg_key_threads) == LUA_TTABLE) {
    for (uint32_t i = 1; i < ts->next_slot; i++) {
      if (lua_rawgeti(L, -1, i) == LUA_TTHREAD)
        f(lua_tothread(L, -1), ud);
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
  TG_STACK_CHECK(L);
}
