# tracegrip. `make help` lists the targets; everything generated is in build/.

LUA        = lua5.4
LUA_INCDIR = /usr/include/lua$(VERSION)
CC         = gcc
WSLAY_INCDIR = /usr/include
CURL_INCDIR = $(firstword $(wildcard /usr/include/curl /usr/include/*/curl))
PREFIX     = /usr/local
BUILD      = build$(if $(OTHER),/$(VERSION))
V          = @

CFLAGS  = -std=c11 -D_GNU_SOURCE -O2 -g -fPIC -fno-plt -fvisibility=hidden \
          -fno-common
WARN    = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef \
          -Wwrite-strings -Wcast-qual -Wcast-align -Wpointer-arith \
          -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
          -Wredundant-decls -Wdouble-promotion -Wvla -Wswitch-enum -Wformat=2
DEBUG   = -Og -DTG_DEBUG -fno-omit-frame-pointer
ASAN    = $(DEBUG) -fsanitize=address,undefined -fno-sanitize-recover=all
TSAN    = $(DEBUG) -fsanitize=thread
DEST    = $(DESTDIR)$(PREFIX)
LDLIBS  = -lpthread -lm -lz
EXTRA   =
FUZZ_TIME = 60
SOAK_TIME = 600
LUAS      = $(LUA)
CROSS     = spec/conformance spec/transparency spec/regress spec/api
MATRIX    = spec/direct spec/conformance spec/transparency spec/report \
            spec/recording spec/server

# Of the interpreter: 5.4 or 5.5. Busted's own modules are Debian's, for 5.4:
# HOST runs it, and needs a build for 5.4 as well. What specs run is LUA's. So it
# is where LUA is for another C library or processor: FOREIGN is then where it
# finds C modules.
FOREIGN =
VERSION := $(or $(shell $(LUA) -E -e 'io.write(_VERSION:sub(5))' 2>/dev/null),5.4)
SUFFIX  := $(subst .,_,$(VERSION))
OTHER   := $(filter-out 5.4,$(VERSION))
HOST    := $(if $(OTHER)$(FOREIGN),lua5.4,$(LUA))

# The folders that csrc/README.md lists above its line are built without Lua's
# headers in reach.
SOURCE := $(wildcard csrc/*.c csrc/*/*.c csrc/*/*/*.c)
PLAIN  := $(shell sed -n '/^    base/,/lua\.h/s,^    \([a-z/]*\)/ .*,\1,p' \
            csrc/README.md)
PLAINC := $(wildcard $(PLAIN:%=csrc/%/*.c))
SKINC  := $(filter-out $(PLAINC),$(SOURCE))
TESTC  := $(if $(findstring TG_TEST,$(EXTRA)),spec/support/drain.c)
UNITC  := $(wildcard spec/unit/test_*.c)

CORE    = $(BUILD)/lib/lua/$(VERSION)/tracegrip/core.so
BIN     = $(BUILD)/bin/tracegrip
# For debuggers alone: without libwslay all else is built.
WSLAY   = $(if $(wildcard $(WSLAY_INCDIR)/wslay/wslay.h),$(BUILD)/lib/lua/$(VERSION)/tracegrip/wslay.so)
# For those who send spans or profiles alone, in the same way.
CURL    = $(if $(CURL_INCDIR),$(BUILD)/lib/lua/$(VERSION)/tracegrip/curl.so)
PRELOADED = $(BUILD)/lib/lua/$(VERSION)/tracegrip/preload.so
SPECLIB = $(BUILD)/spec/atexit.so $(BUILD)/spec/states.so \
          $(BUILD)/spec/process.so $(BUILD)/spec/behind.so \
          $(BUILD)/spec/nested.so $(BUILD)/spec/forged.so \
          $(BUILD)/spec/allocators.so \
          $(BUILD)/spec/catches.so $(BUILD)/spec/yesterday.so \
          $(BUILD)/spec/sampled.so $(BUILD)/spec/refused.so $(HOSTS)
# Programs that embed the system's Lua: as a library, in a plug-in, and inside.
LIBLUA  = $(firstword $(wildcard /usr/lib/*/liblua$(VERSION).so))
HOSTS   = $(if $(FOREIGN),,$(if $(LIBLUA),$(addprefix $(BUILD)/spec/, \
          embedding embedding_static plugin.so plugging)))
BENCH   = $(BUILD)/spec/bench_hook.so
THREADED = store packed unpacker readahead follower channel handover
UNIT    = $(BUILD)/test_fuzz $(UNITC:spec/unit/%.c=$(BUILD)/%)

MODULES = $(CURDIR)/lua/?.lua;$(CURDIR)/lua/?/init.lua;;
TREE    = LUA_PATH_$(SUFFIX)='$(MODULES)' \
          LUA_CPATH_$(SUFFIX)='$(abspath $(BUILD))/lib/lua/$(VERSION)/?.so;;'
SUITE   = env $(if $(OTHER),LUA_PATH_5_4='$(MODULES)') $(TREE) LUA=$(LUA) \
          $(if $(FOREIGN),LUA_CPATH_5_4=';;' TG_FOREIGN='$(FOREIGN)') \
          TG_BUILD=$(abspath $(BUILD)) HOST=$(HOST)
BUSTED  = $(SUITE) busted --lua=$(HOST)
PRELOAD = LD_PRELOAD=$(shell $(CC) -print-file-name=libasan.so) \
          ASAN_OPTIONS=detect_leaks=0
TOP     = $(MAKE) --no-print-directory
# Compiles on all processors, unless make was told how many to use.
BUILDS  = $(TOP) $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc || echo 1))
DEPS    = LUA=$(LUA) HOST=$(HOST) VERSION=$(VERSION) build-aux/deps.sh

