/*
** filewriter.c - see filewriter.h.
**
**     header | entries | events | events | entries | events |   (reserved)
**                                                  ^ end     ^ reserved
**
** Everything up to 'end' belongs to a block; what is reserved beyond is zeros,
** and is given back at the close. Blocks of entries stay mapped as long as the
** file: how a trace ended is written into its entry.
*/
#include "recording/filewriter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "base/intern.h"
#include "base/signals.h"
#include "recording/claim.h"
#include "text/fdwriter.h"
#include "text/fileio.h"

#define STEP (UINT64_C(4) << 20)    /* the file grows by so much */

/* A mapped block. */
typedef struct Extent {
  tg_Block *block;
  size_t size;
} Extent;

typedef struct Extents {
  Extent *list;           /* owns */
  uint32_t count, capacity;
} Extents;

struct tg_FileWriter {
  tg_Supply supply;       /* first */
  tg_Stream *stream;      /* borrows while 'running' */
  bool running;           /* the stream writes here (its store's mutex) */
  bool ring, sources;
  bool made;              /* its file is made, or has been emptied */
  int fd;                 /* owns; -1: none */
  int error;              /* why it was stopped */
  int starved;            /* why a ring's file could not grow for the last
                             block; 0: it could */
  size_t wanted;          /* of that block */
  dev_t device;           /* of its file, as the next */
  ino_t inode;
  char *path;             /* owns */
  uint64_t end, reserved;
  uint64_t length;        /* of the file when it is closed */
  Extent last;            /* borrows; the block that ends there */
  tg_Header *header;      /* maps */
  Extents entries;        /* maps each */
  Extents events;         /* the same; with cursors or with the writer */
  size_t largest;         /* of those that were ever made */
  Extents free;           /* the same; to be used again */
  tg_Block *current;      /* of entries */
  uint8_t **ends;         /* owns; by trace number, into entries */
  uint32_t nends, cends;
  tg_Intern urls;         /* owns; of the sources that are there */
  tg_Buf scratch;         /* owns */
};

void tg_fileplan_free (tg_FilePlan *p) {
  tg_free(p->path);
  tg_program_free(&p->program);
  memset(p, 0, sizeof *p);
}

bool tg_fileplan_fix (tg_FilePlan *p) {
  char *here = *p->path != '/' ? getcwd(NULL, 0) : NULL;
  if (here == NULL)
    return true;          /* it is so already, or nobody knows where it is */
  size_t size = strlen(here) + strlen(p->path) + 2;
  char *path = tg_malloc(size);
  if (path != NULL) {
    snprintf(path, size, "%s/%s", here, p->path);
    tg_free(p->path);
    p->path = path;
  }
  free(here);
  return path != NULL;
}

int tg_filewriter_error (const tg_FileWriter *t) {
  return t->error;
}

const char *tg_filewriter_path (const tg_FileWriter *t) {
  return t->path;
}

/*
** {==================================================================
** The file: opened, extended, mapped
** ===================================================================
*/

static size_t page_size (void) {
  long n = sysconf(_SC_PAGESIZE);
  return n > 4096 ? (size_t)n : 4096;
}

/* A descriptor for 'path', locked; -1 with errno, EEXIST also if somebody else
   records on it. */
static int open_locked (const char *path) {
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0)
    return -1;
  int copy = tg_fdwriter_duplicate(fd);
  close(fd);
  if (copy < 0)
    return -1;
  if (flock(copy, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(copy);
    errno = EEXIST;
    return -1;
  }
  return copy;
}

/* PATH.PID, and for others of this process PATH.PID-2, PATH.PID-3 ... */
static char *path_of_process (const char *path, int n) {
  size_t size = strlen(path) + 40;
  char *own = tg_malloc(size);
  if (own != NULL && n == 1)
    snprintf(own, size, "%s.%ld", path, (long)getpid());
  else if (own != NULL)
    snprintf(own, size, "%s.%ld-%d", path, (long)getpid(), n);
  return own;
}

#define FILES_MAX 1000      /* of one process */

/* A file for this process alone: the plan's is taken. */
static void open_own (tg_FileWriter *t, const tg_FilePlan *plan) {
  for (int n = 1; t->fd < 0 && errno == EEXIST && n <= FILES_MAX; n++) {
    tg_free(t->path);
    t->path = path_of_process(plan->path, n);
    if (t->path != NULL)
      t->fd = tg_claim(t->path, plan->run, false);
    else
      errno = ENOMEM;
  }
}

