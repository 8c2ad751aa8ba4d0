// The proxy through which an executor sends requests. Pure.
//
// Always   The proxy looks up the names of servers and connects to them, so that its rules decide
//          where requests may go; here only an address that stands in the URL is judged.
#pragma once

#include <string>
#include <string_view>

namespace carillon::executor {

struct HttpProxy {
  std::string url = {};     // "http://proxy.example:3128"; "" = none
  std::string direct = {};  // what is reached without it: names with those below them, addresses,
                            // networks, separated by commas; "*" = all

  bool IsUsedFor(std::string_view host) const;
};

}  // namespace carillon::executor
