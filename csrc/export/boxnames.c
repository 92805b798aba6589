/*
** boxnames.c - names for functions, their places and coroutines. Called by the
** formats, on the thread that writes the document. A buffer that lacks memory
** says so.
*/
#include "export/boxnames.h"

#include <inttypes.h>
#include <string.h>

/* "(anonymous function)" is no name, nor is "?", which the interpreter calls
   what was found by a number in a table. */
static bool has_name (const tg_Function *f) {
  const char *name = tg_function_title(f);
  return name != NULL && strcmp(name, "?") != 0
         && (name[0] != '(' || tg_function_is_pause(f));
}

static bool has_place (const tg_Function *f) {
  return !f->is_c && f->url != NULL;
}

/* Where the last part of a path begins, but for its 'size' last bytes. */
static const char *last_part (const char *path, size_t size) {
  const char *p = path + strlen(path) - size;
  while (p > path && p[-1] != '/')
    p--;
  return p;
}

/* A file's name without directories; init.lua keeps the last one, its module's
   name. A chunk that is no file, [string "a/b"], has no directories. */
static const char *file_of (const char *url) {
  if (url[0] == '[')
    return url;
  const char *file = last_part(url, 0);
  return file > url && strcmp(file, "init.lua") == 0
         ? last_part(url, sizeof "/init.lua" - 1) : file;
}

static void put_place (const tg_Function *f, bool brief, tg_Buf *out) {
  tg_buf_addfmt(out, "%s:%" PRIu32, brief ? file_of(f->url) : f->url, f->line);
}

/* A definition that comes from a recording or from packets may have no name at
   all. */
static const char *name_of (const tg_Function *f) {
  const char *name = tg_function_title(f);
  return name != NULL ? name : "(anonymous function)";
}

/* Programs in Lua are full of functions without a name, and the boxes of a
   chart would all say so; DevTools even adds up what has the same name. */
void tg_boxname_label (const tg_Function *f, tg_Buf *out) {
  if (f == NULL)
    tg_buf_addchar(out, '?');
  else if (f->is_c && !has_name(f))
    tg_buf_addstr(out, "(C function)");
  else if (has_name(f) || !has_place(f))
    tg_buf_addstr(out, name_of(f));
  else if (f->line > 0)
    put_place(f, true, out);
  else
    tg_buf_addfmt(out, "%s %s", name_of(f), file_of(f->url));
}

/* From the root on, where the program's directory is known: viewers open files
   by it. Not by realpath: the recording may be of another machine. */
void tg_boxname_path (const tg_Export *x, const tg_Function *f, tg_Buf *out) {
  const char *url = f->url;
  if (f->file && url[0] != '/' && x->directory != NULL) {
    tg_buf_addstr(out, x->directory);
    if (out->size > 0 && out->data[out->size - 1] != '/')
      tg_buf_addchar(out, '/');
    if (strncmp(url, "./", 2) == 0)
      url += 2;
  }
  tg_buf_addstr(out, url);
}

/* Name and place where there are both, since many functions have the same
   name. */
void tg_boxname_body (const tg_Function *f, bool brief, tg_Buf *out) {
  bool placed = has_place(f);
  if (has_name(f) || !placed)
    tg_buf_addstr(out, name_of(f));
  if (!placed)
    return;
  tg_buf_addstr(out, has_name(f) ? " (" : "");
  put_place(f, brief, out);
  tg_buf_addstr(out, has_name(f) ? ")" : "");
}

/* A coroutine has no name in Lua: it is called by the function that it runs,
   and by its number, since many run the same one. */
void tg_boxname_thread (const tg_Export *x, tg_ThreadId thread,
                        tg_FunctionId first, tg_Buf *out) {
  const tg_Function *f = tg_functions_find(x->stream->functions, first);
  if (thread <= TG_EXPORT_MAIN) {
    tg_buf_addstr(out, thread == TG_EXPORT_MAIN ? "main" : "other coroutines");
    return;
  }
  if (f != NULL) {
    tg_boxname_body(f, true, out);
    tg_buf_addstr(out, ", ");
  }
  tg_buf_addfmt(out, "coroutine %" PRIu32, thread);
}
