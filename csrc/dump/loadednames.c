/* loadednames.c - see loadednames.h. */
#include "dump/loadednames.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "text/fieldname.h"

#define NAME 256u
#define MODULE_STEPS 20000u     /* entries looked at of one module, */
#define MODULES 2000u           /* and modules */

static void put (tg_LoadedNames *names, uint64_t key,
                 const tg_FieldName *name) {
  uint32_t place = tg_intmap_find(&names->places, key);
  if (place == TG_INTMAP_NONE) {
    place = names->count;
    if (!tg_grow(&names->list, &names->capacity, place + 1,
                 sizeof *names->list)
        || !tg_intmap_set(&names->places, key, place))
      return;
    names->list[names->count++] = (tg_LoadedName){0};
  }
  else if (names->list[place].name != NULL
           && !tg_fieldname_is_better(name, names->list[place].name,
                                      names->list[place].global))
    return;
  tg_free(names->list[place].name);
  names->list[place] = (tg_LoadedName){tg_strcopy(name->text),
                                        name->global};
}

static void consider (tg_LoadedNames *names, uint64_t key, const char *module,
                      const char *field) {
  tg_FieldName name;
  if (tg_fieldname_make(&name, module, field))
    put(names, key, &name);
}

static void look_in (tg_LoadedNames *names, tg_Sight *s, const char *module,
                     uint64_t table) {
  tg_SeenTable t;
  char field[NAME];
  tg_seen_traverse(s, table, MODULE_STEPS, &t);
  while (tg_seen_next(s, &t)) {
    if (tg_seen_type(t.value) == TG_SEEN_FUNCTION
        && tg_seen_type(t.key) == TG_SEEN_STRING
        && tg_seen_name(s, t.key.bits, field, sizeof field))
      consider(names, t.value.bits, module, field);
  }
}

void tg_loadednames_add (tg_LoadedNames *names, tg_Sight *s,
                         uint64_t shared) {
  tg_SeenTable t;
  char module[NAME];
  uint64_t registry = tg_state_registry(s, shared);
  tg_SeenValue loaded = tg_seen_field(s, registry, "_LOADED");
  if (tg_seen_type(loaded) != TG_SEEN_TABLE)
    return;
  tg_seen_traverse(s, loaded.bits, MODULES, &t);
  while (tg_seen_next(s, &t)) {
    if (tg_seen_type(t.key) != TG_SEEN_STRING
        || !tg_seen_name(s, t.key.bits, module, sizeof module))
      continue;
    if (tg_seen_type(t.value) == TG_SEEN_FUNCTION)
      consider(names, t.value.bits, module, NULL);
    else if (tg_seen_type(t.value) == TG_SEEN_TABLE)
      look_in(names, s, module, t.value.bits);
  }
}

const char *tg_loadednames_find (const tg_LoadedNames *names,
                                 tg_SeenValue function) {
  uint32_t place = tg_intmap_find(&names->places, function.bits);
  return (place == TG_INTMAP_NONE) ? NULL : names->list[place].name;
}

void tg_loadednames_free (tg_LoadedNames *names) {
  for (uint32_t i = 0; i < names->count; i++)
    tg_free(names->list[i].name);
  tg_free(names->list);
  tg_intmap_free(&names->places);
  *names = (tg_LoadedNames){0};
}
