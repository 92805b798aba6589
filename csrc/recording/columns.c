/*
** columns.c - see columns.h.
**
** Both ways are one loop over events that asks of each whether there is room
** once, for all but its values: in the last bytes of a block, its *rest*, there
** may be none, so the loop goes over these in memory of its own, which has
** some. What is missing then shows in the end.
*/
#include "recording/columns.h"

#include <string.h>

#include "stream/event.h"
#include "stream/eventreader.h"
#include "stream/eventshape.h"

/* An event without its values has fewer bytes, with what is copied beyond. */
#define MARGIN TG_COLUMNS_SLACK

_Static_assert(4 + 16 + TG_SHAPE_COUNT_MAX <= MARGIN,
               "a head, numbers as they are copied, and a count");

/*
** {==================================================================
** Bytes
** ===================================================================
*/

/* As many for any number up to that. */
TG_INLINE void copy16 (uint8_t *to, const uint8_t *from) {
  memcpy(to, from, 16);
}

/* Of both there are 'room' bytes at least from there on. Most lists of values
   are within the first words, which are copied without a question. */
TG_INLINE void copy (uint8_t *to, const uint8_t *from, size_t size,
                     size_t room) {
  if (tg_unlikely(size + 32 > room)) {
    memcpy(to, from, size);
    return;
  }
  copy16(to, from);
  copy16(to + 16, from + 16);
  for (size_t done = 32; tg_unlikely(done < size); done += 16)
    copy16(to + done, from + done);
}

/* }================================================================== */

/*
** {==================================================================
** Split
** ===================================================================
*/

typedef struct Split {
  const uint8_t *p, *end;       /* events */
  uint8_t *heads, *low, *high, *values;
  size_t bare;                  /* bytes of bare events */
} Split;

/* Gives where it goes on; 'p' NULL: nowhere. */
static Split split_bare (Split s) {
  tg_Event e;
  const uint8_t *origin = s.p;
  size_t size = tg_event_decode(&origin, s.p, (size_t)(s.end - s.p), &e);
  if (size == 0) {
    s.p = NULL;
    return s;
  }
  *s.heads++ = *s.p;
  s.heads = tg_putvar(s.heads, size - 1);
  memcpy(s.heads, s.p + 1, size - 1);
  s.heads += size - 1;
  s.p += size;
  s.bare += size;
  return s;
}

/* There are MARGIN bytes, of which some may be behind the end. */
TG_INLINE bool split_values (Split *s, tg_EventShape shape) {
  if (shape.count == TG_SHAPE_NONE)
    return s->p <= s->end;
  size_t n = tg_eventshape_values(s->p, shape);
  ptrdiff_t left = s->end - s->p;
  if (tg_unlikely(n == 0 || left < 0 || n > (size_t)left))
    return false;
  copy(s->values, s->p, n, (size_t)left);
  s->values += n;
  s->p += n;
  return true;
}

TG_INLINE bool split_sorted (Split *s, tg_EventShape shape) {
  const uint8_t *p = s->p;
  s->p += shape.size;
  *s->heads++ = p[0];
  *s->low++ = p[1];
  memcpy(s->high, p + 2, 2);
  s->high += shape.high;
  copy16(s->heads, p + 2 + shape.high);
  s->heads += shape.numbers;
  return split_values(s, shape);
}

/* Events that begin before 'stop', from where on MARGIN bytes can be read. What
   is written might be a part of '*from': so that is a variable here whose
   address nobody has, and stays in registers. */
static bool split_until (Split *from, const uint8_t *stop) {
  Split s = *from;
  while (s.p < stop) {
    tg_EventShape shape = tg_eventshapes[*s.p];
    if (tg_unlikely(shape.size == 0))
      s = split_bare(s);
    else if (!split_sorted(&s, shape))
      return false;
    if (s.p == NULL)
      return false;
  }
  *from = s;
  return s.p <= s.end;
}

/* The events that begin in the last bytes. */
static bool split_rest (Split *s) {
  uint8_t rest[2 * MARGIN] = {0};
  size_t left = (size_t)(s->end - s->p);
  memcpy(rest, s->p, left);
  s->p = rest;
  s->end = rest + left;
  return split_until(s, s->end);
}

size_t tg_columns_room (size_t size) {
  return tg_columns_most(size) + size / 3 + size / 2 + size
         + TG_COLUMNS * TG_COLUMNS_SLACK;
}

/* The shortest event that has a delta of two or of three bytes is a return of
   three or four. */
