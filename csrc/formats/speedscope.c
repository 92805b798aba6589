/*
** speedscope.c - speedscope's own format: lists of events, open and close.
** The first profile is the whole program as one stack, in which a coroutine's
** frames are above the call that resumed it; each coroutine has one besides.
**
** Times are nanoseconds since the first call, in all profiles, so that they
** can be compared; a suspended coroutine has no open frames, and one that waits
** for another has a frame "(in ...)", whose time that is. What a frame cannot
** say of itself is a frame of no length inside it: "[error]" where an error
** left it, "[unfinished]" where the trace ended, "[deeper calls]" where there
** were more than a viewer can bear.
**
** A recording of samples alone has them as they were taken: a stack for each
** tick, and the time that it stands for (ticks.h). A profile that has no part
** in some of them has an empty stack meanwhile, so that all show the same
** moment in the same place.
**
** Packets of all coroutines are mixed, profiles are not: events and samples go
** through a spool, a column for each.
**
** Memory that was refused is in the export's status, what the spool's file
** refused in the spool; the first of them ends the export.
*/
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "export/boxnames.h"
#include "export/jsontext.h"
#include "export/threadlist.h"
#include "export/ticks.h"
#include "formats/formats.h"
#include "formats/speedscopeframes.h"
#include "text/spool.h"

/* An open frame: the profile that it is in, and the profile that waits. */
typedef struct Level {
  uint32_t profile;
  uint32_t waiting;           /* 0: none */
} Level;

/* What a profile is made of. */
typedef struct Profile {
  tg_Column events;           /* owns; or samples */
  tg_Column weights;          /* owns; of samples */
  uint64_t until_ns;          /* of the document: when its samples end */
} Profile;

typedef struct Document {
  tg_Export *x;
  tg_SpeedscopeFrames frames; /* owns */
  tg_ThreadList threads;      /* owns; coroutines as profiles */
  Level *levels;              /* owns; of open frames */
  uint32_t clevels;
  tg_Spool spool;             /* owns */
  Profile *profiles;          /* owns; 0 is the whole program's, and so main's,
                                 n + 1 that of coroutine number n */
  uint32_t cprofiles;
  bool ticks;                 /* they have samples */
  uint64_t ticked_ns;         /* the last one */
  bool whole;                 /* coroutines are in the first one too */
  size_t waiting;             /* bytes added to profiles since they were put
                                 aside */
  uint64_t folded;            /* of x, as last seen */
  bool throwing;              /* the last packet was an exit by error */
} Document;

/*
** {==================================================================
** Events
** ===================================================================
*/

/* What all profiles may hold together; there may be many coroutines. */
#define MOST ((size_t)16 << 20)

static bool fail (Document *d) {
  if (d->x->status == TG_OK)
    d->x->status = TG_ERR_MEMORY;
  return false;
}

static bool grow_profiles (Document *d) {
  return tg_grow_zeroed(&d->profiles, &d->cprofiles, d->threads.count + 1,
                        sizeof *d->profiles)
         || fail(d);
}

/* The profile of a packet's coroutine; TG_INTMAP_NONE without memory. Profiles
   may be more than coroutines: both arrays grow by themselves. */
static uint32_t profile_of (Document *d, const tg_Packet *p) {
  uint32_t number = tg_threadlist_of(&d->threads, p);
  if (number != TG_INTMAP_NONE
      && (number + 1 < d->cprofiles || grow_profiles(d)))
    return p->thread == TG_EXPORT_MAIN ? 0 : number + 1;
  fail(d);
  return TG_INTMAP_NONE;
}

/* One line for each event, so that a document can be read and compared by a
   person. */
static void put_event (Document *d, tg_Column *c, char type, uint32_t frame,
                       uint64_t time_ns) {
  tg_assert(time_ns >= d->x->start_ns);
  tg_buf_addstr(&c->text, c->values++ > 0 ? ",\n{\"type\":\"" : "{\"type\":\"");
  tg_buf_addchar(&c->text, type);
  tg_buf_addstr(&c->text, "\",\"frame\":");
  tg_buf_addu64(&c->text, frame);
  tg_buf_addstr(&c->text, ",\"at\":");
  tg_buf_addu64(&c->text, time_ns - d->x->start_ns);
  tg_buf_addchar(&c->text, '}');
}

/* Opened and closed at the same moment: speedscope shows it where one zooms in,
   and it takes no time from what it is in. */
