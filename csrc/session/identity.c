/*
** identity.c - see identity.h. On the thread that runs the state, where traces
** come and go. Nothing raises: lua_getallocf and lua_setallocf only read and
** write two fields (lapi.c).
*/
#include "session/identity.h"

#include "base/identities.h"
#include "base/loaded.h"

/* The allocator that it is put before: the meter's, if that is on top. */
static lua_Alloc allocator_of (const tg_Session *s, void **ud) {
  lua_Alloc allocator = lua_getallocf(s->host.main, ud);
  const tg_AllocMeter *m = s->memory.meter;
  if (m == NULL || allocator != tg_allocmeter_call || *ud != m)
    return allocator;
  *ud = m->ud;
  return m->allocator;
}

/* Puts another one in that place. */
static void set_allocator (tg_Session *s, lua_Alloc allocator, void *ud) {
  void *top;
  tg_AllocMeter *m = s->memory.meter;
  if (m != NULL && lua_getallocf(s->host.main, &top) == tg_allocmeter_call
      && top == m) {
    m->allocator = allocator;
    m->ud = ud;
  }
  else
    lua_setallocf(s->host.main, allocator, ud);
}

/* That of an earlier trace, if it stood before the same allocator. */
static bool begin (tg_Session *s) {
  void *ud;
  lua_Alloc allocator = allocator_of(s, &ud);
  tg_Identities *all = s->memory.spare_identities;
  if (all == NULL || all->allocator != allocator || all->ud != ud)
    all = tg_identities_new(allocator, ud);
  if (all == NULL)
    return false;
  tg_loaded_keep();
  s->memory.spare_identities = NULL;
  set_allocator(s, tg_identities_call, all);
  s->capture.identities = all;
  return true;
}

void tg_identity_end (tg_Session *s) {
  void *ud;
  tg_Identities *all = s->capture.identities;
  if (all == NULL)
    return;
  s->capture.identities = NULL;
  tg_identities_forget(all);
  if (allocator_of(s, &ud) == tg_identities_call && ud == all) {
    set_allocator(s, all->allocator, all->ud);
    s->memory.spare_identities = all;
  }
}

/* Of traces that wait for calls one of both selections is aside. */
bool tg_identity_review (tg_Session *s) {
  uint32_t types = s->selection.types | s->await.aside.selection.types;
  bool wanted = (types & TG_TYPE_IDENTITY) != 0;
  if (wanted && s->capture.identities == NULL)
    return begin(s);
  if (!wanted)
    tg_identity_end(s);
  return true;
}
