/*
** symbol.c - see symbol.h. Called on the traced thread when a C function
** without a name is defined. What the loader does not know has no symbol.
*/
#include "base/symbol.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

static const char here;       /* an address in this library */

static bool is_digit (char c) {
  return c >= '0' && c <= '9';
}

/* The part of a path by which 'require' finds a module, that after "/lua/5.4/":
   there are too many that are called core.so. Else the file's name. */
static const char *brief (const char *path) {
  const char *slash = strrchr(path, '/');
  const char *name = slash != NULL ? slash + 1 : path;
  for (const char *p = path; (p = strstr(p, "/lua/")) != NULL; p++) {
    if (is_digit(p[5]) && p[6] == '.' && is_digit(p[7]) && p[8] == '/')
      name = p + 9;
  }
  return name;
}

static bool in_one_file (const Dl_info *a, const void *b) {
  Dl_info info;
  return dladdr(b, &info) != 0 && info.dli_fbase == a->dli_fbase;
}

/* The loader names the exported function in which the address is, and C
   libraries differ in what they take for inside: only where it begins there is
   it that one. */
char *tg_symbol_of (const void *code, const void *home) {
  Dl_info info;
  tg_Buf text = {0};
  if (dladdr(code, &info) == 0 || info.dli_fname == NULL
      || in_one_file(&info, &here))
    return NULL;
  bool exported = info.dli_sname != NULL && info.dli_saddr == code;
  if (!exported && in_one_file(&info, home))
    return NULL;
  tg_buf_addstr(&text, brief(info.dli_fname));
  if (exported)
    tg_buf_addfmt(&text, "!%s", info.dli_sname);
  else
    tg_buf_addfmt(&text, "+0x%" PRIxPTR,
                  (uintptr_t)code - (uintptr_t)info.dli_fbase);
  char *symbol = text.failed ? NULL : tg_strdup(text.data, text.size);
  tg_buf_free(&text);
  return symbol;
}
