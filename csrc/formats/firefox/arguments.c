/*
** arguments.c - see arguments.h. The work runs on any thread, for processed.c,
** which takes the entries on its own.
**
** Of each packet with arguments the batch's text has the entry, and behind it
** two bytes for each place in it where the number of a shape stands. A batch is
** with one thread at a time, and so is its desk. Memory that was refused shows
** in the batch's text.
*/
#include "formats/firefox/arguments.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

/* The number that a shape of the desk has in 'shapes'. */
typedef struct Known {
  const tg_Intern *shapes;
  uint32_t number;
} Known;

/* What one thread has to make entries of a batch with. Its shapes are numbered
   by itself, without a look at other threads; they get the document's numbers
   when the entries are taken, in order. */
typedef struct Desk {
  tg_TracedValues values;     /* owns */
  tg_Intern shapes;           /* owns */
  tg_Buf places;              /* owns; of the latest entry */
  Known *known;               /* owns; by shape, as far as there are */
  uint32_t nknown;
} Desk;

/* Numbers that are known belong to these shapes: both go together. */
static void clear_shapes (Desk *d) {
  tg_intern_free(&d->shapes);
  tg_free(d->known);
  d->known = NULL;
  d->nknown = 0;
}

static void free_desk (void *own) {
  Desk *d = own;
  tg_tracedvalues_free(&d->values);
  clear_shapes(d);
  tg_buf_free(&d->places);
  tg_free(d);
}

/* A batch keeps its desk: shapes are mostly those of the batches before. */
static Desk *desk_of (const tg_Export *x, tg_Batch *b) {
  Desk *d = b->own;
  if (d != NULL)
    return d;
  d = tg_calloc(1, sizeof *d);
  if (d == NULL)
    return NULL;
  d->values = (tg_TracedValues){
    .functions = x->stream->functions, .selection = x->selection,
    .shapes = &d->shapes, .places_of = &d->places, .most = UINT32_MAX
  };
  b->own = d;
  b->free_own = free_desk;
  return d;
}

/* The places go behind the entry, whose size says where they begin. */
static void put_entry (Desk *d, tg_Batch *b, const tg_Packet *p) {
  tg_buf_clear(&d->places);
  tg_tracedvalues_arguments(&d->values, &b->text, p);
  tg_buf_add(&b->text, d->places.data, d->places.size);
  b->text.failed = b->text.failed || d->values.failed || d->places.failed;
}

/* Any other call needs no entry: its sample has a tag that says so. */
static bool has_arguments (const tg_Packet *p) {
  tg_ValueCursor c;
  if (p->why != TG_WHY_ENTER || p->values.data == NULL)
    return false;
  tg_values_open(&c, p->values);
  return tg_values_var(&c) > 0;
}

/* Shapes of a program that makes ever new ones would fill memory: the desk
   begins anew when it has more than a document may have. */
void tg_arguments_work (void *ud, tg_Batch *b) {
  const tg_Export *x = ud;
  Desk *d = desk_of(x, b);
  if (d == NULL) {
    b->text.failed = true;
    return;
  }
  if (d->shapes.count > TG_TRACEDVALUES_SHAPES)
    clear_shapes(d);
  for (; b->worked < b->count; b->worked++) {
    const tg_Packet *p = &b->packets[b->worked];
    if (!x->idle && has_arguments(p))
      put_entry(d, b, p);
    b->ends[b->worked] = (uint32_t)b->text.size;
  }
}

/* The number in 'shapes' of a shape of the desk; TG_INTMAP_NONE without
   memory. On the writing thread, which has the batch and so its desk. A desk
   knows the numbers of one table only; each track may have its own. */
static uint32_t number_of (Desk *d, tg_Intern *shapes, uint32_t shape) {
  size_t size;
  if (!tg_grow_zeroed(&d->known, &d->nknown, shape + 1, sizeof *d->known))
    return TG_INTMAP_NONE;
  Known *k = &d->known[shape];
  if (k->shapes == shapes)
    return k->number;
  const char *text = tg_intern_get(&d->shapes, shape, &size);
  uint32_t number = tg_intern_add(shapes, text, size);
  if (number != TG_INTMAP_NONE)
    *k = (Known){shapes, number};
  return number;
}

/* Puts the number of a shape right; 'p' is where it stands. */
static bool renumber (Desk *d, tg_Intern *shapes, char *p) {
  uint32_t shape;
  memcpy(&shape, p, sizeof shape);
  uint32_t number = number_of(d, shapes, shape);
  memcpy(p, &number, sizeof number);
  return number != TG_INTMAP_NONE;
}

/* Near the limit of shapes it depends on the order of calls which tables still
   get one: then the entry is made here, in order, and what the work made is
   dropped. */
bool tg_arguments_add (const tg_Export *x, tg_TracedValues *v,
                       const tg_Packet *p, tg_Buf *out) {
  tg_Slice made = tg_export_worked(x);
  Desk *d = x->batch->own;
  uint16_t size, place;
  size_t at = out->size;
  tg_assert(made.size > sizeof size && d != NULL);
  memcpy(&size, made.data, sizeof size);
  size_t places = (made.size - size) / sizeof place;
  if (v->shapes->count + places >= TG_TRACEDVALUES_SHAPES) {
    tg_tracedvalues_arguments(v, out, p);
    return !v->failed;
  }
  bool ok = tg_tracedvalues_begin(v);
  tg_buf_add(out, made.data, size);
  for (size_t i = 0; ok && !out->failed && i < places; i++) {
    memcpy(&place, made.data + size + i * sizeof place, sizeof place);
    tg_assert(place + sizeof(uint32_t) <= size);
    ok = renumber(d, v->shapes, out->data + at + place);
  }
  return ok && !out->failed;
}
