/*
** contents.c - see contents.h.
**
** Called when a large recording has been closed, and by "info". For each list
** of values it is worked out how many bytes another option would save. Without
** the contents of tables the list has the grips of its values, and descriptors
** without properties of the objects among them; all other descriptors are there
** for those contents alone. Bytes that are no event end the count of their
** block.
*/
#include "recording/contents.h"

#include <stdarg.h>
#include <stdio.h>

#include "stream/eventreader.h"
#include "stream/values.h"

#define BLOCKS 32u          /* looked at, of a file that has more */
#define SHORT 16u           /* bytes of a string that are worth keeping */

typedef struct Count {
  uint64_t bytes[TG_NCONTENTS];
} Count;

/* ---- values ---- */

/* Counts the bytes beyond SHORT in the list's strings. Gives the number of
   objects among the values, which are the first of the pool. */
static uint64_t weigh_grips (tg_ValueCursor *c, Count *k) {
  uint64_t n = tg_values_var(c), objects = 0;
  tg_Grip g;
  for (uint64_t i = 0; i < n && i < TG_VALUES_MAX && !c->bad; i++) {
    const uint8_t *from = c->p;
    tg_values_grip(c, &g);
    size_t size = (size_t)(c->p - from);
    if (g.type == TG_STRING && size > SHORT)
      k->bytes[TG_CONTENTS_STRINGS] += size - SHORT;
    if (g.type == TG_OBJECT && g.u.id >= objects)
      objects = (uint64_t)g.u.id + 1;
  }
  return objects;
}

static void weigh_descriptors (tg_ValueCursor *c, uint64_t objects, Count *k) {
  tg_Descriptor d;
  for (uint64_t id = 0; !c->bad && c->p < c->end; id++) {
    const uint8_t *from = c->p;
    tg_values_descriptor(c, &d);
    if (id < objects && !c->bad)
      from = c->contents;
    if (d.flags & TG_DESC_PROPS)
      tg_values_skip_properties(c);
    k->bytes[TG_CONTENTS_TABLES] += (size_t)(c->p - from);
  }
}

/* 'counted' bytes tell the list's size. */
static void weigh_values (tg_Slice values, uint32_t counted, Count *k) {
  tg_ValueCursor c;
  uint64_t before = k->bytes[TG_CONTENTS_STRINGS]
                    + k->bytes[TG_CONTENTS_TABLES];
  tg_values_open(&c, values);
  uint64_t objects = weigh_grips(&c, k);
  weigh_descriptors(&c, objects, k);
  uint64_t apart = k->bytes[TG_CONTENTS_STRINGS]
                   + k->bytes[TG_CONTENTS_TABLES] - before;
  tg_assert(apart <= values.size);
  k->bytes[TG_CONTENTS_VALUES] += counted + values.size - apart;
}

/* ---- events ---- */

static int cause_of (const tg_Event *e) {
  if (e->kind == TG_EV_SAMPLE)
    return TG_CONTENTS_SAMPLES;
  bool other = e->kind == TG_EV_MARK || e->kind == TG_EV_ALLOCATIONS;
  return other ? TG_CONTENTS_OTHER : TG_CONTENTS_CALLS;
}

static bool has_values (const tg_Event *e) {
  return e->counted > 0;
}

static void weigh_event (const tg_Event *e, size_t size, Count *k) {
  if (has_values(e)) {
    weigh_values(e->values, e->counted, k);
    size -= e->counted + e->values.size;
  }
  k->bytes[cause_of(e)] += size;
}

/* A gauge that follows an event with values counts as values: such gauges are
   more frequent than others. */
static void weigh_block (const uint8_t *data, size_t size, Count *k) {
  const uint8_t *origin = data;
  tg_Event e;
  size_t at = 0, n;
  bool values = false;
  while (at < size
         && (n = tg_event_decode(&origin, data + at, size - at, &e)) > 0) {
    if (values && tg_event_gauges(&e))
      k->bytes[TG_CONTENTS_VALUES] += n;
    else
      weigh_event(&e, n, k);
    values = has_values(&e);
    at += n;
  }
}

/* Reads a block of a recording for itself, apart from blocks of its readers. */
static bool read_block (tg_Store *s, const tg_Chunk *c, Count *k) {
  pthread_mutex_lock(&s->mutex);
  tg_Block *b = c->supply->load(c->supply, c->place,
                                sizeof(tg_Block) + c->used);
  pthread_mutex_unlock(&s->mutex);
  if (b == NULL)
    return false;
  weigh_block(b->data, c->used, k);
  pthread_mutex_lock(&s->mutex);
  c->supply->release(c->supply, b, sizeof(tg_Block) + c->used);
  pthread_mutex_unlock(&s->mutex);
  return true;
}

/* ---- the whole ---- */

static uint32_t count_chunks (const tg_Store *s) {
  uint32_t n = 0;
  for (const tg_Chunk *c = s->first; c != NULL; c = c->next)
    n++;
  return n;
}