static void put_note (Document *d, tg_Column *c, uint32_t note,
                      const tg_Packet *p) {
  put_event(d, c, 'O', note, p->time_ns);
  put_event(d, c, 'C', note, p->time_ns);
}

/* What is to be said of the frame that exits; an error and the trace's end are
   said of the innermost. */
static void put_notes (Document *d, tg_Column *c, const tg_Packet *p) {
  if (d->x->folded > d->folded)
    put_note(d, c, TG_NOTE_DEEPER, p);
  if (p->why == TG_WHY_EXCEPTION && !d->throwing)
    put_note(d, c, TG_NOTE_ERROR, p);
}

/* The frame of waiting for the coroutine that has a profile. Nobody waits for
   main, but a damaged file may say so. */
static uint32_t waiting_for (Document *d, uint32_t profile) {
  return tg_speedscopeframes_wait(&d->frames, profile > 0 ? profile - 1 : 0);
}

/* One that waits for the packet's frame does so from now on, or until now;
   false without memory. */
static bool put_wait (Document *d, const tg_Packet *p, char type,
                      const Level *l) {
  if (l->waiting == 0)
    return true;
  uint32_t frame = waiting_for(d, l->profile);
  tg_Column *c = &d->profiles[l->waiting].events;
  size_t before = c->text.size;
  if (frame == TG_INTMAP_NONE)
    return fail(d);
  put_event(d, c, type, frame, p->time_ns);
  d->waiting += c->text.size - before;
  return tg_column_turn(&d->spool, c);
}

/* The frame that a packet opens or closes; NULL without memory. */
static const Level *level_of (Document *d, const tg_Packet *p) {
  uint32_t i = tg_export_level(d->x, p);
  if (p->why != TG_WHY_ENTER)
    return &d->levels[i];
  uint32_t profile = profile_of(d, p);
  if (profile == TG_INTMAP_NONE
      || !tg_grow(&d->levels, &d->clevels, i + 1, sizeof *d->levels))
    return NULL;
  uint32_t below = i > 0 ? d->levels[i - 1].profile : 0;
  d->levels[i] = (Level){profile, below != profile ? below : 0};
  return &d->levels[i];
}

/* The event of a call in one profile. Notes come before the call's close, so
   that the viewer shows them inside the call. */
static bool put_call (Document *d, const tg_Packet *p, uint32_t profile,
                      bool first_open) {
  tg_Column *c = &d->profiles[profile].events;
  uint32_t frame = tg_speedscopeframes_call(&d->frames, p->function);
  if (frame == TG_INTMAP_NONE)
    return fail(d);
  size_t before = c->text.size;
  bool enter = p->why == TG_WHY_ENTER;
  if (!enter)
    put_notes(d, c, p);
  if (first_open)
    put_note(d, c, TG_NOTE_UNFINISHED, p);
  put_event(d, c, enter ? 'O' : 'C', frame, p->time_ns);
  d->waiting += c->text.size - before;
  return tg_column_turn(&d->spool, c);
}

/* The wait begins before the call in the other profile and ends after it: so a
   profile that waits never shows the coroutine's time as its own. A coroutine's
   call is in its own profile, and in the whole program's if that is asked
   for. */
static bool put_packet (Document *d, const tg_Packet *p, bool first_open) {
  const Level *l = level_of(d, p);
  bool enter = p->why == TG_WHY_ENTER;
  if (l == NULL)
    return fail(d);
  bool ok = (!enter || put_wait(d, p, 'O', l))
            && (l->profile == 0 || put_call(d, p, l->profile, first_open))
            && ((l->profile != 0 && !d->whole)
                || put_call(d, p, 0, first_open))
            && (enter || put_wait(d, p, 'C', l));
  d->folded = d->x->folded;
  d->throwing = p->why == TG_WHY_EXCEPTION;
  return ok;
}

