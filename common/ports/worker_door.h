// Port to the socket at which workers of this host attach to the executor, with one stream each.
//
// Threads  WorkerServe is called on a thread of its own for each stream; the door's destructor ends and awaits them.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "common/base/result.h"

namespace carillon {

// The other end of a stream, as the kernel knows it.
struct WorkerPeer {
  uid_t uid = 0;
  pid_t pid = 0;  // 0: in another namespace of processes, so that it cannot be told apart
};

class WorkerStream {
 public:
  virtual ~WorkerStream() = default;
  // Waits for the next message. False: the stream is over.
  virtual bool Read(std::string* bytes) = 0;
  // Waits until the message is taken. False: the stream is over. One thread may write while another reads.
  virtual bool Write(const std::string& bytes) = 0;
  // Ends the stream soon. Thread-safe.
  virtual void Close() = 0;
};

// Returns when the stream is to end. kInvalid, kDenied, kConflict and kExhausted tell the worker why.
using WorkerServe = std::function<Status(const WorkerPeer& peer, WorkerStream& stream)>;

class WorkerDoor {
 public:
  virtual ~WorkerDoor() = default;
};

// Listens at `path`. Other users can connect only if `for_all`, and if they may enter its directory. kUnavailable: the
// socket cannot be made.
using OpenWorkerDoor = std::function<Result<std::unique_ptr<WorkerDoor>>(const std::string& path, bool for_all,
                                                                         WorkerServe serve)>;

}  // namespace carillon
