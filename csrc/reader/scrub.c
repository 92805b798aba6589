/*
** scrub.c - see scrub.h. Called for the command of that name.
**
** Blocks are found as open.c finds them, whose recording knows the functions
** and has looked at the header. Bytes of a block that nobody reads, behind its
** events or behind damage, become zeros: a ring leaves old ones there.
*/
#include "reader/scrub.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytereader.h"
#include "reader/redact.h"
#include "recording/blockwalk.h"
#include "recording/open.h"
#include "recording/packedblock.h"
#include "stream/eventreader.h"
#include "text/fileio.h"

typedef struct Scrub {
  tg_Recording *r;        /* owns */
  tg_Selection selection; /* owns */
  tg_Undecided undecided; /* by its patterns */
  tg_Redact redact;       /* owns */
  int in, out;            /* 'out' is -1 while it learns */
  uint8_t *data;          /* owns; of one block */
  size_t capacity;
  uint64_t to;            /* where the next block goes */
  uint64_t length;        /* of what is written */
  tg_Unpacking unpacking; /* owns */
  tg_Packing packing;     /* owns */
  tg_Slice resumed;       /* arguments of a resume whose coroutine may begin */
  uint32_t passed;        /* ...with 'resumed' from this index on */
  bool aside;             /* the failure is one of 'out' */
  tg_Status status;       /* sticky */
  char *reason;
  size_t size;
} Scrub;

static bool hides (const Scrub *s) {
  return s->out >= 0;
}

static void fail (Scrub *s, tg_Status status, const char *reason) {
  if (s->status != TG_OK)
    return;
  s->status = status;
  if (reason != NULL)
    snprintf(s->reason, s->size, "%s", reason);
}

static void write_out (Scrub *s, const void *data, uint64_t size,
                       uint64_t place) {
  if (!hides(s) || s->status != TG_OK)
    return;
  s->aside = !tg_fileio_write(s->out, data, size, place);
  if (s->aside)
    fail(s, TG_ERR_IO, NULL);
}

/*
** {==================================================================
** Events
** ===================================================================
*/

static tg_RedactKind kind_of (const tg_Event *e) {
  return tg_event_tells_locals(e) ? TG_REDACT_LOCALS
         : e->kind == TG_EV_CALL ? TG_REDACT_ARGUMENTS
         : e->kind == TG_EV_RETURN ? TG_REDACT_RESULTS : TG_REDACT_OTHER;
}

/* The CALL of a coroutine's body comes after the CALL of the function that
   resumes it, with only RESUME and TIME in between. The body's parameters then
   name the arguments of that function. */
static void note_resume (Scrub *s, const tg_Event *e) {
  if (e->kind == TG_EV_RESUME || e->kind == TG_EV_TIME)
    return;
  if (s->resumed.data != NULL && e->kind == TG_EV_CALL)
    tg_redact_passed(&s->redact, e->function, s->passed, s->resumed, hides(s));
  s->resumed = (tg_Slice){0};
  const tg_Function *f = e->kind == TG_EV_CALL
                         ? tg_functions_find(s->r->stream->functions,
                                             e->function) : NULL;
  if (f != NULL && (f->role == TG_ROLE_RESUME || f->role == TG_ROLE_WRAPPED)) {
    s->resumed = e->values;
    s->passed = f->role == TG_ROLE_RESUME;
  }
}

static void scrub_event (Scrub *s, const tg_Event *e) {
  note_resume(s, e);
  if (e->kind == TG_EV_CALL || e->kind == TG_EV_RETURN
      || (e->values.data != NULL && e->kind != TG_EV_ALLOCATIONS))
    tg_redact_list(&s->redact, kind_of(e), e->function, e->values, hides(s));
}

/* Whoever reads ends where a function is named that nobody defined, as in a
   file that was cut off: of what comes then nobody can tell what is secret.
   After all values the whole block is masked as one text, since names of
   classes and the like may have secrets too. */