all: $(CORE) $(PRELOADED) $(WSLAY) $(CURL) $(BIN)   ## builds build/lib and the launcher build/bin/tracegrip

deps:         ## installs what is missing
	$(V)$(DEPS) run test lint $(if $(CI),importers)

demo:         ## traces a real program; results in build/demo
	$(V)$(DEPS) run
	$(V)$(BUILDS) all
	$(V)$(TREE) LUA=$(LUA) build-aux/demo.sh $(BUILD)

test:         ## installs, builds, runs the unit tests and the whole suite
	$(V)$(DEPS) run test $(if $(CI),importers)
	$(V)build-aux/importers.sh $(BUILD)
	$(V)$(BUILDS) all
	$(V)$(TOP) -k unit spec

importers:    ## npm packages that read exports, into build/importers
	$(V)build-aux/importers.sh $(BUILD)

memlab:       ## npm's memlab, for spec/heap/memlab_spec.lua, into build/memlab
	$(V)build-aux/importers.sh $(BUILD) spec/heap/memlab

page:         ## PROFILER=DIR: recordings in the page of a built Firefox Profiler
	$(V)test -f '$(PROFILER)/dist/index.html' \
	  || { echo "make page PROFILER=DIR: a checkout with dist/index.html" >&2; exit 2; }
	$(V)$(TOP) spec SPEC=spec/viewers/kinds_spec.lua

pictures:     ## takes those of docs/images anew, in a Chromium without a window
	$(V)$(DEPS) run pictures
	$(V)$(TOP) demo >/dev/null
	$(V)$(TOP) importers
	$(V)$(TREE) node $$(node -p '"WebSocket" in globalThis ? "" : "--experimental-websocket"') \
	  build-aux/screenshots.mjs $(BUILD)

unit:         ## C tests of the plain C files, with sanitizers
	$(V)$(BUILDS) BUILD=$(BUILD)/unit EXTRA='$(ASAN) -DTG_TEST' unit-run

tsan:         ## the same under the thread sanitizer
	$(V)$(TOP) BUILD=$(BUILD)/tsan EXTRA='$(TSAN) -DTG_TEST' unit-run

races:        ## what threads share, under the thread sanitizer: C and clients
	$(V)$(TOP) BUILD=$(BUILD)/tsan EXTRA='$(TSAN) -DTG_TEST' unit-run \
	  UNIT='$(THREADED:%=$(BUILD)/tsan/test_%)'
	$(V)$(TOP) BUILD=$(BUILD)/races EXTRA='$(TSAN)' races-run

# What the sanitizer finds in a traced program is in a file.
races-run: all $(SPECLIB) $(BUILD)/spec/tsanbegin.so
	$(V)rm -f $(BUILD)/report.*
	$(V)env $(TREE) LUA=$(LUA) TG_BUILD=$(abspath $(BUILD)) \
	  LD_PRELOAD=$(abspath $(BUILD))/spec/tsanbegin.so:$(shell $(CC) -print-file-name=libtsan.so) \
	  TSAN_OPTIONS=log_path=$(abspath $(BUILD))/report \
	  $(LUA) $(shell command -v busted) --ignore-lua \
	  spec/server/protocol_spec.lua spec/server/taped_spec.lua
	$(V)! cat $(BUILD)/report.* 2>/dev/null

