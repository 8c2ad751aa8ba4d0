// A response that continues after its head; the argument of a handler's `stream` function.
//
// Threads  Thread-safe.
// Owns     The unsent bytes. Their number is not limited: the writer must check unsent() and pause.
// Always   After the peer has disconnected, the server has stopped or Close was called, Write has
//          no effect.
#pragma once

#include <cstddef>
#include <string>

namespace carillon {

class HttpStream {
 public:
  virtual ~HttpStream() = default;
  // Returns false, and drops the bytes, if the stream is closed.
  virtual bool Write(std::string bytes) = 0;
  virtual size_t unsent() const = 0;
  virtual bool closed() const = 0;
  // Ends the response after the bytes written before.
  virtual void Close() = 0;
};

}  // namespace carillon