static void scrub_events (Scrub *s, uint32_t used) {
  uint32_t at = 0, defined = atomic_load(&s->r->stream->functions->count);
  const uint8_t *origin = s->data;
  tg_Event e;
  size_t n;
  s->resumed = (tg_Slice){0};
  while (at < used
         && (n = tg_event_decode(&origin, s->data + at, used - at, &e)) > 0
         && tg_event_names(&e) <= defined) {
    scrub_event(s, &e);
    at += (uint32_t)n;
  }
  s->resumed = (tg_Slice){0};
  memset(s->data + at, 0, used - at);
  if (hides(s))
    tg_secrets_mask(&s->redact.secrets, (char *)s->data, at);
}

/* }================================================================== */

/*
** {==================================================================
** Entries
** ===================================================================
*/

/* A string of an entry; size 0: there is none. */
static tg_Slice take_text (tg_ByteReader *b) {
  uint32_t size = tg_take32(b);
  if (size == TG_ENTRY_ABSENT)
    return (tg_Slice){0};
  const uint8_t *data = tg_take(b, size);
  return (tg_Slice){.data = data, .size = data != NULL ? size : 0};
}

static void mask (Scrub *s, tg_Slice text) {
  if (hides(s) && text.size > 0)
    tg_secrets_mask(&s->redact.secrets, (char *)(uintptr_t)text.data,
                    text.size);
}

/* All of a text is a secret, however short. */
static void hide_text (Scrub *s, const uint8_t *text, size_t size) {
  tg_secrets_add(&s->redact.secrets, (const char *)text, size);
  if (hides(s) && size > 0)
    memset((uint8_t *)(uintptr_t)text, '*', size);
}

static bool names (const Scrub *s, const uint8_t *name, size_t size) {
  return size > 0
         && tg_selection_hides(&s->selection, (const char *)name, size);
}

/* "--password=..." and "--password" "...": whether it hides the next one. */
static bool scrub_argument (Scrub *s, tg_Slice text, bool hidden) {
  const uint8_t *p = text.data, *end = p + text.size;
  if (text.size == 0)
    return false;
  if (hidden) {
    hide_text(s, p, text.size);
    return false;
  }
  bool option = *p == '-';
  while (p < end && *p == '-')
    p++;
  const uint8_t *sign = memchr(p, '=', (size_t)(end - p));
  if (sign != NULL && names(s, p, (size_t)(sign - p)))
    hide_text(s, sign + 1, (size_t)(end - sign - 1));
  else
    mask(s, text);
  return option && sign == NULL && names(s, p, (size_t)(end - p));
}

static void scrub_program (Scrub *s, tg_ByteReader *b) {
  bool hidden = false;
  for (int i = 0; i < 3; i++)
    take_text(b);               /* name, versions */
  uint32_t n = tg_take32(b);
  for (uint32_t i = 0; i < n && !b->missing; i++)
    hidden = scrub_argument(s, take_text(b), hidden);
}

/* A chunk that is no file may be named by its own text; its source has the same
   name, and so gets the same stars. */
static void scrub_url (Scrub *s, tg_Slice url) {
  if (url.size > 0 && *url.data == '[')
    mask(s, url);
}

static void scrub_function (Scrub *s, tg_ByteReader *b) {
  for (int i = 0; i < 5; i++)
    tg_take32(b);
  take_text(b);                 /* name */
  scrub_url(s, take_text(b));
}

static void scrub_source (Scrub *s, tg_ByteReader *b) {
  scrub_url(s, take_text(b));
  mask(s, take_text(b));
}

static void scrub_entries (Scrub *s, uint32_t used) {
  const uint8_t *p = s->data, *end = s->data + used;
  tg_Entry e;
  while (p < end && tg_entry_next(&p, end, &e)) {
    tg_ByteReader b = {e.data, e.data + e.size, false};
    if (e.kind == TG_ENTRY_PROGRAM)
      scrub_program(s, &b);
    else if (e.kind == TG_ENTRY_FUNCTION)
      scrub_function(s, &b);
    else if (e.kind == TG_ENTRY_SOURCE)
      scrub_source(s, &b);
  }
}

