/*
** names.c - see names.h. For chrome.c, twice for each call: so what
** is said of a function is text that is put together once. Without memory NULL
** or false, and the name is tried again.
*/
#include "formats/chrome/names.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "formats/chrome/v8profile.h"
#include "profile/funclabels.h"

/*
** At a name that DevTools knows it looks for what is not there, and the whole
** file fails. Its own are words that begin with a capital, names of C++
** ("Scheduler::Run"), and a few more. A method of Lua ("Bill:add") is none.
*/
static bool is_taken (const char *name) {
  static const char *const others[] = {
    "firstPaint", "firstContentfulPaint", "process_name", "thread_name"
  };
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789:";
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    if (strcmp(name, others[i]) == 0)
      return true;
  }
  if (name[strspn(name, letters)] != '\0')
    return false;
  bool cxx = strstr(name, "::") != NULL;
  return cxx || (name[0] >= 'A' && name[0] <= 'Z'
                 && strchr(name, ':') == NULL);
}

/* Parentheses behind the name make it another one, and to a person it still is
   the same. */
static void put_name (tg_Buf *out, const tg_Function *f) {
  tg_v8profile_put_label(out, f);
  if (f->name != NULL && is_taken(f->name)) {
    out->size--;
    tg_buf_addstr(out, "()\"");
  }
}

/* A url between quotes of somebody else, since a line number follows before the
   quote closes: its own are cut off again. */
static void put_url (tg_Buf *out, const char *url) {
  size_t at = out->size;
  tg_v8profile_put_string(out, url, strlen(url));
  if (out->failed)
    return;
  memmove(out->data + at, out->data + at + 1, out->size - at - 2);
  out->size -= 2;
}

static void put_line (tg_Buf *out, uint32_t line) {
  if (line > 0) {
    tg_buf_addchar(out, ':');
    tg_buf_addu64(out, line);
  }
  tg_buf_addchar(out, '"');
}

/* All texts are in one buffer, one after the other; places in it, not
   addresses, since it moves as it grows. One that memory was refused for has no
   size and is no name. */
static const tg_ChromeName *make (tg_ChromeNames *w, tg_ChromeName *word,
                                  const tg_Function *f, bool box) {
  tg_Buf *text = &w->text;
  word->at = text->size;
  tg_buf_addstr(text, "\"name\":");
  put_name(text, f);
  tg_buf_addstr(text, box ? ",\"cat\":\"tracegrip\""
                      : f->is_c ? ",\"cat\":\"C\"" : ",\"cat\":\"Lua\"");
  tg_buf_addstr(text, ",\"args\":{\"source\":\"");
  word->url = (uint32_t)(text->size - word->at);
  put_url(text, f->url != NULL ? f->url : box ? "" : "?");
  word->url_size = (uint32_t)(text->size - word->at) - word->url;
  put_line(text, box ? 0 : tg_funclabels_line(f));
  if (text->failed)
    return NULL;
  word->size = (uint32_t)(text->size - word->at);
  tg_assert(word->size > word->url + word->url_size);
  return word;
}

/* Room for the word of 'id'; new ones are zero. */
static bool room (tg_ChromeNames *w, tg_FunctionId id) {
  return tg_grow_zeroed(&w->list, &w->capacity, id + 1, sizeof *w->list);
}

TG_INLINE bool is_made (const tg_ChromeNames *w, tg_FunctionId id) {
  return id < w->capacity && w->list[id].size > 0;
}

/* A call names a definition that exists, unless the recording is damaged: then
   its place is "?". All unknown ids share one word, since they may be any
   number. */
static TG_NOINLINE const tg_ChromeName *look_up (tg_ChromeNames *w,
                                                 tg_FunctionId id) {
  static const tg_Function unknown;
  const tg_Function *f = tg_functions_shown(w->functions, id);
  if (f == NULL)
    return w->unknown.size > 0 ? &w->unknown
                               : make(w, &w->unknown, &unknown, false);
  return room(w, id) ? make(w, &w->list[id], f, id == TG_FUNCTION_LEFT) : NULL;
}

TG_INLINE const tg_ChromeName *find (tg_ChromeNames *w, tg_FunctionId id) {
  return tg_likely(is_made(w, id)) ? &w->list[id] : look_up(w, id);
}

bool tg_chromenames_put (tg_ChromeNames *w, tg_FunctionId id, tg_Buf *out) {
  const tg_ChromeName *word = find(w, id);
  if (word == NULL)
    return false;
  tg_buf_add(out, w->text.data + word->at, word->size);
  return true;
}

/* Writes the kept url of the function, with another line behind it. */
bool tg_chromenames_place (tg_ChromeNames *w, tg_FunctionId id,
                           uint32_t line, tg_Buf *out) {
  const tg_ChromeName *word = find(w, id);
  if (word == NULL)
    return false;
  tg_buf_add(out, w->text.data + word->at + word->url, word->url_size);
  put_line(out, line);
  return true;
}

void tg_chromenames_free (tg_ChromeNames *w) {
  tg_free(w->list);
  tg_buf_free(&w->text);
}