/* Opens the plan's file, or the process's own in its place. */
static bool open_file (tg_FileWriter *t, const tg_FilePlan *plan) {
  struct stat st;
  t->path = tg_claim_follow(plan->path);
  if (t->path == NULL)
    return false;
  t->fd = plan->exclusive ? tg_claim(t->path, plan->run, plan->force)
                          : open_locked(t->path);
  open_own(t, plan);
  if (t->fd < 0 || fstat(t->fd, &st) != 0)
    return false;
  t->device = st.st_dev;
  t->inode = st.st_ino;
  if (!S_ISREG(st.st_mode)) {
    errno = EINVAL;
    return false;
  }
  t->made = ftruncate(t->fd, 0) == 0;
  return t->made;
}

/* Whether the descriptor still is the file: a program may have closed it and
   got the number for a file of its own. */
static bool still_ours (const tg_FileWriter *t) {
  struct stat st;
  return t->fd >= 0 && fstat(t->fd, &st) == 0 && st.st_dev == t->device
         && st.st_ino == t->inode;
}

/* Without the SIGXFSZ that a file size limit may raise. Returns an errno. */
static int allocate (int fd, uint64_t from, uint64_t size) {
  tg_Signals quiet = tg_signals_block(SIGXFSZ);
  int error;
  do
    error = posix_fallocate(fd, (off_t)from, (off_t)size);
  while (error == EINTR);
  tg_signals_unblock(&quiet, error == EFBIG);
  return error;
}

/* The file again, whose descriptor the program has closed; it may have other
   names by now, but not only others. */
static bool reopen (tg_FileWriter *t) {
  int fd = open(t->path, O_RDWR | O_CLOEXEC);
  t->fd = fd >= 0 ? tg_fdwriter_duplicate(fd) : -1;
  if (fd >= 0)
    close(fd);
  if (still_ours(t)) {
    flock(t->fd, LOCK_EX | LOCK_NB);
    return true;
  }
  if (t->fd >= 0)
    close(t->fd);
  t->fd = -1;
  errno = EBADF;
  return false;
}

/* Sees to it that the file has room for 'size' more bytes. */
static bool reserve (tg_FileWriter *t, size_t size) {
  if (t->end + size <= t->reserved)
    return true;
  uint64_t more = t->end + size - t->reserved;
  uint64_t step = more < STEP ? STEP : more;
  int error = allocate(t->fd, t->reserved, step);
  if (error != 0 && step > more) {
    step = more;          /* the last bytes that there are */
    error = allocate(t->fd, t->reserved, step);
  }
  errno = error;
  if (error == 0)
    t->reserved += step;
  return error == 0;
}

/* The next 'size' bytes of the file (whole pages); NULL with errno. */
static void *map (tg_FileWriter *t, size_t size) {
  if ((!still_ours(t) && !reopen(t)) || !reserve(t, size))
    return NULL;
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_POPULATE, t->fd, (off_t)t->end);
  if (p == MAP_FAILED)
    return NULL;
  t->end += size;
  return p;
}

/* }================================================================== */

/*
** {==================================================================
** Blocks
** ===================================================================
*/

static bool keep (Extents *all, tg_Block *block, size_t size) {
  if (!tg_grow(&all->list, &all->capacity, all->count + 1, sizeof *all->list))
    return false;
  all->list[all->count++] = (Extent){block, size};
  return true;
}

static bool has (const Extents *all, const tg_Block *block) {
  for (size_t i = 0; i < all->count; i++) {
    if (all->list[i].block == block)
      return true;
  }
  return false;
}

static void forget (Extents *all, const tg_Block *block) {
  for (size_t i = 0; i < all->count; i++) {
    if (all->list[i].block == block) {
      all->list[i] = all->list[--all->count];
      return;
    }
  }
}

static void unmap_all (Extents *all) {
  for (size_t i = 0; i < all->count; i++)
    munmap(all->list[i].block, all->list[i].size);
  tg_free(all->list);
  memset(all, 0, sizeof *all);
}

/* Nothing more goes on the file, for this reason. */
static void fail (tg_FileWriter *t, int error) {
  if (t->error == 0) {
    t->error = error != 0 ? error : EIO;
    t->header->error = (uint32_t)t->error;
  }
}

void tg_filewriter_starve (tg_FileWriter *t) {
  if (t->starved != 0)
    fail(t, t->starved);
}

