// The warden's socket: listens in its directory, talks to one daemon at a time.
//
// Threads  The warden's only one.
// Owns     The listening socket and the connection; at most kFrameBytesMax unread and
//          kSendBytesMax unsent bytes.
// Errors   A daemon that sends nonsense, or of another user, is hung up on.
#pragma once

#include <string>

#include "executor/journal/file_descriptor.h"
#include "executor/warden/warden_protocol.h"

namespace carillon::executor {

// The address of `name` in an open directory, short whatever the directory's own path is.
Result<int> ListenInDirectory(int directory, const std::string& name);
Result<int> ConnectInDirectory(int directory, const std::string& name);

class DaemonChannel {
 public:
  static constexpr size_t kSendBytesMax = 8u << 20;

  explicit DaemonChannel(FileDescriptor listener) : listener_(std::move(listener)) {}

  int listener() const { return listener_.get(); }
  int connection() const { return connection_.get(); }
  bool attached() const { return greeted_; }

  // Takes the newest caller; an older connection is dropped. True when there is a new one.
  bool Accept();
  // Reads what is there. False: the connection is gone.
  bool Read();
  // The next message, after Hello was answered. False: none, or hung up.
  bool Next(WardenMessage* message);
  // Room for one more frame; else wait until Flush made some.
  bool CanSend() const { return connection_.open() && unsent_.size() < kSendBytesMax / 2; }
  void Send(const WardenMessage& message);
  // Writes what the socket takes. False: the connection is gone.
  bool Flush();
  bool unsent() const { return !unsent_.empty(); }
  void Close();
  // Why it hung up since the last call; empty: it did not.
  std::string TakeComplaint();

 private:
  bool Greet(const WardenMessage& first);

  FileDescriptor listener_;
  FileDescriptor connection_;
  FrameReader reader_;
  std::string unsent_;
  std::string complaint_;
  bool greeted_ = false;
};

}  // namespace carillon::executor
