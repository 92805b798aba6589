/*
** capture.c - lists of values: from memory where that is known to be right,
** short ones (few.h) and all others (slots.h), else by the public API
** (asked.h). Called in the hook.
*/
#include "capture/asked.h"
#include "capture/crosscheck.h"
#include "capture/few.h"
#include "capture/slots.h"
#include "capture/veil.h"
#include "direct/frame.h"
#include "state/models.h"
#include "stream/valuecopy.h"

/* Where the values of a list can be read from memory; NULL: they cannot, or
   they are not all there, which the public API takes for nil. */
TG_INLINE const void *base_of (const tg_Session *s, const lua_State *L,
                               const tg_ValueList *list) {
  if (!s->host.direct || list->asked)
    return NULL;
  const uint8_t *base = tg_frame_slot(tg_direct_running(L));
  const uint8_t *end = base + (list->first + list->count) * TG_SIZE_SLOT;
  if (tg_unlikely((list->first <= 0 && list->count > 0)
                  || end > (const uint8_t *)tg_read_pointer(L,
                                                            TG_AT_STATE_TOP)))
    return NULL;
  return base;
}

/* From memory. What that alone does not tell is found out by the public API,
   from the beginning of the list: '*asked'. */
TG_INLINE uint8_t *put_direct (tg_Session *s, lua_State *L,
                               const tg_ValueList *list, const void *base,
                               uint8_t *p, uint8_t *lim, bool *asked) {
  *asked = false;
  uint8_t *end = tg_capture_slots(s, L, list, base, p, lim, asked);
  return tg_unlikely(*asked) ? tg_capture_asked(s, L, list, p, lim) : end;
}

#define SIZE 4u                 /* bytes before a list, of which a short way
                                   takes the last ones */

/* Whether the values of a list, with its size at 'p', may be for short ways. */
static bool are_few (const tg_Session *s, const tg_ValueList *list,
                     const uint8_t *p) {
  return (size_t)(s->writer.lim - p) >= SIZE
         && tg_capture_are_few(s, list->count + list->varargs, p + SIZE);
}

/* As the hook does before it asks for more (hook/quick.c, emitcall.h); NULL if
   the list is not for these ways. */
static uint8_t *put_short_list (tg_Session *s, lua_State *L,
                                const tg_ValueList *list, const void *base,
                                uint8_t *p, const uint8_t *lim) {
  if (list->veil != NULL || list->names != NULL || lim != s->writer.lim
      || !are_few(s, list, p))
    return NULL;
  uint8_t *end = NULL;
  uint32_t refers = 0;
  if (list->varargs == 0)
    end = tg_capture_plain(s, base, list->first, list->count, p + SIZE);
  if (end == NULL) {
    refers = TG_VALUES_REFERS;
    end = tg_capture_few(s, L, base, list->first, list->count, list->varargs,
                         p + 2);
  }
  if (end != NULL)
    tg_put32(p, (uint32_t)(end - p - SIZE) | refers);
  return end;
}

#ifdef TG_CROSSCHECK

#include <stdlib.h>

/* The list at 'p', up to 'end', as it is with what it refers to. */
static tg_Buf unfold (const tg_Session *s, const uint8_t *p,
                      const uint8_t *end) {
  tg_Buf out = {0};
  tg_Slice list = {.data = p + 4, .size = (size_t)(end - p - 4),
                   .origin = s->writer.origin};
  tg_valuecopy(&out, list, TG_PACKET_MAX);
  return out;
}

/* The short way at 'p', where all that it refers to is what 'want' has. A table
   may be told there by another one. Those that are models from now on stay so
   only if what is written there in the end has the same bytes. */
