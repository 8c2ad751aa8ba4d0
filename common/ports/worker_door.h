// Port to the socket at which workers of this host attach to the executor, with one stream each.
//
// A connection costs little until its user and its first message are known: it is closed at once if
// no program of its user may attach, and after some seconds without a first message. Connections,
// streams and threads are bounded.
//
// Threads  WorkerHost::Serve is called on a thread of its own for each stream, Admits on one thread
//          of the door. The door's destructor ends and awaits them.
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
  // Waits until the message is taken. False: the stream is over. One thread may write while
  // another reads.
  virtual bool Write(const std::string& bytes) = 0;
  // Ends the stream soon. Thread-safe.
  virtual void Close() = 0;
  // The first message was good, so the other end is no stranger any more.
  virtual void Know() = 0;
};

class WorkerHost {
 public:
  virtual ~WorkerHost() = default;
  // False: no program of this user may attach, as far as is known. Must not block.
  virtual bool Admits(uid_t uid) = 0;
  // Returns when the stream is to end. kInvalid, kDenied, kConflict and kExhausted tell the
  // worker why.
  virtual Status Serve(const WorkerPeer& peer, WorkerStream& stream) = 0;
};

class WorkerDoor {
 public:
  virtual ~WorkerDoor() = default;
};

// Listens at `path`. Other users can connect only if `for_all`, and if they may enter its
// directory. `host` must outlive the door. kUnavailable: the socket cannot be made.
using OpenWorkerDoor = std::function<Result<std::unique_ptr<WorkerDoor>>(
    const std::string& path, bool for_all, WorkerHost& host)>;

}  // namespace carillon