unit-run: $(UNIT)
	$(V)build-aux/unit.sh $(UNIT)

# Busted's own build, where it runs under another version than what it runs.
host:
	$(V)$(if $(OTHER),$(TOP) -s all LUA=$(HOST) BUILD=build \
	  LUA_INCDIR=/usr/include/$(HOST),true)

spec: all host $(SPECLIB)   ## the Lua suite; SPEC=path for a part of it
	$(V)$(if $(SPEC),$(BUSTED) $(SPEC),$(SUITE) \
	  build-aux/suite.sh busted --lua=$(HOST))

thorough:     ## the Lua suite with every seed and release of Lua; SPEC=path
	$(V)THOROUGH=1 $(TOP) spec SPEC='$(SPEC)'

stolen:       ## the suite while processors are taken away from it (as root); SPEC=path
	$(V)build-aux/stolen.sh $(TOP) spec SPEC='$(SPEC)'

matrix: all host $(SPECLIB)   ## its parts on recording under each of LUAS="lua5.4 ..."
	$(V)$(SUITE) SPECS='$(or $(SPEC),$(MATRIX))' \
	  build-aux/matrix.sh $(LUAS)

versions:     ## LUASRC=DIR: the same with the releases there, or with Debian's
	$(V)SPECS='$(SPEC)' build-aux/versions.sh '$(BUILD)/versions' '$(LUASRC)'

layouts:      ## csrc/layout/rows.h against Lua's headers; LUASRC=DIR WRITE=1 makes it
	$(V)build-aux/layouts.sh '$(BUILD)/versions' '$(LUASRC)' $(if $(WRITE),write)

jitlayouts:   ## JITSRC=DIR: csrc/layout/jitrows.h against LuaJITs there; WRITE=1 makes it
	$(V)build-aux/jitlayouts.sh '$(BUILD)/jitlayouts' '$(JITSRC)' $(if $(WRITE),write)

oracle:       ## LUASRC=DIR, SEEDS="1 200": packets against an interpreter that logs itself
	$(V)build-aux/oracle.sh '$(BUILD)/versions' $(or $(SEEDS),1 200) '$(LUASRC)'

oracle-run: all host $(SPECLIB)
	$(V)$(SUITE) $(if $(OTHER),LUA_CPATH_5_4='$(CURDIR)/build/lib/lua/5.4/?.so;;') \
	  LUA=$(ORACLE) $(HOST) spec/oracle/check.lua $(SEEDS)

musl:         ## with the C library musl; LUASRC=DIR: sources of Lua and zlib
	$(V)$(DEPS) run test musl
	$(V)$(TOP) all
	$(V)SPECS='$(or $(SPEC),spec/direct spec/conformance)' \
	  build-aux/musl.sh '$(BUILD)/musl' '$(LUASRC)'

arm64:        ## on emulated aarch64 processors
	$(V)$(DEPS) run test arm64
	$(V)$(TOP) all
	$(V)SPECS='$(or $(SPEC),spec/direct spec/conformance)' \
	  build-aux/arm64.sh '$(BUILD)/arm64'

asan:         ## the Lua suite on a build with address and undefined sanitizers
	$(V)$(TOP) BUILD=$(BUILD)/asan EXTRA='$(ASAN)' PRELOAD='$(PRELOAD)' \
	  spec-preload SPEC='$(SPEC)'

crosscheck:   ## what the hook reads from memory against the public API
	$(V)$(TOP) BUILD=$(BUILD)/crosscheck EXTRA='$(DEBUG) -DTG_CROSSCHECK' \
	  spec SPEC='$(or $(SPEC),$(CROSS))'

strange:      ## LUASRC=DIR: interpreters that the hook must not read
	$(V)build-aux/strange.sh '$(LUASRC)' '$(BUILD)'

oom:          ## allocation failures and slow readers, on the test build
	$(V)$(TOP) BUILD=$(BUILD)/oom EXTRA='$(ASAN) -DTG_TEST' \
	  PRELOAD='$(PRELOAD)' spec-preload \
	  SPEC='$(or $(SPEC),spec/oom spec/api/wait_spec.lua)'

spec-preload: all $(SPECLIB)
	$(V)$(PRELOAD) $(BUSTED) $(SPEC)

fuzz:         ## bytes that are nearly recordings, for FUZZ_TIME=60 seconds
	$(V)$(TOP) BUILD=$(BUILD)/fuzz CC=clang \
	  EXTRA='$(ASAN) -fsanitize=fuzzer-no-link' fuzz-run