/* With many coroutines none has much, but all have a lot. */
static bool put_aside (Document *d) {
  for (uint32_t i = 0; i < d->cprofiles; i++) {
    Profile *f = &d->profiles[i];
    if (!tg_column_put(&d->spool, &f->events)
        || !tg_column_put(&d->spool, &f->weights))
      return false;
  }
  d->waiting = 0;
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Samples
** ===================================================================
*/

/* What both columns of a profile get with a sample, before its frames. */
static tg_Buf *begin_sample (Profile *f, uint64_t weight_ns) {
  bool first = f->events.values++ == 0;
  tg_buf_addstr(&f->weights.text, first ? "" : ",");
  tg_buf_addu64(&f->weights.text, weight_ns);
  tg_buf_addstr(&f->events.text, first ? "[" : ",\n[");
  return &f->events.text;
}

/* A profile that had no part in anything up to now has an empty stack. */
static void fill_up (Profile *f, uint64_t now_ns) {
  if (f->until_ns >= now_ns)
    return;
  tg_buf_addchar(begin_sample(f, now_ns - f->until_ns), ']');
  f->until_ns = now_ns;
}

static bool put_frame (tg_Buf *out, uint32_t i, uint32_t frame) {
  if (i > 0)
    tg_buf_addchar(out, ',');
  tg_buf_addu64(out, frame);
  return frame != TG_INTMAP_NONE;
}

/* The open frames from 'from' to before 'to' in one profile. If there are more
   and it is not the whole program's, it waits for them. */
static bool put_stack (Document *d, uint32_t profile, uint32_t from,
                       uint32_t to, const tg_Packet *tick) {
  uint32_t n;
  const tg_ExportFrame *open = tg_export_frames(d->x, &n);
  Profile *f = &d->profiles[profile];
  size_t before = f->events.text.size + f->weights.text.size;
  bool ok = true;
  uint64_t end_ns = tick->time_ns - d->x->start_ns;
  fill_up(f, tg_ticks_begin(tick, d->ticked_ns) - d->x->start_ns);
  tg_assert(f->until_ns <= end_ns);
  tg_Buf *out = begin_sample(f, end_ns - f->until_ns);
  for (uint32_t i = from; i < to; i++)
    ok = put_frame(out, i - from, tg_speedscopeframes_call(&d->frames,
                                                           open[i].function))
         && ok;
  if (to < n)
    ok = put_frame(out, to - from, waiting_for(d, d->levels[to].profile)) && ok;
  tg_buf_addchar(out, ']');
  f->until_ns = end_ns;
  d->waiting += f->events.text.size + f->weights.text.size - before;
  return ok ? tg_column_turn(&d->spool, &f->events)
              && tg_column_turn(&d->spool, &f->weights)
            : fail(d);
}

/* Frames of one coroutine stand together. Of several that share a profile it
   shows one: time is there once. */
static bool put_own (Document *d, uint32_t n, const tg_Packet *tick) {
  uint32_t from = 0;
  for (uint32_t i = 1; i <= n; i++) {
    uint32_t profile = d->levels[from].profile;
    if (i < n && d->levels[i].profile == profile)
      continue;
    if (profile != 0
        && d->profiles[profile].until_ns < tick->time_ns - d->x->start_ns
        && !put_stack(d, profile, from, i, tick))
      return false;
    from = i;
  }
  return true;
}

/* Of frames nothing is to be said but which are open. */
static bool put_sampled (Document *d, const tg_Packet *p) {
  uint32_t n;
  tg_export_frames(d->x, &n);
  if (d->ticked_ns < d->x->start_ns)
    d->ticked_ns = d->x->start_ns;
  if (p->why != TG_WHY_TICK)
    return p->why != TG_WHY_ENTER || level_of(d, p) != NULL || fail(d);
  bool first = n > 0 && (d->whole || d->levels[0].profile == 0);
  bool ok = (!first || put_stack(d, 0, 0, n, p)) && put_own(d, n, p);
  d->ticked_ns = p->time_ns;
  return ok;
}

/* }================================================================== */

/* 'first_open' is the innermost of those frames that the trace's end has cut
   off: it alone gets the note. */
static bool put_events (Document *d) {
  tg_Packet p;
  bool unfinished = false;
  while (tg_export_next(d->x, &p)) {
    bool first_open = d->x->unfinished && !unfinished;
    unfinished = d->x->unfinished;
    bool ok = d->ticks ? put_sampled(d, &p) : put_packet(d, &p, first_open);
    if (!ok || (d->waiting > MOST && !put_aside(d)))
      return false;
  }
  return d->x->status == TG_OK;
}

/* }================================================================== */

/*
** {==================================================================
** The document
** ===================================================================
*/

static void put_text (tg_Buf *out, const char *key, const char *text) {
  tg_buf_addstr(out, key);
  tg_jsontext_string(out, text, strlen(text));
}

/* "whole program", or "main" if there is no other coroutine. */
static void name_profile (const Document *d, uint32_t profile, bool others,
                          tg_Buf *name) {
  if (profile == 0)
    tg_buf_addstr(name, others ? "whole program" : "main");
  else {
    const tg_ThreadEntry *t = &d->threads.list[profile - 1];
    tg_boxname_thread(d->x, t->thread, t->first, name);
  }
  tg_export_remarks(d->x, name);
}

/* All profiles begin at 0 and end together: speedscope shows each by itself,
   and a person who goes from one to another finds the same moment in the same
   place. */
static void put_profile_head (Document *d, uint32_t profile, bool others) {
  tg_Export *x = d->x;
  tg_Buf *out = &x->out->text;
  tg_Buf name = {0};
  name_profile(d, profile, others, &name);
  tg_buf_addfmt(out, "{\"type\":\"%s\",\"name\":",
                d->ticks ? "sampled" : "evented");
  tg_jsontext_string(out, name.data, name.size);
  if (name.failed)
    fail(d);
  tg_buf_free(&name);
  tg_buf_addstr(out, ",\"unit\":\"nanoseconds\",\"startValue\":0,"
                     "\"endValue\":");
  tg_buf_addu64(out, x->end_ns - x->start_ns);
  tg_buf_addstr(out, d->ticks ? ",\"samples\":[\n" : ",\"events\":[\n");
}

/* A column is freed when it is written: all of them together may be as large as
   the document. */
static bool put_column (Document *d, tg_Column *c) {
  bool ok = tg_column_write(&d->spool, c, d->x->out);
  tg_column_free(c);
  return ok;
}

static bool put_profile (Document *d, uint32_t profile, bool others) {
  tg_Export *x = d->x;
  put_profile_head(d, profile, others);
  Profile *f = profile < d->cprofiles ? &d->profiles[profile] : NULL;
  if (f != NULL && d->ticks)
    fill_up(f, x->end_ns - x->start_ns);
  if (f != NULL && !put_column(d, &f->events))
    return false;
  tg_buf_addstr(&x->out->text, d->ticks ? "],\n\"weights\":[" : "");
  if (f != NULL && !put_column(d, &f->weights))
    return false;
  tg_buf_addstr(&x->out->text, "]}");
  return true;
}

static bool is_main (const Document *d, uint32_t number) {
  return d->threads.list[number].thread == TG_EXPORT_MAIN;
}

/* A document without a profile is none: speedscope says that it is no file of
   its kind. */
static bool put_profiles (Document *d) {
  tg_Buf *out = &d->x->out->text;
  uint32_t n = d->threads.count;
  bool others = n > 1 || (n == 1 && !is_main(d, 0));
  bool first = d->whole || !others;
  tg_buf_addstr(out, ",\"profiles\":[\n");
  if (first && !put_profile(d, 0, others))
    return false;
  for (uint32_t i = 0; i < n; i++) {
    if (is_main(d, i))
      continue;
    tg_buf_addstr(out, first || i > 0 ? ",\n" : "");
    if (!put_profile(d, i + 1, others))
      return false;
  }
  tg_buf_addstr(out, "]}\n");
  return true;
}

static void put_head (const Document *d) {
  const tg_Export *x = d->x;
  tg_Buf *out = &x->out->text;
  put_text(out, "{\"$schema\":",
           "https://www.speedscope.app/file-format-schema.json");
  put_text(out, ",\"exporter\":", "tracegrip " TG_VERSION);
  put_text(out, ",\"name\":", x->program->name != NULL ? x->program->name
                                                       : x->name);
  tg_buf_addstr(out, ",\"activeProfileIndex\":0");
}

static tg_Status write (Document *d) {
  d->whole = tg_export_whole(d->x);
  if (put_events(d)) {
    put_head(d);
    tg_speedscopeframes_put(&d->frames, d->x, &d->threads);
    put_profiles(d);
  }
  return d->x->status;
}

tg_Status tg_format_speedscope (tg_Export *x) {
  Document d = {.x = x, .ticks = tg_ticks_only(x)};
  tg_speedscopeframes_init(&d.frames, x->stream->functions);
  if (d.ticks)
    tg_ticks_ask(x);
  tg_spool_init(&d.spool);
  tg_Status status = write(&d);
  for (uint32_t i = 0; i < d.cprofiles; i++) {
    tg_column_free(&d.profiles[i].events);
    tg_column_free(&d.profiles[i].weights);
  }
  tg_free(d.profiles);
  int error = d.spool.error;
  tg_spool_free(&d.spool);
  tg_threadlist_free(&d.threads);
  tg_free(d.levels);
  tg_speedscopeframes_free(&d.frames);
  if (error == 0)
    return status;
  errno = error;
  return error == ENOMEM ? TG_ERR_MEMORY : TG_ERR_IO;
}

/* }================================================================== */
