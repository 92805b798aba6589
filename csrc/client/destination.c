/*
** destination.c - the log and the recording that a client makes of a stream.
** Used by receiver.c, on the thread of its state. What fails
** sets errno; a recording whose beginning has no room leaves no file.
**
** Either, both, or none may be wanted. The file is written by the store itself,
** as its supply (filewriter.h): whoever fills the stream fills the file. The
** log reads the stream, and only when it is told to.
*/
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client/destination.h"
#include "base/alloc.h"
#include "binding/logstyle.h"
#include "binding/readoptions.h"

/* Before anything is opened: what these raise leaves nothing behind. */
void tg_destination_check (lua_State *L, int i) {
  luaL_checktype(L, i, LUA_TTABLE);
  if (!lua_isnoneornil(L, i + 1)) {
    luaL_checktype(L, i + 1, LUA_TTABLE);
    tg_logstyle_check(L, i + 1);
  }
}

/* ---- the recording ---- */

/* NULL if the field is no string, and without memory. */
static char *string_field (lua_State *L, int i, const char *key) {
  size_t size;
  lua_getfield(L, i, key);
  const char *s = lua_tolstring(L, -1, &size);
  char *copy = s != NULL ? tg_strdup(s, size) : NULL;
  lua_pop(L, 1);
  return copy;
}