bool tg_columns_split (const uint8_t *data, size_t size, uint8_t *memory,
                       tg_EventColumns *c) {
  uint8_t *heads = memory;
  uint8_t *low = heads + tg_columns_most(size) + TG_COLUMNS_SLACK;
  uint8_t *high = low + size / 3 + TG_COLUMNS_SLACK;
  uint8_t *values = high + size / 2 + TG_COLUMNS_SLACK;
  Split s = {data, data + size, heads, low, high, values, 0};
  bool good = (size < MARGIN || split_until(&s, s.end - MARGIN + 1))
              && split_rest(&s) && s.bare <= size / 2;
  *c = (tg_EventColumns){{
    {heads, (size_t)(s.heads - heads)}, {low, (size_t)(s.low - low)},
    {high, (size_t)(s.high - high)}, {values, (size_t)(s.values - values)}
  }};
  return good;
}

/* }================================================================== */

/*
** {==================================================================
** Join
** ===================================================================
*/

typedef struct Join {
  uint8_t *to, *end;            /* events */
  const uint8_t *heads, *low, *high, *values;
  const uint8_t *ends[TG_COLUMNS];
} Join;

/* Whether no more was taken of the columns than they have: one question. */
TG_INLINE bool has_all (const Join *j) {
  return ((j->ends[TG_COLUMN_HEADS] - j->heads)
          | (j->ends[TG_COLUMN_LOW] - j->low)
          | (j->ends[TG_COLUMN_HIGH] - j->high)) >= 0;
}

/* Gives where it goes on; 'to' NULL: nowhere. */
static Join join_bare (Join j) {
  tg_ByteReader b = {j.heads + 1, j.ends[TG_COLUMN_HEADS], false};
  uint64_t size = tg_takevar(&b);
  const uint8_t *rest = tg_take(&b, size);
  if (rest == NULL || size >= (uint64_t)(j.end - j.to)) {
    j.to = NULL;
    return j;
  }
  *j.to++ = *j.heads;
  memcpy(j.to, rest, size);
  j.to += size;
  j.heads = b.p;
  return j;
}

TG_INLINE bool join_values (Join *j, tg_EventShape shape) {
  size_t n = tg_eventshape_values(j->values, shape);
  size_t there = (size_t)(j->ends[TG_COLUMN_VALUES] - j->values);
  ptrdiff_t left = j->end - j->to;
  bool bad = n == 0 && shape.count != TG_SHAPE_NONE;
  if (tg_unlikely(bad || n > there || left < 0 || n > (size_t)left))
    return false;
  copy(j->to, j->values, n, (size_t)left);
  j->to += n;
  j->values += n;
  return true;
}

TG_INLINE bool join_sorted (Join *j, tg_EventShape shape) {
  uint8_t *to = j->to;
  to[0] = *j->heads++;
  to[1] = *j->low++;
  memcpy(to + 2, j->high, 2);
  j->high += shape.high;
  to += 2 + shape.high;
  copy16(to, j->heads);
  j->heads += shape.numbers;
  j->to = to + shape.numbers;
  return has_all(j) && join_values(j, shape);
}

/* Events that begin before 'stop', from where on MARGIN bytes can be written.
   In registers, as when they are split. */
static bool join_until (Join *from, const uint8_t *stop) {
  Join j = *from;
  while (j.to < stop && j.heads < j.ends[TG_COLUMN_HEADS]) {
    tg_EventShape shape = tg_eventshapes[*j.heads];
    if (tg_unlikely(shape.size == 0))
      j = join_bare(j);
    else if (!join_sorted(&j, shape))
      return false;
    if (j.to == NULL)
      return false;
  }
  *from = j;
  return j.to >= stop && j.to <= j.end;
}

/* The events that begin in the last bytes. */
static bool join_rest (Join *j) {
  uint8_t rest[2 * MARGIN], *to = j->to;
  size_t left = (size_t)(j->end - to);
  j->to = rest;
  j->end = rest + left;
  if (!join_until(j, j->end) || j->to != j->end)
    return false;
  memcpy(to, rest, left);
  return true;
}

bool tg_columns_join (const tg_EventColumns *c, uint8_t *to, size_t size) {
  Join j = {.to = to, .end = to + size};
  for (int i = 0; i < TG_COLUMNS; i++)
    j.ends[i] = c->list[i].data + c->list[i].size;
  j.heads = c->list[TG_COLUMN_HEADS].data;
  j.low = c->list[TG_COLUMN_LOW].data;
  j.high = c->list[TG_COLUMN_HIGH].data;
  j.values = c->list[TG_COLUMN_VALUES].data;
  return (size < MARGIN || join_until(&j, j.end - MARGIN + 1))
         && join_rest(&j)
         && j.heads == j.ends[TG_COLUMN_HEADS]
         && j.low == j.ends[TG_COLUMN_LOW]
         && j.high == j.ends[TG_COLUMN_HIGH]
         && j.values == j.ends[TG_COLUMN_VALUES];
}

/* }================================================================== */
