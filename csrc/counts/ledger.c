/*
** ledger.c - see ledger.h. In the hook: nothing here raises, and what the
** system refuses ends in tg_ledger_missing.
*/
#include "counts/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "recording/mappedfile.h"
#include "text/fileio.h"

#define FIRST_PIECE ((size_t)16 << 10)
#define LARGEST_PIECE ((size_t)1 << 20)
#define FILES_MAX 1000          /* of one process and those with its number */

void tg_ledger_missing (tg_Ledger *l, int error) {
  if (l->head != NULL && l->head->error == 0)
    l->head->error = error;
  else if (l->head == NULL && !l->over && l->complain != NULL)
    l->complain(error);
  l->over = true;
}

/*
** {==================================================================
** Pieces
** ===================================================================
*/

/* The process may have had another file: before it became this program, or, in
   a container, with another's number. */
static int make_file (tg_Ledger *l) {
  size_t size = strlen(l->directory) + 64;
  int fd = -1;
  l->path = tg_malloc(size);
  if (l->path == NULL)
    return (errno = ENOMEM, -1);
  for (int n = 1; n <= FILES_MAX; n++) {
    snprintf(l->path, size, "%s/%ld-%d.counts", l->directory, (long)getpid(),
             n);
    fd = open(l->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
              0600);
    if (fd >= 0 || errno != EEXIST)
      break;
  }
  if (fd < 0) {
    tg_free(l->path);
    l->path = NULL;
  }
  return fd;
}

/* NULL with errno. */
static char *map_file (tg_Ledger *l, int fd, size_t size) {
  int error = tg_mappedfile_allocate(fd, l->end, size);
  if (error != 0)
    return (errno = error, NULL);
  char *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                    (off_t)l->end);
  return (data != MAP_FAILED) ? data : NULL;
}

/* A file that has no piece is none. */
static char *new_mapped (tg_Ledger *l, size_t size) {
  bool first = l->path == NULL;
  int fd = first ? make_file(l)
                 : open(l->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return NULL;
  char *data = map_file(l, fd, size);
  int error = errno;
  close(fd);
  if (data == NULL && first) {
    unlink(l->path);
    tg_free(l->path);
    l->path = NULL;
  }
  errno = error;
  return data;
}

/* The next ones are larger: as large as all so far. */
static size_t piece_size (const tg_Ledger *l, size_t need) {
  size_t page = tg_mappedfile_page();
  size_t size = (l->end < FIRST_PIECE) ? FIRST_PIECE
                : (l->end < LARGEST_PIECE) ? (size_t)l->end : LARGEST_PIECE;
  if (size < need + sizeof(tg_LedgerHead))
    size = need + sizeof(tg_LedgerHead);
  return (size + page - 1) / page * page;
}

static void begin_file (tg_Ledger *l) {
  l->head = (tg_LedgerHead *)(void *)l->next;
  l->next += sizeof *l->head;
  l->left -= sizeof *l->head;
  memcpy(l->head->magic, TG_LEDGER_MAGIC, sizeof l->head->magic);
  l->head->process = getpid();
  atomic_store_explicit(&l->head->used, sizeof *l->head,
                        memory_order_release);
}

/* What is left of the piece before is a record of nothing, so that all of them
   are one run. False with errno. */
static bool add_piece (tg_Ledger *l, size_t need) {
  size_t size = piece_size(l, need);
  if (!tg_grow(&l->pieces, &l->capacity, l->npieces + 1, sizeof *l->pieces))
    return (errno = ENOMEM, false);
  char *data = (l->directory != NULL) ? new_mapped(l, size)
                                      : tg_calloc(1, size);
  if (data == NULL)
    return (errno = (errno != 0) ? errno : ENOMEM, false);
  if (l->left > 0) {
    tg_LedgerRecord *rest = (tg_LedgerRecord *)(void *)l->next;
    *rest = (tg_LedgerRecord){TG_LEDGER_NOTHING, (uint32_t)l->left};
  }
  l->pieces[l->npieces++] = (tg_LedgerPiece){data, size};
  l->next = data;
  l->left = size;
  l->end += size;
  if (l->directory != NULL && l->npieces == 1)
    begin_file(l);
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Records
** ===================================================================
*/

/* A record of zeros but for what each begins with; NULL. It is not yet in the
   file. */
static void *take (tg_Ledger *l, tg_LedgerKind kind, size_t size) {
  size = (size + 7) / 8 * 8;
  if (l->over)
    return NULL;
  errno = 0;
  if (size > l->left && !add_piece(l, size)) {
    tg_ledger_missing(l, errno);
    return NULL;
  }
  tg_LedgerRecord *r = (tg_LedgerRecord *)(void *)l->next;
  *r = (tg_LedgerRecord){(uint32_t)kind, (uint32_t)size};
  l->next += size;
  l->left -= size;
  return r;
}

static void commit (tg_Ledger *l) {
  if (l->head != NULL)
    atomic_store_explicit(&l->head->used, l->end - l->left,
                          memory_order_release);
}

/* A program may go to another directory: a name means the file that it meant
   when it was first heard. */
uint32_t tg_ledger_source (tg_Ledger *l, const char *text, size_t size) {
  bool relative = size > 1 && text[0] == '@' && text[1] != '/';
  if (l->directory == NULL)
    return ++l->nsources;
  char *directory = relative ? tg_fileio_directory() : NULL;
  size_t more = (directory != NULL) ? strlen(directory) : 0;
  tg_LedgerSource *s = take(l, TG_LEDGER_SOURCE, sizeof *s + size + more);
  if (s != NULL) {
    char *to = (char *)(s + 1);
    s->size = (uint32_t)size;
    s->directory = (uint32_t)more;
    memcpy(to, text, size);
    if (more > 0)
      memcpy(to + size, directory, more);
    commit(l);
  }
  tg_free(directory);
  return (s != NULL) ? ++l->nsources : 0;
}

tg_LedgerFunction *tg_ledger_function (tg_Ledger *l, uint32_t source,
                                       int first, int last, uint32_t nlines) {
  tg_check(nlines <= TG_LEDGER_FIRST);
  tg_LedgerFunction *f = take(l, TG_LEDGER_FUNCTION,
                              sizeof *f + nlines * sizeof *f->lines);
  if (f == NULL)
    return NULL;
  f->source = source;
  f->first = first;
  f->last = last;
  commit(l);
  l->nfunctions++;
  return f;
}

uint64_t *tg_ledger_counts (tg_Ledger *l, uint32_t function, uint32_t page) {
  tg_LedgerCounts *c = take(l, TG_LEDGER_COUNTS, sizeof *c);
  if (c == NULL)
    return NULL;
  c->function = function;
  c->page = page;
  commit(l);
  return c->counts;
}

/* }================================================================== */

void tg_ledger_renew (tg_Ledger *l) {
  for (uint32_t i = 0; i < l->npieces; i++) {
    if (l->directory != NULL)
      munmap(l->pieces[i].data, l->pieces[i].size);
    else
      tg_free(l->pieces[i].data);
  }
  tg_free(l->pieces);
  tg_free(l->path);
  *l = (tg_Ledger){.directory = l->directory, .complain = l->complain};
}

void tg_ledger_free (tg_Ledger *l) {
  tg_ledger_renew(l);
  tg_free(l->directory);
  l->directory = NULL;
}
