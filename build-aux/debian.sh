# debian.sh - what other scripts take from where this machine's own packages come,
# with lists of their own: what the machine installs stays what it is. To be
# included (.) by a script, which calls lists first. All answer 1 if the network,
# or apt-get, has it not.

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
fetched=        # where lists and packages are, after lists

apt () {        # COMMAND ARGUMENTS...
  command=$1
  shift
  "$command" -qq -o Dir::Etc::sourcelist="$fetched/sources.list" \
    -o Dir::Etc::sourceparts=- -o Dir::State::lists="$fetched/lists" \
    -o Dir::State::status="$fetched/status" -o Dir::Cache="$fetched/cache" \
    -o APT::Sandbox::User= -o Acquire::http::Timeout=20 "$@" 2>/dev/null
}

# The machine's own, "bookworm".
suite () {
  apt-get indextargets --format '$(RELEASE)' 'Component: main' 2>/dev/null |
    grep -v -- - | head -n 1
}

lists () {      # DIRECTORY KIND SUITE...: of "deb-src" or "deb arch=arm64"
  fetched=$(mkdir -p "$1" && cd "$1" && pwd)
  kind=$2
  shift 2
  mkdir -p "$fetched/lists/partial" "$fetched/cache"
  : >"$fetched/status"
  site=$(apt-get indextargets --format '$(SITE)' 'Component: main' 2>/dev/null |
         grep -v security | head -n 1)
  for suite do
    echo "${kind%% *} [signed-by=$keyring${kind#${kind%% *}}] $site $suite main"
  done >"$fetched/sources.list"
  apt apt-get update
}

# What versions of a package's source there are, a line each.
offered () {    # PACKAGE
  apt apt-cache showsrc "$1" | sed -n 's/^Version: //p' | sort -u
}

# A source as it was released, PACKAGE_*.orig.tar.*, into the directory of lists.
tarball () {    # PACKAGE [VERSION]
  (cd "$fetched" &&
   apt apt-get source --download-only --tar-only "$1${2:+=$2}")
}

# Packages for another processor and all that they depend on, unpacked and not set
# up: nothing of them runs, so this needs neither root nor an emulator.
packages () {   # ARCHITECTURE ROOT PACKAGE...
  architecture=$1
  into=$2
  shift 2
  apt apt-get install -y --download-only --no-install-recommends \
    -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" \
    -o Debug::NoLocking=1 "$@" || return
  mkdir -p "$into/usr/lib" && ln -sfn usr/lib "$into/lib" || return
  for package in "$fetched"/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" |
      tar x --keep-directory-symlink -C "$into" || return
  done
}
