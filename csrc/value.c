/*
** Breadth first: the values themselves, then, in order of their pool index,
** the descriptors of the objects met. So an object's level is its distance,
** and an argument is listed as an argument even if it was met inside another
** one first.
*/
#include "value.h"
#include "capture.h"

/*
** One of the values of the list, at stack index 'i', where it stays. Whether
** it has a metatable is looked at later, so that arguments come first.
*/
static void put_outer (tg_Capture *c, int i) {
  int type = lua_type(c->L, i);
  if (put_scalar(c, i, type))
    return;
  if (type == LUA_TLIGHTUSERDATA && lua_touserdata(c->L, i) == NULL) {
    *c->p++ = TG_GRIP_NULL;
    return;
  }
  bool fresh;
  uint32_t id = enter(c, lua_topointer(c->L, i), type, 0, i, &fresh);
  put_object(c, id, type);
}

static bool secret_parameter (tg_Capture *c, const tg_Function *f, int i) {
  return f != NULL && i < f->nparams && f->params != NULL
         && tg_demand_secret(&c->session->demand, f->params[i]);
}

static void put_fixed (tg_Capture *c, const tg_ValueList *list, int n) {
  for (int i = 0; i < n && c->p != NULL; i++) {
    if (tg_unlikely(secret_parameter(c, list->secrets, i))) {
      if (room(c, ROOM))
        *c->p++ = TG_GRIP_REDACTED;
    }
    else
      put_outer(c, list->first + i);
  }
}

/* Extra arguments have no stack index: what is an object stays pushed. */
static void put_varargs (tg_Capture *c, const tg_ValueList *list, int n) {
  c->pushed = n > 0;
  for (int i = 1; i <= n && c->p != NULL; i++) {
    if (lua_getlocal(c->L, list->ar, -i) == NULL) {
      if (room(c, ROOM))
        *c->p++ = TG_GRIP_NIL;
      continue;
    }
    put_outer(c, lua_gettop(c->L));
    if (lua_type(c->L, -1) < LUA_TTABLE
        && lua_type(c->L, -1) != LUA_TLIGHTUSERDATA)
      lua_pop(c->L, 1);
  }
}

/* A list that may be long, have extra arguments, and secrets. */
static void put_list (tg_Capture *c, const tg_ValueList *list) {
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
}

/* What has been written of a list. */
typedef struct Begun {
  uint8_t *start;       /* of its size */
  uint8_t *p;           /* where it goes on */
  int done;             /* values written; -1: not even how many there are */
} Begun;

/* The rest of a list, and the objects in it. */
static TG_NOINLINE uint8_t *put_rest (tg_Session *s, lua_State *L,
                                      const tg_ValueList *list, Begun b,
                                      uint8_t *lim) {
  tg_Capture c = {.session = s, .L = L, .limits = &s->demand.limits,
               .pool = &s->pool, .p = b.p, .lim = lim,
               .in_stream = lim == s->recorder.lim};
  int top = lua_gettop(L);
  s->captures++;
  if (b.done < 0)
    put_list(&c, list);
  for (int i = b.done; i >= 0 && i < list->count && c.p != NULL; i++)
    put_outer(&c, list->first + i);
  for (uint32_t id = 0; c.p != NULL && id < c.pool->count; id++)
    tg_capture_descriptor(&c, id);
  tg_pool_clear(c.pool);
  if (tg_unlikely(c.pushed))
    lua_settop(L, top);
  if (c.p != NULL)
    tg_put32(b.start, (uint32_t)(c.p - b.start - 4)
                      | (c.refers ? TG_VALUES_REFERS : 0u));
  else
    tg_capture_forget(&s->recorder);
  return c.p;
}

/*
** Most lists are a few numbers, short strings and booleans: no pool, no state.
** Writes the values up to the first that is anything else.
*/
TG_INLINE Begun put_simple (lua_State *L, const tg_ValueList *list,
                            uint32_t limit, uint8_t *start) {
  Begun b = {start, start + 4, 0};
  *b.p++ = (uint8_t)list->count;
  for (; b.done < list->count; b.done++) {
    int i = list->first + b.done;
    uint8_t *p = put_small(L, i, lua_type(L, i), limit, b.p);
    if (p == NULL)
      break;
    b.p = p;
  }
  return b;
}

#define SIMPLE_COUNT 6
#define SIMPLE_ROOM (16u + SIMPLE_COUNT * SMALL_ROOM)

uint8_t *tg_value_list (tg_Session *s, lua_State *L, const tg_ValueList *list,
                        uint8_t *p, uint8_t *lim) {
  Begun b = {p, p + 4, -1};
  if (list->count <= SIMPLE_COUNT && list->varargs == 0
      && list->secrets == NULL && (size_t)(lim - p) >= SIMPLE_ROOM) {
    b = put_simple(L, list, s->demand.limits.string, p);
    if (tg_likely(b.done == list->count)) {
      tg_put32(p, (uint32_t)(b.p - p - 4));
      return b.p;
    }
  }
  return put_rest(s, L, list, b, lim);
}

uint8_t *tg_value_text (const char *text, size_t size, uint32_t limit,
                        uint8_t *p, uint8_t *lim) {
  uint8_t *start = p;
  size_t kept = (size < limit) ? size : limit;
  if ((size_t)(lim - p) < kept + ROOM)
    return NULL;
  p = tg_putvar(p + 4, 1);
  *p++ = TG_GRIP_STRING;
  p = tg_putvar(p, size);
  p = tg_putvar(p, kept);
  memcpy(p, text, kept);
  p += kept;
  tg_put32(start, (uint32_t)(p - start - 4));
  return p;
}
