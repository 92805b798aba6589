/*
** formats.c - the table of all formats. To add one: a line here, its function
** in formats.h, its file (docs/contributing.md).
**
** Limits are what the viewers were found to bear (docs/exports.md): most draw
** frames by recursion, and DevTools fails at about 8,000 of them.
*/
#include "formats/formats.h"
#include "formats/chrome/chrome.h"
#include "formats/firefox/arguments.h"
#include "formats/firefox/firefox.h"
#include "formats/otlp/otlp.h"

const tg_Format tg_formats[] = {
  {.name = "chrome", .ending = ".trace.json.gz",
   .what = "Chrome DevTools, Perfetto: trace events",
   .limit = 1000000, .depth = 3000, .values = true, .twice = true,
   .left = true, .work = tg_chromevalues_work, .write = tg_format_chrome},
  {.name = "cpuprofile", .ending = ".cpuprofile",
   .what = "DevTools, VS Code: a CPU profile of V8",
   .limit = 1000000, .depth = 3000, .ticks = true, .left = true,
   .write = tg_format_cpuprofile},
  {.name = "firefox", .ending = ".profile.json.gz",
   .what = "Firefox Profiler: exact times, arguments, a track for each"
           " coroutine",
   .limit = 1000000, .depth = 10000, .values = true, .twice = true,
   .ticks = true, .left = true, .work = tg_arguments_work,
   .write = tg_format_firefox},
  {.name = "folded", .ending = ".folded",
   .what = "flamegraph.pl, inferno: stacks and microseconds",
   .depth = 3000, .left = true, .write = tg_format_folded},
  {.name = "gecko", .ending = ".gecko.json.gz",
   .what = "Firefox Profiler: the format of Firefox itself, sampled",
   .limit = 1000000, .depth = 10000, .values = true, .twice = true,
   .ticks = true, .left = true, .write = tg_format_gecko},
  {.name = "html", .ending = ".html",
   .what = "any browser, without a network: timeline, flame graph, table",
   .limit = 1000000, .depth = 3000, .values = true, .left = true,
   .write = tg_format_html},
  {.name = "otlp", .ending = ".otlp.jsonl",
   .what = "OpenTelemetry: calls as spans, lines of JSON for the Collector",
   .limit = 1000000, .values = true, .raw = true, .write = tg_format_otlp},
  {.name = "packets", .ending = ".jsonl",
   .what = "protocol packets, a line each (JSON Lines)",
   .values = true, .raw = true, .work = tg_packets_work,
   .write = tg_format_packets},
  {.name = "pprof", .ending = ".pb.gz",
   .what = "go tool pprof, Pyroscope, Parca: stacks with calls, time, memory",
   .left = true, .write = tg_format_pprof},
  {.name = "speedscope", .ending = ".speedscope.json.gz",
   .what = "speedscope: the program, and each coroutine",
   .limit = 1000000, .depth = 3000, .twice = true, .ticks = true,
   .left = true, .write = tg_format_speedscope},
  {.name = NULL}
};
