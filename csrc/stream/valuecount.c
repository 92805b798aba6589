/*
** valuecount.c - see valuecount.h. Called by the reader, for each event with
** values.
**
** Each function takes the place of something in the bytes and gives the place
** behind it, NULL where the bytes are bad. What a tag says of its size is all
** that is looked at.
*/
#include "stream/valuecount.h"

#include "stream/values.h"

/* What is gone through, and what it is counted in. */
typedef struct Place {
  const uint8_t *end, *origin;
  tg_CountedModels *models;
  tg_ValueCount *count;
} Place;

/* Behind a number of 'values.h'. */
TG_INLINE const uint8_t *pass_var (const uint8_t *p, const uint8_t *end) {
  while (p < end) {
    if (*p++ < 0x80)
      return p;
  }
  return NULL;
}

/* The number at '*p', which goes behind it; '*p' becomes NULL if it is bad. */
TG_INLINE uint64_t take_var (const uint8_t **p, const uint8_t *end) {
  uint64_t v = 0;
  for (unsigned shift = 0; *p < end && shift < 64; shift += 7) {
    uint8_t b = *(*p)++;
    v |= (uint64_t)(b & 0x7f) << shift;
    if (b < 0x80)
      return v;
  }
  *p = NULL;
  return 0;
}

TG_INLINE const uint8_t *pass_bytes (const uint8_t *p, const uint8_t *end,
                                     uint64_t size) {
  return size <= (uint64_t)(end - p) ? p + size : NULL;
}

/* A number, and so many bytes. */
static const uint8_t *pass_counted (const uint8_t *p, const uint8_t *end) {
  uint64_t size = take_var(&p, end);
  return p != NULL ? pass_bytes(p, end, size) : NULL;
}

/* Behind a tag that does not tell the size. */
static TG_NOINLINE const uint8_t *pass_large (const uint8_t *p,
                                              const uint8_t *end, uint8_t tag,
                                              uint64_t *strings) {
  switch (tag) {
    case TG_GRIP_FLOAT: return pass_bytes(p, end, 8);
    case TG_GRIP_OBJECT: return pass_var(p, end);
    case TG_GRIP_NOROOM: return pass_bytes(p, end, 1);
    case TG_GRIP_VEILOBJ: return p;
    case TG_GRIP_STRING:
      ++*strings;
      p = pass_var(p, end);
      return p != NULL ? pass_counted(p, end) : NULL;
    case TG_GRIP_STRAGAIN:
      ++*strings;
      return pass_var(p, end);
    case TG_GRIP_VEIL: return pass_counted(p, end);
    case TG_GRIP_VEILTEXT:
      ++*strings;
      return pass_counted(p, end);
    default: return tg_values_are_again(tag)
                    ? pass_bytes(p, end, TG_SMALLAGAIN_SIZE - 1) : NULL;
  }
}

/* Bytes that follow a tag from SMALLSTR on: those of a short string. Without a
   branch, since strings, objects and numbers come in any order. */
TG_INLINE uint32_t size_behind (uint32_t tag) {
  uint32_t is_string = (tag >> 7) - 1;      /* all bits, or none */
  return tag & TG_GRIP_SMALLMAX & is_string;
}

_Static_assert(TG_GRIP_SMALLSTR == 0x40 && TG_GRIP_SMALLOBJ == 0x80,
               "the highest bit tells strings from what takes a tag alone");

/* Most grips are a tag, or a tag and a few bytes that it counts. */
TG_INLINE const uint8_t *pass_grip (const uint8_t *p, const uint8_t *end,
                                    uint64_t *strings) {
  if (tg_unlikely(p >= end))
    return NULL;
  uint8_t tag = *p++;
  if (tg_likely(tag >= TG_GRIP_SMALLSTR))
    return pass_bytes(p, end, size_behind(tag));
  if (tag <= TG_GRIP_REDACTED)
    return p;
  if (tag == TG_GRIP_INT)
    return pass_var(p, end);
  return pass_large(p, end, tag, strings);
}

/* Behind END, which closes the properties at 'p': '*n' are added to. */
TG_INLINE const uint8_t *pass_properties (const uint8_t *p,
                                          const uint8_t *end, uint64_t *n,
                                          uint64_t *strings) {
  while (p != NULL && p < end) {
    if (*p == TG_GRIP_END)
      return p + 1;
    ++*n;
    p = pass_grip(p, end, strings);
    if (p != NULL)
      p = pass_grip(p, end, strings);
  }
  return NULL;
}

/* What a head says, in one form. */
typedef struct Kind {
  uint8_t first;          /* a type, or LIKE or UNLIKE */
  bool nexts;
  uint32_t flags;
} Kind;