/* }================================================================== */

/*
** {==================================================================
** Blocks
** ===================================================================
*/

/* Room for a block's bytes. */
static bool has_room (Scrub *s, size_t size) {
  if (size <= s->capacity)
    return true;
  uint8_t *more = tg_realloc(s->data, size);
  if (more == NULL) {
    fail(s, TG_ERR_MEMORY, NULL);
    return false;
  }
  s->data = more;
  s->capacity = size;
  return true;
}

static bool read_in (Scrub *s, size_t size, uint64_t place) {
  bool read = tg_fileio_read(s->in, s->data, size, place);
  if (!read)
    fail(s, TG_ERR_IO, NULL);
  return read;
}

/* What is behind the good bytes of a block is not copied: nobody reads it. */
static void scrub_plain (Scrub *s, const tg_Block *head, uint64_t place) {
  uint64_t left = s->r->file_bytes - place - sizeof *head;
  uint32_t used = tg_block_used(head);
  if (used > left)
    used = (uint32_t)left;
  if (!has_room(s, used) || !read_in(s, used, place + sizeof *head))
    return;
  if (head->kind == TG_BLOCK_EVENTS)
    scrub_events(s, used);
  else
    scrub_entries(s, used);
  write_out(s, head, sizeof *head, s->to);
  write_out(s, s->data, used, s->to + sizeof *head);
  s->to += head->size;
}

/* The block's events; false: they are not there, which ends what readers see of
   the recording. */
static bool unpack (Scrub *s, const tg_Block *head, uint64_t place) {
  uint32_t packed = tg_block_used(head);
  if (packed > s->r->file_bytes - place - sizeof *head
      || !has_room(s, head->unpacked))
    return false;
  bool good = tg_packedblock_data(&s->unpacking, s->in, place, packed,
                                  s->data, head->unpacked);
  if (!good && errno != EBADMSG)
    fail(s, errno == ENOMEM ? TG_ERR_MEMORY : TG_ERR_IO, NULL);
  return good;
}

/* Packed anew, it has another size; what cannot be stays as it is unpacked. */
static void scrub_packed (Scrub *s, const tg_Block *head, uint64_t place) {
  uint32_t used = head->unpacked;
  if (!unpack(s, head, place))
    return;
  scrub_events(s, used);
  if (!hides(s))
    return;
  size_t n = tg_packing_pack(&s->packing, s->data, used);
  bool packed = n > 0;
  size_t size = packed ? n : used;
  tg_Block out;
  tg_block_begin(&out, packed ? TG_BLOCK_PACKED : TG_BLOCK_EVENTS,
                 (sizeof out + size + 7) & ~(size_t)7, head->base,
                 head->packets);
  out.unpacked = packed ? used : 0;
  atomic_store(&out.used, (uint32_t)size);
  write_out(s, &out, sizeof out, s->to);
  write_out(s, packed ? s->packing.packed.data : s->data, size,
            s->to + sizeof out);
  s->to += out.size;
}

/* The size of the block at 'place'; 0 at the end. A kind that is not known may
   hold anything, so a recording that has one cannot be scrubbed. */
static uint64_t next_block (Scrub *s, uint64_t place) {
  tg_Block head;
  if (!tg_fileio_read(s->in, &head, sizeof head, place)) {
    fail(s, TG_ERR_IO, NULL);
    return 0;
  }
  if (head.magic != TG_BLOCK_MAGIC || head.size < sizeof head
      || tg_block_used(&head) > head.size - sizeof head)
    return 0;
  if (head.kind == TG_BLOCK_PACKED && tg_blockwalk_plausible(&head))
    scrub_packed(s, &head, place);
  else if (head.kind == TG_BLOCK_EVENTS || head.kind == TG_BLOCK_ENTRIES)
    scrub_plain(s, &head, place);
  else {
    fail(s, TG_ERR_FORMAT, "it has blocks of a kind that is not known");
    return 0;
  }
  return head.size;
}

