// The warden's socket: listens in the warden's directory and serves one daemon at a time.
//
// Threads  The warden's loop.
// Owns     The listening socket and the connection; at most kFrameBytesMax unread and
//          kSendBytesMax unsent bytes.
// Errors   A daemon that sends malformed frames, or belongs to another user, is disconnected.
#pragma once

#include <string>

#include "common/base/file_descriptor.h"
#include "executor/warden/channel/warden_protocol.h"

namespace carillon::executor {

// Both functions take an open directory. The path of a socket is limited to 107 bytes, and the path
// of its directory may be longer.
Result<int> ListenInDirectory(int directory, const std::string& name);
Result<int> ConnectInDirectory(int directory, const std::string& name);

class DaemonChannel {
 public:
  static constexpr size_t kSendBytesMax = 8u << 20;

  // `welcome` is the answer to each daemon of this version.
  DaemonChannel(FileDescriptor listener, warden_message::Welcome welcome)
      : listener_(std::move(listener)), welcome_(std::move(welcome)) {}

  int listener() const { return listener_.get(); }
  int connection() const { return connection_.get(); }
  bool attached() const { return greeted_; }

  // Accepts the newest connection and closes an older one. True if there is a new one.
  bool Accept();
  // Reads the available bytes. False: the connection is gone.
  bool Read();
  // The next message, once Hello was answered. False: none, or disconnected.
  bool Next(WardenMessage* message);
  // True if there is room for one more frame; if not, wait until Flush has made room.
  bool CanSend() const { return connection_.open() && unsent_.bytes() < kSendBytesMax / 2; }
  void Send(const WardenMessage& message);
  // Writes as much as the socket takes. False: the connection is gone.
  bool Flush() { return unsent_.Write(connection_.get()); }
  bool unsent() const { return !unsent_.empty(); }
  void Close();
  // The reason why the daemon was disconnected since the last call; empty if it was not.
  std::string TakeComplaint();

 private:
  bool Greet(const WardenMessage& first);

  FileDescriptor listener_;
  const warden_message::Welcome welcome_;
  FileDescriptor connection_;
  FrameReader reader_;
  FrameWriter unsent_;
  std::string complaint_;
  bool greeted_ = false;
};

}  // namespace carillon::executor
