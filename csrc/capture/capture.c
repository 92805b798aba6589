/*
** capture.c - lists of values: from memory (slots.h) where that is
** known to be right, else by the public API, here. Called in the hook.
**
** Breadth first: the values themselves, then, in order of their pool index,
** the descriptors of the objects met. So an object's level is its distance,
** and an argument is listed as an argument even if it was met inside another
** one first.
*/
#include "capture/capture.h"
#include "capture/crosscheck.h"
#include "capture/plain.h"
#include "capture/varargs.h"
#include "direct/frame.h"

/* The objects of a list of a few values, in order of index, when nothing of
   them is listed: to find them takes no pool. As many as there are values at
   most, so they are compared one by one. */
typedef struct Brief {
  const void *address[TG_PLAIN_MAX];
  int at[TG_PLAIN_MAX];          /* stack index */
  uint32_t count;
} Brief;

/* The index of the object at 'i'; TG_POOL_NONE if there is no room for it. */
TG_INLINE uint32_t enter_brief (tg_Capture *c, Brief *b, const void *address,
                                int i) {
  uint32_t id = 0;
  while (id < b->count && b->address[id] != address)
    id++;
  if (id == b->count) {
    if (!spend(c, COST_OBJECT))
      return TG_POOL_NONE;
    b->address[id] = address;
    b->at[id] = i;
    b->count++;
  }
  return id;
}

/* The grip of one of the values of the list, an object. */
TG_INLINE void put_outer_object (tg_Capture *c, Brief *b, const void *address,
                                 int type, int i) {
  bool fresh;
  put_object(c, (b != NULL) ? enter_brief(c, b, identity_of(address, type), i)
                            : enter(c, address, type, 0, i, &fresh), type);
}

/*
** One of the values of the list, at stack index 'i', where it stays; 'b' may
** be NULL. Whether it has a metatable is looked at later, so that arguments
** come first.
*/
TG_INLINE void put_outer (tg_Capture *c, Brief *b, int i) {
  int type = lua_type(c->L, i);
  if (put_scalar(c, i, type))
    return;
  if (type == LUA_TLIGHTUSERDATA && lua_touserdata(c->L, i) == NULL)
    *c->p++ = TG_GRIP_NULL;
  else
    put_outer_object(c, b, lua_topointer(c->L, i), type, i);
}

/* Arguments or results that have a place on the stack. Of what is secret not
   even its type is told. */
static void put_fixed (tg_Capture *c, const tg_ValueList *list, int n) {
  for (int i = 0; i < n && c->p != NULL; i++) {
    if (tg_unlikely(tg_veil_has(list->veil, i)))
      put_redacted(c);
    else
      put_outer(c, NULL, list->first + i);
  }
}

/* Extra arguments have no stack index: what is an object stays pushed, since it
   is described after all values. What cannot be pushed is told as nil: the
   program may have cleared the table that has them. */
static void put_varargs (tg_Capture *c, const tg_ValueList *list, int n) {
  c->pushed = n > 0;
  for (int i = 1; i <= n && c->p != NULL; i++) {
    if (!tg_varargs_push(c->L, list->ar, list->count, i)) {
      if (room(c, ROOM))
        *c->p++ = TG_GRIP_NIL;
      continue;
    }
    put_outer(c, NULL, lua_gettop(c->L));
    if (lua_type(c->L, -1) < LUA_TTABLE
        && lua_type(c->L, -1) != LUA_TLIGHTUSERDATA)
      lua_pop(c->L, 1);
  }
}

/* A list that may be long, have extra arguments, and secrets. */
static TG_NOINLINE void put_list (tg_Capture *c, const tg_ValueList *list) {
  int total = list->count + list->varargs;
  int fixed = list->count, extra = list->varargs;
  if (fixed > TG_VALUES_MAX)
    fixed = TG_VALUES_MAX;
  if (extra > TG_VALUES_MAX - fixed)
    extra = TG_VALUES_MAX - fixed;
  if (extra > 0 && !lua_checkstack(c->L, extra + 8)) {
    extra = 0;          /* near the end of the stack: these are lost */
    total = list->count;
    c->session->unseen++;
  }
  if (!room(c, ROOM))
    return;
  c->p = tg_putvar(c->p, (uint64_t)total);
  put_fixed(c, list, fixed);
  put_varargs(c, list, extra);
  tg_capture_pool(c);
}

