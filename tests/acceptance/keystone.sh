#!/usr/bin/env bash
# A real Keystone for the acceptance tests, without a database or web server.
#
#   bash tests/acceptance/keystone.sh install        once: an environment with Keystone (1 min)
#   bash tests/acceptance/keystone.sh serve DIR PORT  run it on 127.0.0.1:PORT, state and log in DIR,
#                                                    as long as whoever started it lives
#
# The environment is $KEYSTONE_VENV, else ~/.cache/zonda/keystone; the tests look for it there and
# start Keystone themselves. $PYTHON is the Python that it is made with (3.11 or newer with venv).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/keystone
venv=${KEYSTONE_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/zonda/keystone}

install() {
    local wanted=$here/constraints.txt
    if cmp -s "$wanted" "$venv/installed.txt"; then
        return
    fi
    "${PYTHON:-python3}" -m venv --clear "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check -c "$wanted" keystone
    cp "$wanted" "$venv/installed.txt"
}

case "${1:-}" in
    install) install ;;
    serve)
        [ $# = 3 ] || { echo "usage: $0 serve DIR PORT" >&2; exit 2; }
        exec "$venv/bin/python" -W ignore "$here/server.py" "$2" "$3"
        ;;
    *)
        echo "usage: $0 install | serve DIR PORT" >&2
        exit 2
        ;;
esac
