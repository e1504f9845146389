#!/bin/sh
# Installs what the build needs on Debian 12, as root; only what is missing, so a second call is
# instant. `sh tools/setup.sh test` adds what only tests need (a browser, Chinese fonts).
#
# Traps this script knows:
# - a bare Debian has no make: this script is plain sh and comes before any make;
# - clang has its sanitizers and libFuzzer in libclang-rt-14-dev;
# - Debian's nodejs and npm conflict with a Node from elsewhere, so they are installed only where
#   there is no node at all; Debian's is too old for Vite and then serves to fetch a newer one.
. "$(dirname -- "$0")/env.sh"

# command:package, where something other than the package may bring the command
commands='make:make gcc:gcc clang:clang clang-format:clang-format clang-tidy:clang-tidy
    cmake:cmake ninja:ninja-build ccache:ccache git:git flock:util-linux'
packages='libc6-dev libclang-rt-14-dev libcmocka-dev libmicrohttpd-dev libjansson-dev
    libsqlite3-dev libpq-dev zlib1g-dev libzstd-dev libarchive-dev libxxhash-dev libssl-dev
    libedit-dev'
if [ "${1:-}" = test ]; then
    commands="$commands chromium:chromium"
    packages="$packages fonts-noto-cjk postgresql slurm-wlm munge"
fi

missing_packages() {
    for pair in $commands; do
        command -v "${pair%%:*}" >/dev/null 2>&1 || printf ' %s' "${pair#*:}"
    done
    if ! command -v node >/dev/null 2>&1; then
        printf ' nodejs npm'
    elif ! command -v npm >/dev/null 2>&1; then
        printf ' npm'
    fi
    command -v dpkg-query >/dev/null 2>&1 || return 0
    # shellcheck disable=SC2086
    have=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $packages 2>/dev/null || true)
    for package in $packages; do
        case "
$have
" in
        *"
installed $package
"*) ;;
        *) printf ' %s' "$package" ;;
        esac
    done
}

install_packages() {
    missing=$(missing_packages)
    [ -n "$missing" ] || return 0
    say "setup: missing:$missing"
    if ! command -v apt-get >/dev/null 2>&1; then
        say "setup: no apt-get here; install these (or their equals) and call again" >&2
        exit 1
    fi
    sudo=
    if [ "$(id -u)" != 0 ]; then
        sudo=$(command -v sudo) || {
            say "setup: run as root: apt-get install -y --no-install-recommends$missing" >&2
            exit 1
        }
    fi
    # The tests start a cluster of their own; Debian's package would start another.
    case "$missing" in
    *postgresql*)
        $sudo mkdir -p /etc/postgresql-common
        [ -e /etc/postgresql-common/createcluster.conf ] ||
            echo 'create_main_cluster = false' |
            $sudo tee /etc/postgresql-common/createcluster.conf >/dev/null
        ;;
    esac
    export DEBIAN_FRONTEND=noninteractive
    $sudo apt-get -o DPkg::Lock::Timeout=300 -qq update
    # shellcheck disable=SC2086
    $sudo apt-get -o DPkg::Lock::Timeout=300 -qq -y install --no-install-recommends $missing
}

# pack NAME@VERSION: the package's tarball under build/deps/pack, its path on stdout. Nothing of
# the package is run: npm pack only fetches.
pack() {
    stem=$(printf '%s' "$1" | tr -c 'A-Za-z0-9.\n' -)
    if [ ! -s "build/deps/pack/$stem.tgz" ]; then
        mkdir -p build/deps/pack
        rm -rf "build/deps/pack/$stem.part"
        mkdir "build/deps/pack/$stem.part"
        npm pack --ignore-scripts --pack-destination "build/deps/pack/$stem.part" "$1" \
            >build/deps/pack/log 2>&1 || {
            cat build/deps/pack/log >&2
            say "setup: npm pack $1 failed, see above" >&2
            exit 1
        }
        mv "build/deps/pack/$stem.part"/*.tgz "build/deps/pack/$stem.tgz"
        rmdir "build/deps/pack/$stem.part"
    fi
    printf '%s\n' "build/deps/pack/$stem.tgz"
}

# unpack TARBALL MEMBER FILE: whole or not at all.
unpack() {
    tar -xzOf "$1" "$2" >"$3.part"
    mv "$3.part" "$3"
}

machine() {
    case "$(uname -m)" in
    x86_64 | amd64) echo x64 ;;
    aarch64 | arm64) echo arm64 ;;
    *) uname -m ;;
    esac
}

# Node for the page, where the one found is too old: node and npm under build/tools.
install_node() {
    node_is_new && return 0
    say "setup: $(node --version) is too old for the page's build; unpacking Node 22 in build/tools"
    node_pack=$(pack "node-linux-$(machine)@22")
    npm_pack=$(pack npm@10)
    mkdir -p build/tools/bin build/tools/npm
    tar -xzf "$npm_pack" -C build/tools/npm --strip-components=1
    unpack "$node_pack" package/bin/node build/tools/bin/node
    chmod +x build/tools/bin/node
    printf '#!/bin/sh\nexec "%s/build/tools/bin/node" "%s/build/tools/npm/bin/npm-cli.js" "$@"\n' \
        "$top" "$top" >build/tools/bin/npm
    printf '#!/bin/sh\nexec "%s/build/tools/bin/node" "%s/build/tools/npm/bin/npx-cli.js" "$@"\n' \
        "$top" "$top" >build/tools/bin/npx
    chmod +x build/tools/bin/*
    PATH=$top/build/tools/bin:$PATH
    node_is_new || {
        say "setup: the Node in build/tools does not run" >&2
        exit 1
    }
}

# Library and header of DuckDB, of one version.
install_duckdb() {
    folder=build/deps/duckdb
    if [ ! -s $folder/libduckdb.so ]; then
        say "setup: DuckDB's library goes to $folder"
        mkdir -p $folder
        tarball=$(pack "@duckdb/node-bindings-linux-$(machine)@1.4.4-r.4")
        unpack "$tarball" package/libduckdb.so $folder/libduckdb.so
    fi
    if [ ! -s $folder/duckdb.h ]; then
        say "setup: DuckDB's header goes to $folder"
        tarball=$(pack duckdb@1.4.4)
        unpack "$tarball" package/src/duckdb/src/include/duckdb.h $folder/duckdb.h
    fi
}

# Two calls at a time would unpack over each other.
if [ -z "${MRD_SETUP_LOCKED:-}" ] && command -v flock >/dev/null 2>&1; then
    mkdir -p build
    MRD_SETUP_LOCKED=1 exec flock build/setup.lock sh tools/setup.sh "$@"
fi
install_packages
install_node
install_duckdb
