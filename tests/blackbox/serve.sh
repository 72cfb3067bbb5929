#!/bin/bash
# Start the service in the foreground as Heat's black-box suites need it.
#
#   serve.sh PORT IDENTITY_URL FOLDER
#     PORT          on 127.0.0.1
#     IDENTITY_URL  Keystone's version 3, e.g. http://127.0.0.1:35358/v3
#     FOLDER        the home; made if it is not there
#
# Prints "ready" when it listens; ends with SIGTERM. The user heat (password heat) of the project
# service asks about tokens. Cancelled work has 90 s to end, since the suites wait 120 s.
set -u
port=${1:?port} identity=${2:?identity URL} folder=${3:?folder}
here=$(cd "$(dirname "$0")" && pwd)
zonda=${ZONDA:-$here/../../.venv/bin/zonda}
mkdir -m 700 -p "$folder" && folder=$(cd "$folder" && pwd) || exit 2
export ZONDA_HOME=$folder ZONDA_IDENTITY=keystone ZONDA_KEYSTONE_URL=$identity
export ZONDA_KEYSTONE_USERNAME=heat ZONDA_KEYSTONE_PASSWORD=heat ZONDA_KEYSTONE_PROJECT=service
export ZONDA_REGION_NAME=RegionOne ZONDA_HIDDEN_STACK_TAGS=hidden ZONDA_CANCEL_GRACE=90
export ZONDA_ENABLE_STACK_ABANDON=yes ZONDA_ENABLE_STACK_ADOPT=yes ZONDA_LOG=$folder/service.log
exec "$zonda" serve --address "127.0.0.1:$port" --ready ready
