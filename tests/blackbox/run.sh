#!/bin/bash
# Run Heat's public black-box suites against a service that is started for them.
#
#   run.sh [--third N] [FOLDER]
#     --third   only every third listed test, from the (N modulo 3)th one on
#     FOLDER    results (default: a temporary one)
#
# ZONDA_BLACKBOX names the folder with run_tempest.sh, fake_identity.py and the lists of ids. Exit
# status 0 when every listed test passed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
suites=${ZONDA_BLACKBOX:-$here/../../../shared/blackbox}
[ -x "$suites/run_tempest.sh" ] || [ -f "$suites/run_tempest.sh" ] || {
  echo "no suites at $suites (set ZONDA_BLACKBOX)"; exit 2; }
third=
if [ "${1:-}" = --third ]; then third=$((10#${2:?number} % 3)); shift 2; fi
out=${1:-$(mktemp -d)}; mkdir -p "$out"; out=$(cd "$out" && pwd)
free_port() { python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
port=${ZONDA_BLACKBOX_PORT:-$(free_port)} identity=${ZONDA_BLACKBOX_IDENTITY_PORT:-$(free_port)}
url="http://127.0.0.1:$port/v1/%(project_id)s"
started=()
trap 'kill "${started[@]}" 2>/dev/null; wait' EXIT
python3 "$suites/fake_identity.py" --port "$identity" --orchestration "$url" 2> "$out/identity.log" &
started+=($!)
"$here/serve.sh" "$port" "http://127.0.0.1:$identity/v3" "$out/home" > "$out/ready" 2> "$out/serve.log" &
started+=($!)
until grep -q '^ready$' "$out/ready"; do
  kill -0 "${started[1]}" 2>/dev/null || { cat "$out/serve.log"; exit 2; }
  sleep 0.2
done
failed=0
for suite in plugin intree; do
  list=$suites/target_open.txt; [ "$suite" = intree ] && list=$suites/intree_open.txt
  if [ -n "$third" ]; then
    awk "NR % 3 == $third" "$list" > "$out/$suite.txt"; list=$out/$suite.txt
  fi
  bash "$suites/run_tempest.sh" -s "$suite" -l "$list" -i "http://127.0.0.1:$identity/v3" \
    -o "$out/$suite" "$url" || failed=1
done
exit "$failed"
