#!/bin/sh
# Makes carillon/worker_pb2.py from the protocol, or with an argument the same file below that folder. Only protoc
# 3.21.12, that of Debian 12, will do: what a newer one writes refuses older protobuf packages, while this code runs
# with all of them from 4.21 on. The virtual path makes the registered name of the file a unique one.
set -eu
cd "$(dirname "$0")"
[ "$(protoc --version)" = "libprotoc 3.21.12" ] ||
  { echo "generate.sh needs protoc 3.21.12 (Debian 12: protobuf-compiler), not $(protoc --version)" >&2; exit 1; }
protoc --proto_path=carillon=../../proto/carillon/v1 --python_out="${1:-.}" carillon/worker.proto