/* A process's number; 0 for what is none. */
static uint32_t pid_field (lua_State *L, int i, const char *key) {
  lua_getfield(L, i, key);
  lua_Integer n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n > 0 && n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* Whose recording it will be: the program is elsewhere, but the versions are
   those of this library, which writes the file; of Lua, if the plan does not
   know the program's. */
static bool read_plan (lua_State *L, int i, tg_FilePlan *plan) {
  plan->path = string_field(L, i, "path");
  plan->program.remote = true;
  plan->packs = true;
  plan->program.pid = pid_field(L, i, "pid");
  plan->program.name = string_field(L, i, "program");
  plan->program.tracegrip = tg_strcopy(TG_VERSION);
  plan->program.lua = string_field(L, i, "lua");
  if (plan->program.lua == NULL)
    plan->program.lua = tg_strcopy(LUA_RELEASE);
  plan->program.directory = string_field(L, i, "directory");
  return plan->path != NULL && plan->program.tracegrip != NULL
         && plan->program.lua != NULL && tg_fileplan_fix(plan);
}

/* errno tells what is wrong: the system's, else memory, which sets none: so
   ENOMEM is put there first. What the plan has by then, or lacks, is freed with
   the destination. */
bool tg_destination_record (tg_Destination *d, lua_State *L, int i,
                            tg_Stream *stream) {
  if (lua_isnoneornil(L, i))
    return true;
  if (!read_plan(L, i, &d->plan)) {
    errno = ENOMEM;
    return false;
  }
  errno = ENOMEM;
  d->file = tg_filewriter_new(&d->plan, stream);
  if (d->file == NULL && errno == 0)
    errno = ENOMEM;
  return d->file != NULL;
}

/* A recording without a trace in it would be a file that nothing can be done
   with: so no file is left of it. errno is the file's own error. */
static void undo (tg_Destination *d) {
  int error = tg_filewriter_error(d->file);
  tg_filewriter_stop(d->file);
  tg_filewriter_discard(d->file);
  d->file = NULL;
  errno = error != 0 ? error : ENOMEM;
}

/* The trace that the file has, with the options by which the other side has
   narrowed it. 'noted' is its place in the file, where its end is filled in; 0
   is none. The options are lent for the call, not copied. */
bool tg_destination_note (tg_Destination *d, lua_State *L, int i,
                          tg_TraceEntry *entry) {
  if (d->file == NULL)
    return true;
  tg_assert(d->noted == 0);
  entry->name = string_field(L, i, "name");
  entry->options = d->options;
  d->noted = entry->name != NULL ? tg_filewriter_started(d->file, entry) : 0;
  tg_free(entry->name);
  entry->name = NULL;
  if (d->noted == 0)
    undo(d);
  return d->noted != 0;
}

void tg_destination_misses (tg_Destination *d, const tg_Misses *m) {
  tg_filewriter_misses(d->file, m);
}

/* The trace's end is an entry of the file; without it, or with one that says
   nothing of why, the file reads as one that was cut off. */
static void close_file (tg_Destination *d, const tg_TraceEnd *end) {
  if (d->file == NULL)
    return;
  if (end != NULL)
    tg_filewriter_ended(d->file, d->noted, end);
  if (end != NULL && end->why != TG_END_NOT)
    tg_filewriter_close(d->file);
  else
    tg_filewriter_leave(d->file);
  d->file = NULL;
}

/* ---- the log ---- */

/* A descriptor that was opened for a path is ours to close, once the log has
   its duplicate; the program's stdout or stderr is not. Nothing is shown of
   what came before 'start'. */
bool tg_destination_show (tg_Destination *d, lua_State *L, int i,
                          tg_Stream *stream, tg_Pos start) {
  tg_LogStyle style;
  tg_Selection selection = {0};
  if (lua_isnoneornil(L, i))
    return true;
  int fd = tg_logstyle_open(L, i);
  if (fd < 0)
    return false;
  tg_logstyle_read(L, i, fd, &style);
  if (tg_selection_add(&selection, &d->options))
    d->log = tg_log_new(stream, start, &selection, &style, fd);
  tg_selection_clear(&selection);
  bool named = lua_getfield(L, i, "path") == LUA_TSTRING;
  lua_pop(L, 1);
  if (named)
    close(fd);              /* the log has a duplicate */
  errno = ENOMEM;
  return d->log != NULL;
}

/* Called when a burst has come, not after each packet: to write a line costs
   more than to read one. */
void tg_destination_pump (tg_Destination *d, tg_Pos pos) {
  if (d->log != NULL)
    tg_log_pump(d->log, pos);
}

/* ---- the end ---- */

/* A log that has lost something is a failure too. */
int tg_destination_trouble (const tg_Destination *d) {
  tg_LogState state = {0};
  if (d->file != NULL && tg_filewriter_error(d->file) != 0)
    return tg_filewriter_error(d->file);
  if (d->log != NULL)
    tg_log_state(d->log, &state);
  if (state.error == 0 && (state.status != TG_OK || state.lost > 0))
    return (state.status == TG_ERR_FORMAT) ? EINVAL : ENOMEM;
  return state.error;
}

/* The log first, which reads the stream to its end; its failure does not keep
   the file from being closed in order. */
int tg_destination_finish (tg_Destination *d, const tg_TraceEnd *end) {
  if (d->log != NULL) {
    tg_log_pump(d->log, end->stop);
    tg_log_finish(d->log);
  }
  int error = tg_destination_trouble(d);
  close_file(d, end);
  return error;
}

void tg_destination_free (tg_Destination *d) {
  close_file(d, NULL);
  tg_log_free(d->log);
  tg_fileplan_free(&d->plan);
  tg_options_free(&d->options);
  memset(d, 0, sizeof *d);
}

/* The protocol's words are those of endreason.h; "closed" is the client's own.
   A word that is not known, of a newer server perhaps, is an end like any
   other. */
tg_End tg_destination_end (const char *why) {
  if (strcmp(why, "closed") == 0)
    return TG_END_NOT;
  for (int i = TG_END_OVERFLOW; i <= TG_END_SIZE; i++) {
    if (strcmp(tg_endreason_name((tg_End)i), why) == 0)
      return (tg_End)i;
  }
  return TG_END_STOPPED;
}

/* As Lua's own library says it (luaL_fileresult), but of what the other side
   has sent. */
int tg_destination_result (lua_State *L, int error) {
  if (error == EBADMSG) {
    luaL_pushfail(L);
    lua_pushliteral(L, "the other side has sent what is no part of a trace");
    lua_pushinteger(L, error);
    return 3;
  }
  errno = error;
  return error == 0 ? luaL_fileresult(L, 1, NULL) : lx_failure(L, NULL);
}