static void walk (Scrub *s) {
  uint64_t place = s->r->header.size, size;
  s->to = place;
  while (s->status == TG_OK && place + sizeof(tg_Block) <= s->r->file_bytes
         && (size = next_block(s, place)) > 0)
    place += size;
  s->length = s->to + s->r->file_bytes - place;
}

/* The header, and the file's length: room that was reserved is zeros. */
static void write_ends (Scrub *s) {
  tg_Header header = s->r->header;
  size_t size = header.size < sizeof header ? header.size : sizeof header;
  header.scrubbed = 1;
  header.packed = 0;
  write_out(s, &header, size, 0);
  if (s->status == TG_OK && ftruncate(s->out, (off_t)s->length) != 0) {
    s->aside = true;
    fail(s, TG_ERR_IO, NULL);
  }
}

/* }================================================================== */

static bool prepare (Scrub *s, const char *from, const tg_Options *hide) {
  tg_Status status = TG_OK;
  s->redact.names.selection = &s->selection;
  s->selection.undecided = &s->undecided;
  s->redact.secrets.most = TG_SCRUB_SECRETS;
  s->r = tg_recording_open(from, &status, s->reason, s->size);
  if (s->r == NULL) {
    fail(s, status, NULL);
    return false;
  }
  s->redact.names.functions = s->r->stream->functions;
  if (s->r->busy)
    fail(s, TG_ERR_FORMAT, "somebody is recording on it");
  else if (s->r->header.size < offsetof(tg_Header, ticking))
    fail(s, TG_ERR_FORMAT, "its header has no room for that");
  else if (!tg_selection_add(&s->selection, hide))
    fail(s, TG_ERR_MEMORY, NULL);
  else if ((s->in = open(from, O_RDONLY | O_CLOEXEC)) < 0)
    fail(s, TG_ERR_IO, NULL);
  return s->status == TG_OK;
}

/* What has been learned is enough to hide all of it. */
static bool has_learned (Scrub *s) {
  if (s->redact.secrets.failed)
    fail(s, TG_ERR_MEMORY, NULL);
  else if (s->redact.secrets.dropped > 0)
    fail(s, TG_ERR_FORMAT, "it has more values to be hidden than can be "
                           "kept in mind");
  return s->status == TG_OK;
}

/* Its owner's alone, as a recording holds what a program was given. */
static void copy (Scrub *s, const char *to) {
  s->out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                0600);
  if (s->out < 0) {
    s->aside = true;
    fail(s, TG_ERR_IO, NULL);
    return;
  }
  s->redact.hidden = 0;
  walk(s);
  write_ends(s);
  int error = errno;
  if (close(s->out) != 0 && s->status == TG_OK) {
    s->aside = true;
    error = errno;
    fail(s, TG_ERR_IO, NULL);
  }
  if (s->status != TG_OK)
    unlink(to);
  errno = error;
}

tg_Status tg_scrub (const char *from, const char *to, const tg_Options *hide,
                    tg_Scrubbed *done, bool *aside, char *reason,
                    size_t size) {
  Scrub s = {.in = -1, .out = -1, .reason = reason, .size = size};
  if (prepare(&s, from, hide)) {
    walk(&s);
    if (has_learned(&s))
      copy(&s, to);
  }
  int error = errno;
  *done = (tg_Scrubbed){s.redact.secrets.added, s.redact.hidden, s.undecided};
  *aside = s.aside;
  if (s.in >= 0)
    close(s.in);
  tg_free(s.data);
  tg_packedblock_free(&s.unpacking);
  tg_packing_free(&s.packing);
  tg_redact_free(&s.redact);
  tg_selection_clear(&s.selection);
  tg_recording_close(s.r);
  errno = error;
  return s.status;
}