fuzz-run: $(BUILD)/fuzzer
	@mkdir -p $(BUILD)/found
	$(V)ASAN_OPTIONS=quarantine_size_mb=32 $(BUILD)/fuzzer -max_total_time=$(FUZZ_TIME) -max_len=65536 \
	  -timeout=10 -rss_limit_mb=512 -print_final_stats=1 \
	  -artifact_prefix=$(BUILD)/ $(BUILD)/found spec/fuzz/corpus

static:       ## build/bin/tracegrip-static, one file; LUASRC=DIR: sources it is made of
	$(V)$(DEPS) run static
	$(V)LUA='$(HOST)' CFLAGS='$(CFLAGS)' MAKE='$(MAKE)' \
	  build-aux/static.sh '$(BUILD)' '$(LUASRC)'

static-objects: $(SOURCE:csrc/%.c=$(BUILD)/obj/%.o)
	@:

hostile:      ## SEEDS="1 100": cores whose words are changed, under sanitizers
	$(V)$(TOP) BUILD=$(BUILD)/unit EXTRA='$(ASAN) -DTG_TEST' hostile-run

hostile-run: $(BUILD)/test_hostile
	$(V)build-aux/hostile.sh '$(abspath $(BUILD))/test_hostile' $(or $(SEEDS),1 100)

bench: all $(BENCH)    ## cost per event; BENCH_ARGS="-n 9 fib oop"
	$(V)$(TREE) LUA_CPATH_$(SUFFIX)="$(abspath $(BUILD))/spec/?.so;$$LUA_CPATH_$(SUFFIX)" \
	  $(LUA) spec/bench/bench.lua $(BENCH_ARGS)
	$(V)$(TREE) LUA_CPATH_$(SUFFIX)="$(abspath $(BUILD))/spec/?.so;$$LUA_CPATH_$(SUFFIX)" \
	  $(LUA) spec/bench/bench.lua -m untraced,tick,sample,wall depth
	@echo '# the same with frames asked of the public API (TRACEGRIP_DIRECT=0)'
	$(V)TRACEGRIP_DIRECT=0 $(TREE) \
	  LUA_CPATH_$(SUFFIX)="$(abspath $(BUILD))/spec/?.so;$$LUA_CPATH_$(SUFFIX)" \
	  $(LUA) spec/bench/bench.lua $(BENCH_ARGS)
	$(V)$(TREE) $(LUA) spec/bench/reading.lua
	$(V)$(TREE) $(LUA) spec/bench/scope.lua
	$(V)$(TREE) LUA_CPATH_$(SUFFIX)="$(abspath $(BUILD))/spec/?.so;$$LUA_CPATH_$(SUFFIX)" \
	  $(LUA) spec/bench/streaming.lua
	$(V)$(TREE) $(LUA) spec/bench/attached.lua $(BUILD)
	$(V)$(TREE) $(LUA) spec/bench/real.lua $(BUILD)

breakpoints: all $(BENCH)    ## what a breakpoint costs other functions' calls
	$(V)$(SUITE) lua5.4 spec/bench/breakpoints.lua

soak: all $(SPECLIB)   ## clients come and go, or read all, for SOAK_TIME=600 s
	$(V)TG_SOAK=$(SOAK_TIME) $(BUSTED) spec/server/fair_spec.lua \
	  spec/inspect/soak_spec.lua
	$(V)$(TREE) $(LUA) spec/server/soak.lua $(SOAK_TIME)

truth: all $(SPECLIB)  ## how true times are, in a table; TRUTH_ARGS="calls json"
	$(V)$(SUITE) $(HOST) spec/truth/table.lua $(TRUTH_ARGS)

golden:       ## writes the documents that exports are compared with anew
	$(V)TG_GOLDEN=1 $(TOP) spec SPEC=spec/export/golden_spec.lua

lint:         ## luacheck, warnings of gcc and clang, rockspec, symbols, layers
	$(V)$(DEPS) run lint
	$(V)$(TOP) all
	$(V)FLAGS='$(CFLAGS) $(WARN)' LUA_INCDIR='$(LUA_INCDIR)' \
	  CORE='$(CORE)' OBJ='$(BUILD)/obj' LUA=$(LUA) build-aux/lint.sh

format:       ## what clang-format would change, for information
	$(V)for f in $$(git ls-files 'csrc/*.[ch]'); do \
	  clang-format $$f | diff -u --label $$f --label $$f $$f -; done; true

