/*
** formats.c - the table of all formats. To add one: a line here, its function
** in formats.h, its file (docs/contributing.md).
**
** Limits are what the viewers were found to bear (docs/exports.md): most draw
** frames by recursion, and DevTools fails at about 8,000 of them.
*/
#include "formats/formats.h"
#include "formats/firefox/arguments.h"
#include "formats/firefox/firefox.h"

const tg_Format tg_formats[] = {
  {"chrome", "Chrome DevTools, Perfetto: trace events", ".trace.json",
   1000000, 3000, true, 2, false, tg_chromevalues_work, tg_format_chrome,
   false, true},
  {"cpuprofile", "DevTools, VS Code: a CPU profile of V8", ".cpuprofile",
   1000000, 3000, false, 1, true, NULL, tg_format_cpuprofile, false, true},
  {"firefox", "Firefox Profiler: exact times, arguments, a track for each"
   " coroutine", ".profile.json", 1000000, 10000, true, 2, true,
   tg_arguments_work, tg_format_firefox, false, true},
  {"folded", "flamegraph.pl, inferno: stacks and microseconds", ".folded",
   0, 3000, false, 1, false, NULL, tg_format_folded, false, true},
  {"gecko", "Firefox Profiler: the format of Firefox itself, sampled",
   ".gecko.json", 1000000, 10000, true, 2, true, NULL, tg_format_gecko, false,
   true},
  {"html", "any browser, without a network: timeline, flame graph, table",
   ".html", 1000000, 3000, true, 1, false, NULL, tg_format_html, false, true},
  {"otlp", "OpenTelemetry: calls as spans, lines of JSON for the Collector",
   ".otlp.jsonl", 1000000, 0, true, 1, false, NULL, tg_format_otlp, true,
   false},
  {"packets", "protocol packets, a line each (JSON Lines)", ".jsonl",
   0, 0, true, 1, false, tg_packets_work,
   tg_format_packets, true, false},
  {"pprof", "go tool pprof, Pyroscope, Parca: stacks with calls, time, memory",
   ".pb.gz", 0, 10000, false, 1, false, NULL, tg_format_pprof, false, true},
  {"speedscope", "speedscope: the program, and each coroutine",
   ".speedscope.json", 1000000, 3000, false, 2, true, NULL,
   tg_format_speedscope, false, true},
  {0}
};