/* ---- a few values ---- */

/* What has been written of a list. */
typedef struct Begun {
  tg_Session *session;
  uint8_t *start;       /* of its size */
  uint8_t *p;           /* where it goes on */
  uint8_t *lim;
  int done;             /* values written; -1: not even how many there are */
  uint32_t cost;
  bool refers;
} Begun;

/* The size of a list that ends at 'p'. */
TG_INLINE void put_size (const Begun *b, const uint8_t *p, bool refers) {
  tg_put32(b->start, (uint32_t)(p - b->start - 4)
                     | (refers ? TG_VALUES_REFERS : 0u));
}

/* The rest of a list without extra arguments and secrets, of which 'done'
   values are written. */
static void put_few (tg_Capture *c, const tg_ValueList *list, int done) {
  for (int i = done; i < list->count && c->p != NULL; i++)
    put_outer(c, NULL, list->first + i);
  tg_capture_pool(c);
}

/* The same if nothing is listed of objects. */
static void put_few_brief (tg_Capture *c, const tg_ValueList *list,
                           int done) {
  Brief b;
  b.count = 0;
  for (int i = done; i < list->count && c->p != NULL; i++)
    put_outer(c, &b, list->first + i);
  for (uint32_t id = 0; id < b.count && c->p != NULL; id++)
    tg_capture_brief(c, b.at[id]);
}

/* The three ways from the rarest to the usual ones; they write the same bytes
   of the same values, and differ in what they must ask. */
static void put_values (tg_Capture *c, const tg_ValueList *list, int done) {
  if (done < 0)
    put_list(c, list);
  else if (c->limits->depth == 0 && c->limits->objects >= TG_PLAIN_MAX)
    put_few_brief(c, list, done);
  else
    put_few(c, list, done);
}

/* The rest of a list, and the objects in it. Where the room ends in the middle,
   all that was written goes, and the list is begun again by whoever asked. */
static uint8_t *put_begun (lua_State *L, const tg_ValueList *list,
                           const Begun *b) {
  tg_Session *s = b->session;
  tg_Capture c = {.session = s, .L = L, .limits = &s->selection.limits,
               .pool = &s->pool, .p = b->p, .lim = b->lim, .cost = b->cost,
               .in_stream = b->lim == s->writer.lim, .refers = b->refers,
               .redacts = s->selection.redacts};
  int top = lua_gettop(L);
  TG_STACK_GUARD(L);
  tg_assert(s->pool.count == 0);
  s->captures++;
  put_values(&c, list, b->done);
  if (tg_unlikely(c.pushed))
    lua_settop(L, top);
  TG_STACK_CHECK(L);
  if (c.p != NULL)
    put_size(b, c.p, c.refers);
  else
    tg_capture_forget(&s->writer, b->start);
  return c.p;
}

/* The same; and from its beginning, if a secret was met that may have been
   written before in the same list. */
static TG_NOINLINE uint8_t *put_rest (lua_State *L, const tg_ValueList *list,
                                      const Begun *b) {
  tg_Session *s = b->session;
  uint64_t learned = s->secrets.added;
  uint8_t *end = put_begun(L, list, b);
  if (tg_likely(learned == s->secrets.added) || end == NULL)
    return end;
  Begun again = {s, b->start, b->start + 4, b->lim, -1, 0, false};
  tg_capture_forget(&s->writer, b->start);
  return put_begun(L, list, &again);
}

/* A string that is not short, if it is in the stream already and holds nothing
   that is to be hidden; else NULL. */
static TG_NOINLINE uint8_t *put_written (Begun *b, const char *text, size_t n,
                                         uint8_t *p) {
  const tg_Writer *r = &b->session->writer;
  if (b->session->selection.redacts)
    return NULL;
  size_t limit = b->session->selection.limits.string;
  size_t kept = (n < limit) ? n : limit;
  if (kept > COST_LITTLE || b->lim != r->lim)
    return NULL;
  const uint8_t *grip = find_written(r, text, n, kept);
  if (grip == NULL)
    return NULL;
  b->cost += (uint32_t)kept * COST_PER_BYTE;
  b->refers = true;
  return put_distance(p, grip);
}