graph:        ## which folder of csrc uses which; ROOM=reader: inside of one
	$(V)$(LUA) build-aux/rooms.lua graph $(ROOM)

docs: all     ## puts fresh output into README.md and docs/
	$(V)$(LUA) build-aux/output.lua docs/performance.md docs/client.md docs/exports.md \
	  docs/scope.md docs/commands.md docs/serve.md docs/busted.md \
	  docs/tutorial.md README.md

vscode:       ## packs the extension for VS Code: build/lua-tracegrip.vsix
	$(V)mkdir -p build
	$(V)$(LUA) build-aux/vsix.lua editors/vscode LICENSE build/lua-tracegrip.vsix

install: all  ## into PREFIX (/usr/local), below DESTDIR
	$(V)install -Dm755 $(CORE) $(DEST)/lib/lua/$(VERSION)/tracegrip/core.so
	$(V)install -Dm755 $(PRELOADED) $(DEST)/lib/lua/$(VERSION)/tracegrip/preload.so
	$(V)$(if $(WSLAY),install -Dm755 $(WSLAY) $(DEST)/lib/lua/$(VERSION)/tracegrip/wslay.so)
	$(V)$(if $(CURL),install -Dm755 $(CURL) $(DEST)/lib/lua/$(VERSION)/tracegrip/curl.so)
	$(V)cd lua && find . -name '*.lua' -exec \
	  install -Dm644 {} $(DEST)/share/lua/$(VERSION)/{} ';'
	$(V)mkdir -p $(DEST)/bin
	$(V)sed '1s/5\.4/$(VERSION)/' lua/tracegrip/cli/launcher.lua \
	  >$(DEST)/bin/tracegrip && chmod 755 $(DEST)/bin/tracegrip

# A version's own variable hides the general one, which is put inside.
env:          ## prints the exports with which the tree works from anywhere
	@echo "export LUA_PATH_$(SUFFIX)='$(CURDIR)/lua/?.lua;$(CURDIR)/lua/?/init.lua;'\"\$${LUA_PATH_$(SUFFIX)-\$${LUA_PATH-;;}}\""
	@echo "export LUA_CPATH_$(SUFFIX)='$(abspath $(BUILD))/lib/lua/$(VERSION)/?.so;'\"\$${LUA_CPATH_$(SUFFIX)-\$${LUA_CPATH-;;}}\""
	@echo "export PATH='$(abspath $(BUILD))/bin':\"\$$PATH\""

clean:        ## removes build/
	$(V)rm -rf $(BUILD)

help:         ## this list
	@sed -n 's/^\([a-z0-9]*\):.*##  *\(.*\)/  make \1\t\2/p' Makefile | expand -t 16

# --- files -----------------------------------------------------------------

$(CORE): $(SOURCE:csrc/%.c=$(BUILD)/obj/%.o) $(TESTC:spec/support/%.c=$(BUILD)/obj/%.o)
	@mkdir -p $(@D); echo '  LINK  $@'
	$(V)$(CC) -shared $(CFLAGS) $(EXTRA) $^ $(LDLIBS) -o $@

$(PRELOADED): modules/preload.c
	@mkdir -p $(@D); echo '  CC    $<'
	$(V)$(CC) $(CFLAGS) $(WARN) -shared -I$(LUA_INCDIR) $< -o $@

$(BUILD)/lib/lua/$(VERSION)/tracegrip/wslay.so: modules/wslay.c
	@mkdir -p $(@D); echo '  CC    $<'
	$(V)$(CC) $(CFLAGS) $(WARN) $(EXTRA) -shared -I$(LUA_INCDIR) -isystem $(WSLAY_INCDIR) $< -lwslay -o $@

$(BUILD)/lib/lua/$(VERSION)/tracegrip/curl.so: modules/curl.c
	@mkdir -p $(@D); echo '  CC    $<'
	$(V)$(CC) $(CFLAGS) $(WARN) $(EXTRA) -shared -I$(LUA_INCDIR) -isystem $(dir $(CURL_INCDIR)) $< -lcurl -o $@

$(SKINC:csrc/%.c=$(BUILD)/obj/%.o): LUAINC = -I$(LUA_INCDIR)

$(BUILD)/obj/%.o: csrc/%.c
	@mkdir -p $(@D); echo '  CC    $<'
	$(V)$(CC) $(CFLAGS) $(WARN) $(EXTRA) -Icsrc $(LUAINC) -MMD -MP -c $< -o $@

