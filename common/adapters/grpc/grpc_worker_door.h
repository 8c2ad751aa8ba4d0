// WorkerDoor with gRPC on a unix socket.
//
// The kernel says which user and process is at the other end. gRPC does not ask for that, so the
// door accepts the connections itself and hands them to gRPC.
//
// Errors   kUnavailable: the socket cannot be made.
#pragma once

#include <memory>
#include <string>

#include "common/ports/worker_door.h"

namespace carillon::rpc {

Result<std::unique_ptr<WorkerDoor>> ListenForWorkers(const std::string& path, bool for_all,
                                                     WorkerHost& host);

}  // namespace carillon::rpc