/*
** Most lists are a few numbers, booleans and strings that are short or have
** been written before: no pool, no state. Writes the values up to the first
** that is anything else.
*/
TG_INLINE void put_simple (lua_State *L, const tg_ValueList *list, Begun *b) {
  uint8_t *p = b->p;
  int i = list->first, end = i + list->count;
  for (*p++ = (uint8_t)list->count; i < end; i++) {
    uint8_t *next;
    int type = lua_type(L, i);
    if (type == LUA_TSTRING) {
      size_t n;
      const char *text = lua_tolstring(L, i, &n);
      if (n <= TG_GRIP_SMALLMAX && n <= b->session->selection.plain)
        next = put_smallstr(p, text, n);
      else
        next = put_written(b, text, n, p);
    }
    else
      next = put_small(L, i, type, 0, p);
    if (tg_unlikely(next == NULL))
      break;
    p = next;
  }
  b->p = p;
  b->done = i - list->first;
}

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

/* By the public API. The short way needs room for all that it may write, so
   that it need not look at each value whether there is; near a chunk's end the
   list goes the long way, which does. */
static uint8_t *put_asking (tg_Session *s, lua_State *L,
                            const tg_ValueList *list, uint8_t *p,
                            uint8_t *lim) {
  Begun b = {s, p, p + 4, lim, -1, 0, false};
  if (list->count <= TG_PLAIN_MAX && list->varargs == 0 && list->veil == NULL
      && (size_t)(lim - p) >= TG_PLAIN_ROOM) {
    put_simple(L, list, &b);
    if (b.done == list->count) {
      put_size(&b, b.p, b.refers);
      return b.p;
    }
  }
  return put_rest(L, list, &b);
}

/* From memory. What that alone does not tell is found out by the public API,
   from the beginning of the list: '*asked'. Plain lists were tried before, in
   the hook (emitcall.h), but where both ways are compared. */
TG_INLINE uint8_t *put_direct (tg_Session *s, lua_State *L,
                            const tg_ValueList *list, const void *base,
                            uint8_t *p, uint8_t *lim, bool *asked) {
  *asked = false;
  if (TG_CROSSCHECKED && list->varargs == 0 && list->veil == NULL
      && (size_t)(lim - p) >= TG_PLAIN_ROOM) {
    uint8_t *end = tg_capture_plain(s, base, list->first, list->count, p);
    if (end != NULL)
      return end;
  }
  uint8_t *end = tg_capture_slots(s, L, list, base, p, lim, asked);
  return tg_unlikely(*asked) ? put_asking(s, L, list, p, lim) : end;
}

#ifdef TG_CROSSCHECK

#include <stdlib.h>

/* Both ways, at the same place, what is known of strings being as it was; from
   memory twice, since the first time may have had to ask. */
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
  memcpy(s->writer.written, before, sizeof before);
  end = put_asking(s, L, list, p, lim);
  if (end != NULL)
    tg_crosscheck_bytes(bytes, n, p, (size_t)(end - p));
  free(bytes);
  return end;
}

#else

TG_INLINE uint8_t *put_both (tg_Session *s, lua_State *L,
                             const tg_ValueList *list, const void *base,
                             uint8_t *p, uint8_t *lim) {
  bool asked;
  return put_direct(s, L, list, base, p, lim, &asked);
}

#endif

/* At whatever event: nothing of the program runs before the list is complete,
   so what has been read of an object stays true until then. */
uint8_t *tg_capture_list (tg_Session *s, lua_State *L, const tg_ValueList *list,
                          uint8_t *p, uint8_t *lim) {
  tg_assert(p <= lim && list->count >= 0 && list->varargs >= 0);
  const void *base = base_of(s, L, list);
  return (base != NULL) ? put_both(s, L, list, base, p, lim)
                        : put_asking(s, L, list, p, lim);
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