# The test build's reader on another thread is a part of the module.
$(BUILD)/obj/drain.o: spec/support/drain.c
	@mkdir -p $(@D); echo '  CC    $<'
	$(V)$(CC) $(CFLAGS) $(WARN) $(EXTRA) -Icsrc -I$(LUA_INCDIR) -MMD -MP -c $< -o $@

$(BUILD)/obj/test_%.o: spec/unit/test_%.c
	@mkdir -p $(@D); echo '  CC    $<'
	$(V)$(CC) $(CFLAGS) $(WARN) $(EXTRA) -Icsrc -MMD -MP -c $< -o $@

# A test is linked with what it needs alone: with all of it 60 of them take
# twenty seconds more and a gigabyte.
$(BUILD)/plain.a: $(PLAINC:csrc/%.c=$(BUILD)/obj/%.o)
	@mkdir -p $(@D); echo '  LINK  $@'
	$(V)rm -f $@; $(AR) rcs $@ $^

$(BUILD)/test_%: $(BUILD)/obj/test_%.o $(BUILD)/plain.a
	@mkdir -p $(@D); echo '  LINK  $@'
	$(V)$(CC) $(CFLAGS) $(EXTRA) $^ $(LDLIBS) -o $@

FUZZO = $(BUILD)/obj/fuzz_target.o $(BUILD)/obj/fuzz_pieces.o $(BUILD)/plain.a

$(BUILD)/obj/fuzz_%.o: spec/fuzz/%.c
	@mkdir -p $(@D); echo '  CC    $<'
	$(V)$(CC) $(CFLAGS) $(WARN) $(EXTRA) -Icsrc -MMD -MP -c $< -o $@

$(BUILD)/test_fuzz: $(BUILD)/obj/fuzz_replay.o $(FUZZO)
	@mkdir -p $(@D); echo '  LINK  $@'
	$(V)$(CC) $(CFLAGS) $(EXTRA) $^ $(LDLIBS) -o $@

$(BUILD)/test_hostile: $(BUILD)/obj/fuzz_hostile.o $(BUILD)/plain.a
	@mkdir -p $(@D); echo '  LINK  $@'
	$(V)$(CC) $(CFLAGS) $(EXTRA) $^ $(LDLIBS) -o $@

$(BUILD)/fuzzer: $(BUILD)/obj/fuzz_fuzzer.o $(FUZZO)
	@mkdir -p $(@D); echo '  LINK  $@'
	$(V)$(CC) $(CFLAGS) $(EXTRA) -fsanitize=fuzzer $^ $(LDLIBS) -o $@

vpath %.c spec/support spec/bench
$(BUILD)/spec/%.so: %.c
	@mkdir -p $(@D); echo '  CC    $<'
	$(V)$(CC) $(CFLAGS) $(WARN) -shared -I$(LUA_INCDIR) $< $(LDLIBS) -o $@

HOSTED  = $(CC) $(CFLAGS) $(WARN) -I$(LUA_INCDIR) $<
$(BUILD)/spec/embedding: embedding.c
	@mkdir -p $(@D); echo '  LINK  $@'
	$(V)$(HOSTED) $(LIBLUA) $(LDLIBS) -o $@

$(BUILD)/spec/embedding_static: embedding.c
	@mkdir -p $(@D); echo '  LINK  $@'
	$(V)$(HOSTED) $(LIBLUA:.so=.a) $(LDLIBS) -ldl -o $@

$(BUILD)/spec/plugin.so: embedding.c
	@mkdir -p $(@D); echo '  LINK  $@'
	$(V)$(HOSTED) -DPLUGIN -shared $(LIBLUA) $(LDLIBS) -o $@

$(BUILD)/spec/plugging: plugging.c
	@mkdir -p $(@D); echo '  LINK  $@'
	$(V)$(HOSTED) -ldl -o $@

$(BIN): lua/tracegrip/cli/launcher.sh
	@mkdir -p $(@D); echo '  COPY  $@'
	$(V)sed 's/^version=.*/version=$(VERSION)/' $< >$@ && chmod 755 $@

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

.SECONDARY:
.PHONY: all deps vscode static static-objects crosscheck hostile hostile-run strange versions layouts jitlayouts oracle oracle-run musl arm64 host demo test importers memlab page pictures unit unit-run tsan spec thorough stolen matrix asan spec-preload oom bench breakpoints \
        soak truth fuzz fuzz-run lint format graph docs install env clean help
