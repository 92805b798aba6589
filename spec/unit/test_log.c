/*
** test_log.c - the live log, from hand-written events to lines.
*/
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "packet/log.h"
#include "stream/event.h"
#include "stream/values.h"

/* {============ a stream written by hand: one tick is a nanosecond */

static tg_Stream *stream;
static tg_Chunk *chunk;
static uint8_t *at;
static uint64_t clock_ns;
static tg_FunctionId f_main, f_fib, f_print;

static char *copy (const char *s) {
  return strdup(s);
}

static tg_FunctionId define (const char *name, uint32_t line, bool c) {
  tg_Function f = {.name = copy(name), .url = copy(c ? "[C]" : "prog.lua"),
                   .line = line, .is_c = c, .vararg = line == 0};
  if (line > 0) {
    f.params = calloc(1, sizeof(char *));
    f.params[0] = copy("n");
    f.nparams = 1;
  }
  return tg_functions_add(stream->functions, &f);
}

static void event (tg_Kind kind, uint32_t flags, uint64_t us) {
  clock_ns += us * 1000;
  at = tg_put32(at, (uint32_t)kind | flags
                    | (uint32_t)(us * 1000) << TG_EV_DELTASHIFT);
}

/* 'n' bytes of values. */
static void values (const char *bytes, size_t n) {
  at = tg_put32(at, (uint32_t)n);
  memcpy(at, bytes, n);
  at += n;
}
#define VALUES(s) values(s, sizeof(s) - 1)

static void call (tg_FunctionId f, uint32_t line) {
  event(TG_EV_CALL, TG_EVF_VALUES | (line > 0 ? TG_EVF_SITE : 0), 2);
  at = tg_put32(at, f);
  if (line > 0)
    at = tg_put32(at, line);
}

static void ret (uint64_t us) {
  event(TG_EV_RETURN, TG_EVF_VALUES, us);
}

static void begin (void) {
  stream = tg_stream_new();
  stream->clock = (tg_Clock){.origin = 0, .ns_per_tick = 1};
  chunk = tg_store_grow(&stream->store, 4096, 0);
  at = chunk->block->data;
  clock_ns = 10000;
  f_main = define("(main chunk)", 0, false);
  f_fib = define("fib", 3, false);
  f_print = define("print", 0, true);
  event(TG_EV_CONTEXT, 0, 0);
  at = tg_put64(at, clock_ns);
  at = tg_put32(at, 1);
  at = tg_put32(at, 1);
  at = tg_put32(at, 0);
}

/* }============ */

static char text[65536];

/* Logs the stream to 'fd', an event or all at a time. */
static void logto (int fd, const tg_LogStyle *style, uint64_t min_us,
                   tg_LogState *state) {
  tg_Options o;
  tg_Selection d = {0};
  tg_options_init(&o);
  o.min_duration_ns = min_us * 1000;
  tg_selection_add(&d, &o);
  tg_block_commit(chunk->block, at);
  tg_Log *l = tg_log_new(stream, 0, &d, style, fd);
  if (l != NULL) {
    tg_log_pump(l, (tg_Pos)(at - chunk->block->data));
    tg_log_finish(l);
    tg_log_state(l, state);
    tg_log_free(l);
  }
  tg_selection_clear(&d);
  tg_options_free(&o);
}

static const char *logged (const tg_LogStyle *style, uint64_t min_us) {
  tg_LogState state;
  char name[] = "/tmp/tg_logXXXXXX";
  int fd = mkstemp(name);
  logto(fd, style, min_us, &state);
  ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
  text[n < 0 ? 0 : n] = '\0';
  close(fd);
  unlink(name);
  return text;
}

/* All that comes out of a terminal whose other end is closed: what was written
   is handed over by the kernel in its own time, and in pieces. */
static void read_all (int master) {
  size_t size = 0;
  ssize_t n;
  while ((n = read(master, text + size, sizeof(text) - 1 - size)) > 0)
    size += (size_t)n;
  text[size] = '\0';
}

/* What a terminal of so many columns and rows gets. */
static const char *shown (const tg_LogStyle *style, unsigned short columns,
                          unsigned short rows) {
  struct winsize w = {.ws_row = rows, .ws_col = columns};
  tg_LogState state;
  int master, slave;
  if (openpty(&master, &slave, NULL, NULL, &w) != 0)
    return "";
  logto(slave, style, 0, &state);
  close(slave);
  read_all(master);
  close(master);
  return text;
}

static int failures;

