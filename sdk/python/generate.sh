#!/bin/sh
# Makes carillon/worker_pb2.py from the protocol; needs protoc (Debian: protobuf-compiler). setup.py runs it as well.
set -eu
cd "$(dirname "$0")"
protoc --proto_path=../../proto/carillon/v1 --python_out=carillon worker.proto