/* Bytes of the file if nothing had been packed. The file of one that was has
   blocks, too, that were emptied, and would not be there then. */
static uint64_t unpacked_size (const tg_Recording *r, uint64_t defined) {
  return r->saved_bytes == 0 ? r->file_bytes : r->event_bytes + defined;
}

/* The shares of the blocks that were looked at are those of all events, and of
   the room at the ends of blocks, which is theirs too. The rest is the header
   and what is defined. */
static void scale (const Count *k, const tg_Recording *r, tg_Contents *c) {
  uint64_t seen = 0, defined = r->header.size + r->entry_bytes;
  c->file = r->file_bytes;
  c->whole = unpacked_size(r, defined);
  c->bytes[TG_CONTENTS_DEFINITIONS] = defined < c->whole ? defined : c->whole;
  for (int i = 0; i < TG_CONTENTS_DEFINITIONS; i++)
    seen += k->bytes[i];
  double each = seen == 0 ? 0
                : (double)(c->whole - c->bytes[TG_CONTENTS_DEFINITIONS])
                  / (double)seen;
  for (int i = 0; i < TG_CONTENTS_DEFINITIONS; i++)
    c->bytes[i] = (uint64_t)((double)k->bytes[i] * each);
}

bool tg_contents_measure (const tg_Recording *r, tg_Contents *out) {
  Count k = {{0}};
  tg_Store *s = &r->stream->store;
  uint64_t n = count_chunks(s), i = 0, taken = 0;
  *out = (tg_Contents){.sampled = n > BLOCKS};
  for (const tg_Chunk *c = s->first; c != NULL; c = c->next, i++) {
    if (out->sampled && i * BLOCKS / n < taken)
      continue;
    taken++;
    if (!read_block(s, c, &k))
      return false;
  }
  scale(&k, r, out);
  return true;
}

/* ---- words ---- */

const char *tg_contents_name (int cause) {
  static const char *const names[] = {
#define X(id, name, words) name,
    TG_CONTENTS(X)
#undef X
  };
  tg_check(0 <= cause && cause < TG_NCONTENTS);
  return names[cause];
}

static int largest (const tg_Contents *c) {
  int found = 0;
  for (int i = 1; i < TG_NCONTENTS; i++)
    found = c->bytes[i] > c->bytes[found] ? i : found;
  return found;
}

/* What saves less than a fifth is not worth a word. */
int tg_contents_smaller (const tg_Contents *c,
                         tg_Smaller list[TG_SMALLER_MAX]) {
  uint64_t tables = c->bytes[TG_CONTENTS_TABLES];
  uint64_t strings = c->bytes[TG_CONTENTS_STRINGS];
  uint64_t all = tables + strings + c->bytes[TG_CONTENTS_VALUES];
  int n = 0;
  if (tables >= strings && tables > c->whole / 5)
    list[n++] = (tg_Smaller){"--value-depth 0", c->whole - tables};
  else if (strings > tables && strings > c->whole / 5)
    list[n++] = (tg_Smaller){"--value-string 16", c->whole - strings};
  if (all > c->whole / 5)
    list[n++] = (tg_Smaller){"--trace name,callsite,time", c->whole - all};
  return n;
}

/* What is too long is cut: it never is. */
__attribute__((format(printf, 2, 3)))
static void add (tg_Words *out, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(out->text + out->size, sizeof out->text - out->size,
                    format, args);
  va_end(args);
  if (n > 0 && (size_t)n < sizeof out->text - out->size)
    out->size += (size_t)n;
}

/* As the command line has sizes; the text is on the stack, so that who raises
   leaves nothing behind. */
static void add_bytes (tg_Words *out, uint64_t bytes) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double n = (double)bytes;
  size_t i = 0;
  while (n >= 999.5 && i < sizeof units / sizeof *units - 1) {
    n /= 1024;
    i++;
  }
  int places = i == 0 || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2;
  add(out, "%.*f %s", places, n, units[i]);
}

void tg_contents_words (const tg_Contents *c, tg_Words *out) {
  static const char *const words[] = {
#define X(id, name, words) words,
    TG_CONTENTS(X)
#undef X
  };
  tg_Smaller list[TG_SMALLER_MAX];
  int cause = largest(c), n = tg_contents_smaller(c, list);
  out->size = 0;
  add_bytes(out, c->file);
  if (c->whole == 0)
    return;
  if (c->whole > c->file) {
    add(out, "; before compression ");
    add_bytes(out, c->whole);
  }
  add(out, ", %.0f %% of it %s", 100 * (double)c->bytes[cause]
                                 / (double)c->whole, words[cause]);
  for (int i = 0; i < n; i++) {
    add(out, "%s %s %s", i > 0 ? "," : cause <= TG_CONTENTS_VALUES ? ":" : ";",
        list[i].options,
        i == 0 ? "is about " : "about ");
    add_bytes(out, list[i].bytes);
  }
}
