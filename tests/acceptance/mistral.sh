#!/usr/bin/env bash
# A real Mistral for the acceptance tests, without Keystone, broker and database server.
#
#   bash tests/acceptance/mistral.sh install        once: an environment with Mistral (1-2 min)
#   bash tests/acceptance/mistral.sh serve DIR PORT  run it on 127.0.0.1:PORT, state and log in DIR,
#                                                   as long as whoever started it lives
#
# The environment is $MISTRAL_VENV, else ~/.cache/zonda/mistral; the tests look for it there and
# start Mistral themselves. $PYTHON is the Python that it is made with (3.10 or newer with venv).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/mistral
venv=${MISTRAL_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/zonda/mistral}

install() {
    local wanted=$here/constraints.txt
    if cmp -s "$wanted" "$venv/installed.txt"; then
        return
    fi
    "${PYTHON:-python3}" -m venv --clear "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check -c "$wanted" mistral
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
