#!/bin/sh
# A throw-away PostgreSQL for the tests: `start FOLDER` prints its URL, `stop FOLDER` ends it and
# removes the folder. Exit code 77: not installed (Debian: apt-get install postgresql).
# PostgreSQL does not run as root; then it runs as user postgres.
set -eu
what=${1:?start or stop}
folder=${2:?a folder that is not there yet}
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
[ -n "$bin" ] || bin=$(dirname "$(command -v initdb || echo /none)")
if [ ! -x "$bin/initdb" ]; then
    echo "PostgreSQL is not installed (apt-get install postgresql)" >&2
    exit 77
fi
as() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid postgres --regid postgres --init-groups "$@"
    else
        "$@"
    fi
}
case $what in
start)
    mkdir "$folder"
    [ "$(id -u)" != 0 ] || chown postgres "$folder"
    as "$bin/initdb" -D "$folder/db" -A trust -U meridian --locale=C.UTF-8 -E UTF8 \
        --no-sync >"$folder.log" 2>&1
    # The socket's path must be short; no TCP port is opened.
    as "$bin/pg_ctl" -D "$folder/db" -w -l "$folder/log" \
        -o "-c listen_addresses= -c unix_socket_directories=$folder -c fsync=off" \
        start >>"$folder.log" 2>&1
    rm -f "$folder.log"
    printf 'postgresql:///postgres?host=%s&user=meridian\n' "$folder"
    ;;
stop)
    as "$bin/pg_ctl" -D "$folder/db" -m immediate stop >/dev/null 2>&1 || true
    rm -rf "$folder"
    ;;
esac
