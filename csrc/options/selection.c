/*
** selection.c - the union of options, narrowed, and its questions.
**
** Made by whoever owns it; asked in the hook when a function is new, and by
** readers on their thread. A selection is not changed while it is asked. Memory
** that is refused is false, and what was to be made is empty.
**
** What is said of functions is not remembered here: that is functioncache.h for
** a reader, and the definition's own flag for the hook.
*/
#include "options/selection.h"

#include <string.h>

#include "base/alloc.h"

/* A union has the widest of each limit, a filter's narrowing the smallest. */
static uint32_t wider (uint32_t a, uint32_t b) {
  return a > b ? a : b;   /* TG_NOLIMIT is the widest number */
}

static uint32_t narrower (uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

/* 0, all of them, is the smallest. */
static void merge_every (tg_Selection *d, const tg_Options *o) {
  if ((o->types & TG_TYPE_ALLOCATIONS) == 0)
    return;
  if ((d->types & TG_TYPE_ALLOCATIONS) == 0
      || o->memory_every < d->memory_every)
    d->memory_every = o->memory_every;
}

/* The first member says everything; each further one widens it. A member
   without a limit, 0, is the widest there is; with secrets it is the other way
   round. */
static void merge (tg_Selection *d, const tg_Options *o) {
  if (d->count == 1) {
    d->types = o->types;
    d->with_calls = o->with_calls;
    d->sample = o->sample;
    d->wall = o->wall;
    d->limits = o->limits;
    d->max_depth = o->max_depth;
    d->min_duration_ns = o->min_duration_ns;
    d->max_events = o->max_events;
    d->redacts = o->redact.count > 0;
    d->awaits = o->on.count > 0;
    d->calls = o->calls;
    d->memory_every = o->memory_every;
    return;
  }
  merge_every(d, o);
  d->types |= o->types;
  d->with_calls = d->with_calls || o->with_calls;
  d->sample = wider(d->sample, o->sample);
  d->wall = d->wall || o->wall;
  d->limits.depth = wider(d->limits.depth, o->limits.depth);
  d->limits.properties = wider(d->limits.properties, o->limits.properties);
  d->limits.string = wider(d->limits.string, o->limits.string);
  d->limits.objects = wider(d->limits.objects, o->limits.objects);
  d->max_depth = wider(d->max_depth, o->max_depth);
  if (o->min_duration_ns < d->min_duration_ns)
    d->min_duration_ns = o->min_duration_ns;
  if (o->max_events == 0 || (d->max_events != 0
                             && d->max_events < o->max_events))
    d->max_events = o->max_events;
  d->redacts = d->redacts && o->redact.count > 0;
  d->awaits = d->awaits && o->on.count > 0;
  d->calls = 0;
}

/* What was said of a name does not hold any more. */
static bool renew_memo (tg_Selection *d) {
  tg_namememo_free(d->memo);
  d->memo = d->redacts ? tg_namememo_new() : NULL;
  return d->memo != NULL || !d->redacts;
}

/* One by one: traces are few, and each begins once. */
bool tg_selection_add (tg_Selection *d, const tg_Options *o) {
  tg_Options *bigger = tg_realloc(d->list, (d->count + 1) * sizeof *bigger);
  if (bigger == NULL)
    return false;
  d->list = bigger;
  if (!tg_options_copy(&d->list[d->count], o))
    return false;
  tg_check(d->filter == NULL);      /* what is narrowed stays as it is */
  d->count++;
  merge(d, o);
  d->plain = d->redacts ? 0 : d->limits.string;
  return renew_memo(d);
}

/* All types and no limits: narrowing by it changes nothing. */
void tg_filter_init (tg_Filter *f) {
  tg_options_init(&f->options);
  f->options.types = TG_TYPES_ALL;
  f->options.limits = (tg_Limits){
    TG_NOLIMIT, TG_NOLIMIT, TG_NOLIMIT, TG_NOLIMIT
  };
  f->thread = 0;
  f->times = TG_TIMES_USUAL;
  f->from_ns = 0;
  f->to_ns = UINT64_MAX;
}

/* What it was made of stays as it was: a selection has a copy. */
void tg_filter_free (tg_Filter *f) {
  tg_options_free(&f->options);
}

/* NULL without memory. A selection owns its filter, so that the selection may
   outlive the call that made it. */
static tg_Filter *copy_filter (const tg_Filter *from) {
  tg_Filter *f = tg_malloc(sizeof *f);
  if (f == NULL)
    return NULL;
  *f = *from;
  if (!tg_options_copy(&f->options, &from->options)) {
    tg_free(f);
    return NULL;
  }
  return f;
}

/* The merged fields are narrowed here, once. What depends on the function or
   the moment is asked for each time: tg_selection_passes, and the reader. */
bool tg_selection_narrow (tg_Selection *d, const tg_Filter *f) {
  const tg_Options *o = &f->options;
  tg_check(d->filter == NULL);
  d->filter = copy_filter(f);
  if (d->filter == NULL)
    return false;
  d->types &= o->types;
  d->limits.depth = narrower(d->limits.depth, o->limits.depth);
  d->limits.properties = narrower(d->limits.properties, o->limits.properties);
  d->limits.string = narrower(d->limits.string, o->limits.string);
  d->limits.objects = narrower(d->limits.objects, o->limits.objects);
  if (o->min_duration_ns > d->min_duration_ns)
    d->min_duration_ns = o->min_duration_ns;
  d->redacts = d->redacts || o->redact.count > 0;
  d->plain = d->redacts ? 0 : d->limits.string;
  return renew_memo(d);
}

/* The members too, so that copies of it are bare. */
void tg_selection_bare (tg_Selection *d) {
  for (size_t i = 0; i < d->count; i++)
    d->list[i].types = 0;
  d->types = 0;
}

/* In this order: a filter comes when all members are there. */
static bool copy_all (tg_Selection *to, const tg_Selection *from) {
  for (size_t i = 0; i < from->count; i++) {
    if (!tg_selection_add(to, &from->list[i]))
      return false;
  }
  return from->filter == NULL || tg_selection_narrow(to, from->filter);
}

/* Merged anew and not copied field by field: there is one way to come to a
   selection. */
bool tg_selection_copy (tg_Selection *to, const tg_Selection *from) {
  memset(to, 0, sizeof *to);
  to->undecided = from->undecided;
  if (copy_all(to, from))
    return true;
  tg_selection_clear(to);
  return false;
}

/* Zeroed memory is fine, and so is what is left. */
void tg_selection_clear (tg_Selection *d) {
  for (size_t i = 0; i < d->count; i++)
    tg_options_free(&d->list[i]);
  tg_free(d->list);
  if (d->filter != NULL)
    tg_filter_free(d->filter);
  tg_free(d->filter);
  tg_namememo_free(d->memo);
  memset(d, 0, sizeof *d);
}

static void count (tg_Undecided *undecided) {
  if (undecided != NULL)
    atomic_fetch_add_explicit(undecided, 1, memory_order_relaxed);
}

/* Whether a filter names the function or its source: so one pattern will do for
   a function, a file or a directory. */
bool tg_selection_names (const tg_Patterns *filter, const tg_Function *f,
                         tg_Undecided *undecided) {
  const char *const texts[] = {f->name, f->url};
  bool unknown = false;
  for (int i = 0; i < 2 && filter->count > 0; i++) {
    if (texts[i] == NULL)
      continue;
    tg_Found found = tg_patterns_find(filter, texts[i], strlen(texts[i]));
    if (found == TG_FOUND)
      return true;
    unknown = unknown || found == TG_FOUND_UNKNOWN;
  }
  if (unknown)
    count(undecided);
  return false;
}

/* Whether two see the same functions and hide the same names. */
static bool same_sight (const tg_Options *a, const tg_Options *b) {
  return a->c == b->c && a->with_calls == b->with_calls
         && tg_patterns_equal(&a->include, &b->include)
         && tg_patterns_equal(&a->exclude, &b->exclude)
         && tg_patterns_equal(&a->on, &b->on)
         && tg_patterns_equal(&a->redact, &b->redact);
}

/* Whether each member of 'a' has its like in 'b'. */
static bool covered (const tg_Selection *a, const tg_Selection *b) {
  for (size_t i = 0; i < a->count; i++) {
    size_t j = 0;
    while (j < b->count && !same_sight(&a->list[i], &b->list[j]))
      j++;
    if (j == b->count)
      return false;
  }
  return true;
}

/* Both ways: each may have members that the other has not. */
bool tg_selection_alike (const tg_Selection *a, const tg_Selection *b) {
  static const tg_Patterns none;
  const tg_Patterns *x = a->filter ? &a->filter->options.redact : &none;
  const tg_Patterns *y = b->filter ? &b->filter->options.redact : &none;
  return covered(a, b) && covered(b, a) && tg_patterns_equal(x, y);
}

/* Without 'include' everything is; 'exclude' comes after it. */
static bool member_wants (const tg_Selection *d, const tg_Options *o,
                          const tg_Function *f) {
  return (o->c || !f->is_c)
         && (o->include.count == 0
             || tg_selection_names(&o->include, f, d->undecided))
         && !tg_selection_names(&o->exclude, f, d->undecided);
}

/* Our own functions are never shown, whatever the patterns say. */
bool tg_selection_wants (const tg_Selection *d, const tg_Function *f) {
  if (f->own)
    return false;
  for (size_t i = 0; i < d->count; i++) {
    if (d->list[i].with_calls && member_wants(d, &d->list[i], f))
      return true;
  }
  return false;
}

/* A member that traces calls of some functions wants samples of all functions,
   since any may run inside of these. */
bool tg_selection_samples (const tg_Selection *d, const tg_Function *f) {
  if (f->own)
    return false;
  for (size_t i = 0; i < d->count; i++) {
    const tg_Options *o = &d->list[i];
    if (o->sample > 0 && (o->with_calls || member_wants(d, o, f)))
      return true;
  }
  return false;
}

/* Whether the filter lets a function through that some member wants. Frames
   that it hides are open all the same: other frames are in them. */
bool tg_selection_passes (const tg_Selection *d, const tg_Function *f) {
  return d->filter == NULL || member_wants(d, &d->filter->options, f);
}

bool tg_selection_awaits (const tg_Selection *d, const tg_Function *f) {
  for (size_t i = 0; i < d->count && !f->own; i++) {
    if (tg_selection_names(&d->list[i].on, f, d->undecided))
      return true;
  }
  return false;
}

/* Whether a list redacts the name; a name that cannot be decided is kept
   secret. */
static bool redacts (const tg_Selection *d, const tg_Patterns *redact,
                     const char *name, size_t size) {
  tg_Found found = tg_patterns_find(redact, name, size);
  if (found == TG_FOUND_UNKNOWN)
    count(d->undecided);
  return found != TG_FOUND_NOT;
}

/* A name is secret if the filter redacts it, or if every member does: a member
   that does not would see the value anyway. */
static bool decide (const void *ud, const char *name, size_t size) {
  const tg_Selection *d = ud;
  if (d->filter != NULL
      && redacts(d, &d->filter->options.redact, name, size))
    return true;
  for (size_t i = 0; i < d->count; i++) {
    if (!redacts(d, &d->list[i].redact, name, size))
      return false;
  }
  return d->count > 0;
}

bool tg_selection_hides (const tg_Selection *d, const char *name, size_t size) {
  return d->redacts
         && (size > TG_NAME_READ
             || tg_namememo_ask(d->memo, name, size, decide, d));
}

/* The short way for lists without secrets, which are most. */
bool tg_selection_secret (const tg_Selection *d, const char *name) {
  return d->redacts && tg_selection_hides(d, name, strlen(name));
}