/* The disk, a quota, a limit of the process. */
static bool is_want_of_room (int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

/* A block that is mapped and kept in 'all'; NULL with errno. */
static tg_Block *map_block (tg_FileWriter *t, Extents *all, size_t size) {
  tg_Block *b = map(t, size);
  if (b == NULL)
    return NULL;
  if (!keep(all, b, size)) {
    munmap(b, size);
    errno = ENOMEM;
    return NULL;
  }
  t->last = (Extent){b, size};
  if (all == &t->events && size > t->largest)
    t->largest = size;
  return b;
}

/* The same of events. NULL: the file has failed, or starves. */
static tg_Block *new_block (tg_FileWriter *t, size_t size) {
  tg_Block *b = map_block(t, &t->events, size);
  if (b == NULL && t->ring && is_want_of_room(errno)) {
    t->starved = errno;
    t->wanted = size;
  }
  else if (b == NULL)
    fail(t, errno);
  return b;
}

/* A ring's blocks stay mapped, so the largest one is there. */
bool tg_filewriter_starved (const tg_FileWriter *t) {
  return t->starved != 0 && t->wanted <= t->largest;
}

/* How large a block is made for so many bytes: of a ring there are few sizes,
   since they are used again. */
static size_t size_to_make (const tg_FileWriter *t, size_t size) {
  size_t round = TG_CHUNK_SIZE;
  while (t->ring && round < size && round <= UINT32_MAX / 2)
    round *= 2;
  return t->ring && round >= size ? round : size;
}

/* The smallest of those that can be used again and are large enough; NULL. */
static Extent *find_free (const tg_FileWriter *t, size_t size) {
  Extent *found = NULL;
  for (size_t i = 0; i < t->free.count; i++) {
    Extent *e = &t->free.list[i];
    if (e->size >= size && (found == NULL || e->size < found->size))
      found = e;
  }
  return found;
}

static tg_Block *supply_obtain (tg_Supply *y, size_t *size) {
  tg_FileWriter *t = (tg_FileWriter *)(void *)y;
  t->starved = 0;
  if (t->error != 0)
    return NULL;
  Extent *e = find_free(t, *size);
  if (e == NULL) {
    *size = size_to_make(t, *size);
    return new_block(t, *size);
  }
  Extent again = *e;
  if (!keep(&t->events, again.block, again.size))
    return NULL;
  *e = t->free.list[--t->free.count];
  *size = again.size;
  return again.block;
}

/* The file is to be as long as its last block has bytes. That is looked at
   here, where no cursor gives a block back meanwhile: nothing is written any
   more but into entries that are there. */
static void supply_left (tg_Supply *y) {
  tg_FileWriter *t = (tg_FileWriter *)(void *)y;
  const tg_Block *b = t->last.block;
  t->running = false;
  t->length = t->end;
  if (has(&t->events, b) || has(&t->entries, b))
    t->length = t->end - t->last.size + sizeof *b + tg_block_used(b);
}

/* What a ring does not need any more is not in its file any more: else a reader
   would find blocks with gaps between them. */
static void supply_release (tg_Supply *y, tg_Block *b, size_t size) {
  tg_FileWriter *t = (tg_FileWriter *)(void *)y;
  bool again = t->ring && t->running;
  forget(&t->events, b);
  if (again)
    tg_block_commit(b, b->data);
  if (!again || !keep(&t->free, b, size))
    munmap(b, size);
}

static void supply_free (tg_Supply *y) {
  tg_FileWriter *t = (tg_FileWriter *)(void *)y;
  if (t->header != NULL)
    munmap(t->header, page_size());
  unmap_all(&t->entries);
  unmap_all(&t->events);
  unmap_all(&t->free);
  if (still_ours(t))
    close(t->fd);
  tg_intern_free(&t->urls);
  tg_free(t->ends);
  tg_free(t->path);
  tg_buf_free(&t->scratch);
  tg_free(t);
}

/* }================================================================== */

/*
** {==================================================================
** Entries
** ===================================================================
*/

/* Room for an entry of 'size' bytes in the current block, or in a new one. */
static bool entry_room (tg_FileWriter *t, size_t size) {
  tg_Block *b = t->current;
  if (b != NULL && b->size - sizeof *b - tg_block_used(b) >= size)
    return true;
  tg_Pos base = b != NULL ? b->base + tg_block_used(b) : 0;
  size_t pages = page_size();
  size_t whole = (sizeof *b + size + pages - 1) / pages * pages;
  if (whole < TG_ENTRIES_SIZE)
    whole = TG_ENTRIES_SIZE;
  if (whole > UINT32_MAX)
    return false;
  t->current = map_block(t, &t->entries, whole);
  if (t->current == NULL) {
    fail(t, errno);
    t->current = b;
    return false;
  }
  tg_block_begin(t->current, TG_BLOCK_ENTRIES, whole, base, 0);
  return true;
}

/* Takes over what is in 'scratch'; where it is now, or NULL. */
static uint8_t *write_entry (tg_FileWriter *t) {
  tg_Buf *bytes = &t->scratch;
  uint8_t *at = NULL;
  if (bytes->failed)
    fail(t, ENOMEM);
  else if (t->error == 0 && entry_room(t, bytes->size)) {
    at = t->current->data + tg_block_used(t->current);
    memcpy(at, bytes->data, bytes->size);
    tg_block_commit(t->current, at + bytes->size);
  }
  tg_buf_clear(bytes);
  return at;
}

/* Whether a source is new; then it counts as written. */
static bool note_source (tg_FileWriter *t, const char *url) {
  uint32_t before = t->urls.count;
  uint32_t number = tg_intern_add(&t->urls, url, strlen(url));
  return number == before;    /* without memory it is none */
}

#define SOURCE_MAX ((size_t)16 << 20)   /* bytes of one text */

/* A chunk's text: the file's, or that of the string if it is known whole. */
static void write_source (tg_FileWriter *t, const tg_Function *f) {
  tg_Buf text = {0};
  if (f->is_c || f->url == NULL || f->source == NULL
      || !note_source(t, f->url))
    return;
  if (f->source[0] == '@') {
    if (tg_fileio_text(f->source + 1, SOURCE_MAX, &text))
      tg_entry_source(&t->scratch, f->url, text.data, text.size);
  }
  else if (f->source[0] != '=' && f->source_size < TG_SOURCE_MAX)
    tg_entry_source(&t->scratch, f->url, f->source, f->source_size);
  tg_buf_free(&text);
  if (t->scratch.size > 0)
    write_entry(t);
}

/* Called for each definition before an event can refer to it. */
static void write_function (void *file, tg_FunctionId id,
                            const tg_Function *f) {
  tg_FileWriter *t = file;
  if (t->sources)
    write_source(t, f);
  tg_entry_function(&t->scratch, id, f);
  write_entry(t);
}

uint32_t tg_filewriter_started (tg_FileWriter *t, const tg_TraceEntry *entry) {
  if (!tg_grow(&t->ends, &t->cends, t->nends + 1, sizeof *t->ends))
    return 0;
  tg_entry_trace(&t->scratch, entry);
  uint8_t *at = write_entry(t);
  if (at == NULL)
    return 0;
  t->ends[t->nends++] = at + TG_ENTRY_HEAD;
  return t->nends;
}

/* The three numbers follow the end in an entry. */
void tg_filewriter_moved (tg_FileWriter *t, uint32_t number, const tg_TraceEntry
*entry) { uint64_t begin[3] = {entry->start, entry->ticks, entry->packets};
  if (number != 0 && number <= t->nends)
    memcpy(t->ends[number - 1] + sizeof entry->end, begin, sizeof begin);
}

void tg_filewriter_ended (tg_FileWriter *t, uint32_t number,
                          const tg_TraceEnd *end) {
  if (t == NULL || number == 0 || number > t->nends)
    return;
  uint8_t *at = t->ends[number - 1];
  memcpy(at + sizeof end->why, (const uint8_t *)end + sizeof end->why,
         sizeof *end - sizeof end->why);
  atomic_thread_fence(memory_order_release);
  memcpy(at, &end->why, sizeof end->why);
}

/* }================================================================== */

/*
** {==================================================================
** Begin and end
** ===================================================================
*/

/* Into the file before it gets its length, which may take a moment: a process
   that is killed meanwhile leaves a recording of nothing. */
static bool put_header (const tg_FileWriter *t, const tg_Header *h) {
  tg_Signals quiet = tg_signals_block(SIGXFSZ);
  ssize_t n = pwrite(t->fd, h, sizeof *h, 0);
  tg_signals_unblock(&quiet, n < 0 && errno == EFBIG);
  if (n >= 0 && (size_t)n < sizeof *h)
    errno = ENOSPC;
  return n == (ssize_t)sizeof *h;
}

static bool write_header (tg_FileWriter *t, uint32_t run) {
  const tg_Clock *clock = &t->stream->clock;
  size_t size = page_size();
  tg_Header h = {
    .version = TG_FORMAT_VERSION, .size = (uint32_t)size,
    .order = TG_FORMAT_ORDER, .state = TG_FILE_RUNNING,
    .pid = (uint32_t)getpid(), .origin = clock->origin,
    .ns_per_tick = clock->ns_per_tick, .ring = t->ring, .run = run,
    .wall_ns = t->stream->wall_ns
  };
  memcpy(h.magic, TG_FORMAT_MAGIC, sizeof h.magic);
  if (!put_header(t, &h))
    return false;
  t->header = map(t, size);
  return t->header != NULL;
}

static bool write_beginning (tg_FileWriter *t, const tg_FilePlan *plan) {
  const tg_Functions *fs = t->stream->functions;
  if (!write_header(t, plan->run))
    return false;
  tg_entry_program(&t->scratch, &plan->program);
  write_entry(t);
  const tg_Function *f;
  for (tg_FunctionId id = 1; (f = tg_functions_find(fs, id)) != NULL; id++)
    write_function(t, id, f);
  errno = t->error;
  return t->error == 0;
}

/* Only what is still under its name. */
static void remove_file (const tg_FileWriter *t) {
  struct stat st;
  if (stat(t->path, &st) == 0 && st.st_dev == t->device
      && st.st_ino == t->inode)
    unlink(t->path);
}

tg_FileWriter *tg_filewriter_new (const tg_FilePlan *plan, tg_Stream *stream) {
  tg_FileWriter *t = tg_calloc(1, sizeof *t);
  if (t == NULL) {
    errno = ENOMEM;
    return NULL;
  }
  t->supply = (tg_Supply){
    .pins = 1, .obtain = supply_obtain, .left = supply_left,
    .release = supply_release, .free = supply_free
  };
  t->fd = -1;
  t->stream = stream;
  t->ring = plan->ring;
  t->sources = plan->sources;
  errno = ENOMEM;
  if (!open_file(t, plan) || !write_beginning(t, plan)) {
    int error = errno;
    if (t->made)
      remove_file(t);
    tg_supply_unpin(&t->supply);
    errno = error;
    return NULL;
  }
  t->running = true;
  tg_store_supply(&stream->store, &t->supply);
  tg_functions_watch(stream->functions, write_function, t);
  return t;
}

void tg_filewriter_stop (tg_FileWriter *t) {
  if (!t->running)
    return;
  tg_functions_watch(t->stream->functions, NULL, NULL);
  tg_store_supply(&t->stream->store, NULL);
}

/* What is reserved beyond its last block. */
static void cut_reserve (tg_FileWriter *t) {
  if ((still_ours(t) || reopen(t)) && ftruncate(t->fd, (off_t)t->length) != 0)
    errno = 0;            /* then it ends in zeros */
}

/* At once, and not when nobody needs its blocks any more: the number may be
   another file's by then. A mapping would keep the lock. */
static void release_file (tg_FileWriter *t) {
  if (still_ours(t)) {
    flock(t->fd, LOCK_UN);
    close(t->fd);
  }
  t->fd = -1;
}

void tg_filewriter_close (tg_FileWriter *t) {
  if (t == NULL)
    return;
  tg_filewriter_stop(t);
  cut_reserve(t);
  t->header->state = t->error == 0 ? TG_FILE_COMPLETE : TG_FILE_FAILED;
  release_file(t);
  tg_supply_unpin(&t->supply);
}

void tg_filewriter_discard (tg_FileWriter *t) {
  remove_file(t);
  tg_filewriter_close(t);
}

/* A copy of a block in its place, of this process alone; false without memory:
   then it is what the parent writes on. */
static bool make_private (const Extent *e) {
  void *copy = mmap(NULL, e->size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED)
    return false;
  memcpy(copy, e->block, e->size);
  if (mremap(copy, e->size, e->size, MREMAP_MAYMOVE | MREMAP_FIXED, e->block)
      != MAP_FAILED)
    return true;
  munmap(copy, e->size);
  return false;
}

/* The file is let go of at once: as long as anybody has it, it counts as being
   recorded. */
bool tg_filewriter_abandon (tg_FileWriter *t) {
  bool all = true;
  tg_filewriter_stop(t);
  for (size_t i = 0; i < t->events.count; i++)
    all = make_private(&t->events.list[i]) && all;
  unmap_all(&t->entries);
  unmap_all(&t->free);
  munmap(t->header, page_size());
  t->header = NULL;
  if (still_ours(t))
    close(t->fd);
  t->fd = -1;
  tg_supply_unpin(&t->supply);
  return all;
}

/* }================================================================== */
