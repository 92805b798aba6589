/*
** listsecrets.c - see listsecrets.h.
*/
#include "reader/listsecrets.h"

#include <string.h>

#define CHAIN_MOST 4            /* pcall(pcall, f, ...), as in capture/veil.c */

bool tg_listsecrets_key (const tg_SecretNames *names, const tg_Grip *key) {
  return key->type == TG_STRING
         && (key->u.s.size < key->u.s.length
             || tg_selection_hides(names->selection, key->u.s.data,
                                   key->u.s.size));
}

/*
** {==================================================================
** Values of a list
** ===================================================================
*/

/* Value 'i'; NIL if there is none. */
static void value_at (tg_Slice values, uint32_t i, tg_Grip *g) {
  tg_ValueCursor c;
  g->type = TG_NIL;
  tg_values_open(&c, values);
  uint64_t n = tg_values_var(&c);
  if (i >= n || i >= TG_VALUES_MAX)
    return;
  for (uint32_t k = 0; k <= i && !c.bad; k++)
    tg_values_grip(&c, g);
}

/* The function that object 'id' is; NULL if it is none. */
static const tg_Function *function_of (const tg_SecretNames *names,
                                       tg_Slice values, uint32_t id) {
  tg_ValueCursor c;
  tg_Grip g;
  tg_Descriptor d = {0};
  tg_values_open(&c, values);
  uint64_t n = tg_values_var(&c);
  for (uint64_t k = 0; k < n && k < TG_VALUES_MAX && !c.bad; k++)
    tg_values_grip(&c, &g);
  for (uint32_t i = 0; !c.bad && c.p < c.end; i++) {
    tg_values_descriptor(&c, &d);
    if (i == id)
      return c.bad ? NULL : tg_functions_find(names->functions, d.function);
    if (d.flags & TG_DESC_PROPS)
      tg_values_skip_properties(&c);
  }
  return NULL;
}

/* The same of value 'i'. */
static const tg_Function *function_at (const tg_SecretNames *names,
                                       tg_Slice values, uint32_t i) {
  tg_Grip g;
  value_at(values, i, &g);
  return g.type == TG_OBJECT ? function_of(names, values, g.u.id) : NULL;
}

/* }================================================================== */

/*
** {==================================================================
** Parameters
** ===================================================================
*/

/* Each name is matched once for a list: a pattern that has used up its steps
   hides every name that it is asked about after that. */
static void ask_names (tg_ListSecrets *x, const tg_SecretNames *names,
                       const tg_Function *f) {
  if (f == NULL || f->params == NULL)
    return;
  for (uint32_t i = 0; i < f->nparams && i < TG_SECRETS_NAMED; i++) {
    if (tg_selection_secret(names->selection, f->params[i]))
      x->named[i / 64] |= UINT64_C(1) << i % 64;
  }
}

/* What pcall and xpcall are given is for the function that they call. */
static const tg_Function *look_beyond (tg_ListSecrets *x,
                                       const tg_SecretNames *names,
                                       const tg_Function *f, tg_Slice values) {
  for (int i = 0; i < CHAIN_MOST && f != NULL; i++) {
    uint32_t callee = x->passed;
    if (f->role != TG_ROLE_PCALL && f->role != TG_ROLE_XPCALL)
      break;
    x->passed += f->role == TG_ROLE_PCALL ? 1 : 2;
    f = function_at(names, values, callee);
  }
  return f;
}

void tg_listsecrets_passed (tg_ListSecrets *x, const tg_SecretNames *names,
                            tg_FunctionId function, uint32_t passed) {
  x->passed = passed;
  ask_names(x, names, tg_functions_find(names->functions, function));
}

/* }================================================================== */

/*
** {==================================================================
** Keys
** ===================================================================
*/

/* A function's name may have that of its table before it. */
static bool is_named (const tg_Function *f, const char *name) {
  size_t n, size = strlen(name);
  if (f->name == NULL || (n = strlen(f->name)) < size)
    return false;
  return strcmp(f->name + n - size, name) == 0
         && (n == size || f->name[n - size - 1] == '.'
             || f->name[n - size - 1] == ':');
}

static bool is_library (const tg_Function *f, const char *name) {
  return f->is_c && f->known && is_named(f, name);
}

static bool is_metamethod (const tg_Function *f, const char *name) {
  return !f->is_c && is_named(f, name);
}

/* Whether value 'i' is a key that names a secret. */
static bool is_key (const tg_SecretNames *names, tg_Slice values, uint32_t i) {
  tg_Grip key;
  value_at(values, i, &key);
  return tg_listsecrets_key(names, &key);
}

/* By a key that stands beside it: the value that is set, or what will be
   given. */
static tg_RedactGiven look_at_key (tg_ListSecrets *x,
                                   const tg_SecretNames *names,
                                   const tg_Function *f, tg_Slice values) {
  if (is_library(f, "next"))
    return TG_GIVEN_AFTER_KEY;
  if (is_library(f, "rawset") || is_metamethod(f, "__newindex"))
    x->hidden = is_key(names, values, 1) ? 3 : 0;
  else if (is_library(f, "rawget") || is_metamethod(f, "__index"))
    return is_key(names, values, 1) ? TG_GIVEN_ALL : TG_GIVEN_NOTHING;
  else if (is_library(f, "os.getenv"))
    return is_key(names, values, 0) ? TG_GIVEN_ALL : TG_GIVEN_NOTHING;
  return TG_GIVEN_NOTHING;
}

tg_RedactGiven tg_listsecrets_arguments (tg_ListSecrets *x,
                                         const tg_SecretNames *names,
                                         tg_FunctionId function,
                                         tg_Slice values) {
  const tg_Function *f = tg_functions_find(names->functions, function);
  if (f == NULL)
    return TG_GIVEN_NOTHING;
  tg_RedactGiven given = look_at_key(x, names, f, values);
  ask_names(x, names, look_beyond(x, names, f, values));
  return given;
}

void tg_listsecrets_results (tg_ListSecrets *x, const tg_SecretNames *names,
                             tg_RedactGiven given, tg_Slice values) {
  x->all = given == TG_GIVEN_ALL;
  if (given == TG_GIVEN_AFTER_KEY && is_key(names, values, 0))
    x->hidden = 2;
}

/* }================================================================== */
