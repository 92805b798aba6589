/*
** thrown.c - see thrown.h. Nothing here allocates or raises; without room on
** the stack an error counts as one that is caught.
*/
#include "inspect/thrown.h"
#include "direct/frame.h"
#include "host/builtins.h"
#include "host/running.h"

#define ASKED 2000          /* frames, of a stack that is not read */

/* Where the function was when it was called. That of a vararg function has been
   moved above its arguments since (luaT_adjustvarargs). */
static const uint8_t *called_slot (const void *frame) {
  const uint8_t *slot = tg_frame_slot(frame);
  if (tg_frame_is_c(frame))
    return slot;
  const void *proto = tg_function_proto(tg_frame_function(frame));
  if (!tg_direct_hides_extra(proto))
    return slot;
  size_t arguments = (size_t)tg_frame_extra(frame)
                     + tg_read8(proto, TG_AT_PROTO_PARAMS);
  return slot - (arguments + 1) * TG_SIZE_SLOT;
}

/* Whether the caller, a Lua function, has called by an instruction of its own:
   that has its function in register A (OP_CALL). A handler is pushed above what
   the instruction has in registers. */
static bool is_called (const void *caller, const void *frame) {
  const uint8_t *next = tg_read_pointer(caller, TG_AT_FRAME_NEXT);
  const uint8_t *base = (const uint8_t *)tg_frame_slot(caller) + TG_SIZE_SLOT;
  size_t a = tg_read32(next - 4, 0) >> 7 & 0xff;
  return called_slot(frame) == base + a * TG_SIZE_SLOT;
}

static bool same_function (tg_Slot a, tg_Slot b) {
  return a.tag == b.tag && a.u.p == b.u.p;
}

/* Whether the error is the handler's: C functions that it has called may be
   between. Lua gives it that error as well, again and again. */
static bool is_its_own (const void *caller, tg_Slot handler) {
  while (caller != NULL && tg_frame_is_c(caller)
         && !same_function(tg_frame_function(caller), handler))
    caller = tg_frame_caller(caller);
  return caller != NULL && same_function(tg_frame_function(caller), handler);
}

bool tg_thrown_handles (const lua_State *L, const void *frame) {
  tg_Slot handler = tg_direct_handler(L);
  if (!same_function(handler, tg_frame_function(frame)))
    return false;
  const void *caller = tg_frame_caller(frame);
  if (caller == NULL || is_its_own(caller, handler))
    return false;
  return tg_frame_is_c(caller) || !is_called(caller, frame);
}

/* ---- who catches ---- */

/* The role of a frame's function (manual, lua_getinfo); 'ar' is its i_ci. */
static tg_Role role_of (lua_State *L, lua_Debug *ar) {
  lua_getinfo(L, "f", ar);
  tg_Role role = tg_builtins_role(lua_tocfunction(L, -1));
  lua_pop(L, 1);
  return role;
}

static bool catches (lua_State *L, lua_Debug *ar) {
  tg_Role role = role_of(L, ar);
  return role == TG_ROLE_PCALL || role == TG_ROLE_XPCALL;
}

/* lua_getstack counts from the innermost frame each time. So where memory is
   not read only ASKED frames are looked at, and a catch further out is
   assumed. */
static bool has_catch (const tg_Inspector *i, lua_State *L, int level) {
  lua_Debug ar;
  if (!lua_getstack(L, level, &ar))
    return false;
  if (!i->direct) {
    for (int n = 0; n < ASKED; n++) {
      if (catches(L, &ar))
        return true;
      if (!lua_getstack(L, ++level, &ar))
        return false;
    }
    return true;
  }
  for (const void *frame = ar.i_ci; frame != NULL;
       frame = tg_frame_caller(frame)) {
    ar.i_ci = (struct CallInfo *)(uintptr_t)frame;
    if (tg_frame_is_c(frame) && catches(L, &ar))
      return true;
  }
  return false;
}

/* The place of 'L' in the list of coroutines that run; -1: it is not there. */
static int place_of (const tg_Host *h, const lua_State *L) {
  const lua_State *at;
  int n = 0;
  while ((at = tg_running_at(h, n)) != NULL && at != L)
    n++;
  return (at != NULL) ? n : -1;
}

/* An error passes wrap's function; coroutine.resume catches it. Other functions
   that resume may do either, so they count as catching. */
bool tg_thrown_is_caught (const tg_Inspector *i, lua_State *L, int level) {
  lua_Debug ar;
  int at = place_of(i->part.host, L);
  if (at < 0 || !lua_checkstack(L, 1) || has_catch(i, L, level))
    return true;
  while (at-- > 0) {
    lua_State *resumer = tg_running_at(i->part.host, at);
    if (!lua_checkstack(resumer, 1) || !lua_getstack(resumer, 0, &ar)
        || role_of(resumer, &ar) != TG_ROLE_WRAPPED
        || has_catch(i, resumer, 1))
      return true;
  }
  return false;
}