static void check_short (tg_Session *s, lua_State *L, const tg_ValueList *list,
                         const void *base, uint8_t *p, uint8_t *lim,
                         tg_Slice want, const tg_Buf *whole) {
  uint8_t *end = put_short_list(s, L, list, base, p, lim);
  if (end == NULL)
    return;
  tg_Buf got = unfold(s, p, end);
  tg_crosscheck_bytes((const uint8_t *)whole->data, whole->size,
                      (const uint8_t *)got.data, got.size);
  tg_buf_free(&got);
  if ((size_t)(end - p) != want.size
      || memcmp(p + 4, want.data + 4, want.size - 4) != 0)
    tg_models_forget(s->capture.models, p, lim);
}

/* All ways at the same place, where the list 'want' was written from memory,
   and 'whole' is the same with what it refers to; what is known of strings is
   as it was before. */
static uint8_t *put_again (tg_Session *s, lua_State *L,
                           const tg_ValueList *list, const void *base,
                           uint8_t *p, uint8_t *lim, tg_Slice want,
                           const tg_Buf *whole) {
  check_short(s, L, list, base, p, lim, want, whole);
  uint8_t *end = tg_capture_asked(s, L, list, p, lim);
  if (end == NULL)
    return NULL;
  tg_crosscheck_bytes(want.data, want.size, p, (size_t)(end - p));
  return end;
}

/* From memory twice, since the first time may have had to ask. */
static uint8_t *put_both (tg_Session *s, lua_State *L, const tg_ValueList *list,
                          const void *base, uint8_t *p, uint8_t *lim) {
  tg_Written before[TG_WRITTEN];
  bool asked;
  memcpy(before, s->writer.written, sizeof before);
  uint8_t *end = put_direct(s, L, list, base, p, lim, &asked);
  memcpy(s->writer.written, before, sizeof before);
  if (end != NULL)
    end = put_direct(s, L, list, base, p, lim, &asked);
  if (end == NULL || asked)
    return end;
  size_t n = (size_t)(end - p);
  uint8_t *bytes = malloc(n);
  memcpy(bytes, p, n);
  tg_Buf whole = unfold(s, p, end);
  memcpy(s->writer.written, before, sizeof before);
  end = put_again(s, L, list, base, p, lim, (tg_Slice){bytes, n, NULL}, &whole);
  tg_buf_free(&whole);
  free(bytes);
  return end;
}

#else

/* Tail calls come here, first calls, and what coroutines hand to each other:
   most of these lists are as short as others. */
TG_INLINE uint8_t *put_both (tg_Session *s, lua_State *L,
                             const tg_ValueList *list, const void *base,
                             uint8_t *p, uint8_t *lim) {
  bool asked;
  uint8_t *end = put_short_list(s, L, list, base, p, lim);
  return (end != NULL) ? end
                       : put_direct(s, L, list, base, p, lim, &asked);
}

#endif

/* At whatever event: nothing of the program runs before the list is complete,
   so what has been read of an object stays true until then. */
uint8_t *tg_capture_list (tg_Session *s, lua_State *L, const tg_ValueList *list,
                          uint8_t *p, uint8_t *lim) {
  tg_assert(p <= lim && list->count >= 0 && list->varargs >= 0);
  const void *base = base_of(s, L, list);
  return (base != NULL) ? put_both(s, L, list, base, p, lim)
                        : tg_capture_asked(s, L, list, p, lim);
}

/* A message that Lua is about to make, or a part of one: there is no string of
   the program's for it, so it is never remembered as written. */
uint8_t *tg_capture_text (tg_Session *s, const char *text, size_t size,
                          uint8_t *p, uint8_t *lim) {
  uint8_t *start = p;
  size_t limit = s->selection.limits.string;
  size_t kept = (size < limit) ? size : limit;
  if ((size_t)(lim - p) < kept + ROOM)
    return NULL;
  p = tg_putvar(p + 4, 1);
  if (s->selection.redacts && tg_veil_holds(s, text, size))
    *p++ = TG_GRIP_REDACTED;
  else {
    *p++ = TG_GRIP_STRING;
    p = tg_putvar(p, size);
    p = tg_putvar(p, kept);
    memcpy(p, text, kept);
    p += kept;
  }
  tg_put32(start, (uint32_t)(p - start - 4));
  return p;
}
