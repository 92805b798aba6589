/*
** shape.c - see shape.h. Called in the hook, at each call of a function that
** shares its line. Cannot fail.
**
** A shape is a number that is made in two ways, from what the public API says
** and from memory, and must come out the same: a definition that was made the
** one way is found the other. So both go over the same things in the same
** order, and what the API says of a chunk without debug information ("?",
** "(no name)") is said here of a string that is not there.
**
** The hash is FNV-1a, which takes a byte at a time and needs no end: what is
** hashed are names, a few bytes each. It need not withstand an enemy: whoever
** makes two functions on one line look alike deceives his own trace.
*/
#include "state/shape.h"
#include "direct/frame.h"

/* The byte that ends a name is in no name: "ab", "c" is not "a", "bc". */
static uint64_t add_name (uint64_t h, const char *name) {
  if (name == NULL)
    name = "?";             /* a chunk without debug information */
  while (*name != '\0')
    h = (h ^ (unsigned char)*name++) * UINT64_C(0x100000001B3);
  return (h ^ 0xff) * UINT64_C(0x100000001B3);
}

/* What is counted comes first, and then the names of what was counted. */
static uint64_t first_shape (unsigned nparams, bool vararg) {
  return UINT64_C(0xCBF29CE484222325) + nparams * 2u + vararg;
}

/* The function is on top of the stack, 'ar' has "u". lua_getlocal without a
   frame tells the names of parameters and pushes nothing; lua_getupvalue pushes
   the value, which is not looked at. */
uint64_t tg_shape_ask (lua_State *L, const lua_Debug *ar) {
  uint64_t h = first_shape(ar->nparams, ar->isvararg != 0);
  TG_STACK_GUARD(L);
  for (int i = 1; i <= ar->nparams; i++)
    h = add_name(h, lua_getlocal(L, NULL, i));
  for (int i = 1; i <= ar->nups; i++) {
    h = add_name(h, lua_getupvalue(L, -1, i));
    lua_pop(L, 1);
  }
  TG_STACK_CHECK(L);
  return h;
}

/* A name as the interpreter has it, a string; 'none' is what the API says in
   its place. */
static uint64_t add_string (uint64_t h, const void *string, const char *none) {
  size_t n;
  return add_name(h, (string != NULL) ? tg_direct_text(string, &n) : none);
}

/* Parameters are the first of a prototype's local variables. A stripped one has
   no variables described; fewer than it has parameters are taken for none. The
   number of upvalues is the closure's own, as lua_getinfo tells it. */
uint64_t tg_shape_read (const void *proto, unsigned upvalues) {
  unsigned n = tg_read8(proto, TG_AT_PROTO_PARAMS);
  uint64_t h = first_shape(n, tg_direct_is_vararg(proto));
  const void *locals = tg_read_pointer(proto, TG_AT_PROTO_LOCALS);
  const void *ups = tg_read_pointer(proto, TG_AT_PROTO_UPVALUES);
  bool named = tg_read32(proto, TG_AT_PROTO_NLOCALS) >= n;
  for (unsigned i = 0; i < n; i++)
    h = named ? add_string(h, tg_read_pointer(locals, i * TG_SIZE_LOCAL), "?")
              : add_name(h, NULL);
  for (unsigned i = 0; i < upvalues; i++)
    h = add_string(h, tg_read_pointer(ups, i * TG_SIZE_UPVALUE), "(no name)");
  return h;
}

#define KINDS 32u       /* of the first instructions, */
#define CONSTANTS 8u    /* and of constants that are looked at */

static uint64_t add_number (uint64_t h, uint64_t k) {
  return (h ^ k) * UINT64_C(0x9E3779B97F4A7C15);
}

/* A short string is told by the hash that the interpreter keeps with it, of a
   long one only the length is looked at. */
static uint64_t add_constant (uint64_t h, tg_Slot k) {
  size_t size = 0;
  if (tg_slot_variant(k) == TG_TAG_SHORT)
    return add_number(h, tg_read32(k.u.p, TG_AT_STRING_HASH));
  if (tg_slot_variant(k) == TG_TAG_LONG)
    tg_direct_long(k.u.p, &size);
  return add_number(h, size);
}

/* Bounded, since it is done at each call of a function that shares its line:
   what is known of an address may be of another function by now. */
uint64_t tg_shape_code (const void *proto) {
  uint32_t n = tg_read32(proto, TG_AT_PROTO_NCODE);
  uint32_t m = tg_read32(proto, TG_AT_PROTO_NCONSTANTS);
  const void *code = tg_read_pointer(proto, TG_AT_PROTO_CODE);
  const void *constants = tg_read_pointer(proto, TG_AT_PROTO_CONSTANTS);
  uint64_t h = add_number(n, m);
  for (uint32_t i = 0; i < n && i < KINDS; i++)
    h = add_number(h, tg_read32(code, (size_t)i * 4) & TG_CODE_KIND);
  for (uint32_t i = 0; i < m && i < CONSTANTS; i++)
    h = add_constant(h, tg_read_slot(constants, (size_t)i * TG_SIZE_SLOT));
  return h;
}
