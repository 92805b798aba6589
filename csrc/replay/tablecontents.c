/*
** tablecontents.c - see tablecontents.h. For history.c, with each list of a
** recording: most of them do not have the table, which is seen at their end
** alone, so objects are passed over first and read only if it is there.
*/
#include "replay/tablecontents.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "base/hash.h"

void tg_tablecontents_free (tg_TableContents *c) {
  tg_free(c->fields);
  memset(c, 0, sizeof *c);
}

void tg_tablesroom_free (tg_TablesRoom *room) {
  tg_free(room->objects);
  memset(room, 0, sizeof *room);
}

/*
** {==================================================================
** Which tables there are
** ===================================================================
*/

/* Behind the values. */
static void pass_values (tg_ValueCursor *c) {
  uint64_t n = tg_values_var(c);
  uint32_t id;
  for (uint64_t i = 0; i < n && i < TG_VALUES_MAX && !c->bad; i++)
    tg_values_pass(c, &id);
}

/* Behind the last descriptor; an id that is larger is damage. */
static void note_tables (tg_TablesRoom *room, tg_ValueCursor *c) {
  tg_KnownTable one;
  c->p += 2;
  while (tg_values_identity(c, &one) && one.id < room->count)
    room->objects[one.id].number = one.number;
}

/* The cursor is at the first descriptor. How many there are is known when they
   have been read. */
static bool read_objects (tg_TablesRoom *room, tg_ValueCursor c) {
  const uint8_t *first = c.p;
  room->count = 0;
  while (!c.bad && c.p < c.end) {
    if (tg_values_tells_identities(c.p, c.end)) {
      note_tables(room, &c);
      return true;
    }
    if (!tg_grow(&room->objects, &room->capacity, room->count + 1,
                 sizeof *room->objects))
      return false;
    room->objects[room->count++]
        = (tg_ListObject){.offset = (uint32_t)(c.p - first)};
    if (tg_values_pass_head(&c))
      tg_values_skip_properties(&c);
  }
  return true;
}

bool tg_tablecontents_tables (tg_TablesRoom *room, tg_Slice values) {
  tg_ValueCursor c;
  tg_values_open(&c, values);
  pass_values(&c);
  return read_objects(room, c);
}

/* }================================================================== */

/*
** {==================================================================
** Fields
** ===================================================================
*/

/* Of a kind of value and what it is; never that of what is hidden. */
static uint64_t mix (tg_GripType type, uint64_t what) {
  uint64_t h = (what ^ what >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb) + type;
  h = (h ^ h >> 31) * UINT64_C(0x9e3779b97f4a7c15);
  return h != TG_FIELD_HIDDEN ? h : 1;
}

static uint64_t of_scalar (const tg_Grip *g) {
  uint64_t word = 0;
  switch (g->type) {
    case TG_INT: word = (uint64_t)g->u.i; break;
    case TG_FLOAT: memcpy(&word, &g->u.f, sizeof word); break;
    case TG_STRING:
      word = tg_hash_bytes(g->u.s.data, g->u.s.size) + g->u.s.length;
      break;
    case TG_NOROOM: word = (uint64_t)g->u.object; break;
    case TG_NIL: case TG_FALSE: case TG_TRUE: case TG_NULL: case TG_OBJECT:
    case TG_REDACTED: case TG_END: default: break;
  }
  return mix(g->type, word);
}

uint64_t tg_tablecontents_key (const tg_Grip *key) {
  return of_scalar(key);
}

/* Where descriptors begin in the list, and which tables they are of. */
typedef struct List {
  tg_ValueCursor first;
  const tg_TablesRoom *room;
} List;

/* The descriptor 'id', with the cursor behind its head. A list has less than
   4 GiB (event.h). */
static tg_ValueCursor object_at (const List *list, uint32_t id,
                                 tg_Descriptor *d) {
  tg_ValueCursor c = list->first;
  c.p += list->room->objects[id].offset;
  tg_values_descriptor(&c, d);
  return c;
}

/* A table of which no number was told is any. */
static uint64_t of_object (const List *list, uint32_t id) {
  tg_Descriptor d;
  if (id >= list->room->count)
    return TG_FIELD_HIDDEN;
  uint32_t number = list->room->objects[id].number;
  if (number != 0)
    return mix(TG_OBJECT, number);
  object_at(list, id, &d);
  return mix(TG_NOROOM, (uint64_t)d.function << 8 | (uint64_t)d.type);
}

