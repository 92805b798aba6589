/*
** options.c - defaults, copies, bounds and the end of an options record.
**
** Called by whoever owns the record, on one thread; a record that is in use is
** only read, on any. Memory that is refused is false, and the record is then
** freed or as it was.
*/
#include "options/options.h"

#include <string.h>

/* What a trace is that asks for nothing. A stream's cost is mostly that of
   values, so few of them are looked at. */
void tg_options_init (tg_Options *o) {
  memset(o, 0, sizeof *o);
  o->types = TG_TYPES_DEFAULT;
  o->limits = (tg_Limits){
    .depth = 1, .properties = 16, .string = 256, .objects = 64
  };
  o->with_calls = true;
  o->c = true;
  o->max_depth = TG_NOLIMIT;
  o->buffer = TG_BUFFER_DEFAULT;
  o->overflow = TG_OVERFLOW_STOP;
  o->compressed = true;
  o->calls = 1;
}

/* Patterns are cleared before any is copied: what fails on the way frees what
   is there. */
bool tg_options_copy (tg_Options *to, const tg_Options *from) {
  *to = *from;
  memset(&to->include, 0, sizeof to->include);
  memset(&to->exclude, 0, sizeof to->exclude);
  memset(&to->redact, 0, sizeof to->redact);
  memset(&to->on, 0, sizeof to->on);
  if (tg_patterns_copy(&to->include, &from->include)
      && tg_patterns_copy(&to->exclude, &from->exclude)
      && tg_patterns_copy(&to->redact, &from->redact)
      && tg_patterns_copy(&to->on, &from->on))
    return true;
  tg_options_free(to);
  return false;
}

/* A limit of 0 is none, which is more than any. */
static void limit (uint64_t *value, uint64_t most) {
  if (most != 0 && (*value == 0 || *value > most))
    *value = most;
}

/* Names to be kept secret are added and not replaced: what either side wants
   secret is. */
bool tg_options_confine (tg_Options *o, const tg_Options *host) {
  limit(&o->buffer, host->buffer);
  limit(&o->max_events, host->max_events);
  limit(&o->duration_ns, host->duration_ns);
  for (size_t i = 0; i < host->redact.count; i++) {
    if (!tg_patterns_add(&o->redact, host->redact.list[i]))
      return false;
  }
  return true;
}

void tg_options_bound (tg_Options *o, tg_PatternBound bound) {
  tg_patterns_bound(&o->include, bound);
  tg_patterns_bound(&o->exclude, bound);
  tg_patterns_bound(&o->redact, bound);
  tg_patterns_bound(&o->on, bound);
}

void tg_options_free (tg_Options *o) {
  tg_patterns_free(&o->include);
  tg_patterns_free(&o->exclude);
  tg_patterns_free(&o->redact);
  tg_patterns_free(&o->on);
}
