/*
** sources.c - see sources.h.
**
** Noted by whoever opens a recording; asked for by exports and the profiler
** service, on their thread. What cannot be read, or has changed, is no failure:
** a document is made without the text.
*/
#include "stream/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "text/fileio.h"

#define SIZE_MOST ((size_t)16 << 20)    /* bytes of one text */

/* Adds what is there to the text, or nothing. */
static bool read_at (int fd, uint64_t place, uint64_t size, tg_Buf *text) {
  size_t n = (size_t)size;
  if (size > SIZE_MOST || !tg_buf_reserve(text, n)
      || !tg_fileio_read(fd, text->data + text->size, n, place))
    return false;
  text->size += n;
  return true;
}

/*
** {==================================================================
** In a recording
** ===================================================================
*/

/* A descriptor of its own: whoever opens the recording closes theirs. */
static bool make (tg_Sources **s, int fd) {
  if (*s != NULL)
    return true;
  tg_Sources *made = tg_calloc(1, sizeof *made);
  if (made == NULL)
    return false;
  made->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (made->fd < 0) {
    tg_free(made);
    return false;
  }
  *s = made;
  return true;
}

/* Only where the text is: a program's sources may be many megabytes, and most
   are never asked for. */
bool tg_sources_note (tg_Sources **where, int fd, tg_Slice url,
                      uint64_t place, size_t size) {
  if (!make(where, fd))
    return false;
  tg_Sources *s = *where;
  if (!tg_grow(&s->list, &s->capacity, s->count + 1, sizeof *s->list))
    return false;
  char *name = tg_strdup((const char *)url.data, url.size);
  if (name == NULL)
    return false;
  s->list[s->count++] = (tg_SourcePlace){name, place, (uint32_t)size};
  return true;
}

/* NULL for a stream without a file. */
void tg_sources_free (tg_Sources *s) {
  if (s == NULL)
    return;
  for (uint32_t i = 0; i < s->count; i++)
    tg_free(s->list[i].url);
  tg_free(s->list);
  close(s->fd);
  tg_free(s);
}

/* The first of a name: the file writer writes each once, a damaged file may say
   otherwise. */
static bool read_noted (const tg_Sources *s, const char *url, tg_Buf *text) {
  for (uint32_t i = 0; s != NULL && i < s->count; i++) {
    const tg_SourcePlace *p = &s->list[i];
    if (strcmp(p->url, url) == 0)
      return read_at(s->fd, p->place, p->size, text);
  }
  return false;
}

/* }================================================================== */

/*
** {==================================================================
** Of the running program
** ===================================================================
*/

/* A function from there, whose chunk's source is known, and the last line that
   any of them has; NULL if there is none. */
static const tg_Function *find_function (const tg_Functions *fs,
                                         const char *url,
                                         uint32_t *last_line) {
  const tg_Function *found = NULL;
  uint32_t count = atomic_load(&((tg_Functions *)(uintptr_t)fs)->count);
  *last_line = 0;
  for (uint32_t id = 1; id <= count; id++) {
    const tg_Function *f = tg_functions_get(fs, id);
    if (f->is_c || f->source == NULL || f->url == NULL
        || strcmp(f->url, url) != 0)
      continue;
    found = f;
    if (f->last_line > *last_line)
      *last_line = f->last_line;
  }
  return found;
}

static uint32_t count_lines (const tg_Buf *text, size_t from) {
  uint32_t lines = text->size > from;
  for (size_t i = from; i < text->size; i++)
    lines += text->data[i] == '\n';
  return lines;
}

/* Whether the file is one, and as it was when tracing began: a file that was
   written since may have other lines where the functions are. */
static bool unchanged (int fd, uint64_t wall_ns, uint64_t *size) {
  struct stat st;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_mtim.tv_sec < 0)
    return false;
  *size = (uint64_t)st.st_size;
  return (uint64_t)st.st_mtim.tv_sec * UINT64_C(1000000000)
         + (uint64_t)st.st_mtim.tv_nsec <= wall_ns;
}

/* Fewer lines than functions say that there are: it is another file after
   all. */
static tg_SourceFile read_open (int fd, uint64_t wall_ns, uint32_t last_line,
                                tg_Buf *text) {
  size_t from = text->size;
  uint64_t size;
  if (!unchanged(fd, wall_ns, &size))
    return TG_SOURCE_CHANGED;
  if (!read_at(fd, 0, size, text))
    return TG_SOURCE_ABSENT;
  return count_lines(text, from) >= last_line ? TG_SOURCE_READ
                                              : TG_SOURCE_CHANGED;
}

/* O_NONBLOCK: the name may be a pipe's by now. */
tg_SourceFile tg_sources_file (const char *path, uint64_t wall_ns,
                               uint32_t last_line, tg_Buf *text) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return TG_SOURCE_ABSENT;
  tg_SourceFile result = read_open(fd, wall_ns, last_line, text);
  close(fd);
  return result;
}

/* The source as Lua has it tells what it is (manual, lua_Debug): '@' a file,
   '=' a name that the host has chosen, else the text itself. */
static bool read_living (const tg_Functions *functions, uint64_t wall_ns,
                         const char *url, tg_Buf *text) {
  uint32_t last_line;
  const tg_Function *f = find_function(functions, url, &last_line);
  if (f == NULL || f->source[0] == '=')
    return false;
  if (f->source[0] == '@')
    return tg_sources_file(f->source + 1, wall_ns, last_line, text)
           == TG_SOURCE_READ;
  if (f->source_size >= TG_SOURCE_MAX)
    return false;             /* it is not whole */
  tg_buf_add(text, f->source, f->source_size);
  return true;
}

/* }================================================================== */

/* A recording's own text comes first: it is that of the program which ran. */
bool tg_sources_text (const tg_Sources *s, const tg_Functions *functions,
                      uint64_t wall_ns, const char *url, tg_Buf *text) {
  return read_noted(s, url, text)
         || read_living(functions, wall_ns, url, text);
}