static uint64_t hash_of (const List *list, const tg_Grip *g) {
  if (g->type == TG_REDACTED)
    return TG_FIELD_HIDDEN;
  return g->type == TG_OBJECT ? of_object(list, g->u.id) : of_scalar(g);
}

static bool add (tg_TableContents *c, uint64_t key, uint64_t value) {
  if (!tg_grow(&c->fields, &c->capacity, c->count + 1, sizeof *c->fields))
    return false;
  c->fields[c->count++] = (tg_Field){key, value};
  return true;
}

/* The metatable is one more field, with a key that no field has. Beyond the
   depth that is listed there may be one all the same. */
static bool add_metatable (tg_TableContents *c, const List *list,
                           const tg_Descriptor *d) {
  const uint64_t key = mix(TG_END, 1);
  if (d->flags & TG_DESC_PROTO)
    return add(c, key, hash_of(list, &d->proto));
  return (d->flags & TG_DESC_META) == 0
         || add(c, key, TG_FIELD_HIDDEN);
}

/* A key that is hidden may be any. */
static bool add_fields (tg_TableContents *c, const List *list,
                        tg_ValueCursor *at, uint64_t wished) {
  tg_Grip key, v;
  while (tg_values_property(at, &key, &v)) {
    uint64_t k = hash_of(list, &key);
    if (k == TG_FIELD_HIDDEN)
      c->cut = true;
    else if ((wished == 0 || wished == k) && !add(c, k, hash_of(list, &v)))
      return false;
  }
  return true;
}

static tg_Told read_table (tg_TableContents *c, const List *list, uint32_t id,
                           uint64_t wished) {
  tg_Descriptor d;
  tg_ValueCursor at = object_at(list, id, &d);
  c->count = 0;
  c->sorted = false;
  c->cut = (d.flags & TG_DESC_TRUNCATED) != 0;
  if ((d.flags & TG_DESC_PROPS) == 0)
    return TG_TOLD_NAMED;
  if (!add_fields(c, list, &at, wished)
      || (wished == 0 && !add_metatable(c, list, &d)))
    return TG_TOLD_FAILED;
  return wished != 0 && c->cut && c->count == 0 ? TG_TOLD_NAMED
                                                : TG_TOLD_FIELDS;
}

tg_Told tg_tablecontents_read (tg_TableContents *c, tg_TablesRoom *room,
                               tg_Slice values, tg_Wished wished) {
  List list = {.room = room};
  tg_values_open(&list.first, values);
  pass_values(&list.first);
  if (!read_objects(room, list.first))
    return TG_TOLD_FAILED;
  for (uint32_t id = 0; id < room->count; id++) {
    if (room->objects[id].number == wished.table)
      return read_table(c, &list, id, wished.key);
  }
  return TG_TOLD_NOT;
}

/* }================================================================== */

/*
** {==================================================================
** Comparing
** ===================================================================
*/

static int by_key (const void *p, const void *q) {
  uint64_t a = ((const tg_Field *)p)->key, b = ((const tg_Field *)q)->key;
  return (a > b) - (a < b);
}

static void sort (tg_TableContents *c) {
  if (!c->sorted && c->count > 1)
    qsort(c->fields, c->count, sizeof *c->fields, by_key);
  c->sorted = true;
}

static bool is_same (const tg_TableContents *a, const tg_TableContents *b) {
  return a->count == b->count
         && (a->count == 0
             || memcmp(a->fields, b->fields, a->count * sizeof *a->fields)
                == 0);
}

/* Mostly all is as it was, in the same order. A field that only one of them has
   is there no more, or is new, unless the other one was cut. */
bool tg_tablecontents_differ (tg_TableContents *a, tg_TableContents *b) {
  uint32_t i = 0, j = 0;
  if (is_same(a, b))
    return false;
  sort(a);
  sort(b);
  while (i < a->count && j < b->count) {
    const tg_Field *f = &a->fields[i], *g = &b->fields[j];
    if (f->key < g->key ? !b->cut : f->key > g->key && !a->cut)
      return true;
    if (f->key == g->key && f->value != g->value
        && f->value != TG_FIELD_HIDDEN && g->value != TG_FIELD_HIDDEN)
      return true;
    i += f->key <= g->key;
    j += f->key >= g->key;
  }
  return (i < a->count && !b->cut) || (j < b->count && !a->cut);
}

/* }================================================================== */
