rockspec_format = "3.0"
package = "tracegrip"
version = "scm-1"

source = {
  url = "git+https://github.com/tracegrip/tracegrip.git",
}

description = {
  summary = "A tracing profiler for Lua 5.4: every call, with its values",
  detailed = [[
    Records every call, return, yield and throw of a running Lua program, with
    arguments and results as structured values, at a cost near that of an empty
    hook; several named traces at once; speaks the TraceActor protocol.]],
  license = "MIT",
  labels = {"profiler", "tracing", "debug"},
}

dependencies = {
  "lua ~> 5.4",
  "argparse >= 0.7",
}

build = {
  type = "builtin",
  modules = {
    ["tracegrip.core"] = {
      sources = {
        "csrc/alloc.c",
        "csrc/bounds.c",
        "csrc/buf.c",
        "csrc/chain.c",
        "csrc/clock.c",
        "csrc/declare.c",
        "csrc/decode.c",
        "csrc/define.c",
        "csrc/demand.c",
        "csrc/drain.c",
        "csrc/emit.c",
        "csrc/feed.c",
        "csrc/frames.c",
        "csrc/function.c",
        "csrc/grips.c",
        "csrc/hook.c",
        "csrc/json.c",
        "csrc/known.c",
        "csrc/lib.c",
        "csrc/literal.c",
        "csrc/livelog.c",
        "csrc/log.c",
        "csrc/luasink.c",
        "csrc/lx.c",
        "csrc/naming.c",
        "csrc/notes.c",
        "csrc/objects.c",
        "csrc/options.c",
        "csrc/optread.c",
        "csrc/outlet.c",
        "csrc/own.c",
        "csrc/packet.c",
        "csrc/pattern.c",
        "csrc/pool.c",
        "csrc/process.c",
        "csrc/proghook.c",
        "csrc/reader.c",
        "csrc/recorder.c",
        "csrc/roles.c",
        "csrc/scalars.c",
        "csrc/session.c",
        "csrc/sessions.c",
        "csrc/sieve.c",
        "csrc/state.c",
        "csrc/store.c",
        "csrc/stream.c",
        "csrc/strings.c",
        "csrc/tap.c",
        "csrc/text.c",
        "csrc/thread.c",
        "csrc/thrown.c",
        "csrc/trace.c",
        "csrc/types.c",
        "csrc/value.c",
        "csrc/values.c",
        "csrc/words.c",
      },
      incdirs = {"csrc"},
      defines = {"_GNU_SOURCE"},
      libraries = {"pthread", "m"},
    },
    ["tracegrip.actor"] = "lua/tracegrip/actor.lua",
    ["tracegrip.auto"] = "lua/tracegrip/auto.lua",
    ["tracegrip.boot"] = "lua/tracegrip/boot.lua",
    ["tracegrip.cli.launcher"] = "lua/tracegrip/cli/launcher.lua",
    ["tracegrip.cli.main"] = "lua/tracegrip/cli/main.lua",
    ["tracegrip.cli.program"] = "lua/tracegrip/cli/program.lua",
    ["tracegrip.cli.run"] = "lua/tracegrip/cli/run.lua",
    ["tracegrip.console"] = "lua/tracegrip/console.lua",
    ["tracegrip"] = "lua/tracegrip/init.lua",
    ["tracegrip.options"] = "lua/tracegrip/options.lua",
  },
  install = {
    bin = {
      tracegrip = "lua/tracegrip/cli/launcher.lua",
    },
  },
}