/* Behind a head, which is at 'p' and not NAMED. */
TG_INLINE const uint8_t *pass_head (const uint8_t *p, const uint8_t *end,
                                    Kind *k) {
  uint8_t first = *p++;
  *k = (Kind){.first = first};
  if (tg_likely(tg_values_are_short(first))) {
    unsigned form = first & TG_SHORT_FORM;
    k->flags = tg_values_short_flags(first);
    k->nexts = form >= TG_SHORT_LIKE_NEXT;
    k->first = form == TG_SHORT_TABLE ? TG_OBJ_TABLE
               : form == TG_SHORT_LIKE || form == TG_SHORT_LIKE_NEXT
               ? TG_DESC_LIKE : TG_DESC_UNLIKE;
    return p;
  }
  if (first == TG_DESC_DEFINED) {
    *k = (Kind){.first = TG_OBJ_FUNCTION, .flags = TG_DESC_FUNCTION};
    return p;
  }
  if (p >= end)
    return NULL;
  k->flags = *p++;
  return p;
}

/* Behind what the flags say comes before properties. */
TG_INLINE const uint8_t *pass_parts (const uint8_t *p, const uint8_t *end,
                                     uint32_t flags) {
  uint64_t strings = 0;
  if (p != NULL && (flags & TG_DESC_CLASS))
    p = pass_grip(p, end, &strings);
  if (p != NULL && (flags & TG_DESC_PROTO))
    p = pass_grip(p, end, &strings);
  if (p != NULL && (flags & TG_DESC_FUNCTION))
    p = pass_var(p, end);
  return p;
}

/* How many properties the table has whose descriptor is at 'there', before
   'end'. */
static TG_NOINLINE uint64_t count_model (const uint8_t *there,
                                         const uint8_t *end) {
  uint64_t n = 0, strings = 0;
  Kind k;
  const uint8_t *p = pass_head(there, end, &k);
  p = pass_parts(p, end, k.flags);
  if (p != NULL && k.first == TG_OBJ_TABLE && (k.flags & TG_DESC_PROPS))
    pass_properties(p, end, &n, &strings);
  return n;
}

/* The same of the table there, before 'head'. */
static uint64_t properties_of (Place *w, const uint8_t *head,
                               const uint8_t *there) {
  uint32_t at = (uint32_t)(there - w->origin) + 1;
  tg_CountedModel *known = &w->models->list[at % TG_COUNTED_MODELS];
  if (known->at != at)
    *known = (tg_CountedModel){at, (uint32_t)count_model(there, head)};
  return known->properties;
}

/* A table like another one, whose descriptor is at 'head' and its way to the
   other at 'p'; or one of which a redaction has left the number alone. */
static const uint8_t *pass_like (Place *w, const uint8_t *head, Kind k,
                                 const uint8_t *p) {
  uint64_t strings = 0;
  uint64_t number = take_var(&p, w->end);
  uint64_t differ = p != NULL ? take_var(&p, w->end) : 0;
  if (p != NULL && k.nexts)
    p = pass_var(p, w->end);
  for (; p != NULL && differ != 0; differ &= differ - 1)
    p = pass_grip(p, w->end, &strings);
  if (p == NULL)
    return NULL;
  if (k.first == TG_DESC_UNLIKE) {
    w->count->alike += number <= TG_LIKE_MOST ? number : 0;
    return p;
  }
  const uint8_t *there = tg_values_place(w->origin, head, number);
  if (there == NULL || there >= head)
    return NULL;
  w->count->alike += properties_of(w, head, there);
  return p;
}

static const uint8_t *pass_object (Place *w, const uint8_t *head) {
  tg_ValueCount *count = w->count;
  Kind k;
  if (tg_values_are_named(*head)) {
    count->objects += (*head & TG_NAMED_MOST) + 1;
    return head + 1;
  }
  const uint8_t *p = pass_head(head, w->end, &k);
  p = pass_parts(p, w->end, k.flags);
  if (k.first == TG_OBJ_FUNCTION)
    count->functions++;
  else
    count->objects++;
  if (p == NULL || k.first > TG_DESC_UNLIKE)
    return NULL;
  if (k.first >= TG_DESC_LIKE)
    return pass_like(w, head, k, p);
  return (k.flags & TG_DESC_PROPS)
         ? pass_properties(p, w->end, &count->properties, &count->strings) : p;
}

/* Grips, then objects up to the end (values.h). */
void tg_valuecount (tg_ValueCount *count, tg_Slice values,
                    tg_CountedModels *models) {
  const uint8_t *p = values.data, *end = p + values.size;
  Place w = {end, values.origin, models, count};
  *count = (tg_ValueCount){0};
  uint64_t n = take_var(&p, end);
  if (n > TG_VALUES_MAX)
    n = TG_VALUES_MAX;
  for (; p != NULL && n > 0; n--)
    p = pass_grip(p, end, &count->strings);
  while (p != NULL && p < end)
    p = pass_object(&w, p);
}