static void expect (const char *what, const char *got, const char *wanted) {
  if (strcmp(got, wanted) == 0)
    return;
  failures++;
  printf("test_log: %s\n--- got\n%s--- wanted\n%s", what, got, wanted);
}

static void program (void) {
  begin();
  call(f_main, 0); VALUES("\0");
  call(f_fib, 9); VALUES("\1\xc2");
  call(f_fib, 4); VALUES("\1\xc1");
  ret(3); VALUES("\1\xc1");
  ret(50); VALUES("\2\xc1\x02");
  call(f_print, 9); VALUES("\2\x45\x61\n\xff\xc3\xa9\x80"
                           "\x00\x18\xc1\x42hi\x41x\xc5\x44" "and \x02\x3f");
  ret(1); VALUES("\0");
  event(TG_EV_THROW, TG_EVF_VALUES, 1);
  at = tg_put32(at, 1);
  VALUES("\1\x44" "boom");
}

static void test_lines (void) {
  tg_LogStyle style = {.times = true, .width = 60};
  program();
  expect("lines with times", logged(&style, 0),
    "     0.012  (main chunk)()                          prog.lua\n"
    "     0.014  │ fib(2)                              prog.lua:9\n"
    "     0.016  │ │ fib(1)                            prog.lua:4\n"
    "     0.019  │ │ └→ 1                                  3.0 µs\n"
    "     0.069  │ └ fib → 1, true                        55.0 µs\n"
    "     0.071  │ print(\"a\\n\\xFFé\", "
    "{\"hi\", x = 5, [\"and \"] = true, ...})"
    "  prog.lua:9\n"
    "     0.072  │ └                                       1.0 µs\n"
    "     0.073  └ (main chunk) !! error \"boom\"           61.0 µs\n");
  tg_stream_unpin(stream);
}

static void test_min_duration (void) {
  tg_LogStyle style = {.width = 40, .summary = true};
  program();
  expect("short calls vanish", logged(&style, 40),
    "(main chunk)()                  prog.lua\n"
    "│ fib(2)                      prog.lua:9\n"
    "│ └→ 1, true\n"
    "└ (main chunk) !! error \"boom\"\n"
    "── 2 calls, 1 ended by an error\n");
  tg_stream_unpin(stream);
}

static void test_limit (void) {
  tg_LogStyle style = {.width = 40, .limit = 3};
  program();
  expect("the first events", logged(&style, 0),
    "(main chunk)()                  prog.lua\n"
    "│ fib(2)                      prog.lua:9\n"
    "│ │ fib(1)                    prog.lua:4\n"
    "… 5 more events (--limit)\n");
  style.limit = 8;
  expect("all of them", strstr(logged(&style, 0), "more") ? "more" : "none",
         "none");
  tg_stream_unpin(stream);
}

static void test_terminal (void) {
  tg_LogStyle style = {0};
  program();
  expect("a terminal's width", shown(&style, 50, 5),
    "(main chunk)()                            prog.lua\r\n"
    "│ fib(2)                                prog.lua:9\r\n"
    "│ │ fib(1)                              prog.lua:4\r\n"
    "│ │ └→ 1\r\n"
    "│ └ fib → 1, true\r\n"
    "│ print(\"a\\n\\xFFé\", {\"hi\", x = 5, ...…  prog.lua:9\r\n"
    "│ └\r\n"
    "└ (main chunk) !! error \"boom\"\r\n");
  tg_stream_unpin(stream);
}

/* A burst is shown as far as it fits, and the rest is told of in the last
   line; where there is no terminal it is all there. */
static void test_live (void) {
  tg_LogStyle style = {.live = true};
  program();
  expect("a terminal's height", shown(&style, 50, 5),
    "(main chunk)()                            prog.lua\r\n"
    "│ fib(2)                                prog.lua:9\r\n"
    "│ │ fib(1)                              prog.lua:4\r\n"
    "│ │ └→ 1\r\n"
    "… 1 call not shown\r\n");
  style.width = 40;
  style.summary = true;
  expect("no terminal", logged(&style, 40),
    "(main chunk)()                  prog.lua\n"
    "│ fib(2)                      prog.lua:9\n"
    "│ └→ 1, true\n"
    "└ (main chunk) !! error \"boom\"\n"
    "── 2 calls, 1 ended by an error\n");
  tg_stream_unpin(stream);
}

