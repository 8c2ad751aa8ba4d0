// An answer that goes on after its head: what a handler's `stream` function is given.
//
// Threads  Thread-safe.
// Owns     What was written and not yet sent: the writer looks at unsent() and holds back.
// Always   After the peer is gone, the server stopped or Close was called, Write does nothing.
#pragma once

#include <cstddef>
#include <string>

namespace carillon {

class HttpStream {
 public:
  virtual ~HttpStream() = default;
  // False: closed; nothing was taken.
  virtual bool Write(std::string bytes) = 0;
  virtual size_t unsent() const = 0;
  virtual bool closed() const = 0;
  // The answer is complete, after what was written before.
  virtual void Close() = 0;
};

}  // namespace carillon