static void test_closed_pipe (void) {
  tg_LogStyle style = {0};
  tg_LogState state = {0};
  int ends[2];
  program();
  if (pipe(ends) != 0)
    return;
  close(ends[0]);
  logto(ends[1], &style, 0, &state);   /* and we are still alive */
  close(ends[1]);
  if (state.rows != 0 || state.lost != 8 || state.error == 0) {
    printf("test_log: a closed pipe loses lines, not the program\n");
    failures++;
  }
  tg_stream_unpin(stream);
}

static void test_coroutines (void) {
  tg_LogStyle style = {.width = 40};
  begin();
  call(f_main, 0); VALUES("\0");
  event(TG_EV_RESUME, 0, 1);
  at = tg_put32(at, 2);
  call(f_fib, 0); VALUES("\1\xc7");
  event(TG_EV_YIELD, TG_EVF_VALUES, 1); VALUES("\1\xc9");
  event(TG_EV_RESUME, 0, 1);
  at = tg_put32(at, 2);
  ret(1); VALUES("\1\xc8");
  event(TG_EV_LEAVE, 0, 1);
  ret(1); VALUES("\0");
  expect("coroutines", logged(&style, 0),
    "(main chunk)()                  prog.lua\n"
    "│ ── coroutine 2 ──\n"
    "│ fib(7)\n"
    "│ └⇢ yield 9\n"
    "│ fib  resumed\n"
    "│ └→ 8\n"
    "── main coroutine ──\n"
    "└ (main chunk)\n");
  tg_stream_unpin(stream);
}

/* Three turns of a call, each too short by itself. */
static void turns (void) {
  begin();
  call(f_main, 0); VALUES("\0");
  for (int turn = 0; turn < 3; turn++) {
    call(f_print, 0); VALUES("\0");        /* what resumes it */
    event(TG_EV_RESUME, 0, 1);
    at = tg_put32(at, 2);
    if (turn == 0) {
      call(f_fib, 0); VALUES("\1\xc7");
    }
    event(turn < 2 ? TG_EV_YIELD : TG_EV_RETURN, TG_EVF_VALUES, 10);
    VALUES("\1\xc9");
    if (turn == 2)
      event(TG_EV_LEAVE, 0, 1);
    ret(1); VALUES("\0");
  }
  ret(1); VALUES("\0");
}

/* A call is long by all its stays. As it happens, that is seen in the last of
   them, and what is around it is shown as well. */
static void test_held_over (void) {
  tg_LogStyle style = {.width = 40};
  turns();
  expect("held back over a yield", logged(&style, 25),
    "(main chunk)()                  prog.lua\n"
    "│ print()\n"
    "│ │ ── coroutine 2 ──\n"
    "│ │ fib(7)\n"
    "│ │ └→ 9\n"
    "│ ── main coroutine ──\n"
    "│ └ print\n"
    "└ (main chunk)\n");
  style.whole = true;
  expect("known beforehand", logged(&style, 25),
    "(main chunk)()                  prog.lua\n"
    "│ ── coroutine 2 ──\n"
    "│ fib(7)\n"
    "│ └⇢ yield 9\n"
    "│ fib  resumed\n"
    "│ └⇢ yield 9\n"
    "│ fib  resumed\n"
    "│ └→ 9\n"
    "── main coroutine ──\n"
    "└ (main chunk)\n");
  expect("too short in all", logged(&style, 35),
    "(main chunk)()                  prog.lua\n"
    "└\n");
  tg_stream_unpin(stream);
}

#ifdef TG_TEST
/* Memory is refused at every place in turn; lines may go, nothing else. */
static void refuse_in (void (*prog) (void), bool whole) {
  tg_LogStyle style = {.times = true, .color = true, .whole = whole};
  prog();
  uint64_t n = 1;
  for (;; n++) {
    tg_LogState state = {0};
    int fd = open("/dev/null", O_WRONLY);
    tg_alloc_fail(n);
    logto(fd, &style, n % 2 * 40, &state);
    uint64_t requests = tg_alloc_fail(0);
    close(fd);
    if (requests < n)
      break;
  }
  if (n < 5) {
    printf("test_log: only %d allocations\n", (int)n);
    failures++;
  }
  tg_stream_unpin(stream);
}

static void test_memory (void) {
  for (int whole = 0; whole < 2; whole++) {
    refuse_in(program, whole != 0);
    refuse_in(turns, whole != 0);
  }
}
#endif

int main (void) {
  test_lines();
  test_min_duration();
  test_limit();
  test_terminal();
  test_live();
  test_closed_pipe();
  test_coroutines();
  test_held_over();
#ifdef TG_TEST
  test_memory();
#endif
  return failures > 0;
}
